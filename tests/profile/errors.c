// SPDX-License-Identifier: BSD-3-Clause
/* Calls that fail: on MPI_COMM_NULL, whose error returns (with an argument: ends the job), and on
 * no communicator and no rank, whose error handler leaves them by longjmp. The calls behind them
 * are counted. */
#include <mpi.h>
#include <setjmp.h>

enum { AFTER = 10 };

static jmp_buf back;

static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(back, 1);
}

/* Their frames are below that of the call that was left. */
static void call_deeper(int depth)
{
    volatile char room[1000];
    int data = 0;
    room[0] = (char)depth;
    if (depth > 0)
        call_deeper(depth - 1);
    else
        MPI_Sendrecv(&data, 1, MPI_INT, 0, 0, &data, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    (void)room[0];
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Comm copy;
    int data = 0, class = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    if (argc == 1) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    int code = MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_NULL);
    MPI_Error_class(code, &class);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    if (!setjmp(back))
        MPI_Send(&data, 1, MPI_INT, -9, 0, MPI_COMM_WORLD);
    if (!setjmp(back))
        MPI_Barrier((MPI_Comm)MPI_INFO_ENV);
    MPI_Comm_dup(MPI_COMM_SELF, &copy); /* the profile looks it up */
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    for (int i = 0; i < AFTER; i++)
        call_deeper(3);
    MPI_Finalize();
    return class != MPI_ERR_COMM;
}
