// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=file-conflict kinds=files
 * Many files, each written by two views of blocks in turn. Blocks of two ranks overlap in the last
 * file only, and not in the corrected program. */
#include <mpi.h>

enum { FILES = 30, BLOCKS = 128, TURNS = 4 };

/* Rank r has blocks of `length` ints at every (2 * length * i + shift). */
static MPI_Datatype blocks_of(int length, int shift)
{
    MPI_Datatype blocks, at;
    const int one = 1;
    const MPI_Aint where = (MPI_Aint)sizeof(int) * shift;
    MPI_Type_vector(BLOCKS, length, 2 * length, MPI_INT, &blocks);
    MPI_Type_create_hindexed(1, &one, &where, blocks, &at);
    MPI_Type_commit(&at);
    MPI_Type_free(&blocks);
    return at;
}

int main(int argc, char **argv)
{
    static int values[2 * BLOCKS];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const MPI_Offset apart = 4 * BLOCKS * (MPI_Offset)sizeof(int); /* the second view is behind */
    const MPI_Datatype narrow = blocks_of(1, rank), wide = blocks_of(2, 2 * rank);
    for (int i = 0; i < FILES; i++) {
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, "file_conflict_views.data",
                      MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file);
        for (int k = 0; k < TURNS; k++) {
            MPI_File_set_view(file, 0, MPI_INT, narrow, "native", MPI_INFO_NULL);
            MPI_File_write_all(file, values, BLOCKS, MPI_INT, MPI_STATUS_IGNORE);
            MPI_File_set_view(file, apart, MPI_INT, wide, "native", MPI_INFO_NULL);
            MPI_File_write_all(file, values, 2 * BLOCKS, MPI_INT, MPI_STATUS_IGNORE);
        }
#ifndef CORRECTED
        if (i == FILES - 1) {
            MPI_File_set_view(file, 4 * rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
            MPI_File_write_all(file, values, 2, MPI_INT, MPI_STATUS_IGNORE); // finding
        }
#endif
        MPI_File_close(&file);
    }
    MPI_Datatype types[] = {narrow, wide};
    MPI_Type_free(&types[0]);
    MPI_Type_free(&types[1]);
    MPI_Finalize();
    return 0;
}
