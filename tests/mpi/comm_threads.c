// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads that make communicators at the same time, in an order that differs between the ranks: each
 * over a communicator of its own, and by MPI_Comm_create_group over one that they share, told apart
 * by the tag. Every rank has as many threads; all communicators are used, kept a while and freed.
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60, KEPT = 5 };

static MPI_Comm own[THREADS], shared;

static void use(MPI_Comm comm, int mark)
{
    int rank, size, in = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int out = mark * 1000 + rank, down = (rank + size - 1) % size;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, down, 0, comm,
                 MPI_STATUS_IGNORE);
    CHECK(in == mark * 1000 + down, "%d came instead of %d", in, mark * 1000 + down);
}

static void *make(void *arg)
{
    int me = (int)(intptr_t)arg;
    MPI_Comm kept[KEPT];
    MPI_Group group;
    for (int i = 0; i < KEPT; i++)
        kept[i] = MPI_COMM_NULL;
    MPI_Comm_group(shared, &group);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm made;
        if (round % 3 == 0) {
            MPI_Comm_dup(own[me], &made);
        } else if (round % 3 == 1) {
            MPI_Comm_split(own[me], 0, -check.rank, &made);
        } else {
            MPI_Comm_create_group(shared, group, me, &made);
        }
        use(made, me + 1);
        if (kept[round % KEPT] != MPI_COMM_NULL)
            MPI_Comm_free(&kept[round % KEPT]);
        kept[round % KEPT] = made;
    }
    for (int i = 0; i < KEPT; i++)
        MPI_Comm_free(&kept[i]);
    MPI_Group_free(&group);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    check_begin_threads(&argc, &argv, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    check_step("threads that make communicators");
    for (int i = 0; i < THREADS; i++) {
        int first = (i + check.rank) % THREADS; /* ranks begin with different ones */
        pthread_create(&thread[first], NULL, make, (void *)(intptr_t)first);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&own[i]);
    MPI_Comm_free(&shared);
    return check_done();
}
