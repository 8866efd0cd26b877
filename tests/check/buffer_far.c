// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-range */
#include <mpi.h>
#include <stdlib.h>

struct element {
    int number;
    double value;
};

/* A displacement is an address, but the buffer is not MPI_BOTTOM. Corrected: it is relative. */
int main(int argc, char **argv)
{
    struct element *element = calloc(1, sizeof *element);
    int rank, lengths[2] = {1, 1};
    MPI_Aint at[2], base;
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_address(element, &base);
    at[0] = 0;
    MPI_Get_address(&element->value, &at[1]);
#ifdef CORRECTED
    at[1] = MPI_Aint_diff(at[1], base);
#endif
    MPI_Type_create_struct(2, lengths, at, types, &type);
    MPI_Type_commit(&type);
    if (rank == 0)
        MPI_Send(element, 1, type, 1, 3, MPI_COMM_WORLD); // finding
    if (rank == 1)
        MPI_Recv(element, 1, type, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Finalize();
    free(element);
    return 0;
}
