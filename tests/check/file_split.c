// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=file-active
 * A file is closed between the two halves of a split collective call. */
#include <mpi.h>

enum { N = 8 };

int main(int argc, char **argv)
{
    int rank, values[2 * N] = {0};
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "file_split.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all_begin(file, rank * N, values, N, MPI_BYTE);
#ifdef CORRECTED
    MPI_File_write_at_all_end(file, values, MPI_STATUS_IGNORE);
#else
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
#endif
    MPI_File_close(&file); // finding
    MPI_Finalize();
    return 0;
}
