// SPDX-License-Identifier: BSD-3-Clause
/*
 * Requests of a front end, compiled by the other MPI's mpicc, on 2 ranks: MPI_Isend, MPI_Irecv and
 * MPI_Wait with usual and unusual handles, with errors, and with more requests than the core has in
 * one slab (256).
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { MANY = 600, COUNT = 100 };

static void errors(void)
{
    int x = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Comm world = MPI_COMM_WORLD;
    CHECK(class_of(MPI_Isend(&x, 1, MPI_INT, 99, 0, world, &request)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Irecv(&x, -1, MPI_INT, 0, 0, world, &request)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Isend(&x, 1, MPI_DATATYPE_NULL, 0, 0, world, &request)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request)) == MPI_ERR_COMM);
    CHECK(MPI_Isend(&x, 1, MPI_INT, 0, 0, world, NULL) != MPI_SUCCESS);
    CHECK(MPI_Irecv(&x, 1, MPI_INT, 0, 0, world, NULL) != MPI_SUCCESS);
    CHECK(MPI_Wait(NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
}

static void nowhere(void)
{
    int x = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && status.MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
}

static void made_handles(int rank)
{
    int sent = rank, received = -1;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request request, before;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(&received, 1, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    MPI_Send(&sent, 1, type, 1 - rank, 3, comm);
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
    CHECK(received == 1 - rank && status.MPI_SOURCE == 1 - rank && status.MPI_TAG == 3);
    MPI_Recv_init(&received, 1, type, 1 - rank, 5, comm, &request);
    before = request;
    MPI_Start(&request);
    MPI_Send(&sent, 1, type, 1 - rank, 5, comm);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && request == before);
    MPI_Request_free(&request);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
}

static void truncated(int rank)
{
    int received;
    char sent[COUNT] = {0};
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, &request);
    MPI_Send(sent, COUNT, MPI_CHAR, 1 - rank, 9, MPI_COMM_WORLD);
    CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    CHECK(request == MPI_REQUEST_NULL);
}

/* A message that is probed for, and received by a request whose variable has no handle yet. */
static void probed(int rank)
{
    int received = -1, flag = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    memset(&request, 0x5a, sizeof request);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 11, MPI_COMM_WORLD);
    while (!flag)
        CHECK(MPI_Improbe(1 - rank, 11, MPI_COMM_WORLD, &flag, &message, &status) == MPI_SUCCESS);
    CHECK(MPI_Imrecv(&received, 1, MPI_INT, &message, &request) == MPI_SUCCESS);
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
    CHECK(received == 1 - rank && status.MPI_TAG == 11);
}

static void many(int rank)
{
    static int received[MANY];
    static MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&received[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < MANY; i++)
        MPI_Send(&i, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i += 2)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        CHECK(received[i] == i);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    errors();
    nowhere();
    made_handles(rank);
    truncated(rank);
    probed(rank);
    many(rank);
    MPI_Finalize();
    return bad != 0;
}
