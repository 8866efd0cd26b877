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

/* A pointer to a block that was freed may have the address of another one. */
static void use_again(void)
{
    struct {
        int *numbers;
    } state;
    double *weights = malloc(1000);
    free(weights);
    state.numbers = calloc(1000, 1);
    MPI_Bcast(state.numbers, 4, MPI_INT, 0, MPI_COMM_WORLD);
    free(state.numbers);
}

/* The buffer of the type is elsewhere, though a pointer has its address. */
static void use_bottom(int *numbers)
{
    int length = 4;
    double *none = NULL;
    MPI_Aint at;
    MPI_Datatype type;
    MPI_Get_address(numbers, &at);
    MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(none, 1, type, 0, MPI_COMM_WORLD); /* MPI_BOTTOM */
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    long *sums;
    char *text;
    MPI_Init(&argc, &argv);
    use_again();
    sums = calloc(4, sizeof *sums);
    text = calloc(4, sizeof(double));
#ifdef CORRECTED
    MPI_Bcast(sums, 4, MPI_LONG, 0, MPI_COMM_WORLD);
#else
    MPI_Bcast(sums, 4, MPI_INT, 0, MPI_COMM_WORLD); // finding
#endif
    MPI_Bcast(text, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    share(sums);
    use_bottom((int *)text);
    MPI_Finalize();
    free(text);
    free(sums);
    return 0;
}
