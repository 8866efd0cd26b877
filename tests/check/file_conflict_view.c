// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=file-conflict
 * Ranks write columns of a matrix by the individual pointer, two of them the same. */
#include <mpi.h>

enum { N = 8 };

int main(int argc, char **argv)
{
    int rank, values[2 * N] = {0};
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "file_conflict_view.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    const int sizes[] = {4, 4}, part[] = {4, 2};
#ifdef CORRECTED
    const int start[] = {0, 2 * rank};
#else
    const int start[] = {0, rank};
#endif
    MPI_Datatype columns;
    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &columns);
    MPI_Type_commit(&columns);
    MPI_File_set_view(file, 0, MPI_INT, columns, "native", MPI_INFO_NULL);
    MPI_Type_free(&columns);
    MPI_File_write(file, values, N, MPI_INT, MPI_STATUS_IGNORE); // finding
    MPI_File_set_view(file, 4096 * rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_write(file, values, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
