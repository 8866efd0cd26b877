// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
// host memory: it attaches guarded buffers, and its messages are of few bytes
/*
 * The limits of an attached buffer: of exactly the size the standard tells it suffices; what does
 * not fit is refused with MPI_ERR_BUFFER, loses nothing, and fits later; detaching and flushing
 * wait; attaching and detaching many times, also nothing at all.
 *
 * The messages are longer than any eager limit, so they stay in the buffer until they are received.
 */
#include "check.h"

enum { TAG = 3, DONE = 4, LONG = 300000, NEEDED = LONG + MPI_BSEND_OVERHEAD };

static unsigned char out[LONG], in[LONG];
static int up, down;

static int send_long(int index)
{
    check_fill(out, LONG, check.rank, TAG, index);
    int code = MPI_Bsend(out, LONG, MPI_BYTE, up, TAG, MPI_COMM_WORLD);
    memset(out, 0xEE, LONG);
    return code;
}

static void receive_long(int index)
{
    MPI_Status st;
    MPI_Recv(in, LONG, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &st);
    CHECK_STATUS(st, down, TAG, LONG);
    CHECK_DATA(in, LONG, down, TAG, index);
}

static void detach(const void *expected, int size)
{
    void *address = &address;
    int bytes = -1;
    CHECK_CLASS(MPI_Buffer_detach(&address, &bytes), MPI_SUCCESS);
    CHECK(address == expected && bytes == size, "detached %p and %d bytes, not %p and %d", address,
          bytes, expected, size);
}

/* The sum of sizes and overheads suffices at any alignment; nothing outside is written. */
static void exact(size_t skew)
{
    static const int sizes[] = {LONG, 0, LONG - 1, 1, LONG - 77, 100};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    int total = 0;
    for (int i = 0; i < COUNT; i++) {
        total += sizes[i] + MPI_BSEND_OVERHEAD;
    }
    struct check_buffer space = check_buffer_new((size_t)total, skew);
    check_step("a buffer of exactly %d bytes, skew %zu", total, skew);
    CHECK_CLASS(MPI_Buffer_attach(space.data, total), MPI_SUCCESS);
    for (int i = 0; i < COUNT; i++) {
        check_fill(out, (size_t)sizes[i], check.rank, TAG, i);
        CHECK_CLASS(MPI_Bsend(out, sizes[i], MPI_BYTE, up, TAG, MPI_COMM_WORLD), MPI_SUCCESS);
        memset(out, 0xEE, LONG);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) {
        MPI_Status st;
        MPI_Recv(in, LONG, MPI_BYTE, down, TAG, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, down, TAG, sizes[i]);
        CHECK_DATA(in, (size_t)sizes[i], down, TAG, i);
    }
    detach(space.data, total);
    CHECK(check_buffer_intact(&space, (size_t)total), "written outside of the attached buffer");
    check_buffer_free(&space);
}

/* One byte short for two; the second is refused, and fits when the first has been received. */
static void refused_and_later_not(void)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, tries = 0, code;
    void *space = check_host(2 * NEEDED - 1);
    check_step("a message that does not fit");
    MPI_Buffer_attach(space, 2 * NEEDED - 1);
    CHECK_CLASS(send_long(0), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        code = send_long(9);
        CHECK(check_class(code) == MPI_ERR_BUFFER, "what does not fit: class %d",
              check_class(code));
    }
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "300000 bytes") && strstr(text, "601023 bytes") && strstr(text, "300511"),
          "the sentence names no size of message, buffer and free space: %s", text);
    MPI_Barrier(MPI_COMM_WORLD);
    receive_long(0);
    check_step("the message that did not fit before");
    while (check_class(code = send_long(1)) == MPI_ERR_BUFFER) {
        tries++;
    }
    CHECK(code == MPI_SUCCESS, "class %d after %d tries", check_class(code), tries);
    receive_long(1);
    detach(space, 2 * NEEDED - 1);
    free(space);
}

/* Detaching waits: the buffer is overwritten right after it, and a marker sent. The receiver sees
 * no marker while the message is not received. */
static void detach_waits(void)
{
    int mark = -1, flag = 0;
    MPI_Request marker;
    check_step("a detach that has to wait");
    if (check.rank == 0) {
        void *space = check_host(NEEDED);
        MPI_Buffer_attach(space, NEEDED);
        send_long(0);
        detach(space, NEEDED);
        memset(space, 0xDD, NEEDED);
        MPI_Send(&check.rank, 1, MPI_INT, up, DONE, MPI_COMM_WORLD);
        free(space);
    }
    if (down == 0) {
        MPI_Irecv(&mark, 1, MPI_INT, 0, DONE, MPI_COMM_WORLD, &marker);
        for (int i = 0; i < 2000 && !flag; i++) {
            MPI_Test(&marker, &flag, MPI_STATUS_IGNORE);
        }
        CHECK(!flag, "MPI_Buffer_detach returned before its message was received");
        receive_long(0);
        MPI_Wait(&marker, MPI_STATUS_IGNORE);
        CHECK(mark == 0, "the marker is %d", mark);
    }
}

static void flushes(void)
{
    int flag = 1;
    MPI_Request request = MPI_REQUEST_NULL, freed;
    void *space = check_host(NEEDED);
    check_step("flushing");
    MPI_Buffer_attach(space, NEEDED);
    CHECK_CLASS(MPI_Buffer_flush(), MPI_SUCCESS);
    CHECK_CLASS(MPI_Buffer_iflush(&request), MPI_SUCCESS);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag, "an empty buffer is not flushed at once");
    send_long(0);
    CHECK_CLASS(MPI_Buffer_iflush(&request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Buffer_iflush(&freed), MPI_SUCCESS);
    MPI_Request_free(&freed);
    for (int i = 0; i < 500; i++) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "flushed before the message was received");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    receive_long(0);
    MPI_Status st;
    CHECK_CLASS(MPI_Wait(&request, &st), MPI_SUCCESS);
    CHECK_STATUS(st, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    for (int i = 1; i < 4; i++) { /* a flushed buffer is free as a whole */
        CHECK_CLASS(send_long(i), MPI_SUCCESS);
        receive_long(i);
        CHECK_CLASS(MPI_Buffer_flush(), MPI_SUCCESS);
    }
    detach(space, NEEDED);
    free(space);
}

static void cycles(void)
{
    static char spaces[2][NEEDED];
    for (int i = 0; i < 60; i++) {
        int size = NEEDED - i % 2;
        check_step("attached and detached for the %d. time", i + 1);
        CHECK_CLASS(MPI_Buffer_attach(spaces[i % 2], size), MPI_SUCCESS);
        CHECK_CLASS(send_long(i), i % 2 ? MPI_ERR_BUFFER : MPI_SUCCESS);
        if (i % 2 == 0) {
            receive_long(i);
        }
        detach(spaces[i % 2], size);
    }
}

static void no_space(void)
{
    int value = 1;
    check_step("buffers of no size and no buffer");
    CHECK_CLASS(MPI_Bsend(&value, 1, MPI_INT, up, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    for (int i = 0; i < 2; i++) {
        void *base = i ? &value : NULL;
        CHECK_CLASS(MPI_Buffer_attach(base, 0), MPI_SUCCESS);
        CHECK_CLASS(MPI_Bsend(&value, 1, MPI_INT, up, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Bsend(&value, 0, MPI_INT, up, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Buffer_flush(), MPI_SUCCESS);
        detach(base, 0);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    no_space();
    for (size_t skew = 0; skew < 16; skew += 5) {
        exact(skew);
    }
    refused_and_later_not();
    if (check.size > 1) { /* a process cannot receive what it waits to get rid of */
        detach_waits();
    }
    flushes();
    cycles();
    no_space();
    return check_done();
}
