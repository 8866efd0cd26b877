// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=rxm,rxm-soft,net-soft seconds=30
// run: ranks=3 lanes=shm,shm-copy,shm-small,mixed seconds=30
/*
 * A send that waits for the connection is cancelled, and another to the same rank follows at once.
 * Every rank does that to the next one before anything connects them. Either the first is cancelled
 * and never arrives, or it arrives; the second tells which.
 */
#include "check.h"

enum { TAG_FIRST = 1, TAG_SECOND = 2 };

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size;
    check_step("a send behind a cancelled one");

    int first = 100 + check.rank, cancelled, theirs, value = -1;
    MPI_Request sends[2], receive;
    MPI_Status status;
    MPI_Isend(&first, 1, MPI_INT, next, TAG_FIRST, MPI_COMM_WORLD, &sends[0]);
    MPI_Cancel(&sends[0]);
    MPI_Irecv(&theirs, 1, MPI_INT, before, TAG_SECOND, MPI_COMM_WORLD, &receive);
    /* Completes at once if the send was still waiting, else when the peer answers. */
    MPI_Wait(&sends[0], &status);
    MPI_Test_cancelled(&status, &cancelled);
    MPI_Isend(&cancelled, 1, MPI_INT, next, TAG_SECOND, MPI_COMM_WORLD, &sends[1]);
    MPI_Wait(&sends[1], MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);

    if (!theirs) {
        MPI_Recv(&value, 1, MPI_INT, before, TAG_FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 100 + before, "rank %d sent %d, not %d", before, value, 100 + before);
    }
    int waiting = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(before, TAG_FIRST, MPI_COMM_WORLD, &waiting, MPI_STATUS_IGNORE);
    CHECK(!waiting, "a cancelled message of rank %d is there", before);
    return check_done();
}
