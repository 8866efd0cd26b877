// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=collective-signature
 * Four bytes are broadcast as an int and received as a float; the twin describes the same two ints
 * by different datatypes. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, values[4] = {0};
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef CORRECTED
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(values, rank ? 1 : 2, rank ? type : MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
#else
    type = rank ? MPI_FLOAT : MPI_INT;
    MPI_Bcast(values, 1, type, 0, MPI_COMM_WORLD); // finding
#endif
    MPI_Finalize();
    return 0;
}
