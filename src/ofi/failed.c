// SPDX-License-Identifier: BSD-3-Clause
/*
 * Errors of the provider as errors of MPI.
 *
 * Invariant: if the launcher reports the peer as dead, the error is MPI_ERR_PROC_ABORTED, also if
 * the provider detected it first.
 */
#include "core/comm/comm.h"
#include "core/object/error.h"
#include "core/process/weft.h"
#include "ofi/ofi_internal.h"

#include <stdarg.h>
#include <stdio.h>

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

int weft_net_send_failed(const struct weft_request *request, const char *why)
{
    const struct weft_peer *peer = request->peer;
    char sentence[1024], host[256];
    snprintf(sentence, sizeof sentence,
             "sending %zu bytes with tag %d to rank %d on %s over %s failed: %s; see whether that "
             "rank still runs and its address can be reached (weft_info shows the interfaces, "
             "WEFT_IFACE chooses one)",
             request->bytes, request->tag, peer->world,
             weft_boot_host(peer->world, host, sizeof host), weft_net_name(), why);
    if (request->channel != &request->channel->comm->p2p && !weft_failure_confirm(peer))
        weft_fatal(MPI_ERR_OTHER, "%s", sentence);
    return weft_net_failed(peer, "%s", sentence);
}
