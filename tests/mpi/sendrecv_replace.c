// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,net-soft,shm,mixed seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * MPI_Sendrecv_replace and MPI_Isendrecv_replace: the buffer that is sent is the one received into,
 * for every size around the ring, with wildcards, MPI_PROC_NULL on either side, a type with a gap,
 * and a message shorter than the buffer.
 */
#include "check.h"

enum { TAG = 8, LARGEST = 300000 };

static const int sizes[] = {0, 1, 8, 64, 65, 4096, 16384, 16385, 65537, LARGEST};
enum { SIZES = (int)(sizeof sizes / sizeof sizes[0]) };

/* form: blocking or not, int or large counts */
static void replace(int form, void *buf, int count, MPI_Datatype type, int dest, int source,
                    int tag, MPI_Status *st)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (form) {
    case 0:
        MPI_Sendrecv_replace(buf, count, type, dest, TAG, source, tag, world, st);
        return;
    case 1:
        MPI_Sendrecv_replace_c(buf, count, type, dest, TAG, source, tag, world, st);
        return;
    case 2:
        MPI_Isendrecv_replace(buf, count, type, dest, TAG, source, tag, world, &request);
        break;
    default:
        MPI_Isendrecv_replace_c(buf, count, type, dest, TAG, source, tag, world, &request);
    }
    MPI_Wait(&request, st);
    CHECK(request == MPI_REQUEST_NULL, "MPI_Wait left the request");
}

static void shifts(int form, int up, int down)
{
    for (int i = 0; i < SIZES; i++) {
        struct check_buffer b = check_buffer_new((size_t)sizes[i], (size_t)i % 4);
        MPI_Status st;
        check_step("form %d, %d bytes", form, sizes[i]);
        check_fill(b.data, b.bytes, check.rank, TAG, i);
        replace(form, b.data, sizes[i], MPI_BYTE, up, i & 1 ? MPI_ANY_SOURCE : down,
                i & 2 ? MPI_ANY_TAG : TAG, &st);
        CHECK_STATUS(st, down, TAG, sizes[i]);
        CHECK_DATA(b.data, b.bytes, down, TAG, i);
        CHECK(check_buffer_intact(&b, b.bytes), "%d bytes: written outside the buffer", sizes[i]);
        check_buffer_free(&b);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Against a plain send of fewer bytes: what lies behind them is what was there, the outgoing data.
 */
static void shorter(int form, int up, int down)
{
    unsigned char buf[1000], small[10], whole[1000];
    MPI_Request send, receive;
    MPI_Status st;
    check_step("form %d against a shorter message", form);
    check_fill(buf, sizeof buf, check.rank, TAG, 1);
    check_fill(small, sizeof small, check.rank, TAG, 2);
    MPI_Irecv(whole, sizeof whole, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &receive);
    MPI_Isend(small, sizeof small, MPI_BYTE, down, TAG + 1, MPI_COMM_WORLD, &send);
    replace(form, buf, sizeof buf, MPI_BYTE, up, up, TAG + 1, &st);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK_STATUS(st, up, TAG + 1, sizeof small);
    CHECK_DATA(whole, sizeof whole, down, TAG, 1);
    CHECK_DATA(buf, sizeof small, up, TAG, 2);
    check_fill(whole, sizeof whole, check.rank, TAG, 1);
    CHECK(memcmp(buf + 10, whole + 10, 990) == 0, "bytes behind a short message were changed");
}

static void gaps(int form, int up, int down)
{
    struct {
        double value;
        int index, gap;
    } pairs[3];
    MPI_Status st;
    check_step("form %d with a type that has a gap", form);
    for (int i = 0; i < 3; i++) {
        pairs[i].value = 10 * check.rank + i;
        pairs[i].index = check.rank;
        pairs[i].gap = 4711;
    }
    replace(form, pairs, 3, MPI_DOUBLE_INT, up, down, TAG, &st);
    for (int i = 0; i < 3; i++) {
        CHECK(pairs[i].value == 10 * down + i && pairs[i].index == down && pairs[i].gap == 4711,
              "pair %d is %g, %d, gap %d", i, pairs[i].value, pairs[i].index, pairs[i].gap);
    }
}

static void line(int form)
{
    int left = check.rank > 0 ? check.rank - 1 : MPI_PROC_NULL;
    int right = check.rank + 1 < check.size ? check.rank + 1 : MPI_PROC_NULL;
    int value = 100 + check.rank;
    MPI_Status st;
    check_step("form %d along a line with MPI_PROC_NULL at its ends", form);
    replace(form, &value, 1, MPI_INT, right, left, TAG, &st);
    if (left == MPI_PROC_NULL) {
        CHECK(value == 100 + check.rank, "a receive from MPI_PROC_NULL wrote %d", value);
        CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else {
        CHECK(value == 100 + left, "received %d from rank %d", value, left);
        CHECK_STATUS(st, left, TAG, sizeof value);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int form = 0; form < 4; form++) {
        shifts(form, up, down);
        shorter(form, up, down);
        gaps(form, up, down);
        line(form);
    }
    return check_done();
}
