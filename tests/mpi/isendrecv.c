// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=rxm,rxm-soft,net-soft seconds=40
// run: ranks=1 lanes=self seconds=40
// run: ranks=2 lanes=rxm-push,rxm-small,soft-small seconds=60
// run: ranks=3 lanes=shm,shm-copy,mixed,mixed-soft seconds=40
/*
 * MPI_Isendrecv: one request for both directions, complete only when both are, for every size; many
 * at once; MPI_PROC_NULL on either side; freed while active; the status is that of the receive, its
 * truncation is an error of the request.
 */
#include "check.h"

enum { TAG = 8, TOKEN = 9, LARGEST = 300000, MANY = 40 };

static const int sizes[] = {0, 1, 8, 64, 65, 4096, 16384, 16385, 65537, LARGEST};
enum { SIZES = (int)(sizeof sizes / sizeof sizes[0]) };
static unsigned char *out, *in;
static int up, down;

static void shifts(void)
{
    for (int i = 0; i < 2 * SIZES; i++) {
        int mine = sizes[(i + check.rank) % SIZES], theirs = sizes[(i + down) % SIZES];
        MPI_Request request;
        MPI_Status st;
        check_step("shift %d: %d bytes out, %d bytes in", i, mine, theirs);
        check_fill(out, (size_t)mine, check.rank, TAG, i);
        if (i & 1) {
            MPI_Isendrecv(out, mine, MPI_BYTE, up, TAG, in, LARGEST, MPI_BYTE, MPI_ANY_SOURCE,
                          MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        } else {
            MPI_Isendrecv_c(out, mine, MPI_BYTE, up, TAG, in, LARGEST, MPI_BYTE, down, TAG,
                            MPI_COMM_WORLD, &request);
        }
        MPI_Wait(&request, &st);
        CHECK(request == MPI_REQUEST_NULL, "MPI_Wait left the request");
        CHECK_STATUS(st, down, TAG, theirs);
        CHECK_DATA(in, (size_t)theirs, down, TAG, i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/*
 * The half that comes last waits for a neighbour: the long send for its receive above, the receive
 * for its message from below. Either does its part only after a token that this rank sends after
 * its tests; so the request must not be complete in any of them.
 */
static void both(bool receive_first)
{
    MPI_Request request, token;
    int flag = -1, got = -1, word = 7;
    int waits = receive_first ? up : down, lets_go = receive_first ? down : up;
    check_step("a request whose %s comes last", receive_first ? "send" : "receive");
    check_fill(out, LARGEST, check.rank, TAG, 3);
    MPI_Isendrecv(out, receive_first ? LARGEST : 8, MPI_BYTE, up, TAG, &got, 1, MPI_INT, down,
                  TOKEN, MPI_COMM_WORLD, &request);
    if (receive_first) {
        MPI_Send(&word, 1, MPI_INT, up, TOKEN, MPI_COMM_WORLD);
        while (got != word) { /* its own receive brings this, as far as one can see */
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            CHECK(flag == 0, "complete while the send of %d bytes has no receive", LARGEST);
        }
    }
    for (int i = 0; i < 50; i++) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0, "complete while one half is not");
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0, "complete, says MPI_Request_get_status, while one half is not");
    }
    MPI_Isend(NULL, 0, MPI_BYTE, waits, TOKEN + 1, MPI_COMM_WORLD, &token);
    MPI_Recv(NULL, 0, MPI_BYTE, lets_go, TOKEN + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&token, MPI_STATUS_IGNORE);
    if (!receive_first) {
        MPI_Send(&word, 1, MPI_INT, up, TOKEN, MPI_COMM_WORLD);
    }
    MPI_Recv(in, LARGEST, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_DATA(in, receive_first ? (size_t)LARGEST : 8, down, TAG, 3);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == word, "received %d", got);
}

static void many(void)
{
    static unsigned char outs[MANY][5000], ins[MANY][5000];
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    check_step("%d at once", MANY);
    for (int k = 0; k < MANY; k++) {
        check_fill(outs[k], 5000, check.rank, TAG, k);
        MPI_Isendrecv(outs[k], 125 * k, MPI_BYTE, up, k, ins[k], 5000, MPI_BYTE, down, k,
                      MPI_COMM_WORLD, &requests[k]);
    }
    MPI_Waitall(MANY, requests, statuses);
    for (int k = 0; k < MANY; k++) {
        CHECK_STATUS(statuses[k], down, k, 125 * k);
        CHECK_DATA(ins[k], 125 * (size_t)k, down, TAG, k);
    }
}

static void nowhere(void)
{
    int left = check.rank > 0 ? check.rank - 1 : MPI_PROC_NULL;
    int right = check.rank + 1 < check.size ? check.rank + 1 : MPI_PROC_NULL;
    int value = 100 + check.rank, got = -1;
    MPI_Request request;
    MPI_Status st;
    check_step("a line with MPI_PROC_NULL at its ends");
    MPI_Isendrecv(&value, 1, MPI_INT, right, TAG, &got, 1, MPI_INT, left, TAG, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, &st);
    if (left == MPI_PROC_NULL) {
        CHECK(got == -1, "a receive from MPI_PROC_NULL wrote %d", got);
        CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else {
        CHECK(got == 100 + left, "received %d from rank %d", got, left);
        CHECK_STATUS(st, left, TAG, sizeof got);
    }
    /* A long send beside a receive from MPI_PROC_NULL is the request's own all the same. */
    int flag = -1;
    check_fill(out, LARGEST, check.rank, TAG, 4);
    MPI_Isendrecv(out, LARGEST, MPI_BYTE, up, TAG, &got, 1, MPI_INT, MPI_PROC_NULL, TAG,
                  MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "complete while the send of %d bytes has no receive", LARGEST);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, LARGEST, MPI_BYTE, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_DATA(in, LARGEST, down, TAG, 4);
    MPI_Wait(&request, &st);
    CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

static void freed(bool replace)
{
    MPI_Request request;
    int word = 0;
    check_step("freed while active%s", replace ? ", one buffer" : "");
    check_fill(out, LARGEST, check.rank, TAG, 5);
    memcpy(in, out, LARGEST);
    if (replace) {
        MPI_Isendrecv_replace(in, LARGEST, MPI_BYTE, up, TAG, down, TAG, MPI_COMM_WORLD, &request);
    } else {
        MPI_Isendrecv(out, LARGEST, MPI_BYTE, up, TAG, in, LARGEST, MPI_BYTE, down, TAG,
                      MPI_COMM_WORLD, &request);
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free left the handle");
    MPI_Sendrecv(&check.rank, 1, MPI_INT, up, TOKEN, &word, 1, MPI_INT, down, TOKEN, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(word == down, "received %d", word);
    while (check_differs(in, LARGEST, down, TAG, 5) != LARGEST) {
        int flag, none;
        MPI_Testsome(0, NULL, &flag, &none, MPI_STATUSES_IGNORE); /* moves things along */
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void truncated(void)
{
    MPI_Request request;
    MPI_Status st;
    unsigned char small[8];
    check_step("truncation");
    check_errors_return();
    MPI_Isendrecv(out, 500, MPI_BYTE, up, TAG, small, 8, MPI_BYTE, down, TAG, MPI_COMM_WORLD,
                  &request);
    CHECK_CLASS(MPI_Wait(&request, &st), MPI_ERR_TRUNCATE);
    CHECK(request == MPI_REQUEST_NULL, "MPI_Wait left the failed request");
    MPI_Isendrecv(out, 8, MPI_BYTE, up, TAG, small, 8, MPI_BYTE, down, TAG, MPI_COMM_WORLD,
                  &request);
    CHECK_CLASS(MPI_Wait(&request, &st), MPI_SUCCESS);
    CHECK_STATUS(st, down, TAG, 8);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    out = check_zeroed(LARGEST);
    in = check_zeroed(LARGEST);
    up = (check.rank + 1) % check.size;
    down = (check.rank + check.size - 1) % check.size;
    shifts();
    both(true);
    both(false);
    many();
    nowhere();
    freed(false);
    freed(true);
    truncated();
    free(out);
    free(in);
    return check_done();
}
