// SPDX-License-Identifier: BSD-3-Clause
/*
 * Refused collectives: see refusal.h.
 */
#include "core/coll/refusal.h"

#include "core/coll/shared.h"
#include "core/base/error.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"
#include "core/base/clock.h"
#include "core/message/process.h"
#include "core/progress/progress.h"

#include <stdlib.h>
#include <string.h>

/* Seconds that a schedule waits before it posts its receives. */
static const double PATIENCE = 0.2;

/* The last value of a kind is no collective: it marks refusals. All refusals on a channel have the
 * same tag. */
static int refusal_tag(const struct weft_comm *comm)
{
    return weft_coll_tag(comm, 0, WEFT_COLL_KIND_MASK, false);
}

/* ---- The rank that refuses */

static void send_to_group(struct weft_schedule *s, bool local, struct weft_elements message)
{
    weft_schedule_enter(s, local);
    bool is_member = s->comm->local == NULL || local;
    for (int rank = 0; rank < s->size; rank++)
        if (!is_member || rank != s->rank)
            weft_schedule_send(s, rank, message);
}

void weft_refusal_send(struct weft_comm *comm, int tag, uint32_t number, int code)
{
    struct weft_coll_args args = {.kind = WEFT_COLL_BARRIER, .comm = comm};
    struct weft_schedule *s = weft_schedule_get(&args);
    struct weft_request *request;
    struct weft_refusal refusal = {.message = {.tag = tag, .code = code, .number = number}};
    if (!s)
        return;
    weft_error_text(code, refusal.message.reason, sizeof refusal.message.reason);
    struct weft_elements message = weft_schedule_buffer(s, sizeof refusal.message);
    if (!s->failed)
        memcpy(message.at, &refusal.message, sizeof refusal.message);
    send_to_group(s, false, message);
    if (comm->local)
        send_to_group(s, true, message);
    s->tag = refusal_tag(comm);
    if (s->failed || !(request = weft_coll_begin(s))) {
        weft_schedule_put(s);
        return;
    }
    weft_request_abandon(request);
}

/* ---- The ranks that wait */

/* A communicator may hold refusals of calls that this rank has not reached. */
enum { KEPT = 16 };

static void keep_refusal(struct weft_comm *comm, struct weft_refusal *refusal)
{
    int count = 1;
    refusal->next = comm->refusals;
    comm->refusals = refusal;
    for (; refusal->next; refusal = refusal->next)
        if (++count > KEPT) {
            free(refusal->next);
            refusal->next = NULL;
            return;
        }
}

void weft_coll_forget(struct weft_comm *comm)
{
    weft_shared_forget(comm);
    while (comm->refusals) {
        struct weft_refusal *refusal = comm->refusals;
        comm->refusals = refusal->next;
        free(refusal);
    }
}

static void post_watch(struct weft_comm *comm, struct weft_watch *watch,
                       struct weft_channel *channel)
{
    watch->refusal = malloc(sizeof *watch->refusal);
    if (watch->refusal &&
        weft_p2p_irecv(channel, &watch->refusal->message, sizeof watch->refusal->message,
                       weft_datatype_byte(), MPI_ANY_SOURCE, refusal_tag(comm),
                       &watch->request) == MPI_SUCCESS)
        return;
    free(watch->refusal);
    watch->request = NULL;
}

/* Ends a receive that is complete. The message comes from another process, so its length is
 * checked. Returns false if the receive was cancelled. */
static bool take_refusal(struct weft_comm *comm, struct weft_watch *watch)
{
    struct weft_request *request = watch->request;
    struct weft_refusal *refusal = watch->refusal;
    weft_assert(refusal && !request->pending);
    bool arrived = !(request->flags & WEFT_REQUEST_CANCELLED) && !request->error &&
                   request->bytes == sizeof refusal->message;
    refusal->from = request->source;
    refusal->message.reason[sizeof refusal->message.reason - 1] = 0;
    if (arrived && refusal->message.code > MPI_SUCCESS && refusal->message.code <= MPI_ERR_LASTCODE)
        keep_refusal(comm, refusal);
    else
        free(refusal);
    bool cancelled = request->flags & WEFT_REQUEST_CANCELLED;
    weft_request_put(request);
    watch->request = NULL;
    return !cancelled;
}

static bool withdraw(struct weft_comm *comm, struct weft_watch *watch)
{
    weft_cancel(watch->request);
    weft_request_wait(watch->request); /* its message may be in flight */
    return take_refusal(comm, watch);
}

static struct weft_channel *watched_channel(struct weft_comm *comm, int i)
{
    if (i == 0)
        return &comm->coll;
    return comm->local ? &comm->local->coll : NULL;
}

void weft_refusal_take(struct weft_comm *comm)
{
    for (int i = 0; i < WEFT_WATCHES && watched_channel(comm, i); i++) {
        struct weft_watch watch = {0};
        do
            post_watch(comm, &watch, watched_channel(comm, i));
        while (watch.request && withdraw(comm, &watch));
    }
}

/* True if a refusal is of the call whose tag it has, not of one with the same tag long before. */
static bool is_recent(const struct weft_comm *comm, const struct weft_refusal *refusal)
{
    bool persistent = weft_coll_is_persistent(refusal->message.tag);
    uint32_t now = persistent ? comm->coll_inits : comm->coll_sequence;
    uint32_t number = refusal->message.number, half = weft_coll_numbers() / 2;
    return number - now < half || now - number < half;
}

const struct weft_refusal *weft_refusal_look(struct weft_schedule *s)
{
    double now = weft_seconds();
    if (s->tag == refusal_tag(s->comm))
        return NULL; /* it sends refusals */
    if (!s->waits_since)
        s->waits_since = now;
    if (now < s->waits_since + PATIENCE)
        return NULL;
    for (int i = 0; i < WEFT_WATCHES && watched_channel(s->comm, i); i++) {
        if (s->watches[i].request && !s->watches[i].request->pending)
            take_refusal(s->comm, &s->watches[i]);
        if (!s->watches[i].request)
            post_watch(s->comm, &s->watches[i], watched_channel(s->comm, i));
    }
    const struct weft_refusal *refusal = s->comm->refusals;
    while (refusal && (refusal->message.tag != (s->tag & ~WEFT_COLL_KIND_MASK) ||
                       !is_recent(s->comm, refusal)))
        refusal = refusal->next;
    return refusal;
}

void weft_refusal_withdraw(struct weft_schedule *s)
{
    for (int i = 0; i < WEFT_WATCHES; i++)
        if (s->watches[i].request)
            withdraw(s->comm, &s->watches[i]);
}
