// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,4,9 lanes=rxm seconds=60
// run: ranks=5 lanes=rxm-soft,net-soft,shm,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * MPI_Gather and MPI_Allgather: every root, blocks of 0, 1, odd and large counts, in place,
 * with guard bytes around the result.
 */
#include "check.h"

static const int counts[] = {0, 1, 7, 100, 5001, 30001};

static void verify(const struct check_buffer *in, int count, int index, const char *what)
{
    size_t each = (size_t)count * sizeof(int);
    for (int r = 0; r < check.size; r++) {
        CHECK_DATA(in->data + (size_t)r * each, each, r, count, index);
    }
    CHECK(check_buffer_intact(in, each * (size_t)check.size), "%s: bytes outside were written",
          what);
}

static void gather(int count, int root, bool in_place)
{
    size_t each = (size_t)count * sizeof(int);
    bool here = check.rank == root;
    struct check_buffer in = check_buffer_new(each * (size_t)check.size, 0);
    unsigned char *out = check_alloc(each);
    check_step("MPI_Gather of %d, root %d%s", count, root, in_place ? ", in place" : "");
    check_fill(out, each, check.rank, count, root);
    if (here && in_place) {
        check_fill(in.data + (size_t)root * each, each, root, count, root);
    }
    if (count % 2) {
        MPI_Gather_c(here && in_place ? MPI_IN_PLACE : out, count, MPI_INT, here ? in.data : NULL,
                     count, MPI_INT, root, MPI_COMM_WORLD);
    } else {
        MPI_Gather(here && in_place ? MPI_IN_PLACE : out, count, MPI_INT, here ? in.data : NULL,
                   count, MPI_INT, root, MPI_COMM_WORLD);
    }
    if (here) {
        verify(&in, count, root, "MPI_Gather");
    }
    check_buffer_free(&in);
    free(out);
}

static void allgather(int count, bool in_place)
{
    size_t each = (size_t)count * sizeof(int);
    struct check_buffer in = check_buffer_new(each * (size_t)check.size, 0);
    unsigned char *out = check_alloc(each);
    check_step("MPI_Allgather of %d%s", count, in_place ? ", in place" : "");
    check_fill(in_place ? in.data + (size_t)check.rank * each : out, each, check.rank, count, 3);
    if (count % 2) {
        MPI_Allgather_c(in_place ? MPI_IN_PLACE : out, count, MPI_INT, in.data, count, MPI_INT,
                        MPI_COMM_WORLD);
    } else {
        MPI_Allgather(in_place ? MPI_IN_PLACE : out, count, MPI_INT, in.data, count, MPI_INT,
                      MPI_COMM_WORLD);
    }
    verify(&in, count, 3, "MPI_Allgather");
    check_buffer_free(&in);
    free(out);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    for (int c = 0; c < 6; c++) {
        for (int root = 0; root < check.size; root++) {
            gather(counts[c], root, (c + root) % 2);
        }
        allgather(counts[c], false);
        allgather(counts[c], true);
    }
    return check_done();
}
