// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3 lanes=self,shm,rxm seconds=60
/*
 * Errors of access: an error of one rank of a collective is an error of all, with the same class
 * and the sentence of that rank, and no rank waits for ever. /dev/full is a disk without space.
 */
#include "file.h"

enum { BYTES = 1000 };

static char data[BYTES];

static void same_at_all(int code, int expected, const char *words)
{
    char text[MPI_MAX_ERROR_STRING], first[MPI_MAX_ERROR_STRING];
    int length;
    CHECK_CLASS(code, expected);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, words), "%s is not in: %s", words, text);
    memcpy(first, text, sizeof text);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(!strcmp(first, text), "rank 0 has another sentence: %s; not: %s", first, text);
}

/* One rank passes wrong arguments. */
static void wrong_arguments(void)
{
    MPI_File file = file_open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
    int last = check.rank == check.size - 1;
    MPI_Status status;
    MPI_Datatype type, uncommitted;
    char rank[40];
    snprintf(rank, sizeof rank, check.size > 1 ? "rank %d on" : "negative", check.size - 1);
    same_at_all(
        MPI_File_write_at_all(file, last ? -1 : check.rank * BYTES, data, BYTES, MPI_BYTE, &status),
        MPI_ERR_ARG, rank);
    CHECK(file_bytes(&status) == (last ? 0 : BYTES), "%d bytes", file_bytes(&status));
    same_at_all(MPI_File_write_all(file, data, last ? -1 : 4, MPI_BYTE, &status), MPI_ERR_COUNT,
                "");
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    same_at_all(MPI_File_read_all(file, data, 1, last ? uncommitted : MPI_INT, &status),
                MPI_ERR_TYPE, "");
    CHECK_CLASS(
        MPI_File_set_view(file, 0, MPI_INT, last ? uncommitted : MPI_INT, "native", MPI_INFO_NULL),
        MPI_ERR_TYPE);
    CHECK_CLASS(
        MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? "nonsense" : "native", MPI_INFO_NULL),
        MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_CLASS(MPI_File_set_view(file, last ? -1 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
                MPI_ERR_ARG);
    CHECK_CLASS(
        MPI_File_set_view(file, 0, MPI_INT, last ? MPI_BYTE : MPI_INT, "native", MPI_INFO_NULL),
        MPI_ERR_IO);
    int lengths[] = {1, 1};
    MPI_Aint places[] = {8, 0};
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_IO);
    MPI_Type_free(&type);
    if (check.size > 1)
        CHECK_CLASS(MPI_File_set_view(file, 0, last ? MPI_INT : MPI_DOUBLE,
                                      last ? MPI_INT : MPI_DOUBLE, "native", MPI_INFO_NULL),
                    MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_write_at(file, 0, data, 5, MPI_BYTE, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_read_all_end(file, data, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_read_all_begin(file, data, 1, MPI_INT), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_read_all(file, data, 1, MPI_INT, &status), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_read_all_end(file, data, &status), MPI_SUCCESS);
    MPI_Type_free(&uncommitted);
    MPI_File_close(&file);
}

/* Rank 0 begins a split access a second time: an error of all, which others have from their _end.
 */
static void begin_twice(void)
{
    MPI_File file = file_open("a", MPI_MODE_RDWR);
    MPI_Offset at = check.rank * BYTES;
    MPI_Status status;
    CHECK_CLASS(MPI_File_write_at_all_begin(file, at, data, BYTES, MPI_BYTE), MPI_SUCCESS);
    if (check.rank)
        CHECK_CLASS(MPI_File_write_at_all_end(file, data, &status), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_write_at_all_begin(file, at, data, BYTES, MPI_BYTE),
                check.rank ? MPI_SUCCESS : MPI_ERR_IO);
    CHECK_CLASS(MPI_File_write_at_all_end(file, data, &status),
                check.rank ? MPI_ERR_IO : MPI_SUCCESS);
    CHECK(file_bytes(&status) == BYTES, "%d bytes", file_bytes(&status));
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
}

static void modes(void)
{
    MPI_Status status;
    MPI_File file = file_open("a", MPI_MODE_RDONLY);
    CHECK_CLASS(MPI_File_write_at_all(file, 0, data, 4, MPI_BYTE, &status), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_set_size(file, 1), MPI_ERR_READ_ONLY);
    MPI_File_close(&file);
    file = file_open("a", MPI_MODE_WRONLY);
    CHECK_CLASS(MPI_File_read_at(file, 0, data, 4, MPI_BYTE, &status), MPI_ERR_ACCESS);
    MPI_File_close(&file);
    file_remove("a");
}

/* Every way to write to a full disk ends with the error, at all ranks. */
static void full_disk(void)
{
    static const char words[] = "/dev/full: a write of 1000 bytes at offset 0 failed";
    MPI_File file = MPI_FILE_NULL;
    MPI_Request request;
    MPI_Status status;
    int n = check.rank == check.size - 1 ? BYTES : 0; /* one rank writes */
    int code = MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CHECK_CLASS(code, MPI_SUCCESS);
    if (code)
        return;
    CHECK_CLASS(MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
    CHECK(file_bytes(&status) == 0, "%d bytes were written", file_bytes(&status));
    same_at_all(MPI_File_write_at_all(file, 0, data, n, MPI_BYTE, &status), MPI_ERR_NO_SPACE,
                words);
    CHECK_CLASS(MPI_File_write_all_begin(file, data, BYTES, MPI_BYTE), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_write_all_end(file, data, &status), MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_File_iwrite_at(file, 0, data, BYTES, MPI_BYTE, &request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    file_begin();
    wrong_arguments();
    begin_twice();
    modes();
    full_disk();
    file_end();
    return check_done();
}
