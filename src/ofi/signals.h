// SPDX-License-Identifier: BSD-3-Clause
/*
 * The crash signals, which libraries that libfabric depends on catch when they are loaded.
 */
#ifndef WEFT_OFI_SIGNALS_H
#define WEFT_OFI_SIGNALS_H

#include <signal.h>

enum { WEFT_SIGNALS = 7 };

/* The actions of the signals. */
struct weft_signals {
    struct sigaction action[WEFT_SIGNALS];
};

/* Stores the current actions in before. */
void weft_signals_keep(struct weft_signals *before);

/* Restores the actions of those signals that a library of PSM has caught since. */
void weft_signals_restore(const struct weft_signals *before);

#endif
