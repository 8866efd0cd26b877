// SPDX-License-Identifier: BSD-3-Clause
/*
 * Windows: epochs and accesses. See windows.c.
 */
#ifndef WEFT_CHECK_WINDOWS_H
#define WEFT_CHECK_WINDOWS_H

#include "tools/check/area.h"

struct check_record;

/* Before and after the real call. */
void check_windows_begin(const struct weft_call *call);
void check_windows_end(const struct weft_call *call);

/* A record of an access has arrived at its target. */
void check_windows_take(const struct check_record *record);

/* True if other processes may write to the area, because it is in a window. */
bool check_windows_cover(const struct check_area *area);

#endif
