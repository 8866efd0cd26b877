// SPDX-License-Identifier: BSD-3-Clause
/*
 * The layout of weftrun's job file, which weftrun and the ranks share: the key of the job's
 * messages, then one byte for each rank, its phase. The file is in weftrun's scratch directory, so
 * that only processes of the same user can open it.
 */
#ifndef WEFT_JOB_FILE_H
#define WEFT_JOB_FILE_H

#define WEFT_JOB_FILE_VARIABLE  "WEFTRUN_JOB_FILE" /* the absolute name of the file */
#define WEFT_JOB_FILE_KEY_BYTES 8

/* The byte of a rank that has not written one is 0. */
#define WEFT_JOB_FILE_JOINED 1 /* PMIx_Init has returned */
#define WEFT_JOB_FILE_LEFT   2 /* the rank is in its PMIx_Finalize, or after it */

#endif
