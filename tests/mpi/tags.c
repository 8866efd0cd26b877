// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/* Tags from 0 to 2^24 - 1, or to MPI_TAG_UB if that is less, are told apart bit by bit, by named
 * receives and in statuses. */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    int tags[64], n = 0, flag = 0, largest = (1 << 24) - 1, *upper;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    CHECK(flag && *upper >= 32767, "MPI_TAG_UB is missing or less than 32767");
    if (flag && *upper < largest)
        largest = *upper;
    tags[n++] = 0;
    for (int bit = 0; 1 << bit <= largest; bit++)
        tags[n++] = 1 << bit;
    tags[n++] = 32767;
    tags[n++] = largest;
    MPI_Request sends[64];
    for (int i = 0; i < n; i++) {
        MPI_Isend(&tags[i], 1, MPI_INT, up, tags[i], MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = n - 1; i >= 0; i--) {
        int got = -1;
        MPI_Status st;
        check_step("tag %d", tags[i]);
        MPI_Recv(&got, 1, MPI_INT, i & 1 ? down : MPI_ANY_SOURCE, tags[i], MPI_COMM_WORLD, &st);
        CHECK(got == tags[i], "a receive for tag %d got the message of tag %d", tags[i], got);
        CHECK_STATUS(st, down, tags[i], sizeof got);
    }
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
    return check_done();
}
