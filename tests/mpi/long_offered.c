// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,shm-copy,shm-small seconds=60
/*
 * Long messages of which both ends may move the data, if both are in a blocking call: a receiver
 * does not need a sender that computes, and a rank that leaves a blocking call leaves nothing
 * behind that its peer waits for. So many rounds that reading and pushing are both tried.
 *
 * Computing is simulated by waiting outside of MPI for the other rank's progress, in shared memory.
 */
#include "check.h"

#include <stdatomic.h>

enum { ROUNDS = 800, COUNT = 12 << 10, WINDOW = 4, TAG = 3, TOKEN = 4 };

static _Atomic int *done; /* rounds that the rank of the other end has completed, for each rank */
static int rank, peer;
static long send[WINDOW][COUNT], receive[WINDOW][COUNT];

static void compute_until_peer_has(int round)
{
    check_step("round %d: rank %d has to complete its part while this rank computes", round, peer);
    while (atomic_load(&done[peer]) < round)
        ;
}

static void fill(int round)
{
    for (int w = 0; w < WINDOW; w++)
        for (int i = 0; i < COUNT; i++) {
            send[w][i] = (long)round * 1000003 + w * 7001 + i + rank;
            receive[w][i] = -1;
        }
}

static void verify(int round, int messages)
{
    for (int w = 0; w < messages; w++)
        for (int i = 0; i < COUNT; i++) {
            long wanted = (long)round * 1000003 + w * 7001 + i + peer;
            CHECK(receive[w][i] == wanted, "round %d, message %d, element %d is %ld, not %ld",
                  round, w, i, receive[w][i], wanted);
        }
}

/* The sender computes while the receiver waits, after some tests. */
static void sender_computes(int round, bool sends)
{
    MPI_Request request;
    int flag;
    if (!sends) {
        MPI_Recv(receive[0], COUNT, MPI_LONG, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        atomic_store(&done[rank], round);
        verify(round, 1);
        return;
    }
    MPI_Isend(send[0], COUNT, MPI_LONG, peer, TAG, MPI_COMM_WORLD, &request);
    for (int i = 0; i < round / 8 % 12; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    compute_until_peer_has(round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The sender waits for the first of some messages, and then computes. */
static void sender_leaves(int round, bool sends)
{
    MPI_Request requests[WINDOW];
    for (int w = 0; w < WINDOW; w++)
        if (sends)
            MPI_Isend(send[w], COUNT, MPI_LONG, peer, TAG, MPI_COMM_WORLD, &requests[w]);
        else
            MPI_Irecv(receive[w], COUNT, MPI_LONG, peer, TAG, MPI_COMM_WORLD, &requests[w]);
    if (sends) {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        compute_until_peer_has(round);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        return;
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    atomic_store(&done[rank], round);
    verify(round, WINDOW);
}

/* The receiver is in another blocking call when the messages match, and computes afterwards. */
static void receiver_leaves(int round, bool sends)
{
    MPI_Request requests[WINDOW];
    for (int w = 0; w < WINDOW; w++)
        if (sends)
            MPI_Isend(send[w], COUNT, MPI_LONG, peer, TAG, MPI_COMM_WORLD, &requests[w]);
        else
            MPI_Irecv(receive[w], COUNT, MPI_LONG, peer, TAG, MPI_COMM_WORLD, &requests[w]);
    if (sends) {
        MPI_Send(NULL, 0, MPI_BYTE, peer, TOKEN, MPI_COMM_WORLD);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        atomic_store(&done[rank], round);
        return;
    }
    MPI_Recv(NULL, 0, MPI_BYTE, peer, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute_until_peer_has(round);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    verify(round, WINDOW);
}

/* Both send to each other, and receive the last one first. */
static void exchange(int round)
{
    MPI_Request requests[2 * WINDOW];
    for (int w = 0; w < WINDOW; w++) {
        MPI_Irecv(receive[w], COUNT, MPI_LONG, peer, TAG + w, MPI_COMM_WORLD, &requests[w]);
        MPI_Isend(send[w], COUNT, MPI_LONG, peer, TAG + w, MPI_COMM_WORLD, &requests[WINDOW + w]);
    }
    for (int w = 2 * WINDOW - 1; w >= 0; w--)
        MPI_Wait(&requests[w], MPI_STATUS_IGNORE);
    atomic_store(&done[rank], round);
    verify(round, WINDOW);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint bytes;
    int unit;
    check_begin(&argc, &argv, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    MPI_Win_allocate_shared(rank ? 0 : 2 * (MPI_Aint)sizeof *done, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            (void *)&done, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, (void *)&done);
    /* Without single copies a message needs both ends. */
    bool copies = strcmp(getenv("WEFT_SHM_COPY") ? getenv("WEFT_SHM_COPY") : "", "staged") != 0;
    for (int round = 1; round <= ROUNDS; round++) {
        bool sends = round / 4 % 2 == rank;
        fill(round);
        check_step("round %d", round);
        if (copies && round % 4 == 0)
            sender_computes(round, sends);
        else if (copies && round % 4 == 1)
            sender_leaves(round, sends);
        else if (copies && round % 4 == 2)
            receiver_leaves(round, sends);
        else
            exchange(round);
    }
    MPI_Win_free(&win);
    return check_done();
}
