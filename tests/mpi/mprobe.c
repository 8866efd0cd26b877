// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,sockets,net-soft seconds=60
// run: ranks=3 lanes=rxm,rxm-push,rxm-small,shm,shm-copy,mixed seconds=60
// run: ranks=1 lanes=self seconds=30
/*
 * Matched probes: a message that was taken is nobody else's, its receive may come later, in any
 * order, blocking or not; what is not taken keeps its order. On one rank to itself.
 */
#include "check.h"

enum { TAG = 3, OTHER = 4, MESSAGES = 24, LARGEST = 300000 };

static unsigned char (*out)[LARGEST], (*in)[LARGEST];

static int size_of(int i)
{
    static const int sizes[] = {8, 0, 65, 70000, 64, 16385, LARGEST, 1};
    return sizes[(size_t)i % (sizeof sizes / sizeof sizes[0])];
}

/* Takes every message first, receives them the other way round. */
static void backwards(int up, int down)
{
    MPI_Request sends[MESSAGES], receives[MESSAGES];
    MPI_Message messages[MESSAGES];
    MPI_Status st, statuses[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        check_fill(out[i], (size_t)size_of(i), check.rank, TAG, i);
        MPI_Isend(out[i], size_of(i), MPI_BYTE, up, TAG, MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = 0; i < MESSAGES; i++) {
        int flag = 0, count;
        check_step("matched probe %d", i);
        if (i % 2) {
            MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &messages[i], &st);
        } else {
            while (!flag) {
                MPI_Improbe(down, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &messages[i], &st);
            }
        }
        MPI_Get_count(&st, MPI_BYTE, &count);
        CHECK(count == size_of(i) && st.MPI_SOURCE == down && st.MPI_TAG == TAG,
              "matched probe %d told of %d bytes from %d with tag %d", i, count, st.MPI_SOURCE,
              st.MPI_TAG);
    }
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "a probe found a message although all were taken");
    for (int i = MESSAGES - 1; i >= 0; i--) {
        check_step("receive of taken message %d", i);
        if (i % 3 == 0) {
            receives[i] = MPI_REQUEST_NULL;
            MPI_Mrecv(in[i], size_of(i), MPI_BYTE, &messages[i], &statuses[i]);
        } else {
            MPI_Imrecv(in[i], size_of(i), MPI_BYTE, &messages[i], &receives[i]);
        }
        CHECK(messages[i] == MPI_MESSAGE_NULL, "the message handle was not set to null");
    }
    check_step("waiting for the taken messages");
    for (int i = 0; i < MESSAGES; i++) {
        if (i % 3) {
            MPI_Wait(&receives[i], &statuses[i]);
        }
        CHECK_STATUS(statuses[i], down, TAG, size_of(i));
        CHECK_DATA(in[i], (size_t)size_of(i), down, TAG, i);
    }
    MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE);
}

/* Every second message is taken; plain receives get the others, in order. */
static void between(int up, int down)
{
    int values[8], got;
    MPI_Request sends[8];
    MPI_Message messages[4];
    for (int i = 0; i < 8; i++) {
        values[i] = i;
        MPI_Isend(&values[i], 1, MPI_INT, up, i % 2 ? OTHER : TAG, MPI_COMM_WORLD, &sends[i]);
    }
    for (int i = 0; i < 4; i++) {
        check_step("matched probe by tag %d", i);
        MPI_Mprobe(down, OTHER, MPI_COMM_WORLD, &messages[i], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 4; i++) {
        check_step("receive %d beside taken messages", i);
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == 2 * i, "receive %d beside taken messages got message %d", i, got);
    }
    for (int i = 3; i >= 0; i--) {
        MPI_Mrecv(&got, 1, MPI_INT, &messages[i], MPI_STATUS_IGNORE);
        CHECK(got == 2 * i + 1, "taken message %d was message %d", i, got);
    }
    MPI_Waitall(8, sends, MPI_STATUSES_IGNORE);
}

/* Synchronous sends complete at the receive, not at the matched probe; a receive too small fails
 * alone. */
static void matched(int up, int down)
{
    int value[4] = {1, 2, 3, 4}, got[4] = {0}, flag;
    MPI_Request send;
    MPI_Message message;
    MPI_Status st;
    MPI_Issend(value, 4, MPI_INT, up, TAG, MPI_COMM_WORLD, &send);
    check_step("matched probe of a synchronous message");
    MPI_Mprobe(down, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Mrecv(got, 2, MPI_INT, &message, &st), MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(got[0] == 1 && got[1] == 2 && got[2] == 0, "a truncated message wrote past its receive");
    check_step("end of a synchronous send");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Improbe(down, TAG, MPI_COMM_WORLD, &flag, &message, &st);
    CHECK(!flag, "MPI_Improbe found what was received");
}

static void nobody(void)
{
    int got = 17, flag = 0;
    MPI_Message message;
    MPI_Request request;
    MPI_Status st;
    MPI_Mprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &message, &st);
    CHECK(message == MPI_MESSAGE_NO_PROC, "MPI_Mprobe of MPI_PROC_NULL gave another message");
    MPI_Mrecv(&got, 1, MPI_INT, &message, &st);
    CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK(message == MPI_MESSAGE_NULL && got == 17, "MPI_Mrecv of MPI_MESSAGE_NO_PROC");
    MPI_Improbe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &flag, &message, &st);
    CHECK(flag && message == MPI_MESSAGE_NO_PROC, "MPI_Improbe of MPI_PROC_NULL");
    MPI_Imrecv(&got, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &st);
    CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Mrecv(&got, 1, MPI_INT, &message, &st), MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    out = check_zeroed(MESSAGES * sizeof *out);
    in = check_zeroed(MESSAGES * sizeof *in);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int round = 0; round < 3; round++) {
        backwards(up, down);
        MPI_Barrier(MPI_COMM_WORLD);
        between(up, down);
        MPI_Barrier(MPI_COMM_WORLD);
        matched(up, down);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    nobody();
    free(out);
    free(in);
    return check_done();
}
