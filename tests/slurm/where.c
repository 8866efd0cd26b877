// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every rank tells rank 0 its host, which prints "RANK of SIZE on HOST" in the order of ranks: the
 * data goes through messages, so what is printed has crossed the wire.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int rank, size, len;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &len);
    if (rank == 0) {
        printf("0 of %d on %s\n", size, host);
        for (int r = 1; r < size; r++) {
            MPI_Recv(host, sizeof host, MPI_CHAR, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%d of %d on %s\n", r, size, host);
        }
    } else {
        MPI_Send(host, len + 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
