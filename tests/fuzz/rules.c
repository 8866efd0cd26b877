// SPDX-License-Identifier: BSD-3-Clause
/*
 * The play: MPI's rules of matching, as far as the generator needs them (generator.h). For each
 * pair of ranks and each communicator it keeps the messages without a receive and the receives
 * without a message, and matches them in order.
 *
 * Invariants:
 *  - Messages and receives that wait for each other's kind do not fit each other.
 *  - Sends to a destination that takes from any source are certain only at the end: ranks that run
 *    ahead may take their turn.
 */
#include "generator.h"

#include <assert.h>
#include <string.h>

uint64_t fuzz_next(uint64_t *state)
{
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

int fuzz_below(uint64_t *state, int below)
{
    return (int)(fuzz_next(state) % (uint64_t)below);
}

int gen_below(struct generator *g, int n)
{
    return fuzz_below(&g->random, n);
}

bool gen_one_in(struct generator *g, int n)
{
    return gen_below(g, n) == 0;
}

bool gen_may_send(const struct generator *g, int comm, int source, int dest)
{
    if ((comm == FUZZ_SELF && source != dest) || (comm == FUZZ_INTER && (source - dest) % 2 == 0))
        return false;
    return g->sole[comm][dest] == FUZZ_ANY || g->sole[comm][dest] == source;
}

/* A rank that may send to dest. */
int gen_some_source(struct generator *g, int comm, int dest)
{
    int source = g->sole[comm][dest];
    while (source == FUZZ_ANY || !gen_may_send(g, comm, source, dest))
        source = gen_below(g, g->s->ranks);
    return source;
}

/* ---- Sizes and tags */

int gen_some_bytes(struct generator *g, int most)
{
    static const int edges[] = {8,   16,   40,   48,   64,    128,   192,  256,
                                512, 1024, 4096, 8192, 16384, 16448, 65536};
    int bytes;
    if (gen_one_in(g, 300))
        bytes = 1500000 + gen_below(g, 1000000);
    else if (gen_one_in(g, 60))
        bytes = 100000 + gen_below(g, 300000);
    else if (gen_one_in(g, 3))
        bytes = gen_below(g, 200);
    else if (gen_one_in(g, 3))
        bytes = gen_below(g, 20000);
    else
        bytes = edges[gen_below(g, (int)(sizeof edges / sizeof edges[0]))] + gen_below(g, 3) - 1;
    if (gen_one_in(g, 12))
        bytes = 0;
    return bytes > most ? gen_below(g, most + 1) : bytes;
}

int gen_tag_of(const struct generator *g, int index)
{
    const int tags[TAGS] = {0, 1, 77, g->s->tag_ub - 1, g->s->tag_ub};
    return tags[index];
}

int gen_some_tag(struct generator *g)
{
    return gen_tag_of(g, gen_below(g, gen_one_in(g, 2) ? 2 : TAGS));
}

int gen_unique_tag(struct generator *g)
{
    g->unique += 2; /* the next one too is its user's */
    return UNIQUE + g->unique;
}

/* Elements for a message that goes to a receive of so much room: rarely too many. */
static int count_for_room(struct generator *g, int room)
{
    if (gen_one_in(g, 16))
        return room + 1 + gen_below(g, room + 20);
    return gen_one_in(g, 2) ? room : gen_below(g, room + 1);
}

int gen_room_for_count(struct generator *g, int count)
{
    if (count > 0 && gen_one_in(g, 16))
        return gen_one_in(g, 3) ? 0 : gen_below(g, count);
    return gen_one_in(g, 2) ? count : count + gen_below(g, count + 30);
}

/* ---- The play */

struct stream *gen_stream_of(struct generator *g, int comm, int source, int dest)
{
    return &g->streams[comm][source][dest];
}

struct crowd *gen_crowd_of(struct generator *g, int comm, int dest, int tag)
{
    int index = 0;
    if (g->wild[comm][dest] == ANY_SOURCE)
        while (gen_tag_of(g, index) != tag)
            index++;
    return &g->crowds[comm][dest][index];
}

/* The place of the receive that a message with this tag goes to, or -1. */
int gen_find_receive(const struct generator *g, const struct stream *stream, int tag)
{
    for (int i = 0; i < stream->n_receives; i++) {
        int wanted = g->s->ops[stream->receives[i]].receive_tag;
        if (wanted == FUZZ_ANY || wanted == tag)
            return i;
    }
    return -1;
}

int gen_find_message(const struct generator *g, const struct stream *stream, int tag)
{
    for (int i = 0; i < stream->n_messages; i++)
        if (tag == FUZZ_ANY || g->s->messages[stream->messages[i]].tag == tag)
            return i;
    return -1;
}

static int take_out(int *list, int *n, int place)
{
    int index = list[place];
    memmove(list + place, list + place + 1, (size_t)(--*n - place) * sizeof *list);
    return index;
}

/* One part of an operation has its counterpart. */
void gen_matched(struct generator *g, int op)
{
    if (--g->parts[op] == 0)
        g->s->ops[op].certain = g->time;
}

int gen_add_op(struct generator *g, int rank, int kind, int how, bool same_time)
{
    assert(g->s->n_ops < FUZZ_OPS);
    int index = g->s->n_ops++;
    if (!same_time)
        g->time++;
    g->parts[index] = 0;
    g->s->ops[index] = (struct fuzz_op){.time = g->time,
                                        .rank = rank,
                                        .kind = kind,
                                        .how = how,
                                        .peer = FUZZ_ANY,
                                        .from = FUZZ_ANY,
                                        .receive_tag = FUZZ_ANY,
                                        .sends = FUZZ_ANY,
                                        .receives = FUZZ_ANY,
                                        .object = FUZZ_ANY,
                                        .certain = FUZZ_NEVER};
    return index;
}

/* The message of an operation, not yet in the play. count < 0: what fits its receive, or anything.
 */
int gen_add_message(struct generator *g, int op, int dest, int tag, int type, int count)
{
    struct fuzz_op *it = &g->s->ops[op];
    int index = g->s->n_messages++;
    it->peer = dest;
    it->tag = tag;
    it->sends = index;
    g->s->messages[index] = (struct fuzz_message){.comm = it->comm,
                                                  .source = it->rank,
                                                  .dest = dest,
                                                  .tag = tag,
                                                  .type = type,
                                                  .count = count,
                                                  .sent = op,
                                                  .taken = FUZZ_ANY};
    return index;
}

static void send_to_wild(struct generator *g, struct fuzz_message *m)
{
    struct crowd *crowd = gen_crowd_of(g, m->comm, m->dest, m->tag);
    m->type = FUZZ_PLAIN;
    if (m->count < 0 || m->count > WILD_ROOM)
        m->count = gen_some_bytes(g, WILD_ROOM);
    crowd->sent++;
    if (crowd->n_waiting > 0)
        g->s->ops[take_out(crowd->waiting, &crowd->n_waiting, 0)].certain = g->time;
}

/* Puts an operation's send into the play. type < 0: choose type and count. */
void gen_play_send(struct generator *g, int op, int dest, int tag, int type, int count)
{
    struct fuzz_op *it = &g->s->ops[op];
    struct stream *stream = gen_stream_of(g, it->comm, it->rank, dest);
    int index = gen_add_message(g, op, dest, tag, type, count);
    struct fuzz_message *m = &g->s->messages[index];
    g->parts[op]++;
    if (g->wild[it->comm][dest] != DIRECTED) {
        send_to_wild(g, m);
        return;
    }
    int place = gen_find_receive(g, stream, tag);
    if (place < 0) {
        if (type < 0) {
            m->type = gen_one_in(g, 2) ? FUZZ_PLAIN : gen_below(g, FUZZ_TYPES);
            m->count = gen_some_bytes(g, 1 << 30) / fuzz_type_bytes(m->type);
        }
        stream->messages[stream->n_messages++] = index;
        return;
    }
    int receive = take_out(stream->receives, &stream->n_receives, place);
    struct fuzz_op *taker = &g->s->ops[receive];
    if (type < 0) {
        m->type = taker->type;
        m->count = count_for_room(g, taker->room);
    }
    m->taken = receive;
    taker->receives = index;
    gen_matched(g, receive);
    gen_matched(g, op);
}

/* Puts an operation's receive into the play. type < 0: choose type and room. */
void gen_play_receive(struct generator *g, int op, int source, int tag, int type, int room)
{
    struct fuzz_op *it = &g->s->ops[op];
    struct stream *stream = gen_stream_of(g, it->comm, source, it->rank);
    it->from = source;
    it->any_source = g->sole[it->comm][it->rank] == source && gen_one_in(g, 2);
    if (it->any_source && it->comm != FUZZ_SELF)
        g->s->closed = true; /* in the next schedule others may send */
    it->receive_tag = tag;
    it->type = type;
    it->room = room;
    g->parts[op]++;
    int place = gen_find_message(g, stream, tag);
    if (place < 0) {
        if (type < 0) {
            it->type = gen_one_in(g, 2) ? FUZZ_PLAIN : gen_below(g, FUZZ_TYPES);
            it->room = gen_some_bytes(g, 1 << 30) / fuzz_type_bytes(it->type);
        }
        stream->receives[stream->n_receives++] = op;
        return;
    }
    int index = take_out(stream->messages, &stream->n_messages, place);
    struct fuzz_message *m = &g->s->messages[index];
    if (type < 0) {
        it->type = m->type;
        it->room = gen_room_for_count(g, m->count);
    }
    m->taken = op;
    it->receives = index;
    gen_matched(g, op);
    gen_matched(g, m->sent);
}

void gen_play_wild_receive(struct generator *g, int op, int tag)
{
    struct fuzz_op *it = &g->s->ops[op];
    struct crowd *crowd = gen_crowd_of(g, it->comm, it->rank, tag);
    it->from = FUZZ_ANY;
    it->receive_tag = tag;
    it->type = FUZZ_PLAIN;
    it->room = WILD_ROOM;
    if (crowd->posted++ < crowd->sent)
        it->certain = g->time;
    else
        crowd->waiting[crowd->n_waiting++] = op;
}
