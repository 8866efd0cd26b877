// SPDX-License-Identifier: BSD-3-Clause
/* The last rank sleeps 60 ms in each step, the others 1 ms; all meet in a reduction. Rank 0 sends
 * 100 messages of 1000 bytes to rank 1, on a communicator in which the ranks are reversed. */
#include <locale.h>
#include <mpi.h>
#include <time.h>

enum { STEPS = 10, MESSAGES = 100, BYTES = 1000 };

static void rest(long milliseconds)
{
    struct timespec time = {0, milliseconds * 1000000};
    nanosleep(&time, NULL);
}

static void step(int rank, int size)
{
    double mine = 1, sum;
    rest(size > 1 && rank == size - 1 ? 60 : 1);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // most time
}

static void send_messages(int rank, int size)
{
    MPI_Comm reversed;
    char buffer[BYTES] = {0};
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
    for (int i = 0; i < MESSAGES && size > 1; i++) {
        if (rank == 0)
            MPI_Send(buffer, BYTES, MPI_CHAR, size - 2, 0, reversed); // messages
        if (rank == 1)
            MPI_Recv(buffer, BYTES, MPI_CHAR, size - 1, 0, reversed, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&reversed);
}

int main(int argc, char **argv)
{
    int rank, size;
    setlocale(LC_ALL, "");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < STEPS; i++)
        step(rank, size);
    send_messages(rank, size);
    MPI_Finalize();
    return 0;
}
