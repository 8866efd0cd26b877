// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,rxm-small,net-soft,sockets,shm,mixed seconds=40
/*
 * Synchronous sends over new communicators are cancelled while their receivers may still be inside
 * MPI_Comm_dup, or have already freed the communicator: no receive is ever posted, so each cancel
 * succeeds and MPI_Wait returns.
 */
#include "check.h"

enum { ROUNDS = 2000, BYTES = 4000, TAG = 5 };

static void cancel_one(MPI_Comm comm, int bytes, int to)
{
    static char out[BYTES];
    MPI_Request request;
    MPI_Status status;
    int flag;
    MPI_Issend(out, bytes, MPI_BYTE, to, TAG, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag, "a send of %d bytes to rank %d was not cancelled", bytes, to);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 3);
    int rounds = check_setting("WEFT_TEST_MESSAGES", ROUNDS), last = check.size - 1;
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        check_step("round %d", round);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (check.rank == last)
            cancel_one(comm, round % 2 ? BYTES : 8, round / 2 % last);
        MPI_Comm_free(&comm);
    }
    return check_done();
}
