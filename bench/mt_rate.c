// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_mt_rate: the message rate of all threads of a job. Thread t of rank 0 sends windows to
 * thread t of rank 1, over a communicator that only these two threads use. On one rank each thread
 * sends to itself, so that N threads take N cores and not 2 N; with --share-cores the two threads
 * of a pair share a core, to the same end. With --one-comm all threads use one communicator, made
 * with the assertions that no wildcards are used, and each thread has a tag.
 *
 * Invariant: only the first thread, which started MPI, calls the harness; the others sleep between
 * batches. All threads meet at gates before and after the timed part. They pass a gate by spinning
 * with sched_yield, because a batch is too short to wake threads up or to move them to a free core;
 * so each thread is bound to its core from the start.
 */
#include "window.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bench_program program = {
    .name = "weft_mt_rate",
    .title = "Weft MPI Message Rate of Threads Test",
    .kind = BENCH_BANDWIDTH,
    .features = BENCH_WINDOW | BENCH_THREADS,
};

struct worker {
    struct mpi_bench *b;
    int number;
    int data_tag, ack_tag;
    MPI_Comm comm;
    char *send, *recv;     /* its own: no two receives under way may have the same buffer */
    MPI_Request *requests; /* two windows */
    pthread_t thread;
    bool failed; /* what it has received is not what was sent */
};

static struct bench_batch batch; /* written by the first thread while all others sleep */
static bool over;
static int threads;
static atomic_uint arrivals; /* at all gates so far; the n-th gate is open at n * threads */
static pthread_mutex_t bed = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t alarm_clock = PTHREAD_COND_INITIALIZER;
static unsigned batches; /* begun, or the end; under bed, as is what it says */

/* *gates counts those that this thread has been at. */
static void pass_gate(unsigned *gates)
{
    unsigned open = ++*gates * (unsigned)threads;
    atomic_fetch_add(&arrivals, 1);
    while ((int)(atomic_load(&arrivals) - open) < 0)
        sched_yield();
}

/* Windows to oneself, or from rank 0 to rank 1, which acknowledges each. */
static void move(struct worker *w, int windows, int window)
{
    struct mpi_bench *b = w->b;
    int count = (int)batch.size, peer = b->size == 1 ? 0 : 1 - b->rank, n = 0;
    char ack = 0;
    for (int i = 0; i < windows; i++, n = 0) {
        if (b->size == 1 || b->rank == 1)
            for (int j = 0; j < window; j++)
                MPI_Irecv(w->recv, count, MPI_CHAR, peer, w->data_tag, w->comm, &w->requests[n++]);
        if (b->rank == 0)
            for (int j = 0; j < window; j++)
                MPI_Isend(w->send, count, MPI_CHAR, peer, w->data_tag, w->comm, &w->requests[n++]);
        MPI_Waitall(n, w->requests, MPI_STATUSES_IGNORE);
        if (b->size == 1)
            continue;
        if (b->rank == 0)
            MPI_Recv(&ack, 1, MPI_CHAR, peer, w->ack_tag, w->comm, MPI_STATUS_IGNORE);
        else
            MPI_Send(&ack, 1, MPI_CHAR, peer, w->ack_tag, w->comm);
    }
}

/* One batch, by one of the threads. Returns the seconds in which all of them did the timed part. */
static double run(struct worker *w, unsigned *gates)
{
    move(w, batch.warmup, batch.warmup_window);
    pass_gate(gates);
    double start = MPI_Wtime();
    move(w, batch.timed, w->b->options.window);
    pass_gate(gates);
    return MPI_Wtime() - start;
}

static bool validates(const struct worker *w)
{
    return w->b->options.validate && w->number > 0; /* the first thread's are the harness's */
}

/* What the first thread's harness does for its buffers. */
static void prepare(struct worker *w)
{
    w->failed = false;
    if (!validates(w))
        return;
    bench_fill(w->send, batch.size);
    memset(w->recv, 0, batch.size);
}

static void check(struct worker *w)
{
    if (validates(w) && (w->b->rank == 1 || w->b->size == 1))
        w->failed = !bench_check(w->recv, batch.size);
}

/* Binds the calling thread to one of the cores that the process may use. */
static void take_core(const struct mpi_bench *b, int thread)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) || !CPU_COUNT(&all))
        return;
    int first = b->options.share_cores ? 0 : b->rank * threads;
    int wanted = (first + thread) % CPU_COUNT(&all), core = 0;
    for (; !CPU_ISSET(core, &all) || wanted > 0; core++)
        wanted -= CPU_ISSET(core, &all) != 0;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    unsigned gates = 0;
    take_core(w->b, w->number);
    for (unsigned seen = 0;;) {
        pthread_mutex_lock(&bed);
        while (batches == seen)
            pthread_cond_wait(&alarm_clock, &bed);
        seen = batches;
        pthread_mutex_unlock(&bed);
        if (over)
            return NULL;
        prepare(w);
        pass_gate(&gates);
        run(w, &gates);
        check(w);
        pass_gate(&gates);
    }
}

static void wake_all(bool end)
{
    pthread_mutex_lock(&bed);
    over = end;
    batches++;
    pthread_cond_broadcast(&alarm_clock);
    pthread_mutex_unlock(&bed);
}

static void lead(struct worker *w)
{
    struct mpi_bench *b = w->b;
    unsigned gates = 0;
    while (mpi_bench_next(b, &batch)) {
        wake_all(false);
        pass_gate(&gates);
        double seconds = run(w, &gates);
        pass_gate(&gates);
        for (int t = 1; t < threads; t++)
            if (w[t].failed)
                w->recv[0] ^= 1; /* what the harness looks at: it will say so */
        double rate = (double)threads * b->options.window * batch.timed / seconds;
        mpi_bench_report(b, &batch, seconds, rate, rate * (double)batch.size / 1e6,
                         b->rank == 1 || b->size == 1);
    }
    wake_all(true);
}

/* The communicator of all threads. */
static MPI_Comm make_shared(void)
{
    MPI_Info info;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

static struct worker *start_workers(struct mpi_bench *b)
{
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!workers) {
        fprintf(stderr, "%s: no memory for %d threads; lower -t\n", program.name, threads);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return NULL;
    }
    for (int t = 0; t < threads; t++) {
        workers[t].b = b;
        workers[t].number = t;
        workers[t].requests = bench_window_requests(b, 2 * b->options.window);
        /* The first thread's are those that the harness fills and looks at. */
        workers[t].send = t ? bench_buffer(b->options.max) : b->send;
        workers[t].recv = t ? bench_buffer(b->options.max) : b->recv;
        if (!workers[t].send || !workers[t].recv) {
            fprintf(stderr, "%s: no memory for the buffers of %d threads; lower -t or -m\n",
                    program.name, threads);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (b->options.one_comm)
            workers[t].comm = t ? workers[0].comm : make_shared();
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm);
        workers[t].data_tag = b->options.one_comm ? t : BENCH_TAG_DATA;
        workers[t].ack_tag = b->options.one_comm ? t : BENCH_TAG_ACK;
    }
    for (int t = 1; t < threads; t++)
        if (pthread_create(&workers[t].thread, NULL, work, &workers[t]) != 0) {
            fprintf(stderr, "%s: cannot start thread %d; lower -t\n", program.name, t);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    return workers;
}

static void end_workers(struct worker *workers)
{
    for (int t = 1; t < threads; t++)
        pthread_join(workers[t].thread, NULL);
    for (int t = 0; t < threads; t++) {
        if (t == 0 || !workers[t].b->options.one_comm)
            MPI_Comm_free(&workers[t].comm);
        free(workers[t].requests);
        if (t > 0) {
            free(workers[t].send);
            free(workers[t].recv);
        }
    }
    free(workers);
}

int main(int argc, char **argv)
{
    struct mpi_bench b;
    char note[80];
    int code;
    if (!mpi_bench_start(&b, &program, 1, false, &argc, &argv, &code))
        return code;
    if (b.size > 2) {
        if (b.rank == 0)
            fprintf(stderr, "%s needs 1 or 2 ranks, not %d\n", program.name, b.size);
        mpi_bench_end(&b);
        return 2;
    }
    threads = b.options.threads;
    snprintf(note, sizeof note, "[ threads: %d ] [ window size: %d ]", threads, b.options.window);
    mpi_bench_header(&b, note, "Messages/s", "MB/s");
    struct worker *workers = start_workers(&b);
    take_core(&b, 0); /* after the others began, which inherit it */
    lead(&workers[0]);
    end_workers(workers);
    return mpi_bench_end(&b);
}
