// SPDX-License-Identifier: BSD-3-Clause
/*
 * A port that one of 2 ranks opens and the other connects to, compiled by the other MPI's mpicc.
 */
#include <mpi.h>

#include "check.h"

int main(int argc, char **argv)
{
    char name[MPI_MAX_PORT_NAME] = "";
    int rank, size = 0;
    MPI_Comm made;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        CHECK(MPI_Open_port(MPI_INFO_NULL, name) == MPI_SUCCESS);
    MPI_Bcast(name, (int)sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
    else
        MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
    CHECK(MPI_Comm_remote_size(made, &size) == MPI_SUCCESS && size == 1);
    MPI_Comm_disconnect(&made);
    if (rank == 0)
        MPI_Close_port(name);
    MPI_Finalize();
    return bad != 0;
}
