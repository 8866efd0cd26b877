// SPDX-License-Identifier: BSD-3-Clause
/*
 * The bytes of tunnels: see tunnel_pump.c.
 */
#ifndef WEFT_OFI_TUNNEL_PUMP_H
#define WEFT_OFI_TUNNEL_PUMP_H

#include <stddef.h>

/* A thread moves the bytes between two TCP sockets, in both directions, until both
 * have ended, and closes them. `first` goes to the outer socket before. If that socket fails,
 * *error becomes the reason. The sockets are closed at once if there is no memory or no thread. */
struct weft_pump;
void weft_pump_add(struct weft_pump **pump, int inner, int outer, const void *first, size_t bytes,
                   int *error);
void weft_pump_close(struct weft_pump *pump);

#endif
