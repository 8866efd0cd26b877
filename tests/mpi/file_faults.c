// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,4 lanes=self,shm,rxm,nodes seconds=120
/*
 * System calls that move fewer bytes, are interrupted, or fail: this program's pread and pwrite
 * take the place of the C library's. Short and interrupted calls are continued; an error of one
 * rank is returned by the access of this rank, or at all ranks by a collective access; bytes
 * outside of the access do not change; and the next access succeeds.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

/* Every rank has a domain of 256 KiB to write. */
enum { RECORD = 96, RECORDS = 3000, BYTES = RECORD * RECORDS, SPARE = 7 };

/* ---- The system calls */

static struct {
    bool on, brief; /* brief: calls move a few bytes or are interrupted */
    int error;      /* else: the error of call number `at` */
    int at, calls;
} faults;

static bool interferes(size_t *bytes, int *error)
{
    static uint64_t random = 1;
    int call = faults.calls++;
    *error = 0;
    if (!faults.on)
        return false;
    if (!faults.brief)
        *error = call == faults.at ? faults.error : 0;
    else if (call % 3 == 1)
        *error = EINTR;
    else if (*bytes > 1)
        *bytes = 1 + check_random(&random, (unsigned)*bytes - 1);
    return *error != 0;
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
    int error;
    if (!interferes(&bytes, &error))
        return syscall(SYS_pread64, fd, buffer, bytes, offset);
    errno = error;
    return -1;
}

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
    int error;
    if (!interferes(&bytes, &error))
        return syscall(SYS_pwrite64, fd, buffer, bytes, offset);
    errno = error;
    return -1;
}

/* ---- Accesses of BYTES bytes of each rank */

enum kind { INDEPENDENT, COLLECTIVE, NONBLOCKING, NONBLOCKING_ALL, SPLIT, SHARED, ORDERED, KINDS };
static const char *const kinds[] = {
    "independent", "collective", "nonblocking", "nonblocking collective",
    "split",       "shared",     "ordered"};
static const bool agrees[] = {false, true, false, true, true, false, true};

static int access_file(MPI_File file, enum kind kind, bool write, void *data, MPI_Status *status)
{
    MPI_Request request;
    int code;
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    switch (kind) {
    case INDEPENDENT:
        return write ? MPI_File_write(file, data, BYTES, MPI_BYTE, status)
                     : MPI_File_read(file, data, BYTES, MPI_BYTE, status);
    case COLLECTIVE:
        return write ? MPI_File_write_all(file, data, BYTES, MPI_BYTE, status)
                     : MPI_File_read_all(file, data, BYTES, MPI_BYTE, status);
    case NONBLOCKING:
        code = write ? MPI_File_iwrite(file, data, BYTES, MPI_BYTE, &request)
                     : MPI_File_iread(file, data, BYTES, MPI_BYTE, &request);
        return code ? code : MPI_Wait(&request, status);
    case NONBLOCKING_ALL:
        code = write ? MPI_File_iwrite_all(file, data, BYTES, MPI_BYTE, &request)
                     : MPI_File_iread_all(file, data, BYTES, MPI_BYTE, &request);
        return code ? code : MPI_Wait(&request, status);
    case SPLIT:
        code = write ? MPI_File_write_all_begin(file, data, BYTES, MPI_BYTE)
                     : MPI_File_read_all_begin(file, data, BYTES, MPI_BYTE);
        if (code)
            return code;
        return write ? MPI_File_write_all_end(file, data, status)
                     : MPI_File_read_all_end(file, data, status);
    case SHARED:
        return write ? MPI_File_write_shared(file, data, BYTES, MPI_BYTE, status)
                     : MPI_File_read_shared(file, data, BYTES, MPI_BYTE, status);
    default:
        return write ? MPI_File_write_ordered(file, data, BYTES, MPI_BYTE, status)
                     : MPI_File_read_ordered(file, data, BYTES, MPI_BYTE, status);
    }
}

/* Records of all ranks in turn, and with holes one more behind them; every byte is SPARE. */
static MPI_File open_records(bool holes, int *stride)
{
    MPI_Datatype record, view;
    MPI_File file = file_open("f", MPI_MODE_CREATE | MPI_MODE_RDWR);
    *stride = check.size + (holes ? 1 : 0);
    MPI_Type_contiguous(RECORD, MPI_BYTE, &record);
    MPI_Type_create_resized(record, 0, (MPI_Aint)RECORD * *stride, &view);
    MPI_Type_commit(&view);
    CHECK_CLASS(MPI_File_set_size(file, (MPI_Offset)BYTES * *stride), MPI_SUCCESS);
    if (check.rank == 0) {
        char *fill = malloc((size_t)BYTES * (size_t)*stride);
        memset(fill, SPARE, (size_t)BYTES * (size_t)*stride);
        MPI_File_write_at(file, 0, fill, BYTES * *stride, MPI_BYTE, MPI_STATUS_IGNORE);
        free(fill);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, (MPI_Offset)RECORD * check.rank, MPI_BYTE, view, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&record);
    MPI_Type_free(&view);
    return file;
}

/* The shared pointer needs one view. */
static MPI_File open_for(enum kind kind, bool holes, int *stride)
{
    if (kind < SHARED)
        return open_records(holes, stride);
    *stride = check.size;
    return file_open("f", MPI_MODE_CREATE | MPI_MODE_RDWR);
}

/* The bytes of the file that this access does not give. */
static void check_holes(enum kind kind, int stride)
{
    static char record[RECORD];
    int fd = open(file_name("f"), O_RDONLY), wrong = 0;
    bool on = faults.on;
    faults.on = false;
    for (long i = 0; kind < SHARED && stride > check.size && i < RECORDS; i += 97) {
        if (pread(fd, record, RECORD, (i * stride + check.size) * RECORD) != RECORD)
            wrong++;
        for (int j = 0; j < RECORD; j++)
            wrong += record[j] != SPARE;
    }
    CHECK(!wrong, "%s: %d bytes of holes have changed", kinds[kind], wrong);
    close(fd);
    faults.on = on;
}

static void try_brief(enum kind kind, bool holes)
{
    static unsigned char out[BYTES], in[BYTES];
    MPI_Status status;
    int stride;
    MPI_File file = open_for(kind, holes, &stride);
    for (int i = 0; i < BYTES; i++)
        out[i] = (unsigned char)(kind < SHARED ? check.rank + i % 251 : 5);
    memset(in, 0, sizeof in);
    faults.on = faults.brief = true;
    CHECK_CLASS(access_file(file, kind, true, out, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == BYTES, "%s: %d bytes", kinds[kind], file_bytes(&status));
    MPI_Barrier(MPI_COMM_WORLD);
    if (kind >= SHARED)
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    CHECK_CLASS(access_file(file, kind, false, in, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == BYTES, "%s: %d bytes", kinds[kind], file_bytes(&status));
    CHECK(!memcmp(in, out, BYTES), "%s: other data", kinds[kind]);
    faults.on = false;
    check_holes(kind, stride);
    MPI_File_close(&file);
    file_remove("f");
}

/* The lowest rank of a node makes all system calls of a collective access between nodes. */
static int failing_rank(void)
{
    return getenv("WEFT_TEST_NODE_SIZE") ? 0 : check.size - 1;
}

/* Call `at` of one rank fails. */
static void try_error(enum kind kind, bool write, bool holes, int error, int class, int at)
{
    static unsigned char data[BYTES];
    int stride, code, length, failing = check.rank == failing_rank();
    char text[MPI_MAX_ERROR_STRING];
    MPI_Status status;
    MPI_File file = open_for(kind, holes, &stride);
    faults.on = failing;
    faults.brief = false;
    faults.error = error;
    faults.at = at;
    faults.calls = 0;
    code = access_file(file, kind, write, data, &status);
    int hit = failing && faults.calls > at;
    MPI_Bcast(&hit, 1, MPI_INT, failing_rank(), MPI_COMM_WORLD);
    CHECK(hit || at, "%s made no system call", kinds[kind]);
    bool here = hit && (failing || agrees[kind]);
    CHECK(check_class(code) == (here ? class : MPI_SUCCESS), "%s: class %d", kinds[kind],
          check_class(code));
    MPI_Error_string(code, text, &length);
    CHECK(!here || kind == NONBLOCKING_ALL || strstr(text, strerror(error)), "no \"%s\" in: %s",
          strerror(error), text);
    faults.on = false;
    MPI_Barrier(MPI_COMM_WORLD);
    check_holes(kind, stride);
    if (kind >= SHARED)
        MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    CHECK_CLASS(access_file(file, kind, true, data, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == BYTES, "%s: %d bytes", kinds[kind], file_bytes(&status));
    MPI_File_close(&file);
    file_remove("f");
}

/* A file system without allocation, as FUSE's may be. */
int fallocate(int fd, int mode, off_t at, off_t bytes)
{
    if (!faults.on)
        return (int)syscall(SYS_fallocate, fd, mode, at, bytes);
    errno = EOPNOTSUPP;
    return -1;
}

/* MPI_File_preallocate writes zeros behind the end of the file then, and nothing before it. */
static void try_preallocation(void)
{
    enum { OLD = 100000, NEW = 300000 };
    static char bytes[NEW + 1];
    MPI_Offset size = -1;
    MPI_Status status;
    MPI_File file = file_open("f", MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < OLD; i++)
        bytes[i] = (char)(i % 100 + 1);
    if (check.rank == 0)
        MPI_File_write_at(file, 0, bytes, OLD, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(&faults, 0, sizeof faults);
    faults.at = -1; /* no call fails */
    faults.on = true;
    CHECK_CLASS(MPI_File_preallocate(file, NEW), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_preallocate(file, OLD), MPI_SUCCESS);
    faults.on = false;
    MPI_File_get_size(file, &size);
    CHECK(size == NEW, "the size is %lld", (long long)size);
    memset(bytes, 'x', sizeof bytes);
    MPI_File_read_at(file, 0, bytes, NEW + 1, MPI_CHAR, &status);
    CHECK(file_bytes(&status) == NEW, "%d bytes were read", file_bytes(&status));
    int wrong = 0;
    for (int i = 0; i < NEW; i++)
        wrong += bytes[i] != (i < OLD ? (char)(i % 100 + 1) : 0);
    CHECK(wrong == 0, "%d bytes are wrong", wrong);
    MPI_File_close(&file);
    file_remove("f");
}

int main(int argc, char **argv)
{
    static const struct {
        int error, class;
    } errors[] = {{ENOSPC, MPI_ERR_NO_SPACE}, {EIO, MPI_ERR_IO}, {EDQUOT, MPI_ERR_QUOTA}};
    check_begin(&argc, &argv, 1);
    file_begin();
    for (int kind = 0; kind < KINDS; kind++) {
        check_step("short and interrupted calls, %s", kinds[kind]);
        try_brief(kind, false);
        try_brief(kind, true);
    }
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 3; i++) {
            check_step("error %d, %s", errors[i].error, kinds[kind]);
            try_error(kind, true, i == 1, errors[i].error, errors[i].class, 0);
            try_error(kind, true, i != 1, errors[i].error, errors[i].class, 1);
            if (errors[i].error == EIO)
                try_error(kind, false, true, EIO, MPI_ERR_IO, 0);
        }
    check_step("preallocation without fallocate");
    try_preallocation();
    file_end();
    return check_done();
}
