// SPDX-License-Identifier: BSD-3-Clause
/*
 * System calls on files, and the errors that follow from errno.
 */
#ifndef WEFT_FILE_SYSTEM_H
#define WEFT_FILE_SYSTEM_H

#include "mpi.h"

#include <stdbool.h>
#include <stddef.h>

/* Records the error for errno: "FILE: ACTION failed: CAUSE; NEXT STEP". Returns its class. */
__attribute__((format(printf, 3, 4))) int weft_file_failed(const char *name, int error,
                                                           const char *format, ...);

/* Moves bytes at an offset of the file, in as many system calls as it takes. *moved is less than
 * `bytes` at the end of the file, and on error. */
int weft_file_transfer(const char *name, int fd, bool write, MPI_Offset at, char *memory,
                       size_t bytes, size_t *moved);

/* Allocates the blocks of a file up to a size, without a change of its bytes. *done: false if the
 * file system cannot do that: then weft_file_fill appends zeros. A write of another open behind the
 * end stays, and the file may become longer than that size. */
int weft_file_preallocate(const char *name, int fd, MPI_Offset size, bool *done);
int weft_file_fill(const char *name, int fd, MPI_Offset size);

#endif
