// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=deadlock */
#include <mpi.h>

/* Each rank starts an access to the next one before it exposes its own memory
 * to the one before. */
int main(int argc, char **argv)
{
    int rank, size, next, last, value = 1, *memory;
    MPI_Group all, targets, origins;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &next, &targets);
    MPI_Group_incl(all, 1, &last, &origins);
    for (int i = 0; i < 3; i++) {
#ifndef CORRECTED
        if (i < 2) /* the last time is wrong */
#endif
            MPI_Win_post(origins, 0, win);
        MPI_Win_start(targets, 0, win); // finding
        MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
#ifndef CORRECTED
        if (i == 2)
            MPI_Win_post(origins, 0, win);
#endif
        MPI_Win_wait(win);
    }
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
