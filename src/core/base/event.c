// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/event.h"

unsigned weft_event_armed;
void (*weft_event_raise)(enum weft_event_type type, const struct weft_event_data *data);
