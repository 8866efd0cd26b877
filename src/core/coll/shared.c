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
 *  - After an error a rank posts what is left of its part, marked as failed, so that no other rank
 *    waits forever; except after a refusal, or if the ranks make different calls, which all ranks
 *    that wait for each other detect.
 */
#include "core/coll/shared.h"

#include "core/coll/operands.h"
#include "core/coll/refusal.h"
#include "core/object/error.h"
#include "core/process/weft.h"
#include "core/pt2pt/count.h"
#include "core/pt2pt/lane.h"

#include <stdlib.h>
#include <string.h>

enum { KiB = 1024, PIECES_MAX = 1 << (WEFT_AREA_PIECE_BITS - 1) };

/* A label: the kind, FAILED, and the root. */
enum { FAILED = 1 << 8, ROOT_SHIFT = 16 };

enum { NOBODY = -1, ALL = -2 };

_Static_assert((int)WEFT_AREA_RANKS_MAX <= WEFT_OPERANDS_MAX, "an operand of each rank");

struct call {
    const struct weft_coll_args *args;
    struct weft_area *area;
    int n, rank;
    uint32_t number;       /* of this call, as in coll_sequence */
    uint32_t label, bytes; /* of each cell */
    uint64_t stamp;        /* of the first piece */
    int error;
    bool over;               /* the other ranks do not complete this call */
    bool waits;              /* reports list it */
    struct weft_schedule *s; /* for reports, errors and refusals; NULL until needed */

    /* What the ranks do */
    bool posts;       /* this rank posts data */
    int source;       /* the rank whose data this rank takes, ALL or NOBODY */
    int reader;       /* the rank that takes what this one posts, or ALL */
    bool parts;       /* each rank has one block for each rank; else all take the same */
    bool reduces;     /* operands are combined */
    unsigned buffers; /* that the ranks use */
    size_t longest;   /* bytes of the longest block */
    const struct weft_blocks *give; /* of this rank */
};

/* ---- Errors */

static struct weft_schedule *schedule_of(struct call *c)
{
    if (!c->s && (c->s = weft_schedule_get(c->args)) != NULL) {
        c->s->tag = weft_coll_tag(c->args->comm, c->number, c->args->kind, false);
        c->s->algorithm = WEFT_ALGORITHM_SHARED;
    }
    return c->s;
}

WEFT_COLD static void fail(struct call *c, int code, enum weft_fault fault, int from, size_t got)
{
    struct weft_schedule *s = schedule_of(c);
    c->error = c->error ? c->error : code;
    if (!s)
        return;
    if (weft_schedule_fail(s, code, fault)) {
        s->fault_peer = from;
        s->fault_wanted = c->bytes;
        s->fault_got = got;
    }
    c->error = s->error;
}

/* The label of a cell is not that of this call. */
WEFT_COLD static bool check_label(struct call *c, uint32_t label, uint32_t bytes, int from)
{
    uint32_t kind = label & WEFT_COLL_KIND_MASK, root = label >> ROOT_SHIFT;
    if ((label & ~(uint32_t)FAILED) != c->label) {
        c->over = true;
        fail(c,
             weft_error_set(MPI_ERR_OTHER,
                            "rank %d calls %s with root %u where this rank calls %s with root %u; "
                            "all ranks have to make the same calls in the same order",
                            from,
                            kind < WEFT_COLL_KINDS ? weft_coll_name((enum weft_coll_kind)kind)
                                                   : "something unknown",
                            root, weft_coll_name(c->args->kind), c->label >> ROOT_SHIFT),
             WEFT_FAULT_RECORDED, from, bytes);
    } else if (bytes != c->bytes) {
        c->over = true;
        fail(c, bytes > c->bytes ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
             bytes > c->bytes ? WEFT_FAULT_LONG : WEFT_FAULT_SHORT, from, bytes);
    } else {
        fail(c, MPI_ERR_OTHER, WEFT_FAULT_REMOTE, from, bytes);
    }
    return !c->over;
}

/* ---- Waiting */

static inline bool reached(const _Atomic uint64_t *word, uint64_t value)
{
    return atomic_load_explicit(word, memory_order_acquire) >= value;
}

/* Stores the error if a rank is dead. */
WEFT_COLD static bool is_dead(struct call *c, int rank)
{
    const struct weft_peer *peer = weft_peer_known(0, weft_comm_world_of(c->args->comm, rank));
    if (!peer || peer->lane != WEFT_LANE_DEAD)
        return false;
    fail(c, weft_failure_say(peer), WEFT_FAULT_RECORDED, rank, 0);
    return true;
}

/* For a rank that has waited for some time. Returns false if it has to stop: another rank refuses
 * the call, or the rank waited for is dead. */
WEFT_COLD static bool go_on(struct call *c, int from)
{
    struct weft_schedule *s = schedule_of(c);
    if (is_dead(c, from))
        return false;
    if (!s)
        return true;
    if (!c->waits)
        weft_schedule_note_blocking(s);
    c->waits = true;
    s->count = s->done = s->after = 0;
    weft_schedule_receive(s, from, weft_elements_of_bytes(NULL, 0)); /* for the hang report */
    const struct weft_refusal *refusal = weft_refusal_look(s);
    if (!refusal)
        return true;
    if (weft_schedule_fail(s, refusal->message.code, WEFT_FAULT_REFUSED))
        s->refusal = refusal;
    c->error = s->error;
    c->over = true;
    return false;
}

static __attribute__((noinline)) bool await_long(struct call *c, const _Atomic uint64_t *word,
                                                 uint64_t value, int from)
{
    /* Polls without an event before each call of go_on; fewer in a wait so long that a poll sleeps
     * for milliseconds. */
    enum { TURN = 64, LONG_TURN = 4, LONG = 128 };
    struct weft_vci *vci = weft_unlikely(weft_gate) ? weft_vci_scope(c->args->comm->vci) : NULL;
    bool threads = weft_gate & WEFT_GATE_THREADS, goes_on = !c->over;
    unsigned idle = 0, turns = 0;
    if (!threads)
        weft_area_wait_for(word, value);
    while (goes_on && !reached(word, value)) {
        if (weft_poll(vci)) {
            idle = 0;
            weft_share();
        } else {
            weft_idle_for(&idle, NULL);
            bool sleeps = idle > (unsigned)weft.yield_after + LONG;
            goes_on = ++turns % (sleeps ? LONG_TURN : TURN) || go_on(c, from);
        }
    }
    if (!threads)
        weft_area_wait_for(NULL, 0);
    return goes_on;
}

/* Waits until a word of a rank has reached a stamp. Returns false if it never will. */
static inline bool await(struct call *c, const _Atomic uint64_t *word, uint64_t value, int from)
{
    enum { LOOKS = 16 };
    for (int i = 0; i < LOOKS; i++) {
        if (reached(word, value))
            return true;
        weft_lock_pause();
    }
    return await_long(c, word, value, from);
}

static bool await_done(struct call *c, uint64_t stamp)
{
    bool all = true;
    for (int i = 0; i < c->n; i++)
        all &= i == c->rank || await(c, &c->area->ranks[i].seat->done, stamp, i);
    return all;
}

/* Waits for what a rank posts. Returns false if it is not to be used. */
static inline bool await_post(struct call *c, uint64_t stamp, int from)
{
    const struct weft_area_cell *cell = weft_area_cell(c->area, from, stamp);
    if (!await(c, &cell->stamp, stamp, from))
        return false;
    return weft_likely(cell->label == c->label && cell->bytes == c->bytes) ||
           check_label(c, cell->label, cell->bytes, from);
}

static bool await_posts(struct call *c, uint64_t stamp)
{
    bool all = true;
    for (int i = 0; i < c->n; i++)
        all &= i == c->rank || await_post(c, stamp, i);
    if (all)
        c->area->known = stamp - 1; /* who has posted it has completed everything before */
    return all;
}

/* ---- Posting */

/* Waits until all ranks have completed a stamp, and finds the last one that they have. */
static __attribute__((noinline)) void learn(struct call *c, uint64_t stamp)
{
    uint64_t known = UINT64_MAX;
    if (!await_done(c, stamp))
        return;
    for (int i = 0; i < c->n; i++) {
        uint64_t done = atomic_load_explicit(&c->area->ranks[i].seat->done, memory_order_acquire);
        known = i == c->rank || done > known ? known : done;
    }
    c->area->known = known;
}

/* Takes a cell or buffer for a stamp. If the ranks may not have completed its former one, waits
 * until they have completed that of the cell half the ring ahead, so that a rank that is ahead of
 * the others reads their `done` rarely. */
static inline void take(struct call *c, uint64_t *ring, unsigned n, uint64_t stamp)
{
    unsigned i = weft_area_index(stamp, n);
    uint64_t before = ring[i], ahead = ring[(i + n / 2) % n];
    ring[i] = stamp;
    if (weft_unlikely(before > c->area->known))
        learn(c, ahead > before ? ahead : before);
}

/* The cell of a stamp, for so many bytes of data. */
static inline struct weft_area_cell *reserve(struct call *c, uint64_t stamp, size_t bytes)
{
    take(c, c->area->cells, WEFT_AREA_CELLS, stamp);
    if (bytes > WEFT_AREA_INLINE)
        take(c, c->area->buffers, c->buffers, stamp);
    return weft_area_cell(c->area, c->rank, stamp);
}

static inline void ring(const struct call *c, int reader)
{
    weft_area_ring(c->area, reader == ALL ? 0 : reader, reader == ALL ? c->n : reader + 1);
}

static inline void post(struct call *c, struct weft_area_cell *cell, uint64_t stamp)
{
    cell->label = c->label | (weft_unlikely(c->error) ? FAILED : 0);
    cell->bytes = c->bytes;
    atomic_store_explicit(&cell->stamp, stamp, memory_order_release);
    if (c->source != NOBODY) /* else set_done follows */
        ring(c, c->reader);
}

static inline void set_done(struct call *c, uint64_t stamp)
{
    atomic_store_explicit(&c->area->ranks[c->rank].seat->done, stamp, memory_order_release);
    ring(c, ALL);
}

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The bytes of a block in a piece. */
static inline size_t within(struct weft_elements block, size_t at, size_t length)
{
    size_t bytes = weft_elements_bytes(block);
    return at < bytes ? least(bytes - at, length) : 0;
}

static void post_piece(struct call *c, uint64_t stamp, size_t at, size_t length)
{
    int blocks = c->parts ? c->n : 1;
    size_t bytes = length * (size_t)blocks;
    struct weft_area_cell *cell = reserve(c, stamp, bytes);
    unsigned char *data = weft_area_data(c->area, c->rank, stamp, bytes, c->buffers);
    for (int i = 0; i < blocks; i++, data += length) {
        struct weft_elements block = weft_block(c->give, i);
        if (!c->parts || i != c->rank)
            weft_datatype_pack(block.type, block.at, at, data, within(block, at, length));
    }
    post(c, cell, stamp);
}

/* ---- Taking */

/* The place of the data that a rank takes from another. */
static inline struct weft_elements place_of(const struct call *c, int from)
{
    const struct weft_coll_args *args = c->args;
    const struct weft_blocks *one = args->kind == WEFT_COLL_BCAST ? &args->in : &args->out;
    if (c->source == ALL)
        return weft_block(&args->out, from);
    return (struct weft_elements){one->at, one->count, one->type};
}

/* What this rank takes of the data that a rank has posted with a stamp. */
static inline const unsigned char *posted(const struct call *c, uint64_t stamp, int from,
                                          size_t length)
{
    size_t blocks = c->parts ? (size_t)c->n : 1;
    return weft_area_data(c->area, from, stamp, length * blocks, c->buffers) +
           (c->parts ? (size_t)c->rank * length : 0);
}

static void take_piece(struct call *c, uint64_t stamp, int from, size_t at, size_t length)
{
    struct weft_elements place = place_of(c, from);
    bool is_there = await_post(c, stamp, from);
    __builtin_prefetch(weft_area_cell(c->area, from, stamp + 1)); /* of the next call, too */
    if (is_there)
        weft_datatype_unpack(place.type, place.at, at, posted(c, stamp, from, length), length);
}

/* ---- Reducing */

static void reduce_piece(struct call *c, uint64_t stamp, size_t at, size_t length)
{
    struct weft_operands o;
    struct weft_elements own = weft_block(c->give, c->parts ? c->rank : 0);
    if (!await_posts(c, stamp))
        return;
    weft_operands_describe(&o, c->args);
    for (int i = 0; i < c->n; i++)
        o.at[i] = i == c->rank ? (unsigned char *)own.at + at : posted(c, stamp, i, length);
    weft_operands_reduce(&o, (unsigned char *)c->args->out.at + at, within(own, at, length));
}

static void copy_own(const struct call *c)
{
    const struct weft_coll_args *args = c->args;
    struct weft_elements out = {args->out.at, args->out.count, args->out.type};
    if (args->kind == WEFT_COLL_SCATTER && c->rank == args->root)
        weft_elements_copy(weft_block(&args->in, c->rank), out);
    else if (c->source == ALL)
        weft_elements_copy(weft_block(c->give, c->parts ? c->rank : 0),
                           weft_block(&args->out, c->rank));
}

/* ---- In pieces */

/* No data: each rank posts, and waits for all others. */
static void synchronize(struct call *c)
{
    post(c, reserve(c, c->stamp, 0), c->stamp);
    await_posts(c, c->stamp);
}

static void take_pieces(struct call *c, uint64_t stamp, size_t at, size_t length)
{
    if (c->reduces) {
        reduce_piece(c, stamp, at, length);
    } else if (c->source != ALL) {
        take_piece(c, stamp, c->source, at, length);
    } else {
        for (int i = 1; i < c->n; i++)
            take_piece(c, stamp, (c->rank + i) % c->n, at, length);
        c->area->known = c->over || c->error ? c->area->known : stamp - 1;
    }
}

/* The most bytes of a block in a piece. */
static size_t piece_of(const struct call *c)
{
    return c->parts ? c->area->part : c->area->piece;
}

static void run_by_pieces(struct call *c)
{
    size_t most = piece_of(c), at = 0, length;
    for (uint64_t stamp = c->stamp;; stamp++) {
        length = least(c->longest - at, most);
        if (c->posts)
            post_piece(c, stamp, at, length);
        if (c->source != NOBODY)
            take_pieces(c, stamp, at, length);
        at += length;
        if (at >= c->longest || c->over)
            return;
        set_done(c, stamp);
    }
}

/* ---- In one copy */

/* What a rank posts: where its data are. */
struct addresses {
    uint64_t in, out;
};

static struct addresses addresses_of(const struct call *c, uint64_t stamp, int from)
{
    struct addresses addresses;
    memcpy(&addresses, weft_area_cell(c->area, from, stamp)->data, sizeof addresses);
    return addresses;
}

static void post_addresses(struct call *c, const void *in, const void *out)
{
    struct weft_area_cell *cell = reserve(c, c->stamp, sizeof(struct addresses));
    struct addresses addresses = {(uintptr_t)in, (uintptr_t)out};
    memcpy(cell->data, &addresses, sizeof addresses);
    post(c, cell, c->stamp);
}

static void read_from(struct call *c, int from, uint64_t address, void *to, size_t bytes)
{
    int failed = bytes ? weft_area_read(c->area, from, address, to, bytes) : 0;
    if (weft_unlikely(failed) && !is_dead(c, from))
        fail(c,
             weft_error_set(MPI_ERR_OTHER, "%zu bytes of rank %d cannot be read for %s: %s", bytes,
                            from, weft_coll_name(c->args->kind), strerror(failed)),
             WEFT_FAULT_RECORDED, from, 0);
}

/* The part of a vector that a rank reduces, as bytes. */
static struct weft_elements part_of(const struct call *c, void *vector, int rank)
{
    size_t count = c->args->in.count, each = count / (size_t)c->n, first = each * (size_t)rank;
    struct weft_elements all = {vector, count, c->args->in.type};
    return weft_elements_slice(all, first, rank == c->n - 1 ? count - first : each);
}

/* Combines this rank's part of all operands, which it reads from the other ranks' memory. */
static void reduce_part(struct call *c, struct weft_elements own, unsigned char *result)
{
    struct weft_operands o;
    size_t most = WEFT_AREA_SCRATCH / (size_t)c->n / WEFT_AREA_LINE * WEFT_AREA_LINE;
    size_t bytes = weft_elements_bytes(own);
    uint64_t before = (uintptr_t)own.at - (uintptr_t)c->args->in.at;
    weft_operands_describe(&o, c->args);
    for (size_t at = 0, length; at < bytes; at += length) {
        length = least(bytes - at, most);
        for (int i = 0; i < c->n; i++) {
            unsigned char *to = (unsigned char *)c->area->scratch + (size_t)i * most;
            o.at[i] = i == c->rank ? (unsigned char *)own.at + at : to;
            if (i != c->rank)
                read_from(c, i, addresses_of(c, c->stamp, i).in + before + at, to, length);
        }
        weft_operands_reduce(&o, result + at, length);
    }
}

/* Each rank reduces one part, and reads the other parts of the result from the other ranks. */
static void allreduce_in_one_copy(struct call *c)
{
    const struct weft_coll_args *args = c->args;
    unsigned char *out = args->out.at;
    struct weft_elements own = part_of(c, args->in.at, c->rank);
    post_addresses(c, args->in.at, out);
    if (await_posts(c, c->stamp))
        reduce_part(c, own, out + ((uintptr_t)own.at - (uintptr_t)args->in.at));
    if (c->over)
        return;
    post(c, reserve(c, c->stamp + 1, 0), c->stamp + 1);
    for (int i = 1; i < c->n; i++) {
        int from = (c->rank + i) % c->n;
        struct weft_elements part = part_of(c, out, from);
        if (await_post(c, c->stamp + 1, from))
            read_from(c, from,
                      addresses_of(c, c->stamp, from).out + ((uintptr_t)part.at - (uintptr_t)out),
                      part.at, weft_elements_bytes(part));
    }
    set_done(c, c->stamp + 1);
    await_done(c, c->stamp + 1);
}

/* Each rank reduces its block. */
static void reduce_scatter_in_one_copy(struct call *c)
{
    post_addresses(c, c->args->in.at, NULL);
    if (await_posts(c, c->stamp))
        reduce_part(c, weft_block(c->give, c->rank), c->args->out.at);
    set_done(c, c->stamp);
    await_done(c, c->stamp);
}

/* Reads a block of another rank, through scratch memory if its place is not contiguous. */
static void read_block(struct call *c, int from, uint64_t address, struct weft_elements place)
{
    size_t bytes = weft_elements_bytes(place);
    if (place.type->flags & WEFT_TYPE_CONTIGUOUS) {
        read_from(c, from, address, place.at, bytes);
        return;
    }
    for (size_t at = 0, length; at < bytes; at += length) {
        length = least(bytes - at, WEFT_AREA_SCRATCH);
        read_from(c, from, address + at, c->area->scratch, length);
        weft_datatype_unpack(place.type, place.at, at, c->area->scratch, length);
    }
}

/* Packs what this rank gives, unless it is contiguous. *packed is the memory to be freed. */
static const void *contiguous(struct call *c, void **packed)
{
    size_t bytes = c->longest;
    int blocks = c->parts ? c->n : 1;
    *packed = NULL;
    if (c->give->type->flags & WEFT_TYPE_CONTIGUOUS)
        return c->give->at;
    *packed = malloc(bytes * (size_t)blocks);
    if (!*packed)
        fail(c, weft_error_set(MPI_ERR_NO_MEM, "no memory to pack %zu bytes", bytes),
             WEFT_FAULT_RECORDED, c->rank, 0);
    for (int i = 0; *packed && i < blocks; i++) {
        struct weft_elements block = weft_block(c->give, i);
        weft_datatype_pack_all(block.type, block.at, block.count,
                               (char *)*packed + (size_t)i * bytes);
    }
    return *packed;
}

/* Each rank reads the blocks that it takes. */
static void run_in_one_copy(struct call *c)
{
    void *packed = NULL;
    if (c->posts)
        post_addresses(c, contiguous(c, &packed), NULL);
    for (int i = 1; i < c->n && c->source != NOBODY; i++) {
        int from = c->source == ALL ? (c->rank + i) % c->n : c->source;
        if (await_post(c, c->stamp, from))
            read_block(c, from,
                       addresses_of(c, c->stamp, from).in +
                           (c->parts ? (size_t)c->rank * c->longest : 0),
                       place_of(c, from));
        if (c->source != ALL)
            break;
    }
    set_done(c, c->stamp);
    copy_own(c);
    if (c->posts)
        await_done(c, c->stamp);
    free(packed);
}

/* ---- The choice */

/* Pieces are used for blocks of up to so many bytes, one copy for longer ones than so many bytes if
 * the ranks can read each other's memory (of MPI_Reduce_scatter all blocks together count).
 * Everything else is a schedule. Between two cores that share no nearby cache, pieces above 16 KiB
 * move 2.5 bytes a nanosecond, and the kernel copies 8. A broadcast, a reduction to a root, a
 * gather and a scatter of long data are as fast by messages: a sender that waits helps to copy. In
 * MPI_Reduce_scatter some ranks may pass MPI_IN_PLACE, so one copy is not possible. */
static const struct limits {
    size_t pieces, one_copy;
} limits[WEFT_COLL_KINDS] = {
    [WEFT_COLL_BARRIER] = {SIZE_MAX, SIZE_MAX},
    [WEFT_COLL_BCAST] = {8 * KiB, SIZE_MAX},
    [WEFT_COLL_REDUCE] = {8 * KiB, SIZE_MAX},
    [WEFT_COLL_ALLREDUCE] = {16 * KiB, 16 * KiB},
    [WEFT_COLL_GATHER] = {8 * KiB, SIZE_MAX},
    [WEFT_COLL_SCATTER] = {8 * KiB, SIZE_MAX},
    [WEFT_COLL_ALLGATHER] = {8 * KiB, 8 * KiB},
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
static size_t make_cut(const struct call *c, struct cut *cut)
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

/* Fills what the ranks do. Returns the bytes that the limits compare. */
static size_t describe(struct call *c, struct cut *cut)
{
    const struct weft_coll_args *args = c->args;
    struct weft_elements in = {args->in.at, args->in.count, args->in.type};
    bool is_root = c->rank == args->root;
    c->give = &args->in;
    c->posts = true;
    c->source = c->reader = ALL;
    c->buffers = WEFT_AREA_BUFFERS_IN_STEP;
    c->longest = weft_elements_bytes(in);
    switch (args->kind) {
    case WEFT_COLL_BCAST:
    case WEFT_COLL_SCATTER:
        c->posts = is_root;
        c->buffers = WEFT_AREA_BUFFERS;
        c->source = is_root ? NOBODY : args->root;
        c->parts = args->kind == WEFT_COLL_SCATTER;
        if (c->parts && !is_root)
            c->longest = args->out.count * args->out.type->size;
        break;
    case WEFT_COLL_REDUCE:
    case WEFT_COLL_GATHER:
        c->posts = !is_root;
        c->buffers = WEFT_AREA_BUFFERS;
        c->source = is_root ? ALL : NOBODY;
        c->reader = args->root;
        c->reduces = args->kind == WEFT_COLL_REDUCE;
        break;
    case WEFT_COLL_ALLREDUCE:
        c->reduces = true;
        break;
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

static void complete(struct call *c)
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

static void execute(struct call *c, bool one_copy)
{
    struct weft_area *area = c->area;
    c->number = c->args->comm->coll_sequence++;
    c->stamp = weft_area_call(area, c->args->comm->coll_sequence);
    weft_count_add(&weft_counts.collectives, 1);
    weft_count_add(&weft_counts.collectives_shared, 1);
    if (!c->longest && c->posts && c->source == ALL)
        synchronize(c);
    else if (one_copy && c->args->kind == WEFT_COLL_ALLREDUCE)
        allreduce_in_one_copy(c);
    else if (one_copy && c->reduces)
        reduce_scatter_in_one_copy(c);
    else if (one_copy)
        run_in_one_copy(c);
    else
        run_by_pieces(c);
    set_done(c, weft_area_end(c->stamp));
    if (!one_copy && c->longest && !c->reduces)
        copy_own(c);
    if (weft_unlikely(c->s != NULL))
        complete(c);
}

bool weft_shared_run(const struct weft_coll_args *args, int *code)
{
    struct cut cut;
    struct weft_comm *comm = args->comm;
    const struct limits *limit = &limits[args->kind];
    if (!limit->pieces || weft_coll_is_set(args->kind) || (args->op && !can_reduce(args)))
        return false;
    if (weft_unlikely(!comm->area) && (*code = weft_shared_make(comm)) != MPI_SUCCESS)
        return true;
    struct weft_area *area = comm->area;
    if (!area || !area->n)
        return false;
    struct call c = {.args = args, .area = area, .n = comm->size, .rank = comm->rank};
    c.label = (uint32_t)args->kind | (uint32_t)args->root << ROOT_SHIFT;
    size_t bytes = describe(&c, &cut);
    bool in_place = c.parts && (args->in_place || (c.reduces && args->in.at == args->out.at));
    bool one_copy = area->direct && bytes > limit->one_copy && !in_place;
    if (!one_copy && bytes > limit->pieces)
        return false;
    if (bytes > UINT32_MAX || c.longest > piece_of(&c) * PIECES_MAX)
        return false;
    execute(&c, one_copy);
    *code = c.error;
    return true;
}
