// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm,shm-copy seconds=40
// run: ranks=1 lanes=self seconds=40
/* Both sides send 8 MB and receive 8 MB at the same time, by Isend with Recv and by Sendrecv. */
#include "check.h"

enum { BYTES = 8 << 20, TAG = 1 };

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    struct check_buffer out = check_buffer_new(BYTES, 0), in = check_buffer_new(BYTES, 5);
    for (int round = 0; round < 4; round++) {
        MPI_Request request;
        MPI_Status st;
        check_fill(out.data, BYTES, check.rank, TAG, round);
        memset(in.data, 0, BYTES);
        check_step("round %d", round);
        if (round & 1) {
            MPI_Sendrecv(out.data, BYTES, MPI_BYTE, up, TAG, in.data, BYTES, MPI_BYTE, down, TAG,
                         MPI_COMM_WORLD, &st);
        } else {
            MPI_Isend(out.data, BYTES, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &request);
            MPI_Recv(in.data, BYTES, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &st);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        CHECK_STATUS(st, down, TAG, BYTES);
        CHECK_DATA(in.data, BYTES, down, TAG, round);
        CHECK(check_buffer_intact(&in, BYTES), "8 MB wrote outside");
    }
    check_buffer_free(&out);
    check_buffer_free(&in);
    return check_done();
}
