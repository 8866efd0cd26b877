// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=collective-root
 * Each rank passes itself as the root, in a communicator that a split has made. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, root, value = 1;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &half);
    MPI_Comm_rank(half, &root);
#ifdef CORRECTED
    root = 0;
#endif
    MPI_Bcast(&value, 1, MPI_INT, root, half); // finding
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
