// SPDX-License-Identifier: BSD-3-Clause
/* Rank 0 waits 0.6 s in each of the calls that are marked, because rank 1 sleeps before it sends
 * (late sender) or receives a long message (late receiver). Between them go messages for which
 * nobody waits, and eager sends whose receive is late. Rank 2 takes no part. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { LONG = 8 << 20, MANY = 1000 };

static char *buffer;
static int rank;

static void rest(int who)
{
    struct timespec time = {0, 600000000};
    if (rank == who)
        nanosleep(&time, NULL);
}

static void exchange_many(MPI_Comm comm)
{
    for (int i = 0; i < MANY; i++)
        if (rank == 0)
            MPI_Recv(buffer, 1, MPI_CHAR, 1, 0, comm, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI_Send(buffer, 1, MPI_CHAR, 0, 0, comm);
}

static void receive(MPI_Comm comm)
{
    const int any = MPI_ANY_SOURCE;
    MPI_Request requests[2];
    MPI_Message message;
    if (rank == 0) {
        MPI_Recv(buffer, 1, MPI_CHAR, 1, 0, comm, MPI_STATUS_IGNORE); // sender
        MPI_Barrier(comm);
        MPI_Recv(buffer, 1, MPI_CHAR, any, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE); // sender
        MPI_Barrier(comm);
        MPI_Irecv(buffer, 1, MPI_CHAR, 1, 0, comm, &requests[0]);
        MPI_Irecv(buffer + 1, 1, MPI_CHAR, MPI_ANY_SOURCE, 3, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); // sender
        MPI_Barrier(comm);
        MPI_Mprobe(1, 0, comm, &message, MPI_STATUS_IGNORE); // sender
        MPI_Mrecv(buffer, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    } else {
        rest(1);
        if (rank == 1)
            MPI_Send(buffer, 1, MPI_CHAR, 0, 0, comm);
        MPI_Barrier(comm);
        rest(1);
        if (rank == 1)
            MPI_Send(buffer, 1, MPI_CHAR, 0, 0, comm);
        MPI_Barrier(comm);
        if (rank == 1)
            MPI_Send(buffer, 1, MPI_CHAR, 0, 0, comm);
        rest(1);
        if (rank == 1)
            MPI_Send(buffer, 1, MPI_CHAR, 0, 3, comm);
        MPI_Barrier(comm);
        rest(1);
        if (rank == 1)
            MPI_Send(buffer, 1, MPI_CHAR, 0, 0, comm);
    }
}

/* Rank 0 waits for a partitioned message, which rank 1 starts late. */
static void receive_partitions(MPI_Comm comm)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Barrier(comm);
    rest(1);
    if (rank == 0)
        MPI_Precv_init(buffer, 2, 100, MPI_CHAR, 1, 0, comm, MPI_INFO_NULL, &request);
    else if (rank == 1)
        MPI_Psend_init(buffer, 2, 100, MPI_CHAR, 0, 0, comm, MPI_INFO_NULL, &request);
    else
        return;
    MPI_Start(&request);
    if (rank == 1)
        MPI_Pready_range(0, 1, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
#endif
}

static void send(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Barrier(comm);
    if (rank == 0) {
        MPI_Send(buffer, 1, MPI_CHAR, 1, 9, comm);
        MPI_Send(buffer, LONG, MPI_CHAR, 1, 0, comm); // receiver
        MPI_Send_init(buffer, LONG, MPI_CHAR, 1, 0, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); // receiver
        MPI_Request_free(&request);
    }
    for (int i = 0; i < 2; i++) {
        rest(1);
        if (rank == 1)
            MPI_Recv(buffer, LONG, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE);
    }
    if (rank == 1)
        MPI_Recv(buffer, 1, MPI_CHAR, 0, 9, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    buffer = malloc(LONG);
    if (!buffer)
        return 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    exchange_many(comm);
    MPI_Barrier(comm);
    receive(comm);
    receive_partitions(comm);
    send(comm);
    MPI_Barrier(comm);
    exchange_many(comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
