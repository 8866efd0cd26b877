// SPDX-License-Identifier: BSD-3-Clause
/*
 * Errors of the provider as errors of MPI.
 *
 * Invariant: if the launcher reports the peer as dead, the error is MPI_ERR_PROC_ABORTED, also if
 * the provider detected it first.
 */
#include "core/object/error.h"
#include "core/process/weft.h"
#include "ofi/ofi_internal.h"

#include <stdarg.h>

int weft_net_failed(const struct weft_peer *peer, const char *format, ...)
{
    va_list args;
    if (peer && weft_failure_confirm(peer))
        return weft_failure_say(peer);
    va_start(args, format);
    int code = weft_error_setv(MPI_ERR_OTHER, format, args);
    va_end(args);
    return code;
}
