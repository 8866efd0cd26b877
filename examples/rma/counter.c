// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tasks of unequal length, numbered by one counter on rank 0: MPI_Fetch_and_op gives each rank the
 * number of its next task. No rank is a master that only hands out work.
 *
 *     weftrun -n 4 examples/rma/counter [TASKS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* The steps to reach 1 from n by halving even numbers and tripling odd ones. */
static long work(long n)
{
    long steps = 0;
    for (; n > 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

int main(int argc, char **argv)
{
    int rank;
    long *counter, one = 1, task = 0, mine = 0, steps = 0, all[2], done[2];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long tasks = argc > 1 ? atol(argv[1]) : 20000;

    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &counter, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        *counter = 1;
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock_all(0, win);
    for (;;) {
        MPI_Fetch_and_op(&one, &task, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        if (task > tasks)
            break;
        steps += work(task);
        mine++;
    }
    MPI_Win_unlock_all(win);

    done[0] = mine;
    done[1] = steps;
    MPI_Reduce(done, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld tasks done, %ld steps\ncheck: %s\n", all[0], all[1],
               all[0] == tasks ? "every task was done once" : "tasks were LOST");
    MPI_Win_free(&win);
    MPI_Finalize();
    return rank == 0 && all[0] != tasks;
}
