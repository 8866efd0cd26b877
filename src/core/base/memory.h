// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory without which the job ends with a sentence: for calls in which other ranks wait for this
 * one, and before MPI can return an error. All other calls return MPI_ERR_NO_MEM.
 */
#ifndef WEFT_MEMORY_H
#define WEFT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory for count elements (0 is allowed), to be freed by free. what: "a grid". */
void *weft_memory_get(size_t count, size_t each, const char *what);

/* A copy of a string. */
char *weft_memory_copy(const char *text);

/* True if this process may read, or write, all bytes of a range. It reads the list of all mappings
 * (/proc/self/maps), so only paths of failures and long waits call it. Without the list: true. */
bool weft_memory_is_accessible(const void *at, size_t bytes, bool write);

/* MPI_SUCCESS, or MPI_ERR_BUFFER, recorded, if this process may not access a user's buffer. which:
 * "send"; rank: the other end of the transfer. */
int weft_memory_check_buffer(const char *which, const void *at, size_t bytes, bool write, int rank);

#endif
