// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * MPI_BUFFER_AUTOMATIC, for the process and for a communicator: any number and size of messages is
 * kept, received in any order; flushing and detaching wait; afterwards there is no buffer again.
 */
#include "check.h"

enum { TAG = 3, MESSAGES = 200, LONG = 300000 };

static unsigned char out[LONG], in[LONG];
static int up, down;

static size_t size_of(int i)
{
    return i % 20 == 7 ? LONG : (size_t)(i * 37);
}

static void send_all(void)
{
    for (int i = 0; i < MESSAGES; i++) {
        check_fill(out, size_of(i), check.rank, TAG + i, i);
        CHECK_CLASS(MPI_Bsend(out, (int)size_of(i), MPI_BYTE, up, TAG + i, MPI_COMM_WORLD),
                    MPI_SUCCESS);
        memset(out, 0xEE, size_of(i));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every third first, so that those sent in between stay. */
static void receive_all(void)
{
    for (int round = 0; round < 3; round++) {
        for (int i = round; i < MESSAGES; i += 3) {
            MPI_Status st;
            MPI_Recv(in, LONG, MPI_BYTE, down, TAG + i, MPI_COMM_WORLD, &st);
            CHECK_STATUS(st, down, TAG + i, size_of(i));
            CHECK_DATA(in, size_of(i), down, TAG + i, i);
        }
    }
}

static int attach(bool comm, int size)
{
    return comm ? MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, size)
                : MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, size);
}

static int detach(bool comm, void *address, int *size)
{
    return comm ? MPI_Comm_detach_buffer(MPI_COMM_WORLD, address, size)
                : MPI_Buffer_detach(address, size);
}

static void automatic(bool comm)
{
    void *address = NULL;
    int size = -1, flag = 1;
    MPI_Request flush;
    check_step("automatic buffering of %s", comm ? "a communicator" : "the process");
    CHECK_CLASS(MPI_Bsend(out, 1, MPI_BYTE, up, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(attach(comm, -5), MPI_SUCCESS); /* the size does not count */
    CHECK_CLASS(attach(comm, 0), MPI_ERR_BUFFER);
    send_all();
    CHECK_CLASS(comm ? MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &flush) : MPI_Buffer_iflush(&flush),
                MPI_SUCCESS);
    MPI_Test(&flush, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "flushed before the long messages were received");
    MPI_Barrier(MPI_COMM_WORLD);
    receive_all();
    CHECK_CLASS(MPI_Wait(&flush, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(comm ? MPI_Comm_flush_buffer(MPI_COMM_WORLD) : MPI_Buffer_flush(), MPI_SUCCESS);
    send_all();
    receive_all();
    CHECK_CLASS(detach(comm, &address, &size), MPI_SUCCESS);
    CHECK(address == MPI_BUFFER_AUTOMATIC, "detached %p, not MPI_BUFFER_AUTOMATIC", address);
    CHECK_CLASS(MPI_Bsend(out, 1, MPI_BYTE, up, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(detach(comm, &address, &size), MPI_ERR_BUFFER);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    automatic(false);
    automatic(true);
    automatic(false);
    return check_done();
}
