// SPDX-License-Identifier: BSD-3-Clause
/*
 * The exchange in which every rank receives first and then sends (MPI 5.0, 3.5): no message is ever
 * sent, so it deadlocks in every implementation. The report says so of every rank: the operation,
 * its peer and its tag.
 */
#include "deadlock.h"

enum { TAG = 17, COUNT = 25 };

static int up, down;
static double out[COUNT];

static void send_what_is_missing(void)
{
    MPI_Send(out, COUNT, MPI_DOUBLE, up, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    double in[COUNT];
    MPI_Status st;
    struct deadlock_case receive = {"MPI_Recv", "receive of up to 200 bytes from rank", 0, TAG,
                                    send_what_is_missing};
    deadlock_begin(&argc, &argv);
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    receive.peer = down;
    check_fill(out, sizeof out, check.rank, TAG, 0);
    check_step("both receive first");
    pthread_t watch = deadlock_expect(&receive);
    MPI_Recv(in, COUNT, MPI_DOUBLE, down, TAG, MPI_COMM_WORLD, &st);
    pthread_join(watch, NULL);
    CHECK_STATUS(st, down, TAG, sizeof in);
    CHECK_DATA(in, sizeof in, down, TAG, 0);
    deadlock_end();
    return check_done();
}
