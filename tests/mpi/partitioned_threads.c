// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * What partitioned communication is for: several threads mark partitions of one send, each its own,
 * while other threads work on the partitions of one receive that have arrived. Every rank sends to
 * the next one.
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, EACH = 4, RECEIVED = 8, ROUNDS = 25, TAG = 2 };
enum { SENT = THREADS * EACH };

static int up, down, bytes; /* bytes: of all partitions */
static char *out, *in;
static MPI_Request both[2];
static pthread_barrier_t begin, end;

static void *contribute(void *arg)
{
    int first = (int)(intptr_t)arg * EACH, part = bytes / SENT;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&begin);
        for (int k = 0; k < EACH; k++) {
            int i = first + (k + round) % EACH;
            check_fill(out + i * part, (size_t)part, check.rank, i, round);
            MPI_Pready(i, both[0]);
        }
        pthread_barrier_wait(&end);
    }
    return NULL;
}

/* Takes every second partition of the receive; checks only what it has been told is there. */
static void *take(void *arg)
{
    int part = bytes / RECEIVED;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&begin);
        for (int i = (int)(intptr_t)arg; i < RECEIVED; i += 2) {
            int flag = 0;
            while (!flag) {
                MPI_Parrived(both[1], i, &flag);
            }
            int unit = bytes / SENT, last = (i + 1) * part;
            for (int at = i * part; at < last; at += unit - at % unit) {
                char expected[64];
                int from = at - at % unit, n = from + unit < last ? from + unit - at : last - at;
                check_fill(expected, sizeof expected, down, at / unit, round);
                if (at == from) {
                    n = n < (int)sizeof expected ? n : (int)sizeof expected;
                    CHECK(memcmp(in + at, expected, (size_t)n) == 0,
                          "round %d: partition %d has wrong data at byte %d", round, i, at);
                }
            }
        }
        pthread_barrier_wait(&end);
    }
    return NULL;
}

static void play(int size)
{
    pthread_t threads[THREADS + 2];
    bytes = size;
    MPI_Psend_init(out, SENT, bytes / SENT, MPI_BYTE, up, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &both[0]);
    MPI_Precv_init(in, RECEIVED, bytes / RECEIVED, MPI_BYTE, down, TAG, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &both[1]);
    pthread_barrier_init(&begin, NULL, THREADS + 3);
    pthread_barrier_init(&end, NULL, THREADS + 3);
    for (int i = 0; i < THREADS + 2; i++) {
        pthread_create(&threads[i], NULL, i < THREADS ? contribute : take,
                       (void *)(intptr_t)(i < THREADS ? i : i - THREADS));
    }
    for (int round = 0; round < ROUNDS; round++) {
        check_step("%d bytes, round %d", bytes, round);
        memset(in, 0, (size_t)bytes);
        MPI_Startall(2, both);
        pthread_barrier_wait(&begin);
        MPI_Wait(&both[0], MPI_STATUS_IGNORE); /* while the others mark and ask */
        pthread_barrier_wait(&end);
        MPI_Wait(&both[1], MPI_STATUS_IGNORE);
        for (int i = 0; i < SENT; i++) {
            CHECK_DATA(in + i * (bytes / SENT), bytes / SENT, down, i, round);
        }
    }
    for (int i = 0; i < THREADS + 2; i++) {
        pthread_join(threads[i], NULL);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    pthread_barrier_destroy(&begin);
    pthread_barrier_destroy(&end);
}

int main(int argc, char **argv)
{
    enum { LARGEST = 240000 };
    check_begin_threads(&argc, &argv, 1);
    up = (check.rank + 1) % check.size;
    down = (check.rank + check.size - 1) % check.size;
    out = check_alloc(LARGEST);
    in = check_alloc(LARGEST);
    play(240);
    play(24000);
    play(LARGEST);
    free(out);
    free(in);
    return check_done();
}
