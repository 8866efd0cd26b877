// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-signature
 * A message of ints is received as floats. The receives before it are right: a part of a structure,
 * bytes, a wildcard. */
#include <mpi.h>
#include <stddef.h>

struct pair {
    int number;
    double value;
};

int main(int argc, char **argv)
{
    int rank, numbers[4] = {1, 2, 3, 4};
    const int lengths[2] = {1, 1};
    const MPI_Aint at[2] = {offsetof(struct pair, number), offsetof(struct pair, value)};
    const MPI_Datatype members[2] = {MPI_INT, MPI_DOUBLE};
    struct pair pairs[3] = {{1, 2}};
    float reals[4];
    MPI_Datatype type, row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(2, lengths, at, members, &type);
    MPI_Type_contiguous(2, MPI_INT, &row);
    MPI_Type_commit(&type);
    MPI_Type_commit(&row);
    if (rank == 0) {
        MPI_Send(pairs, 1, type, 1, 0, MPI_COMM_WORLD);
        MPI_Send(numbers, 1, row, 1, 1, MPI_COMM_WORLD);
        MPI_Send(numbers, 3, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Send(numbers, 4, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(pairs, 3, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(numbers, 4, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(numbers, sizeof numbers, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
#ifdef CORRECTED
        MPI_Recv(numbers, 4, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
        MPI_Recv(reals, 4, MPI_FLOAT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
#endif
    }
    MPI_Type_free(&type);
    MPI_Type_free(&row);
    MPI_Finalize();
    (void)reals;
    return 0;
}
