// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,4 lanes=self,shm,rxm,nodes seconds=60
/*
 * Accesses to files in which other MPI libraries had faults, by their public lists of issues. The
 * comment of each names it.
 */
#include "file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { CREATE = MPI_MODE_CREATE | MPI_MODE_RDWR, INTS = 600 };

static int all[INTS]; /* the ints of the file */

static void read_file(const char *name)
{
    memset(all, 0xFF, sizeof all);
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = open(file_name(name), O_RDONLY);
    CHECK(fd >= 0 && read(fd, all, sizeof all) >= 0, "%s cannot be read", name);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A file with the ints 0, 1, ... */
static MPI_File open_filled(const char *name, int n)
{
    MPI_File file = file_open(name, CREATE);
    for (int i = 0; i < n; i++)
        all[i] = i;
    if (check.rank == 0)
        CHECK_CLASS(MPI_File_write_at(file, 0, all, n * 4, MPI_BYTE, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    return file;
}

static void close_and_remove(MPI_File *file, const char *name)
{
    CHECK_CLASS(MPI_File_close(file), MPI_SUCCESS);
    file_remove(name);
}

/* Sets a view of ints, and frees the filetype. */
static int set_view(MPI_File file, MPI_Offset disp, MPI_Datatype *filetype)
{
    MPI_Type_commit(filetype);
    int code = MPI_File_set_view(file, disp, MPI_INT, *filetype, "native", MPI_INFO_NULL);
    MPI_Type_free(filetype);
    return code;
}

/* ---- Views */

/* Open MPI 4144, MPICH 4956: a rank writes ints side by side, the others around them, all
 * independently. */
static void around(void)
{
    enum { TURNS = 20 };
    int width = 2 * check.size, data[2 * TURNS], at[2] = {check.rank, width - 1 - check.rank};
    MPI_Datatype type, turn;
    MPI_File file = file_open("a", CREATE);
    MPI_Type_create_indexed_block(2, 1, at, MPI_INT, &turn);
    MPI_Type_create_resized(turn, 0, 4 * width, &type);
    MPI_Type_free(&turn);
    CHECK_CLASS(set_view(file, 0, &type), MPI_SUCCESS);
    for (int i = 0; i < 2 * TURNS; i++)
        data[i] = i / 2 * width + at[i % 2];
    MPI_File_write(file, data, 2 * TURNS, MPI_INT, MPI_STATUS_IGNORE);
    read_file("a");
    for (int i = 0; i < TURNS * width; i++)
        CHECK(all[i] == i, "around: %d at %d", all[i], i);
    close_and_remove(&file, "a");
}

/* Open MPI 10546: a memory type with holes at one rank only; MPICH 6492: values of a collective
 * read behind a displacement. */
static void one_with_holes(void)
{
    int in[100], at[] = {0, 3, 4, 9}, lengths[] = {1, 1, 2, 1};
    bool holes = check.rank == check.size - 1;
    MPI_Datatype type, bytes;
    MPI_Status status;
    MPI_File file = open_filled("b", 300);
    MPI_Type_indexed(4, lengths, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_contiguous(4, MPI_INT, &bytes);
    CHECK_CLASS(set_view(file, 40, &bytes), MPI_SUCCESS);
    memset(in, 0xFF, sizeof in);
    if (holes)
        MPI_File_read_at_all(file, 5, in, 1, type, &status);
    else
        MPI_File_read_at_all(file, 5, in, 60, MPI_INT, &status);
    CHECK(file_bytes(&status) == (holes ? 20 : 240), "%d bytes", file_bytes(&status));
    for (int i = 0; holes && i < 5; i++)
        CHECK(in[i < 2 ? at[i] : i < 4 ? 2 + i : 9] == 15 + i, "another int at %d", i);
    CHECK(!holes || (in[1] == -1 && in[8] == -1 && in[10] == -1), "holes were changed");
    for (int i = 0; !holes && i < 60; i++)
        CHECK(in[i] == 15 + i, "%d at %d", in[i], i);
    MPI_Type_free(&type);
    close_and_remove(&file, "b");
}

/* MPICH 6222, Open MPI 6703 and 8841: views without data at some ranks. Open MPI 7414 and 7809:
 * ranks without data in a collective access. */
static void without_data(void)
{
    int at[] = {2 * check.rank, 2 * check.size + check.rank}, data[] = {1, 2};
    int n = check.rank % 2 ? 0 : 2;
    MPI_Datatype type;
    MPI_Offset offset = -1;
    MPI_Status status;
    MPI_File file = file_open("c", CREATE);
    MPI_Type_create_indexed_block(n, 1, at, MPI_INT, &type);
    CHECK_CLASS(set_view(file, 0, &type), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_get_byte_offset(file, 0, &offset), MPI_SUCCESS);
    CHECK(offset == (n ? 8 * check.rank : 0), "offset %lld", (long long)offset);
    for (int i = 0; i < 3; i++)
        CHECK_CLASS(MPI_File_write_at_all(file, 0, n ? data : NULL, n, MPI_INT, &status),
                    MPI_SUCCESS);
    CHECK(file_bytes(&status) == 4 * n, "%d bytes", file_bytes(&status));
    read_file("c");
    for (int rank = 0; rank < check.size; rank += 2)
        CHECK(all[2 * rank] == 1 && all[2 * check.size + rank] == 2, "rank %d has others", rank);
    close_and_remove(&file, "c");
}

/* MPICH 3903: displacements that descend. */
static void descends(void)
{
    int at[] = {5, 2}, n = 1;
    MPI_Datatype type;
    MPI_File file = file_open("d", CREATE);
    MPI_Type_create_indexed_block(2, 1, at, MPI_INT, &type);
    CHECK_CLASS(set_view(file, 0, &type), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_write_at(file, 0, &n, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    close_and_remove(&file, "d");
}

/* The offsets of the first n ints of a view are these ints. */
static void expect_offsets(const char *what, MPI_Datatype *type, const int *ints, int n)
{
    int in[64] = {0};
    MPI_File file = open_filled("e", INTS);
    CHECK_CLASS(set_view(file, 0, type), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_read_at_all(file, 0, in, n, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == ints[i], "%s: %d at %d, not %d", what, in[i], i, ints[i]);
    close_and_remove(&file, "e");
}

static void types(void)
{
    MPI_Datatype inner, type, parts[2];
    int sizes[] = {6, 4}, distributions[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    int arguments[] = {2, 2}, ranks[] = {2, 2}, lengths[] = {1, 1}, at[] = {0, 1};
    MPI_Count large[] = {4, 3}, part[] = {1, 3}, start[] = {2, 0};
    /* MPICH 2088: resized twice, with a lower bound */
    MPI_Type_create_resized(MPI_INT, 4, 12, &inner);
    MPI_Type_create_resized(inner, 4, 12, &type);
    MPI_Type_free(&inner);
    expect_offsets("resized", &type, (int[]){0, 3, 6, 9}, 4);
    /* MPICH 4943: blocks within a cyclic distribution */
    MPI_Type_create_darray(4, 0, 2, sizes, distributions, arguments, ranks, MPI_ORDER_C, MPI_INT,
                           &type);
    expect_offsets("darray", &type, (int[]){0, 1, 4, 5, 16, 17, 20, 21, 24}, 9);
    /* MPICH 7169: subarrays in an indexed type */
    for (int i = 0; i < 2; i++)
        MPI_Type_create_subarray(2, (int[]){3, 4}, (int[]){2, 1 + i}, (int[]){1 - i, i},
                                 MPI_ORDER_C, MPI_INT, &parts[i]);
    MPI_Type_indexed(2, lengths, at, parts[1], &type);
    expect_offsets("indexed", &type, (int[]){1, 2, 5, 6, 13, 14, 17, 18, 25}, 9);
    MPI_Type_create_struct(2, lengths, (MPI_Aint[]){0, 48}, parts, &type);
    expect_offsets("struct", &type, (int[]){4, 8, 13, 14, 17, 18, 28}, 7);
    MPI_Type_free(&parts[0]);
    MPI_Type_free(&parts[1]);
    /* MPICH 6121: a type of a constructor with large counts */
    MPI_Type_create_subarray_c(2, large, part, start, MPI_ORDER_C, MPI_INT, &type);
    expect_offsets("large counts", &type, (int[]){6, 7, 8, 18}, 4);
}

/* Open MPI 1809: absolute addresses in memory, with the rules for NFS. */
static void absolute(void)
{
    enum { N = 20 };
    char name[PATH_MAX + 8];
    int in[2 * N], lengths[N];
    MPI_Aint at[N];
    MPI_Datatype memory, view;
    MPI_File file = open_filled("f", INTS);
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
    snprintf(name, sizeof name, "nfs:%s", file_name("f"));
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_SUCCESS);
    for (int i = 0; i < N; i++) {
        lengths[i] = 1;
        MPI_Get_address(&in[2 * (N - 1 - i)], &at[i]);
    }
    MPI_Type_create_hindexed(N, lengths, at, MPI_INT, &memory);
    MPI_Type_commit(&memory);
    MPI_Type_create_resized(MPI_INT, 0, 4 * check.size, &view);
    CHECK_CLASS(set_view(file, 4 * check.rank, &view), MPI_SUCCESS);
    memset(in, 0, sizeof in);
    CHECK_CLASS(MPI_File_read_all(file, MPI_BOTTOM, 1, memory, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        CHECK(in[2 * (N - 1 - i)] == i * check.size + check.rank && in[2 * i + 1] == 0,
              "another int at %d", i);
    MPI_Type_free(&memory);
    close_and_remove(&file, "f");
}

/* ---- Counts and the end of the file */

/* MPICH 2347 and 2348: the count at the end of the file, also of nonblocking reads through a view
 * with holes. */
static void counts(void)
{
    int in[100];
    MPI_Datatype view;
    MPI_Request request;
    MPI_Status status;
    MPI_Count elements;
    MPI_File file = open_filled("g", 99); /* ints 0, 2, ..., 98 */
    MPI_Type_create_resized(MPI_INT, 0, 8, &view);
    CHECK_CLASS(set_view(file, 0, &view), MPI_SUCCESS);
    for (int way = 0; way < 4; way++) {
        if (way == 0)
            MPI_File_iread_at(file, 20, in, 100, MPI_INT, &request);
        else if (way == 1)
            MPI_File_iread_at_all(file, 20, in, 100, MPI_INT, &request);
        else if (way == 2)
            MPI_File_read_at(file, 20, in, 100, MPI_INT, &status);
        else
            MPI_File_read_at_all(file, 20, in, 100, MPI_INT, &status);
        if (way < 2)
            MPI_Wait(&request, &status);
        MPI_Get_elements_c(&status, MPI_INT, &elements);
        CHECK(elements == 30, "way %d: %lld ints", way, (long long)elements);
    }
    close_and_remove(&file, "g");
}

/* MPICH 5866 and 2731, Open MPI 7045: counts above 2^31 bytes. Only the bytes of the file are
 * touched. */
static void large_counts(void)
{
    const size_t size = (size_t)3 << 30;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MPI_Datatype view;
    MPI_Request request;
    MPI_Status status;
    MPI_Count bytes;
    if (memory == MAP_FAILED)
        return;
    MPI_File file = open_filled("h", 100);
    for (int way = 0; way < 6; way++) {
        if (way == 3) {
            MPI_Type_create_resized(MPI_INT, 0, 8, &view);
            CHECK_CLASS(set_view(file, 4 * check.rank, &view), MPI_SUCCESS);
        }
        if (way % 3 == 0)
            MPI_File_read_at_c(file, 0, memory, (MPI_Count)size, MPI_BYTE, &status);
        else if (way % 3 == 1)
            MPI_File_iread_at_c(file, 0, memory, (MPI_Count)size, MPI_BYTE, &request);
        else
            MPI_File_read_ordered_c(file, memory, (MPI_Count)(check.rank ? 4 : size), MPI_BYTE,
                                    &status);
        if (way % 3 == 1)
            MPI_Wait(&request, &status);
        MPI_Get_elements_c(&status, MPI_BYTE, &bytes);
        long expected = way % 3 == 2 && check.rank ? 0 : way < 3 ? 400 : (101 - check.rank) / 2 * 4;
        CHECK(bytes == expected, "way %d: %lld bytes, not %ld", way, (long long)bytes, expected);
    }
    munmap(memory, size);
    close_and_remove(&file, "h");
}

/* Open MPI 8266 and 6858: seeks from the end, and from here. */
static void seeks(void)
{
    MPI_Offset at = -1;
    MPI_Datatype view;
    MPI_File file = open_filled("i", 50);
    CHECK_CLASS(MPI_File_get_position_shared(file, &at), MPI_SUCCESS); /* MPICH 142 */
    CHECK(at == 0, "the shared pointer is %lld", (long long)at);
    MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &at);
    CHECK(at == 200, "the end is %lld", (long long)at);
    MPI_File_seek(file, -8, MPI_SEEK_CUR);
    MPI_File_get_position(file, &at);
    CHECK(at == 192, "the pointer is %lld", (long long)at);
    MPI_Type_create_resized(MPI_INT, 0, 12, &view);
    CHECK_CLASS(set_view(file, 8, &view), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_seek_shared(file, -1, MPI_SEEK_END), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_seek_shared(file, -3, MPI_SEEK_CUR), MPI_SUCCESS);
    MPI_File_get_position_shared(file, &at);
    CHECK(at == 12, "the shared pointer is %lld", (long long)at);
    MPI_Barrier(MPI_COMM_WORLD);
    close_and_remove(&file, "i");
}

/* ---- Opening, sizes, hints */

/* Open MPI 1633: the size after MPI_File_preallocate. */
static void sizes(void)
{
    static const int steps[][2] = {{1, 1}, {100, 100}, {50, 100}, {101, 101}};
    MPI_Offset size;
    MPI_File file = file_open("j", CREATE);
    for (int i = 0; i < 4; i++) {
        CHECK_CLASS(MPI_File_preallocate(file, steps[i][0]), MPI_SUCCESS);
        MPI_File_get_size(file, &size);
        CHECK(size == steps[i][1], "%lld bytes", (long long)size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    close_and_remove(&file, "j");
}

/* Open MPI 13367: hints without an info; 4990: sequential files; MPICH 2760: MPI_MODE_EXCL with
 * romio_no_indep_rw; Open MPI 12619: a name of one character. */
static void opens(void)
{
    int n = 0, amode = 0, data = check.rank;
    char folder[PATH_MAX];
    MPI_Info info;
    MPI_File file = file_open("k", CREATE);
    MPI_File_get_info(file, &info);
    MPI_Info_get_nkeys(info, &n);
    CHECK(n > 10, "%d hints", n);
    MPI_Info_free(&info);
    close_and_remove(&file, "k");
    CHECK_CLASS(MPI_File_close(&file), MPI_ERR_FILE); /* NetCDF 2283 */
    file = file_open("l", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    for (int i = 0; i < 2; i++)
        CHECK_CLASS(MPI_File_write_ordered(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
    read_file("l");
    for (int i = 0; i < 2 * check.size; i++)
        CHECK(all[i] == i % check.size, "%d at %d", all[i], i);
    close_and_remove(&file, "l");
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_no_indep_rw", "true");
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, file_name("m"), CREATE | MPI_MODE_EXCL, info, &file),
                MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_CLASS(MPI_File_write_at(file, 4 * check.rank, &data, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    MPI_File_get_amode(file, &amode);
    CHECK(amode == (CREATE | MPI_MODE_EXCL), "the mode is %#x", amode);
    close_and_remove(&file, "m");
    CHECK(getcwd(folder, sizeof folder) && chdir(file_folder) == 0, "no folder");
    CHECK_CLASS(
        MPI_File_open(MPI_COMM_WORLD, "n", CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
        MPI_SUCCESS);
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
    CHECK(chdir(folder) == 0, "no folder %s", folder);
}

/* Darshan 1064: collective writes of other lengths at each rank, one behind the other. */
static void appended(void)
{
    int data[100], at = 0;
    MPI_File file = file_open("o", CREATE);
    for (int call = 0; call < 4; call++)
        for (int rank = 0, first = at; rank < check.size; rank++) {
            int n = 3 + 7 * rank + call;
            for (int i = 0; rank == check.rank && i < n; i++)
                data[i] = at + i;
            if (rank == check.rank)
                first = at;
            at += n;
            if (rank == check.size - 1)
                MPI_File_write_at_all(file, 4 * first, data, 3 + 7 * check.rank + call, MPI_INT,
                                      MPI_STATUS_IGNORE);
        }
    read_file("o");
    for (int i = 0; i < at; i++)
        CHECK(all[i] == i, "%d at %d", all[i], i);
    close_and_remove(&file, "o");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    file_begin();
    around();
    one_with_holes();
    without_data();
    descends();
    types();
    absolute();
    counts();
    large_counts();
    seeks();
    sizes();
    opens();
    appended();
    file_end();
    return check_done();
}
