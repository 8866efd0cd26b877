// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-signature
 * A structure of an int and a float is received as two ints, in a persistent receive. */
#include <mpi.h>
#include <stddef.h>

struct pair {
    int number;
    float value;
};

int main(int argc, char **argv)
{
    int rank;
    const int lengths[2] = {1, 1};
    const MPI_Aint at[2] = {offsetof(struct pair, number), offsetof(struct pair, value)};
    const MPI_Datatype members[2] = {MPI_INT, MPI_FLOAT};
    struct pair pair = {1, 2};
    MPI_Datatype type;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(2, lengths, at, members, &type);
    MPI_Type_commit(&type);
    if (rank == 0) {
        MPI_Send_init(&pair, 1, type, 1, 7, MPI_COMM_WORLD, &request);
    } else {
#ifdef CORRECTED
        MPI_Recv_init(&pair, 1, type, 0, 7, MPI_COMM_WORLD, &request);
#else
        MPI_Recv_init(&pair, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, &request); // finding
#endif
    }
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
