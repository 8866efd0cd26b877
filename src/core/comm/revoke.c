// SPDX-License-Identifier: BSD-3-Clause
/*
 * Revoked communicators: see revoke.h.
 *
 * A lane may receive a revocation while its thread holds one VCI, so it is listed there, and
 * progress with all VCIs acts on it.
 *
 * Invariant: `early` has each block of each sender once.
 */
#include "core/comm/revoke.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/message/lane.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"

#include <stdlib.h>

struct notice {
    struct notice *next;
    int world; /* of the sender */
    uint32_t block;
};

static struct notice *arrived; /* any thread */
static struct notice *early;   /* of communicators that this process has not opened yet */

void weft_revoke_arrived(int world, uint32_t context)
{
    struct notice *notice = weft_memory_get(1, sizeof *notice, "the revocation of a communicator");
    notice->world = world;
    notice->block = context / WEFT_CONTEXTS;
    notice->next = __atomic_load_n(&arrived, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&arrived, &notice->next, notice, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        ;
    __atomic_fetch_or(&weft.others, WEFT_OTHERS_REVOKED, __ATOMIC_RELAXED);
}

static void notify(struct weft_comm *comm)
{
    const struct weft_channel *channel = &comm->coll;
    for (int rank = 0; rank < comm->size; rank++) {
        if (weft_channel_world(channel, rank) == weft.job.rank)
            continue;
        struct weft_peer *peer = weft_channel_connect(channel, rank);
        if (peer && !peer->dead)
            weft_lane_of(peer)->revoke(peer, channel->context);
    }
}

/* ---- Pending operations */

struct pending {
    const struct weft_comm *comm;
    struct weft_request *found;
};

/* A send with an error has been ended before. A receive of MPI_Isendrecv has the error of its send
 * and waits for its message all the same. */
static bool ends(const struct weft_comm *comm, const struct weft_request *request)
{
    enum weft_context_use use;
    const struct weft_request_ops *row = weft_request_row(request);
    if (request->pending <= 0 || !(row->sends || row->receives) ||
        !weft_comm_has_channel(comm, request->channel) ||
        request->flags & (WEFT_REQUEST_CANCELLED | WEFT_REQUEST_CANCELLING))
        return false;
    use = weft_channel_use(request->channel);
    return (use == WEFT_CONTEXT_P2P || use == WEFT_CONTEXT_PARTITIONED ||
            use == WEFT_CONTEXT_ANNOUNCING) &&
           (row->sends ? !request->error : weft_request_is_posted(request));
}

static void find_pending(void *arg, struct weft_request *request)
{
    struct pending *pending = arg;
    if (!pending->found && ends(pending->comm, request))
        pending->found = request;
}

/* One at a time, because ending it may start others. */
static void end_operations(const struct weft_comm *comm)
{
    struct pending pending = {.comm = comm};
    do {
        pending.found = NULL;
        weft_request_each(find_pending, &pending);
        struct weft_request *request = pending.found;
        if (!request)
            break;
        if (weft_request_row(request)->receives) {
            weft_failure_end(request, MPIX_ERR_REVOKED);
        } else {
            request->error = MPIX_ERR_REVOKED;
            weft_lane_cancel(request);
        }
    } while (pending.found);
}

/* ---- Communicators */

void weft_comm_revoke(struct weft_comm *comm)
{
    weft_assert(weft_vcis_hold_all() && comm->block >= 0);
    if (comm->revoked)
        return;
    comm->revoked = true;
    __atomic_fetch_or(&weft_entry_flags, WEFT_ENTRY_REVOKED, __ATOMIC_RELAXED);
    notify(comm);
    if (comm->local) {
        comm->local->revoked = true;
        notify(comm->local);
    }
    if (!weft_comm_is_of_object(comm)) /* a window waits for its messages itself */
        end_operations(comm);
    if (comm->constructs)
        weft_comm_revoke(comm->constructs);
}

bool weft_comm_is_revoked(const struct weft_comm *comm)
{
    weft_look(NULL);
    return comm->revoked;
}

static void revoke_by(struct weft_comm *comm, const struct notice *notice)
{
    static bool warned;
    const struct weft_comm *members = comm->inter ? comm->inter : comm;
    if (weft_comm_has_process(members, notice->world)) {
        weft_comm_revoke(comm);
    } else if (!warned) {
        warned = true;
        weft_warn("process %d revokes %s, of which it is no member; this is ignored, and further "
                  "ones are, without a report",
                  notice->world, weft_comm_name(members));
    }
}

void weft_revoke_opened(struct weft_comm *comm)
{
    for (struct notice **link = &early; *link;) {
        struct notice *notice = *link;
        if (notice->block != (uint32_t)comm->block) {
            link = &notice->next;
            continue;
        }
        *link = notice->next;
        revoke_by(comm, notice);
        free(notice);
    }
}

/* Keeps a notice, or frees it if it is there already. */
static void keep_early(struct notice *notice)
{
    for (const struct notice *other = early; other; other = other->next)
        if (other->block == notice->block && other->world == notice->world) {
            free(notice);
            return;
        }
    notice->next = early;
    early = notice;
}

void weft_revoke_not_opened(void)
{
    for (struct notice **link = &early; *link;) {
        struct notice *notice = *link;
        if (weft_context_is_expected(notice->block)) {
            link = &notice->next;
            continue;
        }
        *link = notice->next;
        free(notice);
    }
}

static struct notice *take_arrived(void)
{
    return __atomic_exchange_n(&arrived, NULL, __ATOMIC_ACQ_REL);
}

int weft_revoke_progress(void)
{
    int revoked = 0;
    if (weft_likely(!__atomic_load_n(&arrived, __ATOMIC_RELAXED)))
        return 0;
    __atomic_fetch_and(&weft.others, (uint8_t)~WEFT_OTHERS_REVOKED, __ATOMIC_RELAXED);
    for (struct notice *notice = take_arrived(), *next; notice; notice = next) {
        struct weft_comm *comm = weft_context_owner(notice->block);
        next = notice->next;
        if (!comm && weft_context_is_expected(notice->block)) {
            keep_early(notice);
            continue;
        }
        if (comm)
            revoke_by(comm, notice);
        free(notice);
        revoked++;
    }
    return revoked;
}

static void free_all(struct notice *list)
{
    while (list) {
        struct notice *notice = list;
        list = notice->next;
        free(notice);
    }
}

void weft_revoke_finalize(void)
{
    free_all(take_arrived());
    free_all(early);
    early = NULL;
}
