// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=shm,rxm,mixed,nodes seconds=40
/*
 * A rank that locks its own window again and again, and otherwise makes no call, lets the others
 * have the lock: it waits in such a loop until they have written to it.
 */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int *window, one = 1, sum = 0;
    MPI_Win win;
    MPI_Win_allocate(sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    *window = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    check_step("taking turns with the lock of rank 0");
    if (check.rank == 0) {
        while (sum < check.size - 1) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            sum = *window;
            MPI_Win_unlock(0, win);
        }
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
    return check_done();
}
