// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,5 lanes=rxm,rxm-soft,net-soft seconds=30
// run: ranks=2 lanes=shm,shm-copy seconds=30
// run: ranks=5 lanes=shm,mixed,mixed-soft seconds=40
/*
 * A rank that sends and finalizes at once loses nothing: its eager messages, and its freed large
 * ones, reach a receiver that comes half a second later.
 */
#include "check.h"

enum { MESSAGES = 200, BYTES = 1000, LARGE = 100000, TAG = 1 };

int main(int argc, char **argv)
{
    static unsigned char out[MESSAGES][BYTES], large[LARGE], in[LARGE];
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    MPI_Request request;
    for (int i = 0; i < MESSAGES; i++) {
        check_fill(out[i], BYTES, check.rank, TAG, i);
        MPI_Isend(out[i], BYTES, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    check_fill(large, LARGE, check.rank, TAG, MESSAGES);
    MPI_Isend(large, LARGE, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    if (check.rank & 1) {
        struct timespec rest = {.tv_nsec = 500 * 1000 * 1000};
        nanosleep(&rest, NULL);
    }
    for (int i = 0; i < MESSAGES; i++) {
        check_step("message %d of a rank that is finalizing", i);
        MPI_Recv(in, BYTES, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_DATA(in, BYTES, down, TAG, i);
    }
    check_step("the large message of a rank that is finalizing");
    MPI_Recv(in, LARGE, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_DATA(in, LARGE, down, TAG, MESSAGES);
    check_step("MPI_Finalize");
    MPI_Finalize();
    return check.failures > 0;
}
