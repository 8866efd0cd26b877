// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock */
#include <mpi.h>

/* MPI_Win_wait waits for an origin that waits for a message of the target. */
int main(int argc, char **argv)
{
    int rank, other, value = 1, *memory;
    MPI_Group all, group;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &other, &group);
    for (int i = 0; i < 2; i++) { /* the first time is right */
        if (rank == 0) {
            MPI_Win_post(group, 0, win);
            MPI_Win_wait(win); // finding
            MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        } else {
            MPI_Win_start(group, 0, win);
            MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
#ifndef CORRECTED
            if (i == 1)
                MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
            MPI_Win_complete(win);
#ifndef CORRECTED
            if (i == 0)
#endif
                MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
