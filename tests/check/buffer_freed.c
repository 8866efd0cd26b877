// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-freed
 * The memory of a send is unmapped before the send is complete. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <sys/mman.h>

enum { SIZE = 1 << 16 };

int main(int argc, char **argv)
{
    int rank, in[4];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *out = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Isend(out, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request); // finding
    MPI_Recv(in, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef CORRECTED
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    munmap(out, SIZE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
