// SPDX-License-Identifier: BSD-3-Clause
/*
 * The list of lanes, which is all that the core has of them by name.
 */
#ifndef WEFT_LANES_H
#define WEFT_LANES_H

#include "core/message/lane.h"

/* By number. Of two lanes that reach a rank, the one with the lower number is used. */
extern WEFT_HIDDEN const struct weft_lane *const weft_lane_list[WEFT_LANES_MAX];

#endif
