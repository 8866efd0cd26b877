// SPDX-License-Identifier: BSD-3-Clause
/*
 * Completions: one queue, one reader.
 *
 * Invariant: a handler gets the struct weft_net_op of an operation in flight, and the provider has
 * finished with the op: after its handler it may be posted again. Other entries are dropped: with
 * tcp, net, sockets and ofi_rxm anyone who can connect to this rank can cause a completion, of a
 * write or of an operation that does not exist, whose context is NULL or stale. A handler may start
 * operations and may be re-entered only through weft_net_withdraw and weft_peer_connect, which
 * progress while they wait: each reader owns the entries it has read.
 */
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/message/count.h"
#include "core/base/clock.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 16 };

/* Polls without an event between two looks at the clock. */
enum { CLOCK_TURN = 1024 };

/* Weft posts no operation whose completion has one of these flags. */
#define FOREIGN (FI_REMOTE_READ | FI_REMOTE_WRITE | FI_ATOMIC | FI_RMA_EVENT)

/* True if no operation of Weft completes with these flags, so that the context is not one of
 * Weft's. ofi_rxm, psm2 and others set FI_TAGGED for each tagged receive, sockets FI_MSG too. */
static inline bool is_foreign(uint64_t flags)
{
    return weft_unlikely(flags & FOREIGN) ||
           weft_unlikely((flags & (FI_RECV | FI_MSG | FI_TAGGED)) == (FI_RECV | FI_MSG));
}

WEFT_COLD static void drop(void)
{
    weft_net_drop("a completion of an operation that this rank did not start", -1);
}

static inline struct weft_request *request_of(struct weft_net_op *op)
{
    return weft_net_request_of((struct weft_net_request *)op);
}

static inline struct weft_net_slot *slot_of(struct weft_net_op *op)
{
    return (struct weft_net_slot *)op;
}

static __attribute__((noinline)) void dispatch_rarer(struct weft_net_vci *net,
                                                     const struct fi_cq_tagged_entry *entry)
{
    struct weft_net_op *op = entry->op_context;
    if (weft_unlikely(!op->in_flight)) {
        drop();
        return;
    }
    op->in_flight = false;
    switch ((enum weft_net_op_kind)op->kind) {
    case WEFT_NET_REQUEST:
        if (weft_request_row(request_of(op))->sends)
            weft_net_sent(request_of(op));
        else
            weft_net_rma_done(request_of(op), 0, NULL);
        return;
    case WEFT_NET_POOL:
        weft_net_pool_received(net, op, entry);
        return;
    case WEFT_NET_CLAIM:
        weft_net_claimed(net, entry);
        return;
    case WEFT_NET_READ:
        weft_net_read_done(slot_of(op), 0, NULL);
        return;
    case WEFT_NET_PIECE:
        weft_net_piece_done(slot_of(op), 0, NULL);
        return;
    case WEFT_NET_OWN:
        weft_net_own_sent(slot_of(op), 0, NULL);
        return;
    }
}

/* A receive that the provider matches: IN_LANE is set while it is in flight. */
static inline bool is_receive(struct weft_net_op *op)
{
    return op->kind == WEFT_NET_REQUEST && weft_request_row(request_of(op))->receives;
}

static inline void dispatch(struct weft_net_vci *net, const struct fi_cq_tagged_entry *entry)
{
    struct weft_net_op *op = entry->op_context;
    if (is_foreign(entry->flags) || weft_unlikely(!op))
        drop();
    else if (!is_receive(op))
        dispatch_rarer(net, entry);
    else if (weft_likely(request_of(op)->flags & WEFT_REQUEST_IN_LANE))
        weft_net_received(request_of(op), entry);
    else
        drop();
}

/* ---- Errors */

int weft_net_failed(const struct weft_peer *peer, const char *format, ...)
{
    va_list args;
    if (peer && weft_failure_confirm(peer->world))
        return weft_failure_report(peer);
    va_start(args, format);
    int code = weft_error_setv(MPI_ERR_OTHER, format, args);
    va_end(args);
    return code;
}

void weft_net_check_buffer(const struct weft_request *request, size_t bytes, bool write)
{
    /* A buffered send whose data the provider has copied has no buffer. */
    if (bytes && request->buffer && weft_request_check_buffer(request, bytes, write) != MPI_SUCCESS)
        weft_error_end_job(MPI_ERR_BUFFER, request);
}

/* A look at buffers: at most LOOKS_AT_ONCE, because each reads the list of all mappings. */
enum { LOOKS_AT_ONCE = 16 };

static void look_at_buffer(void *arg, struct weft_request *request)
{
    unsigned *seen = arg;
    if (request->owner != WEFT_LANE_NET || !weft_request_row(request)->sends || !request->pending ||
        weft_net_state(request)->packed || *seen - weft_net.buffers_from >= LOOKS_AT_ONCE)
        return;
    if ((*seen)++ >= weft_net.buffers_from)
        weft_net_check_buffer(request, request->bytes, false);
}

void weft_net_check_buffers(double now)
{
    unsigned seen = 0;
    if (now < weft_net.buffers_at)
        return;
    bool first = weft_net.buffers_at == 0;
    weft_net.buffers_at = now + 1;
    if (first)
        return;
    weft_request_each(look_at_buffer, &seen);
    weft_net.buffers_from = seen - weft_net.buffers_from < LOOKS_AT_ONCE ? 0 : seen;
}

int weft_net_send_failed(const struct weft_request *request, const char *why)
{
    weft_net_check_buffer(request, request->bytes, false);
    const struct weft_peer *peer = request->peer;
    char sentence[1024], host[256];
    snprintf(sentence, sizeof sentence,
             "sending %zu bytes with tag %d to rank %d on %s over %s failed: %s; see whether that "
             "rank still runs and its address can be reached (weft_info shows the interfaces, "
             "WEFT_IFACE chooses one)",
             request->bytes, request->tag, peer->world,
             weft_boot_host(peer->world, host, sizeof host), weft_net_name(), why);
    if (weft_channel_use(request->channel) != WEFT_CONTEXT_P2P)
        weft_failure_lost(peer->world, MPI_ERR_OTHER, "%s", sentence);
    return weft_net_failed(peer, "%s", sentence);
}

int weft_net_transfer_failed(const struct weft_request *request, const char *action,
                             const char *relation, const char *why)
{
    const struct weft_peer *peer = request->peer;
    char host[256];
    const struct weft_request_ops *row = weft_request_row(request);
    bool write =
        !row->sends && (row->receives || !((const struct weft_net_request *)request->lane)->put);
    weft_net_check_buffer(request, request->bytes, write);
    return weft_net_failed(peer,
                           "%s %zu bytes %s rank %d on %s over %s failed: %s; see whether that "
                           "rank still runs and the network to its host works",
                           action, request->bytes, relation, peer->world,
                           weft_boot_host(peer->world, host, sizeof host), weft_net_name(), why);
}

static void send_failed(struct weft_request *request, const char *text)
{
    request->error = (uint8_t)weft_net_send_failed(request, text);
    if (request->mode == WEFT_SEND_SYNCHRONOUS && weft_net_forget_sync(request))
        weft_request_event(request); /* no ACK will come */
    weft_net_sent(request);
}

void weft_net_own_op_failed(struct weft_request *request, int error, const char *text)
{
    if (weft_request_row(request)->sends)
        send_failed(request, text);
    else
        weft_net_rma_done(request, error, text);
}

/* The op in flight that an error is about, or NULL. The flags of some errors are 0, and ofi_rxm
 * reports objects of its own as contexts. */
WEFT_COLD static struct weft_net_op *failed_op(struct weft_net_vci *net,
                                               const struct fi_cq_err_entry *error)
{
    struct weft_net_op *op = error->op_context;
    if (is_foreign(error->flags) || !weft_net_is_op(net, op))
        return NULL;
    bool in_flight = is_receive(op) ? request_of(op)->flags & WEFT_REQUEST_IN_LANE : op->in_flight;
    op->in_flight = false;
    return in_flight ? op : NULL;
}

/* Reads one error entry and adds it to the events, unless it is only a PEEK that found no message:
 * that does not end a wait. False when the queue has no error entry after all. */
WEFT_COLD static bool read_error(struct weft_net_vci *net, int *events)
{
    struct fid_cq *cq = net->objects.cq;
    struct fi_cq_err_entry error = {0};
    char data[256];
    if (fi_cq_readerr(cq, &error, 0) != 1)
        return false;
    ++*events;
    const char *text = fi_cq_strerror(cq, error.prov_errno, error.err_data, data, sizeof data);
    if (!text || !*text || error.prov_errno == 0)
        text = fi_strerror(error.err);
    struct weft_net_op *op = failed_op(net, &error);
    if (!op) {
        if (error.op_context)
            drop();
        else if (__atomic_fetch_add(&weft_counts.net_dropped, 1, __ATOMIC_RELAXED) == 0)
            weft_warn("%s reports an error that belongs to no operation: %s", weft_net_name(),
                      text);
        return true;
    }
    switch ((enum weft_net_op_kind)op->kind) {
    case WEFT_NET_REQUEST:
        if (weft_request_row(request_of(op))->receives)
            weft_net_receive_failed(request_of(op), &error, text);
        else
            weft_net_own_op_failed(request_of(op), error.err, text);
        break;
    case WEFT_NET_POOL:
        weft_net_pool_failed(net, op, &error, text);
        break;
    case WEFT_NET_CLAIM:
        weft_net_claim_failed(net, &error, text);
        --*events;
        break;
    case WEFT_NET_READ:
        weft_net_read_done(slot_of(op), error.err, text);
        break;
    case WEFT_NET_PIECE:
        weft_net_piece_done(slot_of(op), error.err, text);
        break;
    case WEFT_NET_OWN:
        weft_net_own_sent(slot_of(op), error.err, text);
        break;
    }
    return true;
}

/* The provider is busy, and nothing completes: a peer may be outside of MPI. But where ofi_rxm or
 * tcp has no memory for its buffers it returns -FI_EAGAIN for ever, and the job ends here. */
WEFT_COLD static void check_memory(struct weft_net_vci *net, int events)
{
    if (events)
        net->busy_polls = 0;
    if (events || ++net->busy_polls % CLOCK_TURN)
        return;
    double now = weft_seconds();
    if (net->busy_polls == CLOCK_TURN)
        net->busy_since = now;
    if (now - net->busy_since < (double)weft_settings.connect_timeout)
        return;
    net->busy_since = now;
    if (!weft_provider_has_memory(weft_net.choice.row))
        weft_fatal(MPI_ERR_NO_MEM,
                   "%s accepts no operation for %d seconds, and there is no memory for its "
                   "buffers; see whether the address space is limited (ulimit -v)",
                   weft_net_name(), (int)weft_settings.connect_timeout);
}

/* Operations that wait for the provider, and the rails. Returns the number of events in all. */
WEFT_COLD static int progress_waiting(struct weft_net_vci *net, int events)
{
    if (net->rails_busy)
        events += weft_net_rails_progress(net);
    if (net->backlogged)
        events += weft_net_retry(net);
    if (net->stalled)
        events += weft_net_move_more(net);
    if (net->backlogged || net->stalled)
        check_memory(net, events);
    return events;
}

WEFT_HOT int weft_net_progress(unsigned vci)
{
    struct weft_net_vci *net = &weft_net.vcis[vci];
    struct fi_cq_tagged_entry entries[BATCH];
    int events = 0;
    weft_assert(weft_vci_is_held(&weft.vcis[vci]));
    if (weft_unlikely(vci >= weft_net.nvcis))
        return 0;                  /* a VCI without an endpoint of its own: nothing arrives there */
    if (net->posted < net->wanted) /* buffers of the last poll, whose replies have started */
        weft_net_pool_post_more(net);
    /* Reading goes on after an error, because psm2 and psm3 make no progress in a read that returns
     * entries of the queue, and each progress may queue the error of a PEEK. */
    ssize_t n;
    while ((n = fi_cq_read(net->objects.cq, entries, BATCH)) == -FI_EAVAIL &&
           read_error(net, &events))
        ;
    if (n > 0) {
        for (ssize_t i = 0; i < n; i++)
            dispatch(net, &entries[i]);
        events += (int)n;
    } else if (weft_unlikely(n != -FI_EAGAIN && n != -FI_EAVAIL && n != 0)) {
        weft_fatal(MPI_ERR_OTHER,
                   "reading completions from %s failed: %s; see whether its network device still "
                   "works, or choose another provider (WEFT_PROVIDER)",
                   weft_net_name(), fi_strerror((int)-n));
    }
    if (weft_unlikely(net->backlogged || net->stalled || net->rails_busy))
        events = progress_waiting(net, events);
    if (weft_unlikely(weft.vcis[vci].held != NULL))
        weft_net_claim(net);
    if (weft_unlikely(net->queries != NULL))
        events += weft_net_answer_queries(net);
    return events;
}

static bool may_sleep(const struct weft_net_vci *net)
{
    struct fid *queue = &net->objects.cq->fid;
    return !net->backlogged && !net->stalled && !net->rails_busy && net->posted >= net->wanted &&
           !net->queries && !weft.vcis[net->number].held && net->objects.wait_fd >= 0 &&
           !fi_trywait(net->objects.fabric, &queue, 1);
}

int weft_net_wait_fds(int fds[WEFT_LOCKS_MAX])
{
    for (unsigned i = 0; i < weft_net.nvcis; i++) {
        if (!may_sleep(&weft_net.vcis[i]))
            return 0;
        fds[i] = weft_net.vcis[i].objects.wait_fd;
    }
    return (int)weft_net.nvcis;
}

bool weft_net_idle(void)
{
    bool idle = true;
    for (unsigned i = 0; i < weft_net.nvcis; i++) {
        const struct weft_net_vci *net = &weft_net.vcis[i];
        idle = idle && !net->backlogged && !net->stalled && !net->outstanding;
    }
    return idle;
}
