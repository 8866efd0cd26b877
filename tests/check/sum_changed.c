// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=receive-changed */
#include <mpi.h>

/* The result of a nonblocking reduction is changed before the reduction is complete. Callbacks run
 * inside of calls: what changes meanwhile, the library has changed. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int sum = 0, one = 1, flag = 0;
    MPI_Op op;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request); // finding
#ifndef CORRECTED
    sum++;
#endif
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
