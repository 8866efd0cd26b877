// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=send-changed
 * A send buffer is changed before the send is complete; the gaps of its datatype may be. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, in[2], out[4] = {1, 2, 3, 4};
    MPI_Datatype odd;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(2, 1, 2, MPI_INT, &odd);
    MPI_Type_commit(&odd);
    MPI_Isend(out, 1, odd, 1 - rank, 0, MPI_COMM_WORLD, &request); // finding
#ifdef CORRECTED
    out[1] = 5;
#else
    out[2] = 5;
#endif
    MPI_Recv(in, 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&odd);
    MPI_Finalize();
    return 0;
}
