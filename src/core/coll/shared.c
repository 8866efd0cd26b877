// SPDX-License-Identifier: BSD-3-Clause
/*
 * Blocking collectives of a communicator whose ranks share a node, through an area of shared memory
 * (shm/area.h) instead of messages.
 *
 * The ranks make the area together at one collective call of the communicator (WEFT_SHM_COLL). Then
 * a rank posts its data to its own cells, in pieces, and copies or combines the pieces of others
 * out of theirs. Long data of some collectives are posted as an address, from which the other ranks
 * read (one copy).
 *
 * Invariants:
 *  - Whether a collective takes this way depends on its kind, its bytes, the operation and the
 *    communicator: values that are the same at every rank. Types may have any layout.
 *  - All operands of a reduction are combined in the order of the schedule (operands.h).
 */
#include "core/coll/shared.h"

#include "core/coll/shared_internal.h"
#include "core/pt2pt/count.h"

enum { KiB = 1024, PIECES_MAX = 1 << (WEFT_AREA_PIECE_BITS - 1) };

/* ---- The choice */

/* Between two cores that share no nearby cache, pieces above 16 KiB
 * move 2.5 bytes a nanosecond, and the kernel copies 8. A broadcast, a reduction to a root, a
 * gather and a scatter of long data are as fast by messages: a sender that waits helps to copy. In
 * MPI_Reduce_scatter some ranks may pass MPI_IN_PLACE, so one copy is not possible. */
const struct weft_shared_limits weft_shared_limits[WEFT_COLL_KINDS] = {
    [WEFT_COLL_BARRIER] = {SIZE_MAX, SIZE_MAX},
    [WEFT_COLL_BCAST] = {8 * KiB, SIZE_MAX},
    [WEFT_COLL_REDUCE] = {8 * KiB, SIZE_MAX},
    [WEFT_COLL_ALLREDUCE] = {16 * KiB, 16 * KiB},
    [WEFT_COLL_GATHER] = {8 * KiB, SIZE_MAX},
    [WEFT_COLL_SCATTER] = {8 * KiB, SIZE_MAX},
    [WEFT_COLL_ALLGATHER] = {8 * KiB, 8 * KiB},
    [WEFT_COLL_ALLGATHERV] = {8 * KiB, 8 * KiB},
    [WEFT_COLL_ALLTOALL] = {8 * KiB, 8 * KiB},
    [WEFT_COLL_REDUCE_SCATTER] = {SIZE_MAX, SIZE_MAX},
    [WEFT_COLL_REDUCE_SCATTER_BLOCK] = {SIZE_MAX, 32 * KiB},
};

/* Predefined operations on contiguous elements, of which a piece has a whole number. */
static bool can_reduce(const struct weft_coll_args *args)
{
    const struct weft_datatype *type = args->in.type;
    return args->op->id != WEFT_OP_USER && type->flags & WEFT_TYPE_CONTIGUOUS && type->size &&
           WEFT_AREA_LINE % type->size == 0;
}

/* The blocks of a reduce-scatter. */
struct cut {
    struct weft_blocks blocks;
    int64_t counts[WEFT_AREA_RANKS_MAX], displs[WEFT_AREA_RANKS_MAX];
};

/* Returns the bytes of the longest block. */
static size_t make_cut(const struct weft_shared_call *c, struct cut *cut)
{
    const struct weft_coll_args *args = c->args;
    int64_t longest = 0, begin = 0;
    for (int i = 0; i < c->n; i++) {
        cut->counts[i] = args->out.counts.at ? weft_int_of(args->out.counts, i)
                                             : (int64_t)(args->in.count / (size_t)c->n);
        cut->displs[i] = begin;
        begin += cut->counts[i];
        longest = cut->counts[i] > longest ? cut->counts[i] : longest;
    }
    cut->blocks = args->in;
    cut->blocks.counts = (struct weft_ints){cut->counts, true};
    cut->blocks.displs = (struct weft_ints){cut->displs, true};
    return (size_t)longest * args->in.type->size;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Fills what the ranks do. Returns the bytes that the limits compare. */
static size_t describe(struct weft_shared_call *c, struct cut *cut)
{
    const struct weft_coll_args *args = c->args;
    struct weft_elements in = {args->in.at, args->in.count, args->in.type};
    bool is_root = c->rank == args->root;
    c->give = &args->in;
    c->posts = true;
    c->source = c->reader = WEFT_SHARED_ALL;
    c->buffers = WEFT_AREA_BUFFERS_IN_STEP;
    c->longest = weft_elements_bytes(in);
    switch (args->kind) {
    case WEFT_COLL_BCAST:
    case WEFT_COLL_SCATTER:
        c->posts = is_root;
        c->buffers = c->area->buffers;
        c->source = is_root ? WEFT_SHARED_NOBODY : args->root;
        c->parts = args->kind == WEFT_COLL_SCATTER;
        if (c->parts && !is_root)
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
        c->parts = true;
        break;
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
        c->reduces = c->parts = true;
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

/* ---- The interface */

static void execute(struct weft_shared_call *c, bool one_copy)
{
    struct weft_area *area = c->area;
    c->number = c->args->comm->coll_sequence++;
    c->stamp = weft_area_call(area, c->args->comm->coll_sequence);
    weft_count_add(&weft_counts.collectives, 1);
    weft_count_add(&weft_counts.collectives_shared, 1);
    if (!c->longest && c->posts && c->source == WEFT_SHARED_ALL)
        weft_shared_synchronize(c);
    else if (one_copy)
        weft_shared_run_in_one_copy(c);
    else
        weft_shared_run_by_pieces(c);
    weft_shared_set_done(c, weft_area_end(c->stamp));
    if (!one_copy && c->longest && !c->reduces)
        weft_shared_copy_own(c);
    if (weft_unlikely(c->s != NULL))
        weft_shared_complete(c);
}

bool weft_shared_run(const struct weft_coll_args *args, int *code)
{
    struct cut cut;
    struct weft_comm *comm = args->comm;
    const struct weft_shared_limits *limit = &weft_shared_limits[args->kind];
    if (!limit->pieces || weft_coll_is_set(args->kind) || (args->op && !can_reduce(args)))
        return false;
    if (weft_unlikely(!comm->area) && (*code = weft_shared_make(comm)) != MPI_SUCCESS)
        return true;
    struct weft_area *area = comm->area;
    if (!area || !area->n)
        return false;
    struct weft_shared_call c = {.args = args, .area = area, .n = comm->size, .rank = comm->rank};
    c.label = (uint32_t)args->kind | (uint32_t)args->root << WEFT_SHARED_ROOT_SHIFT;
    size_t bytes = describe(&c, &cut);
    bool in_place = c.parts && (args->in_place || (c.reduces && args->in.at == args->out.at));
    bool one_copy = area->direct && bytes > limit->one_copy && !in_place;
    if (!one_copy && bytes > limit->pieces)
        return false;
    if (bytes > UINT32_MAX || c.longest > weft_shared_piece(&c) * PIECES_MAX)
        return false;
    execute(&c, one_copy);
    *code = c.error;
    return true;
}
