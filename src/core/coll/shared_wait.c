// SPDX-License-Identifier: BSD-3-Clause
/*
 * Errors of collectives through shared memory, and waiting: see shared_internal.h.
 */
#include "core/coll/refusal.h"
#include "core/coll/shared_internal.h"
#include "core/base/error.h"
#include "core/message/count.h"
#include "core/progress/progress.h"

/* ---- Errors */

static struct weft_schedule *schedule_of(struct weft_shared_call *c)
{
    if (!c->s && (c->s = weft_schedule_get(c->args)) != NULL) {
        c->s->tag = weft_coll_tag(c->args->comm, c->number, c->args->kind, false);
        c->s->algorithm = WEFT_ALGORITHM_SHARED;
    }
    return c->s;
}

WEFT_COLD static void fail_call(struct weft_shared_call *c, int code, enum weft_fault fault,
                                int from, size_t got)
{
    struct weft_schedule *s = schedule_of(c);
    c->error = c->error ? c->error : code;
    if (!s)
        return;
    if (weft_schedule_fail(s, code, fault)) {
        s->fault_peer = from;
        s->fault_wanted = weft_shared_wanted(c, from);
        s->fault_got = got;
    }
    c->error = s->error;
}

static uint32_t root_of(uint32_t label)
{
    return label >> WEFT_SHARED_ROOT_SHIFT & WEFT_SHARED_ROOT_MASK;
}

static const char *kind_of(uint32_t label)
{
    uint32_t kind = label & WEFT_COLL_KIND_MASK;
    return kind < WEFT_COLL_KINDS ? weft_coll_name((enum weft_coll_kind)kind) : "something unknown";
}

static const char different[] = "all ranks have to make the same calls in the same order";

/* Another rank may use a slot again for a later call meanwhile: then its label has another number,
 * though its stamp may still be the former one. */
static bool differs(const struct weft_area_slot *mine, const struct weft_area_slot *other)
{
    uint32_t a = mine->label & ~(uint32_t)WEFT_SHARED_FAILED;
    uint32_t b = other->label & ~(uint32_t)WEFT_SHARED_FAILED;
    return a != b && a >> WEFT_SHARED_NUMBER_SHIFT == b >> WEFT_SHARED_NUMBER_SHIFT;
}

void weft_shared_compare(const struct weft_comm *comm, const struct weft_area *area)
{
    if (weft_coll_any_failed() || weft_counts.deaths)
        return; /* the ranks that got the error do not post what the others do */
    for (int i = 0; i < area->n; i++)
        for (int k = 0; k < WEFT_AREA_SLOTS && i != area->self; k++) {
            const struct weft_area_slot *mine = &area->ranks[area->self].outbox->slots[k];
            const struct weft_area_slot *other = &area->ranks[i].outbox->slots[k];
            uint64_t stamp = atomic_load_explicit(&mine->stamp, memory_order_relaxed);
            if (weft_likely(!stamp ||
                            stamp != atomic_load_explicit(&other->stamp, memory_order_acquire)) ||
                weft_likely(!differs(mine, other)))
                continue;
            weft_warn("rank %d called %s with root %u where this rank called %s with root %u on "
                      "%.100s; %s",
                      i, kind_of(other->label), root_of(other->label), kind_of(mine->label),
                      root_of(mine->label), weft_comm_name(comm), different);
            return;
        }
}

void weft_shared_reject(struct weft_shared_call *c, uint32_t label, uint32_t bytes, int from)
{
    uint32_t wanted = weft_shared_wanted(c, from);
    if ((label & ~(uint32_t)WEFT_SHARED_FAILED) != c->label) {
        c->over = true;
        fail_call(
            c,
            weft_error_set(MPI_ERR_OTHER,
                           "rank %d calls %s with root %u where this rank calls %s with root %u; "
                           "%s",
                           from, kind_of(label), root_of(label), weft_coll_name(c->args->kind),
                           root_of(c->label), different),
            WEFT_FAULT_RECORDED, from, bytes);
    } else if (bytes != wanted) {
        c->over = true;
        fail_call(c, bytes > wanted ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                  bytes > wanted ? WEFT_FAULT_LONG : WEFT_FAULT_SHORT, from, bytes);
    } else {
        fail_call(c, MPI_ERR_OTHER, WEFT_FAULT_REMOTE, from, bytes);
    }
}

/* ---- Waiting */

/* Stores the error if a member is dead, or the communicator revoked: the other ranks that wait end
 * their calls, too. */
WEFT_COLD static bool is_broken(struct weft_shared_call *c)
{
    if (!weft_comm_is_broken(c->args->comm))
        return false;
    fail_call(c, weft_comm_report_broken(c->args->comm), WEFT_FAULT_DEAD, c->from, 0);
    c->over = true;
    return true;
}

enum weft_shared_wait weft_shared_not_yet(struct weft_shared_call *c, const _Atomic uint64_t *word,
                                          uint64_t value, int from)
{
    if (c->over)
        return WEFT_SHARED_NEVER;
    c->word = word;
    c->value = value;
    c->from = from;
    return WEFT_SHARED_LATER;
}

bool weft_shared_look(struct weft_shared_call *c)
{
    struct weft_schedule *s = schedule_of(c);
    if (c->queued)
        return false; /* the call that it waits for looks */
    if (is_broken(c) || !s)
        return false;
    s->count = s->done = s->after = 0;
    weft_schedule_receive(s, c->from, weft_elements_of_bytes(NULL, 0));
    return true;
}

/* Returns false if the call has to stop: another rank refuses it, or a member is dead. */
WEFT_COLD static bool go_on(struct weft_shared_call *c)
{
    if (!weft_shared_look(c))
        return !c->over;
    if (!c->waits)
        weft_schedule_note_blocking(c->s);
    c->waits = true;
    if (!weft_refusal_look(c->s))
        return true;
    c->error = c->s->error;
    c->over = true;
    return false;
}

static inline bool is_there(const struct weft_shared_call *c)
{
    return atomic_load_explicit(c->word, memory_order_acquire) >= c->value;
}

struct long_wait {
    struct weft_shared_call *call;
    unsigned turns;
};

static bool is_missing(void *arg)
{
    /* Turns before each call of go_on; fewer in a wait so long that a turn sleeps for milliseconds.
     */
    enum { TURN = 64, LONG_TURN = 4, LONG = 128 };
    struct long_wait *wait = arg;
    if (is_there(wait->call))
        return false;
    bool sleeps =
        wait->turns > (unsigned)__atomic_load_n(&weft.yield_after, __ATOMIC_RELAXED) + LONG;
    return ++wait->turns % (sleeps ? LONG_TURN : TURN) || go_on(wait->call);
}

static void poll_long(struct weft_shared_call *c)
{
    struct weft_vci *vci =
        weft_unlikely(weft_entry_flags) ? weft_vci_scope(c->args->comm->vci) : NULL;
    bool threads = weft_entry_flags & WEFT_ENTRY_THREADS;
    struct long_wait wait = {.call = c};
    if (!threads)
        c->area->node->awake_at(c->word, c->value);
    weft_wait_while(vci, is_missing, &wait, NULL);
    if (!threads)
        c->area->node->awake_at(NULL, 0);
}

void weft_shared_poll(struct weft_shared_call *c)
{
    enum { LOOKS = 16 };
    for (int i = 0; i < LOOKS; i++) {
        if (is_there(c))
            return;
        weft_lock_pause();
    }
    poll_long(c);
}

/* Waits until all other ranks have completed a stamp. */
static enum weft_shared_wait await_done(struct weft_shared_call *c, uint64_t stamp)
{
    enum weft_shared_wait all = WEFT_SHARED_REACHED;
    for (int i = 0; i < c->n; i++) {
        enum weft_shared_wait one =
            i == c->rank ? WEFT_SHARED_REACHED
                         : weft_shared_await(c, &c->area->ranks[i].outbox->done, stamp, i);
        if (one == WEFT_SHARED_LATER)
            return one;
        all = one == WEFT_SHARED_NEVER ? one : all;
    }
    return all;
}

enum weft_shared_wait weft_shared_await_posts(struct weft_shared_call *c, uint64_t stamp)
{
    enum weft_shared_wait all = WEFT_SHARED_REACHED;
    for (int i = 0; i < c->n; i++) {
        enum weft_shared_wait one =
            i == c->rank ? WEFT_SHARED_REACHED : weft_shared_await_post(c, stamp, i);
        if (one == WEFT_SHARED_LATER)
            return one;
        all = one == WEFT_SHARED_NEVER ? one : all;
    }
    if (all == WEFT_SHARED_REACHED)
        weft_shared_is_done(c, stamp);
    return all;
}

enum weft_shared_wait weft_shared_read_done(struct weft_shared_call *c, uint64_t stamp)
{
    uint64_t known = UINT64_MAX;
    enum weft_shared_wait all = await_done(c, stamp);
    if (all != WEFT_SHARED_REACHED)
        return all;
    for (int i = 0; i < c->n; i++) {
        uint64_t done = atomic_load_explicit(&c->area->ranks[i].outbox->done, memory_order_acquire);
        known = i == c->rank || done > known ? known : done;
    }
    c->area->known = known;
    return all;
}

void weft_shared_complete(struct weft_shared_call *c)
{
    struct weft_schedule *s = c->s;
    if (c->waits)
        weft_schedule_end_blocking(s);
    if (c->error) {
        weft_schedule_record(s);
        c->error = s->error;
    }
    weft_schedule_put(s);
}
