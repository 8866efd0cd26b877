/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of delay_switch, in a file that other programs map.
 *
 * Invariant: only the switch writes; a reader sees values that only grow.
 */
#ifndef WEFT_DELAY_SWITCH_H
#define WEFT_DELAY_SWITCH_H

#include <stdatomic.h>
#include <stdint.h>

enum { DELAY_SWITCH_PORTS = 64 };

/* The bytes of TCP segments without headers, which entered the switch at a port and left it there.
 */
struct delay_switch_port {
    _Atomic uint64_t in, out;
};

struct delay_switch_counters {
    _Atomic uint32_t ports; /* 0: the switch is not ready */
    struct delay_switch_port port[DELAY_SWITCH_PORTS];
};

#endif
