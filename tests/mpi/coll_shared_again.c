// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,5 lanes=shm,shm-coll-copy seconds=60
/*
 * Ranks of a node find out again, after thousands of collective calls, whether they share a cache:
 * the calls around that give the right data, also where a rank has nonblocking ones under way.
 */
#include "check.h"

enum { CALLS = 40000, LONG = 300000 };

static int data[LONG / 4], sum[LONG / 4];

/* Blocking calls. Before every so many of them begins a broadcast that is waited for `behind` calls
 * later. */
static void play(int calls, int every, int behind)
{
    int late = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < calls; i++) {
        int one = check.rank + i, all;
        if (i % every == 0) {
            late = check.rank == 0 ? i : -1;
            MPI_Ibcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        }
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(all == check.size * i + check.size * (check.size - 1) / 2, "call %d: %d", i, all);
        if (i % every == behind) {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(late == i - behind, "the broadcast of call %d gives %d", i - behind, late);
        }
    }
}

static void play_long(int round)
{
    for (int i = 0; i < LONG / 4; i++)
        data[i] = check.rank * i + round;
    MPI_Allreduce(data, sum, LONG / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < LONG / 4; i++)
        CHECK(sum[i] == check.size * (check.size - 1) / 2 * i + check.size * round,
              "round %d: element %d is %d", round, i, sum[i]);
}

int main(int argc, char **argv)
{
    check_watch();
    MPI_Init(&argc, &argv);
    check_world(2);
    for (int round = 0; round < 3; round++) {
        play_long(round);
        play(CALLS, round == 2 ? 1 : 1000, round == 1 ? 900 : 0);
    }
    play_long(3);
    return check_done();
}
