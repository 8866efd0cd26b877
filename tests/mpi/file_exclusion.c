// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,4 lanes=shm,rxm,nodes seconds=120
/*
 * Bytes of holes are the data of other writers, and none are lost: of other ranks and threads of
 * the same open file, and of other opens of it, whatever the hints. Writers own disjoint records of
 * 8 bytes, in turns; the last record of a turn has no writer.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

enum { FEW_RECORDS = 4000, MANY_RECORDS = 24000, ROUNDS = 4 };

static int records = FEW_RECORDS; /* of a writer */

/* The data of a writer; free with free(). */
static unsigned char *data_of(int writer)
{
    unsigned char *data = check_host((size_t)records * 8);
    for (long i = 0; i < 8 * records; i++)
        data[i] = file_value(writer, i);
    return data;
}

/* Rank 0 reads the file after all have written it, and removes it. */
static void check_file(const char *what, int writers, int turn)
{
    size_t size = (size_t)turn * 8 * (size_t)records;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        unsigned char *all = check_host(size);
        int fd = open(file_name("e"), O_RDONLY);
        long got = read(fd, all, size), wrong = 0;
        close(fd);
        for (int writer = 0; writer < writers; writer++)
            for (long i = 0; i < 8 * records; i++) {
                long at = (i / 8 * turn + writer) * 8 + i % 8;
                wrong += at >= got || all[at] != file_value(writer, i);
            }
        CHECK(!wrong, "%s: %ld bytes of %d are wrong", what, wrong, writers * 8 * records);
        free(all);
    }
    file_remove("e");
}

static MPI_File open_with(MPI_Comm comm, const char *hint)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", hint);
    CHECK_CLASS(MPI_File_open(comm, file_name("e"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
                MPI_SUCCESS);
    MPI_Info_free(&info);
    return file;
}

/* Parts of the data, so that writers take turns. */
static void write_parts(MPI_File file, const unsigned char *data, int parts, bool collective)
{
    int each = records / parts;
    for (int i = 0; i < parts; i++) {
        const unsigned char *from = data + 8 * i * each;
        MPI_Offset at = (MPI_Offset)i * each;
        if (collective)
            CHECK_CLASS(MPI_File_write_at_all(file, at, from, each, MPI_DOUBLE, MPI_STATUS_IGNORE),
                        MPI_SUCCESS);
        else
            CHECK_CLASS(MPI_File_write_at(file, at, from, each, MPI_DOUBLE, MPI_STATUS_IGNORE),
                        MPI_SUCCESS);
    }
}

/* Ranks of one open file, independently, and by a nonblocking collective access. */
static void one_open(const char *hint, bool collective)
{
    unsigned char *data = data_of(check.rank);
    MPI_Request request;
    MPI_File file = open_with(MPI_COMM_WORLD, hint);
    file_set_view(file, check.rank, check.size + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (collective) {
        MPI_File_iwrite_at_all(file, 0, data, records, MPI_DOUBLE, &request);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    } else {
        write_parts(file, data, 2, false);
    }
    MPI_File_close(&file);
    check_file(hint, check.size, check.size + 1);
    free(data);
}

/* Several opens: of halves of the ranks, or of each rank. The ranks of an open have neighbouring
 * records, or every second one. */
static void many_opens(const char *what, int opens, bool collective, bool mixed)
{
    unsigned char *data = data_of(check.rank);
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, mixed ? check.rank % opens : check.rank * opens / check.size, 0,
                   &comm);
    MPI_File file = open_with(comm, "automatic");
    file_set_view(file, check.rank, check.size + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    write_parts(file, data, 8, collective);
    MPI_File_close(&file);
    MPI_Comm_free(&comm);
    check_file(what, check.size, check.size + 1);
    free(data);
}

/* A second open begins while a first one writes. */
static void late_open(void)
{
    int writer = check.rank == check.size - 1;
    unsigned char *data = data_of(writer);
    MPI_File file = MPI_FILE_NULL;
    if (check.rank == 0)
        file = open_with(MPI_COMM_SELF, "enable");
    if (check.rank == 0)
        file_set_view(file, 0, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        for (int i = 0; i < 20; i++)
            write_parts(file, data, 1, false);
    if (writer) {
        file = open_with(MPI_COMM_SELF, "automatic");
        MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
        for (int i = 0; i < records; i++)
            MPI_File_write_at(file, 3 * i + 1, data + 8 * i, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    }
    if (file != MPI_FILE_NULL)
        MPI_File_close(&file);
    check_file("a late open", 2, 3);
    free(data);
}

/* ---- Threads: one of each rank writes collectively, one independently. The parts of one are the
 * holes of the other, because ranks begin with different parts. */

enum { PART = 12000, FEW = 4, STEPS = MANY_RECORDS / PART / 2 };

struct job {
    MPI_File file;
    const unsigned char *data;
};

static void write_part(MPI_File file, const unsigned char *data, int part, bool collective)
{
    const unsigned char *from = data + 8 * PART * part;
    MPI_Offset at = (MPI_Offset)part * PART;
    if (collective)
        CHECK_CLASS(MPI_File_write_at_all(file, at, from, PART, MPI_DOUBLE, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
    for (int i = 0; i < PART && !collective; i += FEW)
        CHECK_CLASS(
            MPI_File_write_at(file, at + i, from + 8 * i, FEW, MPI_DOUBLE, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
}

static void *write_independently(void *arg)
{
    const struct job *job = arg;
    for (int i = 0; i < STEPS; i++)
        write_part(job->file, job->data, 2 * i + (check.rank + 1) % 2, false);
    return NULL;
}

static void two_threads(const char *what, bool one_handle)
{
    unsigned char *data = data_of(check.rank);
    pthread_t thread;
    MPI_File file = open_with(MPI_COMM_WORLD, "automatic"), other = file;
    file_set_view(file, check.rank, check.size + 1);
    if (!one_handle) {
        other = open_with(MPI_COMM_SELF, "automatic");
        file_set_view(other, check.rank, check.size + 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, write_independently, &(struct job){other, data});
    for (int i = 0; i < STEPS; i++)
        write_part(file, data, 2 * i + check.rank % 2, true);
    pthread_join(thread, NULL);
    if (!one_handle)
        MPI_File_close(&other);
    MPI_File_close(&file);
    check_file(what, check.size, check.size + 1);
    free(data);
}

/* ---- MPI_File_preallocate on a file system without it, which writes zeros behind the end */

int fallocate(int fd, int mode, off_t from, off_t bytes)
{
    (void)fd, (void)mode, (void)from, (void)bytes;
    errno = EOPNOTSUPP;
    return -1;
}

static void *write_behind(void *arg)
{
    const struct job *job = arg;
    for (int i = 0; i < records; i += FEW)
        MPI_File_write_at(job->file, i, job->data + 8 * i, FEW, MPI_DOUBLE, MPI_STATUS_IGNORE);
    return NULL;
}

static void preallocate(void)
{
    unsigned char *data = data_of(check.rank);
    pthread_t thread;
    MPI_Offset size, most = (MPI_Offset)check.size * records * 8;
    MPI_File file = open_with(MPI_COMM_WORLD, "automatic"), other;
    file_set_view(file, check.rank, check.size);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, write_behind, &(struct job){file, data});
    for (MPI_Offset step = most / 50; step <= most + 100; step += most / 50)
        CHECK_CLASS(MPI_File_preallocate(file, step), MPI_SUCCESS);
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &size);
    CHECK(size == most, "the size is %lld, not %lld", (long long)size, (long long)most);
    other = open_with(MPI_COMM_SELF, "automatic");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_preallocate(file, most + 1), MPI_SUCCESS);
    MPI_File_get_size(other, &size);
    CHECK(size == most + 1, "the size is %lld, not %lld", (long long)size, (long long)most + 1);
    MPI_File_close(&other);
    MPI_File_close(&file);
    check_file("preallocate", check.size, check.size);
    free(data);
}

int main(int argc, char **argv)
{
    check_begin_threads(&argc, &argv, 2);
    file_begin();
    one_open("enable", false);
    one_open("enable", true);
    one_open("automatic", false);
    for (int i = 0; i < ROUNDS; i++) {
        check_step("round %d", i);
        many_opens("collective writes of halves", 2, true, false);
        many_opens("collective writes of interleaved halves", 2, true, true);
        many_opens("independent writes of each rank", check.size, false, false);
        late_open();
        records = MANY_RECORDS;
        two_threads("threads with one file", true);
        two_threads("threads with two files", false);
        records = FEW_RECORDS;
        preallocate();
    }
    file_end();
    return check_done();
}
