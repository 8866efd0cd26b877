// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=shm,rxm,mixed,nodes seconds=60
/*
 * Threads on windows (MPI_THREAD_MULTIPLE): all threads of a rank begin to use the targets of one
 * MPI_Win_lock_all at the same time, and each thread locks and counts in a window of its own.
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 6, TIMES = 20 };

static MPI_Win shared, own[THREADS];
static pthread_barrier_t gate;

static void add(MPI_Win win, int target, int cell)
{
    static const int64_t one = 1; /* read until the flush */
    MPI_Accumulate(&one, 1, MPI_INT64_T, target, cell, 1, MPI_INT64_T, MPI_SUM, win);
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&gate); /* MPI_Win_lock_all is called */
        for (int i = 0; i < check.size; i++) {
            int target = (check.rank + i) % check.size;
            add(shared, target, 0);
            MPI_Win_flush(target, shared);
        }
        pthread_barrier_wait(&gate); /* MPI_Win_unlock_all may be called */
        for (int i = 0; i < TIMES; i++) {
            int target = (i + me) % check.size;
            MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, own[me]);
            add(own[me], target, 0);
            MPI_Win_unlock(target, own[me]);
        }
    }
    return NULL;
}

static int64_t *make(MPI_Win *win)
{
    int64_t *cell;
    MPI_Win_allocate(sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, win);
    *cell = 0;
    return cell;
}

int main(int argc, char **argv)
{
    int provided;
    check_watch();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    check_world(2);
    pthread_t threads[THREADS];
    int64_t *cells[THREADS], *common = make(&shared), sum = 0, total;
    for (int i = 0; i < THREADS; i++)
        cells[i] = make(&own[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_barrier_init(&gate, NULL, THREADS + 1);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int round = 0; round < ROUNDS; round++) {
        check_step("round %d", round);
        MPI_Win_lock_all(0, shared);
        pthread_barrier_wait(&gate);
        pthread_barrier_wait(&gate);
        MPI_Win_unlock_all(shared);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check_step("the end");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(*common == (int64_t)ROUNDS * THREADS * check.size, "the shared window counted %lld",
          (long long)*common);
    for (int i = 0; i < THREADS; i++)
        sum += *cells[i];
    MPI_Allreduce(&sum, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(total == (int64_t)ROUNDS * TIMES * THREADS * check.size, "own windows counted %lld",
          (long long)total);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check.rank, 0, shared);
    MPI_Win_unlock(check.rank, shared);
    MPI_Win_free(&shared);
    for (int i = 0; i < THREADS; i++)
        MPI_Win_free(&own[i]);
    pthread_barrier_destroy(&gate);
    return check_done();
}
