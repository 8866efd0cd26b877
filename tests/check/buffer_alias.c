// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=buffer-alias
 * The block that a rank contributes is in the buffer that it receives all blocks in. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, all[3] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    all[rank] = rank;
#ifdef CORRECTED
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
#else
    MPI_Allgather(&all[rank], 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD); // finding
#endif
    MPI_Finalize();
    return 0;
}
