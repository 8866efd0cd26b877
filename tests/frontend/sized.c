// SPDX-License-Identifier: BSD-3-Clause
/* The job has as many ranks as the argument says, and is this library's own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING + 8192];
    int size = 0, length;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(version, &length);
    if (argc < 2 || size != atoi(argv[1]) || !strstr(version, "Weft")) {
        printf("%d ranks, %s\n", size, version);
        return 1;
    }
    return MPI_Finalize();
}
