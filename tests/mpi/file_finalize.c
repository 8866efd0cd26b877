// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2 lanes=self,shm,rxm seconds=30
/*
 * MPI_Finalize closes a file that is open, and removes one of MPI_MODE_DELETE_ON_CLOSE.
 */
#include "file.h"

int main(int argc, char **argv)
{
    char name[PATH_MAX];
    check_begin(&argc, &argv, 1);
    file_begin();
    MPI_File file = file_open("a", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    CHECK_CLASS(MPI_File_write_at(file, check.rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    snprintf(name, sizeof name, "%s", file_name("a"));
    int failures = check_done();
    if (check.rank == 0 && (access(name, F_OK) == 0 || rmdir(file_folder))) {
        fprintf(stderr, "%s was not removed\n", name);
        failures++;
    }
    return failures > 0;
}
