// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * The exchange in which every rank sends first and then receives (MPI 5.0, 3.5). It relies on
 * buffering: with messages below the eager limit it works, with buffered sends it always does. With
 * synchronous sends, and with messages that are too long to be buffered, it deadlocks, and the
 * report says of every rank which send to whom it waits for.
 */
#include "deadlock.h"

enum { TAG = 23, SMALL = 200, LONG = 500000, SHORT = 96 };

static int up, down;
static char out[LONG], in[LONG];

/* Below the smallest eager limit that a lane of the tests has. */
static void short_messages(void)
{
    MPI_Status st;
    check_step("both send first, short messages");
    for (int i = 0; i < 50; i++) {
        check_fill(out, SMALL, check.rank, TAG, i);
        MPI_Send(out, SMALL, MPI_BYTE, up, TAG, MPI_COMM_WORLD);
        MPI_Recv(in, SMALL, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, down, TAG, SMALL);
        CHECK_DATA(in, SMALL, down, TAG, i);
    }
}

static void buffered_sends(void)
{
    MPI_Status st;
    int size;
    char *buffer;
    check_step("both send first, buffered");
    MPI_Buffer_attach(check_host(LONG + MPI_BSEND_OVERHEAD), LONG + MPI_BSEND_OVERHEAD);
    for (int i = 0; i < 5; i++) {
        check_fill(out, LONG, check.rank, TAG, i);
        MPI_Bsend(out, LONG, MPI_BYTE, up, TAG, MPI_COMM_WORLD);
        memset(out, 0, LONG);
        MPI_Recv(in, LONG, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, down, TAG, LONG);
        CHECK_DATA(in, LONG, down, TAG, i);
        MPI_Buffer_flush();
    }
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
}

static void receive_what_waits(void)
{
    MPI_Status st;
    int bytes;
    MPI_Recv(in, LONG, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_BYTE, &bytes);
    CHECK_DATA(in, (size_t)bytes, down, TAG, 77);
}

static void deadlocks(bool synchronous)
{
    int bytes = synchronous ? SHORT : LONG;
    struct deadlock_case send = {synchronous ? "MPI_Ssend" : "MPI_Send",
                                 synchronous ? "synchronous send of 96 bytes to rank"
                                             : "send of 500000 bytes to rank",
                                 up, TAG, receive_what_waits};
    check_step("both send first, %s", synchronous ? "synchronous" : "too long to be buffered");
    check_fill(out, (size_t)bytes, check.rank, TAG, 77);
    pthread_t watch = deadlock_expect(&send);
    (synchronous ? MPI_Ssend : MPI_Send)(out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD);
    pthread_join(watch, NULL);
}

int main(int argc, char **argv)
{
    deadlock_begin(&argc, &argv);
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    short_messages();
    buffered_sends();
    deadlocks(true);
    deadlocks(false);
    deadlock_end();
    return check_done();
}
