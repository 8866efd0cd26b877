// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm,shm-copy seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Messages are received by tag in another order than they arrived: reversed and shuffled, eager and
 * rendezvous, with blocking receives of messages that lie unexpected, with their true lengths.
 */
#include "check.h"

enum { MESSAGES = 200, LARGEST = 60000 };

static int size_of(int tag)
{
    static const int sizes[] = {4, 60000, 100, 0, 17000, 2000, 64};
    return sizes[tag % 7];
}

/* The tag that is received k-th. */
static int order(int k, int round)
{
    return round == 0 ? MESSAGES - 1 - k : (k * 77 + 13) % MESSAGES; /* 77 and 200: coprime */
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    unsigned char *out[MESSAGES], *in = check_alloc(LARGEST);
    MPI_Request sends[MESSAGES];
    for (int tag = 0; tag < MESSAGES; tag++) {
        out[tag] = check_alloc((size_t)size_of(tag));
        check_fill(out[tag], (size_t)size_of(tag), check.rank, tag, 0);
    }
    for (int round = 0; round < 2; round++) {
        check_step("round %d", round);
        for (int tag = 0; tag < MESSAGES; tag++) {
            MPI_Isend(out[tag], size_of(tag), MPI_BYTE, up, tag, MPI_COMM_WORLD, &sends[tag]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < MESSAGES; k++) {
            MPI_Status st;
            int tag = order(k, round);
            MPI_Recv(in, LARGEST, MPI_BYTE, k % 3 ? down : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                     &st);
            CHECK_STATUS(st, down, tag, size_of(tag));
            CHECK_DATA(in, (size_t)size_of(tag), down, tag, 0);
        }
        MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int tag = 0; tag < MESSAGES; tag++) {
        free(out[tag]);
    }
    free(in);
    return check_done();
}
