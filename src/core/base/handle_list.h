// SPDX-License-Identifier: BSD-3-Clause
/*
 * The handles that the program has and has not freed, for the report of MPI_Finalize
 * (core/process/left.h). They are listed under WEFT_VERBOSE only. A handle that was returned twice
 * (a group of several communicators) is in the list twice.
 */
#ifndef WEFT_HANDLE_LIST_H
#define WEFT_HANDLE_LIST_H

#include "core/base/handle.h"

/* An entry point returns a handle to the program, or frees it. Predefined handles are not listed.
 */
void weft_handle_list_add(const void *handle, enum weft_kind kind);
void weft_handle_list_remove(const void *handle);

/* Calls see(arg, object) for each handle of a kind. */
void weft_handle_list_each(enum weft_kind kind, void (*see)(void *arg, const void *object),
                           void *arg);
void weft_handle_list_free(void);

#endif
