// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,net-soft,shm,mixed seconds=40
/*
 * A rank computes for a second without calling MPI while all others send to it, small and large;
 * then it takes everything. Nobody may fail or give up in the meantime.
 */
#include "check.h"

enum { EACH = 12, BYTES = 60000, TAG = 1 };

static int size_of(int i)
{
    return i % 2 ? BYTES : 100 * i;
}

int main(int argc, char **argv)
{
    static unsigned char buf[EACH][BYTES];
    check_begin(&argc, &argv, 2);
    if (check.rank > 0) {
        MPI_Request requests[EACH];
        for (int i = 0; i < EACH; i++) {
            check_fill(buf[i], (size_t)size_of(i), check.rank, TAG, i);
            MPI_Isend(buf[i], size_of(i), MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &requests[i]);
        }
        check_step("waiting for sends to a rank that computes");
        MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
        return check_done();
    }
    double until = MPI_Wtime() + 1.0;
    volatile double work = 1;
    while (MPI_Wtime() < until) {
        for (int i = 0; i < 100000; i++) {
            work = work * 1.0000001;
        }
    }
    for (int k = 0; k < EACH * (check.size - 1); k++) {
        MPI_Status st;
        int source = k % (check.size - 1) + 1, i = k / (check.size - 1);
        check_step("message %d of rank %d", i, source);
        MPI_Recv(buf[0], BYTES, MPI_BYTE, source, TAG, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, source, TAG, size_of(i));
        CHECK_DATA(buf[0], (size_t)size_of(i), source, TAG, i);
    }
    return check_done();
}
