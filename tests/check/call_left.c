// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=receive-changed kinds=objects,buffers
 * An error handler leaves MPI_Wait, and then MPI_Recv, by longjmp. Behind them a buffer is used
 * again, and another one is changed while its receive is not complete; in the corrected program it
 * is not. */
#include <mpi.h>
#include <setjmp.h>

enum { TOO_LONG = 2 };

static jmp_buf back;
static int in, other;

static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(back, 1);
}

static void be_left(int rank)
{
    MPI_Request request;
    const int many[TOO_LONG] = {0};
    MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(many, TOO_LONG, MPI_INT, rank, 0, MPI_COMM_WORLD);
    if (!setjmp(back))
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!setjmp(back))
        MPI_Recv(&in, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The frames of its calls are below those of the calls that were left. */
static void change(int rank)
{
    volatile char room[1000];
    MPI_Request request, next;
    room[0] = 0;
    MPI_Irecv(&other, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &next);
    MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request); // finding
    MPI_Send(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
#ifndef CORRECTED
    in++;
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
    MPI_Wait(&next, MPI_STATUS_IGNORE);
    (void)room[0];
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    be_left(rank);
    change(rank);
    MPI_Finalize();
    return 0;
}
