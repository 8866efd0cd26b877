// SPDX-License-Identifier: BSD-3-Clause
/*
 * Crash signals in a program that is linked with libfabric: before main, libraries on which
 * libfabric depends (libinfinipath, those of PSM) catch SIGSEGV and similar signals, print a
 * backtrace and exit with status 1, so that the launcher would not see a crash. MPI_Init restores
 * the default actions. (Where Weft loads libfabric, they catch nothing: select/load.c.)
 *
 * Invariant: only handlers whose code is in a library of those names are removed.
 */
#include "ofi/net.h"

#include <dlfcn.h>
#include <signal.h>
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

void weft_net_free_signals(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now;
        if (!sigaction(signals[i], NULL, &now) && belongs_to_psm(&now))
            signal(signals[i], SIG_DFL);
    }
}
