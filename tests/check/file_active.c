// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=file-active
 * A file is closed before an operation on it is complete. */
#include <mpi.h>

enum { N = 8 };

int main(int argc, char **argv)
{
    int rank, values[2 * N] = {0};
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "file_active.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_Request request;
    MPI_File_iwrite_at(file, 0, values, rank == 0 ? N : 0, MPI_INT, &request);
#ifdef CORRECTED
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    MPI_File_close(&file); // finding
#ifndef CORRECTED
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    MPI_Finalize();
    return 0;
}
