// SPDX-License-Identifier: BSD-3-Clause
/*
 * Access to files where the disk or a rank fails. tests/files/run makes the disk, runs this program
 * and looks at what is left: disk CASE FOLDER
 *
 *   full      the file system of FOLDER has less space than an access of one rank needs
 *   quota     the user has less space there
 *   allocate  it has no fallocate
 *   hints     WEFT_FILE_HINTS has a hint that does not exist
 *   readonly  it is mounted for reading, and has a file "old"
 *   kill      the last rank is killed in the middle of a collective write
 *   check     one rank: the bytes that this write does not give are in the file as before
 */
#include "../mpi/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { RECORD = 96, RECORDS = 50000, BYTES = RECORD * RECORDS, SPARE = 7 };

static char data[BYTES];
static int calls_left; /* of pwrite, before this rank kills itself; 0: any number */

/* In place of the C library's. */
ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
    if (calls_left && --calls_left == 0)
        raise(SIGKILL);
    return syscall(SYS_pwrite64, fd, buffer, bytes, offset);
}

/* Records of all ranks in turn, then as many records as `holes` that no rank writes. */
static void set_records(MPI_File file, int holes)
{
    MPI_Datatype record, view;
    MPI_Type_contiguous(RECORD, MPI_BYTE, &record);
    MPI_Type_create_resized(record, 0, (MPI_Aint)RECORD * (check.size + holes), &view);
    MPI_Type_commit(&view);
    CHECK_CLASS(MPI_File_set_view(file, (MPI_Offset)RECORD * check.rank, MPI_BYTE, view, "native",
                                  MPI_INFO_NULL),
                MPI_SUCCESS);
    MPI_Type_free(&record);
    MPI_Type_free(&view);
}

/* ---- A full disk */

enum kind { INDEPENDENT, COLLECTIVE, NONBLOCKING, NONBLOCKING_ALL, SPLIT, SHARED, ORDERED, KINDS };
static const char *const kinds[] = {
    "independent", "collective", "nonblocking", "nonblocking collective",
    "split",       "shared",     "ordered"};

static int write_as(MPI_File file, enum kind kind, MPI_Status *status)
{
    MPI_Request request;
    int code;
    switch (kind) {
    case INDEPENDENT:
        return MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, status);
    case COLLECTIVE:
        return MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, status);
    case NONBLOCKING:
        code = MPI_File_iwrite_at(file, 0, data, BYTES, MPI_BYTE, &request);
        return code ? code : MPI_Wait(&request, status);
    case NONBLOCKING_ALL:
        code = MPI_File_iwrite_at_all(file, 0, data, BYTES, MPI_BYTE, &request);
        return code ? code : MPI_Wait(&request, status);
    case SPLIT:
        code = MPI_File_write_at_all_begin(file, 0, data, BYTES, MPI_BYTE);
        return code ? code : MPI_File_write_at_all_end(file, data, status);
    case SHARED:
        return MPI_File_write_shared(file, data, BYTES, MPI_BYTE, status);
    default:
        return MPI_File_write_ordered(file, data, BYTES, MPI_BYTE, status);
    }
}

/* The class of the errors, and what their sentences must have. */
static void full(int class, const char *text_of_class, const char *next)
{
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Status status;
        char text[MPI_MAX_ERROR_STRING];
        int length;
        check_step("a full disk, %s", kinds[kind]);
        MPI_File file = file_open("full", MPI_MODE_CREATE | MPI_MODE_RDWR);
        if (kind < SHARED)
            set_records(file, 0);
        memset(&status, 0, sizeof status);
        int code = write_as(file, kind, &status);
        CHECK(check_class(code) == class, "%s: class %d", kinds[kind], check_class(code));
        MPI_Error_string(code, text, &length);
        CHECK(strstr(text, text_of_class) && (kind == NONBLOCKING_ALL || strstr(text, next)),
              "%s: %s", kinds[kind], text);
        CHECK(kind == SPLIT || file_bytes(&status) < BYTES, "%s: %d bytes were written",
              kinds[kind], file_bytes(&status));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_CLASS(MPI_File_set_size(file, 0), MPI_SUCCESS);
        CHECK_CLASS(MPI_File_preallocate(file, 64 << 20), class);
        CHECK_CLASS(MPI_File_set_size(file, 0), MPI_SUCCESS);
        CHECK_CLASS(
            MPI_File_write_at_all(file, 0, data, check.rank ? 0 : RECORD, MPI_BYTE, &status),
            MPI_SUCCESS);
        MPI_File_close(&file);
        file_remove("full");
    }
}

/* ---- No fallocate: the file is extended by zeros, and what it has stays */

static void allocate(void)
{
    static const MPI_Offset sizes[] = {70001, 5, 1500000, 1500001};
    static const char old[] = "data";
    MPI_File file = file_open("allocated", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Offset size, largest = 0;
    MPI_File_write_at_all(file, 0, old, check.rank ? 0 : sizeof old, MPI_BYTE, &status);
    for (int i = 0; i < 4; i++) {
        check_step("%lld bytes", (long long)sizes[i]);
        largest = sizes[i] > largest ? sizes[i] : largest;
        CHECK_CLASS(MPI_File_preallocate(file, sizes[i]), MPI_SUCCESS);
        MPI_File_get_size(file, &size);
        CHECK(size == largest, "the size is %lld", (long long)size);
        memset(data, 1, sizeof data);
        MPI_File_read_at_all(file, 0, data, BYTES, MPI_BYTE, &status);
        CHECK(file_bytes(&status) == largest, "%d bytes were read", file_bytes(&status));
        CHECK(!memcmp(data, old, sizeof old), "the old bytes have changed");
        for (MPI_Offset at = sizeof old; at < largest; at++)
            CHECK(!data[at], "byte %lld is %d", (long long)at, data[at]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
    file_remove("allocated");
}

/* ---- A misspelt hint of the environment, which only rank 0 reads */

static void hints(void)
{
    MPI_File file = MPI_FILE_NULL;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    int code = MPI_File_open(MPI_COMM_WORLD, file_name("none"), MPI_MODE_CREATE | MPI_MODE_RDWR,
                             MPI_INFO_NULL, &file);
    CHECK_CLASS(code, MPI_ERR_INFO_VALUE);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "WEFT_FILE_HINTS has \"cb_node=1\""), "the sentence is: %s", text);
    CHECK(access(file_name("none"), F_OK), "a file was left");
}

/* ---- A disk that is mounted for reading */

static void readonly(void)
{
    MPI_File file = file_open("old", MPI_MODE_RDONLY);
    MPI_Status status;
    CHECK_CLASS(MPI_File_read_at_all(file, 0, data, BYTES, MPI_BYTE, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == 4, "%d bytes were read", file_bytes(&status));
    CHECK_CLASS(MPI_File_write_at_all(file, 0, data, 1, MPI_BYTE, &status), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
    MPI_File_close(&file);
    CHECK_CLASS(
        MPI_File_open(MPI_COMM_WORLD, file_name("old"), MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name("new"), MPI_MODE_WRONLY | MPI_MODE_CREATE,
                              MPI_INFO_NULL, &file),
                MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_delete(file_name("old"), MPI_INFO_NULL), MPI_ERR_READ_ONLY);
}

/* ---- A rank is killed */

static void kill_one(void)
{
    MPI_File file = file_open("killed", MPI_MODE_CREATE | MPI_MODE_RDWR);
    size_t all = (size_t)BYTES * (size_t)(check.size + 1);
    if (check.rank == 0) {
        char *fill = malloc(all);
        memset(fill, SPARE, all);
        MPI_File_write_at(file, 0, fill, (int)all, MPI_BYTE, MPI_STATUS_IGNORE);
        free(fill);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    set_records(file, 1);
    memset(data, 1, sizeof data);
    if (check.rank == check.size - 1)
        calls_left = 3;
    MPI_File_write_all(file, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* The records of 3 ranks, and those between them. */
static void check_killed(int ranks)
{
    unsigned char record[RECORD];
    int fd = open(file_name("killed"), O_RDONLY), wrong = 0, written = 0;
    struct stat stat = {0};
    fstat(fd, &stat);
    CHECK(stat.st_size == (off_t)BYTES * (ranks + 1), "the file has %lld bytes",
          (long long)stat.st_size);
    for (long i = 0; i < (long)RECORDS * (ranks + 1) && !wrong; i++) {
        bool hole = i % (ranks + 1) == ranks;
        wrong += read(fd, record, RECORD) != RECORD;
        for (int j = 0; j < RECORD; j++) {
            wrong += record[j] != SPARE && (hole || record[j] != 1);
            written += record[j] == 1;
        }
    }
    CHECK(!wrong, "%d bytes are neither old nor new", wrong);
    CHECK(written < BYTES * ranks, "nothing is missing: no rank was killed");
    close(fd);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(file_folder, sizeof file_folder, "%s", argv[2]);
    if (!strcmp(argv[1], "full"))
        full(MPI_ERR_NO_SPACE, "full", "df");
    else if (!strcmp(argv[1], "quota"))
        full(MPI_ERR_QUOTA, "quota", "quota");
    else if (!strcmp(argv[1], "allocate"))
        allocate();
    else if (!strcmp(argv[1], "hints"))
        hints();
    else if (!strcmp(argv[1], "readonly"))
        readonly();
    else if (!strcmp(argv[1], "kill"))
        kill_one();
    else
        check_killed(3);
    return check_done();
}
