// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=type-not-committed
 * A datatype is used for a broadcast without MPI_Type_commit. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int values[4] = {0};
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
#ifdef CORRECTED
    MPI_Type_commit(&type);
#endif
    MPI_Bcast(values, 1, type, 0, MPI_COMM_WORLD); // finding
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
