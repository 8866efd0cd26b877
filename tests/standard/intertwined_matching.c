// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,shm,shm-copy seconds=60
/*
 * Two messages received in the other order than they were sent, by their tags (MPI 5.0, 3.5): the
 * first is buffered, the second synchronous. Each send and receive finds its counterpart, so the
 * program ends; with both sends synchronous it would not.
 */
#include "../mpi/check.h"

enum { TAG1 = 1, TAG2 = 2, LONG = 100000 };

static char out[2][LONG], in[2][LONG];

static void sender(int dest, int bytes, int i)
{
    check_fill(out[0], (size_t)bytes, check.rank, TAG1, i);
    check_fill(out[1], (size_t)bytes, check.rank, TAG2, i);
    MPI_Bsend(out[0], bytes, MPI_BYTE, dest, TAG1, MPI_COMM_WORLD);
    MPI_Ssend(out[1], bytes, MPI_BYTE, dest, TAG2, MPI_COMM_WORLD);
}

static void receiver(int source, int bytes, int i)
{
    MPI_Status st;
    MPI_Recv(in[0], bytes, MPI_BYTE, source, TAG2, MPI_COMM_WORLD, &st);
    CHECK_STATUS(st, source, TAG2, bytes);
    CHECK_DATA(in[0], (size_t)bytes, source, TAG2, i);
    MPI_Recv(in[1], bytes, MPI_BYTE, source, TAG1, MPI_COMM_WORLD, &st);
    CHECK_STATUS(st, source, TAG1, bytes);
    CHECK_DATA(in[1], (size_t)bytes, source, TAG1, i);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 24, 64, 1000, 20000, LONG};
    int size;
    char *buffer;
    check_begin(&argc, &argv, 2);
    int peer = check.rank ^ 1;
    MPI_Buffer_attach(check_host(LONG + MPI_BSEND_OVERHEAD), LONG + MPI_BSEND_OVERHEAD);
    for (int i = 0; peer < check.size && i < 6 * 4; i++) {
        check_step("two messages of %d bytes", sizes[i / 4]);
        if (check.rank % 2 == i % 2) {
            sender(peer, sizes[i / 4], i);
        } else {
            receiver(peer, sizes[i / 4], i);
        }
        MPI_Buffer_flush();
    }
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    return check_done();
}
