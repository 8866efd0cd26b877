// SPDX-License-Identifier: BSD-3-Clause
/* 70 threads at one time, more than have a table of their own, send 100 messages of 8 bytes to
 * their own rank; then 10 more threads, one after the other. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 70, LATER = 10, MESSAGES = 100 };

static pthread_barrier_t together;

static void exchange(int tag)
{
    int rank;
    double out = tag, in;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Irecv(&in, 1, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD, &request);
        MPI_Send(&out, 1, MPI_DOUBLE, rank, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void *run_together(void *arg)
{
    pthread_barrier_wait(&together);
    exchange((int)(long)arg);
    pthread_barrier_wait(&together);
    return NULL;
}

static void *run_alone(void *arg)
{
    exchange((int)(long)arg);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS], later;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        return 1;
    pthread_barrier_init(&together, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run_together, (void *)i))
            abort();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (long i = 0; i < LATER; i++) {
        if (pthread_create(&later, NULL, run_alone, (void *)i))
            abort();
        pthread_join(later, NULL);
    }
    MPI_Finalize();
    return 0;
}
