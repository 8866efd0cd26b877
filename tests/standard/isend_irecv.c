// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Nonblocking communication (MPI 5.0, 3.7): computation between the start and the wait; two
 * messages of one sender that come in order to two nonblocking receives; and progress: a receive
 * that was only started lets a synchronous send of another rank complete while its own rank is
 * blocked in another receive.
 */
#include "../mpi/check.h"

enum { TAG = 7, LONG = 150000, SIZES = 5 };

static const int sizes[SIZES] = {8, 64, 3000, 20000, LONG};
static char out[2][LONG], in[2][LONG];
static int up, down;

static void overlap(int bytes, int i)
{
    MPI_Request request[2];
    MPI_Status st[2];
    check_fill(out[0], (size_t)bytes, check.rank, TAG, i);
    MPI_Irecv(in[0], bytes, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out[0], bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &request[1]);
    uint64_t sum = 0;
    for (int k = 0; k < 1000; k++) {
        sum += check_mix((uint64_t)k); /* something that uses neither buffer */
    }
    CHECK(sum != 0, "an unlikely sum");
    MPI_Wait(&request[0], &st[0]);
    MPI_Wait(&request[1], &st[1]);
    CHECK(request[0] == MPI_REQUEST_NULL && request[1] == MPI_REQUEST_NULL, "handles stay");
    CHECK_STATUS(st[0], down, TAG, bytes);
    CHECK_DATA(in[0], (size_t)bytes, down, TAG, i);
}

/* The waits come in the other order than the receives; the messages must not. */
static void order(int bytes, int i)
{
    MPI_Request sends[2], receives[2];
    MPI_Status st;
    for (int k = 0; k < 2; k++) {
        check_fill(out[k], (size_t)bytes, check.rank, k, i);
        MPI_Isend(out[k], bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &sends[k]);
        MPI_Irecv(in[k], bytes, MPI_BYTE, down, k ? TAG : MPI_ANY_TAG, MPI_COMM_WORLD,
                  &receives[k]);
    }
    for (int k = 1; k >= 0; k--) {
        MPI_Wait(&receives[k], &st);
        CHECK_STATUS(st, down, TAG, bytes);
        CHECK_DATA(in[k], (size_t)bytes, down, k, i);
        MPI_Wait(&sends[k], MPI_STATUS_IGNORE);
    }
}

/* Rank 0 of a pair waits in a synchronous send, rank 1 in the receive of what comes after it. */
static void progress(int bytes, int i)
{
    int peer = check.rank ^ 1;
    MPI_Request request;
    MPI_Status st;
    if (peer >= check.size) {
        return;
    }
    if (check.rank % 2 == i % 2) {
        check_fill(out[0], (size_t)bytes, check.rank, TAG, i);
        check_fill(out[1], (size_t)bytes, check.rank, TAG + 1, i);
        MPI_Ssend(out[0], bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        MPI_Send(out[1], bytes, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(in[0], bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
        MPI_Recv(in[1], bytes, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, peer, TAG + 1, bytes);
        CHECK_DATA(in[1], (size_t)bytes, peer, TAG + 1, i);
        MPI_Wait(&request, &st);
        CHECK_STATUS(st, peer, TAG, bytes);
        CHECK_DATA(in[0], (size_t)bytes, peer, TAG, i);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int i = 0; i < 6 * SIZES; i++) {
        check_step("%d bytes", sizes[i / 6]);
        overlap(sizes[i / 6], i);
        order(sizes[i / 6], i);
        progress(sizes[i / 6], i);
    }
    return check_done();
}
