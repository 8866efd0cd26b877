// SPDX-License-Identifier: BSD-3-Clause
/* Calls of the same functions from several lines, at several depths of the stack, with arrays of
 * several lengths. The number behind "//" is how often the line is called. */
#include <mpi.h>

enum { MANY = 200 };

static void send(int depth)
{
    volatile char space[100] = {0};
    int value = space[0];
    if (depth > 0)
        send(depth - 1);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); // calls: 60
}

static void wait_all(int n)
{
    MPI_Request requests[MANY];
    int value = 0;
    for (int i = 0; i < n; i++)
        MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[i]);
    if (n > MANY / 2)
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE); // calls: 10
    else
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE); // calls: 20
}

int main(int argc, char **argv)
{
    int value = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) {
        send(0);
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); // calls: 10
        wait_all(3);
        send(4);
        wait_all(MANY);
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); // calls: 10
        wait_all(10);
    }
    MPI_Finalize();
    return 0;
}
