// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm-push,rxm-small,soft-small seconds=60
// run: ranks=2,3 lanes=rxm,rxm-soft,sockets,net-soft seconds=60
// run: ranks=1 lanes=self seconds=60
// run: ranks=3 lanes=shm,shm-copy,shm-small,mixed seconds=60
/*
 * Persistent requests: every mode and protocol, started again and again with new data in the same
 * buffers; many at once, in any order; MPI_PROC_NULL; freed while active; a synchronous one that
 * completes only after its match; one that is cancelled, or fails, and works again.
 */
#include "check.h"

enum { TAG = 5, TOKEN = 6, MANY = 12, ROUNDS = 6, LARGEST = 300000 };

typedef int (*init_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int (*init_c_fn)(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const init_fn init_send[] = {MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
static const init_c_fn init_send_c[] = {MPI_Send_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c,
                                        MPI_Bsend_init_c};
static unsigned char *out, *in;
static int up, down;

/* One pair of requests for all rounds; each mode in its int form and its large one. */
static void restarts(int mode, int bytes, bool large, bool wildcard)
{
    MPI_Request send, receive, kept;
    MPI_Status st;
    int source = wildcard ? MPI_ANY_SOURCE : down, tag = wildcard ? MPI_ANY_TAG : TAG;
    check_step("mode %d, %d bytes, %s form, %s", mode, bytes, large ? "large" : "int",
               wildcard ? "wildcards" : "directed");
    if (large) {
        init_send_c[mode](out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &send);
        MPI_Recv_init_c(in, LARGEST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &receive);
    } else {
        init_send[mode](out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &send);
        MPI_Recv_init(in, LARGEST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &receive);
    }
    kept = send;
    for (int round = 0; round < ROUNDS; round++) {
        check_fill(out, (size_t)bytes, check.rank, TAG, round);
        memset(in, 0, LARGEST);
        MPI_Start(&receive);
        if (mode == 2) { /* a ready send needs its receive */
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Start(&send);
        MPI_Wait(&receive, &st);
        CHECK_STATUS(st, down, TAG, bytes);
        CHECK_DATA(in, (size_t)bytes, down, TAG, round);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        CHECK(send == kept && receive != MPI_REQUEST_NULL, "MPI_Wait took a persistent request");
        if (wildcard) { /* the next round's message must not come first */
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    CHECK(send == MPI_REQUEST_NULL && receive == MPI_REQUEST_NULL, "MPI_Request_free left one");
}

/* A synchronous send is not complete before the receive is there. */
static void synchronous(int bytes)
{
    MPI_Request send, allow;
    int flag = -1, token = 1, other;
    MPI_Ssend_init(out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &send);
    for (int round = 0; round < ROUNDS; round++) {
        check_step("synchronous start %d of %d bytes", round, bytes);
        check_fill(out, (size_t)bytes, check.rank, TAG, round);
        MPI_Start(&send);
        for (int i = 0; i < 50; i++) {
            MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
            CHECK(flag == 0, "a synchronous send is complete before its receive was posted");
        }
        /* Only now may the one above receive. */
        MPI_Isend(&token, 1, MPI_INT, up, TOKEN, MPI_COMM_WORLD, &allow);
        MPI_Recv(&other, 1, MPI_INT, down, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&allow, MPI_STATUS_IGNORE);
        MPI_Recv(in, bytes, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_DATA(in, (size_t)bytes, down, TAG, round);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&send);
}

/* A buffered send is complete at once, without its receive, and its data are the library's. Every
 * second one is cancelled, and its message never seen. */
static void buffered(int bytes)
{
    MPI_Request send;
    MPI_Status st;
    int flag = -1;
    MPI_Bsend_init(out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &send);
    check_step("buffered starts of %d bytes", bytes);
    for (int round = 0; round < ROUNDS; round++) {
        check_fill(out, (size_t)bytes, check.rank, TAG, round);
        MPI_Start(&send);
        MPI_Request_get_status(send, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 1, "a buffered send is not complete at once");
        if (round % 2) {
            MPI_Cancel(&send);
        }
        MPI_Wait(&send, &st);
        MPI_Test_cancelled(&st, &flag);
        CHECK(flag == round % 2, "start %d of a buffered send was %scancelled", round,
              flag ? "" : "not ");
    }
    MPI_Request_free(&send);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody receives what others may still cancel */
    for (int round = 0; round < ROUNDS; round += 2) {
        MPI_Recv(in, bytes, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_DATA(in, (size_t)bytes, down, TAG, round);
    }
    MPI_Buffer_flush();
}

/* Without room in a buffer a start fails, and leaves the request inactive. */
static void no_room(void)
{
    static char space[1000 + MPI_BSEND_OVERHEAD];
    MPI_Request send;
    void *buffer;
    int size;
    check_step("starts with and without room in the buffer");
    check_errors_return();
    check_fill(out, 1000, check.rank, TAG, 1);
    MPI_Bsend_init(out, 1000, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &send);
    CHECK_CLASS(MPI_Start(&send), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Startall(1, &send), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Buffer_attach(space, sizeof space);
    CHECK_CLASS(MPI_Start(&send), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Recv(in, 1000, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_DATA(in, 1000, down, TAG, 1);
    MPI_Buffer_detach(&buffer, &size);
    MPI_Request_free(&send);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static unsigned char (*outs)[5000], (*ins)[5000];

static void collect(int form, MPI_Request *requests, int n)
{
    int done = 0, count, index, flag, indices[2 * MANY];
    switch (form) {
    case 0:
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (flag = 0; !flag;) {
            MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
        }
        break;
    case 2:
        for (; done < n; done++) {
            MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
            CHECK(index >= 0 && index < n, "MPI_Waitany: index %d", index);
        }
        break;
    case 3:
        while (done < n) {
            MPI_Testany(n, requests, &index, &flag, MPI_STATUS_IGNORE);
            done += flag && index != MPI_UNDEFINED;
        }
        break;
    case 4:
        while (done < n) {
            MPI_Waitsome(n, requests, &count, indices, MPI_STATUSES_IGNORE);
            done += count;
        }
        break;
    default:
        while (done < n) {
            MPI_Testsome(n, requests, &count, indices, MPI_STATUSES_IGNORE);
            done += count;
        }
    }
    MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED, "form %d left request %d active", form, index);
}

/* Many requests, started together or one by one in changing order, completed by every form, with
 * other messages between them. */
static void interleaved(void)
{
    static const int sizes[] = {0, 8, 100, 5000};
    MPI_Request requests[2 * MANY];
    for (int k = 0; k < MANY; k++) {
        int bytes = sizes[k % 4];
        MPI_Recv_init(ins[k], bytes, MPI_BYTE, down, TAG + k, MPI_COMM_WORLD, &requests[k]);
        init_send[k % 2](outs[k], bytes, MPI_BYTE, up, TAG + k, MPI_COMM_WORLD,
                         &requests[MANY + k]);
    }
    for (int round = 0; round < 2 * ROUNDS; round++) {
        int other = round, got = -1;
        check_step("round %d of %d requests", round, 2 * MANY);
        for (int k = 0; k < MANY; k++) {
            check_fill(outs[k], 5000, check.rank, k, round);
        }
        if (round % 2) {
            MPI_Startall(2 * MANY, requests);
        } else {
            for (int k = 0; k < 2 * MANY; k++) {
                MPI_Start(&requests[(7 * k + round) % (2 * MANY)]);
            }
        }
        MPI_Sendrecv(&other, 1, MPI_INT, up, TOKEN - TAG, &got, 1, MPI_INT, down, TOKEN - TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == round, "a message beside persistent ones brought %d", got);
        collect(round % 6, requests, 2 * MANY);
        for (int k = 0; k < MANY; k++) {
            CHECK_DATA(ins[k], (size_t)sizes[k % 4], down, k, round);
        }
    }
    for (int k = 0; k < 2 * MANY; k++) {
        MPI_Request_free(&requests[k]);
    }
}

static void nowhere(void)
{
    MPI_Request r[4];
    MPI_Status st;
    int flag = -1;
    in[0] = 77;
    for (int mode = 0; mode < 3; mode++) {
        init_send[mode](out, 8, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &r[mode]);
    }
    MPI_Recv_init(in, 8, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &r[3]);
    for (int round = 0; round < 3; round++) {
        check_step("MPI_PROC_NULL, round %d", round);
        MPI_Startall(4, r);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        memset(&st, 0x55, sizeof st);
        MPI_Test(&r[3], &flag, &st);
        CHECK(flag == 1 && in[0] == 77, "a receive from MPI_PROC_NULL is not complete at once");
        CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        MPI_Test(&r[3], &flag, &st); /* inactive by now */
        CHECK_STATUS(st, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    }
    for (int k = 0; k < 4; k++) {
        MPI_Request_free(&r[k]);
    }
}

/* Freed while active: the message travels all the same. */
static void freed(int bytes)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request send, receive, after;
        int mark = -1;
        check_step("freed while active, %d bytes, round %d", bytes, round);
        check_fill(out, (size_t)bytes, check.rank, TAG, round);
        init_send[round % 2](out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &send);
        MPI_Recv_init(in, LARGEST, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &receive);
        MPI_Irecv(&mark, 1, MPI_INT, down, TOKEN, MPI_COMM_WORLD, &after);
        MPI_Start(&receive);
        MPI_Start(&send);
        MPI_Request_free(&send);
        CHECK(send == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        CHECK_DATA(in, (size_t)bytes, down, TAG, round);
        /* The freed receive gets the next message, and this rank hears of it by the one after. */
        MPI_Start(&receive);
        MPI_Request_free(&receive);
        MPI_Sendrecv(NULL, 0, MPI_BYTE, down, TAG + 2, NULL, 0, MPI_BYTE, up, TAG + 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&round, 1, MPI_INT, up, TAG, MPI_COMM_WORLD);
        MPI_Send(&round, 1, MPI_INT, up, TOKEN, MPI_COMM_WORLD);
        MPI_Wait(&after, MPI_STATUS_IGNORE);
        CHECK(mark == round && memcmp(in, &round, sizeof round) == 0,
              "the freed receive did not get the message before mark %d", mark);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A truncated receive fails by itself, and the request starts again as if nothing had been. */
static void failing(void)
{
    MPI_Request receive;
    MPI_Status st[2];
    check_errors_return();
    MPI_Recv_init(in, 8, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &receive);
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = round % 2 ? 8 : 500;
        check_step("%d bytes for a receive of 8", bytes);
        check_fill(out, (size_t)bytes, check.rank, TAG, round);
        MPI_Start(&receive);
        MPI_Send(out, bytes, MPI_BYTE, up, TAG, MPI_COMM_WORLD);
        if (round < 2) {
            CHECK_CLASS(MPI_Wait(&receive, st), round % 2 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        } else {
            MPI_Request pair[2] = {MPI_REQUEST_NULL, receive};
            CHECK_CLASS(MPI_Waitall(2, pair, st), round % 2 ? MPI_SUCCESS : MPI_ERR_IN_STATUS);
            CHECK(round % 2 || (check_class(st[1].MPI_ERROR) == MPI_ERR_TRUNCATE &&
                                st[0].MPI_ERROR == MPI_SUCCESS),
                  "the statuses say %d and %d", st[0].MPI_ERROR, st[1].MPI_ERROR);
            CHECK(pair[1] == receive, "MPI_Waitall took a failed persistent request");
        }
        if (round % 2) {
            CHECK_DATA(in, 8, down, TAG, round);
        }
        CHECK_CLASS(MPI_Wait(&receive, st), MPI_SUCCESS); /* inactive: nothing failed */
    }
    MPI_Request_free(&receive);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A cancelled receive takes nothing, and starts again. */
static void cancelled(void)
{
    MPI_Request receive;
    MPI_Status st;
    int flag = -1;
    MPI_Recv_init(in, 8, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &receive);
    for (int round = 0; round < ROUNDS; round++) {
        check_step("cancelled and started again, round %d", round);
        MPI_Start(&receive);
        MPI_Cancel(&receive);
        MPI_Wait(&receive, &st);
        MPI_Test_cancelled(&st, &flag);
        CHECK(flag == 1 && receive != MPI_REQUEST_NULL, "cancelled: %d", flag);
        MPI_Barrier(MPI_COMM_WORLD);
        check_fill(out, 8, check.rank, TAG, round);
        MPI_Start(&receive);
        MPI_Send(out, 8, MPI_BYTE, up, TAG, MPI_COMM_WORLD);
        MPI_Wait(&receive, &st);
        MPI_Test_cancelled(&st, &flag);
        CHECK(flag == 0, "a receive that was started again is cancelled still");
        CHECK_STATUS(st, down, TAG, 8);
        CHECK_DATA(in, 8, down, TAG, round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&receive);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 8, 64, 5000, 16385, LARGEST};
    void *buffer;
    int size;
    check_begin(&argc, &argv, 1);
    out = check_zeroed(LARGEST);
    in = check_zeroed(LARGEST);
    outs = check_zeroed(MANY * sizeof *outs);
    ins = check_zeroed(MANY * sizeof *ins);
    up = (check.rank + 1) % check.size;
    down = (check.rank + check.size - 1) % check.size;
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    for (int s = 0; s < (int)(sizeof sizes / sizeof sizes[0]); s++) {
        for (int mode = 0; mode < 4; mode++) {
            restarts(mode, sizes[s], false, false);
            restarts(mode, sizes[s], true, true);
        }
        synchronous(sizes[s]);
        buffered(sizes[s]);
        freed(sizes[s]);
    }
    MPI_Buffer_detach(&buffer, &size);
    no_room();
    interleaved();
    nowhere();
    cancelled();
    failing();
    free(out);
    free(in);
    free(outs);
    free(ins);
    return check_done();
}
