// SPDX-License-Identifier: BSD-3-Clause
/*
 * Refused collectives: see refusal.h.
 */
#include "core/coll/refusal.h"

#include "core/coll/engine.h"
#include "core/coll/shared.h"
#include "core/base/error.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"
#include "core/base/clock.h"
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

void weft_refusal_fail(void)
{
    weft_fatal(MPI_ERR_NO_MEM, "no memory to refuse a collective call that other ranks wait for");
}

void weft_refusal_send(struct weft_comm *comm, int tag, int code)
{
    struct weft_coll_args args = {.kind = WEFT_COLL_BARRIER, .comm = comm};
    struct weft_schedule *s = weft_schedule_get(&args);
    struct weft_request *request;
    struct weft_refusal refusal = {.message = {.tag = tag & ~WEFT_COLL_KIND_MASK,
                                               .code = code,
                                               .number = weft_coll_number(comm, tag)}};
    if (!s)
        weft_refusal_fail();
    weft_error_text(code, refusal.message.reason, sizeof refusal.message.reason);
    struct weft_elements message = weft_schedule_buffer(s, sizeof refusal.message);
    if (!s->failed)
        memcpy(message.at, &refusal.message, sizeof refusal.message);
    send_to_group(s, false, message);
    if (comm->local)
        send_to_group(s, true, message);
    s->tag = refusal_tag(comm);
    if (s->failed || !(request = weft_coll_begin(s)))
        weft_refusal_fail();
    weft_request_abandon(request);
}

/* ---- The ranks that wait */

/* No schedule of this rank will look for the refusal of a call that is over. */
static bool is_over(const struct weft_refusal *refusal, uint32_t oldest)
{
    return !weft_coll_is_persistent(refusal->message.tag) &&
           (int32_t)(refusal->message.number - oldest) < 0;
}

/* Keeps a refusal, also that of a call which this rank has not reached. The last call may execute
 * and be in no list yet, and refusals of persistent calls are kept: they may be started again. */
static void keep_refusal(struct weft_comm *comm, struct weft_refusal *refusal)
{
    uint32_t oldest = weft_coll_oldest(comm, comm->coll_sequence - 1);
    refusal->next = comm->refusals;
    comm->refusals = refusal;
    for (struct weft_refusal **link = &comm->refusals; (refusal = *link) != NULL;)
        if (is_over(refusal, oldest)) {
            *link = refusal->next;
            free(refusal);
        } else {
            link = &refusal->next;
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

struct weft_channel *weft_refusal_channel(struct weft_comm *comm, int i)
{
    if (i == 0)
        return &comm->coll;
    return i < WEFT_WATCHES && comm->local ? &comm->local->coll : NULL;
}

void weft_refusal_take(struct weft_comm *comm)
{
    struct weft_channel *channel;
    for (int i = 0; (channel = weft_refusal_channel(comm, i)) != NULL; i++) {
        struct weft_watch watch = {0};
        do
            post_watch(comm, &watch, channel);
        while (watch.request && withdraw(comm, &watch));
    }
}

/* The refusal of a schedule's call, which the caller frees: out of the list, or, of a persistent
 * call, a copy. The number distinguishes it from that of a call with the same tag long before. */
static struct weft_refusal *find_refusal(const struct weft_schedule *s)
{
    int tag = s->tag & ~WEFT_COLL_KIND_MASK;
    uint32_t number = weft_coll_number(s->comm, tag);
    struct weft_refusal **link = &s->comm->refusals, *found, *copy;
    while ((found = *link) != NULL &&
           (found->message.tag != tag || found->message.number != number))
        link = &found->next;
    if (!found || !weft_coll_is_persistent(tag)) {
        *link = found ? found->next : NULL;
        return found;
    }
    if ((copy = malloc(sizeof *copy)) != NULL)
        *copy = *found;
    return copy;
}

bool weft_refusal_look(struct weft_schedule *s)
{
    double now = weft_seconds();
    if (s->tag == refusal_tag(s->comm))
        return false; /* it sends refusals */
    if (!s->waits_since)
        s->waits_since = now;
    if (now < s->waits_since + PATIENCE)
        return false;
    struct weft_channel *channel;
    for (int i = 0; (channel = weft_refusal_channel(s->comm, i)) != NULL; i++) {
        if (s->watches[i].request && !s->watches[i].request->pending)
            take_refusal(s->comm, &s->watches[i]);
        if (!s->watches[i].request)
            post_watch(s->comm, &s->watches[i], channel);
    }
    struct weft_refusal *refusal = find_refusal(s);
    if (!refusal)
        return false;
    if (weft_schedule_fail(s, refusal->message.code, WEFT_FAULT_REFUSED))
        s->refusal = refusal;
    else
        free(refusal);
    return true;
}

void weft_refusal_record(struct weft_schedule *s)
{
    weft_assert(s->fault == WEFT_FAULT_REFUSED && s->refusal);
    weft_error_set_secondary(s->error, "rank %d refuses its call of %s: %s", s->refusal->from,
                             weft_coll_name(s->kind), s->refusal->message.reason);
    free(s->refusal);
    s->refusal = NULL;
}

void weft_refusal_withdraw(struct weft_schedule *s)
{
    for (int i = 0; i < WEFT_WATCHES; i++)
        if (s->watches[i].request)
            withdraw(s->comm, &s->watches[i]);
}
