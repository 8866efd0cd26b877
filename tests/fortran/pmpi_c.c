// SPDX-License-Identifier: BSD-3-Clause
/* A profiling library for C: counts MPI_Send and MPI_Isend, whatever language called them. */
#include <mpi.h>

#include <stdio.h>

static int sends;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    sends++;
    return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

int MPI_Finalize(void)
{
    printf("C saw %d sends\n", sends);
    return PMPI_Finalize();
}
