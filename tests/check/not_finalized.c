// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=1 rule=not-finalized
 * A process that returns without MPI_Finalize. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv); // finding
#ifdef CORRECTED
    MPI_Finalize();
#endif
    return 0;
}
