// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,shm,mixed seconds=60
// run: ranks=3 lanes=rxm-push,soft-small,shm-small seconds=60
// run: ranks=1 lanes=self seconds=40
/*
 * Random partitioned programs against a model. All ranks compute the same list of pairs from a seed
 * (who, to whom, how cut on each side, which type); each makes its requests, as far as the order
 * matters in that of the list, and then plays rounds: it starts them in an order of its own, marks
 * partitions by a random choice of calls, asks for others, and completes everything by a random
 * choice of forms. Ranks keep no step with each other but through the messages. WEFT_TEST_ROUNDS
 * says how many lists are played.
 */
#include "check.h"

enum { PAIRS = 14, ROUNDS = 6, UNITS = 24, TAGS = 3, TYPES = 3, MOST_RANKS = 64 };

struct gapped {
    double value;
    int index;
};

struct pair {
    int source, dest, tag, sent, received, type, elements;
    MPI_Request send, recv;
    char *out, *in;
    int marked; /* of order, in this round */
    int order[UNITS];
    bool seen[UNITS]; /* partitions of the receive */
};

static struct pair pairs[PAIRS];
static uint64_t own;

static MPI_Datatype type_of(const struct pair *p)
{
    static MPI_Datatype types[TYPES];
    types[0] = MPI_BYTE;
    types[1] = MPI_INT64_T;
    types[2] = MPI_DOUBLE_INT;
    return types[p->type];
}

static size_t extent_of(const struct pair *p)
{
    static const size_t extents[TYPES] = {1, sizeof(int64_t), sizeof(struct gapped)};
    return extents[p->type];
}

/* What element i of a pair is in a round. */
static uint64_t model(const struct pair *p, int round, int i)
{
    return check_mix((uint64_t)(p - pairs) << 40 ^ (uint64_t)round << 32 ^ (uint64_t)i);
}

static void write_elements(const struct pair *p, int round, int first, int n)
{
    for (int i = first; i < first + n; i++) {
        uint64_t word = model(p, round, i);
        if (p->type == 2) {
            struct gapped g = {(double)(word >> 40), (int)(word & 0xffffff)};
            memcpy(p->out + (size_t)i * sizeof g, &g, sizeof g);
        } else {
            memcpy(p->out + (size_t)i * extent_of(p), &word, extent_of(p));
        }
    }
}

static void check_elements(const struct pair *p, int round, int first, int n)
{
    for (int i = first; i < first + n; i++) {
        uint64_t word = model(p, round, i);
        const char *at = p->in + (size_t)i * extent_of(p);
        bool good = memcmp(at, &word, extent_of(p) < 8 ? extent_of(p) : 8) == 0;
        if (p->type == 2) {
            struct gapped g;
            memcpy(&g, at, sizeof g);
            good = g.value == (double)(word >> 40) && g.index == (int)(word & 0xffffff);
        }
        CHECK(good, "pair %d from %d to %d, %d to %d partitions, round %d: element %d is wrong",
              (int)(p - pairs), p->source, p->dest, p->sent, p->received, round, i);
        if (!good) {
            return;
        }
    }
}

static void plan(uint64_t *rng)
{
    static const int cuts[] = {1, 2, 3, 4, 6, 8, 12, 24};
    static const int scales[] = {1, 1, 3, 20, 171, 900, 4000};
    for (int k = 0; k < PAIRS; k++) {
        struct pair *p = &pairs[k];
        p->source = (int)check_random(rng, (unsigned)check.size);
        p->dest = (int)check_random(rng, (unsigned)check.size);
        p->tag = (int)check_random(rng, TAGS);
        p->sent = cuts[check_random(rng, 8)];
        p->received = cuts[check_random(rng, 8)];
        p->type = (int)check_random(rng, TYPES);
        p->elements = UNITS * scales[check_random(rng, 7)];
        p->out = p->in = NULL;
    }
}

static void shuffle(int *order, int n)
{
    for (int i = 0; i < n; i++) {
        order[i] = i;
    }
    for (int i = n - 1; i > 0; i--) {
        int j = (int)check_random(&own, (unsigned)i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

static void make_send(struct pair *p)
{
    size_t bytes = (size_t)p->elements * extent_of(p);
    if (p->source == check.rank) {
        p->out = check_alloc(bytes);
        memset(p->out, 0, bytes);
        MPI_Psend_init(p->out, p->sent, p->elements / p->sent, type_of(p), p->dest, p->tag,
                       MPI_COMM_WORLD, MPI_INFO_NULL, &p->send);
    }
}

static void make_receive(struct pair *p)
{
    if (p->dest == check.rank) {
        p->in = check_alloc((size_t)p->elements * extent_of(p));
        MPI_Precv_init(p->in, p->received, p->elements / p->received, type_of(p), p->source, p->tag,
                       MPI_COMM_WORLD, MPI_INFO_NULL, &p->recv);
    }
}

/* Sends in the order of the list; receives in that order only among those of one source and tag,
 * whose groups come in any order; both mixed. */
static void make_requests(void)
{
    int groups = check.size * TAGS, order[MOST_RANKS * TAGS], receives[PAIRS], n = 0;
    shuffle(order, groups);
    for (int g = 0; g < groups; g++) {
        for (int k = 0; k < PAIRS; k++) {
            if (pairs[k].source * TAGS + pairs[k].tag == order[g]) {
                receives[n++] = k;
            }
        }
    }
    for (int s = 0, r = 0; s < PAIRS || r < PAIRS;) {
        if (r == PAIRS || (s < PAIRS && check_random(&own, 2))) {
            make_send(&pairs[s++]);
        } else {
            make_receive(&pairs[receives[r++]]);
        }
    }
}

/* Starts all requests of this rank; sends and receives have an order each. */
static void start(void)
{
    int order[PAIRS], other[PAIRS];
    shuffle(order, PAIRS);
    shuffle(other, PAIRS);
    for (int k = 0; k < PAIRS; k++) {
        struct pair *s = &pairs[order[k]], *r = &pairs[other[k]];
        if (s->source == check.rank) {
            s->marked = 0;
            shuffle(s->order, s->sent);
            if (check_random(&own, 2)) {
                for (int i = 0; i < s->sent; i++) {
                    s->order[i] = i;
                }
            }
            MPI_Start(&s->send);
        }
        if (r->dest == check.rank) {
            memset(r->in, 0xEE, (size_t)r->elements * extent_of(r));
            memset(r->seen, 0, sizeof r->seen);
            MPI_Start(&r->recv);
        }
    }
}

/* Marks some of what a send has not marked. */
static void mark_some(struct pair *p, int round)
{
    int left = p->sent - p->marked, n = 1 + (int)check_random(&own, (unsigned)left);
    int *next = p->order + p->marked, part = p->elements / p->sent, run = 1;
    int form = (int)check_random(&own, 3);
    while (run < n && next[run] == next[run - 1] + 1) {
        run++;
    }
    n = form == 0 ? 1 : form == 1 ? run : n;
    for (int i = 0; i < n; i++) {
        write_elements(p, round, next[i] * part, part);
    }
    if (form == 0) {
        MPI_Pready(next[0], p->send);
    } else if (form == 1) {
        MPI_Pready_range(next[0], next[n - 1], p->send);
    } else {
        MPI_Pready_list(n, next, p->send);
    }
    p->marked += n;
}

static void ask(struct pair *p, int round)
{
    int i = (int)check_random(&own, (unsigned)p->received), part = p->elements / p->received;
    int flag = 0;
    MPI_Parrived(p->recv, i, &flag);
    CHECK(flag || !p->seen[i], "partition %d had arrived, and has not any longer", i);
    if (flag && !p->seen[i]) {
        check_elements(p, round, i * part, part);
        p->seen[i] = true;
    }
}

/* Until every partition of this rank is marked. */
static void play(int round)
{
    int left = 0;
    for (int k = 0; k < PAIRS; k++) {
        left += pairs[k].source == check.rank;
    }
    while (left > 0) {
        struct pair *p = &pairs[check_random(&own, PAIRS)];
        if (p->source == check.rank && p->marked < p->sent) {
            mark_some(p, round);
            left -= p->marked == p->sent;
        } else if (p->dest == check.rank) {
            ask(p, round);
        }
    }
}

static void finish(int round)
{
    MPI_Request all[2 * PAIRS];
    int n = 0, done = 0, count, indices[2 * PAIRS], form = (int)check_random(&own, 4);
    for (int k = 0; k < PAIRS; k++) {
        if (pairs[k].source == check.rank) {
            all[n++] = pairs[k].send;
        }
        if (pairs[k].dest == check.rank) {
            all[n++] = pairs[k].recv;
        }
    }
    if (form == 0) {
        MPI_Waitall(n, all, MPI_STATUSES_IGNORE);
        done = n;
    }
    while (done < n) {
        if (form == 1) {
            MPI_Waitany(n, all, indices, MPI_STATUS_IGNORE);
            done++;
        } else if (form == 2) {
            MPI_Testsome(n, all, &count, indices, MPI_STATUSES_IGNORE);
            done += count;
        } else {
            MPI_Wait(&all[done++], MPI_STATUS_IGNORE);
        }
    }
    for (int k = 0; k < PAIRS; k++) {
        if (pairs[k].dest == check.rank) {
            check_elements(&pairs[k], round, 0, pairs[k].elements);
        }
    }
}

static void drop(void)
{
    for (int k = 0; k < PAIRS; k++) {
        if (pairs[k].source == check.rank) {
            MPI_Request_free(&pairs[k].send);
        }
        if (pairs[k].dest == check.rank) {
            MPI_Request_free(&pairs[k].recv);
        }
        free(pairs[k].out);
        free(pairs[k].in);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    uint64_t rng = check_seed();
    int lists = check_setting("WEFT_TEST_ROUNDS", 5);
    own = check_mix(rng + (uint64_t)check.rank);
    for (int list = 0; list < lists; list++) {
        check_step("making list %d", list);
        plan(&rng);
        make_requests();
        for (int round = 0; round < ROUNDS; round++) {
            check_step("list %d, round %d", list, round);
            start();
            play(round);
            finish(round);
        }
        drop();
    }
    return check_done();
}
