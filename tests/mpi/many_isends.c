// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft seconds=90
// run: ranks=1 lanes=self seconds=60
// run: ranks=2 lanes=shm,shm-copy seconds=60
/*
 * 3000 nonblocking sends of rendezvous size are on their way at once, to a receiver that takes the
 * first half in order and the second half backwards by tag. On one rank to itself.
 */
#include "check.h"

enum { MESSAGES = 3000, BYTES = 17000, DISTINCT = 64 };

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    static unsigned char out[DISTINCT][BYTES], in[BYTES];
    static MPI_Request requests[MESSAGES];
    for (int i = 0; i < DISTINCT; i++) {
        check_fill(out[i], BYTES, check.rank, 0, i);
    }
    check_step("starting %d sends", MESSAGES);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Isend(out[i % DISTINCT], BYTES, MPI_BYTE, up, i < MESSAGES / 2 ? 0 : i, MPI_COMM_WORLD,
                  &requests[i]);
    }
    for (int k = 0; k < MESSAGES; k++) {
        int i = k < MESSAGES / 2 ? k : MESSAGES - 1 - (k - MESSAGES / 2);
        int tag = i < MESSAGES / 2 ? 0 : i;
        MPI_Status st;
        check_step("receive %d, message %d", k, i);
        MPI_Recv(in, BYTES, MPI_BYTE, down, tag, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, down, tag, BYTES);
        CHECK_DATA(in, BYTES, down, 0, i % DISTINCT);
    }
    check_step("waiting for %d sends", MESSAGES);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    return check_done();
}
