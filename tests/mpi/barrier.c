// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,5 lanes=rxm,rxm-soft,net-soft seconds=60
// run: ranks=5 lanes=shm,mixed seconds=60
/*
 * Nobody leaves a barrier before everybody has entered it: shown by a message that each rank sends
 * only after a rank that comes late has entered. Then many barriers in a row, and barriers while
 * messages are on their way.
 */
#include "check.h"

enum { TAG = 1, IN_A_ROW = 500 };

/* The late rank enters only after it has seen that every other rank is about to wait for it. */
static void nobody_early(int late)
{
    int left = 0, flag = 0;
    if (check.rank != late) {
        MPI_Send(NULL, 0, MPI_BYTE, late, TAG, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&check.rank, 1, MPI_INT, late, TAG + 1, MPI_COMM_WORLD);
        return;
    }
    for (int r = 0; r < check.size - 1; r++) {
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    if (check.size > 1) {
        MPI_Irecv(&left, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 200 && !flag; i++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            usleep(20);
        }
        CHECK(!flag, "rank %d left the barrier before rank %d entered", left, late);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < check.size - 2; r++) {
        MPI_Recv(&left, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    for (int late = 0; late < check.size; late++) {
        check_step("rank %d enters late", late);
        nobody_early(late);
    }
    check_step("%d barriers in a row", IN_A_ROW);
    for (int i = 0; i < IN_A_ROW; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    static unsigned char out[50000], in[50000];
    for (int i = 0; i < 20; i++) {
        MPI_Request r[2];
        check_step("barrier %d among messages", i);
        check_fill(out, sizeof out, check.rank, TAG, i);
        MPI_Irecv(in, sizeof in, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, sizeof out, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &r[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK_DATA(in, sizeof in, down, TAG, i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_done();
}
