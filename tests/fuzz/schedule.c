// SPDX-License-Identifier: BSD-3-Clause
/*
 * The generator: see schedule.h. It plays MPI while it writes (rules.c), and adds a blocking
 * operation only where the play says that it ends.
 *
 * Invariants:
 *  - What blocks is complete in the play when it is added.
 *  - Sends to a destination that takes from any source never block.
 *  - Operations around cancels use tags that nothing else has, where no receive takes any tag.
 */
#include "generator.h"

#include <string.h>

/* ---- Objects: persistent requests */

/* Whether the rank's object may be started now. */
static bool is_free(const struct generator *g, int rank, int object)
{
    return g->s->ops[g->objects[rank][object].last].certain <= g->time;
}

/* Makes the operation the first start of a new object, if there is room for one. */
static void make_object(struct generator *g, int op)
{
    struct fuzz_op *it = &g->s->ops[op];
    int rank = it->rank;
    if (it->how != FUZZ_PERSISTENT)
        return;
    if (g->n_objects[rank] == FUZZ_OBJECTS) {
        it->how = FUZZ_NONBLOCKING;
        return;
    }
    it->object = g->n_objects[rank]++;
    g->objects[rank][it->object] = (struct object){.first = *it, .last = op};
}

static bool buffer_takes(struct generator *g, int rank, int type, int count)
{
    long need = (long)count * fuzz_type_bytes(type) + g->overhead;
    if (need > g->buffer[rank])
        return false;
    g->buffer[rank] -= need;
    return true;
}

/* A buffered operation whose message does not fit becomes another. */
static void settle_buffered(struct generator *g, int op)
{
    struct fuzz_op *it = &g->s->ops[op];
    const struct fuzz_message *m = &g->s->messages[it->sends];
    if (it->mode != FUZZ_BUFFERED || buffer_takes(g, it->rank, m->type, m->count))
        return;
    it->mode = FUZZ_STANDARD;
    if (it->how == FUZZ_BLOCKING)
        it->how = FUZZ_NONBLOCKING;
}

/* ---- Things to do */

/* A send that waits for nothing that is not there. */
static void do_send(struct generator *g, int comm, int source, int dest, int tag)
{
    static const int hows[] = {FUZZ_BLOCKING, FUZZ_NONBLOCKING, FUZZ_NONBLOCKING, FUZZ_PERSISTENT};
    struct stream *stream = gen_stream_of(g, comm, source, dest);
    bool wild = g->wild[comm][dest] != DIRECTED;
    bool awaited = !wild && gen_find_receive(g, stream, tag) >= 0;
    if (stream->n_messages == OPEN && !awaited)
        return;
    int how = hows[gen_below(g, 4)], mode = gen_below(g, FUZZ_READY);
    if (how == FUZZ_BLOCKING && !awaited)
        mode = FUZZ_BUFFERED;
    int op = gen_add_op(g, source, FUZZ_SEND, how, false);
    struct fuzz_op *it = &g->s->ops[op];
    it->comm = comm;
    it->mode = mode;
    gen_play_send(g, op, dest, tag, -1, -1);
    settle_buffered(g, op);
    make_object(g, op);
    it->forget = it->how == FUZZ_NONBLOCKING && gen_one_in(g, 10);
    g->s->closed |= it->forget;
}

static int some_receive(struct generator *g, bool there)
{
    static const int hows[] = {FUZZ_NONBLOCKING, FUZZ_NONBLOCKING, FUZZ_PERSISTENT, FUZZ_BLOCKING,
                               FUZZ_PROBE,       FUZZ_IPROBE,      FUZZ_MPROBE,     FUZZ_IMPROBE};
    return hows[gen_below(g, there ? 8 : 3)];
}

static void do_wild_receive(struct generator *g, int comm, int dest, int tag)
{
    const struct crowd *crowd = gen_crowd_of(g, comm, dest, tag);
    if (crowd->n_waiting == OPEN)
        return;
    int op = gen_add_op(g, dest, FUZZ_RECEIVE, some_receive(g, crowd->sent > crowd->posted), false);
    g->s->ops[op].comm = comm;
    gen_play_wild_receive(g, op, g->wild[comm][dest] == ANY_BOTH ? FUZZ_ANY : tag);
    make_object(g, op);
    g->s->closed = true;
}

static void do_receive(struct generator *g, int comm, int source, int dest, int tag)
{
    struct stream *stream = gen_stream_of(g, comm, source, dest);
    if (g->wild[comm][dest] != DIRECTED) {
        do_wild_receive(g, comm, dest, tag);
        return;
    }
    if (!stream->tags_only && gen_one_in(g, 3))
        tag = FUZZ_ANY;
    bool there = gen_find_message(g, stream, tag) >= 0;
    if (stream->n_receives == OPEN && !there)
        return;
    int op = gen_add_op(g, dest, FUZZ_RECEIVE, some_receive(g, there), false);
    g->s->ops[op].comm = comm;
    gen_play_receive(g, op, source, tag, -1, -1);
    make_object(g, op);
}

/* Starts a persistent request again. */
static void do_restart(struct generator *g, int rank)
{
    if (g->n_objects[rank] == 0)
        return;
    int which = gen_below(g, g->n_objects[rank]);
    struct object *object = &g->objects[rank][which];
    const struct fuzz_op *first = &object->first;
    if (!is_free(g, rank, which) || first->mode == FUZZ_READY)
        return;
    bool sends = first->kind == FUZZ_SEND, directed = first->from != FUZZ_ANY;
    const struct fuzz_message *m = sends ? &g->s->messages[first->sends] : NULL;
    struct stream *stream = sends ? gen_stream_of(g, first->comm, rank, first->peer)
                                  : gen_stream_of(g, first->comm, directed ? first->from : 0, rank);
    if (sends) {
        int place = gen_find_receive(g, stream, first->tag);
        const struct fuzz_op *taker = place < 0 ? NULL : &g->s->ops[stream->receives[place]];
        if (stream->n_messages == OPEN || (taker && taker->type != m->type) ||
            (taker && taker->room < m->count && !gen_one_in(g, 8)) ||
            (first->mode == FUZZ_BUFFERED && !buffer_takes(g, rank, m->type, m->count)))
            return;
    } else if (directed) {
        int place = gen_find_message(g, stream, first->receive_tag);
        const struct fuzz_message *it = place < 0 ? NULL : &g->s->messages[stream->messages[place]];
        if (stream->n_receives == OPEN || (it && it->type != first->type) ||
            (it && it->count > first->room && !gen_one_in(g, 8)))
            return;
    } else if (gen_crowd_of(g, first->comm, rank, first->receive_tag)->n_waiting == OPEN) {
        return;
    }
    int op = gen_add_op(g, rank, first->kind, FUZZ_PERSISTENT, false);
    g->s->ops[op].comm = first->comm;
    g->s->ops[op].mode = first->mode;
    g->s->ops[op].object = which;
    object->last = op;
    if (sends)
        gen_play_send(g, op, first->peer, first->tag, m->type, m->count);
    else if (directed)
        gen_play_receive(g, op, first->from, first->receive_tag, first->type, first->room);
    else
        gen_play_wild_receive(g, op, first->receive_tag);
}

/* Whether a message and a receive added now would find each other and nothing else. */
static bool is_clear(struct generator *g, int comm, int source, int dest, int tag)
{
    const struct stream *stream = gen_stream_of(g, comm, source, dest);
    return g->wild[comm][dest] == DIRECTED && gen_find_receive(g, stream, tag) < 0 &&
           gen_find_message(g, stream, tag) < 0 && stream->n_messages < OPEN &&
           stream->n_receives < OPEN;
}

/* A blocking send and its blocking receive, at the same time. */
static void do_pair(struct generator *g, int comm, int source, int dest, int tag)
{
    if (source == dest || !gen_may_send(g, comm, source, dest) ||
        !is_clear(g, comm, source, dest, tag))
        return;
    int send = gen_add_op(g, source, FUZZ_SEND, FUZZ_BLOCKING, false);
    g->s->ops[send].comm = comm;
    g->s->ops[send].mode = gen_below(g, 2);
    gen_play_send(g, send, dest, tag, -1, -1);
    int receive = gen_add_op(g, dest, FUZZ_RECEIVE,
                             gen_one_in(g, 2) ? FUZZ_BLOCKING : FUZZ_PROBE + gen_below(g, 4), true);
    g->s->ops[receive].comm = comm;
    gen_play_receive(g, receive, source, tag, -1, -1);
}

/* Send-receives around a ring of some ranks, at the same time. */
static void do_ring(struct generator *g, int comm, int tag)
{
    int ring[FUZZ_RANKS], n = g->s->ranks, most = 1 + gen_below(g, n);
    for (int i = 0; i < n; i++) {
        int j = gen_below(g, i + 1);
        ring[i] = ring[j];
        ring[j] = i;
    }
    n = comm == FUZZ_SELF ? 1 : most;
    for (int i = 0; i < n; i++)
        if (!is_clear(g, comm, ring[i], ring[(i + 1) % n], tag) ||
            !gen_may_send(g, comm, ring[i], ring[(i + 1) % n]))
            return;
    int type = gen_below(g, FUZZ_TYPES), about = gen_some_bytes(g, 1 << 30) / fuzz_type_bytes(type);
    for (int i = 0; i < n; i++) {
        int how = (int[]){FUZZ_BLOCKING, FUZZ_NONBLOCKING, FUZZ_REPLACE,
                          FUZZ_NONBLOCKING_REPLACE}[gen_below(g, 4)];
        int op = gen_add_op(g, ring[i], FUZZ_BOTH, how, i > 0);
        int count = gen_one_in(g, 4) ? gen_below(g, about + 1) : about;
        bool replace = how == FUZZ_REPLACE || how == FUZZ_NONBLOCKING_REPLACE;
        g->s->ops[op].comm = comm;
        gen_play_send(g, op, ring[(i + 1) % n], tag, type, count);
        /* What comes may come with any tag, if nothing else can be meant. */
        int source = ring[(i + n - 1) % n];
        struct stream *from = gen_stream_of(g, comm, source, ring[i]);
        bool any = !from->tags_only && from->n_messages == (i > 0 || n == 1) && gen_one_in(g, 3);
        gen_play_receive(g, op, source, any ? FUZZ_ANY : tag, type,
                         replace ? count : gen_room_for_count(g, about));
    }
}

/* MPI_Isendrecv to one rank and from another, that nobody waits for. */
static void do_both(struct generator *g, int comm, int rank, int to, int from, int tag)
{
    struct stream *out = gen_stream_of(g, comm, rank, to), *in = gen_stream_of(g, comm, from, rank);
    if (g->wild[comm][rank] != DIRECTED || out->n_messages == OPEN || in->n_receives == OPEN ||
        !gen_may_send(g, comm, rank, to) || !gen_may_send(g, comm, from, rank))
        return;
    int op = gen_add_op(g, rank, FUZZ_BOTH, FUZZ_NONBLOCKING, false);
    g->s->ops[op].comm = comm;
    g->parts[op]++; /* so that it is not certain between its two parts */
    gen_play_receive(g, op, from, gen_some_tag(g), -1, -1);
    gen_play_send(g, op, to, tag, -1, -1);
    gen_matched(g, op);
}

/* A ready send to a receive that waits: its rank tells that it does, unless it is the sender. */
static void do_ready(struct generator *g, int comm, int source, int dest)
{
    struct stream *stream = gen_stream_of(g, comm, source, dest);
    const struct stream *back = gen_stream_of(g, comm, dest, source);
    if (g->wild[comm][dest] != DIRECTED || stream->n_receives == 0)
        return;
    if (source != dest) {
        if (g->wild[comm][source] == ANY_BOTH || !back->tags_only || back->n_messages == OPEN ||
            g->wild[comm][source] == ANY_SOURCE || !gen_may_send(g, comm, dest, source))
            return;
        int tag = gen_unique_tag(g),
            token = gen_add_op(g, dest, FUZZ_SEND, FUZZ_NONBLOCKING, false);
        g->s->ops[token].comm = comm;
        gen_play_send(g, token, source, tag, FUZZ_PLAIN, gen_below(g, 100));
        int heard = gen_add_op(g, source, FUZZ_RECEIVE, FUZZ_BLOCKING, false);
        g->s->ops[heard].comm = comm;
        gen_play_receive(g, heard, dest, tag, FUZZ_PLAIN, 100);
    }
    int tag = g->s->ops[stream->receives[0]].receive_tag;
    int op = gen_add_op(g, source, FUZZ_SEND,
                        (int[]){FUZZ_BLOCKING, FUZZ_NONBLOCKING, FUZZ_PERSISTENT}[gen_below(g, 3)],
                        false);
    g->s->ops[op].comm = comm;
    g->s->ops[op].mode = FUZZ_READY;
    gen_play_send(g, op, dest, tag == FUZZ_ANY ? gen_some_tag(g) : tag, -1, -1);
    make_object(g, op);
}

/* ---- Cancelling */

/* A message outside of the play, with a tag of its own. type < 0: any. */
static int lone_message(struct generator *g, int op, int dest, int tag, int type)
{
    if (type < 0)
        type = gen_one_in(g, 2) ? FUZZ_PLAIN : gen_below(g, FUZZ_TYPES);
    int index =
        gen_add_message(g, op, dest, tag, type, gen_some_bytes(g, 100000) / fuzz_type_bytes(type));
    settle_buffered(g, op);
    return index;
}

static void do_cancel_nothing(struct generator *g, int comm, int source, int dest)
{
    int op = gen_add_op(g, dest, FUZZ_CANCEL_NOTHING,
                        gen_below(g, 2) ? FUZZ_NONBLOCKING : FUZZ_PERSISTENT, false);
    g->s->ops[op].comm = comm;
    g->s->ops[op].from = gen_one_in(g, 3) ? FUZZ_ANY : source;
    g->s->ops[op].receive_tag = gen_unique_tag(g);
    g->s->ops[op].type = FUZZ_PLAIN;
    g->s->ops[op].room = gen_some_bytes(g, 100000);
}

static void do_cancel_receive(struct generator *g, int comm, int source, int dest)
{
    int tag = gen_unique_tag(g), send = gen_add_op(g, source, FUZZ_SEND, FUZZ_NONBLOCKING, false);
    g->s->ops[send].comm = comm;
    g->s->ops[send].mode = gen_below(g, FUZZ_READY);
    int message = lone_message(g, send, dest, tag, -1);
    int op = gen_add_op(g, dest, FUZZ_CANCEL_RECEIVE,
                        gen_below(g, 2) ? FUZZ_NONBLOCKING : FUZZ_PERSISTENT, false);
    struct fuzz_op *it = &g->s->ops[op];
    const struct fuzz_message *m = &g->s->messages[message];
    it->comm = comm;
    it->from = gen_one_in(g, 3) ? FUZZ_ANY : source;
    it->receive_tag = tag;
    it->receives = message;
    it->type = m->type;
    it->room = m->count + gen_below(g, 20);
    g->s->messages[message].taken = op;
    g->s->ops[send].certain = it->time;
}

static void do_cancel_send(struct generator *g, int comm, int source, int dest)
{
    int tag = gen_unique_tag(g), posted = FUZZ_ANY, n = 1 + gen_below(g, FUZZ_BATCH), room = 0;
    if (gen_one_in(g, 2))
        posted = gen_add_op(g, dest, FUZZ_POST_DOUBTFUL, FUZZ_NONBLOCKING, false);
    int send = gen_add_op(g, source, FUZZ_CANCEL_SEND,
                          gen_below(g, 2) ? FUZZ_NONBLOCKING : FUZZ_PERSISTENT, false);
    g->s->ops[send].comm = comm;
    g->s->ops[send].mode = gen_below(g, FUZZ_READY);
    int first = lone_message(g, send, dest, tag, -1), type = g->s->messages[first].type;
    while (g->s->n_messages < first + n)
        lone_message(g, send, dest, tag, type);
    int op = gen_add_op(g, dest, FUZZ_HEAR_OUTCOME, FUZZ_BLOCKING, false);
    for (int m = first; m < first + n; m++) {
        g->s->messages[m].taken = op;
        room = g->s->messages[m].count > room ? g->s->messages[m].count : room;
    }
    for (int i = 0; i < 2; i++) {
        if (i == 1 && posted == FUZZ_ANY)
            break;
        struct fuzz_op *it = &g->s->ops[i ? posted : op];
        it->comm = comm;
        it->from = source;
        it->receive_tag = tag;
        it->receives = first;
        it->batch = n;
        it->type = type;
        it->room = room + 3;
        it->object = posted; /* of FUZZ_HEAR_OUTCOME: where the receives were posted, if at all */
    }
    g->s->ops[send].sends = first;
    g->s->ops[send].batch = n;
    g->s->ops[send].certain = g->s->ops[op].time;
}

static void do_cancel(struct generator *g, int comm, int source, int dest)
{
    if (g->wild[comm][dest] == ANY_BOTH || !gen_stream_of(g, comm, source, dest)->tags_only)
        return;
    g->s->closed = true;
    switch (gen_below(g, 3)) {
    case 0:
        do_cancel_nothing(g, comm, source, dest);
        break;
    case 1:
        do_cancel_receive(g, comm, source, dest);
        break;
    default:
        do_cancel_send(g, comm, source, dest);
    }
}

/* ---- The whole */

static void do_something(struct generator *g)
{
    int comm = gen_one_in(g, 8) ? FUZZ_SELF : gen_below(g, g->s->comms);
    int dest = gen_below(g, g->s->ranks), source = gen_some_source(g, comm, dest);
    int tag = gen_some_tag(g), what = gen_below(g, 100);
    if (what < 28)
        do_send(g, comm, source, dest, tag);
    else if (what < 56)
        do_receive(g, comm, source, dest, tag);
    else if (what < 66)
        do_restart(g, source);
    else if (what < 72)
        do_pair(g, comm, source, dest, tag);
    else if (what < 78)
        do_ring(g, comm, tag);
    else if (what < 84)
        do_both(g, comm, source, dest, gen_some_source(g, comm, source), tag);
    else if (what < 90)
        do_ready(g, comm, source, dest);
    else if (what < 97)
        do_cancel(g, comm, source, dest);
    else
        gen_add_op(g, source, FUZZ_NOWHERE, FUZZ_BLOCKING, false);
}

/* Gives what waits between a source and a destination one counterpart. Returns whether any waits.
 */
static bool complete_stream(struct generator *g, int comm, int source, int dest)
{
    struct stream *stream = gen_stream_of(g, comm, source, dest);
    if (stream->n_receives > 0) {
        int tag = g->s->ops[stream->receives[gen_below(g, stream->n_receives)]].receive_tag;
        do_send(g, comm, source, dest, tag == FUZZ_ANY ? gen_some_tag(g) : tag);
    } else if (stream->n_messages > 0) {
        do_receive(g, comm, source, dest,
                   g->s->messages[stream->messages[gen_below(g, stream->n_messages)]].tag);
    }
    return stream->n_receives > 0 || stream->n_messages > 0;
}

static bool complete_wild(struct generator *g, int comm, int dest)
{
    bool waits = false;
    for (int t = 0; t < TAGS; t++) {
        const struct crowd *crowd = &g->crowds[comm][dest][t];
        int tag = g->wild[comm][dest] == ANY_BOTH ? gen_some_tag(g) : gen_tag_of(g, t);
        if (crowd->sent > crowd->posted)
            do_wild_receive(g, comm, dest, tag);
        else if (crowd->sent < crowd->posted)
            do_send(g, comm, gen_some_source(g, comm, dest), dest, tag);
        waits |= crowd->sent != crowd->posted;
    }
    return waits;
}

/* Everything gets its counterpart, here and there in turns. */
static void complete_all(struct generator *g)
{
    bool waits = true;
    while (waits) {
        waits = false;
        for (int comm = 0; comm < g->s->comms; comm++) {
            for (int dest = 0; dest < g->s->ranks; dest++) {
                if (g->wild[comm][dest] != DIRECTED)
                    waits |= complete_wild(g, comm, dest);
                else
                    for (int source = 0; source < g->s->ranks; source++)
                        waits |= complete_stream(g, comm, source, dest);
            }
        }
    }
}

/* How destinations receive in this schedule: mostly by name. */
static void choose_rules(struct generator *g)
{
    int wildness = gen_below(g, 3);
    for (int comm = 0; comm < g->s->comms; comm++) {
        for (int dest = 0; dest < g->s->ranks; dest++) {
            if (gen_below(g, 4) < wildness)
                g->wild[comm][dest] = gen_one_in(g, 2) ? ANY_SOURCE : ANY_BOTH;
            g->sole[comm][dest] = FUZZ_ANY;
            if (g->wild[comm][dest] == DIRECTED && gen_one_in(g, 3))
                g->sole[comm][dest] = gen_some_source(g, comm, dest);
            for (int source = 0; source < g->s->ranks; source++)
                gen_stream_of(g, comm, source, dest)->tags_only = gen_one_in(g, 2);
        }
    }
}

void fuzz_generate(struct fuzz_schedule *s, uint64_t seed, int size, long buffer, long overhead)
{
    static _Thread_local struct generator g;
    memset(&g, 0, sizeof g);
    g.s = s;
    g.random = seed;
    g.overhead = overhead;
    for (int r = 0; r < s->ranks; r++)
        g.buffer[r] = buffer;
    s->n_ops = s->n_messages = 0;
    s->closed = false;
    choose_rules(&g);
    size = size < FUZZ_OPS / 4 ? size : FUZZ_OPS / 4;
    while (s->n_ops < size)
        do_something(&g);
    complete_all(&g);
}
