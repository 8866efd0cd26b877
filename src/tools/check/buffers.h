// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffers in flight: what windows.c and files.c need of buffers.c.
 */
#ifndef WEFT_CHECK_BUFFERS_H
#define WEFT_CHECK_BUFFERS_H

#include "tools/check/check.h"

extern int check_flights; /* operations in flight, and persistent ones */

/* The operations on a window whose target is `target` (-1: any) complete at the origin by a call:
 * before the real call the buffers that they read are checked, after it they are not in flight. */
void check_buffers_verify(const struct weft_call *call, const void *win, int target);
void check_buffers_complete(const void *win, int target);

/* True if a frame is on the stack that the calling thread was started with. */
bool check_buffers_on_thread_stack(const void *frame);

/* True if the bytes are in local variables of functions that have not returned. */
bool check_buffers_are_on_stack(const struct weft_call *call, uint64_t low, uint64_t high);

/* True if a nonblocking operation on a file is not complete, and the call that began it. */
bool check_buffers_find_file(const void *file, struct check_location *begun);

#endif
