// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,rxm-push,net-soft,shm seconds=60
/*
 * With the progress thread a rank answers while its program is outside of MPI: a send to it is
 * cancelled, a synchronous send is acknowledged, and a long message is fetched, all while it looks
 * at a file and calls nothing of MPI. The file's length says what it waits for.
 */
#include "check.h"

#include <sys/stat.h>

#ifndef MODE
#define MODE "on"
#endif

enum { LONG = 3000000, ROUNDS = 3 };

static char path[] = "/tmp/weft-progress-XXXXXX";
static int file = -1;

/* Rank 0: the other one may go on. */
static void release(void)
{
    CHECK(write(file, "x", 1) == 1, "cannot write to %s", path);
}

/* Rank 1: what a program does that computes. */
static void compute_until(long length)
{
    struct stat st = {.st_size = 0};
    while (st.st_size < length) {
        usleep(500);
        if (stat(path, &st)) {
            CHECK(false, "%s is gone", path);
            return;
        }
    }
}

static void send(int round)
{
    MPI_Request request;
    MPI_Status st;
    int cancelled = 0, value = round;
    unsigned char *data = check_alloc(LONG);
    check_fill(data, LONG, 0, 3, round);
    check_step("round %d: cancelling a send to a rank that computes", round);
    MPI_Isend(&value, 1, MPI_INT, 1, 10 + round, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &st);
    MPI_Test_cancelled(&st, &cancelled);
    CHECK(cancelled, "round %d: a send that nothing receives was not cancelled", round);
    check_step("round %d: a synchronous send to a rank that computes", round);
    MPI_Ssend(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    check_step("round %d: a long message to a rank that computes", round);
    MPI_Ssend(data, LONG, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    release();
    free(data);
}

static void receive(int round)
{
    MPI_Request requests[2];
    int value = -1, found = 1;
    unsigned char *data = check_alloc(LONG);
    MPI_Irecv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(data, LONG, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &requests[1]);
    check_step("round %d: computing", round);
    compute_until(round + 1);
    check_step("round %d: waiting for what has come", round);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(value == round, "round %d: got the value %d", round, value);
    CHECK_DATA(data, (size_t)LONG, 0, 3, round);
    MPI_Iprobe(0, 10 + round, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    CHECK(!found, "round %d: the cancelled message came", round);
    free(data);
}

int main(int argc, char **argv)
{
    setenv("WEFT_PROGRESS_THREAD", MODE, 0);
    check_begin(&argc, &argv, 2);
    if (check.rank == 0) {
        file = mkstemp(path);
        CHECK(file >= 0, "cannot make %s", path);
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        if (check.rank == 0) {
            send(round);
        } else if (check.rank == 1) {
            receive(round);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        unlink(path);
        close(file);
    }
    return check_done();
}
