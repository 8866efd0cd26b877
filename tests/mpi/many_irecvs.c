// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=60
/*
 * 5000 receives posted with different tags, more than any provider's queue holds, and the messages
 * come in reverse order, by blocking sends, some of them rendezvous. Nothing may wait for a receive
 * that the library has not handed to the provider yet.
 */
#include "check.h"

enum { MESSAGES = 5000, LARGE = 20000, EVERY = 50 };

static size_t size_of(int tag)
{
    return tag % EVERY == 0 ? LARGE : (size_t)(tag % 100);
}

static void receive(int peer)
{
    static MPI_Request requests[MESSAGES];
    static MPI_Status st[MESSAGES];
    unsigned char **in = check_host(MESSAGES * sizeof *in);
    for (int tag = 0; tag < MESSAGES; tag++) {
        in[tag] = check_alloc(size_of(tag));
        MPI_Irecv(in[tag], (int)size_of(tag), MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[tag]);
    }
    check_step("telling the sender that %d receives are posted", MESSAGES);
    MPI_Send(NULL, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    check_step("waiting for %d receives", MESSAGES);
    MPI_Waitall(MESSAGES, requests, st);
    for (int tag = 0; tag < MESSAGES; tag++) {
        CHECK_STATUS(st[tag], peer, tag, size_of(tag));
        CHECK_DATA(in[tag], size_of(tag), peer, tag, 0);
        free(in[tag]);
    }
    free(in);
}

static void send(int peer)
{
    unsigned char out[LARGE];
    check_step("waiting for the receiver");
    MPI_Recv(NULL, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int tag = MESSAGES - 1; tag >= 0; tag--) {
        check_step("blocking send of tag %d, %zu bytes", tag, size_of(tag));
        check_fill(out, size_of(tag), check.rank, tag, 0);
        MPI_Send(out, (int)size_of(tag), MPI_BYTE, peer, tag, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    int peer = check.rank ^ 1;
    if (peer < check.size) {
        (check.rank & 1 ? receive : send)(peer);
    }
    return check_done();
}
