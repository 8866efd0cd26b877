// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,5 lanes=rxm,rxm-soft,shm seconds=40
// run: ranks=3 lanes=net-soft,mixed seconds=40
/*
 * Several receives from any source kept open, each taken by MPI_Waitany or MPI_Testany and started
 * again in its place: the messages of each rank come in the order in which it sent them, and every
 * place of the array gets its turn.
 */
#include "check.h"

enum { OPEN = 4, MESSAGES = 2000, MOST_RANKS = 16 };

/* Every rank but 0 sends numbers; persistent requests have their own way of starting again. */
static void collect(bool persistent, bool test)
{
    int in[OPEN], next[MOST_RANKS] = {0}, turns[OPEN] = {0};
    int left = (check.size - 1) * MESSAGES;
    MPI_Request receives[OPEN];
    for (int i = 0; i < OPEN; i++) {
        if (persistent)
            MPI_Recv_init(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &receives[i]);
        else
            MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &receives[i]);
    }
    if (persistent)
        MPI_Startall(OPEN, receives);
    for (; left > 0; left--) {
        MPI_Status status;
        int index = MPI_UNDEFINED, flag = 0;
        if (!test)
            MPI_Waitany(OPEN, receives, &index, &status);
        else
            while (!flag)
                MPI_Testany(OPEN, receives, &index, &flag, &status);
        int from = status.MPI_SOURCE;
        CHECK(in[index] == next[from], "rank %d's message %d came where %d was due", from,
              in[index], next[from]);
        next[from] = in[index] + 1;
        turns[index]++;
        if (persistent)
            MPI_Start(&receives[index]);
        else
            MPI_Irecv(&in[index], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &receives[index]);
    }
    for (int i = 0; i < OPEN; i++) {
        CHECK(turns[i] > 0, "place %d of the array had no turn", i);
        MPI_Cancel(&receives[i]);
        MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
        if (persistent)
            MPI_Request_free(&receives[i]);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    for (int form = 0; form < 4; form++) {
        if (check.rank == 0)
            collect(form & 1, form & 2);
        else
            for (int i = 0; i < MESSAGES; i++)
                MPI_Send(&i, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_done();
}
