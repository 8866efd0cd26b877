// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,rxm-push,rxm-small,rxm-unpaid,soft-small,sockets seconds=60
// run: ranks=2 lanes=net-soft,shm,shm-copy,shm-small,shm-unpaid seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Messages from one sender are matched in the order they were sent, whatever their sizes, modes and
 * tags: posted before, posted after, with one tag, with any tag, from any source. On one rank the
 * peer is the rank itself.
 */
#include "check.h"

enum { MESSAGES = 260, LARGEST = 270000 };
enum { ONE_TAG = 1, WILD = 2, LATE = 4, ROUNDS = 8 };

static const int sizes[] = {0,     8,     LARGEST, 60,   64,    16384, 1, 65536,
                            65537, 16385, 300,     5000, 40000, 128,   8};

static int size_of(int i)
{
    return sizes[(i * 7) % (int)(sizeof sizes / sizeof sizes[0])];
}

static int tag_of(int i, int round)
{
    return round & ONE_TAG ? 3 : 100 + i % 5;
}

static void send_all(unsigned char **out, int peer, int round, MPI_Request *requests)
{
    for (int i = 0; i < MESSAGES; i++) {
        int n = size_of(i), tag = tag_of(i, round);
        check_fill(out[i], (size_t)n, check.rank, tag, i);
        if (i % 3 == 1) {
            MPI_Issend(out[i], n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[i]);
        } else {
            MPI_Isend(out[i], n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[i]);
        }
    }
}

static void post_all(unsigned char **in, int peer, int round, MPI_Request *requests)
{
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Irecv(in[i], LARGEST, MPI_BYTE, round & WILD ? MPI_ANY_SOURCE : peer,
                  round & WILD ? MPI_ANY_TAG : tag_of(i, round), MPI_COMM_WORLD, &requests[i]);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    unsigned char *out[MESSAGES], *in[MESSAGES];
    static MPI_Request sends[MESSAGES], receives[MESSAGES];
    static MPI_Status st[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        out[i] = check_alloc((size_t)size_of(i));
        in[i] = check_alloc(LARGEST);
    }
    for (int round = 0; round < ROUNDS; round++) {
        check_step("%s, %s, posted %s", round & ONE_TAG ? "one tag" : "five tags",
                   round & WILD ? "any source and tag" : "directed",
                   round & LATE ? "late" : "early");
        if (!(round & LATE)) {
            post_all(in, peer, round, receives);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        send_all(out, peer, round, sends);
        if (round & LATE) {
            MPI_Barrier(MPI_COMM_WORLD);
            post_all(in, peer, round, receives);
        }
        MPI_Waitall(MESSAGES, receives, st);
        MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MESSAGES; i++) {
            CHECK_STATUS(st[i], peer, tag_of(i, round), size_of(i));
            CHECK_DATA(in[i], (size_t)size_of(i), peer, tag_of(i, round), i);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < MESSAGES; i++) {
        free(out[i]);
        free(in[i]);
    }
    return check_done();
}
