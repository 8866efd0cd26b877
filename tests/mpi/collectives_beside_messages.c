// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,net-soft,shm,shm-coll,mixed,mixed-soft seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Collectives and the user's own messages on one communicator do not see each other: receives with
 * both wildcards are pending, and messages with every tag lie unexpected, while collectives run.
 */
#include "check.h"

enum { ROUNDS = 30, MESSAGES = 16 };

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    int out[MESSAGES], in[MESSAGES], all[64], n = check.size < 64 ? check.size : 64;
    MPI_Request sends[MESSAGES], receives[MESSAGES];
    for (int round = 0; round < ROUNDS; round++) {
        check_step("round %d", round);
        for (int i = 0; i < MESSAGES; i++) {
            if (round & 1) {
                MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                          &receives[i]);
            } else {
                out[i] = 1000 * check.rank + i;
                MPI_Isend(&out[i], 1, MPI_INT, up, i, MPI_COMM_WORLD, &sends[i]);
            }
        }
        int sum = -1, value = check.rank == 0 ? round : -1, mine = check.rank * 3 + round;
        MPI_Allreduce(&check.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK(sum == check.size * (check.size - 1) / 2, "sum of ranks is %d", sum);
        CHECK(value == round, "broadcast %d brought %d", round, value);
        if (check.size <= 64) {
            MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
            for (int r = 0; r < n; r++) {
                CHECK(all[r] == r * 3 + round, "allgather: rank %d has %d", r, all[r]);
            }
        }
        for (int i = 0; i < MESSAGES; i++) {
            if (round & 1) {
                out[i] = 1000 * check.rank + i;
                MPI_Isend(&out[i], 1, MPI_INT, up, i, MPI_COMM_WORLD, &sends[i]);
            } else {
                MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                          &receives[i]);
            }
        }
        MPI_Waitall(MESSAGES, receives, MPI_STATUSES_IGNORE);
        MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MESSAGES; i++) {
            CHECK(in[i] == 1000 * down + i, "message %d of rank %d: %d", i, down, in[i]);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* wildcards of a round take messages of that round only */
    }
    return check_done();
}
