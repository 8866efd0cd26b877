// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives of a communicator whose ranks share a node, through an area of shared memory
 * (core/coll/area.h) instead of messages.
 *
 * The ranks make the area together at one blocking call of the communicator (WEFT_SHM_COLL). A
 * persistent collective has a small one of its own, made when it is initialized, because ranks may
 * start persistent collectives in any order. Then a rank posts its data to its own slots, in
 * chunks, and copies or combines the chunks of others out of theirs. Long data are messages, for
 * which each two ranks measure the fastest path (core/base/copy_tuning.h).
 *
 * Invariants:
 *  - The calls of an area are executed in the order in which they began: one that begins while
 *    another is active is queued.
 *  - The choice of this path depends on its kind, its bytes, the operation and the
 *    communicator: values that are the same at every rank. Types may have any layout.
 *  - All operands of a reduction are combined in the order of the schedule (operands.h).
 */
#include "core/coll/shared.h"

#include "core/coll/shared_internal.h"
#include "core/message/count.h"

enum { KiB = 1024, CHUNKS_MAX = 1 << (WEFT_AREA_CHUNK_BITS - 1) };

/* ---- The choice */

/* Longer data are as fast or faster as messages. 2 ranks need one in each direction: with blocks of
 * 64 KiB it takes 0.55 (allgather) to 0.8 (gather) of the time of chunks through the area; with
 * 32 KiB 1.0 (reduce) to 5 times (broadcast, gather), but 0.65 for allgather. With 4 ranks on 2
 * cores messages take 1.8 times as long for an allgather of 64 KiB. */
const struct weft_shared_limit weft_shared_limits[WEFT_COLL_KINDS] = {
    [WEFT_COLL_BARRIER] = {SIZE_MAX, SIZE_MAX},
    [WEFT_COLL_BCAST] = {32 * KiB, 64 * KiB},
    [WEFT_COLL_REDUCE] = {32 * KiB, 64 * KiB},
    [WEFT_COLL_ALLREDUCE] = {64 * KiB, 64 * KiB},
    [WEFT_COLL_GATHER] = {32 * KiB, 64 * KiB},
    [WEFT_COLL_SCATTER] = {32 * KiB, 32 * KiB},
    [WEFT_COLL_ALLGATHER] = {16 * KiB, 64 * KiB},
    [WEFT_COLL_ALLGATHERV] = {16 * KiB, 64 * KiB},
    [WEFT_COLL_ALLTOALL] = {8 * KiB, 8 * KiB},
    [WEFT_COLL_REDUCE_SCATTER] = {SIZE_MAX, SIZE_MAX},
    [WEFT_COLL_REDUCE_SCATTER_BLOCK] = {SIZE_MAX, SIZE_MAX},
};

static size_t limit_of(enum weft_coll_kind kind, int n)
{
    return n == 2 ? weft_shared_limits[kind].two : weft_shared_limits[kind].more;
}

/* A reduction has a predefined operation on contiguous elements, and a chunk never divides an
 * element. */
static bool can_reduce(const struct weft_coll_args *args)
{
    const struct weft_datatype *type = args->in.type;
    return !args->op ||
           (args->op->id != WEFT_OP_USER && type->flags & WEFT_TYPE_CONTIGUOUS && type->size &&
            type->size <= WEFT_AREA_LINE && !(type->size & (type->size - 1)));
}

/* The blocks of a reduce-scatter. */
struct cut {
    struct weft_blocks blocks;
    struct weft_arrays arrays;
    int64_t counts[WEFT_AREA_RANKS_MAX], displs[WEFT_AREA_RANKS_MAX];
};

/* A nonblocking or persistent collective, in the memory of its schedule. */
struct weft_shared_operation {
    struct weft_shared_call call;
    struct weft_coll_args args;
    struct weft_arrays arrays; /* of args.out, if it has any */
    struct cut cut;
    bool own; /* has an area of its own */
};

/* Returns the bytes of the longest block. */
static size_t make_cut(const struct weft_shared_call *c, struct cut *cut)
{
    const struct weft_coll_args *args = c->args;
    int64_t longest = 0, begin = 0;
    for (int i = 0; i < c->n; i++) {
        cut->counts[i] = args->out.arrays ? weft_int_of(args->out.arrays->counts, i)
                                          : (int64_t)(args->in.count / (size_t)c->n);
        cut->displs[i] = begin;
        begin += cut->counts[i];
        longest = cut->counts[i] > longest ? cut->counts[i] : longest;
    }
    cut->blocks = args->in;
    cut->arrays =
        (struct weft_arrays){.counts = {cut->counts, true}, .displs = {cut->displs, true}};
    cut->blocks.arrays = &cut->arrays;
    return (size_t)longest * args->in.type->size;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Fills what the ranks do. Returns the bytes that the limits compare. */
static size_t describe_call(struct weft_shared_call *c, struct cut *cut)
{
    const struct weft_coll_args *args = c->args;
    struct weft_elements in = {args->in.at, args->in.count, args->in.type};
    bool is_root = c->rank == args->root;
    c->give = &args->in;
    c->posts = true;
    c->per_rank = c->reduces = c->lengths = false;
    c->source = c->reader = WEFT_SHARED_ALL;
    c->buffers = WEFT_AREA_BUFFERS_IN_STEP;
    c->longest = weft_elements_bytes(in);
    switch (args->kind) {
    case WEFT_COLL_BCAST:
    case WEFT_COLL_SCATTER:
        c->posts = is_root;
        c->buffers = c->area->buffers;
        c->source = is_root ? WEFT_SHARED_NOBODY : args->root;
        c->per_rank = args->kind == WEFT_COLL_SCATTER;
        if (c->per_rank && !is_root)
            c->longest = args->out.count * args->out.type->size;
        break;
    case WEFT_COLL_REDUCE:
    case WEFT_COLL_GATHER:
        c->posts = !is_root;
        c->buffers = c->area->buffers;
        c->source = is_root ? WEFT_SHARED_ALL : WEFT_SHARED_NOBODY;
        c->reader = args->root;
        c->reduces = args->kind == WEFT_COLL_REDUCE;
        break;
    case WEFT_COLL_ALLREDUCE:
        c->reduces = true;
        break;
    case WEFT_COLL_ALLGATHERV:
        c->lengths = true;
        c->bytes = (uint32_t)c->longest;
        for (int i = 0; i < c->n; i++)
            c->longest = most(c->longest, weft_elements_bytes(weft_block(&args->out, i)));
        return c->longest;
    case WEFT_COLL_ALLTOALL:
        c->give = args->in_place ? &args->out : &args->in;
        c->longest = args->out.count * args->out.type->size;
        c->per_rank = true;
        break;
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
        c->reduces = c->per_rank = true;
        c->bytes = (uint32_t)c->longest;
        c->longest = make_cut(c, cut);
        c->give = &cut->blocks;
        return c->bytes;
    default:
        break;
    }
    c->bytes = (uint32_t)c->longest;
    return c->longest;
}

/* Describes a call. Returns false if all ranks execute it as a schedule. */
static inline bool prepare_call(struct weft_shared_call *c, const struct weft_coll_args *args,
                                struct weft_area *area, struct cut *cut)
{
    struct weft_comm *comm = args->comm;
    c->args = args;
    c->area = area;
    c->n = comm->size;
    c->rank = comm->rank;
    size_t bytes = describe_call(c, cut);
    return bytes <= limit_of(args->kind, c->n) && bytes <= UINT32_MAX &&
           c->longest <= weft_shared_chunk(c) * CHUNKS_MAX;
}

static inline void set_label(struct weft_shared_call *c, uint32_t number)
{
    const struct weft_coll_args *args = c->args;
    c->label = (uint32_t)args->kind | (uint32_t)args->root << WEFT_SHARED_ROOT_SHIFT |
               number << WEFT_SHARED_NUMBER_SHIFT;
}

bool weft_shared_takes(enum weft_coll_kind kind)
{
    return weft_shared_limits[kind].more && !weft_coll_is_set(kind);
}

/* ---- Execution */

/* Begins a described, labelled call with that number (modulo 2^32) among those of its area. Zeroing
 * the complete structure would take 8 ns of the 110 ns of an 8-byte broadcast. */
static inline void begin_call(struct weft_shared_call *c, uint32_t number, struct weft_schedule *s)
{
    struct weft_area *area = c->area;
    c->number = number - 1;
    c->s = s;
    c->error = MPI_SUCCESS;
    c->over = c->waits = false;
    c->word = NULL;
    c->stamp = c->now = c->next = weft_area_call(area, number);
    c->at = c->ahead = 0;
    c->taken = 1;
    c->ticket = area->began++;
    c->queued = c->ticket != atomic_load_explicit(&area->ended, memory_order_relaxed);
    weft_count_add(&weft_counts.collectives_shared, 1);
}

/* Returns true if the call is complete; else it waits. */
static inline bool advance_call(struct weft_shared_call *c)
{
    if (weft_unlikely(c->queued)) {
        if (weft_shared_await(c, &c->area->ended, c->ticket, c->rank) == WEFT_SHARED_LATER)
            return false;
        c->queued = false;
        weft_shared_set_done(c, c->stamp - 1); /* also calls in between that this rank refused */
    }
    if (!c->longest && c->posts && c->source == WEFT_SHARED_ALL)
        return weft_shared_synchronize(c);
    return weft_shared_run_by_chunks(c);
}

static inline void end_call(struct weft_shared_call *c)
{
    struct weft_area *area = c->area;
    weft_assert(c->ticket == area->ended && c->ticket < area->began);
    uint64_t ended = c->ticket + 1;
    bool last = ended == area->began;
    weft_shared_set_done(c, last ? weft_area_end(area->call << WEFT_AREA_CHUNK_BITS)
                                 : weft_area_end(c->stamp));
    atomic_store_explicit(&area->ended, ended, memory_order_relaxed);
    if (c->longest && !c->reduces)
        weft_shared_copy_own(c);
}

/* ---- The interface */

bool weft_shared_run(const struct weft_coll_args *args, int *code)
{
    struct cut cut;
    struct weft_shared_call c;
    struct weft_comm *comm = args->comm;
    if (!can_reduce(args))
        return false;
    if (weft_unlikely(!comm->area) && weft_shared_takes(args->kind) &&
        (*code = weft_shared_make(comm)) != MPI_SUCCESS)
        return true;
    struct weft_area *area = comm->area;
    if (!area || !(area->kinds >> args->kind & 1) || !prepare_call(&c, args, area, &cut))
        return false;
    weft_count_add(&weft_counts.collectives, 1);
    uint32_t number = ++comm->coll_sequence;
    if (weft_unlikely(number % WEFT_AREA_SLOTS == 0))
        weft_shared_compare(comm, area);
    set_label(&c, number);
    enum weft_shared_attempt attempt = weft_shared_attempt(&c, number);
    if (attempt == WEFT_SHARED_COMPLETE) {
        weft_count_add(&weft_counts.collectives_shared, 1);
        *code = MPI_SUCCESS;
        return true;
    }
    begin_call(&c, number, NULL);
    if (attempt == WEFT_SHARED_POSTED && c.posts) {
        c.next++;
        c.ahead = area->chunk;
    }
    while (!advance_call(&c))
        weft_shared_poll(&c);
    end_call(&c);
    if (weft_unlikely(c.s != NULL))
        weft_shared_complete(&c);
    *code = c.error;
    return true;
}

static void release_area(struct weft_schedule *s)
{
    if (s->shared->own)
        weft_shared_free(s->comm, s->shared->call.area);
}

bool weft_shared_prepare(struct weft_schedule *s, const struct weft_coll_args *args)
{
    struct weft_area *area = args->comm->area;
    if (!weft_shared_takes(args->kind) || !can_reduce(args) ||
        (!s->persistent && (!area || !area->n)))
        return false;
    struct weft_shared_operation *o = weft_schedule_memory(s, sizeof *o);
    if (s->persistent)
        area = o ? weft_shared_make_own(args->comm, s->tag) : NULL;
    if (!o || !area)
        return false;
    o->args = *args;
    if (args->out.arrays) {
        o->arrays = *args->out.arrays;
        o->args.out.arrays = &o->arrays;
    }
    o->own = s->persistent;
    if (prepare_call(&o->call, &o->args, area, &o->cut)) {
        s->shared = o;
        s->release = release_area;
        s->algorithm = WEFT_ALGORITHM_SHARED;
        return true;
    }
    if (o->own)
        weft_shared_free(args->comm, area);
    return false;
}

void weft_shared_begin(struct weft_schedule *s)
{
    struct weft_shared_operation *o = s->shared;
    s->vci->coll.shared++;
    uint32_t number = o->own ? (uint32_t)o->call.area->call + 1 : o->args.comm->coll_sequence;
    set_label(&o->call, number);
    begin_call(&o->call, number, s);
}

bool weft_shared_advance(struct weft_schedule *s)
{
    struct weft_shared_call *c = &s->shared->call;
    uint64_t before = c->now + c->next + (uint64_t)c->taken;
    if (advance_call(c))
        s->done = s->end;
    return s->done == s->end || before != c->now + c->next + (uint64_t)c->taken;
}

bool weft_shared_note(struct weft_schedule *s)
{
    return weft_shared_look(&s->shared->call);
}

void weft_shared_end(struct weft_schedule *s)
{
    weft_assert(s->vci->coll.shared > 0);
    s->vci->coll.shared--;
    end_call(&s->shared->call);
}
