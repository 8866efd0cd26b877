// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3,4 lanes=self,shm,rxm,nodes seconds=90
/*
 * The shared file pointer: records of all ranks fill the file without a gap or overlap, ordered
 * access is in the order of ranks, seeks and views set the pointer, and files that were opened with
 * MPI_MODE_SEQUENTIAL allow no other access.
 */
#include "file.h"

enum { RECORDS = 40, INTS = 3 };

static int read_int(MPI_File file, int i)
{
    int value = -1;
    MPI_File_read_at(file, (MPI_Offset)i * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    return value;
}

static MPI_Offset position(MPI_File file)
{
    MPI_Offset at = -1;
    CHECK_CLASS(MPI_File_get_position_shared(file, &at), MPI_SUCCESS);
    return at;
}

/* All ranks write records, which are then found in the file, each once. */
static void independent(void)
{
    MPI_File file = file_open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
    char seen[4 * RECORDS] = {0};
    for (int i = 0; i < RECORDS; i++) {
        int record[INTS] = {check.rank * RECORDS + i, i, -1};
        MPI_Request request;
        MPI_Status status;
        if (i % 2) {
            CHECK_CLASS(MPI_File_iwrite_shared(file, record, INTS, MPI_INT, &request), MPI_SUCCESS);
            MPI_Wait(&request, &status);
        } else {
            CHECK_CLASS(MPI_File_write_shared(file, record, INTS, MPI_INT, &status), MPI_SUCCESS);
        }
        CHECK(file_bytes(&status) == INTS * 4, "%d bytes", file_bytes(&status));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(position(file) == (MPI_Offset)check.size * RECORDS * INTS * 4, "the pointer is %lld",
          (long long)position(file));
    for (int i = 0; i < check.size * RECORDS; i++) {
        int id = read_int(file, i * INTS);
        CHECK(id >= 0 && id < check.size * RECORDS && !seen[id], "record %d is %d", i, id);
        CHECK(read_int(file, i * INTS + 1) == id % RECORDS, "record %d is mixed", i);
        seen[id >= 0 && id < check.size * RECORDS ? id : 0] = 1;
    }
    CHECK_CLASS(MPI_File_seek_shared(file, -INTS * 4, MPI_SEEK_END), MPI_SUCCESS);
    CHECK(position(file) == (MPI_Offset)(check.size * RECORDS - 1) * INTS * 4, "seek to %lld",
          (long long)position(file));
    CHECK_CLASS(MPI_File_seek_shared(file, check.rank, MPI_SEEK_SET),
                check.size > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS);
    CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_seek_shared(file, -4, MPI_SEEK_CUR), MPI_ERR_ARG);
    int total = 0, mine = 0, value;
    MPI_Status status;
    while (MPI_File_read_shared(file, &value, 1, MPI_INT, &status) == MPI_SUCCESS &&
           file_bytes(&status) == 4)
        mine++;
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(total == check.size * RECORDS * INTS, "%d ints were read", total);
    MPI_File_close(&file);
    file_remove("a");
}

/* Rank r writes r + 1 ints, in a view with a displacement and holes. */
static void ordered(int split)
{
    MPI_File file = file_open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
    int data[8], n = check.rank + 1, round = check.size * (check.size + 1) / 2, errors = 0;
    MPI_Datatype view;
    MPI_Status status;
    MPI_Type_create_resized(MPI_INT, 0, 8, &view);
    MPI_Type_commit(&view);
    CHECK_CLASS(MPI_File_set_view(file, 4, MPI_INT, view, "native", MPI_INFO_NULL), MPI_SUCCESS);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < n; j++)
            data[j] = i * 1000 + check.rank * 10 + j;
        if (split) {
            CHECK_CLASS(MPI_File_write_ordered_begin(file, data, n, MPI_INT), MPI_SUCCESS);
            CHECK_CLASS(MPI_File_write_all_end(file, data, &status), MPI_ERR_IO);
            CHECK_CLASS(MPI_File_write_ordered_end(file, data, &status), MPI_SUCCESS);
        } else {
            CHECK_CLASS(MPI_File_write_ordered(file, data, n, MPI_INT, &status), MPI_SUCCESS);
        }
        CHECK(file_bytes(&status) == n * 4, "%d bytes", file_bytes(&status));
    }
    CHECK(position(file) == 5 * round, "the pointer is %lld", (long long)position(file));
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    for (int i = 0; i < 5; i++) {
        if (split) {
            MPI_File_read_ordered_begin(file, data, n, MPI_INT);
            MPI_File_read_ordered_end(file, data, &status);
        } else {
            MPI_File_read_ordered(file, data, n, MPI_INT, &status);
        }
        for (int j = 0; j < n; j++)
            errors += data[j] != i * 1000 + check.rank * 10 + j;
    }
    CHECK(!errors, "%d ints are wrong", errors);
    MPI_Offset before = position(file);
    int last = check.rank == check.size - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_File_write_ordered(file, data, last ? -1 : 1, MPI_INT, &status), MPI_ERR_COUNT);
    CHECK(position(file) == before, "the pointer moved to %lld", (long long)position(file));
    CHECK_CLASS(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK(position(file) == 0, "a view leaves the pointer at %lld", (long long)position(file));
    MPI_File_close(&file);
    file = file_open("a", MPI_MODE_APPEND | MPI_MODE_RDWR);
    CHECK(position(file) == 4 + 4 * (2 * 5 * round - 1), "APPEND: %lld", (long long)position(file));
    MPI_File_close(&file);
    MPI_Type_free(&view);
    file_remove("a");
}

static void sequential(void)
{
    MPI_File file = file_open("a", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    int data[2] = {check.rank, -check.rank};
    MPI_Offset offset;
    CHECK_CLASS(MPI_File_write_ordered(file, data, 4, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_write(file, data, 4, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_position_shared(file, &offset), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                                  MPI_INFO_NULL),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_File_write_ordered(file, data, 2, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_close(&file);
    file = file_open("a", MPI_MODE_RDONLY);
    MPI_File_get_size(file, &offset);
    CHECK(offset == 12 * check.size, "%lld bytes", (long long)offset);
    for (int rank = 0; rank < check.size; rank++)
        CHECK(read_int(file, rank) == rank && read_int(file, check.size + 2 * rank) == rank &&
                  read_int(file, check.size + 2 * rank + 1) == -rank,
              "the data of rank %d are wrong", rank);
    MPI_File_close(&file);
    file_remove("a");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    file_begin();
    independent();
    ordered(0);
    ordered(1);
    sequential();
    file_end();
    return check_done();
}
