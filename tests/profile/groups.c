// SPDX-License-Identifier: BSD-3-Clause
/* Six ranks: barriers on more groups of them, in different orders, than a time line has. */
#include <mpi.h>
#include <stdint.h>

enum { GROUPS = 400, KEYS = 1 << 20 };

static int key_of(int rank, int i)
{
    const uint64_t hash = (uint64_t)(i * 64 + rank) * 0x9e3779b97f4a7c15U;
    return (int)((hash ^ hash >> 29) * 0xbf58476d1ce4e5b9U >> 33) % KEYS;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < GROUPS; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, key_of(rank, i), &comm);
        MPI_Barrier(comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
