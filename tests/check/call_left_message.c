// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-signature kinds=messages
 * An error handler leaves MPI_Recv by longjmp. MPI_Reduce, whose arguments are as many, is called
 * at the same place of the stack. A message behind them is received as other types; in the
 * corrected program it has the same ones. */
#include <mpi.h>
#include <setjmp.h>

static jmp_buf back;

static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(back, 1);
}

int main(int argc, char **argv)
{
    int rank, one = 1, sum;
    float other = 1;
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    MPIX_Comm_revoke(comm);
    if (!setjmp(back))
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
#ifdef CORRECTED
    if (rank == 0)
        MPI_Send(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
#else
    if (rank == 0)
        MPI_Send(&other, 1, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
#endif
    else
        MPI_Recv(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
    MPI_Finalize();
    return 0;
}
