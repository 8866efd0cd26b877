// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=rxm,rxm-soft,net-soft seconds=60
// run: ranks=1 lanes=self seconds=60
// run: ranks=2 lanes=rxm-push,rxm-small,soft-small seconds=60
// run: ranks=3 lanes=shm,shm-copy,mixed seconds=60
/*
 * Buffered sends: of every size and protocol, complete before any receive exists and though the
 * sender's buffer is overwritten at once; many pending, in order; of types with gaps; to
 * MPI_PROC_NULL; the last ones on their way when MPI_Finalize is called.
 */
#include "check.h"

enum { TAG = 3, LAST = 2, PENDING = 300, PAIRS = 20000, SPACE = 8 << 20, PLENTY = 16 };

static const size_t sizes[] = {0, 1, 8, 64, 65, 1000, 4096, 16385, 65536, 65537, 200000, 3000001};
static char space[SPACE];
static int up, down;

/* Everybody's messages are sent before any of them is received. */
static void all_have_sent(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* form 0: MPI_Bsend, 1: MPI_Ibsend, 2 and 3: with large counts. The buffer is gone when it returns.
 */
static void buffered_send(int form, void *buf, size_t n, int dest, int tag, int index)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 0;
    check_fill(buf, n, check.rank, tag, index);
    if (form == 0) {
        MPI_Bsend(buf, (int)n, MPI_BYTE, dest, tag, MPI_COMM_WORLD);
    } else if (form == 1) {
        MPI_Ibsend(buf, (int)n, MPI_BYTE, dest, tag, MPI_COMM_WORLD, &request);
    } else if (form == 2) {
        MPI_Bsend_c(buf, (MPI_Count)n, MPI_BYTE, dest, tag, MPI_COMM_WORLD);
    } else {
        MPI_Ibsend_c(buf, (MPI_Count)n, MPI_BYTE, dest, tag, MPI_COMM_WORLD, &request);
    }
    if (form & 1) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag, "MPI_Ibsend of %zu bytes is not complete at once", n);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    memset(buf, 0xEE, n);
}

static void receive_one(void *buf, size_t n, int tag, int index)
{
    MPI_Status st;
    MPI_Recv(buf, (int)n, MPI_BYTE, down, tag, MPI_COMM_WORLD, &st);
    CHECK_STATUS(st, down, tag, n);
    CHECK_DATA(buf, n, down, tag, index);
}

static void every_size(int form)
{
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        void *buf = check_alloc(sizes[s]);
        check_step("form %d, %zu bytes", form, sizes[s]);
        buffered_send(form, buf, sizes[s], up, TAG, (int)s);
        all_have_sent();
        receive_one(buf, sizes[s], TAG, (int)s);
        free(buf);
    }
}

static size_t size_of(int i)
{
    return i % 50 == 49 ? 100000 : i % 10 == 9 ? 5000 : (size_t)i;
}

/* More than a hundred at once; the tags decide whether they are received as they were sent. */
static void many_pending(bool by_tag)
{
    static char buf[100000];
    check_step("%d messages pending, %s", PENDING, by_tag ? "the last tag first" : "in order");
    for (int i = 0; i < PENDING; i++) {
        buffered_send(i % 4, buf, size_of(i), up, by_tag ? TAG + i : TAG, i);
    }
    all_have_sent();
    for (int k = 0; k < PENDING; k++) {
        int i = by_tag ? PENDING - 1 - k : k;
        receive_one(buf, size_of(i), by_tag ? TAG + i : TAG, i);
    }
    MPI_Buffer_flush();
}

/* Buffered and standard messages of one sender keep their order. */
static void order_among_modes(void)
{
    enum { EACH = 60 };
    static char out[EACH][2000], in[100000], big[100000];
    MPI_Request requests[EACH];
    check_step("buffered and standard sends in turns");
    for (int i = 0; i < EACH; i++) {
        requests[i] = MPI_REQUEST_NULL;
        if (i % 3 == 0) {
            check_fill(out[i], sizeof out[i], check.rank, TAG, i);
            MPI_Isend(out[i], (int)sizeof out[i], MPI_BYTE, up, TAG, MPI_COMM_WORLD, &requests[i]);
        } else {
            buffered_send(0, big, i % 3 == 1 ? 100 : sizeof big, up, TAG, i);
        }
    }
    for (int i = 0; i < EACH; i++) {
        receive_one(in, i % 3 == 0 ? sizeof out[0] : i % 3 == 1 ? 100 : sizeof big, TAG, i);
    }
    MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
}

/* A type with gaps is packed into the buffer, and arrives whatever the protocol. */
static void with_gaps(int count)
{
    struct pair {
        short value;
        int index;
    };
    static struct pair out[PAIRS], in[PAIRS];
    int wrong = 0;
    check_step("%d pairs with gaps", count);
    for (int i = 0; i < count; i++) {
        out[i] = (struct pair){(short)(check.rank + i), i};
    }
    MPI_Bsend(out, count, MPI_SHORT_INT, up, TAG, MPI_COMM_WORLD);
    memset(out, 0, sizeof out);
    all_have_sent();
    MPI_Recv(in, count, MPI_SHORT_INT, down, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
        wrong += in[i].value != (short)(down + i) || in[i].index != i;
    }
    CHECK(!wrong, "%d of %d pairs are wrong", wrong, count);
}

/* Nothing is buffered for MPI_PROC_NULL: no buffer is needed. */
static void to_nobody(void)
{
    int value = 1;
    MPI_Request request;
    CHECK_CLASS(MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_CLASS(MPI_Ibsend(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &request),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

/* A buffered send is complete, and can be cancelled as long as nobody has received its message. */
static void cancelled(void)
{
    static char buf[200000];
    check_step("cancelling a buffered send");
    for (int i = 0; i < 2; i++) {
        MPI_Request request;
        MPI_Status st;
        int flag = 0;
        check_fill(buf, sizeof buf, check.rank, TAG, i);
        MPI_Ibsend(buf, (int)sizeof buf, MPI_BYTE, up, TAG, MPI_COMM_WORLD, &request);
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag, "a buffered send is not complete at once");
        if (i == 0) {
            CHECK_CLASS(MPI_Cancel(&request), MPI_SUCCESS);
        }
        CHECK_CLASS(MPI_Wait(&request, &st), MPI_SUCCESS);
        MPI_Test_cancelled(&st, &flag);
        CHECK(flag == (i == 0), "send %d was %scancelled", i, flag ? "" : "not ");
    }
    all_have_sent();
    receive_one(buf, sizeof buf, TAG, 1);
}

/* The last messages are on their way, and the buffer still attached, when MPI_Finalize is called.
 */
static void until_the_end(void)
{
    static char buf[200000];
    check_step("messages buffered just before the end");
    for (int i = 0; i < PLENTY; i++) {
        buffered_send(0, buf, sizeof buf, up, LAST, i);
    }
    if (check.rank & 1) {
        struct timespec rest = {.tv_nsec = 300 * 1000 * 1000};
        nanosleep(&rest, NULL);
    }
    for (int i = 0; i < PLENTY; i++) {
        receive_one(buf, sizeof buf, LAST, i);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    to_nobody();
    MPI_Buffer_attach(space, SPACE);
    to_nobody();
    for (int form = 0; form < 4; form++) {
        every_size(form);
    }
    many_pending(false);
    many_pending(true);
    order_among_modes();
    with_gaps(0);
    with_gaps(10);
    with_gaps(PAIRS);
    cancelled();
    until_the_end();
    check_step("MPI_Finalize");
    MPI_Finalize();
    return check.failures > 0;
}
