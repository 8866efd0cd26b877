// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2 lanes=shm,rxm seconds=30
/*
 * An error handler that calls MPI, and waits there for messages that another thread sends: on its
 * own communicator, and on communicators of other VCIs. The errors are those of a call with a wrong
 * argument, of a wait for one request, and of a wait for requests of two VCIs, of which one
 * communicator has been freed.
 */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

enum { COMMS = 4, CALLS = 2 * COMMS + 1, TAG = 1, TAG_LONG = 2 };

static MPI_Comm comms[COMMS];
static atomic_int wanted; /* messages that the other thread is to send */
static int calls;

static void *send_wanted(void *arg)
{
    (void)arg;
    for (int sent = 0; sent < CALLS * COMMS;) {
        if (sent == wanted) {
            usleep(100);
            continue;
        }
        MPI_Send(&sent, 1, MPI_INT, check_up(), TAG, comms[sent % COMMS]);
        sent++;
    }
    return NULL;
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    calls++;
    for (int i = 0; i < COMMS; i++) {
        int in = -1, expected = wanted;
        wanted++;
        MPI_Recv(&in, 1, MPI_INT, check_down(), TAG, comms[expected % COMMS], MPI_STATUS_IGNORE);
        CHECK(in == expected, "the handler received %d instead of %d", in, expected);
    }
}

/* A message of two words for a receive of one. */
static void start(MPI_Comm comm, MPI_Request *receive)
{
    static const int out[2] = {1, 2};
    static int in;
    MPI_Irecv(&in, 1, MPI_INT, check_down(), TAG_LONG, comm, receive);
    MPI_Send(out, 2, MPI_INT, check_up(), TAG_LONG, comm);
}

int main(void)
{
    pthread_t other;
    int provided, word = 0;
    MPI_Errhandler handler;
    MPI_Request requests[2];
    MPI_Comm freed;
    check_watch();
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    check_world(1);
    MPI_Comm_create_errhandler(handle, &handler);
    comms[0] = MPI_COMM_WORLD;
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_set_errhandler(comms[i], handler);
    MPI_Comm_set_errhandler(freed, handler);
    pthread_create(&other, NULL, send_wanted, NULL);
    for (int i = 0; i < COMMS; i++) {
        check_step("the error of a call on communicator %d", i);
        CHECK_CLASS(MPI_Send(&word, 1, MPI_INT, 0, -5, comms[i]), MPI_ERR_TAG);
        check_step("the error of a wait on communicator %d", i);
        start(comms[i], &requests[0]);
        CHECK_CLASS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    }
    check_step("the error of a wait for requests of two communicators");
    start(comms[1], &requests[1]);
    start(freed, &requests[0]);
    MPI_Comm_free(&freed);
    CHECK_CLASS(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    CHECK(calls == CALLS, "the handler was called %d times", calls);
    pthread_join(other, NULL);
    MPI_Errhandler_free(&handler);
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    return check_done();
}
