// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,rxm-push,rxm-small,rxm-unpaid,soft-small,sockets seconds=60
// run: ranks=3 lanes=net-soft,shm,shm-copy,shm-small,shm-unpaid,mixed,mixed-soft seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Random play against a model of matching. Rank 0 posts receives with and without wildcards, sends
 * to itself and tells the other ranks, one at a time, to send to it; after every step the model
 * knows which receive must have which message. Where two sources wait for one wildcard either may
 * be first, nowhere else is there a choice. This is where self and net meet under wildcards.
 */
#include "check.h"

enum { STEPS = 1500, OPEN = 24, TAGS = 3, ORDER_TAG = 77, DONE_TAG = 78, LARGEST = 33000 };

struct order {
    int tag, bytes, index;
    int synchronous;
    int tell; /* the sender reports with DONE_TAG that it has sent: nothing can match that */
    int end;
};

struct receive {
    int source, tag;
    MPI_Request request;
    unsigned char *buf;
};

struct message {
    int source, tag, bytes, index;
};

static struct receive posted[OPEN]; /* oldest first */
static struct message waiting[OPEN];
static int n_posted, n_waiting, indices;
static uint64_t rng;

/* Sends on their way, of any rank. */
static struct {
    MPI_Request request;
    unsigned char *buf;
} sends[2 * OPEN];
static int n_sends;

static int random_size(void)
{
    static const int sizes[] = {0, 1, 8, 64, 65, 300, 5000, 16384, 16385, 33000, 65536, 65537};
    return sizes[check_random(&rng, 10)];
}

static bool matches(const struct receive *r, const struct message *m)
{
    return (r->source == MPI_ANY_SOURCE || r->source == m->source) &&
           (r->tag == MPI_ANY_TAG || r->tag == m->tag);
}

/* The receive must now complete with one of the candidates; returns which, or -1. */
static int complete(struct receive *r, const struct message *const *candidates, int n)
{
    MPI_Status st;
    check_step("a receive (source %d, tag %d) that has %d messages to take", r->source, r->tag, n);
    MPI_Wait(&r->request, &st);
    for (int i = 0; i < n; i++) {
        const struct message *m = candidates[i];
        if (m->source == st.MPI_SOURCE) {
            CHECK_STATUS(st, m->source, m->tag, m->bytes);
            CHECK_DATA(r->buf, (size_t)m->bytes, m->source, m->tag, m->index);
            free(r->buf);
            return i;
        }
    }
    CHECK(false, "receive (source %d, tag %d) got a message of rank %d, which has none for it",
          r->source, r->tag, st.MPI_SOURCE);
    free(r->buf);
    return -1;
}

static void remove_at(void *array, int *n, int i, size_t each)
{
    char *at = (char *)array + (size_t)i * each;
    memmove(at, at + each, (size_t)(*n - i - 1) * each);
    --*n;
}

static void post(int source, int tag)
{
    struct receive r = {.source = source, .tag = tag, .buf = check_alloc(LARGEST)};
    const struct message *heads[OPEN]; /* the first message of each source that matches */
    int n = 0;
    for (int i = 0; i < n_waiting; i++) {
        bool first = matches(&r, &waiting[i]);
        for (int h = 0; first && h < n; h++) {
            first = heads[h]->source != waiting[i].source;
        }
        if (first) {
            heads[n++] = &waiting[i];
        }
    }
    MPI_Irecv(r.buf, LARGEST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &r.request);
    if (n == 0) {
        posted[n_posted++] = r;
        return;
    }
    int which = complete(&r, heads, n);
    remove_at(waiting, &n_waiting, (int)(heads[which < 0 ? 0 : which] - waiting), sizeof *waiting);
}

/* Collects finished sends; all of them when the play is over. */
static void collect(bool all)
{
    for (int i = 0; i < n_sends; i++) {
        int flag = 1;
        if (all) {
            MPI_Wait(&sends[i].request, MPI_STATUS_IGNORE);
        } else {
            MPI_Test(&sends[i].request, &flag, MPI_STATUS_IGNORE);
        }
        if (flag) {
            free(sends[i].buf);
            remove_at(sends, &n_sends, i--, sizeof sends[0]);
        }
    }
}

static void start_send(const struct order *o)
{
    unsigned char *buf = check_alloc((size_t)o->bytes);
    check_fill(buf, (size_t)o->bytes, check.rank, o->tag, o->index);
    sends[n_sends].buf = buf;
    (o->synchronous ? MPI_Issend : MPI_Isend)(buf, o->bytes, MPI_BYTE, 0, o->tag, MPI_COMM_WORLD,
                                              &sends[n_sends].request);
    n_sends++;
    collect(false);
}

static void follow_orders(void)
{
    for (;;) {
        struct order o;
        check_step("waiting for orders");
        MPI_Recv(&o, sizeof o, MPI_BYTE, 0, ORDER_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (o.end) {
            return;
        }
        start_send(&o);
        if (o.tell) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, DONE_TAG, MPI_COMM_WORLD);
        }
    }
}

/* One message from source to rank 0, itself perhaps. */
static void send_from(int source, int tag)
{
    struct message m = {source, tag, random_size(), indices++};
    struct order o = {.tag = tag, .bytes = m.bytes, .index = m.index};
    int taker = 0;
    while (taker < n_posted && !matches(&posted[taker], &m)) {
        taker++;
    }
    o.tell = taker == n_posted;
    o.synchronous = check_random(&rng, 4) == 0;
    check_step("rank %d sends tag %d, %d bytes, to rank 0", source, tag, m.bytes);
    if (source == 0) {
        start_send(&o);
    } else {
        MPI_Send(&o, sizeof o, MPI_BYTE, source, ORDER_TAG, MPI_COMM_WORLD);
        if (o.tell) {
            MPI_Recv(NULL, 0, MPI_BYTE, source, DONE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (taker == n_posted) {
        waiting[n_waiting++] = m;
        return;
    }
    const struct message *only = &m;
    complete(&posted[taker], &only, 1);
    remove_at(posted, &n_posted, taker, sizeof posted[0]);
}

/* A receive for which the model has no message must not complete. */
static void test_one(void)
{
    int flag = -1, i = n_posted ? (int)check_random(&rng, (unsigned)n_posted) : -1;
    if (i >= 0) {
        MPI_Test(&posted[i].request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0, "receive (source %d, tag %d) completed with no message for it",
              posted[i].source, posted[i].tag);
    }
}

static void play(void)
{
    for (int step = 0; step < STEPS; step++) {
        int source = (int)check_random(&rng, (unsigned)check.size);
        int tag = (int)check_random(&rng, TAGS);
        unsigned dice = check_random(&rng, 100);
        if (dice < 45 && n_waiting < OPEN - 1) {
            send_from(source, tag);
        } else if (dice < 90 && n_posted < OPEN - 1) {
            post(check_random(&rng, 2) ? MPI_ANY_SOURCE : source,
                 check_random(&rng, 3) ? tag : MPI_ANY_TAG);
        } else {
            test_one();
        }
    }
    while (n_posted > 0) {
        struct receive *r = &posted[0];
        send_from(r->source == MPI_ANY_SOURCE ? check.size - 1 : r->source,
                  r->tag == MPI_ANY_TAG ? 0 : r->tag);
    }
    while (n_waiting > 0) {
        post(MPI_ANY_SOURCE, MPI_ANY_TAG);
    }
    struct order end = {.end = 1};
    for (int r = 1; r < check.size; r++) {
        MPI_Send(&end, sizeof end, MPI_BYTE, r, ORDER_TAG, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    rng = check_seed();
    if (check.rank == 0) {
        play();
    } else {
        follow_orders();
    }
    check_step("the sends that are still on their way");
    collect(true);
    return check_done();
}
