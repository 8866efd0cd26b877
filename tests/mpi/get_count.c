// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * MPI_Get_count counts whole elements: MPI_UNDEFINED for a piece of one, zero for nothing, for
 * messages of every protocol; statuses keep what they are not asked to change.
 */
#include "check.h"

enum { TAG = 5, SENTINEL = 4711 };

static void one(int bytes, int peer)
{
    unsigned char *out = check_alloc((size_t)bytes), *in = check_alloc((size_t)bytes + 16);
    MPI_Request send;
    MPI_Status st = {.MPI_ERROR = SENTINEL};
    int count = -1;
    MPI_Count large = -1;
    memset(out, 1, (size_t)bytes);
    check_step("%d bytes", bytes);
    MPI_Isend(out, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &send);
    MPI_Recv(in, bytes + 16, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &st);
    CHECK(st.MPI_ERROR == SENTINEL, "MPI_Recv set the status's error field to %d", st.MPI_ERROR);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    const struct {
        MPI_Datatype type;
        int size;
    } types[] = {{MPI_BYTE, 1},       {MPI_CHAR, 1},     {MPI_SHORT, 2},
                 {MPI_INT, 4},        {MPI_FLOAT, 4},    {MPI_DOUBLE, 8},
                 {MPI_INT64_T, 8},    {MPI_UINT16_T, 2}, {MPI_LONG, (int)sizeof(long)},
                 {MPI_DOUBLE_INT, 12}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        int expected = bytes % types[i].size ? MPI_UNDEFINED : bytes / types[i].size;
        MPI_Get_count(&st, types[i].type, &count);
        MPI_Get_count_c(&st, types[i].type, &large);
        CHECK(count == expected && large == expected,
              "%d bytes as type %zu of %d bytes: %d and %lld, expected %d", bytes, i, types[i].size,
              count, (long long)large, expected);
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0,  1,  2,  3,    4,    5,     7,     8,    12,
                                13, 24, 65, 5000, 5001, 20000, 20001, 96000};
    check_begin(&argc, &argv, 1);
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        one(sizes[i], peer);
    }
    return check_done();
}
