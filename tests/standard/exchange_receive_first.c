// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
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

static void deadlock_once(const char *how)
{
    double in[COUNT];
    MPI_Status st;
    struct deadlock_case receive = {"MPI_Recv", "receive of up to 200 bytes from rank", down, TAG,
                                    send_what_is_missing};
    check_step("both receive first, %s", how);
    pthread_t watch = deadlock_expect(&receive);
    MPI_Recv(in, COUNT, MPI_DOUBLE, down, TAG, MPI_COMM_WORLD, &st);
    pthread_join(watch, NULL);
    CHECK_STATUS(st, down, TAG, sizeof in);
    CHECK_DATA(in, sizeof in, down, TAG, 0);
}

int main(int argc, char **argv)
{
    MPI_Request other;
    int word = 1, got, mine;
    deadlock_begin(&argc, &argv);
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    check_fill(out, sizeof out, check.rank, TAG, 0);
    deadlock_once("nothing else");

    /* The library itself looks for messages meanwhile: a receive from any source is open, and there
     * is traffic with oneself. */
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &other);
    MPI_Sendrecv(&word, 1, MPI_INT, check.rank, TAG + 2, &mine, 1, MPI_INT, check.rank, TAG + 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    deadlock_once("beside a receive from any source");
    MPI_Cancel(&other);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    deadlock_end();
    return check_done();
}
