// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * Messages to oneself: every mode and size, receive first and send first, on MPI_COMM_WORLD and on
 * MPI_COMM_SELF, with named and with any source; a synchronous one completes only with its receive.
 */
#include "check.h"

typedef int (*start_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);

static const size_t sizes[] = {0, 1, 8, 64, 65, 4096, 16384, 16385, 100000, 3000001};

enum { TAG = 4 };

static void exchange(MPI_Comm comm, int me, int mode, bool receive_first, size_t n)
{
    static const start_fn start[] = {MPI_Isend, MPI_Issend, MPI_Irsend};
    struct check_buffer in = check_buffer_new(n, 1);
    unsigned char *out = check_alloc(n);
    MPI_Request send, receive;
    MPI_Status st;
    int source = n % 2 ? MPI_ANY_SOURCE : me, flag = -1;
    check_step("mode %d, %s first, %zu bytes", mode, receive_first ? "receive" : "send", n);
    check_fill(out, n, me, TAG, mode);
    if (receive_first) {
        MPI_Irecv(in.data, (int)n, MPI_BYTE, source, TAG, comm, &receive);
    }
    start[mode](out, (int)n, MPI_BYTE, me, TAG, comm, &send);
    if (!receive_first) {
        for (int i = 0; mode == 1 && i < 100; i++) {
            MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
            CHECK(flag == 0, "a synchronous send to self completed before its receive");
        }
        MPI_Irecv(in.data, (int)n, MPI_BYTE, source, TAG, comm, &receive);
    }
    MPI_Wait(&receive, &st);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK_STATUS(st, me, TAG, n);
    CHECK_DATA(in.data, n, me, TAG, mode);
    CHECK(check_buffer_intact(&in, n), "%zu bytes to self wrote outside", n);
    check_buffer_free(&in);
    free(out);
}

static void blocking(MPI_Comm comm, int me, int mode, size_t n)
{
    static const send_fn send[] = {MPI_Send, MPI_Ssend, MPI_Rsend};
    unsigned char *out = check_alloc(n), *in = check_alloc(n);
    MPI_Request receive;
    MPI_Status st;
    check_step("blocking mode %d, %zu bytes", mode, n);
    check_fill(out, n, me, TAG, 9);
    MPI_Irecv(in, (int)n, MPI_BYTE, me, TAG, comm, &receive);
    send[mode](out, (int)n, MPI_BYTE, me, TAG, comm);
    MPI_Wait(&receive, &st);
    CHECK_STATUS(st, me, TAG, n);
    CHECK_DATA(in, n, me, TAG, 9);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    for (int world = 0; world < 2; world++) {
        MPI_Comm comm = world ? MPI_COMM_WORLD : MPI_COMM_SELF;
        int me = world ? check.rank : 0;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (int mode = 0; mode < 3; mode++) {
                exchange(comm, me, mode, true, sizes[s]);
                blocking(comm, me, mode, sizes[s]);
                if (mode != 2) {
                    exchange(comm, me, mode, false, sizes[s]);
                }
            }
        }
    }
    /* A message on one communicator is invisible on the other, also under wildcards. */
    int value = 1, got = 0, other = 0, flag = -1;
    MPI_Request send, receive;
    check_step("a wildcard receive on the other communicator");
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &receive);
    MPI_Isend(&value, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD, &send);
    MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 0, "a receive on MPI_COMM_SELF took a message of MPI_COMM_WORLD");
    MPI_Recv(&other, 1, MPI_INT, check.rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    return check_done();
}
