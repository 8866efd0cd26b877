// SPDX-License-Identifier: BSD-3-Clause
/*
 * Crash signals. libfabric may bring libraries along (libinfinipath, those of PSM) that catch
 * SIGSEGV and its like as soon as they are loaded, print a backtrace and exit with status 1: a crash
 * would no longer be seen as what it is. Weft gives such signals back.
 *
 * Invariant: only handlers whose code lies in a library of those names are removed; the program's
 * own stay.
 */
#include "ofi/net.h"

#include <dlfcn.h>
#include <signal.h>
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
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action;
        if (!sigaction(signals[i], NULL, &action) && belongs_to_psm(&action))
            signal(signals[i], SIG_DFL);
    }
}
