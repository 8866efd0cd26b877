// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tags of collective calls, which count them, and the messages of refused calls.
 *
 * Invariant: before a tag comes back, the messages of a refused call that had it are dropped: this
 * rank does not receive them.
 */
#include "core/coll/engine.h"
#include "core/coll/refusal.h"
#include "core/coll/shared.h"
#include "core/message/lane.h"
#include "core/message/sw_match.h"
#include "core/progress/progress.h"

static _Atomic bool any_failed;

bool weft_coll_any_failed(void)
{
    return any_failed;
}

void weft_coll_note_failure(void)
{
    any_failed = true;
}

/* ---- Tags: kind 5 bits, persistent 1, inter-communicator 1, sequence number 18, fewer (at least
 * 8) if the tags of a provider are shorter, which members in other jobs may use */

enum { KIND_BITS = 5, PERSISTENT_BIT = 1 << KIND_BITS, INTER_BIT = 2 << KIND_BITS };
enum { SEQUENCE_SHIFT = KIND_BITS + 2, SEQUENCE_MASK = (1 << 18) - 1 };

_Static_assert(WEFT_COLL_KIND_MASK == (1 << KIND_BITS) - 1, "the kind is in the lowest bits");
_Static_assert((int)WEFT_COLL_KINDS <= WEFT_COLL_KIND_MAKING, "two values are not collectives");
_Static_assert(SEQUENCE_SHIFT + 8 <= WEFT_LEAST_TAG_BITS, "few numbers fit into the tag");

/* Persistent collectives have their own sequence numbers, taken when they are made, because they
 * may be started in any order. INTER_BIT separates the messages that a collective on an
 * inter-communicator sends within the local group from that group's own collectives. */
uint32_t weft_coll_numbers(const struct weft_comm *comm)
{
    return (SEQUENCE_MASK & (uint32_t)comm->tag_ub >> SEQUENCE_SHIFT) + 1;
}

uint32_t weft_coll_age(const struct weft_comm *comm, int tag, uint32_t next)
{
    return (next - ((uint32_t)tag >> SEQUENCE_SHIFT)) & (weft_coll_numbers(comm) - 1);
}

uint32_t weft_coll_number(const struct weft_comm *comm, int tag)
{
    uint32_t next = weft_coll_is_persistent(tag) ? comm->coll_inits : comm->coll_sequence;
    return next - weft_coll_age(comm, tag, next);
}

bool weft_coll_is_persistent(int tag)
{
    return tag & PERSISTENT_BIT;
}

int weft_coll_tag(const struct weft_comm *comm, uint32_t number, int kind, bool persistent)
{
    number &= weft_coll_numbers(comm) - 1;
    return (int)(number << SEQUENCE_SHIFT) | (comm->local ? INTER_BIT : 0) |
           (persistent ? PERSISTENT_BIT : 0) | kind;
}

/* ---- Messages of refused calls, which this rank does not receive. They are dropped before their
 * tags come back. */

/* The oldest call of a communicator that this rank has not completed. */
struct calls {
    const struct weft_comm *comm;
    uint32_t oldest;
};

/* Refusals have none, and persistent collectives other ones. */
static bool has_number(int tag)
{
    return !(tag & PERSISTENT_BIT) && (tag & WEFT_COLL_KIND_MASK) != WEFT_COLL_KIND_MASK;
}

static uint32_t oldest_in(const struct weft_comm *comm, const struct weft_schedule *list,
                          uint32_t oldest)
{
    for (const struct weft_schedule *s = list; s; s = s->next_active)
        if (s->comm == comm && has_number(s->tag)) {
            uint32_t number = weft_coll_number(comm, s->tag);
            oldest = (int32_t)(number - oldest) < 0 ? number : oldest;
        }
    return oldest;
}

uint32_t weft_coll_oldest(const struct weft_comm *comm, uint32_t next)
{
    next = oldest_in(comm, comm->vci->coll.active, next);
    return oldest_in(comm, comm->vci->coll.blocking, next);
}

/* True for a call of this communicator. The local group's own calls have the same context id. */
static bool is_over(const void *arg, int tag)
{
    const struct calls *calls = arg;
    uint32_t age = weft_coll_age(calls->comm, tag, calls->oldest);
    return has_number(tag) && !(tag & INTER_BIT) == !calls->comm->local && age > 0 &&
           age < weft_coll_numbers(calls->comm) / 2;
}

WEFT_COLD static void drop_over(struct weft_comm *comm)
{
    struct calls calls = {comm, weft_coll_oldest(comm, comm->coll_sequence)};
    struct weft_channel *channel;
    weft_assert(weft_vci_is_held(comm->vci));
    comm->coll_cleared = comm->coll_sequence;
    weft_refusal_take(comm);
    for (int i = 0; (channel = weft_refusal_channel(comm, i)) != NULL; i++) {
        if (channel->held < WEFT_HELD_ALWAYS)
            while (weft_lanes[weft.posts]->collect(channel))
                ;
        weft_sw_drop_tags(&comm->vci->matcher, channel->context, is_over, &calls);
    }
}

int weft_coll_next_tag(struct weft_comm *comm, int kind, bool persistent)
{
    if (weft_unlikely(any_failed) &&
        comm->coll_sequence - comm->coll_cleared >= weft_coll_numbers(comm) / 4)
        drop_over(comm);
    uint32_t *sequence = persistent ? &comm->coll_inits : &comm->coll_sequence;
    return weft_coll_tag(comm, (*sequence)++, kind, persistent);
}

void weft_coll_refuse_tag(struct weft_comm *comm, int tag, int code)
{
    weft_coll_note_failure();
    if (!weft_coll_is_persistent(tag))
        weft_shared_skip(comm);
    weft_refusal_send(comm, tag, code);
    weft_look(weft_vci_scope(comm->vci)); /* what others sent, before it gathers in the lanes */
    drop_over(comm);
}

void weft_coll_refuse(struct weft_comm *comm, bool persistent, int code)
{
    weft_coll_refuse_tag(comm, weft_coll_next_tag(comm, 0, persistent), code);
}

const char *weft_coll_name_of_tag(int tag)
{
    int kind = tag & (PERSISTENT_BIT - 1);
    return tag >= 0 && kind < WEFT_COLL_KINDS ? weft_coll_name((enum weft_coll_kind)kind)
                                              : "a collective";
}
