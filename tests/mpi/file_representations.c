// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3 lanes=self,shm,rxm seconds=60
/*
 * Data representations: external32, those of MPI_Register_datarep with conversions, without them,
 * and with functions that fail.
 */
#include "file.h"

#include <fcntl.h>

enum { N = 500 };

/* The bytes of the file, at rank 0 of a file that all have written. */
static void read_bytes(const char *name, unsigned char *bytes, long n)
{
    int fd = open(file_name(name), O_RDONLY);
    CHECK(fd >= 0 && read(fd, bytes, (size_t)n) == n, "the file has not %ld bytes", n);
    close(fd);
}

static void set_records(MPI_File file, MPI_Datatype type, const char *representation)
{
    MPI_Datatype view;
    MPI_Aint extent;
    MPI_File_set_view(file, 0, type, type, representation, MPI_INFO_NULL);
    CHECK_CLASS(MPI_File_get_type_extent(file, type, &extent), MPI_SUCCESS);
    MPI_Type_create_resized(type, 0, extent * check.size, &view);
    MPI_Type_commit(&view);
    CHECK_CLASS(
        MPI_File_set_view(file, extent * check.rank, type, view, representation, MPI_INFO_NULL),
        MPI_SUCCESS);
    MPI_Type_free(&view);
}

/* Longs have 4 bytes in the file, the most significant first. */
static void external(void)
{
    long out[2 * N], in[2 * N], wrong = 0;
    unsigned char *bytes = calloc((size_t)check.size, 4 * N);
    MPI_Datatype holes, type, given;
    MPI_Aint extent;
    MPI_Offset disp, position;
    MPI_Status status;
    MPI_Request request;
    char name[MPI_MAX_DATAREP_STRING];
    MPI_File file = file_open("x", MPI_MODE_CREATE | MPI_MODE_RDWR);
    set_records(file, MPI_LONG, "external32");
    MPI_File_get_type_extent(file, MPI_LONG, &extent);
    CHECK(extent == 4, "a long has %ld bytes", (long)extent);
    MPI_File_get_view(file, &disp, &given, &type, name);
    CHECK(!strcmp(name, "external32") && given == MPI_LONG && disp == 4 * check.rank,
          "another view: %s", name);
    MPI_Type_get_extent(type, &disp, &extent);
    CHECK(extent == 4 * check.size, "another filetype of %ld bytes", (long)extent);
    MPI_Type_free(&type);
    MPI_Type_create_resized(MPI_LONG, 0, 16, &holes);
    MPI_Type_commit(&holes);
    for (int i = 0; i < 2 * N; i++)
        out[i] = i % 2 ? -5 : 1000 * i - check.rank;
    CHECK_CLASS(MPI_File_write_all(file, out, N, holes, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == 8 * N, "%d bytes were written", file_bytes(&status));
    MPI_File_get_position(file, &position);
    CHECK(position == N, "the pointer is %lld", (long long)position);
    MPI_Barrier(MPI_COMM_WORLD);
    read_bytes("x", bytes, 4 * N * check.size);
    for (int i = 0; i < N; i++)
        for (int rank = 0; rank < check.size; rank++) {
            const unsigned char *at = bytes + 4 * (i * check.size + rank);
            int32_t value = (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
                                      (uint32_t)at[2] << 8 | at[3]);
            wrong += value != 2000 * i - rank;
        }
    CHECK(!wrong, "%ld numbers of the file are wrong", wrong);
    for (int way = 0; way < 4; way++) {
        memset(in, 0, sizeof in);
        if (way == 0)
            MPI_File_read_at_all(file, 0, in, N + 100, holes, &status);
        else if (way == 1)
            MPI_File_read_at(file, 0, in, N, holes, &status);
        else if (way == 2)
            MPI_File_iread_at(file, 0, in, N, holes, &request);
        else
            MPI_File_iread_at_all(file, 0, in, N, holes, &request);
        if (way > 1)
            MPI_Wait(&request, &status);
        CHECK(file_bytes(&status) == 8 * N, "%d bytes were read", file_bytes(&status));
        wrong = 0;
        for (int i = 0; i < N; i++)
            wrong += in[2 * i] != out[2 * i] || in[2 * i + 1] != 0;
        CHECK(!wrong, "%ld numbers are wrong", wrong);
    }
    MPI_Type_free(&holes);
    MPI_File_close(&file);
    file_remove("x");
    free(bytes);
}

/* ---- A representation of ints as decimal numbers of 8 digits */

static int digits_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    CHECK(extra == &check, "another extra_state");
    *extent = 8;
    return type == MPI_INT ? MPI_SUCCESS : MPI_ERR_TYPE;
}

static int digits_write(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                        void *extra)
{
    char text[20];
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent); /* a callback may call MPI */
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%08d", *(int *)((char *)user + (position + i) * extent));
        memcpy((char *)file + 8 * i, text, 8);
    }
    return extra == &check ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int digits_read(void *user, MPI_Datatype type, MPI_Count count, void *file,
                       MPI_Offset position, void *extra)
{
    char text[9] = "";
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    for (MPI_Count i = 0; i < count; i++) {
        memcpy(text, (char *)file + 8 * i, 8);
        *(int *)((char *)user + (position + i) * extent) = atoi(text);
    }
    return extra == &check ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int digits_read_int(void *user, MPI_Datatype type, int count, void *file,
                           MPI_Offset position, void *extra)
{
    return digits_read(user, type, count, file, position, extra);
}

static int digits_write_large(void *user, MPI_Datatype type, MPI_Count count, void *file,
                              MPI_Offset position, void *extra)
{
    return digits_write(user, type, (int)count, file, position, extra);
}

/* As digits, for ints side by side, in whatever type. */
static int wide_write(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                      void *extra)
{
    (void)type;
    return digits_write(user, MPI_INT, count, file, position, extra);
}

static int wide_read(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                     void *extra)
{
    (void)type;
    return digits_read(user, MPI_INT, count, file, position, extra);
}

static int fails(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                 void *extra)
{
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)extra;
    return MPI_ERR_OTHER;
}

/* Ints as they are, but for the last rank. */
static int read_or_fail(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                        void *extra)
{
    (void)type, (void)extra;
    memcpy((char *)user + position * (MPI_Offset)sizeof(int), file, sizeof(int) * (size_t)count);
    return check.rank == check.size - 1 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int same_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    MPI_Aint lb;
    (void)extra;
    return MPI_Type_get_extent(type, &lb, extent);
}

static void digits(const char *representation)
{
    int out[N], in[N + 10];
    char text[9] = "";
    unsigned char bytes[8 * 6];
    MPI_Status status;
    MPI_File file = file_open("d", MPI_MODE_CREATE | MPI_MODE_RDWR);
    set_records(file, MPI_INT, representation);
    for (int i = 0; i < N; i++)
        out[i] = 10 * i + check.rank;
    CHECK_CLASS(MPI_File_write_all(file, out, N, MPI_INT, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == 4 * N, "%d bytes were written", file_bytes(&status));
    MPI_Barrier(MPI_COMM_WORLD);
    read_bytes("d", bytes, 8 * check.size);
    memcpy(text, bytes + 8 * (check.size - 1), 8);
    CHECK(atoi(text) == check.size - 1, "the file has \"%s\"", text);
    memset(in, 0, sizeof in);
    CHECK_CLASS(MPI_File_read_at_all(file, 0, in, N + 10, MPI_INT, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == 4 * N && !memcmp(in, out, sizeof out) && in[N] == 0,
          "%d bytes, or others, were read", file_bytes(&status));
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_FLOAT, MPI_FLOAT, representation, MPI_INFO_NULL),
                MPI_ERR_CONVERSION);
    MPI_File_close(&file);
    file_remove("d");
}

/* Complete basic elements at the end of the file, in a type that does not end there; the types of
 * memory are n ints, or a struct of an int and two longs. */
static void end_of_file(const char *representation)
{
    int out[100], in[101], lengths[] = {1, 2};
    struct {
        int first;
        long second[2];
    } mixed[2];
    MPI_Aint at[] = {0, (char *)mixed[0].second - (char *)&mixed[0]};
    MPI_Datatype types[] = {MPI_INT, MPI_LONG}, ints, both;
    MPI_Status status;
    MPI_Offset bytes;
    MPI_File file = file_open("e", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, representation, MPI_INFO_NULL);
    for (int i = 0; i < 100; i++)
        out[i] = 5 * i + 1;
    if (check.rank == 0)
        MPI_File_write_at(file, 0, out, 99, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int n = 10; n <= 50; n += 40) {
        int first = n == 10 ? 94 : 0, left = 99 - first, elements = -1;
        MPI_Type_contiguous(n, MPI_INT, &ints);
        MPI_Type_commit(&ints);
        memset(in, 0, sizeof in);
        CHECK_CLASS(MPI_File_read_at_all(file, first, in, n == 10 ? 1 : 2, ints, &status),
                    MPI_SUCCESS);
        MPI_Get_elements(&status, ints, &elements);
        CHECK(elements == left && !memcmp(in, out + first, (size_t)left * sizeof *in) && !in[left],
              "%s: %d elements of %d, or others, were read", representation, elements, left);
        MPI_Type_free(&ints);
    }
    if (strcmp(representation, "external32")) { /* digits are for ints */
        MPI_File_close(&file);
        file_remove("e");
        return;
    }
    MPI_Type_create_struct(2, lengths, at, types, &both);
    MPI_Type_commit(&both);
    for (bytes = 23; bytes >= 0; bytes--) { /* 12 bytes each; the longs end with the value */
        int elements = -1, want = (int)(bytes / 4);
        MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        MPI_File_set_size(file, bytes);
        MPI_File_set_view(file, 0, MPI_INT, MPI_INT, representation, MPI_INFO_NULL);
        memset(mixed, 0, sizeof mixed);
        CHECK_CLASS(MPI_File_read_at(file, 0, mixed, 2, both, &status), MPI_SUCCESS);
        MPI_Get_elements(&status, both, &elements);
        CHECK(elements == want, "%d elements, not %d", elements, want);
        CHECK(bytes < 23 || (mixed[0].first == out[0] && mixed[0].second[1] == out[2] &&
                             mixed[1].first == out[3] && mixed[1].second[0] == out[4] &&
                             mixed[1].second[1] == 0),
              "other numbers were read");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&both);
    MPI_File_close(&file);
    file_remove("e");
}

/* The conversion of a nonblocking read fails at the last rank: its request completes, and nothing
 * is pending then. */
static void failed_conversion(void)
{
    int out[4] = {1, 2, 3, 4}, in[4];
    MPI_Request requests[2];
    bool last = check.rank == check.size - 1;
    MPI_File file = file_open("q", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_view(file, 16 * check.rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    CHECK_CLASS(MPI_File_write_at_all(file, 0, out, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_set_view(file, 16 * check.rank, MPI_INT, MPI_INT, "half", MPI_INFO_NULL);
    for (int all = 0; all < 2; all++) {
        int code = MPI_SUCCESS;
        for (int i = 0; i < 2 && code == MPI_SUCCESS; i++) {
            requests[i] = MPI_REQUEST_NULL;
            code = all ? MPI_File_iread_at_all(file, 0, in, 4, MPI_INT, &requests[i])
                       : MPI_File_iread_at(file, 0, in, 4, MPI_INT, &requests[i]);
            CHECK(code == MPI_SUCCESS && requests[i] != MPI_REQUEST_NULL,
                  "class %d, and %s request", check_class(code),
                  requests[i] == MPI_REQUEST_NULL ? "no" : "a");
        }
        for (int i = 0; i < 2; i++)
            CHECK_CLASS(MPI_Wait(&requests[i], MPI_STATUS_IGNORE),
                        last ? MPI_ERR_CONVERSION : MPI_SUCCESS);
        CHECK(last || !memcmp(in, out, sizeof in), "other numbers were read");
    }
    CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
    file_remove("q");
}

/* ---- More elements than an int can count: the function is called for some at a time */

static struct {
    MPI_Offset done;
    int calls;
    const void *user;
    const char *file;
    MPI_Datatype type;
} pieces;

static int write_piece(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                       void *extra)
{
    if (!pieces.calls++)
        pieces.file = file;
    CHECK(user == pieces.user && type == pieces.type && extra == &pieces, "other arguments");
    CHECK(position == pieces.done && (char *)file == pieces.file + position,
          "position %lld and byte %lld after %lld", (long long)position,
          (long long)((char *)file - pieces.file), (long long)pieces.done);
    pieces.done += count;
    return MPI_SUCCESS;
}

/* All bytes of memory are one, and those of the file are dropped, so that it takes no memory. */
static void many_elements(void)
{
    enum { MIB = 1 << 20, COUNT = 2049 };
    char text[MPI_MAX_ERROR_STRING], buffer[COUNT] = "";
    int length;
    MPI_Datatype part, type, huge;
    MPI_Status status;
    MPI_Count bytes = 0;
    MPI_File file;
    CHECK_CLASS(
        MPI_Register_datarep("pieces", MPI_CONVERSION_FN_NULL, write_piece, same_extent, &pieces),
        MPI_SUCCESS);
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                MPI_SUCCESS);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "pieces", MPI_INFO_NULL);
    MPI_Type_create_hvector(MIB, 1, 0, MPI_BYTE, &part);
    MPI_Type_create_resized(part, 0, 1, &type);
    MPI_Type_create_hvector(COUNT, 1, 0, type, &huge);
    MPI_Type_commit(&type);
    MPI_Type_commit(&huge);
    pieces.user = buffer;
    pieces.type = type;
    CHECK_CLASS(MPI_File_write_at(file, 0, buffer, COUNT, type, &status), MPI_SUCCESS);
    CHECK(pieces.calls == 2 && pieces.done == (MPI_Offset)COUNT * MIB, "%d calls for %lld elements",
          pieces.calls, (long long)pieces.done);
    MPI_Get_elements_c(&status, type, &bytes);
    CHECK(bytes == pieces.done, "%lld bytes were written", (long long)bytes);
    int code = MPI_File_write_at(file, 0, buffer, 1, huge, &status);
    CHECK_CLASS(code, MPI_ERR_CONVERSION);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "MPI_Register_datarep_c"), "the text names no next step: %s", text);
    CHECK(pieces.calls == 2, "the function was called");
    MPI_Type_free(&part);
    MPI_Type_free(&type);
    MPI_Type_free(&huge);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    int data[4] = {0};
    check_begin(&argc, &argv, 1);
    file_begin();
    external();
    CHECK_CLASS(
        MPI_Register_datarep("digits", digits_read_int, digits_write, digits_extent, &check),
        MPI_SUCCESS);
    CHECK_CLASS(MPI_Register_datarep_c("large digits", digits_read, digits_write_large,
                                       digits_extent, &check),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                     same_extent, NULL),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Register_datarep("failing", fails, fails, same_extent, NULL), MPI_SUCCESS);
    CHECK_CLASS(MPI_Register_datarep("digits", fails, fails, same_extent, NULL),
                MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep("native", fails, fails, same_extent, NULL),
                MPI_ERR_DUP_DATAREP);
    digits("digits");
    digits("large digits");
    end_of_file("native");
    end_of_file("external32");
    end_of_file("plain");
    CHECK_CLASS(MPI_Register_datarep("wide", wide_read, wide_write, digits_extent, &check),
                MPI_SUCCESS);
    end_of_file("wide");
    MPI_File file = file_open("p", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_view(file, 16 * check.rank, MPI_INT, MPI_INT, "plain", MPI_INFO_NULL);
    data[1] = 7;
    CHECK_CLASS(MPI_File_write_all(file, data, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    data[1] = 0;
    CHECK_CLASS(MPI_File_read_at(file, 0, data, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(data[1] == 7, "%d was read", data[1]);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "failing", MPI_INFO_NULL);
    CHECK_CLASS(MPI_File_write_all(file, data, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_read_at(file, 0, data, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, check.rank ? "plain" : "native",
                                  MPI_INFO_NULL),
                check.size > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS);
    MPI_File_close(&file);
    file_remove("p");
    CHECK_CLASS(
        MPI_Register_datarep("half", read_or_fail, MPI_CONVERSION_FN_NULL, same_extent, NULL),
        MPI_SUCCESS);
    failed_conversion();
    many_elements();
    file_end();
    return check_done();
}
