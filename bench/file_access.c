// SPDX-License-Identifier: BSD-3-Clause
/*
 * Access to one file by all ranks. One program for all: its name says what it measures, and it runs
 * with every MPI library.
 *
 * weft_file_write, _read (independent), _write_all, _read_all (collective), _iwrite_all
 * (nonblocking and collective): each rank moves all its records by one call. The size is that of a
 * record, and the records of the ranks interleave. The figure is the time for 1 MiB of all ranks
 * together. weft_file_each_write, _each_read: the same by one system call a record.
 *
 * weft_file_write_at, _read_at, _write_at_all, _iwrite_at, _write_shared, _write_ordered: one call
 * of a rank for contiguous data of this size. weft_file_each_write_at: a system call.
 * weft_file_open: MPI_File_open and close. weft_file_view: MPI_File_set_view with a vector of 10^6
 * blocks. The figure is the time of one call.
 *
 * The file is in the folder BENCH_FOLDER, else TMPDIR, and in the page cache: there is no fsync.
 */
#include "mpi_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum operation {
    WRITE,
    READ,
    WRITE_ALL,
    READ_ALL,
    IWRITE_ALL,
    EACH_WRITE,
    EACH_READ, /* the last with records that interleave */
    WRITE_AT,
    READ_AT,
    WRITE_AT_ALL,
    IWRITE_AT,
    WRITE_SHARED,
    WRITE_ORDERED,
    EACH_WRITE_AT,
    OPEN,
    VIEW,
    OPERATIONS
};

#define RECORDS(name)                                                                              \
    {                                                                                              \
        "weft_file_" name, "Weft MPI File Records Test: " name, BENCH_BANDWIDTH, 0                 \
    }
#define CALL(name)                                                                                 \
    {                                                                                              \
        "weft_file_" name, "Weft MPI File Call Test: " name, BENCH_LATENCY, 0                      \
    }
static const struct bench_program programs[OPERATIONS] = {
    RECORDS("write"),      RECORDS("read"),       RECORDS("write_all"), RECORDS("read_all"),
    RECORDS("iwrite_all"), RECORDS("each_write"), RECORDS("each_read"), CALL("write_at"),
    CALL("read_at"),       CALL("write_at_all"),  CALL("iwrite_at"),    CALL("write_shared"),
    CALL("write_ordered"), CALL("each_write_at"), CALL("open"),         CALL("view"),
};

struct job {
    struct mpi_bench b;
    enum operation operation;
    char name[4096];
    MPI_File file;
    MPI_Datatype vector;
    int fd; /* of each_... */
    char *data;
    size_t bytes;  /* of a rank */
    size_t record; /* of the view; 0: it is that of the open */
};

static void check(const struct job *job, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s: %s\n", programs[job->operation].name, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check_call(const struct job *job, ssize_t rc, size_t bytes)
{
    if (rc == (ssize_t)bytes)
        return;
    fprintf(stderr, "%s: a system call on %s moved %zd of %zu bytes: %s\n",
            programs[job->operation].name, job->name, rc, bytes, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Fewer data for short records, which take a system call each in some libraries. */
static size_t bytes_for(size_t record)
{
    size_t bytes = record < 64 ? 256 << 10 : record < 4096 ? 2 << 20 : 8 << 20;
    return bytes / record ? bytes / record * record : record;
}

static void open_file(struct job *job)
{
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    check(job, MPI_File_open(MPI_COMM_WORLD, job->name, mode, MPI_INFO_NULL, &job->file));
}

static void begin(struct job *job)
{
    const char *folder = getenv("BENCH_FOLDER");
    size_t most = bytes_for(job->b.options.max ? job->b.options.max : 1), least = 32 << 20;
    folder = folder ? folder : getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    snprintf(job->name, sizeof job->name, "%s/weft-bench-XXXXXX", folder);
    if (job->b.rank == 0) {
        int fd = mkstemp(job->name);
        if (fd < 0) {
            fprintf(stderr, "%s: no file %s: %s\n", programs[job->operation].name, job->name,
                    strerror(errno));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        close(fd);
    }
    MPI_Bcast(job->name, sizeof job->name, MPI_CHAR, 0, MPI_COMM_WORLD);
    job->fd = open(job->name, O_RDWR);
    check_call(job, job->fd < 0, 0);
    job->data = bench_buffer(most > least ? most : least);
    check_call(job, !job->data, 0);
    if (job->operation != OPEN)
        open_file(job);
    MPI_Type_vector(1000000, 1, 2, MPI_DOUBLE, &job->vector);
    MPI_Type_commit(&job->vector);
}

static void end(struct job *job)
{
    if (job->operation != OPEN)
        MPI_File_close(&job->file);
    MPI_Type_free(&job->vector);
    MPI_Barrier(MPI_COMM_WORLD);
    close(job->fd);
    if (job->b.rank == 0)
        unlink(job->name);
    free(job->data);
}

/* Records of this size in turn, one of each rank; they exist before the first read. */
static void set_records(struct job *job, size_t record)
{
    MPI_Datatype type, view;
    int length = (int)record, step = length * job->b.size;
    if (job->record == record)
        return;
    job->record = record;
    job->bytes = bytes_for(record);
    MPI_Type_contiguous(length, MPI_BYTE, &type);
    MPI_Type_create_resized(type, 0, step, &view);
    MPI_Type_commit(&view);
    check(job, MPI_File_set_view(job->file, (MPI_Offset)length * job->b.rank, MPI_BYTE, view,
                                 "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
    MPI_Type_free(&view);
    check(job, MPI_File_write_at_all(job->file, 0, job->data, (int)job->bytes, MPI_BYTE,
                                     MPI_STATUS_IGNORE));
}

/* All ranks have the view of the open, and data of their own. */
static void set_calls(struct job *job, size_t size)
{
    job->bytes = size;
    if (job->operation == WRITE_SHARED || job->operation == WRITE_ORDERED)
        MPI_File_seek_shared(job->file, 0, MPI_SEEK_SET);
    if (job->operation == READ_AT)
        check(job, MPI_File_write_at_all(job->file, (MPI_Offset)size * job->b.rank, job->data,
                                         (int)size, MPI_BYTE, MPI_STATUS_IGNORE));
}

static void move_each(struct job *job, size_t record, bool write)
{
    off_t at = (off_t)(record * (size_t)job->b.rank), step = (off_t)record * job->b.size;
    for (size_t done = 0; done < job->bytes; done += record, at += step)
        check_call(job,
                   write ? pwrite(job->fd, job->data + done, record, at)
                         : pread(job->fd, job->data + done, record, at),
                   record);
}

static void run_records(struct job *job, size_t record)
{
    MPI_Request request;
    int n = (int)job->bytes;
    switch (job->operation) {
    case WRITE:
        check(job, MPI_File_write_at(job->file, 0, job->data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    case READ:
        check(job, MPI_File_read_at(job->file, 0, job->data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    case WRITE_ALL:
        check(job, MPI_File_write_at_all(job->file, 0, job->data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    case READ_ALL:
        check(job, MPI_File_read_at_all(job->file, 0, job->data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    case IWRITE_ALL:
        check(job, MPI_File_iwrite_at_all(job->file, 0, job->data, n, MPI_BYTE, &request));
        check(job, MPI_Wait(&request, MPI_STATUS_IGNORE));
        return;
    default:
        move_each(job, record, job->operation == EACH_WRITE);
        return;
    }
}

static void run_call(struct job *job)
{
    MPI_Request request;
    int n = (int)job->bytes;
    MPI_Offset at = (MPI_Offset)n * job->b.rank;
    MPI_File file = job->file;
    switch (job->operation) {
    case WRITE_AT:
        check(job, MPI_File_write_at(file, at, job->data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    case READ_AT:
        check(job, MPI_File_read_at(file, at, job->data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    case WRITE_AT_ALL:
        check(job, MPI_File_write_at_all(file, at, job->data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    case IWRITE_AT:
        check(job, MPI_File_iwrite_at(file, at, job->data, n, MPI_BYTE, &request));
        check(job, MPI_Wait(&request, MPI_STATUS_IGNORE));
        return;
    case WRITE_SHARED:
        check(job, MPI_File_write_shared(file, job->data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    case WRITE_ORDERED:
        check(job, MPI_File_write_ordered(file, job->data, n, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    case OPEN:
        open_file(job);
        check(job, MPI_File_close(&job->file));
        return;
    case VIEW:
        check(job, MPI_File_set_view(file, 0, MPI_DOUBLE, job->vector, "native", MPI_INFO_NULL));
        return;
    default:
        check_call(job, pwrite(job->fd, job->data, job->bytes, at), job->bytes);
        return;
    }
}

static void run(struct job *job, int times, size_t size)
{
    for (int i = 0; i < times; i++)
        if (job->operation <= EACH_READ)
            run_records(job, size);
        else
            run_call(job);
}

/* Returns the seconds until all ranks have ended. */
static double measure(struct job *job, const struct bench_batch *batch, size_t size)
{
    run(job, batch->warmup, size);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    run(job, batch->timed, size);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    static struct job job;
    struct bench_batch batch;
    int code;
    job.operation = (enum operation)bench_program_of(argv[0], programs, OPERATIONS);
    if (!mpi_bench_start(&job.b, &programs[job.operation], 1, false, &argc, &argv, &code))
        return code;
    begin(&job);
    bool records = job.operation <= EACH_READ;
    mpi_bench_header(&job.b, NULL, records ? "Time of 1 MiB (us)" : "Time of a call (us)", NULL);
    while (mpi_bench_next(&job.b, &batch)) {
        size_t size = batch.size ? batch.size : 1;
        if (records)
            set_records(&job, size);
        else if (job.operation != OPEN)
            set_calls(&job, size);
        double seconds = measure(&job, &batch, size), each = seconds * 1e6 / batch.timed;
        double mib = (double)job.bytes * job.b.size / (1 << 20);
        mpi_bench_report(&job.b, &batch, seconds, records ? each / mib : each, -1, false);
    }
    end(&job);
    return mpi_bench_end(&job.b);
}
