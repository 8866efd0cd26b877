// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=collective-signature
 * A rank receives elements of another type than the others; a count of 0 needs no type. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, counts[3] = {1, 2, 1}, places[3] = {0, 1, 3}, none[3] = {0, 0, 0};
    float out[2] = {1, 2}, in[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Alltoallv(out, none, places, rank == 1 ? MPI_INT : MPI_FLOAT, in, none, places,
                  rank == 1 ? MPI_INT : MPI_FLOAT, MPI_COMM_WORLD);
#ifdef CORRECTED
    MPI_Allgatherv(out, counts[rank], MPI_FLOAT, in, counts, places, MPI_FLOAT, MPI_COMM_WORLD);
#else
    MPI_Datatype type = rank == 1 ? MPI_INT : MPI_FLOAT;
    MPI_Allgatherv(out, counts[rank], type, in, counts, places, type, MPI_COMM_WORLD); // finding
#endif
    MPI_Finalize();
    return 0;
}
