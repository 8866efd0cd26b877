// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,shm seconds=30
/*
 * Windows and receives that the program leaves at MPI_Finalize. Their registered memory is closed
 * before the endpoint that it may be bound to: tests/strict breaks the run otherwise.
 */
#include "check.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { COUNT = 100000 };
    static int memory[COUNT], value[2] = {3, 4};
    MPI_Win win, allocated;
    int *base;
    int rank, size; /* of the world */
    check_begin(&argc, &argv, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_allocate(sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated);
    MPI_Win_fence(0, win);
    MPI_Put(value, 2, MPI_INT, (rank + 1) % size, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(memory[0] == 3 && memory[1] == 4, "got %d %d", memory[0], memory[1]);
    MPI_Win_lock_all(0, allocated);
    MPI_Put(value, 2, MPI_INT, (rank + 1) % size, 0, 2, MPI_INT, allocated);
    MPI_Win_flush_all(allocated);
    MPI_Win_unlock_all(allocated);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_done();
}
