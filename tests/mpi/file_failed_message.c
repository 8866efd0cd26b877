// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=mixed,nodes seconds=60
/*
 * A message of a collective access to a file fails at one rank, because its peer's memory cannot be
 * read, and nobody dies: the access ends with an error at all ranks, also at those that wait for
 * later messages of that rank, and the next accesses work.
 */
#include "check.h"
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { ROWS = 1 << 15, ROW = 160 }; /* bytes of a row: each rank has every fourth one */

static bool fails;
static int failures;

/* In place of the function of the C library. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal,
                         const struct iovec *remote, unsigned long nremote, unsigned long flags)
{
    if (fails) {
        failures++;
        errno = EFAULT;
        return -1;
    }
    return syscall(SYS_process_vm_readv, pid, local, nlocal, remote, nremote, flags);
}

static char byte_of(int rank, int row, int round)
{
    return (char)(rank * 31 + row * 7 + round);
}

static int write_all(MPI_File file, char *data, int round, bool blocking)
{
    MPI_Request request = MPI_REQUEST_NULL;
    for (int row = 0; row < ROWS; row++)
        memset(data + (size_t)row * ROW, byte_of(check.rank, row, round), ROW);
    if (blocking)
        return MPI_File_write_at_all(file, 0, data, ROWS * ROW, MPI_BYTE, MPI_STATUS_IGNORE);
    int code = MPI_File_iwrite_at_all(file, 0, data, ROWS * ROW, MPI_BYTE, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

static void read_back(MPI_File file, char *data, int round)
{
    CHECK_CLASS(MPI_File_read_at(file, 0, data, ROWS * ROW, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    for (int row = 0; row < ROWS; row++)
        CHECK(data[(size_t)row * ROW + 5] == byte_of(check.rank, row, round), "row %d of round %d",
              row, round);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Datatype rows;
    setenv("WEFT_SHM_EAGER", "64", 1);
    setenv("WEFT_SHM_COPY", "direct", 1);
    check_begin(&argc, &argv, 4);
    check_errors_return();
    char *data = malloc((size_t)ROWS * ROW);
    file_begin();
    file = file_open("data", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Type_vector(ROWS, ROW, check.size * ROW, MPI_BYTE, &rows);
    MPI_Type_commit(&rows);
    CHECK_CLASS(MPI_File_set_view(file, (MPI_Offset)check.rank * ROW, MPI_BYTE, rows, "native",
                                  MPI_INFO_NULL),
                MPI_SUCCESS);
    for (int round = 0; round < 7; round++) {
        bool failing = round % 2 == 0; /* in the first, too, which would make domains */
        check_step("round %d", round);
        fails = failing && check.rank == 1;
        failures = 0;
        int class = check_class(write_all(file, data, round, round < 3));
        fails = false;
        CHECK((class != MPI_SUCCESS) == failing, "round %d: class %d", round, class);
        CHECK(!failing || check.rank != 1 || failures > 0, "no message was to fail");
        MPI_Barrier(MPI_COMM_WORLD);
        if (!failing)
            read_back(file, data, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&rows);
    MPI_File_close(&file);
    file_remove("data");
    file_end();
    free(data);
    return check_done();
}
