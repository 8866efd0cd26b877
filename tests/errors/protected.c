// SPDX-License-Identifier: BSD-3-Clause
/*
 * Passes memory that neither the library nor the kernel may access (PROT_NONE) to MPI:
 * protected ACT BYTES. The act names the call, and which buffer of which rank is bad. With
 * "returns" as third argument errors return, and both ranks print the class that they got.
 *
 * Invariant: a run whose mistake was not noticed prints NOT NOTICED and exits 0.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int rank, bytes;

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

static int act_on(const char *act, char *good, char *bad)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Request request;
    int count = bytes / (int)sizeof(double), code;
    if (!strcmp(act, "send"))
        return rank == 0 ? MPI_Send(bad, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD)
                         : MPI_Recv(good, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(act, "receive"))
        return rank == 0 ? MPI_Send(good, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD)
                         : MPI_Recv(bad, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(act, "isend")) {
        if (rank == 1)
            return MPI_Recv(good, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        code = MPI_Isend(bad, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
        return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (!strcmp(act, "allreduce"))
        return MPI_Allreduce(rank == 0 ? bad : good, good + bytes, count, MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
    if (!strcmp(act, "bcast"))
        return MPI_Bcast(rank == 0 ? bad : good, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!strcmp(act, "window"))
        return MPI_Win_create(rank == 0 ? bad : good, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                              &win);
    code = MPI_Win_create(good, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (code != MPI_SUCCESS)
        return code;
    MPI_Win_fence(0, win);
    if (rank == 0)
        code = !strcmp(act, "put") ? MPI_Put(bad, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win)
                                   : MPI_Get(bad, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    bytes = atoi(argv[2]);
    size_t room = 2 * (size_t)bytes;
    char *good = calloc(1, room);
    char *bad = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 3)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int class = class_of(act_on(argv[1], good, bad));
    if (argc == 3)
        printf("NOT NOTICED\n");
    else if (class == MPI_ERR_BUFFER)
        printf("rank %d: MPI_ERR_BUFFER\n", rank);
    else
        printf("rank %d: class %d\n", rank, class);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    free(good);
    return 0;
}
