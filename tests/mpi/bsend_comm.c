// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Buffers of communicators beside the process's: a communicator's own goes first, they are not
 * combined, and each is detached and flushed by itself.
 */
#include "check.h"

enum { TAG = 3, LONG = 300000, NEEDED = LONG + MPI_BSEND_OVERHEAD };

static unsigned char *out, *in;
static char of_world[NEEDED], of_process[2 * NEEDED];
static int up, down;

static int send_long(MPI_Comm comm, int dest, int index)
{
    int me = comm == MPI_COMM_WORLD ? check.rank : 0;
    check_fill(out, LONG, me, TAG, index);
    int code = MPI_Bsend(out, LONG, MPI_BYTE, dest, TAG, comm);
    memset(out, 0xEE, LONG);
    return code;
}

static void receive_long(MPI_Comm comm, int source, int index)
{
    MPI_Status st;
    MPI_Recv(in, LONG, MPI_BYTE, source, TAG, comm, &st);
    CHECK_STATUS(st, source, TAG, LONG);
    CHECK_DATA(in, LONG, source, TAG, index);
}

static void detach(bool comm, const void *expected, MPI_Count size)
{
    void *address = NULL;
    MPI_Count bytes = -1;
    CHECK_CLASS(comm ? MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &address, &bytes)
                     : MPI_Buffer_detach_c(&address, &bytes),
                MPI_SUCCESS);
    CHECK(address == expected && bytes == size, "detached %p and %lld bytes, not %p and %lld",
          address, (long long)bytes, expected, (long long)size);
}

/* World's buffer holds one message, the process's two. */
static void beside_each_other(void)
{
    int flag = 0;
    MPI_Request flush;
    check_step("the communicator's buffer goes first");
    CHECK_CLASS(send_long(MPI_COMM_WORLD, up, 0), MPI_SUCCESS);
    CHECK_CLASS(send_long(MPI_COMM_WORLD, up, 9),
                MPI_ERR_BUFFER); /* though the process's is free */
    CHECK_CLASS(send_long(MPI_COMM_SELF, 0, 1), MPI_SUCCESS);
    CHECK_CLASS(send_long(MPI_COMM_SELF, 0, 2), MPI_SUCCESS);
    CHECK_CLASS(send_long(MPI_COMM_SELF, 0, 9), MPI_ERR_BUFFER);
    MPI_Barrier(MPI_COMM_WORLD);
    receive_long(MPI_COMM_SELF, 0, 1);
    receive_long(MPI_COMM_SELF, 0, 2);
    CHECK_CLASS(MPI_Buffer_flush(), MPI_SUCCESS); /* world's message does not matter */
    CHECK_CLASS(MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &flush), MPI_SUCCESS);
    MPI_Test(&flush, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "flushed before the message was received");
    MPI_Barrier(MPI_COMM_WORLD);
    receive_long(MPI_COMM_WORLD, down, 0);
    CHECK_CLASS(MPI_Wait(&flush, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(MPI_Comm_flush_buffer(MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_CLASS(MPI_Comm_flush_buffer(MPI_COMM_SELF), MPI_ERR_BUFFER);
}

/* Without its own buffer a communicator uses the process's; one of no size hides it. */
static void falling_back(void)
{
    check_step("the process's buffer for all communicators");
    CHECK_CLASS(send_long(MPI_COMM_WORLD, up, 3), MPI_SUCCESS);
    CHECK_CLASS(send_long(MPI_COMM_SELF, 0, 4), MPI_SUCCESS);
    CHECK_CLASS(send_long(MPI_COMM_WORLD, up, 9), MPI_ERR_BUFFER);
    MPI_Barrier(MPI_COMM_WORLD);
    receive_long(MPI_COMM_SELF, 0, 4);
    receive_long(MPI_COMM_WORLD, down, 3);
    CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_WORLD, NULL, 0), MPI_SUCCESS);
    CHECK_CLASS(MPI_Bsend(out, 0, MPI_BYTE, up, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    detach(true, NULL, 0);
}

static bool refuses;
static void *detached;

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int bytes;
    (void)key, (void)value, (void)extra;
    if (refuses)
        return MPI_ERR_OTHER;
    return MPI_Comm_detach_buffer(comm, &detached, &bytes);
}

/* A communicator that a delete function keeps keeps its buffer, too. */
static void kept(void)
{
    int key;
    MPI_Comm comm, left;
    check_step("a communicator that is not freed");
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    CHECK_CLASS(MPI_Comm_attach_buffer(comm, of_process, NEEDED), MPI_SUCCESS);
    refuses = true;
    left = comm;
    CHECK_CLASS(MPI_Comm_free(&left), MPI_ERR_OTHER);
    CHECK_CLASS(send_long(comm, 0, 5), MPI_SUCCESS);
    receive_long(comm, 0, 5);
    refuses = false;
    CHECK_CLASS(MPI_Comm_free(&comm), MPI_SUCCESS);
    CHECK(detached == of_process, "the delete function detached %p", detached);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    out = check_zeroed(LONG);
    in = check_zeroed(LONG);
    check_errors_return();
    up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    for (int i = 0; i < 3; i++) {
        CHECK_CLASS(MPI_Buffer_attach_c(of_process, sizeof of_process), MPI_SUCCESS);
        CHECK_CLASS(MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, of_world, sizeof of_world),
                    MPI_SUCCESS);
        CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_WORLD, of_world, NEEDED), MPI_ERR_BUFFER);
        beside_each_other();
        detach(true, of_world, sizeof of_world);
        falling_back();
        detach(false, of_process, sizeof of_process);
    }
    kept();
    free(out);
    free(in);
    return check_done();
}
