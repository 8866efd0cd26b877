// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffers beyond the memory object that they start in, and of other types than the variable that
 * they are (extent.h).
 *
 * A buffer is looked up once for each call site, address, count and datatype: a later one that is
 * alike is not looked up again.
 */
#ifndef WEFT_CHECK_RANGES_H
#define WEFT_CHECK_RANGES_H

#include "tools/check/area.h"
#include "tools/check/check.h"

/* True if a call like this one has not been seen. */
bool check_ranges_are_new(const struct weft_call *call);

/* Reports a buffer of the call, a parameter of kind data that covers an area. */
void check_range(const struct weft_call *call, int parameter, const struct check_area *area);

/* Reports a message whose datatype does not fit any memory, or overlaps itself in a receive. */
void check_range_of_types(const struct weft_call *call);

/* The same of the memory of MPI_Win_create. */
void check_range_of_window(const struct weft_call *call);

#endif
