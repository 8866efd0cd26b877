// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-type
 * The datatype of a structure has its members in the wrong order. */
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

struct particle {
    int number;
    char kind;
    double place[3];
    struct {
        unsigned low, high;
    } cell;
};

int main(int argc, char **argv)
{
    struct particle *list = calloc(4, sizeof *list), one = {0};
    int rank, lengths[3] = {1, 1, 3};
    MPI_Datatype made, type;
    MPI_Aint displacements[3] = {offsetof(struct particle, number), offsetof(struct particle, kind),
                                 offsetof(struct particle, place)};
#ifdef CORRECTED
    MPI_Datatype types[3] = {MPI_INT, MPI_CHAR, MPI_DOUBLE};
#else
    MPI_Datatype types[3] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
#endif
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(3, lengths, displacements, types, &made);
    MPI_Type_create_resized(made, 0, sizeof *list, &type);
    MPI_Type_commit(&type);
    if (rank == 0)
        MPI_Send(list, 4, type, 1, 0, MPI_COMM_WORLD); // finding
    else
        MPI_Recv(list, 4, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#ifdef CORRECTED
    MPI_Bcast(&one, 1, type, 0, MPI_COMM_WORLD);
#endif
    MPI_Bcast(list, 4 * sizeof *list, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&one.cell, 2, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    MPI_Type_free(&made);
    MPI_Finalize();
    free(list);
    return 0;
}
