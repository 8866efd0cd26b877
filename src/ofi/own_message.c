// SPDX-License-Identifier: BSD-3-Clause
/*
 * Weft's own short messages: controls and RTS headers. They are injected if the provider injects
 * that many bytes (opx injects 16, efa 32). Else, and if the provider has to report an error of the
 * send, which ofi_rxm does not for injected ones, they are sent from a copy, which is freed when
 * the send has completed; the callers see no difference.
 */
#include "core/object/error.h"
#include "core/process/weft.h"
#include "ofi/ofi_internal.h"

#include <string.h>

struct own_message {
    struct weft_net_op op;
    struct weft_peer *peer;
    char data[];
};

_Static_assert(sizeof(struct own_message) + WEFT_NET_CONTROL_BYTES <= 256,
               "the reserve for controls");

int weft_net_send_own(struct weft_peer *peer, const void *data, size_t bytes, uint64_t cq_data,
                      uint64_t word, bool reported)
{
    struct weft_net_vci *net = weft_net_of_peer(peer);
    struct fid_ep *ep = net->objects.ep;
    if (weft_likely(bytes <= weft_net.inject_max && !reported))
        return (int)fi_tinjectdata(ep, data, bytes, cq_data, peer->net.addr, word);
    int rc = 0;
    struct own_message *own =
        weft_net_bounce_get_reserved(net, WEFT_NET_RESERVE_CONTROL, sizeof *own + bytes, &rc);
    if (!own)
        return rc;
    own->op.kind = WEFT_NET_OWN;
    own->peer = peer;
    memcpy(own->data, data, bytes);
    struct fid_mr *mr = weft_net.local_mr ? weft_net_bounce_mr(net, own) : NULL;
    rc = (int)fi_tsenddata(ep, own->data, bytes, weft_net_descriptor(mr), cq_data, peer->net.addr,
                           word, &own->op);
    if (rc)
        weft_net_bounce_put(net, own);
    else
        net->outstanding++;
    return rc;
}

void weft_net_control_failed(const struct weft_peer *peer, const char *why)
{
    char host[256];
    if (!weft_failure_confirm(peer))
        weft_fatal(MPI_ERR_OTHER,
                   "a control message to rank %d on %s could not be sent over %s: %s; see whether "
                   "that host runs and the network to it works",
                   peer->world, weft_boot_host(peer->world, host, sizeof host), weft_net_name(),
                   why);
}

void weft_net_own_sent(struct weft_net_op *op, int error, const char *text)
{
    struct own_message *own = (struct own_message *)op;
    struct weft_peer *peer = own->peer;
    struct weft_net_vci *net = weft_net_of_peer(peer);
    weft_net_bounce_put(net, own);
    net->outstanding--;
    if (error)
        weft_net_control_failed(peer, text);
}
