// SPDX-License-Identifier: BSD-3-Clause
/*
 * The layout of weftrun's job file, which weftrun and the ranks share: the key of the job's
 * messages, then one byte for each rank, its phase. The file is in weftrun's scratch directory, so
 * that only processes of the same user can open it.
 */
#ifndef WEFT_JOB_FILE_H
#define WEFT_JOB_FILE_H

/* A key of PMIx_Spawn: the caller needs no name of the new job. With a name libpmix 4.2 keeps 38
 * KiB in the caller for each job. */
#define WEFT_UNNAMED_KEY "weft.unnamed"

/* The port of the parents of a spawned process. */
#define WEFT_PARENT_PORT_VARIABLE "WEFTRUN_PARENT_PORT"

/* The number of its program, of a spawned process whose launcher started one shell for several. */
#define WEFT_APPNUM_VARIABLE "WEFTRUN_APPNUM"

/* In the line of a weftrun with --joined-fd, words of programs that consist of colons have one
 * more, because a lone one separates the programs. */
#define WEFT_COLON ":"

#define WEFT_JOB_FILE_VARIABLE  "WEFTRUN_JOB_FILE" /* the absolute name of the file */
#define WEFT_JOB_FILE_KEY_BYTES 8

/* The byte of a rank that has not written one is 0. */
#define WEFT_JOB_FILE_JOINED 1 /* PMIx_Init has returned */
#define WEFT_JOB_FILE_LEFT   2 /* the rank is in its PMIx_Finalize, or after it */

#endif
