// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm seconds=60
/*
 * Sends whose requests are freed at once (MPI 5.0, 3.7.3): rank 0 and rank 1 send each other in
 * turn; a freed send is known to be complete, and its buffer free for the next, when the answer to
 * it has come.
 */
#include "../mpi/check.h"

enum { TAG = 6, TURNS = 30, LONG = 100000 };

static char out[LONG], in[LONG];

static void send_and_forget(int peer, int bytes, int i)
{
    MPI_Request request;
    check_fill(out, (size_t)bytes, check.rank, TAG, i);
    MPI_Isend(out, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free leaves a handle");
}

static void receive(int peer, int bytes, int i)
{
    MPI_Request request;
    MPI_Status st;
    MPI_Irecv(in, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &st);
    CHECK_STATUS(st, peer, TAG, bytes);
    CHECK_DATA(in, (size_t)bytes, peer, TAG, i);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 64, 5000, 20000, LONG};
    check_begin(&argc, &argv, 2);
    int peer = check.rank ^ 1;
    for (int i = 0; peer < check.size && i < TURNS * 5; i++) {
        int bytes = sizes[i / TURNS];
        check_step("turn %d, %d bytes", i, bytes);
        if (check.rank % 2 == 0) {
            send_and_forget(peer, bytes, i);
            receive(peer, bytes, i);
        } else {
            receive(peer, bytes, i);
            send_and_forget(peer, bytes, i);
        }
    }
    return check_done();
}
