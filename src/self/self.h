// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lane of messages of a process to itself.
 */
#ifndef WEFT_SELF_H
#define WEFT_SELF_H

#include "core/message/lane.h"

extern WEFT_HIDDEN const struct weft_lane weft_self_lane;

#endif
