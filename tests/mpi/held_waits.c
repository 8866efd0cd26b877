// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * While a receive from any source waits beside traffic with oneself, the library looks again and
 * again for messages that it could get. That it finds none is no news: a buffered send that does
 * not fit must say so instead of trying on, and a thread that waits must let others in. And it
 * looks also while the rank does nothing but probe on another communicator.
 */
#include "check.h"

#include <pthread.h>

enum { NEVER = 30, TAG = 31, END = 32, ROUNDS = 200, SMALL = 100 };

static MPI_Request never;
static int in, peer;

/* A receive from any source that is held in software: the self lane is in use. */
static void hold(void)
{
    int word = 1, got = 0;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &never);
    MPI_Sendrecv(&word, 1, MPI_INT, check.rank, TAG, &got, 1, MPI_INT, check.rank, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == word, "a message to oneself: %d", got);
}

static void full_buffer(void)
{
    static char space[SMALL + MPI_BSEND_OVERHEAD], out[SMALL + 1];
    void *address;
    int size;
    check_step("a buffered send that does not fit");
    MPI_Buffer_attach(space, sizeof space);
    CHECK_CLASS(MPI_Bsend(out, SMALL + 1, MPI_BYTE, peer, TAG, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    MPI_Buffer_detach(&address, &size);
}

/* Waits, all the time that the other thread talks. */
static void *wait_for_end(void *arg)
{
    (void)arg;
    MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void two_threads(void)
{
    pthread_t waiter;
    check_step("two threads, one of which waits");
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&waiter, NULL, wait_for_end, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        int word = i, got = -1;
        MPI_Sendrecv(&word, 1, MPI_INT, peer, TAG, &got, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(got == i, "message %d is %d", i, got);
    }
    MPI_Send(NULL, 0, MPI_INT, peer, END, MPI_COMM_WORLD);
    pthread_join(waiter, NULL);
}

/* The probed message comes only after the held receive has got its own. */
static void probe_elsewhere(void)
{
    MPI_Comm other;
    MPI_Status st;
    int word = 5, got = 0;
    check_step("a probe on another communicator");
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (check.rank % 2 && peer != check.rank) {
        MPI_Probe(peer, TAG, other, &st);
        CHECK_STATUS(st, peer, TAG, sizeof word);
        MPI_Recv(&got, 1, MPI_INT, peer, TAG, other, MPI_STATUS_IGNORE);
        MPI_Wait(&never, &st);
        CHECK_STATUS(st, peer, NEVER, sizeof word);
        CHECK(in == word && got == word, "received %d and %d", in, got);
        MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, NEVER, MPI_COMM_WORLD, &never);
    } else if (peer != check.rank) {
        MPI_Ssend(&word, 1, MPI_INT, peer, NEVER, MPI_COMM_WORLD);
        MPI_Send(&word, 1, MPI_INT, peer, TAG, other);
    }
    MPI_Comm_free(&other);
}

int main(int argc, char **argv)
{
    int flag = -1;
    MPI_Status st;
    check_begin_threads(&argc, &argv, 1);
    check_errors_return();
    peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    hold();
    full_buffer();
    probe_elsewhere();
    two_threads();
    MPI_Cancel(&never);
    MPI_Wait(&never, &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(flag, "the receive that waited all the time got something");
    return check_done();
}
