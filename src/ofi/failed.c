// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the user hears of an operation that the provider failed at.
 *
 * Invariant: where the peer is dead and the launcher tells so, the error is MPI_ERR_PROC_ABORTED,
 * whoever noticed it first.
 */
#include "core/error.h"
#include "core/weft.h"
#include "ofi/ofi.h"

#include <stdarg.h>
#include <stdio.h>

int weft_net_failed(const struct weft_peer *peer, const char *format, ...)
{
    char sentence[512];
    va_list args;
    if (peer && weft_failure_confirm(peer))
        return weft_failure_say(peer);
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return weft_error_say(MPI_ERR_OTHER, "%s", sentence);
}
