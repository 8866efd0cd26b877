// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory without which the job ends with a sentence: for calls in which other ranks wait for this
 * one, and before MPI can return an error. All other calls return MPI_ERR_NO_MEM.
 */
#ifndef WEFT_MEMORY_H
#define WEFT_MEMORY_H

#include <stddef.h>

/* Zeroed memory for count elements (0 is allowed), to be freed by free. what: "a grid". */
void *weft_memory_get(size_t count, size_t each, const char *what);

/* A copy of a string. */
char *weft_memory_copy(const char *text);

#endif
