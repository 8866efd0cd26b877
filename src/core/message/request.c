// SPDX-License-Identifier: BSD-3-Clause
/*
 * The request pool, the ends of requests, statuses.
 *
 * Invariant: a request in the free list has kind WEFT_KIND_NONE, so a handle used after it was
 * freed is detected until the object is in use again.
 */
#include "core/message/request.h"
#include "core/message/status.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/message/lane.h"
#include "core/message/peer.h"
#include "core/message/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft_request weft_request_null = {.object = {WEFT_KIND_REQUEST, 0},
                                         .flags = WEFT_REQUEST_PERSISTENT | WEFT_REQUEST_INACTIVE};

static void end_half(struct weft_request *half);
static bool count_received(struct weft_request *receive);
static void describe_flush(const struct weft_request *request, char *text, size_t len);
static void describe_making(const struct weft_request *request, char *text, size_t len);

struct weft_request_ops weft_request_ops[WEFT_REQUEST_KINDS] = {
    [WEFT_REQUEST_NONE] = {.of_vci = true},
    [WEFT_REQUEST_SEND] = {.name = "send",
                           .buffer = "send",
                           .sends = true,
                           .of_vci = true,
                           .observed_needs_all = true,
                           .no_data = true},
    [WEFT_REQUEST_RECV] = {.name = "receive",
                           .buffer = "receive",
                           .receives = true,
                           .of_vci = true,
                           .observed = count_received},
    [WEFT_REQUEST_PROBE] = {.needs_all = true},
    [WEFT_REQUEST_FLUSH] = {.name = "flush of a buffer",
                            .needs_all = true,
                            .describe = describe_flush},
    [WEFT_REQUEST_MAKING] = {.name = "MPI_Comm_idup or MPIX_Comm_iagree",
                             .needs_all = true,
                             .describe = describe_making},
    [WEFT_REQUEST_PAIR] = {.name = "send and receive",
                           .needs_all = true,
                           .paired = true,
                           .subs_need_all = true,
                           .sub_ended = end_half},
};

struct type_visit {
    void (*see)(void *arg, const struct weft_datatype *type);
    void *arg;
};

static void see_type(void *arg, struct weft_request *request)
{
    const struct type_visit *visit = arg;
    visit->see(visit->arg, request->type);
}

static void each_use(void (*see)(void *arg, const struct weft_datatype *type), void *arg)
{
    weft_assert(weft_vcis_hold_all());
    weft_request_each(see_type, &(struct type_visit){see, arg});
}

void weft_request_init(void)
{
    weft_datatype_each_use = each_use;
    weft_handle_predefine((uintptr_t)MPI_REQUEST_NULL, &weft_request_null.object);
}

void weft_request_finalize(void)
{
    for (unsigned v = 0; v < weft.nvcis; v++) {
        struct weft_request_pool *pool = &weft.vcis[v].requests;
        weft_assert(!weft.vcis[v].deferred);
        for (size_t i = 0; i < pool->nslabs; i++)
            free(pool->slabs[i]);
        for (struct weft_request **array = pool->slabs; array;) {
            void *before = array[-1];
            free(array - 1);
            array = before;
        }
        *pool = (struct weft_request_pool){0};
    }
}

static const char no_memory[] = "no memory for another request; complete or free some first";

/* Space for one more slab: an array twice as long, which leads to the one before. */
static bool make_space(struct weft_request_pool *pool)
{
    size_t space = pool->space ? 2 * pool->space : 16;
    if (pool->nslabs < pool->space)
        return true;
    struct weft_request **array = malloc((space + 1) * sizeof *array);
    if (!array)
        return false;
    *array++ = (void *)pool->slabs;
    if (pool->nslabs)
        memcpy(array, pool->slabs, pool->nslabs * sizeof *array);
    pool->slabs = array;
    pool->space = space;
    return true;
}

static void init_lane_state(struct weft_request *request)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->init_request)
        lane->init_request(request);
}

/* General path of weft_request_get: one more slab. NULL if memory is short, or the VCI has all
 * requests that its numbers allow, the sentence recorded. */
WEFT_COLD static struct weft_request *grow_pool(struct weft_vci *vci)
{
    struct weft_request_pool *pool = &vci->requests;
    struct weft_request *slab = NULL;
    size_t most = ((size_t)1 << WEFT_VCI_REQUEST_SHIFT) / WEFT_REQUEST_SLAB;
    if (pool->nslabs < most && make_space(pool))
        slab = aligned_alloc(64, WEFT_REQUEST_SLAB * sizeof *slab);
    if (!slab) {
        weft_error_set(MPI_ERR_NO_MEM, no_memory);
        return NULL;
    }
    memset(slab, 0, WEFT_REQUEST_SLAB * sizeof *slab);
    for (int i = WEFT_REQUEST_SLAB - 1; i >= 0; i--) {
        slab[i].vci = vci;
        slab[i].number = vci->number << WEFT_VCI_REQUEST_SHIFT |
                         (uint32_t)(pool->nslabs * WEFT_REQUEST_SLAB + (size_t)i);
        init_lane_state(&slab[i]);
        slab[i].next = pool->free;
        pool->free = &slab[i];
    }
    weft_assert(!slab[WEFT_REQUEST_SLAB - 1].next && pool->nslabs < pool->space);
    pool->slabs[pool->nslabs] = slab;
    pool->nslabs++;
    return pool->free;
}

struct weft_request *weft_request_get(struct weft_vci *vci, enum weft_request_kind op, int pending)
{
    weft_assert(weft_vci_is_held(vci));
    if (weft_unlikely(!vci->requests.free) && !grow_pool(vci))
        return NULL;
    return weft_request_pop(&vci->requests, op, 0, WEFT_LANE_UNKNOWN, pending);
}

struct weft_request *weft_request_to_nowhere(struct weft_vci *vci)
{
    struct weft_request *request = weft_request_get(vci, WEFT_REQUEST_NONE, 0);
    if (!request)
        weft_fatal(MPI_ERR_NO_MEM, no_memory);
    request->source = MPI_PROC_NULL;
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    request->channel = NULL;
    return request;
}

void weft_request_put(struct weft_request *request)
{
    weft_request_push(request);
}

/* The end of a sub-request is an event of its parent. */
static void end_sub(struct weft_request *request)
{
    struct weft_request *parent = request->parent;
    weft_assert(request->flags & WEFT_REQUEST_SUB && !request->pending);
    if (weft_request_row(parent)->sub_ended) {
        weft_request_row(parent)->sub_ended(request);
        return;
    }
    if (request->error && !parent->error)
        parent->error = request->error;
    weft_assert(parent->with_send && weft_request_row(request)->sends);
    parent->with_send = false;
    free(request->copy);
    weft_request_put(request);
    weft_request_event(parent);
}

void weft_request_set_parent(struct weft_request *sub, struct weft_request *parent)
{
    weft_assert(weft_request_row(parent)->sub_ended && !(sub->flags & WEFT_REQUEST_SUB));
    sub->parent = parent;
    sub->flags |= WEFT_REQUEST_SUB;
    if (!sub->pending)
        end_sub(sub);
}

static bool needs_all(const struct weft_request *request)
{
    if (request->flags & WEFT_REQUEST_SUB)
        return weft_request_row(request->parent)->subs_need_all;
    return weft_request_row(request)->needs_all || (weft_request_row(request)->observed_needs_all &&
                                                    request->flags & WEFT_REQUEST_OBSERVED);
}

static int free_held(struct weft_request *request)
{
    int (*release)(struct weft_request *) = weft_request_row(request)->free;
    return release ? release(request) : MPI_SUCCESS;
}

static bool count_received(struct weft_request *receive)
{
    weft_count_received(receive);
    return false;
}

void weft_request_last(struct weft_request *request)
{
    if (weft_unlikely(needs_all(request) && !weft_vcis_hold_all())) {
        request->next = request->vci->deferred;
        request->vci->deferred = request;
        __atomic_fetch_or(&weft.others, WEFT_OTHERS_DEFERRED, __ATOMIC_RELAXED);
        return;
    }
    if (request->flags & WEFT_REQUEST_OBSERVED && weft_request_row(request)->observed(request))
        return;
    if (request->flags & WEFT_REQUEST_SUB) {
        end_sub(request);
        return;
    }
    if (!(request->flags & WEFT_REQUEST_ORPHAN))
        return; /* the user still has it */
    free_held(request);
    weft_request_put(request);
}

void weft_request_end_deferred(void)
{
    weft_assert(weft_vcis_hold_all());
    __atomic_fetch_and(&weft.others, (uint8_t)~WEFT_OTHERS_DEFERRED, __ATOMIC_RELAXED);
    for (unsigned v = 0; v < weft.nvcis; v++) {
        for (struct weft_request *request; (request = weft.vcis[v].deferred) != NULL;) {
            weft.vcis[v].deferred = request->next;
            weft_assert(!request->pending && request->vci == &weft.vcis[v]);
            weft_request_last(request);
        }
        for (int kind = 0; kind < WEFT_REQUEST_KINDS; kind++)
            if (weft_request_ops[kind].end_deferred)
                weft_request_ops[kind].end_deferred(&weft.vcis[v]);
    }
}

void weft_request_join(struct weft_request *parent, struct weft_request *send, void *copy)
{
    weft_assert(!(send->flags & WEFT_REQUEST_SUB) && send->vci == parent->vci &&
                !parent->with_send);
    parent->with_send = true;
    parent->pending++;
    send->parent = parent;
    send->copy = copy;
    send->flags |= WEFT_REQUEST_SUB;
    if (!send->pending)
        end_sub(send);
}

/* The receive or the send of a pair is complete. */
static void end_half(struct weft_request *half)
{
    struct weft_request *pair = half->parent;
    weft_assert(weft_vcis_hold_all());
    if (weft_request_row(half)->receives) {
        pair->source = half->source;
        pair->tag = half->tag;
        pair->bytes = half->bytes;
        pair->flags |= half->flags & WEFT_REQUEST_CANCELLED;
        pair->partner = NULL;
    } else {
        free(half->copy);
    }
    if (half->error && !pair->error)
        pair->error = half->error;
    weft_request_put(half);
    weft_request_event(pair);
}

struct weft_request *weft_request_pair(struct weft_request *receive, struct weft_request *send,
                                       void *copy)
{
    struct weft_request *pair = weft_request_get(&weft.vcis[0], WEFT_REQUEST_PAIR, 2);
    if (!pair)
        weft_fatal(MPI_ERR_NO_MEM, no_memory);
    weft_assert(receive->vci != send->vci && weft_vcis_hold_all());
    pair->channel = receive->channel;
    pair->peer = NULL;
    pair->type = NULL;
    pair->partner = receive;
    send->copy = copy;
    weft_request_set_parent(receive, pair);
    weft_request_set_parent(send, pair);
    return pair;
}

int weft_request_abandon(struct weft_request *request)
{
    if (request->pending) {
        request->flags |= WEFT_REQUEST_ORPHAN;
        return MPI_SUCCESS;
    }
    int code = free_held(request);
    weft_request_put(request);
    return code;
}

struct weft_request *weft_request_numbered(uint64_t number)
{
    uint64_t vci = number >> WEFT_VCI_REQUEST_SHIFT;
    uint64_t in_pool = number & ((UINT64_C(1) << WEFT_VCI_REQUEST_SHIFT) - 1);
    if (vci >= weft.nvcis || !weft_request_pool_has(&weft.vcis[vci].requests, in_pool))
        return NULL;
    return weft_request_pool_at(&weft.vcis[vci].requests, in_pool);
}

void weft_request_each_of(const struct weft_vci *vci,
                          void (*see)(void *arg, struct weft_request *request), void *arg)
{
    const struct weft_request_pool *pool = &vci->requests;
    for (size_t s = 0; s < pool->nslabs; s++)
        for (int i = 0; i < WEFT_REQUEST_SLAB; i++)
            if (pool->slabs[s][i].object.kind == WEFT_KIND_REQUEST)
                see(arg, &pool->slabs[s][i]);
}

void weft_request_each(void (*see)(void *arg, struct weft_request *request), void *arg)
{
    for (unsigned v = 0; v < weft.nvcis; v++)
        weft_request_each_of(&weft.vcis[v], see, arg);
}

struct posted {
    const struct weft_channel *channel; /* NULL: any */
    bool in_lane;
    struct weft_request **list; /* NULL: they are counted */
    size_t n;
};

static void add_posted(void *arg, struct weft_request *request)
{
    struct posted *posted = arg;
    if (!request->pending || !weft_request_row(request)->receives ||
        (posted->channel && request->channel != posted->channel) ||
        (!(request->flags & WEFT_REQUEST_IN_LANE) && (posted->in_lane || !request->match.queued)))
        return;
    if (posted->list)
        posted->list[posted->n] = request;
    posted->n++;
}

/* Receives in software are younger than those in a lane, because while there are any no receive
 * goes to the lane. */
static int newest_first(const void *a, const void *b)
{
    const struct weft_request *x = *(struct weft_request *const *)a;
    const struct weft_request *y = *(struct weft_request *const *)b;
    bool x_in_lane = x->flags & WEFT_REQUEST_IN_LANE, y_in_lane = y->flags & WEFT_REQUEST_IN_LANE;
    if (x_in_lane != y_in_lane)
        return x_in_lane ? 1 : -1;
    uint64_t x_order = x_in_lane ? x->posted : x->match.order;
    uint64_t y_order = y_in_lane ? y->posted : y->match.order;
    return x_order < y_order ? 1 : x_order > y_order ? -1 : 0;
}

struct weft_request **weft_request_posted(const struct weft_vci *vci,
                                          const struct weft_channel *channel, bool in_lane,
                                          size_t *n)
{
    struct posted posted = {.channel = channel, .in_lane = in_lane};
    weft_request_each_of(vci, add_posted, &posted);
    posted.list =
        weft_memory_get(posted.n, sizeof(struct weft_request *), "a list of posted receives");
    *n = posted.n;
    posted.n = 0;
    weft_request_each_of(vci, add_posted, &posted);
    weft_assert(posted.n == *n);
    qsort(posted.list, *n, sizeof(struct weft_request *), newest_first);
    return posted.list;
}

void weft_request_truncated(struct weft_request *request, size_t length)
{
    request->error = (uint8_t)weft_error_set(
        MPI_ERR_TRUNCATE,
        "the message of %zu bytes from rank %d with tag %d does not fit into the receive's %zu "
        "bytes; give the receive a larger count, or probe for the length first",
        length, request->source, request->tag, request->capacity);
}

void weft_request_end_receive(struct weft_request *request, int code)
{
    weft_assert(weft_request_row(request)->receives && !weft_request_is_posted(request));
    request->error = (uint8_t)code;
    request->source = request->match.source;
    request->tag = request->match.tag;
    request->bytes = 0;
    weft_request_event(request);
}

void weft_request_transferred(const struct weft_request *request)
{
    const struct weft_peer *peer = request->peer;
    bool failed = request->error && request->error != MPI_ERR_TRUNCATE;
    if (!weft_event_wanted(WEFT_EVENT_TRANSFERRED) || failed ||
        request->flags & WEFT_REQUEST_CANCELLED)
        return;
    weft_event_raise(WEFT_EVENT_TRANSFERRED,
                     &(struct weft_event_data){.rank = peer->world,
                                               .lane = peer->lane - 1,
                                               .sends = weft_request_row(request)->sends,
                                               .bytes = request->bytes});
}

int weft_request_check_buffer(const struct weft_request *request, size_t bytes, bool write)
{
    if (!(request->type->flags & WEFT_TYPE_CONTIGUOUS))
        return MPI_SUCCESS;
    return weft_memory_check_buffer(weft_request_row(request)->buffer, request->buffer, bytes,
                                    write, request->peer ? request->peer->world : request->source);
}

int weft_request_refuse_cancel(struct weft_request *request)
{
    return weft_error_set(MPI_ERR_REQUEST,
                          "%p is a collective or an operation on a window, which cannot be "
                          "cancelled; wait for it",
                          (void *)request);
}

int weft_request_refuse_free(const struct weft_request *request)
{
    return weft_error_set(MPI_ERR_REQUEST,
                          "%p is a collective or an operation on a window that was started; "
                          "wait for it",
                          (const void *)request);
}

/* ---- Texts of reports */

static void describe_flush(const struct weft_request *request, char *text, size_t len)
{
    (void)request;
    snprintf(text, len, "flush of a buffer: waits for buffered sends");
}

static void describe_making(const struct weft_request *request, char *text, size_t len)
{
    snprintf(text, len,
             "MPI_Comm_idup or MPIX_Comm_iagree of %.100s: not every rank takes part yet",
             weft_channel_ops.name(request->channel));
}

/* ---- Statuses */

void weft_status_set_bytes(MPI_Status *status, size_t bytes)
{
    status->MPI_internal[WEFT_STATUS_BYTES_LOW] = (int)(uint32_t)bytes;
    status->MPI_internal[WEFT_STATUS_BYTES_HIGH] = (int)(uint32_t)((uint64_t)bytes >> 32);
}

size_t weft_status_bytes(const MPI_Status *status)
{
    return (size_t)(uint32_t)status->MPI_internal[WEFT_STATUS_BYTES_LOW] |
           (size_t)(uint32_t)status->MPI_internal[WEFT_STATUS_BYTES_HIGH] << 32;
}

void weft_status_set_cancelled(MPI_Status *status, bool cancelled)
{
    status->MPI_internal[WEFT_STATUS_CANCELLED] = cancelled;
}

bool weft_status_cancelled(const MPI_Status *status)
{
    return status->MPI_internal[WEFT_STATUS_CANCELLED] != 0;
}

void weft_request_status(const struct weft_request *request, MPI_Status *status, bool with_error)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    if (weft_request_row(request)->no_data) {
        weft_status_clear(status);
        if (with_error)
            status->MPI_ERROR = request->error;
        weft_status_set_cancelled(status, request->flags & WEFT_REQUEST_CANCELLED);
        return;
    }
    status->MPI_SOURCE = request->source;
    status->MPI_TAG = request->tag;
    if (with_error)
        status->MPI_ERROR = request->error;
    weft_status_set_bytes(status, request->bytes);
    weft_status_set_cancelled(status, request->flags & WEFT_REQUEST_CANCELLED);
}

void weft_status_clear(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    weft_status_set_bytes(status, 0);
    weft_status_set_cancelled(status, false);
}

void weft_status_proc_null(MPI_Status *status)
{
    weft_status_clear(status);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_SOURCE = MPI_PROC_NULL;
}

void weft_status_empty(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    weft_status_clear(status);
    status->MPI_ERROR = MPI_SUCCESS;
}
