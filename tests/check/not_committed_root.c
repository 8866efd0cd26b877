// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=type-not-committed kinds=objects,fail
 * Only the root uses the type that it receives with, and with MPI_IN_PLACE nobody the one to send
 * with. A reduction uses its type after MPI_Type_free. A child process ends as it likes. In the
 * wrong program the root has not committed its type. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(*type, &low, &extent);
    for (int i = 0; i < *n; i++)
        *(int *)((char *)inout + i * extent) += *(const int *)((const char *)in + i * extent);
}

static void reduce(void)
{
    int in[4] = {0}, out[4] = {0};
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request request;
    MPI_Type_vector(1, 1, 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(in, out, 4, type, op, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Op_free(&op);
}

static int end_child(void)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0)
        exit(0);
    return waitpid(pid, &status, 0) != pid || status != 0;
}

int main(int argc, char **argv)
{
    int rank, all[8] = {0}, own[2] = {0};
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Allgather(MPI_IN_PLACE, 1, type, all, 2, MPI_INT, MPI_COMM_WORLD);
#ifdef CORRECTED
    if (rank == 0)
        MPI_Type_commit(&type);
#endif
    MPI_Gather(own, 2, MPI_INT, all, 1, type, 0, MPI_COMM_WORLD); // finding
    MPI_Type_free(&type);
    reduce();
    const int failed = end_child();
    MPI_Finalize();
    return failed;
}
