// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=target-range
 * A strided put ends behind the window of the target. */
#include <mpi.h>

int main(int argc, char **argv)
{
#ifdef CORRECTED
    enum { SIZE = 5 };
#else
    enum { SIZE = 4 };
#endif
    int rank, out[3] = {0}, *memory;
    MPI_Datatype odd;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(3, 1, 2, MPI_INT, &odd);
    MPI_Type_commit(&odd);
    MPI_Win_allocate(SIZE * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    MPI_Put(out, 3, MPI_INT, 1 - rank, 0, 1, odd, win); // finding
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    MPI_Type_free(&odd);
    MPI_Finalize();
    return 0;
}
