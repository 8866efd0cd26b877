// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=file-conflict
 * Blocks of the ranks in one collective write overlap; what follows a sync and a barrier does not.
 */
#include <mpi.h>

enum { N = 8 };

int main(int argc, char **argv)
{
    int rank, values[2 * N] = {0};
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, "file_conflict.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank ? 4096 : 8192, values, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at(file, 4096, values, N, MPI_INT, MPI_STATUS_IGNORE);
#ifdef CORRECTED
    const MPI_Offset at = rank * 2 * N * (MPI_Offset)sizeof *values;
#else
    const MPI_Offset at = rank * N * (MPI_Offset)sizeof *values;
#endif
    MPI_File_write_at_all(file, at, values, 2 * N, MPI_INT, MPI_STATUS_IGNORE); // finding
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
