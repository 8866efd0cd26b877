// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-signature */
#include <mpi.h>

/* The records of equal messages are counted: the last one of many is received as another type. */
int main(int argc, char **argv)
{
    enum { MANY = 150 };
    int rank, value = 0;
    MPI_Datatype last = MPI_FLOAT;
#ifdef CORRECTED
    last = MPI_INT;
#endif
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MANY; i++) {
        MPI_Datatype type = i == MANY - 1 ? last : MPI_INT;
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        else
            MPI_Recv(&value, 1, type, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
    }
    MPI_Finalize();
    return 0;
}
