// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=deadlock kinds=deadlocks
 * The first MPI_Win_start waits long for its post; the second one waits for a rank that waits for
 * this one. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, other, *memory;
    MPI_Group all, peer;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &other, &peer);
    for (int i = 0; i < 2; i++) {
        if (rank == 1 && i == 0)
            sleep(6);
#ifndef CORRECTED
        if (rank == 1 && i == 1)
            MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
        if (rank == 1)
            MPI_Win_post(peer, 0, win);
        else
            MPI_Win_start(peer, 0, win); // finding
        if (rank == 1)
            MPI_Win_wait(win);
        else
            MPI_Win_complete(win);
    }
    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#ifdef CORRECTED
    else
        MPI_Recv(&other, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    MPI_Group_free(&peer);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
