// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm,shm-copy,shm-small seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * A receive writes the bytes of its message and not one more: short messages in large buffers, by
 * every protocol, posted and unexpected.
 */
#include "check.h"

enum { TAG = 6 };

static const struct {
    size_t bytes, room;
} cases[] = {{0, 1},         {0, 1000},      {5, 1000},       {1, 64},        {8, 65},
             {63, 64},       {64, 128},      {100, 20000},    {5, 200000},    {4096, 4097},
             {16384, 70000}, {16385, 70000}, {20001, 100000}, {65536, 65537}, {300001, 1000000}};

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    for (int i = 0; i < 2 * (int)(sizeof cases / sizeof cases[0]); i++) {
        size_t n = cases[i / 2].bytes, room = cases[i / 2].room;
        bool posted = i & 1;
        struct check_buffer in = check_buffer_new(room, (size_t)i % 7);
        unsigned char *out = check_alloc(n);
        MPI_Request send, receive;
        MPI_Status st;
        check_fill(out, n, check.rank, TAG, i);
        check_step("%zu bytes into %zu, %s", n, room, posted ? "posted" : "unexpected");
        if (posted) {
            MPI_Irecv(in.data, (int)room, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &receive);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Isend(out, (int)n, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &send);
        if (!posted) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Irecv(in.data, (int)room, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &receive);
        }
        MPI_Wait(&receive, &st);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        CHECK_STATUS(st, peer, TAG, n);
        CHECK_DATA(in.data, n, peer, TAG, i);
        CHECK(check_buffer_intact(&in, n), "%zu bytes into %zu, %s: other bytes were written", n,
              room, posted ? "posted" : "unexpected");
        check_buffer_free(&in);
        free(out);
    }
    return check_done();
}
