// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-on-stack */
#include <mpi.h>

enum { N = 16 };

static __attribute__((noinline)) void make(MPI_Win *win, int *memory)
{
    int local[N] = {0};
#ifndef CORRECTED
    memory = local;
#else
    (void)local;
#endif
    MPI_Win_create(memory, N * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, win);
}

/* The memory of a window is a local variable of a function that has returned. */
int main(int argc, char **argv)
{
    int memory[N] = {0};
    MPI_Win win;
    MPI_Init(&argc, &argv);
    make(&win, memory);
    MPI_Win_free(&win); // finding
    MPI_Finalize();
    return 0;
}
