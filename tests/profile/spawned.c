// SPDX-License-Identifier: BSD-3-Clause
/* spawned TOOL: starts a job of one process, which opens a session besides MPI_Init. The job has
 * the library TOOL preloaded, as launchers other than weftrun preload it; it fails without it. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_tool(void)
{
    char line[8192];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, "libweft_profile") != NULL;
    return maps && fclose(maps) == 0 && found;
}

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
        if (!has_tool()) {
            fputs("the tool is not loaded\n", stderr);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        MPI_Session_finalize(&session);
        MPI_Comm_disconnect(&parent);
    }
    return MPI_Finalize();
}
