// SPDX-License-Identifier: BSD-3-Clause
/*
 * Crash signals. libfabric may load libraries (libinfinipath, those of PSM) that catch SIGSEGV and
 * similar signals, print a backtrace and exit with status 1: the launcher would not see a crash,
 * and a handler of the program would be lost. Weft restores the actions of these signals.
 *
 * Invariant: only handlers whose code is in a library of those names are removed.
 */
#include "ofi/signals.h"

#include "ofi/net.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool belongs_to_psm(const struct sigaction *action)
{
    Dl_info where;
    void *code;
    memcpy(&code, &action->sa_handler, sizeof code);
    if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN || !dladdr(code, &where) ||
        !where.dli_fname)
        return false;
    const char *slash = strrchr(where.dli_fname, '/');
    const char *name = slash ? slash + 1 : where.dli_fname;
    return begins_with(name, "libinfinipath") || begins_with(name, "libpsm");
}

static const int signals[WEFT_SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                          SIGABRT, SIGINT, SIGTERM};

void weft_signals_keep(struct weft_signals *before)
{
    for (int i = 0; i < WEFT_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before->action[i]))
            before->action[i] = (struct sigaction){.sa_handler = SIG_DFL};
}

void weft_signals_restore(const struct weft_signals *before)
{
    for (int i = 0; i < WEFT_SIGNALS; i++) {
        struct sigaction now;
        if (!sigaction(signals[i], NULL, &now) && belongs_to_psm(&now))
            sigaction(signals[i], &before->action[i], NULL);
    }
}

/* For a program that is linked with libfabric: the actions before are unknown. */
void weft_net_free_signals(void)
{
    struct weft_signals plain = {0}; /* SIG_DFL */
    weft_signals_restore(&plain);
}
