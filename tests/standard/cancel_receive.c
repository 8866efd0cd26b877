// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Cancel (MPI 5.0, 3.8.4): a receive that nothing matches is cancelled for sure, and MPI_Wait then
 * returns at once; one whose message has come may be either, and the program learns which by
 * MPI_Test_cancelled and goes on accordingly: nothing is lost, nothing comes twice.
 */
#include "../mpi/check.h"

enum { TAG = 13, NEVER = 14, TIMES = 60, LONG = 100000 };

static unsigned char out[LONG], in[LONG];

static void unmatched(int source)
{
    MPI_Request request;
    MPI_Status st;
    int flag = -1;
    MPI_Irecv(in, LONG, MPI_BYTE, source, NEVER, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(flag == 1, "a receive without a message was not cancelled");
    CHECK(request == MPI_REQUEST_NULL, "the handle stays");
}

/* Returns whether the cancel won; the message is in `in` in either case. */
static int race(int source, int bytes)
{
    MPI_Request request;
    MPI_Status st;
    int flag = -1;
    MPI_Irecv(in, LONG, MPI_BYTE, source, TAG, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &st);
    MPI_Test_cancelled(&st, &flag);
    if (flag) {
        memset(in, 0, sizeof in);
        MPI_Recv(in, LONG, MPI_BYTE, source, TAG, MPI_COMM_WORLD, &st);
    }
    CHECK_STATUS(st, source, TAG, bytes);
    return flag;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 64, 1000, 20000, LONG};
    int won = 0;
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int i = 0; i < TIMES; i++) {
        int bytes = sizes[i % 5];
        MPI_Request request;
        check_step("race %d", i);
        check_fill(out, (size_t)bytes, check.rank, TAG, i);
        MPI_Isend(out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &request);
        unmatched(down);
        won += race(down, bytes);
        CHECK_DATA(in, (size_t)bytes, down, TAG, i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    printf("rank %d: %d of %d receives were cancelled before their message came\n", check.rank, won,
           TIMES);
    return check_done();
}
