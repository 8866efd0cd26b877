// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rendezvous: the sender exposes its buffer and sends an RTS; the receiver reads what fits with
 * fi_read, several pieces at a time, and answers FIN. Where the provider has no read that can be
 * trusted, the receiver answers CTS and the sender pushes pieces of at most the eager limit.
 *
 * Invariants:
 *  - The receiver answers every RTS once, also one whose message does not fit: with FIN after the
 *    last byte has arrived, or with CTS.
 *  - A receive is complete when every byte it wants has arrived; its pending stays 1 until then.
 */
#include "core/error.h"
#include "core/tool/count.h"
#include "core/weft.h"
#include "ofi/net.h"
#include "ofi/ofi.h"

#include <stdlib.h>
#include <string.h>

enum { READS_AT_ONCE = 8, PIECES_AT_ONCE = 8 };

struct weft_net_read {
    struct weft_net_op op;
    struct weft_request *request;
    size_t offset, bytes;       /* of the packed form */
    void *stage;                /* where they go if the buffer is not dense, else NULL */
    struct weft_net_read *next; /* in the free list */
};

struct weft_net_piece {
    struct weft_net_op op;
    struct weft_net_out out;
    struct weft_request *request; /* the send it is a part of */
    size_t bytes;
    struct weft_net_control control; /* the data follow */
};

static struct weft_net_read *free_reads;

struct fid_mr *weft_net_register(void *data, size_t bytes, uint64_t access)
{
    struct fid_mr *mr = NULL;
    if (fi_mr_reg(weft_net.domain, data, bytes ? bytes : 1, access, 0, ++weft_net.next_key, 0, &mr,
                  NULL))
        return NULL;
    weft_counts.net_registrations++;
    if (weft_net.choice.info->domain_attr->mr_mode & FI_MR_ENDPOINT &&
        (fi_mr_bind(mr, &weft_net.ep->fid, 0) || fi_mr_enable(mr))) {
        fi_close(&mr->fid);
        return NULL;
    }
    return mr;
}

int weft_net_expose(struct weft_request *request, void *data)
{
    struct weft_net_request *part = weft_net_part(request);
    part->header = (struct weft_net_header){.version = WEFT_NET_WIRE_VERSION,
                                            .ready = request->mode == WEFT_SEND_READY,
                                            .length = request->bytes,
                                            .cookie = (uintptr_t)request};
    if (!weft_net.can_read)
        return MPI_SUCCESS;
    struct fid_mr *mr = part->packed ? weft_net_stage_mr(data)
                                     : weft_net_register(data, request->bytes, FI_REMOTE_READ);
    if (!part->packed)
        part->mr = mr;
    if (!mr)
        return weft_error_say(
            MPI_ERR_OTHER,
            "%s refuses to register %zu bytes to be read by rank %d; raise the limit of locked "
            "memory (ulimit -l) or send less at once",
            weft_net_name(), request->bytes, request->peer->world);
    part->header.key = fi_mr_key(mr);
    part->header.address = weft_net.virtual_addresses ? (uintptr_t)data : 0;
    return MPI_SUCCESS;
}

size_t weft_net_header_length(const void *header)
{
    struct weft_net_header copy;
    memcpy(&copy, header, sizeof copy);
    return copy.length;
}

bool weft_net_header_ready(const void *header)
{
    struct weft_net_header copy;
    memcpy(&copy, header, sizeof copy);
    return copy.ready;
}

uint64_t weft_net_header_cookie(const void *header)
{
    struct weft_net_header copy;
    memcpy(&copy, header, sizeof copy);
    return copy.cookie;
}

/* FINs of one peer are told together while more data of it are on their way: a window of long
 * messages then costs a third of the control messages. None waits longer than the fetch that is
 * under way. */
static void tell_finished(struct weft_peer *peer, uint64_t cookie)
{
    peer->fetching--;
    if (!weft_net.can_read || peer->lane == WEFT_LANE_DEAD)
        return; /* the sender knows: it pushed them */
    peer->fin_cookies[peer->fins++] = cookie;
    if (peer->fins < WEFT_FINS_AT_ONCE && peer->fetching)
        return;
    weft_net_control(peer, (struct weft_net_control){.kind = WEFT_NET_FIN,
                                                     .count = (uint8_t)peer->fins,
                                                     .cookie = peer->fin_cookies[0],
                                                     .other = peer->fin_cookies[1],
                                                     .length = peer->fin_cookies[2]});
    peer->fins = 0;
}

static void finish(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    weft_net_release(part);
    tell_finished(request->peer, part->header.cookie);
    weft_request_event(request);
}

static struct weft_net_read *get_read(void)
{
    struct weft_net_read *read = free_reads;
    if (read)
        free_reads = read->next;
    else
        read = malloc(sizeof *read);
    return read;
}

static void put_read(struct weft_net_read *read)
{
    read->next = free_reads;
    free_reads = read;
}

void weft_net_read_close(void)
{
    struct weft_net_read *read;
    while ((read = free_reads) != NULL) {
        free_reads = read->next;
        free(read);
    }
}

static void stall(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    if (part->stalled)
        return;
    part->stalled = true;
    part->next_stalled = weft_net.stalled;
    weft_net.stalled = request;
}

static bool is_dense(const struct weft_request *request)
{
    return request->type->flags & WEFT_TYPE_DENSE;
}

int weft_net_read(struct weft_request *request, size_t offset, size_t bytes, size_t remote)
{
    struct weft_net_request *part = weft_net_part(request);
    struct weft_net_read *read = get_read();
    if (!read)
        return -FI_EAGAIN;
    read->op.kind = WEFT_NET_READ;
    read->request = request;
    read->offset = offset;
    read->bytes = bytes;
    read->stage = is_dense(request) ? NULL : weft_net_stage_get(bytes);
    char *to = read->stage ? read->stage : (char *)request->buffer + offset;
    int rc = -FI_ENOMEM;
    if (read->stage || is_dense(request)) {
        struct fid_mr *mr =
            read->stage && weft_net.local_mr ? weft_net_stage_mr(read->stage) : part->mr;
        rc = (int)fi_read(weft_net.ep, to, bytes, weft_net_descriptor(mr), request->peer->net_addr,
                          part->header.address + remote, part->header.key, &read->op);
    }
    if (rc) {
        weft_net_stage_put(read->stage);
        put_read(read);
        return rc;
    }
    part->reads_out++;
    weft_net.outstanding++;
    return 0;
}

/* Reads what lies ready as a whole, a piece after the other. */
static int read_pieces(struct weft_request *request, int *issued)
{
    struct weft_net_request *part = weft_net_part(request);
    bool dense = is_dense(request);
    size_t most =
        dense || weft_net.read_chunk < WEFT_NET_CHUNK ? weft_net.read_chunk : WEFT_NET_CHUNK;
    while (part->moved < request->bytes &&
           part->reads_out < (dense ? READS_AT_ONCE : WEFT_NET_SLOTS)) {
        size_t n = request->bytes - part->moved < most ? request->bytes - part->moved : most;
        int rc = weft_net_read(request, part->moved, n, part->moved);
        if (rc)
            return rc;
        part->moved += n;
        ++*issued;
    }
    return 0;
}

/* Nothing more is asked for; what was asked for still comes, but not from the dead. */
static void give_up(struct weft_request *request, int error)
{
    struct weft_net_request *part = weft_net_part(request);
    request->error = (uint8_t)error;
    request->bytes = part->header.slots ? 0 : part->moved;
    if (part->header.slots) {
        part->staged.ready = 0;
        if (request->peer->lane == WEFT_LANE_DEAD)
            part->staged.asked = 0;
    }
}

static bool is_finished(const struct weft_request *request)
{
    const struct weft_net_request *part = (const struct weft_net_request *)request->lane;
    if (part->reads_out || part->stalled)
        return false;
    return part->header.slots ? !part->staged.asked && !part->staged.ready
                              : part->moved >= request->bytes;
}

/* Gives the provider as many reads of a request as it may have at once. Returns how many. */
static int issue_reads(struct weft_request *request)
{
    int issued = 0;
    int rc = weft_net_part(request)->header.slots ? weft_net_staged_read(request, &issued)
                                                  : read_pieces(request, &issued);
    if (rc == -FI_EAGAIN) {
        stall(request);
    } else if (rc) {
        give_up(request,
                weft_error_say(MPI_ERR_OTHER, "reading %zu bytes from rank %d over %s failed: %s",
                               request->bytes, request->peer->world, weft_net_name(),
                               fi_strerror(-rc)));
    }
    return issued;
}

int weft_net_read_on(struct weft_request *request)
{
    int issued = issue_reads(request);
    if (is_finished(request))
        finish(request);
    return issued;
}

void weft_net_fetch(struct weft_request *request, const void *header)
{
    struct weft_net_request *part = weft_net_part(request);
    memcpy(&part->header, header, sizeof part->header);
    request->peer->fetching++;
    part->moved = part->arrived = 0;
    part->reads_out = 0;
    part->stalled = false;
    request->bytes = part->header.length;
    if (part->header.slots)
        weft_net_staged_begin(request);
    if (weft_unlikely(request->bytes > request->capacity)) {
        weft_request_truncated(request, request->bytes);
        request->bytes = request->capacity;
    }
    if (!weft_net.can_read)
        weft_net_control(request->peer, (struct weft_net_control){.kind = WEFT_NET_CTS,
                                                                  .cookie = part->header.cookie,
                                                                  .other = (uintptr_t)request,
                                                                  .length = request->bytes});
    if (!request->bytes) {
        finish(request);
        return;
    }
    if (!weft_net.can_read)
        return;
    if (weft_net.local_mr && is_dense(request))
        part->mr = weft_net_register(request->buffer, request->bytes, FI_READ);
    weft_net_read_on(request);
}

/* Whether all the reads that there may be at once were out until now. */
static bool was_full(const struct weft_request *request)
{
    const struct weft_net_request *part = (const struct weft_net_request *)request->lane;
    return part->moved < request->bytes &&
           part->reads_out == (is_dense(request) ? READS_AT_ONCE : WEFT_NET_SLOTS) - 1;
}

void weft_net_read_done(struct weft_net_op *op, int error, const char *text)
{
    struct weft_net_read *read = (struct weft_net_read *)op;
    struct weft_request *request = read->request;
    struct weft_net_request *part = weft_net_part(request);
    size_t offset = read->offset, bytes = read->bytes;
    if (read->stage && !error)
        weft_datatype_unpack(request->type, request->buffer, offset, read->stage, bytes);
    weft_net_stage_put(read->stage);
    put_read(read);
    part->reads_out--;
    weft_net.outstanding--;
    if (weft_unlikely(error))
        give_up(request,
                weft_error_say(MPI_ERR_OTHER, "reading %zu bytes from rank %d over %s failed: %s",
                               request->bytes, request->peer->world, weft_net_name(), text));
    else if (part->header.slots && request->peer->lane == WEFT_LANE_DEAD)
        give_up(request, weft_failure_say(request->peer));
    else if (part->header.slots && offset < request->bytes)
        weft_net_staged_arrived(request, offset);
    else if (!part->header.slots && was_full(request))
        issue_reads(request);
    if (is_finished(request))
        finish(request);
}

bool weft_net_fetch_waits(const struct weft_request *request)
{
    const struct weft_net_request *part = (const struct weft_net_request *)request->lane;
    return !part->reads_out && !part->stalled &&
           (!weft_net.can_read || (part->header.slots && part->staged.asked));
}

void weft_net_fetch_abandon(struct weft_request *request)
{
    request->peer->fetching--;
    request->bytes = 0;
    weft_net_release(weft_net_part(request));
    weft_request_event(request);
}

int weft_net_read_more(void)
{
    struct weft_request *list = weft_net.stalled;
    int issued = 0;
    weft_net.stalled = NULL;
    while (list) {
        struct weft_request *request = list;
        list = weft_net_part(request)->next_stalled;
        weft_net_part(request)->stalled = false;
        issued += weft_net_read_on(request);
    }
    return issued;
}

/* Pushed rendezvous: the sender's side. */

static size_t piece_room(void)
{
    return weft_net.eager_limit - sizeof(struct weft_net_control);
}

static int push_one(struct weft_request *request)
{
    struct weft_net_request *part = weft_net_part(request);
    size_t n = request->capacity - part->moved;
    if (n > piece_room())
        n = piece_room();
    struct weft_net_piece *piece = malloc(sizeof *piece + n);
    if (!piece)
        return 0;
    piece->op.kind = WEFT_NET_PIECE;
    piece->out.kind = WEFT_NET_OUT_PIECE;
    piece->request = request;
    piece->bytes = n;
    piece->control = (struct weft_net_control){.version = WEFT_NET_WIRE_VERSION,
                                               .kind = WEFT_NET_DATA,
                                               .from = weft.job.rank,
                                               .cookie = part->header.key,
                                               .other = part->moved};
    weft_datatype_pack(request->type, request->buffer, part->moved, piece + 1, n);
    part->moved += n;
    part->reads_out++;
    weft_net.outstanding++;
    weft_net_push(request->peer, &piece->out);
    return 1;
}

/* A send's capacity is what the receiver asked for. */
void weft_net_push_pieces(struct weft_request *request, uint64_t receiver, size_t length)
{
    struct weft_net_request *part = weft_net_part(request);
    part->header.key = receiver;
    part->moved = 0;
    part->reads_out = 0;
    request->capacity = length;
    if (!length) {
        weft_net_sent(request);
        return;
    }
    while (part->moved < length && part->reads_out < PIECES_AT_ONCE)
        if (!push_one(request))
            weft_fatal(MPI_ERR_NO_MEM, "no memory to push a message of %zu bytes to rank %d",
                       length, request->peer->world);
}

int weft_net_piece_send(struct weft_peer *peer, struct weft_net_out *out)
{
    struct weft_net_piece *piece =
        (struct weft_net_piece *)((char *)out - offsetof(struct weft_net_piece, out));
    struct fid_mr *mr = NULL;
    return (int)fi_tsenddata(weft_net.ep, &piece->control, sizeof piece->control + piece->bytes,
                             weft_net_descriptor(mr), (uint32_t)weft.job.rank, peer->net_addr,
                             weft_net.space_bit, &piece->op);
}

void weft_net_piece_done(struct weft_net_op *op, int error, const char *text)
{
    struct weft_net_piece *piece = (struct weft_net_piece *)op;
    struct weft_request *request = piece->request;
    struct weft_net_request *part = weft_net_part(request);
    free(piece);
    part->reads_out--;
    weft_net.outstanding--;
    if (error)
        request->error =
            weft_error_say(MPI_ERR_OTHER, "sending %zu bytes to rank %d over %s failed: %s",
                           request->bytes, request->peer->world, weft_net_name(), text);
    if (part->moved < request->capacity)
        push_one(request);
    else if (!part->reads_out)
        weft_net_sent(request);
}

void weft_net_piece_failed(struct weft_net_out *out, const char *text)
{
    struct weft_net_piece *piece =
        (struct weft_net_piece *)((char *)out - offsetof(struct weft_net_piece, out));
    weft_net_part(piece->request)->moved = piece->request->capacity; /* no more pieces */
    weft_net_piece_done(&piece->op, FI_EIO, text);
}

/* Pushed rendezvous: the receiver's side. */
void weft_net_piece_arrived(const struct weft_net_control *control, const void *data, size_t bytes)
{
    struct weft_request *request = (struct weft_request *)(uintptr_t)control->cookie;
    struct weft_net_request *part = weft_net_part(request);
    weft_datatype_unpack(request->type, request->buffer, control->other, data, bytes);
    part->arrived += bytes;
    if (part->arrived >= request->bytes)
        finish(request);
}
