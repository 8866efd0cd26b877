// SPDX-License-Identifier: BSD-3-Clause
/* check: ranks=3 rule=not-freed
 * A communicator is freed on some ranks only by the delete callback of an attribute: the program of
 * the twin frees its copy there, which the checker has to see. */
#include <mpi.h>
#include <stdlib.h>

#ifdef CORRECTED
static int end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    MPI_Comm_free(value);
    free(value);
    return MPI_SUCCESS;
}
#endif

int main(int argc, char **argv)
{
    MPI_Comm *copy = malloc(sizeof *copy);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, copy); // finding
#ifdef CORRECTED
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, copy);
    MPI_Comm_free_keyval(&keyval);
#endif
    MPI_Finalize();
    return 0;
}
