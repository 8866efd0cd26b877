// SPDX-License-Identifier: BSD-3-Clause
/*
 * The crash signals, which a library that libfabric brings along takes when it is loaded.
 */
#ifndef WEFT_OFI_SIGNALS_H
#define WEFT_OFI_SIGNALS_H

#include <signal.h>

enum { WEFT_SIGNALS = 7 };

/* What was done on each of the signals. */
struct weft_signals {
    struct sigaction action[WEFT_SIGNALS];
};

/* Notes in before what is done on each signal now. */
void weft_signals_keep(struct weft_signals *before);

/* Gives back what before says to those signals that a library of PSM has taken since. */
void weft_signals_restore(const struct weft_signals *before);

#endif
