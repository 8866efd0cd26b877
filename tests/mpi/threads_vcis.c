// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,net-soft,shm,shm-coll,shm-copy,mixed seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Threads that send at the same time (MPI_THREAD_MULTIPLE), each of four a rank on a communicator
 * of its own, and so on a VCI of its own, and all of them on a shared one, with what must not
 * disturb that: messages of all lengths, more of them than rings have room for, receives from any
 * source, probes, cancelled receives, freed requests, persistent, partitioned and buffered
 * communication, requests of several VCIs in one wait or test, communicators that come and go, and,
 * in odd rounds, collectives of all forms, one of them refused by a rank. Every word says who sent
 * it, when, and where it belongs. In the last rank of three the same calls are made by one thread,
 * with MPI_THREAD_SINGLE (THREADS_ALL_MULTIPLE=1: in all by threads).
 */
#include "check.h"
#include "threads.h"

enum { THREADS = 4, ROUNDS = 17, WINDOW = 24, MANY = 600, LONGEST = 6000 };
enum { TAG_WINDOW = 10, TAG_ANY = 50, TAG_MANY = 60, TAG_NEVER = 70, TAG_PARTS = 80 };
enum { TAG_SHARED = 100, TAG_PREPARED = 200, TAG_BACKGROUND = 300 };

static MPI_Comm own[THREADS], shared;

static int value_of(int thread, int round, int rank, int place)
{
    return ((thread * ROUNDS + round) * 16 + rank) * 65536 + place;
}

static void fill(int *data, int n, int me, int round, int first)
{
    for (int i = 0; i < n; i++)
        data[i] = value_of(me, round, check.rank, first + i);
}

static void look(const int *data, int n, int me, int round, int from, int first)
{
    for (int i = 0; i < n; i++)
        if (data[i] != value_of(me, round, from, first + i)) {
            CHECK(false, "thread %d, round %d: word %d of %d is %d instead of %d", me, round, i, n,
                  data[i], value_of(me, round, from, first + i));
            return;
        }
}

/* Completes requests in one of the ways there are. */
static void complete(int n, MPI_Request *requests, int way)
{
    int done = 0, index, indices[2 * WINDOW];
    switch (way % 5) {
    case 0:
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        return;
    case 1:
        for (int i = n - 1; i >= 0; i--)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        return;
    case 2:
        for (int i = 0; i < n; i++)
            for (done = 0; !done;)
                MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
        return;
    case 3:
        for (int i = 0; i < n; i++)
            MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE);
        return;
    default:
        for (int left = n; left > 0; left -= done)
            MPI_Waitsome(n, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
}

/* A window of messages around the ranks, of a length that changes from round to round. */
static void window(MPI_Comm comm, int tag, int me, int round)
{
    static const int lengths[] = {2, 0, 8, 9, 250, 1, 800, LONGEST};
    int n = lengths[round % 8];
    int *out = check_alloc(WINDOW * (size_t)(n + 1) * sizeof *out);
    int *in = check_alloc(WINDOW * (size_t)(n + 1) * sizeof *in);
    MPI_Request requests[2 * WINDOW];
    fill(out, WINDOW * n, me, round, 0);
    for (int i = 0; i < WINDOW; i++)
        if (i % 2 == 0)
            MPI_Irecv(in + i * n, n, MPI_INT, check_down(), tag + i % 3, comm, &requests[i]);
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(out + i * n, n, MPI_INT, check_up(), tag + i % 3, comm, &requests[WINDOW + i]);
    for (int i = 0; i < WINDOW; i++)
        if (i % 2)
            MPI_Irecv(in + i * n, n, MPI_INT, check_down(), tag + i % 3, comm, &requests[i]);
    complete(2 * WINDOW, requests, me + round);
    int at[WINDOW], posted[3][WINDOW], sent[3][WINDOW], np[3] = {0}, ns[3] = {0};
    for (int i = 0; i < WINDOW; i += 2) /* the order of posting */
        posted[i % 3][np[i % 3]++] = i;
    for (int i = 1; i < WINDOW; i += 2)
        posted[i % 3][np[i % 3]++] = i;
    for (int i = 0; i < WINDOW; i++)
        sent[i % 3][ns[i % 3]++] = i;
    for (int kind = 0; kind < 3; kind++)
        for (int i = 0; i < np[kind]; i++)
            at[posted[kind][i]] = sent[kind][i];
    for (int i = 0; i < WINDOW; i++)
        look(in + i * n, n, me, round, check_down(), at[i] * n);
    free(out);
    free(in);
}

/* More messages than a ring has room for, none of them awaited; received one by one, blocking. */
static void flood(int me, int round)
{
    int *out = check_alloc(MANY * sizeof *out), in;
    MPI_Request *requests = check_host(MANY * sizeof(MPI_Request));
    MPI_Status status;
    fill(out, MANY, me, round, 0);
    for (int i = 0; i < MANY; i++)
        MPI_Isend(&out[i], 1, MPI_INT, check_up(), TAG_MANY, own[me], &requests[i]);
    for (int i = 0; i < MANY; i++) {
        MPI_Recv(&in, 1, MPI_INT, check_down(), TAG_MANY, own[me], &status);
        look(&in, 1, me, round, check_down(), i);
        CHECK(status.MPI_SOURCE == check_down() && status.MPI_TAG == TAG_MANY,
              "the status says source %d, tag %d", status.MPI_SOURCE, status.MPI_TAG);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(out);
}

/* Receives of both kinds from one source, a send whose request is freed, a probed synchronous one,
 * and a receive that is cancelled. */
static void wild(int me, int round)
{
    static int kept[THREADS][ROUNDS]; /* a freed send's data stay where they are */
    int *out = &kept[me][round], other, last, in[3], never = 0, cancelled = 0, found = 0;
    MPI_Request requests[2], hopeless, freed, sync;
    MPI_Message message;
    MPI_Status status;
    *out = value_of(me, round, check.rank, 0);
    other = value_of(me, round, check.rank, 1);
    last = value_of(me, round, check.rank, 2);
    MPI_Irecv(&never, 1, MPI_INT, check_down(), TAG_NEVER, own[me], &hopeless);
    MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, round % 2 ? TAG_ANY : MPI_ANY_TAG, own[me],
              &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, check_down(), TAG_ANY, own[me], &requests[1]);
    MPI_Isend(out, 1, MPI_INT, check_up(), TAG_ANY, own[me], &freed);
    MPI_Request_free(&freed);
    MPI_Send(&other, 1, MPI_INT, check_up(), TAG_ANY, own[me]);
    MPI_Issend(&last, 1, MPI_INT, check_up(), TAG_ANY + 1, own[me], &sync);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (round % 2) {
        MPI_Mprobe(check_down(), MPI_ANY_TAG, own[me], &message, &status);
        MPI_Mrecv(&in[2], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    } else {
        while (!found)
            MPI_Iprobe(MPI_ANY_SOURCE, TAG_ANY + 1, own[me], &found, &status);
        MPI_Recv(&in[2], 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, own[me], MPI_STATUS_IGNORE);
    }
    CHECK(status.MPI_SOURCE == check_down() && status.MPI_TAG == TAG_ANY + 1,
          "thread %d, round %d: the probe says source %d, tag %d", me, round, status.MPI_SOURCE,
          status.MPI_TAG);
    look(in, 3, me, round, check_down(), 0);
    MPI_Wait(&sync, MPI_STATUS_IGNORE);
    MPI_Cancel(&hopeless);
    MPI_Wait(&hopeless, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled, "thread %d, round %d: a receive of nothing was not cancelled", me, round);
}

/* Requests of several communicators in one call, and some that are null. */
static void mixed(int me, int round)
{
    enum { N = 6 };
    const MPI_Comm comms[] = {own[me], shared, MPI_COMM_WORLD};
    int out[3], in[3];
    MPI_Request requests[N + 1];
    fill(out, 3, me, round, 0);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, check_down(), TAG_SHARED + me, comms[i], &requests[2 * i]);
        MPI_Isend(&out[i], 1, MPI_INT, check_up(), TAG_SHARED + me, comms[i], &requests[2 * i + 1]);
    }
    requests[N] = MPI_REQUEST_NULL;
    if (round % 2)
        MPI_Waitall(N + 1, requests, MPI_STATUSES_IGNORE);
    else
        complete(N, requests, 3 + round / 2 % 2);
    look(in, 3, me, round, check_down(), 0);
}

/* Persistent requests of both communicators, started and completed together, twice. */
static void persistent(int me, int round)
{
    enum { N = 4 };
    const MPI_Comm comms[] = {own[me], shared};
    int out[2], in[2], done = 0, count, indices[N];
    MPI_Request requests[N];
    for (int i = 0; i < 2; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, check_down(), TAG_PREPARED + me, comms[i],
                      &requests[2 * i]);
        MPI_Send_init(&out[i], 1, MPI_INT, check_up(), TAG_PREPARED + me, comms[i],
                      &requests[2 * i + 1]);
    }
    for (int time = 0; time < 2; time++) {
        fill(out, 2, me, round, time);
        MPI_Startall(N, requests);
        if (time == 0)
            MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
        for (int left = time ? N : 0; left > 0; left -= count)
            MPI_Testsome(N, requests, &count, indices, MPI_STATUSES_IGNORE);
        look(in, 2, me, round, check_down(), time);
    }
    for (int i = 0; i < N; i++)
        MPI_Request_free(&requests[i]);
    fill(out, 1, me, round, 0);
    MPI_Isendrecv(out, 1, MPI_INT, check_up(), TAG_PREPARED + me, in, 1, MPI_INT, check_down(),
                  TAG_PREPARED + me, own[me], &requests[0]);
    while (!done)
        MPI_Testall(1, requests, &done, MPI_STATUSES_IGNORE);
    look(in, 1, me, round, check_down(), 0);
}

/* What ends in objects that belong to no VCI: partitions, and buffered sends. */
static void deferred(int me, int round)
{
    enum { PARTS = 3, EACH = 400 };
    static int out[THREADS][PARTS * EACH], in[THREADS][PARTS * EACH];
    MPI_Request requests[2];
    int one = value_of(me, round, check.rank, 7), other = 0;
    fill(out[me], PARTS * EACH, me, round, 0);
    MPI_Psend_init(out[me], PARTS, EACH, MPI_INT, check_up(), TAG_PARTS, own[me], MPI_INFO_NULL,
                   &requests[0]);
    MPI_Precv_init(in[me], PARTS, EACH, MPI_INT, check_down(), TAG_PARTS, own[me], MPI_INFO_NULL,
                   &requests[1]);
    MPI_Startall(2, requests);
    for (int i = PARTS - 1; i >= 0; i--)
        MPI_Pready(i, requests[0]);
    MPI_Bsend(&one, 1, MPI_INT, check_up(), TAG_PARTS, own[me]);
    MPI_Recv(&other, 1, MPI_INT, check_down(), TAG_PARTS, own[me], MPI_STATUS_IGNORE);
    look(&other, 1, me, round, check_down(), 7);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    look(in[me], PARTS * EACH, me, round, check_down(), 0);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Nonblocking and persistent collectives, completed together with a message of another
 * communicator; their type and their operation are freed while they are active. */
static void background(int me, int round)
{
    enum { MOST = 16, N = 5, PERSISTENT = 2 };
    static int all[THREADS][MOST][2], from[THREADS], sum[THREADS];
    int mine = value_of(me, round, check.rank, 5), word = mine, in = 0;
    MPI_Request requests[N];
    MPI_Datatype second;
    MPI_Op op;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second);
    MPI_Type_commit(&second);
    MPI_Op_create(add, 1, &op);
    MPI_Bcast_init(&from[me], 1, MPI_INT, 0, own[me], MPI_INFO_NULL, &requests[PERSISTENT]);
    for (int time = 0; time < 2; time++) {
        from[me] = check.rank ? 0 : value_of(me, round, 0, 6 + time);
        MPI_Iallgather(&mine, 1, MPI_INT, all[me], 1, second, own[me], &requests[0]);
        MPI_Iallreduce(&me, &sum[me], 1, MPI_INT, op, own[me], &requests[1]);
        if (time) {
            MPI_Type_free(&second);
            MPI_Op_free(&op);
        }
        MPI_Start(&requests[PERSISTENT]);
        MPI_Irecv(&in, 1, MPI_INT, check_down(), TAG_BACKGROUND + me, shared, &requests[3]);
        MPI_Isend(&word, 1, MPI_INT, check_up(), TAG_BACKGROUND + me, shared, &requests[4]);
        complete(N, requests, round / 2 + time);
        for (int i = 0; i < check.size; i++)
            look(all[me][i], 1, me, round, i, 5);
        look(&in, 1, me, round, check_down(), 5);
        look(&from[me], 1, me, round, 0, 6 + time);
        CHECK(sum[me] == me * check.size, "thread %d, round %d: the sum is %d", me, round, sum[me]);
    }
    MPI_Request_free(&requests[PERSISTENT]);
}

/* Collectives of all threads at the same time, blocking and not. */
static void collectives(int me, int round)
{
    enum { MOST = 16 };
    int mine = value_of(me, round, check.rank, 0), all[MOST][2], pair[2], sum = 0, isum = 0, n;
    int root = round % check.size;
    MPI_Request requests[2];
    MPI_Datatype second;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second);
    MPI_Type_commit(&second);
    MPI_Iallreduce(&me, &isum, 1, MPI_INT, MPI_SUM, own[me], &requests[0]);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, second, own[me]);
    MPI_Type_free(&second);
    for (int i = 0; i < check.size; i++)
        look(all[i], 1, me, round, i, 0);
    MPI_Ibarrier(own[me], &requests[1]);
    fill(pair, 2, me, round, 3);
    MPI_Bcast(pair, 2, MPI_INT, root, own[me]);
    look(pair, 2, me, round, root, 3);
    complete(2, requests, round);
    CHECK(isum == me * check.size, "thread %d, round %d: the sum is %d", me, round, isum);
    MPI_Barrier(own[me]);
    n = round == 3 && check.rank == 0 && check.size > 1 ? -1 : 1;
    int code = MPI_Allreduce(&(int){1}, &sum, n, MPI_INT, MPI_SUM, own[me]);
    MPI_Error_class(code, &code);
    if (round == 3 && check.size > 1)
        CHECK(code == MPI_ERR_COUNT, "thread %d: a refused collective returned class %d", me, code);
    else
        CHECK(sum == check.size, "thread %d, round %d: %d ranks", me, round, sum);
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int round = 0; round < ROUNDS; round++) {
        window(own[me], TAG_WINDOW, me, round);
        window(shared, TAG_SHARED + THREADS + 3 * me, me, round);
        mixed(me, round);
        persistent(me, round);
        if (round % 3 == 0)
            deferred(me, round);
        if (round % 4 == me)
            flood(me, round);
        if (me != 1)
            wild(me, round);
        if (round % 2) {
            collectives(me, round);
            background(me, round);
        }
        if (me == THREADS - 1) {
            MPI_Comm made;
            MPI_Comm_dup(own[me], &made);
            window(made, TAG_WINDOW, me, round);
            MPI_Comm_free(&made);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    bool alone = check_setting("PMIX_RANK", 0) == 2 && !check_setting("THREADS_ALL_MULTIPLE", 0);
    int provided;
    check_watch();
    MPI_Init_thread(&argc, &argv, alone ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    check_world(1);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_set_errhandler(own[i], MPI_ERRORS_RETURN);
    check_step("%d threads", THREADS);
    threads_run(THREADS, alone, work);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&own[i]);
    MPI_Comm_free(&shared);
    return check_done();
}
