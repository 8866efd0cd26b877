// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,sockets,net-soft seconds=60
// run: ranks=4 lanes=rxm,rxm-push,rxm-small,soft-small,shm,shm-copy,shm-small,mixed seconds=60
// run: ranks=4 lanes=shm-unpaid,mixed-soft seconds=60
// run: ranks=1 lanes=self seconds=30
/*
 * Cancelling receives and sends of every mode and length, persistent ones too. A send that nobody
 * has matched is cancelled although it has left, and no trace of it is found afterwards; one that
 * has matched arrives. A cancelled buffered send leaves its room in the buffer to the next: the
 * buffer holds one of the longest. Even ranks send, the next odd rank receives; on one rank to
 * itself.
 */
#include "check.h"

enum { TAG = 5, MARK = 6, LARGEST = 300000, MODES = 8, PERSISTENT = 4 };

static const int sizes[] = {0, 8, 64, 65, 4000, 16384, 16385, 65536, 65537, LARGEST};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
static unsigned char *out, *in;
static unsigned char buffer[LARGEST + MPI_BSEND_OVERHEAD];
static const char *const modes[MODES] = {
    "standard",         "synchronous",         "ready",
    "buffered",         "persistent standard", "persistent synchronous",
    "persistent ready", "persistent buffered"};

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static send_function *const sends[MODES] = {MPI_Isend,      MPI_Issend,    MPI_Irsend,
                                            MPI_Ibsend,     MPI_Send_init, MPI_Ssend_init,
                                            MPI_Rsend_init, MPI_Bsend_init};

/* A persistent request that is not null is started again. */
static void start(int mode, int bytes, int dest, MPI_Request *request)
{
    if (*request == MPI_REQUEST_NULL) {
        sends[mode](out, bytes, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, request);
    }
    if (mode >= PERSISTENT) {
        MPI_Start(request);
    }
}

static void forget(int mode, MPI_Request *request)
{
    CHECK((*request != MPI_REQUEST_NULL) == (mode >= PERSISTENT),
          "a %s request is %snull after its end", modes[mode], mode >= PERSISTENT ? "" : "not ");
    if (*request != MPI_REQUEST_NULL) {
        MPI_Request_free(request);
    }
}

static int cancel(MPI_Request *request, MPI_Status *st)
{
    int flag = -1;
    MPI_Cancel(request);
    MPI_Wait(request, st);
    MPI_Test_cancelled(st, &flag);
    return flag;
}

/* Receives: a cancelled one takes nothing, the next gets the message. */
static void receives(int up, int down)
{
    static const int rooms[] = {0, 8, 64, 4000, LARGEST};
    for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++) {
        for (int wild = 0; wild < 3; wild++) {
            MPI_Request request, send;
            MPI_Status st;
            check_step("cancel of a receive of %d bytes, %d wildcards", rooms[r], wild);
            memset(in, 0x55, LARGEST);
            MPI_Irecv(in, rooms[r], MPI_BYTE, wild == 2 ? MPI_ANY_SOURCE : down,
                      wild ? MPI_ANY_TAG : TAG, MPI_COMM_WORLD, &request);
            CHECK(cancel(&request, &st) == 1, "a receive of %d bytes was not cancelled", rooms[r]);
            CHECK(request == MPI_REQUEST_NULL, "the request of a cancelled receive is not null");
            MPI_Barrier(MPI_COMM_WORLD);
            check_fill(out, (size_t)rooms[r], check.rank, TAG, 1);
            MPI_Isend(out, rooms[r], MPI_BYTE, up, TAG, MPI_COMM_WORLD, &send);
            for (int i = 0; i < LARGEST; i += 999) {
                CHECK(in[i] == 0x55, "a cancelled receive wrote into its buffer");
            }
            MPI_Recv(in, rooms[r], MPI_BYTE, down, TAG, MPI_COMM_WORLD, &st);
            CHECK_STATUS(st, down, TAG, rooms[r]);
            CHECK_DATA(in, (size_t)rooms[r], down, TAG, 1);
            MPI_Wait(&send, MPI_STATUS_IGNORE);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

/* A receive that has its message cannot be cancelled. */
static void late_receive(int up, int down)
{
    int value = 42, got = 0, flag = 0;
    MPI_Request request;
    MPI_Status st;
    MPI_Irecv(&got, 1, MPI_INT, down, TAG, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, up, TAG, MPI_COMM_WORLD);
    check_step("cancel of a complete receive");
    while (!flag) {
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    }
    CHECK(cancel(&request, &st) == 0, "a complete receive was cancelled");
    CHECK(got == 42, "a complete receive that was to be cancelled has %d", got);
}

/* Cancelled before, sent after: the receiver finds only what was not cancelled, in order. */
static void sends_cancelled(int mode, int bytes, int dest, int source)
{
    check_step("cancel of a %s send of %d bytes", modes[mode], bytes);
    if (dest >= 0) {
        MPI_Request request = MPI_REQUEST_NULL, mark;
        MPI_Status st;
        for (int i = 0; i < 3; i++) {
            start(mode, bytes, dest, &request);
            CHECK(cancel(&request, &st) == 1,
                  "a %s send of %d bytes that nobody matched was not cancelled", modes[mode],
                  bytes);
        }
        forget(mode, &request);
        start(mode, bytes, dest, &request);
        MPI_Cancel(&request);
        MPI_Request_free(&request);
        MPI_Isend(&bytes, 1, MPI_INT, dest, MARK, MPI_COMM_WORLD, &mark);
        if (source < 0) {
            MPI_Wait(&mark, MPI_STATUS_IGNORE);
        } else {
            MPI_Request_free(&mark);
        }
    }
    if (source >= 0) {
        int got, flag;
        MPI_Status st;
        MPI_Recv(&got, 1, MPI_INT, source, MARK, MPI_COMM_WORLD, &st);
        CHECK(got == bytes, "mark %d instead of %d", got, bytes);
        MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
        CHECK(!flag, "a cancelled %s send of %d bytes is still there (tag %d)", modes[mode], bytes,
              st.MPI_TAG);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The receive is there first: the send completes, the data are right. */
static void sends_matched(int mode, int bytes, int dest, int source)
{
    MPI_Request request = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
    MPI_Status st;
    check_step("cancel of a matched %s send of %d bytes", modes[mode], bytes);
    if (source >= 0) {
        MPI_Irecv(in, bytes, MPI_BYTE, source, TAG, MPI_COMM_WORLD, &receive);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (dest >= 0) {
        check_fill(out, (size_t)bytes, check.rank, TAG, mode);
        start(mode, bytes, dest, &request);
        CHECK(cancel(&request, &st) == 0, "a %s send of %d bytes that had matched was cancelled",
              modes[mode], bytes);
        forget(mode, &request);
    }
    if (source >= 0) {
        MPI_Wait(&receive, &st);
        CHECK_STATUS(st, source, TAG, bytes);
        CHECK_DATA(in, (size_t)bytes, source, TAG, mode);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Of a row of sends the middle ones are cancelled, after all have left. */
static void some_of_a_row(int bytes, int dest, int source)
{
    enum { ROW = 9 };
    check_step("cancel of some of a row of sends of %d bytes", bytes);
    if (dest >= 0) {
        static int rows[ROW][LARGEST / sizeof(int)];
        MPI_Request requests[ROW];
        MPI_Status statuses[ROW];
        for (int i = 0; i < ROW; i++) {
            rows[i][0] = i;
            MPI_Isend(rows[i], bytes, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, &requests[i]);
        }
        for (int i = 1; i < ROW; i += 2) {
            MPI_Cancel(&requests[i]);
        }
        for (int i = 1; i < ROW; i += 2) {
            int flag;
            MPI_Wait(&requests[i], &statuses[i]);
            MPI_Test_cancelled(&statuses[i], &flag);
            CHECK(flag, "send %d of a row of %d bytes was not cancelled", i, bytes);
        }
        MPI_Send(NULL, 0, MPI_BYTE, dest, MARK, MPI_COMM_WORLD);
        for (int i = 0; i < ROW; i += 2) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
    }
    if (source >= 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, source, MARK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROW; i += 2) {
            MPI_Recv(in, bytes, MPI_BYTE, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            int got;
            memcpy(&got, in, sizeof got);
            CHECK(got == i, "message %d instead of %d of a row of %d bytes", got, i, bytes);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A synchronous send is cancelled after so many others that its number has come again, if the
 * provider carries 8 bits of it; also where a later message has its tag and number. */
static void cancelled_late(int dest, int source)
{
    enum { LATER = 300, SAME = 256 };
    int got = 0, same = SAME, flag;
    MPI_Request request, other;
    MPI_Status st;
    check_step("cancel of a synchronous send after %d other messages", LATER);
    if (dest >= 0) {
        MPI_Issend(out, 8, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, &request);
        for (int i = 1; i <= LATER; i++) {
            if (i == SAME) {
                MPI_Isend(&same, 1, MPI_INT, dest, TAG, MPI_COMM_WORLD, &other);
            } else {
                MPI_Send(&i, 1, MPI_INT, dest, MARK, MPI_COMM_WORLD);
            }
        }
        CHECK(cancel(&request, &st) == 1, "the send was not cancelled");
    }
    for (int i = 1; source >= 0 && i < LATER; i++) {
        MPI_Recv(&got, 1, MPI_INT, source, MARK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (source >= 0) {
        MPI_Recv(&got, 1, MPI_INT, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == SAME, "received %d instead of the later message", got);
        MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
        CHECK(!flag, "the cancelled send is still there");
    }
    if (dest >= 0) {
        MPI_Wait(&other, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    out = check_zeroed(LARGEST);
    in = check_zeroed(LARGEST);
    bool self = check.size == 1;
    int peer = self ? 0 : check.rank ^ 1;
    int dest = self || check.rank % 2 == 0 ? peer : -1;
    int source = self || check.rank % 2 ? peer : -1;
    if (peer >= check.size) {
        dest = source = -1;
    }
    MPI_Buffer_attach(buffer, sizeof buffer);
    receives((check.rank + 1) % check.size, (check.rank + check.size - 1) % check.size);
    late_receive((check.rank + 1) % check.size, (check.rank + check.size - 1) % check.size);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int s = 0; s < SIZES; s++) {
        for (int mode = 0; mode < MODES; mode++) {
            sends_cancelled(mode, sizes[s], dest, source);
            sends_matched(mode, sizes[s], dest, source);
        }
        if (sizes[s] >= (int)sizeof(int) && !self) {
            some_of_a_row(sizes[s], dest, source);
        }
    }
    if (!self) {
        cancelled_late(dest, source);
    }
    void *base;
    int size;
    check_step("detach after cancelled sends");
    MPI_Buffer_detach(&base, &size);
    CHECK(base == buffer && size == (int)sizeof buffer, "detach gives another buffer back");
    free(out);
    free(in);
    return check_done();
}
