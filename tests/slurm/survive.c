// SPDX-License-Identifier: BSD-3-Clause
/*
 * Ranks that go on without the dead: "survive [wait] RANK...". The ranks that are named kill
 * themselves, or with "wait" run on without a call: the caller sees to their end. The others wait
 * for the error that they are dead, make a communicator of the living, compute with it for some
 * seconds, and finalize. Each prints "rank R: N live, N wrong".
 */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 6 }; /* longer than a launcher takes to end what it will not let go on */

static int rank, size;

/* Waits for a message that a named rank never sends. */
static bool finds_dead(int named)
{
    int value, class;
    int code = MPI_Recv(&value, 1, MPI_INT, named, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    return class == MPI_ERR_PROC_ABORTED || class == MPIX_ERR_PROC_FAILED;
}

static void go_on(void)
{
    MPI_Comm living;
    int one = 1, sum = 0, wrong = 0, n;
    double begun = MPI_Wtime();
    wrong += MPIX_Comm_shrink(MPI_COMM_WORLD, &living) != MPI_SUCCESS;
    MPI_Comm_size(living, &n);
    for (int ends = 0; !ends;) {
        ends = MPI_Wtime() > begun + SECONDS;
        wrong += MPI_Allreduce(MPI_IN_PLACE, &ends, 1, MPI_INT, MPI_MAX, living) != MPI_SUCCESS;
        wrong += MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, living) != MPI_SUCCESS || sum != n;
        usleep(10000);
    }
    printf("rank %d: %d live, %d wrong\n", rank, n, wrong);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int first = 1, all_found = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    bool waits = argc > 1 && strcmp(argv[1], "wait") == 0;
    first += waits;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("all run\n");
        fflush(stdout);
    }
    for (int i = first; i < argc; i++) {
        if (atoi(argv[i]) != rank)
            continue;
        if (!waits)
            raise(SIGKILL);
        for (;;)
            pause();
    }
    for (int i = first; i < argc; i++)
        all_found &= finds_dead(atoi(argv[i]));
    if (!all_found)
        printf("rank %d found a dead rank not dead\n", rank);
    go_on();
    MPI_Finalize();
    return 0;
}
