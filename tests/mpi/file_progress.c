// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3 lanes=self,shm,rxm seconds=60
/*
 * A nonblocking access, collective or not, or the begin of a split one, returns before its data are
 * moved, and progress moves them: in tests of its request, in other calls, and at the latest in the
 * wait. Several are pending at once, with views and types that have holes; the data end before the
 * end of the access; a write fails behind its first bytes; a view is set while data are left to
 * move.
 */
#include "file.h"

#include <fcntl.h>
#include <sys/resource.h>

/* LONG: more than a piece of a network file system */
enum { LONG = 2 << 20, SHORT = 50000, PENDING = 3 };

static int fd; /* of the same file, read without MPI */
static int out[LONG], in[LONG], more[SHORT];

static void fill(int *data, int n, int seed)
{
    for (int i = 0; i < n; i++)
        data[i] = check.rank * 10000000 + seed + i;
}

static int differ(const int *a, const int *b, int n)
{
    int differences = 0;
    for (int i = 0; i < n; i++)
        differences += a[i] != b[i];
    return differences;
}

/* An int of the file. 0: nothing was written there. */
static int int_at(MPI_Offset at)
{
    int value = 0;
    return pread(fd, &value, sizeof value, at) == sizeof value ? value : 0;
}

static void return_at_once(MPI_File file)
{
    MPI_Offset begin = check.rank * (MPI_Offset)sizeof out,
               last = begin + (MPI_Offset)sizeof out - 4;
    MPI_Request request;
    MPI_Status status;
    int done = 0, found;
    fill(out, LONG, 1);
    CHECK_CLASS(MPI_File_iwrite_at_all(file, begin, out, LONG, MPI_INT, &request), MPI_SUCCESS);
    CHECK(int_at(last) == 0, "the call has written all");
    check_step("a write that tests move along");
    while (!done)
        MPI_Test(&request, &done, &status);
    CHECK(file_bytes(&status) == sizeof out, "%d bytes", file_bytes(&status));
    CHECK(int_at(last) == out[LONG - 1], "%d is the last int", int_at(last));
    fill(out, LONG, 9);
    CHECK_CLASS(MPI_File_write_at_all_begin(file, begin, out, LONG, MPI_INT), MPI_SUCCESS);
    CHECK(int_at(last) != out[LONG - 1], "a split access has written all in its first call");
    CHECK_CLASS(MPI_File_write_at_all_end(file, out, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == sizeof out, "%d bytes", file_bytes(&status));
    CHECK(int_at(last) == out[LONG - 1], "%d is the last int", int_at(last));
    CHECK_CLASS(MPI_File_iread_at_all(file, begin, in, LONG, MPI_INT, &request), MPI_SUCCESS);
    CHECK(in[LONG - 1] == 0, "the call has read all");
    check_step("a read that other calls move along");
    while (*(volatile int *)&in[LONG - 1] == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    MPI_Wait(&request, &status);
    CHECK(file_bytes(&status) == sizeof in, "%d bytes", file_bytes(&status));
    CHECK(!differ(in, out, LONG), "%d ints are wrong", differ(in, out, LONG));
}

/* An access of one rank, and one whose request is freed: the close completes it. */
static void alone(MPI_File file)
{
    MPI_Offset begin = check.rank * (MPI_Offset)sizeof out,
               last = begin + (MPI_Offset)sizeof out - 4;
    MPI_Request request;
    MPI_Status status;
    MPI_File other;
    int done = 0;
    fill(out, LONG, 2);
    CHECK_CLASS(MPI_File_iwrite_at(file, begin, out, LONG, MPI_INT, &request), MPI_SUCCESS);
    CHECK(int_at(last) != out[LONG - 1], "the call has written all");
    check_step("a write of one rank");
    while (!done)
        MPI_Test(&request, &done, &status);
    CHECK(file_bytes(&status) == sizeof out, "%d bytes", file_bytes(&status));
    memset(in, 0, sizeof in);
    MPI_File_seek(file, begin, MPI_SEEK_SET);
    CHECK_CLASS(MPI_File_iread(file, in, LONG, MPI_INT, &request), MPI_SUCCESS);
    CHECK(in[LONG - 1] == 0, "the call has read all");
    CHECK_CLASS(MPI_Cancel(&request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == sizeof in, "%d bytes", file_bytes(&status));
    CHECK(!differ(in, out, LONG), "%d ints are wrong", differ(in, out, LONG));

    MPI_File_open(MPI_COMM_WORLD, file_name("a"), MPI_MODE_WRONLY, MPI_INFO_NULL, &other);
    fill(out, LONG, 3);
    MPI_File_iwrite_at(other, begin, out, LONG, MPI_INT, &request);
    CHECK_CLASS(MPI_Request_free(&request), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_close(&other), MPI_SUCCESS);
    CHECK(int_at(last) == out[LONG - 1], "%d is the last int", int_at(last));
}

/* Each rank writes its ints between those of the others, and half of its ints in memory. A write of
 * its own goes on beside that. */
static void with_holes(MPI_File file)
{
    static int all[3 * SHORT];
    MPI_Datatype stripe, halves;
    MPI_Request requests[PENDING];
    MPI_Status statuses[PENDING];
    MPI_Offset behind = (MPI_Offset)PENDING * SHORT / 2;
    MPI_Type_vector(1, 1, 1, MPI_INT, &halves);
    MPI_Type_create_resized(halves, 0, check.size * (MPI_Aint)sizeof(int), &stripe);
    MPI_Type_commit(&stripe);
    MPI_File_set_view(file, check.rank * (MPI_Offset)sizeof(int), MPI_INT, stripe, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&stripe);
    MPI_Type_free(&halves);
    MPI_Type_vector(SHORT / 2, 1, 2, MPI_INT, &halves);
    MPI_Type_commit(&halves);
    for (int i = 0; i < PENDING; i++) {
        fill(out + (ptrdiff_t)i * SHORT, SHORT, 1000000 * (i + 1));
        CHECK_CLASS(MPI_File_iwrite_all(file, out + (ptrdiff_t)i * SHORT, 1, halves, &requests[i]),
                    MPI_SUCCESS);
    }
    MPI_Type_free(&halves);
    fill(more, SHORT, 5000000);
    CHECK_CLASS(MPI_File_write_at(file, behind, more, SHORT, MPI_INT, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Waitall(PENDING, requests, statuses), MPI_SUCCESS);
    for (int i = 0; i < PENDING; i++)
        CHECK(file_bytes(&statuses[i]) == SHORT / 2 * 4, "%d bytes", file_bytes(&statuses[i]));
    CHECK_CLASS(MPI_File_iread_at_all(file, 0, all, PENDING * SHORT / 2 + SHORT, MPI_INT, requests),
                MPI_SUCCESS);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    int wrong = differ(all + PENDING * SHORT / 2, more, SHORT);
    for (int i = 0; i < PENDING * SHORT / 2; i++)
        wrong += all[i] != out[2 * i];
    CHECK(!wrong, "%d ints are wrong", wrong);
}

/* The data that are left to move go where the view at the call has them. */
static void set_view(MPI_File file)
{
    MPI_Request request;
    MPI_Offset each = (MPI_Offset)sizeof out;
    fill(out, LONG, 7);
    MPI_File_set_view(file, check.rank * each, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_iwrite_at_all(file, 0, out, LONG, MPI_INT, &request);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    fill(more, SHORT, 8);
    MPI_File_write_at_all(file, check.rank * (MPI_Offset)LONG, more, SHORT, MPI_INT,
                          MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(in, 0, sizeof in);
    MPI_File_read_at(file, check.rank * (MPI_Offset)LONG, in, LONG, MPI_INT, MPI_STATUS_IGNORE);
    int wrong = differ(in, more, SHORT) + differ(in + SHORT, out + SHORT, LONG - SHORT);
    CHECK(!wrong, "%d ints are wrong", wrong);
}

static void end_of_file(MPI_File file)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Offset end;
    int count = 300000;
    MPI_File_get_size(file, &end);
    in[count] = -1;
    MPI_File_iread_at_all(file, end / 4 - count, in, LONG, MPI_INT, &request);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == 4 * count && in[count] == -1, "%d bytes", file_bytes(&status));
}

/* The last rank's write reaches the limit of the size of files. */
static void fail_behind(MPI_File file)
{
    const rlim_t limit = 600000;
    int last = check.rank == check.size - 1;
    struct rlimit before, small;
    MPI_Request request;
    MPI_Status status;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = limit;
    signal(SIGXFSZ, SIG_IGN);
    MPI_File_set_size(file, 0);
    if (last)
        setrlimit(RLIMIT_FSIZE, &small);
    CHECK_CLASS(MPI_File_iwrite_at_all(file, 0, out, last ? LONG : 1, MPI_INT, &request),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_IO);
    CHECK(file_bytes(&status) == (last ? (int)limit : 4), "%d bytes", file_bytes(&status));
    setrlimit(RLIMIT_FSIZE, &before);
}

int main(int argc, char **argv)
{
    setenv("WEFT_PROGRESS_THREAD", "off", 1);
    check_begin(&argc, &argv, 1);
    file_begin();
    MPI_File file = file_open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
    fd = open(file_name("a"), O_RDONLY);
    CHECK(fd >= 0, "%s cannot be opened", file_name("a"));
    return_at_once(file);
    alone(file);
    MPI_Barrier(MPI_COMM_WORLD);
    with_holes(file);
    set_view(file);
    end_of_file(file);
    fail_behind(file);
    close(fd);
    MPI_File_close(&file);
    file_remove("a");
    file_end();
    return check_done();
}
