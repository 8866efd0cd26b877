// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,4 lanes=shm,rxm,nodes seconds=90
/*
 * Collective access of ranks whose records interleave, which goes through domains in shared memory:
 * the file against an array that every rank computes, with few system calls; ranks without data,
 * records that leave holes or overlap, memory with holes, the end of the file, a full disk;
 * blocking and nonblocking.
 */
#include "file.h"

#include <fcntl.h>

enum { RECORDS = 40000, OVERLAPPING = 3000 };

static bool shared; /* the ranks share memory */

static unsigned char value_of(int rank, long i)
{
    return (unsigned char)(1 + (rank * 37 + i * 7 + i / 251) % 255);
}

struct pattern {
    const char *name;
    int record;  /* bytes of a record */
    int stride;  /* records from one record of a rank to its next; 0: as many as ranks */
    int holes;   /* the buffer has a hole behind each byte */
    int idle;    /* the last rank has no data */
    int first;   /* offset of the view */
    bool direct; /* each rank writes its own data */
};

static const struct pattern patterns[] = {
    {"8 bytes", 8, 0, 0, 0, 0, false},
    {"1 byte", 1, 0, 0, 0, 0, false},
    {"100 bytes, odd offset", 100, 0, 0, 0, 77, false},
    {"memory with holes", 8, 0, 1, 0, 4096, false},
    {"a rank without data", 24, 0, 0, 1, 0, false},
    {"holes in the file", 16, 9, 0, 0, 3, false},
    {"long records, holes", 5000, 9, 0, 0, 3, true},
};

static long records_of(const struct pattern *p)
{
    return p->direct ? 300 : !shared ? 3000 : RECORDS;
}

static MPI_File open_view(const struct pattern *p, int rank)
{
    MPI_File file = file_open("w", MPI_MODE_CREATE | MPI_MODE_RDWR);
    int stride = p->stride ? p->stride : check.size;
    MPI_Datatype record, view;
    MPI_Type_contiguous(p->record, MPI_BYTE, &record);
    MPI_Type_create_resized(record, 0, (MPI_Aint)stride * p->record, &view);
    MPI_Type_commit(&view);
    CHECK_CLASS(MPI_File_set_view(file, p->first + rank * p->record, MPI_BYTE, view, "native",
                                  MPI_INFO_NULL),
                MPI_SUCCESS);
    MPI_Type_free(&record);
    MPI_Type_free(&view);
    return file;
}

static void check_file(const struct pattern *p, const unsigned char *whole, long bytes)
{
    int stride = p->stride ? p->stride : check.size, wrong = 0;
    for (long at = 0; at < bytes; at++) {
        long byte = at - p->first, record = byte / p->record;
        int rank = (int)(record % stride);
        long i = record / stride * p->record + byte % p->record;
        bool given = byte >= 0 && rank < check.size - p->idle && record / stride < records_of(p);
        wrong += whole[at] != (given ? value_of(rank, i) : 0);
    }
    CHECK(!wrong, "%s: %d bytes of %ld are wrong", p->name, wrong, bytes);
}

static void try_pattern(const struct pattern *p, bool nonblocking)
{
    long n = records_of(p) * p->record, step = p->holes ? 2 : 1, before;
    unsigned char *memory = check_alloc((size_t)(n * step)),
                  *back = check_alloc((size_t)(n * step));
    MPI_File file = open_view(p, check.rank);
    MPI_Datatype type;
    MPI_Status status;
    MPI_Offset size;
    bool idle = p->idle && check.rank == check.size - 1;
    int count = idle ? 0 : (int)n;
    MPI_Type_create_resized(MPI_BYTE, 0, step, &type);
    MPI_Type_commit(&type);
    for (long i = 0; i < n * step; i++) {
        memory[i] = i % step ? 0 : value_of(check.rank, i / step);
        back[i] = 0;
    }
    before = file_writes();
    if (nonblocking) {
        MPI_Request request;
        MPI_File_iwrite_all(file, memory, count, type, &request);
        CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    } else {
        CHECK_CLASS(MPI_File_write_all(file, memory, count, type, &status), MPI_SUCCESS);
    }
    CHECK(file_bytes(&status) == count, "%s: %d bytes were written", p->name, file_bytes(&status));
    CHECK(p->direct || !shared || before < 0 || file_writes() - before < 200,
          "%s: %ld system calls", p->name, file_writes() - before);
    if (nonblocking) {
        MPI_Request request;
        MPI_File_iread_at_all(file, 0, back, count, type, &request);
        CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    } else {
        CHECK_CLASS(MPI_File_read_at_all(file, 0, back, count, type, &status), MPI_SUCCESS);
    }
    CHECK(file_bytes(&status) == count, "%s: %d bytes were read", p->name, file_bytes(&status));
    CHECK(idle || !memcmp(memory, back, (size_t)(n * step)), "%s: other data", p->name);
    MPI_File_get_size(file, &size);
    unsigned char *whole = calloc(1, (size_t)size);
    int fd = open(file_name("w"), O_RDONLY);
    CHECK(fd >= 0 && read(fd, whole, (size_t)size) == size, "the file cannot be read");
    close(fd);
    check_file(p, whole, size);
    free(whole);
    /* Half of the records are missing. */
    MPI_File_set_size(file, size / 2);
    memset(back, 0, (size_t)(n * step));
    CHECK_CLASS(MPI_File_read_at_all(file, 0, back, count, type, &status), MPI_SUCCESS);
    long got = file_bytes(&status);
    CHECK(idle ? got == 0 : got >= count / 2 - p->record - p->first && got <= count / 2 + p->record,
          "%s: %ld bytes of half a file", p->name, got);
    CHECK(!memcmp(memory, back, (size_t)(got * step)), "%s: other data", p->name);
    for (long i = got * step; i < n * step; i++)
        CHECK(back[i] == 0, "%s: byte %ld behind the end was written", p->name, i);
    MPI_Type_free(&type);
    MPI_File_close(&file);
    file_remove("w");
    free(memory);
    free(back);
}

/* Two ranks write the same records, every second one: as many bytes as the file has, with holes
 * that must stay. */
static void overlap(void)
{
    struct pattern p = {"overlap", 8, 2, 0, 0, 0, true};
    unsigned char *ones = check_alloc(OVERLAPPING * 8), *whole = calloc(2, OVERLAPPING * 8);
    MPI_File file = open_view(&p, 0);
    int records = check.rank == 0 ? OVERLAPPING : check.rank == 1 ? OVERLAPPING - 1 : 0;
    memset(ones, 1, OVERLAPPING * 8);
    if (check.rank == 0) { /* every byte is 7 */
        MPI_File other;
        memset(whole, 7, 2 * OVERLAPPING * 8);
        MPI_File_open(MPI_COMM_SELF, file_name("w"), MPI_MODE_WRONLY, MPI_INFO_NULL, &other);
        MPI_File_write(other, whole, 2 * OVERLAPPING * 8, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_write_all(file, ones, records * 8, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    int fd = open(file_name("w"), O_RDONLY);
    CHECK(read(fd, whole, 2 * OVERLAPPING * 8) == 2 * OVERLAPPING * 8, "the file is short");
    close(fd);
    for (long i = 0; i < 2 * OVERLAPPING * 8; i++)
        CHECK(whole[i] == (i / 8 % 2 ? 7 : 1), "byte %ld is %d", i, whole[i]);
    MPI_File_close(&file);
    file_remove("w");
    free(ones);
    free(whole);
}

/* Two ranks write the bytes 0, 3, 5 and 6 of each 8: their number, the sum of their offsets and
 * that of the squares are those of 8 bytes, and the holes must stay. */
static void equal_sums(void)
{
    enum { BLOCKS = 4000 };
    static unsigned char ones[4 * BLOCKS], whole[8 * BLOCKS];
    int lengths[] = {1, 1, 2}, errors = 0;
    MPI_Aint offsets[] = {0, 3, 5};
    MPI_Datatype block, view;
    MPI_Type_create_hindexed(3, lengths, offsets, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, 8, &view);
    MPI_Type_commit(&view);
    memset(ones, 1, sizeof ones);
    memset(whole, 7, sizeof whole);
    MPI_File file = file_open("w", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_write_ordered(file, whole, check.rank == 0 ? sizeof whole : 0, MPI_BYTE,
                           MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_BYTE, view, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, ones, check.rank < 2 ? sizeof ones : 0, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read(file, whole, sizeof whole, MPI_BYTE, MPI_STATUS_IGNORE);
    for (long i = 0; i < 8 * BLOCKS; i++)
        errors += whole[i] != (i % 8 == 0 || i % 8 == 3 || i % 8 == 5 || i % 8 == 6 ? 1 : 7);
    CHECK(!errors, "%d bytes are wrong", errors);
    MPI_Type_free(&block);
    MPI_Type_free(&view);
    MPI_File_close(&file);
    file_remove("w");
}

/* Several nonblocking accesses use the domains one after the other, in the order of the calls,
 * beside one of a rank alone. The last rank starts when the others wait, and sets the next view
 * before it waits. */
static void several_at_once(void)
{
    enum { PENDING = 4, BYTES = 100000 };
    struct pattern p = {"several at once", 8, 0, 0, 0, 0, false};
    static unsigned char out[PENDING][BYTES], in[PENDING * BYTES];
    MPI_Request requests[PENDING];
    MPI_Status statuses[PENDING];
    long before;
    int wrong = 0;
    MPI_File file = open_view(&p, check.rank);
    if (check.rank == check.size - 1)
        usleep(20000);
    before = file_writes();
    for (int i = 0; i < PENDING; i++) {
        for (int j = 0; j < BYTES; j++)
            out[i][j] = value_of(check.rank, (long)i * BYTES + j);
        CHECK_CLASS(MPI_File_iwrite_all(file, out[i], BYTES, MPI_BYTE, &requests[i]), MPI_SUCCESS);
    }
    if (check.rank > 0)
        MPI_Waitall(PENDING, requests, statuses);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    if (check.rank == 0)
        MPI_Waitall(PENDING, requests, statuses);
    CHECK(!shared || before < 0 || file_writes() - before < 200, "%ld system calls",
          file_writes() - before);
    for (int i = 0; i < PENDING; i++)
        CHECK(file_bytes(&statuses[i]) == BYTES, "%d bytes", file_bytes(&statuses[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = open(file_name("w"), O_RDONLY);
    for (long i = 0; i < (long)PENDING * BYTES / 8; i++)
        CHECK(pread(fd, in + i * 8, 8, (i * check.size + check.rank) * 8) == 8, "a short file");
    close(fd);
    for (long i = 0; i < (long)PENDING * BYTES; i++)
        wrong += in[i] != value_of(check.rank, i);
    CHECK(!wrong, "%d bytes are wrong", wrong);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
    file_remove("w");
}

static void full_disk(void)
{
    static unsigned char data[1 << 20];
    MPI_File file;
    MPI_Datatype view;
    MPI_Status status;
    MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * check.size, &view);
    MPI_Type_commit(&view);
    MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 8 * check.rank, MPI_DOUBLE, view, "native", MPI_INFO_NULL);
    MPI_Type_free(&view);
    CHECK_CLASS(MPI_File_write_all(file, data, sizeof data / 8, MPI_DOUBLE, &status),
                MPI_ERR_NO_SPACE);
    CHECK(file_bytes(&status) == 0, "%d bytes were written", file_bytes(&status));
    MPI_Request request;
    MPI_File_iwrite_at_all(file, 0, data, sizeof data / 8, MPI_DOUBLE, &request);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_NO_SPACE);
    CHECK(file_bytes(&status) == 0, "%d bytes were written", file_bytes(&status));
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    const char *setting = getenv("WEFT_SHM");
    shared = (!setting || strcmp(setting, "0") != 0) && !getenv("WEFT_TEST_NODE_SIZE");
    file_begin();
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        check_step("%s", patterns[i].name);
        try_pattern(&patterns[i], false);
        check_step("%s, nonblocking", patterns[i].name);
        try_pattern(&patterns[i], true);
    }
    check_step("several at once");
    several_at_once();
    overlap();
    equal_sums();
    full_disk();
    file_end();
    return check_done();
}
