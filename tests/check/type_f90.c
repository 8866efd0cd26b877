// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=message-signature
 * Types of MPI_Type_create_f90_real are predefined, but made while the program runs: here after the
 * program has freed others, so that they may get the handle of one of those. They are elements of
 * messages and of views of files. The wrong program receives the message as floats. */
#include <mpi.h>

enum { FREED = 40 };

static void free_types(void)
{
    MPI_Datatype types[FREED];
    for (int i = 0; i < FREED; i++)
        MPI_Type_vector(2, 1, 2 + i, MPI_INT, &types[i]);
    for (int i = 0; i < FREED; i++)
        MPI_Type_free(&types[i]);
}

static void write_file(MPI_Datatype kind)
{
    double values[2] = {0};
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, "type_f90.data",
                  MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, kind, kind, "native", MPI_INFO_NULL);
    MPI_File_write(file, values, 2, kind, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    int rank;
    double values[3] = {0};
    MPI_Datatype kind, other, row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    free_types();
    MPI_Type_create_f90_real(15, 307, &kind);
    free_types();
    MPI_Type_create_f90_real(15, 300, &other);
    MPI_Type_contiguous(3, kind, &row);
    MPI_Type_commit(&row);
    MPI_Bcast(values, 1, row, 0, MPI_COMM_WORLD);
    MPI_Bcast(values, 3, other, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        write_file(kind);
        MPI_Send(values, 1, row, 1, 0, MPI_COMM_WORLD);
    } else {
#ifdef CORRECTED
        MPI_Recv(values, 3, kind, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
        MPI_Recv(values, 6, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // finding
#endif
    }
    MPI_Type_free(&row);
    MPI_Finalize();
    return 0;
}
