// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-soft,shm,mixed seconds=60
// run: ranks=1 lanes=self seconds=30
/*
 * Threads that make communicators at the same time, in an order that differs between the ranks:
 * each over a communicator of its own, and by MPI_Comm_create_group over one that they share, told
 * apart by the tag. Every rank has as many threads; all communicators are used, kept a while and
 * freed. With one rank the threads then use up its ids together: each of them is told so, and freed
 * ids can be used again. (What other ranks are told is comm_many's.)
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60, KEPT = 5 };

static MPI_Comm own[THREADS], shared;
static int made_at_once[THREADS];

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

static pthread_barrier_t all_threads;

static void *use_up(void *arg)
{
    enum { ROOM = 200000 };
    int me = (int)(intptr_t)arg, n = 0, code = MPI_SUCCESS, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm *comm = check_host(ROOM * sizeof *comm), last;
    while (check.rank == 0 && n < ROOM &&
           (code = MPI_Comm_dup(MPI_COMM_SELF, &comm[n])) == MPI_SUCCESS)
        n++;
    if (check.rank == 0) {
        CHECK_CLASS(code, MPI_ERR_OTHER);
        MPI_Error_string(code, text, &length);
        CHECK(strstr(text, "context id"), "thread %d of rank 0 is told: %s", me, text);
    }
    made_at_once[me] = n;
    pthread_barrier_wait(&all_threads); /* nobody frees while another still looks for an id */
    CHECK_CLASS(MPI_Comm_dup(own[me], &last), MPI_ERR_OTHER);
    pthread_barrier_wait(&all_threads);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&comm[i]);
    pthread_barrier_wait(&all_threads);
    CHECK_CLASS(MPI_Comm_dup(own[me], &last), MPI_SUCCESS);
    use(last, me + 1);
    MPI_Comm_free(&last);
    free(comm);
    return NULL;
}

static void run_threads(void *(*deed)(void *))
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        int first = (i + check.rank) % THREADS; /* ranks begin with different ones */
        pthread_create(&thread[first], NULL, deed, (void *)(intptr_t)first);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    check_begin_threads(&argc, &argv, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    check_step("threads that make communicators");
    run_threads(make);
    /* more than a million communicators: a minute under ThreadSanitizer */
    bool uses_up = check.size == 1 && !check_setting("WEFT_TEST_SHORT", 0);
    check_step("threads that use up the context ids");
    check_errors_return();
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_set_errhandler(own[i], MPI_ERRORS_RETURN);
    pthread_barrier_init(&all_threads, NULL, THREADS);
    if (uses_up)
        run_threads(use_up);
    int total = 0;
    for (int i = 0; i < THREADS; i++)
        total += made_at_once[i];
    CHECK(!uses_up || total > 100000, "%d threads made %d communicators", THREADS, total);
    pthread_barrier_destroy(&all_threads);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&own[i]);
    MPI_Comm_free(&shared);
    return check_done();
}
