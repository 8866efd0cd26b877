// SPDX-License-Identifier: BSD-3-Clause
/*
 * The generator: see schedule.h. It plays MPI while it writes: for each pair of ranks and each
 * communicator it keeps the messages without a receive and the receives without a message, matches
 * them by the rules of order, and adds a blocking operation only where the play says that it ends.
 *
 * Invariants:
 *  - What blocks is complete in the play when it is added. So all that waits in the play is
 *    nonblocking, and `certain` of it is the time at which its counterpart was added.
 *  - Sends to a destination that takes from any source never block and are certain only at the end:
 *    ranks that run ahead may take their turn.
 *  - Operations around cancels use tags that nothing else has, where no receive takes any tag.
 */
#include "schedule.h"

#include <assert.h>
#include <string.h>

enum { OPEN = 40, TAGS = 5, UNIQUE = 1000, WILD_ROOM = 70000 };
enum { DIRECTED, ANY_SOURCE, ANY_BOTH }; /* what a destination's receives are */

struct stream {
    int messages[OPEN], receives[OPEN]; /* those that wait, oldest first: indices */
    int n_messages, n_receives;
    bool tags_only; /* no receive takes any tag */
};

/* Where a destination takes from any source: who waits is counted, not known. */
struct class
{
    int sent, posted, waiting[OPEN], n_waiting; /* receives that are not certain yet */
};

struct object {
    struct fuzz_op first; /* what all its starts have in common */
    int last;             /* its latest operation */
};

struct generator {
    struct fuzz_schedule *s;
    uint64_t random;
    int time, unique;
    long buffer[FUZZ_RANKS], overhead;
    int wild[FUZZ_COMMS][FUZZ_RANKS];
    int sole[FUZZ_COMMS][FUZZ_RANKS]; /* the only source that sends to a destination, or FUZZ_ANY */
    struct stream streams[FUZZ_COMMS][FUZZ_RANKS][FUZZ_RANKS]; /* [comm][source][dest] */
    struct class classes[FUZZ_COMMS][FUZZ_RANKS][TAGS];
    struct object objects[FUZZ_RANKS][FUZZ_OBJECTS];
    int n_objects[FUZZ_RANKS];
    int parts[FUZZ_OPS]; /* of an operation: what is not matched yet */
};

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

static int below(struct generator *g, int n)
{
    return fuzz_below(&g->random, n);
}

static bool one_in(struct generator *g, int n)
{
    return below(g, n) == 0;
}

static bool may_send(const struct generator *g, int comm, int source, int dest)
{
    if ((comm == FUZZ_SELF && source != dest) || (comm == FUZZ_INTER && (source - dest) % 2 == 0))
        return false;
    return g->sole[comm][dest] == FUZZ_ANY || g->sole[comm][dest] == source;
}

/* A rank that may send to dest. */
static int some_source(struct generator *g, int comm, int dest)
{
    int source = g->sole[comm][dest];
    while (source == FUZZ_ANY || !may_send(g, comm, source, dest))
        source = below(g, g->s->ranks);
    return source;
}

/* ---- Sizes and tags */

static int some_bytes(struct generator *g, int most)
{
    static const int edges[] = {8,   16,   40,   48,   64,    128,   192,  256,
                                512, 1024, 4096, 8192, 16384, 16448, 65536};
    int bytes;
    if (one_in(g, 300))
        bytes = 1500000 + below(g, 1000000);
    else if (one_in(g, 60))
        bytes = 100000 + below(g, 300000);
    else if (one_in(g, 3))
        bytes = below(g, 200);
    else if (one_in(g, 3))
        bytes = below(g, 20000);
    else
        bytes = edges[below(g, (int)(sizeof edges / sizeof edges[0]))] + below(g, 3) - 1;
    if (one_in(g, 12))
        bytes = 0;
    return bytes > most ? below(g, most + 1) : bytes;
}

static int tag_of(const struct generator *g, int index)
{
    const int tags[TAGS] = {0, 1, 77, g->s->tag_ub - 1, g->s->tag_ub};
    return tags[index];
}

static int some_tag(struct generator *g)
{
    return tag_of(g, below(g, one_in(g, 2) ? 2 : TAGS));
}

static int unique_tag(struct generator *g)
{
    g->unique += 2; /* the next one too is its user's */
    return UNIQUE + g->unique;
}

/* Elements for a message that goes to a receive of so much room: rarely too many. */
static int count_for_room(struct generator *g, int room)
{
    if (one_in(g, 16))
        return room + 1 + below(g, room + 20);
    return one_in(g, 2) ? room : below(g, room + 1);
}

static int room_for_count(struct generator *g, int count)
{
    if (count > 0 && one_in(g, 16))
        return one_in(g, 3) ? 0 : below(g, count);
    return one_in(g, 2) ? count : count + below(g, count + 30);
}

/* ---- The play */

static struct stream *stream_of(struct generator *g, int comm, int source, int dest)
{
    return &g->streams[comm][source][dest];
}

static struct class *class_of(struct generator *g, int comm, int dest, int tag)
{
    int index = 0;
    if (g->wild[comm][dest] == ANY_SOURCE)
        while (tag_of(g, index) != tag)
            index++;
    return &g->classes[comm][dest][index];
}

/* The place of the receive that a message with this tag goes to, or -1. */
static int find_receive(const struct generator *g, const struct stream *stream, int tag)
{
    for (int i = 0; i < stream->n_receives; i++) {
        int wanted = g->s->ops[stream->receives[i]].receive_tag;
        if (wanted == FUZZ_ANY || wanted == tag)
            return i;
    }
    return -1;
}

static int find_message(const struct generator *g, const struct stream *stream, int tag)
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
static void matched(struct generator *g, int op)
{
    if (--g->parts[op] == 0)
        g->s->ops[op].certain = g->time;
}

static int add_op(struct generator *g, int rank, int kind, int how, bool same_time)
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

/* The message of an operation, not yet in the play. count < 0: what fits its receive, or anything. */
static int add_message(struct generator *g, int op, int dest, int tag, int type, int count)
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
    struct class *class = class_of(g, m->comm, m->dest, m->tag);
    m->type = FUZZ_PLAIN;
    if (m->count < 0 || m->count > WILD_ROOM)
        m->count = some_bytes(g, WILD_ROOM);
    class->sent++;
    if (class->n_waiting > 0)
        g->s->ops[take_out(class->waiting, &class->n_waiting, 0)].certain = g->time;
}

/* Puts an operation's send into the play. type < 0: choose type and count. */
static void play_send(struct generator *g, int op, int dest, int tag, int type, int count)
{
    struct fuzz_op *it = &g->s->ops[op];
    struct stream *stream = stream_of(g, it->comm, it->rank, dest);
    int index = add_message(g, op, dest, tag, type, count);
    struct fuzz_message *m = &g->s->messages[index];
    g->parts[op]++;
    if (g->wild[it->comm][dest] != DIRECTED) {
        send_to_wild(g, m);
        return;
    }
    int place = find_receive(g, stream, tag);
    if (place < 0) {
        if (type < 0) {
            m->type = one_in(g, 2) ? FUZZ_PLAIN : below(g, FUZZ_TYPES);
            m->count = some_bytes(g, 1 << 30) / fuzz_type_bytes(m->type);
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
    matched(g, receive);
    matched(g, op);
}

/* Puts an operation's receive into the play. type < 0: choose type and room. */
static void play_receive(struct generator *g, int op, int source, int tag, int type, int room)
{
    struct fuzz_op *it = &g->s->ops[op];
    struct stream *stream = stream_of(g, it->comm, source, it->rank);
    it->from = source;
    it->any_source = g->sole[it->comm][it->rank] == source && one_in(g, 2);
    it->receive_tag = tag;
    it->type = type;
    it->room = room;
    g->parts[op]++;
    int place = find_message(g, stream, tag);
    if (place < 0) {
        if (type < 0) {
            it->type = one_in(g, 2) ? FUZZ_PLAIN : below(g, FUZZ_TYPES);
            it->room = some_bytes(g, 1 << 30) / fuzz_type_bytes(it->type);
        }
        stream->receives[stream->n_receives++] = op;
        return;
    }
    int index = take_out(stream->messages, &stream->n_messages, place);
    struct fuzz_message *m = &g->s->messages[index];
    if (type < 0) {
        it->type = m->type;
        it->room = room_for_count(g, m->count);
    }
    m->taken = op;
    it->receives = index;
    matched(g, op);
    matched(g, m->sent);
}

static void play_wild_receive(struct generator *g, int op, int tag)
{
    struct fuzz_op *it = &g->s->ops[op];
    struct class *class = class_of(g, it->comm, it->rank, tag);
    it->from = FUZZ_ANY;
    it->receive_tag = tag;
    it->type = FUZZ_PLAIN;
    it->room = WILD_ROOM;
    if (class->posted++ < class->sent)
        it->certain = g->time;
    else
        class->waiting[class->n_waiting++] = op;
}

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
    struct stream *stream = stream_of(g, comm, source, dest);
    bool wild = g->wild[comm][dest] != DIRECTED;
    bool awaited = !wild && find_receive(g, stream, tag) >= 0;
    if (stream->n_messages == OPEN && !awaited)
        return;
    int how = hows[below(g, 4)], mode = below(g, FUZZ_READY);
    if (how == FUZZ_BLOCKING && !awaited)
        mode = FUZZ_BUFFERED;
    int op = add_op(g, source, FUZZ_SEND, how, false);
    struct fuzz_op *it = &g->s->ops[op];
    it->comm = comm;
    it->mode = mode;
    play_send(g, op, dest, tag, -1, -1);
    settle_buffered(g, op);
    make_object(g, op);
    it->forget = it->how == FUZZ_NONBLOCKING && one_in(g, 10);
    g->s->closed |= it->forget;
}

static int some_receive(struct generator *g, bool there)
{
    static const int hows[] = {FUZZ_NONBLOCKING, FUZZ_NONBLOCKING, FUZZ_PERSISTENT, FUZZ_BLOCKING,
                               FUZZ_PROBE,       FUZZ_IPROBE,      FUZZ_MPROBE,     FUZZ_IMPROBE};
    return hows[below(g, there ? 8 : 3)];
}

static void do_wild_receive(struct generator *g, int comm, int dest, int tag)
{
    const struct class *class = class_of(g, comm, dest, tag);
    if (class->n_waiting == OPEN)
        return;
    int op = add_op(g, dest, FUZZ_RECEIVE, some_receive(g, class->sent > class->posted), false);
    g->s->ops[op].comm = comm;
    play_wild_receive(g, op, g->wild[comm][dest] == ANY_BOTH ? FUZZ_ANY : tag);
    make_object(g, op);
    g->s->closed = true;
}

static void do_receive(struct generator *g, int comm, int source, int dest, int tag)
{
    struct stream *stream = stream_of(g, comm, source, dest);
    if (g->wild[comm][dest] != DIRECTED) {
        do_wild_receive(g, comm, dest, tag);
        return;
    }
    if (!stream->tags_only && one_in(g, 3))
        tag = FUZZ_ANY;
    bool there = find_message(g, stream, tag) >= 0;
    if (stream->n_receives == OPEN && !there)
        return;
    int op = add_op(g, dest, FUZZ_RECEIVE, some_receive(g, there), false);
    g->s->ops[op].comm = comm;
    play_receive(g, op, source, tag, -1, -1);
    make_object(g, op);
}

/* Starts a persistent request again. */
static void do_restart(struct generator *g, int rank)
{
    if (g->n_objects[rank] == 0)
        return;
    int which = below(g, g->n_objects[rank]);
    struct object *object = &g->objects[rank][which];
    const struct fuzz_op *first = &object->first;
    if (!is_free(g, rank, which) || first->mode == FUZZ_READY)
        return;
    bool sends = first->kind == FUZZ_SEND, directed = first->from != FUZZ_ANY;
    const struct fuzz_message *m = sends ? &g->s->messages[first->sends] : NULL;
    struct stream *stream = sends ? stream_of(g, first->comm, rank, first->peer)
                                  : stream_of(g, first->comm, directed ? first->from : 0, rank);
    if (sends) {
        int place = find_receive(g, stream, first->tag);
        const struct fuzz_op *taker = place < 0 ? NULL : &g->s->ops[stream->receives[place]];
        if (stream->n_messages == OPEN || (taker && taker->type != m->type) ||
            (taker && taker->room < m->count && !one_in(g, 8)) ||
            (first->mode == FUZZ_BUFFERED && !buffer_takes(g, rank, m->type, m->count)))
            return;
    } else if (directed) {
        int place = find_message(g, stream, first->receive_tag);
        const struct fuzz_message *it = place < 0 ? NULL : &g->s->messages[stream->messages[place]];
        if (stream->n_receives == OPEN || (it && it->type != first->type) ||
            (it && it->count > first->room && !one_in(g, 8)))
            return;
    } else if (class_of(g, first->comm, rank, first->receive_tag)->n_waiting == OPEN) {
        return;
    }
    int op = add_op(g, rank, first->kind, FUZZ_PERSISTENT, false);
    g->s->ops[op].comm = first->comm;
    g->s->ops[op].mode = first->mode;
    g->s->ops[op].object = which;
    object->last = op;
    if (sends)
        play_send(g, op, first->peer, first->tag, m->type, m->count);
    else if (directed)
        play_receive(g, op, first->from, first->receive_tag, first->type, first->room);
    else
        play_wild_receive(g, op, first->receive_tag);
}

/* Whether a message and a receive added now would find each other and nothing else. */
static bool is_clear(struct generator *g, int comm, int source, int dest, int tag)
{
    const struct stream *stream = stream_of(g, comm, source, dest);
    return g->wild[comm][dest] == DIRECTED && find_receive(g, stream, tag) < 0 &&
           find_message(g, stream, tag) < 0 && stream->n_messages < OPEN &&
           stream->n_receives < OPEN;
}

/* A blocking send and its blocking receive, at the same time. */
static void do_pair(struct generator *g, int comm, int source, int dest, int tag)
{
    if (source == dest || !may_send(g, comm, source, dest) || !is_clear(g, comm, source, dest, tag))
        return;
    int send = add_op(g, source, FUZZ_SEND, FUZZ_BLOCKING, false);
    g->s->ops[send].comm = comm;
    g->s->ops[send].mode = below(g, 2);
    play_send(g, send, dest, tag, -1, -1);
    int receive = add_op(g, dest, FUZZ_RECEIVE,
                         one_in(g, 2) ? FUZZ_BLOCKING : FUZZ_PROBE + below(g, 4), true);
    g->s->ops[receive].comm = comm;
    play_receive(g, receive, source, tag, -1, -1);
}

/* Send-receives around a ring of some ranks, at the same time. */
static void do_ring(struct generator *g, int comm, int tag)
{
    int ring[FUZZ_RANKS], n = g->s->ranks, most = 1 + below(g, n);
    for (int i = 0; i < n; i++) {
        int j = below(g, i + 1);
        ring[i] = ring[j];
        ring[j] = i;
    }
    n = comm == FUZZ_SELF ? 1 : most;
    for (int i = 0; i < n; i++)
        if (!is_clear(g, comm, ring[i], ring[(i + 1) % n], tag) ||
            !may_send(g, comm, ring[i], ring[(i + 1) % n]))
            return;
    int type = below(g, FUZZ_TYPES), about = some_bytes(g, 1 << 30) / fuzz_type_bytes(type);
    for (int i = 0; i < n; i++) {
        int how = (int[]){FUZZ_BLOCKING, FUZZ_NONBLOCKING, FUZZ_REPLACE,
                          FUZZ_NONBLOCKING_REPLACE}[below(g, 4)];
        int op = add_op(g, ring[i], FUZZ_BOTH, how, i > 0);
        int count = one_in(g, 4) ? below(g, about + 1) : about;
        bool replace = how == FUZZ_REPLACE || how == FUZZ_NONBLOCKING_REPLACE;
        g->s->ops[op].comm = comm;
        play_send(g, op, ring[(i + 1) % n], tag, type, count);
        /* What comes may come with any tag, if nothing else can be meant. */
        int source = ring[(i + n - 1) % n];
        struct stream *from = stream_of(g, comm, source, ring[i]);
        bool any = !from->tags_only && from->n_messages == (i > 0 || n == 1) && one_in(g, 3);
        play_receive(g, op, source, any ? FUZZ_ANY : tag, type,
                     replace ? count : room_for_count(g, about));
    }
}

/* MPI_Isendrecv to one rank and from another, that nobody waits for. */
static void do_both(struct generator *g, int comm, int rank, int to, int from, int tag)
{
    struct stream *out = stream_of(g, comm, rank, to), *in = stream_of(g, comm, from, rank);
    if (g->wild[comm][rank] != DIRECTED || out->n_messages == OPEN || in->n_receives == OPEN ||
        !may_send(g, comm, rank, to) || !may_send(g, comm, from, rank))
        return;
    int op = add_op(g, rank, FUZZ_BOTH, FUZZ_NONBLOCKING, false);
    g->s->ops[op].comm = comm;
    g->parts[op]++; /* so that it is not certain between its two parts */
    play_receive(g, op, from, some_tag(g), -1, -1);
    play_send(g, op, to, tag, -1, -1);
    matched(g, op);
}

/* A ready send to a receive that waits: its rank tells that it does, unless it is the sender. */
static void do_ready(struct generator *g, int comm, int source, int dest)
{
    struct stream *stream = stream_of(g, comm, source, dest);
    const struct stream *back = stream_of(g, comm, dest, source);
    if (g->wild[comm][dest] != DIRECTED || stream->n_receives == 0)
        return;
    if (source != dest) {
        if (g->wild[comm][source] == ANY_BOTH || !back->tags_only || back->n_messages == OPEN ||
            g->wild[comm][source] == ANY_SOURCE || !may_send(g, comm, dest, source))
            return;
        int tag = unique_tag(g), token = add_op(g, dest, FUZZ_SEND, FUZZ_NONBLOCKING, false);
        g->s->ops[token].comm = comm;
        play_send(g, token, source, tag, FUZZ_PLAIN, below(g, 100));
        int heard = add_op(g, source, FUZZ_RECEIVE, FUZZ_BLOCKING, false);
        g->s->ops[heard].comm = comm;
        play_receive(g, heard, dest, tag, FUZZ_PLAIN, 100);
    }
    int tag = g->s->ops[stream->receives[0]].receive_tag;
    int op = add_op(g, source, FUZZ_SEND,
                    (int[]){FUZZ_BLOCKING, FUZZ_NONBLOCKING, FUZZ_PERSISTENT}[below(g, 3)], false);
    g->s->ops[op].comm = comm;
    g->s->ops[op].mode = FUZZ_READY;
    play_send(g, op, dest, tag == FUZZ_ANY ? some_tag(g) : tag, -1, -1);
    make_object(g, op);
}

/* ---- Cancelling */

/* A message outside of the play, with a tag of its own. type < 0: any. */
static int lone_message(struct generator *g, int op, int dest, int tag, int type)
{
    if (type < 0)
        type = one_in(g, 2) ? FUZZ_PLAIN : below(g, FUZZ_TYPES);
    int index = add_message(g, op, dest, tag, type, some_bytes(g, 100000) / fuzz_type_bytes(type));
    settle_buffered(g, op);
    return index;
}

static void do_cancel_nothing(struct generator *g, int comm, int source, int dest)
{
    int op = add_op(g, dest, FUZZ_CANCEL_NOTHING, below(g, 2) ? FUZZ_NONBLOCKING : FUZZ_PERSISTENT,
                    false);
    g->s->ops[op].comm = comm;
    g->s->ops[op].from = one_in(g, 3) ? FUZZ_ANY : source;
    g->s->ops[op].receive_tag = unique_tag(g);
    g->s->ops[op].type = FUZZ_PLAIN;
    g->s->ops[op].room = some_bytes(g, 100000);
}

static void do_cancel_receive(struct generator *g, int comm, int source, int dest)
{
    int tag = unique_tag(g), send = add_op(g, source, FUZZ_SEND, FUZZ_NONBLOCKING, false);
    g->s->ops[send].comm = comm;
    g->s->ops[send].mode = below(g, FUZZ_READY);
    int message = lone_message(g, send, dest, tag, -1);
    int op = add_op(g, dest, FUZZ_CANCEL_RECEIVE, below(g, 2) ? FUZZ_NONBLOCKING : FUZZ_PERSISTENT,
                    false);
    struct fuzz_op *it = &g->s->ops[op];
    const struct fuzz_message *m = &g->s->messages[message];
    it->comm = comm;
    it->from = one_in(g, 3) ? FUZZ_ANY : source;
    it->receive_tag = tag;
    it->receives = message;
    it->type = m->type;
    it->room = m->count + below(g, 20);
    g->s->messages[message].taken = op;
    g->s->ops[send].certain = it->time;
}

static void do_cancel_send(struct generator *g, int comm, int source, int dest)
{
    int tag = unique_tag(g), posted = FUZZ_ANY, n = 1 + below(g, FUZZ_BATCH), room = 0;
    if (one_in(g, 2))
        posted = add_op(g, dest, FUZZ_POST_DOUBTFUL, FUZZ_NONBLOCKING, false);
    int send = add_op(g, source, FUZZ_CANCEL_SEND, below(g, 2) ? FUZZ_NONBLOCKING : FUZZ_PERSISTENT,
                      false);
    g->s->ops[send].comm = comm;
    g->s->ops[send].mode = below(g, FUZZ_READY);
    int first = lone_message(g, send, dest, tag, -1), type = g->s->messages[first].type;
    while (g->s->n_messages < first + n)
        lone_message(g, send, dest, tag, type);
    int op = add_op(g, dest, FUZZ_HEAR_OUTCOME, FUZZ_BLOCKING, false);
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
    if (g->wild[comm][dest] == ANY_BOTH || !stream_of(g, comm, source, dest)->tags_only)
        return;
    g->s->closed = true;
    switch (below(g, 3)) {
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
    int comm = one_in(g, 8) ? FUZZ_SELF : below(g, g->s->comms);
    int dest = below(g, g->s->ranks), source = some_source(g, comm, dest);
    int tag = some_tag(g), what = below(g, 100);
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
        do_both(g, comm, source, dest, some_source(g, comm, source), tag);
    else if (what < 90)
        do_ready(g, comm, source, dest);
    else if (what < 97)
        do_cancel(g, comm, source, dest);
    else
        add_op(g, source, FUZZ_NOWHERE, FUZZ_BLOCKING, false);
}

/* Gives what waits between a source and a destination one counterpart. Returns whether any waits. */
static bool complete_stream(struct generator *g, int comm, int source, int dest)
{
    struct stream *stream = stream_of(g, comm, source, dest);
    if (stream->n_receives > 0) {
        int tag = g->s->ops[stream->receives[below(g, stream->n_receives)]].receive_tag;
        do_send(g, comm, source, dest, tag == FUZZ_ANY ? some_tag(g) : tag);
    } else if (stream->n_messages > 0) {
        do_receive(g, comm, source, dest,
                   g->s->messages[stream->messages[below(g, stream->n_messages)]].tag);
    }
    return stream->n_receives > 0 || stream->n_messages > 0;
}

static bool complete_wild(struct generator *g, int comm, int dest)
{
    bool waits = false;
    for (int t = 0; t < TAGS; t++) {
        const struct class *class = &g->classes[comm][dest][t];
        int tag = g->wild[comm][dest] == ANY_BOTH ? some_tag(g) : tag_of(g, t);
        if (class->sent > class->posted)
            do_wild_receive(g, comm, dest, tag);
        else if (class->sent < class->posted)
            do_send(g, comm, some_source(g, comm, dest), dest, tag);
        waits |= class->sent != class->posted;
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
    int wildness = below(g, 3);
    for (int comm = 0; comm < g->s->comms; comm++) {
        for (int dest = 0; dest < g->s->ranks; dest++) {
            if (below(g, 4) < wildness)
                g->wild[comm][dest] = one_in(g, 2) ? ANY_SOURCE : ANY_BOTH;
            g->sole[comm][dest] = FUZZ_ANY;
            if (g->wild[comm][dest] == DIRECTED && one_in(g, 3))
                g->sole[comm][dest] = some_source(g, comm, dest);
            for (int source = 0; source < g->s->ranks; source++)
                stream_of(g, comm, source, dest)->tags_only = one_in(g, 2);
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
