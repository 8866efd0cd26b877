// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rendezvous: the sender exposes its buffer and sends an RTS; the receiver reads what fits with
 * fi_read, several pieces at a time, and replies with FIN. Contiguous data in device memory are
 * registered as such (FI_HMEM) if the provider takes them. Else the sender exposes a copy in a
 * bounce buffer, if they fit into a pipeline; else see rndv_pipeline.c. If the sender's
 * data have holes, remote access does not work, or no more memory can be registered, the sender
 * pushes messages of at most the eager limit instead (rndv_send.c).
 *
 * Invariants:
 *  - The receiver replies to every RTS once, also if the message is too long: with FIN after the
 *    last byte has arrived, or with CTS.
 *  - A receive is complete when all bytes that fit have arrived; its pending is 1 until then.
 *  - A read starts only if fewer bytes than the limit (read_limit.c) are in flight from that
 *    peer. Others wait in the peer's list `readers`, in order. While one waits, a read is
 *    in flight, and its end starts the next.
 */
#include "core/base/clock.h"
#include "core/datatype/device.h"
#include "core/message/count.h"
#include "core/progress/failure.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

#include <string.h>

enum { READS_AT_ONCE = 8, STAGED_READS_AT_ONCE = 4, HALF = 512 * 1024 };

struct fid_mr *weft_net_register_for(const struct weft_request *request, void *data, size_t bytes,
                                     uint64_t access)
{
    struct fid_mr *mr = weft_net_register(weft_net_of(request), data, bytes, access);
    if (!mr)
        weft_net_check_buffer(request, bytes, access & FI_READ);
    if (mr && request->peer)
        request->peer->counts.registrations++;
    return mr;
}

/* Registers contiguous data in device memory, so that adapters read or write them. Returns NULL if
 * the data have holes, or the provider cannot or refuses. */
WEFT_COLD static struct fid_mr *register_device(struct weft_request *request, uint64_t access)
{
    const struct weft_datatype *type = weft_datatype_in_host(request->type);
    if (!weft_net.device || !request->bytes || !(type->flags & WEFT_TYPE_CONTIGUOUS))
        return NULL;
    struct fid_mr *mr =
        weft_net_register_device(weft_net_of(request), request->buffer, request->bytes, access);
    if (!mr)
        return NULL;
    __atomic_fetch_add(&weft_gpu_counts.direct, request->bytes, __ATOMIC_RELAXED);
    if (request->peer)
        request->peer->counts.registrations++;
    return mr;
}

static bool is_device(const struct weft_request *request)
{
    return request->type->flags & WEFT_TYPE_DEVICE;
}

/* Copies data of device memory to a bounce buffer that the receiver reads. Longer data pass through
 * a pipeline. Returns its registration, or NULL. */
WEFT_COLD static struct fid_mr *expose_copy(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_vci *net = weft_net_of(request);
    if (request->bytes > WEFT_NET_PIPELINE_BYTES || !weft_net_bounce_allows(net, request->bytes))
        return NULL;
    state->packed = weft_net_bounce_get(net, request->bytes);
    struct fid_mr *mr = state->packed ? weft_net_bounce_mr(net, state->packed) : NULL;
    if (mr)
        weft_datatype_pack(request->type, request->buffer, 0, state->packed, request->bytes);
    else
        weft_net_release(request);
    return mr;
}

void weft_net_expose(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct fid_mr *mr = NULL;
    bool contiguous = request->type->flags & WEFT_TYPE_CONTIGUOUS;
    state->header = (struct weft_net_header){.version = WEFT_NET_WIRE_VERSION,
                                             .staged = true,
                                             .ready = request->mode == WEFT_SEND_READY,
                                             .number = request->number,
                                             .length = request->bytes};
    state->stalled = false;
    if (weft_net.can_read && contiguous)
        mr = state->mr =
            weft_net_register_for(request, request->buffer, request->bytes, FI_REMOTE_READ);
    else if (weft_net.can_read && is_device(request) &&
             !(mr = state->mr = register_device(request, FI_REMOTE_READ)))
        mr = expose_copy(request);
    if (!mr)
        return;
    void *data = state->packed ? state->packed : request->buffer;
    state->header.staged = false;
    state->header.key = fi_mr_key(mr);
    state->header.address = weft_net.virtual_addresses ? (uintptr_t)data : 0;
}

static void send_fins(struct weft_peer *peer)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    weft_assert(to->fins <= WEFT_FINS_AT_ONCE);
    if (!to->fins || peer->dead)
        return;
    struct weft_net_control fin = {.kind = WEFT_NET_FIN, .count = (uint8_t)to->fins};
    memcpy(&fin.number, to->fin_numbers, to->fins * sizeof to->fin_numbers[0]);
    to->fins = 0;
    weft_net_control(peer, fin);
}

/* In a blocking call FINs to one peer are sent together while as many more of its messages are
 * being fetched: a series of long messages then needs a sixth of the control messages, and a sender
 * of few messages waits for at most half of its FINs. The end of the call sends the rest
 * (weft_net_wait_ended), because fetches end only while this rank makes progress. */
static bool may_hold_fins(struct weft_peer *peer)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    struct weft_net_vci *net = weft_net_of_peer(peer);
    struct weft_vci *vci = &weft.vcis[peer->vci];
    if (!vci->waiting || to->fins >= WEFT_FINS_AT_ONCE || to->fins >= to->fetching)
        return false;
    if (!to->holds_fins) {
        to->holds_fins = true;
        to->next_with_fins = net->with_fins;
        net->with_fins = peer;
        vci->transfers++;
    }
    return true;
}

void weft_net_wait_ended(unsigned number)
{
    struct weft_vci *vci = &weft.vcis[number];
    struct weft_net_vci *net = &weft_net.vcis[number];
    struct weft_peer *peer;
    weft_assert(weft_vci_is_held(vci));
    while ((peer = net->with_fins) != NULL) {
        weft_assert(weft_net_peer(peer)->holds_fins && vci->transfers > 0);
        net->with_fins = weft_net_peer(peer)->next_with_fins;
        weft_net_peer(peer)->holds_fins = false;
        vci->transfers--;
        send_fins(peer);
    }
}

void weft_net_fetched(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_peer *peer = request->peer;
    struct weft_net_peer *to = weft_net_peer(peer);
    bool was_read = state->phase == WEFT_NET_READING;
    weft_assert(was_read || state->phase == WEFT_NET_AWAITING_PIECES);
    weft_assert(!state->reads_out && !state->stalled && to->fetching > 0);
    weft_net_release(request);
    if (state->rails) /* the provider needs no registration of the buffer */
        weft_net_rails_release(request);
    state->phase = WEFT_NET_NO_RENDEZVOUS;
    to->fetching--;
    if (weft_likely(!peer->dead)) {
        if (was_read)
            to->fin_numbers[to->fins++] = state->header.number;
        if (!may_hold_fins(peer))
            send_fins(peer);
    }
    weft_request_transferred(request);
    weft_request_event(request);
}

uint64_t weft_net_fetching_from(const struct weft_peer *peer)
{
    return weft_net_peer(peer)->fetching;
}

void weft_net_stall(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    if (state->stalled)
        return;
    state->stalled = true;
    struct weft_net_vci *net = weft_net_of(request);
    state->next_stalled = net->stalled;
    net->stalled = request;
}

static bool is_contiguous(const struct weft_request *request)
{
    return request->type->flags & WEFT_TYPE_CONTIGUOUS;
}

void weft_net_register_receive(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    if (weft_net.local_mr && is_contiguous(request) && request->bytes)
        state->mr = weft_net_register_for(request, request->buffer, request->bytes, FI_READ);
    else if (weft_unlikely(is_device(request)))
        state->mr = register_device(request, FI_READ);
}

/* True if reads go into the user's buffer: a contiguous one that the provider can write to, in
 * device memory one that is registered. */
static bool reads_in_place(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    return state->mr || (is_contiguous(request) && !weft_net.local_mr);
}

int weft_net_begin_read(struct weft_request *request, size_t offset, size_t bytes, uint64_t address,
                        uint64_t key)
{
    struct weft_net_request *state = weft_net_state(request);
    struct weft_net_vci *net = weft_net_of(request);
    weft_assert(state->phase == WEFT_NET_READING || state->phase == WEFT_NET_AWAITING_PIECES);
    weft_assert(offset + bytes <= request->bytes);
    struct weft_net_slot *read = weft_net_slot_get(net, WEFT_NET_READ);
    if (!read)
        return -FI_EAGAIN;
    read->request = request;
    read->offset = offset;
    read->bytes = bytes;
    read->rail = 0;
    bool in_place = reads_in_place(request);
    int rc = 0;
    read->data =
        in_place ? NULL : weft_net_bounce_get_reserved(net, WEFT_NET_RESERVE_PIECE, bytes, &rc);
    char *to = read->data ? read->data : (char *)request->buffer + offset;
    if (!rc) {
        struct fid_mr *mr =
            read->data && weft_net.local_mr ? weft_net_bounce_mr(net, read->data) : state->mr;
        rc = (int)fi_read(net->objects.ep, to, bytes, weft_net_descriptor(mr),
                          weft_net_peer(request->peer)->fast.address, address, key, &read->op);
    }
    if (rc) {
        weft_net_bounce_put(net, read->data);
        weft_net_slot_put(net, read);
        return rc;
    }
    state->reads_out++;
    struct weft_read_limit *limit = &weft_net_peer(request->peer)->read_limit;
    limit->exchange = net->announced > 0;
    weft_read_limit_start(limit, bytes, weft_seconds);
    net->outstanding++;
    return 0;
}

bool weft_net_has_space(const struct weft_request *request)
{
    return weft_read_limit_is_open(&weft_net_peer(request->peer)->read_limit, request->bytes);
}

/* Over a stream a message of 1 MiB to two chunks is read in halves while
 * peers read from this rank too, because else both sides of an exchange write all their data to the
 * sockets before they read.
 */
static size_t longest_read(const struct weft_request *request, bool in_place)
{
    bool exchange = weft_net.read_limit != SIZE_MAX && weft_net_of(request)->announced > 0;
    size_t bytes = request->bytes,
           most = weft_read_limit_piece(&weft_net_peer(request->peer)->read_limit, bytes,
                                        weft_net.read_chunk);
    if (exchange && bytes >= 2 * HALF && bytes < 2 * most && most > HALF)
        most = HALF;
    size_t piece = in_place ? most : weft_net_piece_bytes(bytes);
    return piece < most ? piece : most;
}

/* Returns 0 if all reads that are allowed now have started, WEFT_NET_NO_SPACE, -FI_EAGAIN or an
 * error. */
static int read_pieces(struct weft_request *request, int *issued)
{
    struct weft_net_request *state = weft_net_state(request);
    if (state->rails)
        return weft_net_rails_read(request, issued);
    bool in_place = reads_in_place(request);
    while (state->moved < request->bytes &&
           state->reads_out < (in_place ? READS_AT_ONCE : STAGED_READS_AT_ONCE)) {
        size_t n = request->bytes - state->moved, most = longest_read(request, in_place);
        n = n < most ? n : most;
        if (!weft_net_has_space(request))
            return WEFT_NET_NO_SPACE;
        int rc = weft_net_begin_read(request, state->moved, n, state->header.address + state->moved,
                                     state->header.key);
        if (rc)
            return rc;
        state->moved += n;
        ++*issued;
    }
    return 0;
}

/* No more reads are started; those in flight still complete. */
static void give_up(struct weft_request *request, int error)
{
    request->error = (uint8_t)error;
    request->bytes = weft_net_state(request)->moved;
}

static bool is_finished(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    return !state->reads_out && !state->stalled && state->moved >= request->bytes &&
           !weft_net_rails_awaited(request);
}

static void append_reader(struct weft_peer *peer, struct weft_request *request)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(!state->stalled && !*to->readers_end);
    state->next_stalled = NULL;
    state->stalled = true;
    *to->readers_end = request;
    to->readers_end = &state->next_stalled;
}

static void drop_first_reader(struct weft_peer *peer)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    struct weft_net_request *state = weft_net_state(to->readers);
    weft_assert(state->stalled);
    to->readers = state->next_stalled;
    if (!to->readers)
        to->readers_end = &to->readers;
    state->stalled = false;
}

/* Starts as many reads of a request as may be in flight at once. Returns their number. */
static int issue_reads(struct weft_request *request)
{
    struct weft_peer *peer = request->peer;
    struct weft_net_peer *to = weft_net_peer(peer);
    bool first = to->readers == request;
    int issued = 0, rc = -FI_EAGAIN;
    if (!peer->dead)
        rc = to->readers && !first ? WEFT_NET_NO_SPACE : read_pieces(request, &issued);
    if (first && rc != WEFT_NET_NO_SPACE)
        drop_first_reader(peer);
    if (rc == WEFT_NET_NO_SPACE) {
        if (!first)
            append_reader(peer, request);
    } else if (rc == -FI_EAGAIN && request->peer->dead) {
        give_up(request, weft_failure_report(request->peer));
    } else if (rc == -FI_EAGAIN) {
        weft_net_stall(request);
    } else if (rc) {
        give_up(request, weft_net_transfer_failed(request, "reading", "from", fi_strerror(-rc)));
    }
    return issued;
}

/* A read from a peer has ended: starts those that wait until fewer bytes than the limit are in
 * flight. */
static void serve_readers(struct weft_peer *peer)
{
    struct weft_net_peer *to = weft_net_peer(peer);
    struct weft_request *first;
    while ((first = to->readers) != NULL) {
        issue_reads(first);
        if (to->readers == first)
            return;
        if (is_finished(first))
            weft_net_fetched(first);
    }
}

int weft_net_read_on(struct weft_request *request)
{
    int issued = issue_reads(request);
    if (is_finished(request))
        weft_net_fetched(request);
    return issued;
}

void weft_net_fetch(struct weft_request *request, const void *header)
{
    struct weft_net_request *state = weft_net_state(request);
    weft_assert(state->phase == WEFT_NET_NO_RENDEZVOUS || state->phase == WEFT_NET_AWAITING_HEADER);
    weft_assert(!state->packed && !state->mr);
    if (weft_unlikely(request->peer->dead)) {
        weft_failure_end_fetch(request);
        return;
    }
    memcpy(&state->header, header, sizeof state->header);
    weft_net_peer(request->peer)->fetching++;
    state->moved = state->arrived = 0;
    state->reads_out = 0;
    state->stalled = false;
    weft_request_fit(request, state->header.length);
    if (!weft_net.can_read || state->header.staged) {
        weft_net_pushed_fetch(request);
        return;
    }
    state->phase = WEFT_NET_READING;
    weft_net_register_receive(request);
    if (weft_net_peer(request->peer)->rails && !is_device(request) && reads_in_place(request))
        weft_net_rails_ask(request);
    weft_net_read_on(request);
}

void weft_net_request_header(struct weft_request *request, uint32_t number)
{
    weft_assert(weft_net_state(request)->phase == WEFT_NET_NO_RENDEZVOUS);
    weft_net_state(request)->phase = WEFT_NET_AWAITING_HEADER;
    weft_net_control(request->peer, (struct weft_net_control){.kind = WEFT_NET_REQUEST_HEADER,
                                                              .number = number,
                                                              .other = request->number});
}

void weft_net_header_requested(struct weft_request *send, uint64_t receive)
{
    const struct weft_net_header *header = &weft_net_state(send)->header;
    weft_net_control(send->peer, (struct weft_net_control){.kind = WEFT_NET_HEADER,
                                                           .count = header->staged,
                                                           .number = receive,
                                                           .other = header->number,
                                                           .length = header->length,
                                                           .address = header->address,
                                                           .key = header->key});
}

void weft_net_header_arrived(struct weft_request *request, const struct weft_net_control *answer)
{
    weft_net_fetch(request, &(struct weft_net_header){.version = answer->version,
                                                      .staged = answer->count,
                                                      .number = (uint32_t)answer->other,
                                                      .length = answer->length,
                                                      .address = answer->address,
                                                      .key = answer->key});
}

/* True if the limit of reads in flight was reached until now. */
static bool was_full(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    if (state->rails)
        return true;
    return state->moved < request->bytes &&
           state->reads_out == (reads_in_place(request) ? READS_AT_ONCE : STAGED_READS_AT_ONCE) - 1;
}

/* One read of a request has ended. */
static void read_ended(struct weft_request *request, int error, const char *text)
{
    struct weft_net_request *state = weft_net_state(request);
    if (weft_unlikely(error))
        give_up(request, weft_net_transfer_failed(request, "reading", "from", text));
    else if (!state->stalled && was_full(request))
        issue_reads(request);
    else if (state->rails) /* it waits for the first NIC only */
        weft_net_rails_issue(request);
    if (is_finished(request))
        weft_net_fetched(request);
}

WEFT_COLD static void piece_read_ended(struct weft_request *request, size_t bytes)
{
    weft_net_state(request)->arrived += bytes;
    weft_net_pipeline_read_on(request);
}

void weft_net_read_done(struct weft_net_slot *read, int error, const char *text)
{
    struct weft_request *request = read->request;
    struct weft_peer *peer = request->peer;
    size_t offset = read->offset, bytes = read->bytes;
    bool piece = weft_net_state(request)->phase == WEFT_NET_AWAITING_PIECES;
    weft_assert(weft_net_state(request)->reads_out > 0);
    weft_assert(read->rail || weft_net_peer(peer)->read_limit.reading >= bytes);
    if (weft_unlikely(piece))
        weft_net_piece_read(request, offset, error, text);
    if (read->data && !error)
        weft_datatype_unpack(request->type, request->buffer, offset, read->data, bytes);
    struct weft_net_vci *net = weft_net_of_peer(peer);
    weft_net_bounce_put(net, read->data);
    if (!read->rail)
        weft_read_limit_end(&weft_net_peer(peer)->read_limit, bytes, weft_seconds);
    if (weft_net_state(request)->rails)
        weft_net_rails_read_ended(request, read->rail);
    weft_net_slot_put(net, read);
    weft_assert(net->outstanding > 0);
    weft_net_state(request)->reads_out--;
    net->outstanding--;
    if (weft_unlikely(piece))
        piece_read_ended(request, bytes);
    else
        read_ended(request, error, text);
    serve_readers(peer);
}

bool weft_net_fetch_waits(const struct weft_request *request)
{
    const struct weft_net_request *state = (const struct weft_net_request *)request->lane;
    bool waits = state->phase == WEFT_NET_AWAITING_PIECES || weft_net_rails_awaited(request);
    return state->phase == WEFT_NET_AWAITING_HEADER ||
           (waits && !state->reads_out && !state->stalled);
}

void weft_net_fetch_abandon(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    request->bytes = 0;
    if (state->phase == WEFT_NET_AWAITING_HEADER) {
        state->phase = WEFT_NET_NO_RENDEZVOUS;
        weft_request_event(request);
        return;
    }
    weft_net_pipeline_close(request);
    weft_net_fetched(request);
}

static int move_on(struct weft_request *request)
{
    switch ((enum weft_net_phase)weft_net_state(request)->phase) {
    case WEFT_NET_PUSHING:
        return weft_net_push_more(request);
    case WEFT_NET_AWAITING_PIECES:
        return weft_net_pipeline_read_on(request);
    default:
        return weft_net_read_on(request);
    }
}

int weft_net_move_more(struct weft_net_vci *net)
{
    struct weft_request *list = net->stalled;
    int issued = 0;
    net->stalled = NULL;
    while (list) {
        struct weft_request *request = list;
        weft_assert(weft_net_state(request)->stalled);
        list = weft_net_state(request)->next_stalled;
        weft_net_state(request)->stalled = false;
        issued += move_on(request);
    }
    return issued;
}
