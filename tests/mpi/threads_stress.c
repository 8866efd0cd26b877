// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,net-soft,shm,shm-coll,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Threads that do everything at the same time (MPI_THREAD_MULTIPLE). Each of four threads a rank,
 * in rounds: collectives on a communicator of its own, of which the threads of other ranks are at
 * another one; messages on a communicator that all share, told apart by tags, some received by
 * probes; and requests that it starts and its neighbour thread completes. Every message says who
 * sent it and when, so a wrong match is seen.
 *
 * The threads of a rank hand requests over through a box each, under a lock of the test's own.
 */
#include "check.h"
#include "threads.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 40, LONG = 3000 };
enum { TAG_OWN = 100, TAG_PROBED = 200, TAG_HANDED = 300 };

static MPI_Comm own[THREADS], shared;

/* Requests on their way to the thread that completes them. */
static struct box {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool full;
    MPI_Request requests[2];
    int *in; /* what the receive brings */
} boxes[THREADS];

static int value_of(int thread, int round, int rank, int i)
{
    return ((thread * ROUNDS + round) * 64 + rank) * 16 + i % 16;
}

static void put(struct box *box, const MPI_Request *requests, int *in)
{
    pthread_mutex_lock(&box->lock);
    while (box->full)
        pthread_cond_wait(&box->changed, &box->lock);
    memcpy(box->requests, requests, sizeof box->requests);
    box->in = in;
    box->full = true;
    pthread_cond_broadcast(&box->changed);
    pthread_mutex_unlock(&box->lock);
}

static int *take(struct box *box, MPI_Request *requests)
{
    pthread_mutex_lock(&box->lock);
    while (!box->full)
        pthread_cond_wait(&box->changed, &box->lock);
    memcpy(requests, box->requests, sizeof box->requests);
    int *in = box->in;
    box->full = false;
    pthread_cond_broadcast(&box->changed);
    pthread_mutex_unlock(&box->lock);
    return in;
}

/* Collectives on the thread's own communicator: blocking, and two at a time. */
static void collect(int me, int round)
{
    int sum = 0, root = round % check.size, n = round % 5 ? 7 : LONG;
    int mine = value_of(me, round, check.rank, 0), want = 0;
    int *data = check_alloc(LONG * sizeof *data), all[64];
    MPI_Request requests[2];
    for (int r = 0; r < check.size; r++)
        want += value_of(me, round, r, 0);
    for (int i = 0; i < n; i++)
        data[i] = check.rank == root ? value_of(me, round, root, i) : -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, own[me]);
    CHECK(sum == want, "thread %d, round %d: the sum is %d instead of %d", me, round, sum, want);
    MPI_Ibcast(data, n, MPI_INT, root, own[me], &requests[0]);
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, own[me], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK(data[i] == value_of(me, round, root, i),
              "thread %d, round %d: element %d of the "
              "broadcast is %d",
              me, round, i, data[i]);
    for (int r = 0; r < check.size; r++)
        CHECK(all[r] == value_of(me, round, r, 0), "thread %d, round %d: rank %d gave %d", me,
              round, r, all[r]);
    MPI_Barrier(own[me]);
    free(data);
}

/* Around the ranks on the shared communicator, each thread under tags of its own. */
static void exchange(int me, int round)
{
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    int n = 1 + (me + round) % 9, out[16], in[16], count;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    for (int i = 0; i < n; i++)
        out[i] = value_of(me, round, check.rank, i);
    MPI_Irecv(in, 16, MPI_INT, MPI_ANY_SOURCE, TAG_OWN + me, shared, &request);
    MPI_Send(out, n, MPI_INT, up, TAG_OWN + me, shared);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == n && in[0] == value_of(me, round, down, 0) && status.MPI_SOURCE == down,
          "thread %d, round %d: %d elements from rank %d, the first is %d", me, round, count,
          status.MPI_SOURCE, in[0]);
    MPI_Isend(out, n, MPI_INT, up, TAG_PROBED + me, shared, &request);
    MPI_Mprobe(down, TAG_PROBED + me, shared, &message, &status);
    MPI_Mrecv(in, 16, MPI_INT, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == n && in[n - 1] == value_of(me, round, down, n - 1),
          "thread %d, round %d: probed %d elements, the last is %d", me, round, count, in[n - 1]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Starts a send and a receive for the next thread to complete, and completes those of the thread
 * before. What is sent stays where it is until all threads are done. */
static void hand_over(int me, int round, int *out, int *in)
{
    int up = (check.rank + 1) % check.size, down = (check.rank + check.size - 1) % check.size;
    int before = (me + THREADS - 1) % THREADS;
    MPI_Request requests[2];
    *out = value_of(me, round, check.rank, 3);
    *in = -1;
    MPI_Irecv(in, 1, MPI_INT, down, TAG_HANDED + me, shared, &requests[0]);
    MPI_Isend(out, 1, MPI_INT, up, TAG_HANDED + me, shared, &requests[1]);
    put(&boxes[(me + 1) % THREADS], requests, in);
    int *came = take(&boxes[me], requests);
    if (round % 2) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    CHECK(*came == value_of(before, round, down, 3),
          "thread %d, round %d: what thread %d was to receive is %d", me, round, before, *came);
}

static void *work(void *arg)
{
    static int out[THREADS][ROUNDS], in[THREADS][ROUNDS];
    int me = (int)(intptr_t)arg;
    for (int round = 0; round < ROUNDS; round++) {
        collect(me, round);
        exchange(me, round);
        hand_over(me, round, &out[me][round], &in[me][round]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    check_begin_threads(&argc, &argv, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
        pthread_mutex_init(&boxes[i].lock, NULL);
        pthread_cond_init(&boxes[i].changed, NULL);
    }
    check_step("%d threads", THREADS);
    threads_run(THREADS, false, work);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&own[i]);
    MPI_Comm_free(&shared);
    return check_done();
}
