// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,5 lanes=rxm,rxm-soft seconds=60
// run: ranks=4 lanes=rxm-push,rxm-small,soft-small,net-soft seconds=60
// run: ranks=1 lanes=self seconds=30
// run: ranks=5 lanes=shm,shm-copy,shm-small,shm-unpaid,mixed,mixed-soft seconds=60
/*
 * Every rank sends random messages to every rank, itself too, and takes what comes by random means:
 * receives, probes with their receives, matched probes; by name and by wildcard. What is taken must
 * be the oldest that fits: of its sender and tag always, and of its sender when any tag would do.
 * WEFT_TEST_SEED repeats a run.
 */
#include "check.h"

enum { EACH = 60, TAGS = 3, LARGEST = 70000, MOST_RANKS = 16 };

struct plan {
    int tag, bytes;
    bool taken;
};

static struct plan plans[MOST_RANKS][EACH]; /* from each source to this rank */
static unsigned char (*out)[EACH][LARGEST];
static unsigned char *in;

/* The same on both sides: what `from` sends to `to`, message i. */
static unsigned plan_random(unsigned seed, int from, int to, int i)
{
    unsigned x = seed + (unsigned)(from * 7919 + to * 104729 + i * 1299709);
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

static struct plan plan_of(unsigned seed, int from, int to, int i)
{
    static const int sizes[] = {8, 12, 64, 65, 300, 5000, 20000, LARGEST};
    unsigned x = plan_random(seed, from, to, i);
    return (struct plan){.tag = (int)(x % TAGS), .bytes = sizes[x / 16 % 8]};
}

/* The oldest of a source that is left and has the tag (MPI_ANY_TAG: any), or -1. */
static int oldest(int source, int tag)
{
    for (int i = 0; i < EACH; i++) {
        if (!plans[source][i].taken && (tag == MPI_ANY_TAG || plans[source][i].tag == tag)) {
            return i;
        }
    }
    return -1;
}

static void verify(const MPI_Status *st, int asked_source, int asked_tag, const char *how)
{
    int source = st->MPI_SOURCE, count;
    MPI_Get_count(st, MPI_BYTE, &count);
    CHECK(asked_source == MPI_ANY_SOURCE || source == asked_source, "%s: source %d for %d", how,
          source, asked_source);
    int i = oldest(source, asked_tag);
    if (i < 0) {
        CHECK(false, "%s: a message from rank %d with tag %d too many", how, source, st->MPI_TAG);
        return;
    }
    struct plan *plan = &plans[source][i];
    CHECK(st->MPI_TAG == plan->tag && count == plan->bytes,
          "%s: %d bytes with tag %d from rank %d, but its oldest (%d) has %d with tag %d", how,
          count, st->MPI_TAG, source, i, plan->bytes, plan->tag);
    CHECK_DATA(in, (size_t)plan->bytes, source, plan->tag, i);
    plan->taken = true;
}

/* Takes one message by random means; source and tag are such that one is to come. */
static void take(int source, int tag)
{
    MPI_Status probed, st;
    MPI_Message message;
    MPI_Request request;
    int flag = 0;
    switch (rand() % 5) {
    case 0:
        MPI_Recv(in, LARGEST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &st);
        verify(&st, source, tag, "receive");
        return;
    case 1:
        MPI_Irecv(in, LARGEST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &st);
        verify(&st, source, tag, "nonblocking receive");
        return;
    case 2:
        MPI_Probe(source, tag, MPI_COMM_WORLD, &probed);
        break;
    case 3:
        while (!flag) {
            MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &probed);
        }
        break;
    default:
        while (!flag) {
            MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, &probed);
        }
        MPI_Mrecv(in, LARGEST, MPI_BYTE, &message, &st);
        CHECK(probed.MPI_SOURCE == st.MPI_SOURCE && probed.MPI_TAG == st.MPI_TAG,
              "a matched probe and its receive differ");
        verify(&st, source, tag, "matched probe");
        return;
    }
    int count;
    MPI_Get_count(&probed, MPI_BYTE, &count);
    MPI_Recv(in, count, MPI_BYTE, probed.MPI_SOURCE, probed.MPI_TAG, MPI_COMM_WORLD, &st);
    CHECK(probed.MPI_SOURCE == st.MPI_SOURCE && probed.MPI_TAG == st.MPI_TAG,
          "a probe and the receive after it differ");
    verify(&st, source, tag, "probe and receive");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    out = check_zeroed(MOST_RANKS * sizeof *out);
    in = check_zeroed(LARGEST);
    unsigned seed = (unsigned)check_setting("WEFT_TEST_SEED", (int)(time(NULL) & 0xffffff));
    static MPI_Request sends[MOST_RANKS * EACH];
    int n = 0, left = check.size * EACH;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    if (check.rank == 0) {
        printf("seed %u\n", seed);
    }
    srand(seed + (unsigned)check.rank);
    for (int peer = 0; peer < check.size; peer++) {
        for (int i = 0; i < EACH; i++) {
            plans[peer][i] = plan_of(seed, peer, check.rank, i);
        }
    }
    for (int i = 0; i < EACH; i++) {
        for (int peer = 0; peer < check.size; peer++) {
            struct plan plan = plan_of(seed, check.rank, peer, i);
            check_fill(out[peer][i], (size_t)plan.bytes, check.rank, plan.tag, i);
            MPI_Isend(out[peer][i], plan.bytes, MPI_BYTE, peer, plan.tag, MPI_COMM_WORLD,
                      &sends[n++]);
        }
    }
    while (left-- > 0) {
        int source, i;
        do {
            source = rand() % check.size;
            i = oldest(source, MPI_ANY_TAG);
        } while (i < 0);
        int tag = rand() % 2 ? MPI_ANY_TAG : plans[source][i].tag;
        bool any = tag == MPI_ANY_TAG && rand() % 2;
        check_step("seed %u, %d messages left, from %d with tag %d", seed, left + 1,
                   any ? MPI_ANY_SOURCE : source, tag);
        take(any ? MPI_ANY_SOURCE : source, tag);
    }
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
    free(out);
    free(in);
    return check_done();
}
