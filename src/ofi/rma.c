// SPDX-License-Identifier: BSD-3-Clause
/*
 * Transfers of windows: one fi_write or fi_read for each request, whose lane state is the context.
 *
 * Where local buffers must be registered (FI_MR_LOCAL), a transfer registers the program's buffer
 * if it is long, else it passes through a bounce buffer; if the provider registers no more memory,
 * it passes through the reserve, a piece at a time.
 */
#include "ofi/rma.h"

#include "core/base/error.h"
#include "core/progress/failure.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"
#include "ofi/tunnel.h"

#include <stdlib.h>
#include <string.h>

/* 64 KiB: copying less takes no longer than registering it. */
enum { COPIED_MAX = 64 << 10 };

unsigned weft_net_rma(void)
{
    if (!weft_net.can_read || weft_net.rma)
        return weft_net.rma;
    weft_net.rma = WEFT_REMOTE_GETS;
    if (weft_provider_delivers(&weft_net.choice))
        weft_net.rma |= WEFT_REMOTE_PUTS | WEFT_REMOTE_DELIVERS;
    else if (weft_net.can_write)
        weft_net.rma |= WEFT_REMOTE_PUTS;
    return weft_net.rma;
}

/* A registration of window memory, in the list of its VCI. */
struct weft_remote_region {
    struct fid_mr *mr;
    struct weft_remote_region *next, **link;
};

struct weft_remote_region *weft_net_region_open(unsigned vci, void *memory, size_t bytes,
                                                struct weft_remote_memory *location)
{
    struct weft_net_vci *net = &weft_net.vcis[vci];
    struct weft_remote_region *region = malloc(sizeof *region);
    struct fid_mr *mr =
        region ? weft_net_register(net, memory, bytes, FI_REMOTE_READ | FI_REMOTE_WRITE) : NULL;
    if (!mr) {
        free(region);
        return NULL;
    }
    *region = (struct weft_remote_region){mr, net->regions, &net->regions};
    if (region->next)
        region->next->link = &region->next;
    net->regions = region;
    *location = (struct weft_remote_memory){weft_net.virtual_addresses ? (uintptr_t)memory : 0,
                                            fi_mr_key(mr)};
    return region;
}

void weft_net_region_close(struct weft_remote_region *region)
{
    if (!region)
        return;
    fi_close(&region->mr->fid);
    *region->link = region->next;
    if (region->next)
        region->next->link = region->link;
    free(region);
}

void weft_net_regions_close(struct weft_net_vci *net)
{
    while (net->regions)
        weft_net_region_close(net->regions);
}

/* Makes the local end ready. Returns 0 or an error of libfabric. */
static int prepare_transfer(struct weft_request *request, bool put)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(!state->mr && !state->packed);
    int rc = 0;
    if (request->bytes > COPIED_MAX)
        state->mr = weft_net_register_for(request, request->buffer, request->bytes,
                                          put ? FI_WRITE : FI_READ);
    if (state->mr)
        return 0;
    if (request->bytes > COPIED_MAX)
        request->bytes = COPIED_MAX;
    state->packed = weft_net_bounce_get_reserved(weft_net_of(request), WEFT_NET_RESERVE_PIECE,
                                                 request->bytes, &rc);
    if (state->packed && put)
        memcpy(state->packed, request->buffer, request->bytes);
    return rc;
}

static int start_transfer(struct weft_request *request, bool put, struct weft_remote_memory at)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_vci *net = weft_net_of(request);
    struct fid_ep *ep = net->objects.ep;
    uint64_t peer = weft_net_peer(request->peer)->fast.address;
    struct fid_mr *mr = state->packed ? weft_net_bounce_mr(net, state->packed) : state->mr;
    void *data = state->packed ? state->packed : request->buffer, *descriptor;
    descriptor = weft_net_descriptor(mr);
    if (!put)
        return (int)fi_read(ep, data, request->bytes, descriptor, peer, at.address, at.key,
                            &state->op);
    if (!(weft_net.rma & WEFT_REMOTE_DELIVERS))
        return (int)fi_write(ep, data, request->bytes, descriptor, peer, at.address, at.key,
                             &state->op);
    struct iovec iov = {data, request->bytes};
    struct fi_rma_iov there = {at.address, request->bytes, at.key};
    struct fi_msg_rma message = {.msg_iov = &iov,
                                 .desc = &descriptor,
                                 .iov_count = 1,
                                 .addr = peer,
                                 .rma_iov = &there,
                                 .rma_iov_count = 1,
                                 .context = &state->op};
    return (int)fi_writemsg(ep, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION);
}

static int fail(const struct weft_request *request, const char *text)
{
    return weft_net_transfer_failed(request, "moving", "to or from the window of", text);
}

static int start(struct weft_request *request, bool put, struct weft_remote_memory at)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(!state->op.in_flight && request->pending == 1 && request->bytes > 0);
    if (weft_unlikely(request->peer->dead))
        return weft_failure_report(request->peer);
    size_t most = weft_net.choice.info->ep_attr->max_msg_size;
    if (request->bytes > most)
        request->bytes = most;
    state->phase = WEFT_NET_NO_RENDEZVOUS;
    state->out.kind = WEFT_NET_OUT_EAGER;
    state->put = put;
    struct weft_net_peer *to = weft_net_peer(request->peer);
    int rc = to->held ? -FI_EAGAIN : 0;
    if (!rc && weft_net.local_mr)
        rc = prepare_transfer(request, put);
    if (!rc)
        rc = start_transfer(request, put, at);
    if (!rc) {
        to->reached = true;
        state->op.in_flight = true;
        weft_net_of(request)->outstanding++;
        return MPI_SUCCESS;
    }
    weft_net_release(request);
    if (rc != -FI_EAGAIN)
        return fail(request, fi_strerror(-rc));
    if (to->tunnel)
        weft_tunnel_contact(request->peer);
    return WEFT_REMOTE_LATER;
}

int weft_net_rma_write(struct weft_request *request, struct weft_remote_memory at)
{
    return start(request, true, at);
}

int weft_net_rma_read(struct weft_request *request, struct weft_remote_memory at)
{
    return start(request, false, at);
}

void weft_net_rma_done(struct weft_request *request, int error, const char *text)
{
    struct weft_net_request *state = weft_net_state(request);
    if (error)
        request->error = (uint8_t)fail(request, text);
    else if (state->packed && !state->put)
        memcpy(request->buffer, state->packed, request->bytes);
    weft_assert(weft_net_of(request)->outstanding > 0);
    weft_net_release(request);
    weft_net_of(request)->outstanding--;
    weft_request_event(request);
}
