// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=2 rule=use-after-free
 * A copy of a datatype's handle is used after the type has been freed. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int size;
    MPI_Datatype type, copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(3, MPI_INT, &type);
    copy = type;
#ifdef CORRECTED
    MPI_Type_size(copy, &size);
#endif
    MPI_Type_free(&type);
#ifndef CORRECTED
    MPI_Type_size(copy, &size); // finding
#endif
    MPI_Finalize();
    return 0;
}
