// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3 lanes=self,shm,rxm,nodes seconds=90
/*
 * Atomic mode: of overlapping writes with many system calls each, one is in the file as a unit, for
 * independent and collective access; a read sees no half of a write.
 */
#include "file.h"

enum { INTS = 2000, ROUNDS = 8 };

static int data[INTS];

/* Whether all ints are equal. */
static int is_one(const int *ints)
{
    for (int i = 1; i < INTS; i++)
        if (ints[i] != ints[0])
            return 0;
    return 1;
}

static void fill(int value)
{
    for (int i = 0; i < INTS; i++)
        data[i] = value;
}

int main(int argc, char **argv)
{
    MPI_Datatype view;
    int flag = -1;
    check_begin(&argc, &argv, 1);
    file_begin();
    MPI_File file = file_open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_CLASS(MPI_File_get_atomicity(file, &flag), MPI_SUCCESS);
    CHECK(flag == 0, "atomic after the open: %d", flag);
    if (check.size > 1)
        CHECK_CLASS(MPI_File_set_atomicity(file, check.rank == 0), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_set_atomicity(file, 5), MPI_SUCCESS);
    MPI_File_get_atomicity(file, &flag);
    CHECK(flag == 1, "not atomic: %d", flag);
    MPI_Type_create_resized(MPI_INT, 0, 8, &view);
    MPI_Type_commit(&view);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, view, "native", MPI_INFO_NULL), MPI_SUCCESS);
    fill(-1);
    MPI_File_write_at_all(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < ROUNDS; i++) {
        int writes = check.rank == 0 || i % 2;
        fill(check.rank * 1000 + i);
        if (writes)
            CHECK_CLASS(i % 4 == 3
                            ? MPI_File_write_at_all(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE)
                            : MPI_File_write_at(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE),
                        MPI_SUCCESS);
        CHECK_CLASS(MPI_File_read_at(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(is_one(data), "round %d: a read saw parts of several writes", i);
        if (i % 4 == 3) {
            int first;
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_File_read_at(file, 0, data, INTS, MPI_INT, MPI_STATUS_IGNORE);
            first = data[0];
            MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
            CHECK(is_one(data) && data[0] == first, "ranks read %d and %d", data[0], first);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_CLASS(MPI_File_set_atomicity(file, 0), MPI_SUCCESS);
    MPI_Type_free(&view);
    MPI_File_close(&file);
    file_remove("a");
    file_end();
    return check_done();
}
