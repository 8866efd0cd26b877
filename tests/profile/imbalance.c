// SPDX-License-Identifier: BSD-3-Clause
/* The last rank computes 9 ms in each step, the others 1 ms; all meet in a reduction. Rank 0 sends
 * 100 messages of 1000 bytes to rank 1, on a communicator in which the ranks are reversed. */
#include <mpi.h>
#include <time.h>

enum { STEPS = 20, MESSAGES = 100, BYTES = 1000 };

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        continue;
}

static void step(int rank, int size)
{
    double mine = 1, sum;
    compute(size > 1 && rank == size - 1 ? 0.009 : 0.001);
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
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < STEPS; i++)
        step(rank, size);
    send_messages(rank, size);
    MPI_Finalize();
    return 0;
}
