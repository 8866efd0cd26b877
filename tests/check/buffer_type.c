// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=buffer-type
 * The datatype is not that of the local variable, whose size is the same. */
#include <mpi.h>
#include <stdint.h>

int main(int argc, char **argv)
{
    int rank;
    float values[4] = {0};
    int64_t sums[3] = {0};
    char text[16] = "";
    struct {
        unsigned n;
        int list[3];
    } some = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef CORRECTED
    const MPI_Datatype type = MPI_FLOAT;
#else
    const MPI_Datatype type = MPI_INT;
#endif
    MPI_Bcast(values, 4, type, 0, MPI_COMM_WORLD); // finding
    MPI_Bcast(sums, 3, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    MPI_Bcast(text, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(values, sizeof values, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&some, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
