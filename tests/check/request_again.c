// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=1 rule=use-after-free kinds=objects
 * The error handler of MPI_Wait begins a receive, and the library uses the handle of the request
 * that MPI_Wait has completed again, as another thread may get it before MPI_Wait has returned. A
 * copy of the handle is used after the second request is complete, too; in the corrected program it
 * is not. */
#include <mpi.h>

static MPI_Request again;
static int value;

static void receive(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    MPI_Irecv(&value, 1, MPI_INT, 0, 1, *comm, &again);
}

int main(int argc, char **argv)
{
    int two[2] = {1, 2}, one, flag;
    MPI_Errhandler handler;
    MPI_Request request, copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_errhandler(receive, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    MPI_Irecv(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    copy = request;
    MPI_Send(two, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* an error: the message is longer */
    if (again != copy)
        return 1;
    MPI_Send(two, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Wait(&again, MPI_STATUS_IGNORE);
#ifndef CORRECTED
    MPI_Test(&copy, &flag, MPI_STATUS_IGNORE); // finding
#endif
    (void)flag;
    MPI_Finalize();
    return 0;
}
