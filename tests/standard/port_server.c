// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=shm seconds=120
/*
 * Servers and clients that meet at a port (MPI 5.0, 11.9.4): ocean and atmosphere, whose server
 * publishes the port's name, and the simple server, which accepts one client after the other and
 * does what the tags of their messages state. Rank 0 is the server.
 */
#include "../mpi/check.h"

enum { CLOSE, DISCONNECT, WORK, VALUE };

static char service[64], port[MPI_MAX_PORT_NAME];

/* Both models: an inter-communicator, a value each way, the end. */
static void ocean_and_atmosphere(void)
{
    MPI_Comm inter;
    double mine = check.rank ? 7.5 : 2.5, theirs = 0;
    if (check.rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(service, MPI_INFO_NULL, port);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank > 1)
            return;
        MPI_Lookup_name(service, MPI_INFO_NULL, port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    }
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, 0, VALUE, &theirs, 1, MPI_DOUBLE, 0, VALUE, inter,
                 MPI_STATUS_IGNORE);
    CHECK(mine + theirs == 10, "%g from the other model", theirs);
    MPI_Comm_disconnect(&inter);
    if (check.rank == 0) {
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

/* Serves a client until its last message. Returns the tag of that. */
static int serve(MPI_Comm client, int *sum)
{
    MPI_Status status;
    double value;
    for (;;) {
        MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, client, &status);
        if (status.MPI_TAG != WORK)
            return status.MPI_TAG;
        *sum += (int)value;
    }
}

static void server(int clients)
{
    MPI_Comm client;
    int sum = 0, served = 0, tag = DISCONNECT;
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (; tag != CLOSE; served++) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client);
        tag = serve(client, &sum);
        MPI_Comm_disconnect(&client);
    }
    CHECK(served == clients && sum == 10 * clients, "%d clients, sum %d", served, sum);
    MPI_Close_port(port);
}

/* The last rank connects when all others have left, and closes the server. */
static void client(int clients)
{
    MPI_Comm inter;
    double value;
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    bool last = check.rank == clients;
    for (int i = 1; last && i < clients; i++)
        MPI_Recv(NULL, 0, MPI_INT, i, VALUE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    for (value = 1; value <= 4; value++)
        MPI_Send(&value, 1, MPI_DOUBLE, 0, WORK, inter);
    MPI_Send(&value, 0, MPI_DOUBLE, 0, last ? CLOSE : DISCONNECT, inter);
    MPI_Comm_disconnect(&inter);
    if (!last)
        MPI_Send(NULL, 0, MPI_INT, clients, VALUE, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    snprintf(service, sizeof service, "ocean-%ld", check.rank ? 0 : (long)getpid());
    MPI_Bcast(service, sizeof service, MPI_CHAR, 0, MPI_COMM_WORLD);
    ocean_and_atmosphere();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        server(check.size - 1);
    else
        client(check.size - 1);
    return check_done();
}
