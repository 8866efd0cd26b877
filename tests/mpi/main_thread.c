// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm seconds=30
/*
 * The main thread is the one that called MPI_Init_thread (MPI 5.0, 11.6.2), also where another
 * thread had opened a session before.
 */
#include "check.h"

#include <pthread.h>

static MPI_Session session;

static void *open_session(void *arg)
{
    (void)arg;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    return NULL;
}

static void *ask(void *arg)
{
    MPI_Is_thread_main(arg);
    return NULL;
}

int main(void)
{
    pthread_t other;
    int provided, here = -1, there = -1;
    check_watch();
    pthread_create(&other, NULL, open_session, NULL);
    pthread_join(other, NULL);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    check_world(1);
    pthread_create(&other, NULL, ask, &there);
    pthread_join(other, NULL);
    MPI_Is_thread_main(&here);
    CHECK(here == 1, "MPI_Is_thread_main returned %d in the thread that called MPI_Init_thread",
          here);
    CHECK(there == 0, "MPI_Is_thread_main returned %d in another thread", there);
    MPI_Session_finalize(&session);
    return check_done();
}
