// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=not-freed options=--keep-going
 * Rank 2 dies. The others get the errors that they get without --check, continue without it, and do
 * not free their communicator; in the corrected program they do. */
#include <mpi.h>
#include <signal.h>

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

int main(int argc, char **argv)
{
    int rank, value = 0, flag = 1;
    MPI_Comm living;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        raise(SIGKILL);
    if (class_of(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE)) != MPIX_ERR_PROC_FAILED)
        return 1;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    if (class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) != MPIX_ERR_PROC_FAILED_PENDING)
        return 2;
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPIX_Comm_agree(MPI_COMM_WORLD, &flag); /* no message is sent before */
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    if (MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS || value != 1 - rank)
        return 3;
    if (MPIX_Comm_shrink(MPI_COMM_WORLD, &living) != MPI_SUCCESS) // finding
        return 4;
    MPI_Barrier(living);
#ifdef CORRECTED
    MPI_Comm_free(&living);
#endif
    MPI_Finalize();
    return 0;
}
