// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=file-view
 * Data that are not of the etype of the view. */
#include <mpi.h>

enum { N = 8 };

int main(int argc, char **argv)
{
    int rank, values[2 * N] = {0};
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "file_view.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, rank * 4 * N, values, 2 * N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, rank * 4 * N, values, sizeof values, MPI_BYTE, MPI_STATUS_IGNORE);
#ifdef CORRECTED
    const MPI_Datatype type = MPI_INT;
#else
    const MPI_Datatype type = MPI_FLOAT;
#endif
    MPI_File_write_at_all(file, rank * N, values, N, type, MPI_STATUS_IGNORE); // finding
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
