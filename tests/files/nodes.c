// SPDX-License-Identifier: BSD-3-Clause
/*
 * A file that ranks reach by different names, as nodes with caches of their own do: nodes FOLDER...
 * Rank r uses folder r modulo their number; all are the same folder of a file server.
 *
 * A file that rank 0 creates is found by a rank whose node has just cached that there is none; data
 * that a node has cached are read anew after MPI_File_sync; collective writes of records that
 * interleave, in one page too, are all in the file; and in atomic mode nothing has to be
 * synchronized.
 */
#include "../mpi/file.h"

#include <errno.h>
#include <sys/stat.h>

enum { INTS = 300, RECORDS = 30000, ROUNDS = 3 };

static char name[PATH_MAX];

static MPI_File open_file(void)
{
    MPI_File file = MPI_FILE_NULL;
    CHECK_CLASS(
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        MPI_SUCCESS);
    return file;
}

static int value_of(int rank, int round, int i)
{
    return rank * 1000000 + round * 100000 + i;
}

/* Blocks of INTS ints, written by each rank and read by all. */
static void synchronized(MPI_File file)
{
    static int data[INTS], all[INTS * 64];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < INTS; i++)
            data[i] = value_of(check.rank, round, i);
        CHECK_CLASS(MPI_File_write_at(file, check.rank * (MPI_Offset)sizeof data, data, INTS,
                                      MPI_INT, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
        CHECK_CLASS(MPI_File_read_at(file, 0, all, INTS * check.size, MPI_INT, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        for (int i = 0; i < INTS * check.size; i++)
            CHECK(all[i] == value_of(i / INTS, round, i % INTS), "round %d: int %d is %d", round, i,
                  all[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Records of 3 ints, of all ranks in turn. */
static void interleaved(MPI_File file)
{
    static int out[3 * RECORDS], in[3 * RECORDS];
    MPI_Datatype record, view;
    MPI_Type_contiguous(3, MPI_INT, &record);
    MPI_Type_create_resized(record, 0, check.size * (MPI_Aint)sizeof(int) * 3, &view);
    MPI_Type_commit(&view);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 3 * RECORDS; i++)
            out[i] = value_of(check.rank, round, i);
        CHECK_CLASS(
            MPI_File_set_view(file, check.rank * 12, MPI_INT, view, "native", MPI_INFO_NULL),
            MPI_SUCCESS);
        CHECK_CLASS(MPI_File_write_at_all(file, 0, out, 3 * RECORDS, MPI_INT, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_CLASS(MPI_File_sync(file), MPI_SUCCESS);
        int other = (check.rank + 1) % check.size; /* its records, which another node has written */
        CHECK_CLASS(MPI_File_set_view(file, other * 12, MPI_INT, view, "native", MPI_INFO_NULL),
                    MPI_SUCCESS);
        CHECK_CLASS(MPI_File_read_at(file, 0, in, 3 * RECORDS, MPI_INT, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        int wrong = 0;
        for (int i = 0; i < 3 * RECORDS; i++)
            wrong += in[i] != value_of(other, round, i);
        CHECK(wrong == 0, "round %d: %d ints of rank %d are wrong", round, wrong, other);
    }
    MPI_Type_free(&record);
    MPI_Type_free(&view);
}

/* Without MPI_File_sync. The ints of a round are written by one rank. */
static void atomically(MPI_File file)
{
    int data[INTS];
    CHECK_CLASS(MPI_File_set_atomicity(file, 1), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    for (int round = 0; round < ROUNDS * check.size; round++) {
        for (int i = 0; i < INTS; i++)
            data[i] = value_of(check.rank, round, i);
        if (round % check.size == check.rank)
            CHECK_CLASS(MPI_File_write_at(file, 1, data, INTS, MPI_INT, MPI_STATUS_IGNORE),
                        MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_CLASS(MPI_File_read_at(file, 1, data, INTS, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < INTS; i++)
            CHECK(data[i] == value_of(round % check.size, round, i), "round %d: int %d is %d",
                  round, i, data[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct stat stat_of;
    check_begin(&argc, &argv, 1);
    if (argc < 2) {
        fprintf(stderr, "nodes FOLDER...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    snprintf(name, sizeof name, "%s/shared-%d", argv[1 + check.rank % (argc - 1)], check.size);
    CHECK(stat(name, &stat_of) && errno == ENOENT, "%s is there", name);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_file();
    if (file != MPI_FILE_NULL) {
        check_step("blocks");
        synchronized(file);
        check_step("records that interleave");
        interleaved(file);
        check_step("atomic mode");
        atomically(file);
        CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        CHECK_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_SUCCESS);
    return check_done() > 0;
}
