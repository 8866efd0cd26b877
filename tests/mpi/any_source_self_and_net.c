// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,net-soft,shm,shm-copy,mixed,mixed-soft seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Every rank sends to every rank, itself included, while all receive from any source: each message
 * comes exactly once, and those of one source in their order. The rounds differ in when receives
 * are posted (before, after, in between the sends to self and the sends of others), in tags and in
 * sizes.
 */
#include "check.h"

enum { EACH = 40, LARGEST = 40000, ROUNDS = 12, TAG = 50 };
enum { ANY_TAG = 1, LARGE = 2 }; /* bits of a round; round / 4 says when receives are posted */

static unsigned char *in, *out;
static MPI_Request *receives, *sends;
static MPI_Status *st;
static int posted;

static size_t size_of(int k, int round)
{
    static const size_t sizes[] = {8, 33000, 0, 400, 17000, 40000, 64};
    return round & LARGE ? sizes[k % 7] : 4 + (size_t)k;
}

static void post(int count, int round)
{
    for (; count > 0; count--, posted++) {
        MPI_Irecv(in + (size_t)posted * LARGEST, LARGEST, MPI_BYTE, MPI_ANY_SOURCE,
                  round & ANY_TAG ? MPI_ANY_TAG : TAG, MPI_COMM_WORLD, &receives[posted]);
    }
}

static int send_to(int dest, int round, int at)
{
    for (int k = 0; k < EACH; k++, at++) {
        size_t n = size_of(k, round);
        unsigned char *buf = out + (size_t)k * LARGEST;
        (k % 5 == 4 ? MPI_Issend : MPI_Isend)(buf, (int)n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD,
                                              &sends[at]);
    }
    return at;
}

/* Among the receives that got a message of one source, in posting order, the k-th got message k. */
static void verify(int total, int round)
{
    int *next = check_host((size_t)check.size * sizeof *next);
    memset(next, 0, (size_t)check.size * sizeof *next);
    for (int i = 0; i < total; i++) {
        int source = st[i].MPI_SOURCE;
        if (source < 0 || source >= check.size) {
            CHECK(false, "round %d: receive %d has source %d", round, i, source);
            continue;
        }
        int k = next[source]++;
        CHECK_STATUS(st[i], source, TAG, size_of(k, round));
        CHECK_DATA(in + (size_t)i * LARGEST, size_of(k, round), source, TAG, k);
    }
    for (int r = 0; r < check.size; r++) {
        CHECK(next[r] == EACH, "round %d: %d messages of rank %d, expected %d", round, next[r], r,
              EACH);
    }
    free(next);
}

static void play(int round)
{
    int total = EACH * check.size, at = 0, when = round / 4;
    check_step("round %d: receives posted %s", round,
               when == 0   ? "before"
               : when == 1 ? "after"
                           : "in between");
    posted = 0;
    post(when == 0 ? total : when == 2 ? EACH / 2 : 0, round);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int d = 0; d < check.size; d++) {
        at = send_to((check.rank + d) % check.size, round, at);
        if (when == 2) {
            post(EACH / 2, round);
        }
    }
    post(total - posted, round);
    MPI_Waitall(total, receives, st);
    MPI_Waitall(total, sends, MPI_STATUSES_IGNORE);
    verify(total, round);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    size_t total = (size_t)EACH * (size_t)check.size;
    in = check_alloc(total * LARGEST);
    out = check_alloc((size_t)EACH * LARGEST);
    receives = check_host(total * sizeof *receives);
    sends = check_host(total * sizeof *sends);
    st = check_host(total * sizeof *st);
    for (int k = 0; k < EACH; k++) {
        check_fill(out + (size_t)k * LARGEST, LARGEST, check.rank, TAG, k);
    }
    for (int round = 0; round < ROUNDS; round++) {
        play(round);
    }
    free(in);
    free(out);
    free(receives);
    free(sends);
    free(st);
    return check_done();
}
