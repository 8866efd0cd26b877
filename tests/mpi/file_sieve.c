// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,4 lanes=self,shm,rxm seconds=60
/*
 * Independent and nonblocking collective writes of short records with holes: few system calls where
 * the ranks share memory, and no byte of another writer is lost, whether it writes to the same open
 * file or has opened the file once more.
 */
#include "file.h"

#include <fcntl.h>

enum { MOST = 20000, ROUNDS = 4, WRITES = 40 };

/* Records of a writer, of 8 bytes each. A tenth in a short run: on FUSE each of them is a call that
 * waits for the server. */
static int records = MOST;
static long bytes;

static unsigned char data[8 * MOST], back[8 * MOST];

static void fill(int writer)
{
    for (long i = 0; i < bytes; i++)
        data[i] = file_value(writer, i);
}

/* The records of a writer in the file. */
static void check_records(const char *what, int writer, int first, int stride)
{
    unsigned char *all = malloc((size_t)bytes * (size_t)stride);
    int fd = open(file_name("s"), O_RDONLY);
    long got = read(fd, all, (size_t)bytes * (size_t)stride), wrong = 0;
    close(fd);
    for (long i = 0; i < bytes; i++) {
        long at = (i / 8 * stride + first) * 8 + i % 8;
        wrong += at >= got || all[at] != file_value(writer, i);
    }
    CHECK(!wrong, "%s: %ld bytes of writer %d are wrong", what, wrong, writer);
    free(all);
}

/* All ranks interleave, and leave one record of holes. */
static void all_ranks(int collective, int few)
{
    MPI_File file = file_open("s", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Request request;
    MPI_Status status;
    long before;
    file_set_view(file, check.rank, check.size + 1);
    fill(check.rank);
    before = file_writes();
    if (collective)
        CHECK_CLASS(MPI_File_iwrite_at_all(file, 0, data, records, MPI_DOUBLE, &request),
                    MPI_SUCCESS);
    else
        CHECK_CLASS(MPI_File_iwrite_at(file, 0, data, records, MPI_DOUBLE, &request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == bytes, "%d bytes were written", file_bytes(&status));
    CHECK(!few || before < 0 || file_writes() - before < 1000, "%ld system calls",
          file_writes() - before);
    MPI_Barrier(MPI_COMM_WORLD);
    check_records("all ranks", check.rank, check.rank, check.size + 1);
    CHECK_CLASS(MPI_File_read_at(file, 0, back, records, MPI_DOUBLE, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == bytes && !memcmp(back, data, (size_t)bytes),
          "other data are read");
    MPI_File_close(&file);
    file_remove("s");
}

/* Rank 0 writes every second record by one call, some times, the last rank the others by a call for
 * each, as the same file or as one that only it has opened. */
static void beside(int alone, int writes_of_all)
{
    const char *what = alone ? "beside another open file" : "beside a contiguous writer";
    int last = check.rank == check.size - 1;
    MPI_File file = file_open("s", MPI_MODE_CREATE | MPI_MODE_RDWR), other = file;
    if (alone && last)
        CHECK_CLASS(
            MPI_File_open(MPI_COMM_SELF, file_name("s"), MPI_MODE_RDWR, MPI_INFO_NULL, &other),
            MPI_SUCCESS);
    if (check.rank == 0)
        file_set_view(file, 0, 2);
    else
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL),
                    MPI_SUCCESS);
    if (other != file)
        MPI_File_set_view(other, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    fill(check.rank == 0 ? 0 : 1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < writes_of_all && check.rank == 0; i++)
        CHECK_CLASS(MPI_File_write_at(file, 0, data, records, MPI_DOUBLE, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
    if (last)
        for (long i = 0; i < records; i++)
            MPI_File_write_at(other, 2 * i + 1, data + 8 * i, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        check_records(what, 0, 0, 2);
        check_records(what, 1, 1, 2);
    }
    if (other != file)
        MPI_File_close(&other);
    MPI_File_close(&file);
    file_remove("s");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    records = check_setting("WEFT_TEST_SHORT", 0) ? MOST / 10 : MOST;
    bytes = 8L * records;
    const char *setting = getenv("WEFT_SHM");
    int few = check.size == 1 || !setting || strcmp(setting, "0") != 0;
    file_begin();
    check_step("independent");
    all_ranks(0, few);
    check_step("nonblocking and collective");
    all_ranks(1, few);
    for (int i = 0; i < ROUNDS && check.size > 1; i++) {
        check_step("beside another writer, round %d", i);
        beside(i % 2, few && i % 2 == 0 ? WRITES : 1);
    }
    file_end();
    return check_done();
}
