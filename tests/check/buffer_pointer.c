// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-type
 * The datatype is not that of what the pointer points at. A pointer of another type at the same
 * memory makes it raw. */
#include <mpi.h>
#include <stdlib.h>

static void share(void *any)
{
    float *values = any;
    int *bits = any;
    MPI_Bcast(bits, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(values + 1, 3, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    long *sums;
    char *text;
    MPI_Init(&argc, &argv);
    sums = calloc(4, sizeof *sums);
    text = calloc(4, sizeof(double));
#ifdef CORRECTED
    MPI_Bcast(sums, 4, MPI_LONG, 0, MPI_COMM_WORLD);
#else
    MPI_Bcast(sums, 4, MPI_INT, 0, MPI_COMM_WORLD); // finding
#endif
    MPI_Bcast(text, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    share(sums);
    MPI_Finalize();
    free(text);
    free(sums);
    return 0;
}
