// SPDX-License-Identifier: BSD-3-Clause
/* spawned TOOL: starts a job of one process, which opens a session besides MPI_Init. The job has
 * the library TOOL preloaded, as launchers other than weftrun preload it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char preload[4096];
    MPI_Comm parent, child;
    MPI_Session session;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
        MPI_Comm_spawn("env", (char *[]){preload, argv[0], NULL}, 1, MPI_INFO_NULL, 0,
                       MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&child);
    } else {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        MPI_Session_finalize(&session);
        MPI_Comm_disconnect(&parent);
    }
    return MPI_Finalize();
}
