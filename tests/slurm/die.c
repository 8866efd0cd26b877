// SPDX-License-Identifier: BSD-3-Clause
/*
 * The last rank ends while the others wait for a message of it: "die kill|exit [TALK]". With TALK
 * all ranks have exchanged messages before. "die stop" stops it for 6 seconds, then it sends.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static void end(const char *manner)
{
    pid_t self = getpid();
    sleep(1); /* the others wait by then */
    if (strcmp(manner, "exit") == 0)
        _exit(7);
    if (strcmp(manner, "kill") == 0)
        raise(SIGKILL);
    if (fork() == 0) {
        sleep(6);
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

int main(int argc, char **argv)
{
    int rank, size, value = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        end(argv[1]);
    if (rank == size - 1)
        for (int r = 0; r < rank; r++)
            MPI_Send(&value, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    if (rank == 0)
        printf("rank %d has sent\n", size - 1);
    return 0;
}
