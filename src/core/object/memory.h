// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory for the library's own objects and tables. Without it no call can continue, so the job ends
 * with a sentence. Memory whose size the program chooses (MPI_Alloc_mem, windows, datatypes, copies
 * of messages) comes from malloc; for lack of it a call returns MPI_ERR_NO_MEM.
 */
#ifndef WEFT_MEMORY_H
#define WEFT_MEMORY_H

#include <stddef.h>

/* Zeroed memory for count elements (0 is allowed), to be freed by free. what: "a group". */
void *weft_memory_get(size_t count, size_t each, const char *what);

/* Makes room for one more element of an array that was grown `used` times. Returns the array, which
 * may have moved. */
void *weft_memory_grow(void *array, size_t used, size_t each, const char *what);

/* A copy of a string. */
char *weft_memory_copy(const char *text);

#endif
