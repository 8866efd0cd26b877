// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,rxm-push,rxm-small,rxm-unpaid,push-unpaid,soft-small seconds=60
// run: ranks=4 lanes=sockets,net-soft,shm,shm-copy,shm-small,shm-unpaid,mixed,mixed-soft seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Random valid programs. All ranks compute the same list of messages from a seed; each starts its
 * sends and posts its receives in an order of its own, mixed with each other, and completes them by
 * a random choice of wait and test forms. Every message must reach the receive that the rules of
 * order give it. WEFT_TEST_ROUNDS says how many programs are played.
 */
#include "check.h"

enum { LARGEST = 270000, MESSAGES = 120, TAGS = 3 };

struct message {
    int source, dest, tag, bytes, sync;
};

struct receive {
    MPI_Request request;
    unsigned char *buf;
    int source, tag; /* as posted */
    MPI_Status st;
};

static struct message plan[MESSAGES];
static struct receive receives[MESSAGES];
static MPI_Request sends[MESSAGES];
static unsigned char *outs[MESSAGES];
static int n_receives, n_sends;

/* What a message must be matched by in a phase. Mixing these in one phase would make programs whose
 * outcome, or whose end, depends on timing. */
enum { DIRECTED, ANY_SOURCE, ANY_TAG, ANY_BOTH, PHASES };

static void make_plan(uint64_t *rng)
{
    static const int sizes[] = {0,   1,    8,    40,    64,    65,    255,
                                256, 1300, 4096, 16384, 16385, 66000, LARGEST};
    for (int i = 0; i < MESSAGES; i++) {
        plan[i] = (struct message){.source = (int)check_random(rng, (unsigned)check.size),
                                   .dest = (int)check_random(rng, (unsigned)check.size),
                                   .tag = (int)check_random(rng, TAGS),
                                   .bytes = sizes[check_random(rng, 14)],
                                   .sync = check_random(rng, 5) == 0};
    }
}

static void post(const struct message *m, int phase)
{
    struct receive *r = &receives[n_receives++];
    r->source = phase == ANY_SOURCE || phase == ANY_BOTH ? MPI_ANY_SOURCE : m->source;
    r->tag = phase == ANY_TAG || phase == ANY_BOTH ? MPI_ANY_TAG : m->tag;
    r->buf = check_alloc(LARGEST);
    MPI_Irecv(r->buf, LARGEST, MPI_BYTE, r->source, r->tag, MPI_COMM_WORLD, &r->request);
}

static void start(int i)
{
    const struct message *m = &plan[i];
    outs[n_sends] = check_alloc((size_t)m->bytes);
    check_fill(outs[n_sends], (size_t)m->bytes, m->source, m->tag, i);
    (m->sync ? MPI_Issend : MPI_Isend)(outs[n_sends], m->bytes, MPI_BYTE, m->dest, m->tag,
                                       MPI_COMM_WORLD, &sends[n_sends]);
    n_sends++;
}

/* Sends go in the order of the plan; receives in any order; both interleaved. */
static void start_all(int phase, uint64_t *own)
{
    int order[MESSAGES], n = 0, next_send = 0;
    for (int i = 0; i < MESSAGES; i++) {
        if (plan[i].dest == check.rank) {
            order[n++] = i;
        }
    }
    for (int i = n - 1; i > 0; i--) {
        int j = (int)check_random(own, (unsigned)i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    unsigned bias = check_random(own, 5); /* from receives first to sends first */
    while (n > 0 || next_send < MESSAGES) {
        if (n > 0 && (next_send == MESSAGES || check_random(own, 4) >= bias)) {
            post(&plan[order[--n]], phase);
        } else {
            if (plan[next_send].source == check.rank) {
                start(next_send);
            }
            next_send++;
        }
    }
}

static void finish_all(uint64_t *own)
{
    MPI_Request all[2 * MESSAGES];
    MPI_Status st[2 * MESSAGES];
    int total = n_receives + n_sends, left = total, indices[2 * MESSAGES];
    for (int i = 0; i < total; i++) {
        all[i] = i < n_receives ? receives[i].request : sends[i - n_receives];
    }
    while (left > 0) {
        int count = 0, flag = 0, form = (int)check_random(own, 6);
        check_step("%d of %d requests are open, form %d", left, total, form);
        if (form == 0) {
            MPI_Waitany(total, all, indices, st);
            count = 1;
        } else if (form == 1) {
            MPI_Testany(total, all, indices, &flag, st);
            count = flag && indices[0] != MPI_UNDEFINED;
        } else if (form == 2) {
            MPI_Waitsome(total, all, &count, indices, st);
        } else if (form == 3) {
            MPI_Testsome(total, all, &count, indices, st);
        } else if (form == 4) {
            indices[0] = (int)check_random(own, (unsigned)total);
            if (all[indices[0]] != MPI_REQUEST_NULL) {
                MPI_Test(&all[indices[0]], &count, st);
            }
        } else if (left < total / 2) {
            for (int i = 0; i < total; i++) {
                if (all[i] != MPI_REQUEST_NULL) {
                    MPI_Wait(&all[i], &st[count]);
                    indices[count++] = i;
                }
            }
        }
        for (int k = 0; k < count; k++) {
            if (indices[k] < 0 || indices[k] >= total) {
                CHECK(false, "form %d gave index %d of %d requests", form, indices[k], total);
                MPI_Abort(MPI_COMM_WORLD, 95); /* the books cannot be kept any longer */
            }
            if (indices[k] < n_receives) {
                receives[indices[k]].st = st[k];
            }
        }
        left -= count;
    }
}

/*
 * Plays matching again: among the receives that may take messages of a source and tag, in the order
 * they were posted, each has the next message of that source that it matches. With DIRECTED and
 * ANY_SOURCE a message is next by source and tag, with ANY_TAG and ANY_BOTH by source alone.
 */
static void verify(int phase)
{
    bool taken[MESSAGES] = {false};
    for (int k = 0; k < n_receives; k++) {
        const struct receive *r = &receives[k];
        int i = 0;
        while (i < MESSAGES &&
               (taken[i] || plan[i].dest != check.rank || plan[i].source != r->st.MPI_SOURCE ||
                ((phase == DIRECTED || phase == ANY_SOURCE) && plan[i].tag != r->tag))) {
            i++;
        }
        if (i == MESSAGES) {
            CHECK(false, "receive %d has a message of rank %d that nobody sent", k,
                  r->st.MPI_SOURCE);
            continue;
        }
        taken[i] = true;
        CHECK_STATUS(r->st, plan[i].source, plan[i].tag, plan[i].bytes);
        CHECK_DATA(r->buf, (size_t)plan[i].bytes, plan[i].source, plan[i].tag, i);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    uint64_t rng = check_seed(), own = check_mix(rng + (uint64_t)check.rank);
    int rounds = check_setting("WEFT_TEST_ROUNDS", 24);
    for (int round = 0; round < rounds; round++) {
        int phase = round % PHASES;
        make_plan(&rng);
        n_receives = n_sends = 0;
        check_step("starting round %d", round);
        start_all(phase, &own);
        finish_all(&own);
        verify(phase);
        while (n_receives > 0) {
            free(receives[--n_receives].buf);
        }
        while (n_sends > 0) {
            free(outs[--n_sends]);
        }
        check_step("barrier after round %d", round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_done();
}
