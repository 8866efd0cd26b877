// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Comm_spawn and MPI_Comm_spawn_multiple: all arguments but root, comm and the results are
 * significant at the root only, and checked there.
 */
#include "core/comm/spawn.h"
#include "core/mpi/entry.h"

#include <stdlib.h>

int weft_mpi_check_spawn_root(struct weft_comm *comm, int root)
{
    if (root >= 0 && root < comm->size)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ROOT,
                          "the root %d is not in the communicator, which has ranks 0 to %d", root,
                          comm->size - 1);
}

/* Fills a program with the arguments of the root. */
static int read_program(struct weft_spawn_program *program, const char *command, char **argv,
                        int maxprocs, MPI_Info handle)
{
    struct weft_info *info;
    int code = weft_arg_info_or_null(handle, &info);
    *program = (struct weft_spawn_program){command, argv, maxprocs, info};
    return code;
}

int weft_mpi_comm_spawn(const char *command, char **argv, int maxprocs, MPI_Info info, int root,
                        struct weft_comm *comm, int *errcodes, struct weft_comm **made)
{
    struct weft_spawn_program program = {0};
    int failed = MPI_SUCCESS;
    if (comm->rank == root)
        failed = read_program(&program, command, argv, maxprocs, info);
    return weft_comm_spawn(&program, 1, root, comm, failed, errcodes, made);
}

int weft_mpi_comm_spawn_multiple(int count, char **commands, char ***argvs, const int *maxprocs,
                                 const MPI_Info *infos, int root, struct weft_comm *comm,
                                 int *errcodes, struct weft_comm **made)
{
    struct weft_spawn_program *programs = NULL;
    int failed = MPI_SUCCESS;
    if (comm->rank == root && (count < 1 || !commands || !maxprocs || !infos))
        failed = weft_error_set(count < 1 ? MPI_ERR_COUNT : MPI_ERR_ARG,
                                "the count is %d, and the arrays of commands, of maxprocs and of "
                                "info need as many elements, at least 1",
                                count);
    else if (comm->rank == root && !(programs = calloc((size_t)count, sizeof *programs)))
        failed = weft_error_set(MPI_ERR_NO_MEM, "no memory for %d programs to spawn", count);
    for (int i = 0; programs && i < count && failed == MPI_SUCCESS; i++)
        failed =
            read_program(&programs[i], commands[i], argvs ? argvs[i] : NULL, maxprocs[i], infos[i]);
    int code = weft_comm_spawn(programs, count, root, comm, failed, errcodes, made);
    free(programs);
    return code;
}
