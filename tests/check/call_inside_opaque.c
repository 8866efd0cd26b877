// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=receive-changed kinds=objects,buffers
 * An error handler calls MPI inside MPI_Wait, through a frame without unwind information, as code
 * has that a compiler made at run time. MPI_Wait is not left. Then a buffer is changed while its
 * receive is not complete; in the corrected program it is not. */
#include <mpi.h>

enum { TOO_LONG = 2 };

static int in;

__attribute__((used)) void opaque_inner(MPI_Comm *comm, int *code, ...);
void opaque_inner(MPI_Comm *comm, int *code, ...)
{
    MPI_Request none;
    (void)code;
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, *comm, &none);
        MPI_Wait(&none, MPI_STATUS_IGNORE);
    }
}

#ifdef __x86_64__
void opaque(MPI_Comm *comm, int *code, ...);
__asm__(".text\n"
        ".type opaque, @function\n"
        "opaque: subq $8, %rsp\n"
        "call opaque_inner\n"
        "addq $8, %rsp\n"
        "ret\n"
        ".size opaque, . - opaque\n");
#else
#define opaque opaque_inner
#endif

static void fail_inside(int rank)
{
    MPI_Request request;
    const int many[TOO_LONG] = {0};
    MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(many, TOO_LONG, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(opaque, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    for (int i = 0; i < 3; i++)
        fail_inside(rank);
    MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request); // finding
    MPI_Send(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
#ifndef CORRECTED
    in++;
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
