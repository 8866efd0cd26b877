// SPDX-License-Identifier: BSD-3-Clause
/*
 * Linked into a program that is to be timed, of any MPI: rank 0 prints the seconds from the end of
 * MPI_Init to the start of MPI_Finalize on stderr, as "app_time SECONDS". The barriers are there so
 * that neither the start of the ranks nor the work of a late rank falls out of the interval.
 */
#include <mpi.h>
#include <stdio.h>

static double began;

int MPI_Init(int *argc, char ***argv)
{
    int error = PMPI_Init(argc, argv);
    if (error == MPI_SUCCESS)
        error = PMPI_Barrier(MPI_COMM_WORLD);
    began = PMPI_Wtime();
    return error;
}

int MPI_Finalize(void)
{
    int rank = -1;
    int error = PMPI_Barrier(MPI_COMM_WORLD);
    if (error == MPI_SUCCESS)
        error = PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!rank)
        fprintf(stderr, "app_time %.6f\n", PMPI_Wtime() - began);
    return error == MPI_SUCCESS ? PMPI_Finalize() : error;
}
