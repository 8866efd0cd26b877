// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,net-soft,shm,shm-copy,mixed seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * MPI_Sendrecv: shifts of every size around the ring without deadlock, different lengths and types
 * on both sides, wildcards, MPI_PROC_NULL on either side, matching with plain sends and receives.
 */
#include "check.h"

enum { TAG = 8, LARGEST = 300000 };

static void shifts(int up, int down)
{
    static const int sizes[] = {0, 1, 8, 64, 65, 16384, 16385, 65536, 65537, 300000};
    unsigned char *out = check_alloc(LARGEST), *in = check_alloc(LARGEST);
    for (int i = 0; i < 16; i++) {
        int mine = sizes[(i + check.rank) % 8], theirs = sizes[(i + down) % 8];
        MPI_Status st;
        check_step("shift %d: %d bytes out, %d bytes in", i, mine, theirs);
        check_fill(out, (size_t)mine, check.rank, TAG, i);
        MPI_Sendrecv(out, mine, MPI_BYTE, up, TAG, in, LARGEST, MPI_BYTE,
                     i & 1 ? MPI_ANY_SOURCE : down, i & 2 ? MPI_ANY_TAG : TAG, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, down, TAG, theirs);
        CHECK_DATA(in, (size_t)theirs, down, TAG, i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(out);
    free(in);
}

static void line(void)
{
    int left = check.rank > 0 ? check.rank - 1 : MPI_PROC_NULL;
    int right = check.rank + 1 < check.size ? check.rank + 1 : MPI_PROC_NULL;
    int out = 100 + check.rank, in = -1;
    MPI_Status st;
    check_step("shift along a line with MPI_PROC_NULL at its ends");
    MPI_Sendrecv(&out, 1, MPI_INT, right, TAG, &in, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &st);
    if (left == MPI_PROC_NULL) {
        CHECK(in == -1, "a receive from MPI_PROC_NULL wrote %d", in);
        CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else {
        CHECK(in == 100 + left, "received %d from rank %d", in, left);
        CHECK_STATUS(st, left, TAG, sizeof in);
    }
}

static void with_plain(int up, int down)
{
    int out = check.rank, in = -1;
    MPI_Request request;
    check_step("MPI_Sendrecv against MPI_Isend and MPI_Recv");
    if (check.rank & 1) {
        MPI_Sendrecv(&out, 1, MPI_INT, up, 1, &in, 1, MPI_INT, down, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else {
        MPI_Isend(&out, 1, MPI_INT, up, 1, MPI_COMM_WORLD, &request);
        MPI_Recv(&in, 1, MPI_INT, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(in == down, "received %d from rank %d", in, down);
    double pair[2] = {check.rank, 0.5}, got[2] = {-1, -1};
    MPI_Sendrecv_c(pair, 2, MPI_DOUBLE, up, 2, got, 2, MPI_DOUBLE, down, 2, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    CHECK(got[0] == down && got[1] == 0.5, "MPI_Sendrecv_c brought %g, %g", got[0], got[1]);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    shifts(up, down);
    line();
    with_plain(up, down);
    return check_done();
}
