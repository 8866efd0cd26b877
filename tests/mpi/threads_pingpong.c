// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,sockets,net-soft,shm,shm-copy seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * MPI_THREAD_MULTIPLE: several threads of each rank talk to the same threads of the next rank at
 * the same time, each with its own tag, small and large, and one thread waits while the others
 * work.
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 150, LARGEST = 40000 };

static const int sizes[] = {0, 8, 40000, 64, 5000, 16385};
static int failures[THREADS];

static void *talk(void *arg)
{
    int tag = (int)(intptr_t)arg;
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    unsigned char *out = check_alloc(LARGEST), *in = check_alloc(LARGEST);
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = (size_t)sizes[(i + tag) % 6];
        MPI_Request request;
        MPI_Status st;
        MPI_Count count = -1;
        check_fill(out, n, check.rank, tag, i);
        if ((i + tag) % 2) {
            MPI_Irecv(in, LARGEST, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
            MPI_Send(out, (int)n, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
            MPI_Wait(&request, &st);
        } else {
            MPI_Isend(out, (int)n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
            MPI_Recv(in, LARGEST, MPI_BYTE, i % 4 ? peer : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                     &st);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Get_count_c(&st, MPI_BYTE, &count);
        if (st.MPI_TAG != tag || st.MPI_SOURCE != peer || (size_t)count != n ||
            check_differs(in, n, peer, tag, i) != n) {
            fprintf(stderr, "rank %d thread %d round %d: source %d, tag %d, %lld of %zu bytes\n",
                    check.rank, tag, i, st.MPI_SOURCE, st.MPI_TAG, (long long)count, n);
            failures[tag]++;
        }
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    check_begin_threads(&argc, &argv, 1);
    check_step("%d threads talking", THREADS);
    for (int t = 0; t < THREADS; t++) {
        pthread_create(&threads[t], NULL, talk, (void *)(intptr_t)t);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        CHECK(failures[t] == 0, "thread %d: %d failures", t, failures[t]);
    }
    return check_done();
}
