// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_spawn: how long MPI_Comm_spawn takes, or MPI_Comm_accept and MPI_Comm_connect of two ranks
 * of one job, and the MPI_Comm_disconnect after it. Prints one line: the medians in ms. Runs with
 * every MPI library.
 *
 *   weft_spawn CHILDREN TIMES     one rank; CHILDREN 0: accept and connect, two ranks
 */
#include "figures.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, other;
    char port[MPI_MAX_PORT_NAME];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    int children = argc > 2 ? atoi(argv[1]) : 1, times = argc > 2 ? atoi(argv[2]) : 1;
    double *making = malloc((size_t)times * sizeof *making);
    double *ending = malloc((size_t)times * sizeof *ending);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (times < 1 || !making || !ending)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0 && !children)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < times; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        if (children)
            MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_SELF,
                           &other, MPI_ERRCODES_IGNORE);
        else if (rank == 0)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        double made = MPI_Wtime();
        MPI_Comm_disconnect(&other);
        making[i] = made - begin;
        ending[i] = MPI_Wtime() - made;
    }
    if (rank == 0)
        printf("spawn %.3f %.3f\n", 1e3 * bench_median(making, times),
               1e3 * bench_median(ending, times));
    free(making);
    free(ending);
    MPI_Finalize();
    return 0;
}
