// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm seconds=60
/*
 * With the progress thread the data of a nonblocking collective access are moved while the program
 * calls nothing of MPI: it waits until the last of its ints is in the file, or in the buffer.
 */
#include "file.h"

#include <fcntl.h>

enum { INTS = 1 << 20, HOLES = 100000 };

static int out[INTS], in[INTS];

static void await_file(int fd, MPI_Offset at, int value)
{
    int found = 0;
    while (pread(fd, &found, sizeof found, at) != sizeof found || found != value)
        usleep(500);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Datatype stripe;
    setenv("WEFT_PROGRESS_THREAD", "on", 0);
    check_begin(&argc, &argv, 2);
    file_begin();
    MPI_File file = file_open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
    int fd = open(file_name("a"), O_RDONLY), errors = 0;
    int memory = open("/proc/self/mem", O_RDONLY); /* its own look would be an access */
    MPI_Offset begin = check.rank * (MPI_Offset)sizeof out;
    for (int i = 0; i < INTS; i++)
        out[i] = check.rank * INTS + i + 1;
    MPI_File_iwrite_at_all(file, begin, out, INTS, MPI_INT, &request);
    check_step("computing beside a write");
    await_file(fd, begin + (MPI_Offset)sizeof out - 4, out[INTS - 1]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_iread_at_all(file, begin, in, INTS, MPI_INT, &request);
    check_step("computing beside a read");
    await_file(memory, (MPI_Offset)(uintptr_t)&in[INTS - 1], out[INTS - 1]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < INTS; i++)
        errors += in[i] != out[i];
    CHECK(!errors, "%d ints are wrong", errors);

    MPI_Type_create_resized(MPI_INT, 0, check.size * (MPI_Aint)sizeof(int), &stripe);
    MPI_Type_commit(&stripe);
    MPI_File_set_view(file, check.rank * (MPI_Offset)sizeof(int), MPI_INT, stripe, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&stripe);
    for (int i = 0; i < HOLES; i++)
        out[i] = -1 - i * check.size - check.rank;
    MPI_File_iwrite_all(file, out, HOLES, MPI_INT, &request);
    check_step("computing beside a write with holes");
    await_file(fd, ((HOLES - 1) * (MPI_Offset)check.size + check.rank) * 4, out[HOLES - 1]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    errors = 0;
    MPI_File_read_at_all(file, 0, in, HOLES, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < HOLES; i++)
        errors += in[i] != out[i];
    CHECK(!errors, "%d ints are wrong", errors);
    close(fd);
    close(memory);
    MPI_File_close(&file);
    file_remove("a");
    file_end();
    return check_done();
}
