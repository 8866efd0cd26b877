// SPDX-License-Identifier: BSD-3-Clause
/*
 * Heat along a rod, divided among the ranks of one node. The rod is one shared window: a rank reads
 * the last cell of its neighbours where they are, nothing is sent.
 *
 *     weftrun -n 4 examples/rma/halo [STEPS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 64 }; /* of each rank, twice: this step and the next */

static double *cells_of(MPI_Win win, int rank)
{
    MPI_Aint bytes;
    int unit;
    double *cells;
    MPI_Win_shared_query(win, rank, &bytes, &unit, &cells);
    return cells;
}

int main(int argc, char **argv)
{
    int rank, size;
    double *mine, sum = 0, all;
    MPI_Comm node;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 1000;

    MPI_Win_allocate_shared(2 * CELLS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine,
                            &win);
    const double *left = rank > 0 ? cells_of(win, rank - 1) : NULL;
    const double *right = rank < size - 1 ? cells_of(win, rank + 1) : NULL;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    memset(mine, 0, 2 * CELLS * sizeof *mine);
    if (rank == 0)
        mine[0] = 1000;
    for (int step = 0; step < steps; step++) {
        double *now = mine + step % 2 * CELLS, *next = mine + (step + 1) % 2 * CELLS;
        MPI_Win_sync(win); /* what was stored before the barrier is seen after it */
        MPI_Barrier(node);
        MPI_Win_sync(win);
        /* No heat leaves at the ends of the rod. */
        double before = left ? left[step % 2 * CELLS + CELLS - 1] : now[0];
        double after = right ? right[step % 2 * CELLS] : now[CELLS - 1];
        for (int i = 0; i < CELLS; i++) {
            double a = i > 0 ? now[i - 1] : before, b = i < CELLS - 1 ? now[i + 1] : after;
            next[i] = now[i] + 0.25 * (a - 2 * now[i] + b);
        }
    }
    MPI_Win_unlock_all(win);
    for (int i = 0; i < CELLS; i++)
        sum += mine[steps % 2 * CELLS + i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, node);
    int kept = rank != 0 || (all > 999.999 && all < 1000.001);
    if (rank == 0)
        printf("%.6f of heat after %d steps\ncheck: heat is %s\n", all, steps,
               kept ? "conserved" : "NOT CONSERVED");
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return !kept;
}
