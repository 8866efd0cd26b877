// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,7 lanes=rxm,rxm-soft,net-soft seconds=60
// run: ranks=64 lanes=rxm,shm seconds=60
// run: ranks=7 lanes=shm,shm-copy,mixed seconds=60
/*
 * Every rank meets every other one: in step d a rank sends to the rank d places up the ring and
 * receives from the rank d places down. Made for many ranks on few cores.
 */
#include "check.h"

enum { TAG = 5, SMALL = 40, LARGE = 3000 };

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    unsigned char out[LARGE], in[LARGE];
    for (int d = 0; d < check.size; d++) {
        int up = (check.rank + d) % check.size, down = (check.rank - d + check.size) % check.size;
        int n = d % 4 == 3 ? LARGE : SMALL;
        MPI_Status st;
        check_step("distance %d, %d bytes", d, n);
        check_fill(out, (size_t)n, check.rank, TAG, d);
        MPI_Sendrecv(out, n, MPI_BYTE, up, TAG, in, n, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, down, TAG, n);
        CHECK_DATA(in, (size_t)n, down, TAG, d);
    }
    return check_done();
}
