// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=rxm,rxm-soft,net-soft seconds=60
// run: ranks=3 lanes=mixed,mixed-soft,rxm-small,rxm-push seconds=60
// run: ranks=4 lanes=nodes seconds=60
/*
 * Two threads a rank, each with three communicators, so that every VCI has its own traffic over the
 * net: messages of all protocols in one order, received by number, from any source, through probes
 * of all kinds; long data with holes; and sends that are cancelled after they have left. Rank 2 of
 * three has MPI_THREAD_SINGLE, and makes the same calls from one thread.
 */
#include "check.h"
#include "threads.h"

enum { THREADS = 2, COMMS = 3, ROUNDS = 6, MESSAGES = 12, LONGEST = 300000 };
enum { TAG_ORDER = 1, TAG_STRIDED = 20, TAG_CANCELLED = 30, TAG_ANSWER = 31 };

static MPI_Comm comms[THREADS][COMMS];

/* Of every protocol: injected, eager, and, with each eager limit that a lane sets, rendezvous. */
static int length_of(int thread, int number, int round)
{
    static const int lengths[] = {1, 2, 60, 4000, 20000, 80000, 3, LONGEST};
    return lengths[(thread + number * 3 + round) % 8];
}

static int word_of(int thread, int comm, int round, int rank, int number, int place)
{
    return ((((thread * COMMS + comm) * ROUNDS + round) * 8 + rank) * MESSAGES + number) * 4096 +
           place % 4096;
}

/* Receives the next message from any source in one of the ways there are. Returns its source. With
 * more than two ranks MPI_ANY_TAG could match a later step of a rank that is ahead. */
static int receive_next(int *data, int way, MPI_Comm comm, int *count)
{
    int tag = check.size == 2 ? MPI_ANY_TAG : TAG_ORDER;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int found = 0;
    switch (way % 4) {
    case 0:
        MPI_Recv(data, LONGEST, MPI_INT, MPI_ANY_SOURCE, TAG_ORDER, comm, &status);
        break;
    case 1:
        MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status);
        MPI_Get_count(&status, MPI_INT, count);
        MPI_Mrecv(data, *count, MPI_INT, &message, &status);
        break;
    case 2:
        while (!found)
            MPI_Iprobe(MPI_ANY_SOURCE, TAG_ORDER, comm, &found, &status);
        MPI_Get_count(&status, MPI_INT, count);
        MPI_Recv(data, *count, MPI_INT, status.MPI_SOURCE, TAG_ORDER, comm, &status);
        break;
    default:
        MPI_Irecv(data, LONGEST, MPI_INT, MPI_ANY_SOURCE, tag, comm, &request);
        while (!found)
            MPI_Test(&request, &found, &status);
    }
    MPI_Get_count(&status, MPI_INT, count);
    return status.MPI_SOURCE;
}

/* Messages of each rank to each other arrive in the order in which they were sent. */
static void order(int me, int c, int round)
{
    int *out[MESSAGES], *in = check_alloc(LONGEST * sizeof(int));
    MPI_Request requests[MESSAGES * 4];
    int n = 0, next[4] = {0}, count;
    for (int i = 0; i < MESSAGES; i++) {
        int length = length_of(me, i, round);
        out[i] = check_alloc((size_t)length * sizeof(int));
        for (int w = 0; w < length; w++)
            out[i][w] = word_of(me, c, round, check.rank, i, w);
        for (int to = 0; to < check.size; to++)
            if (to != check.rank)
                (i % 5 == 4 ? MPI_Issend : MPI_Isend)(out[i], length, MPI_INT, to, TAG_ORDER,
                                                      comms[me][c], &requests[n++]);
    }
    for (int i = 0; i < MESSAGES * (check.size - 1); i++) {
        int from = receive_next(in, i + me + round, comms[me][c], &count);
        int number = next[from]++, last = count - 1;
        CHECK(count == length_of(me, number, round),
              "thread %d, communicator %d, round %d: message %d of rank %d has %d words", me, c,
              round, number, from, count);
        CHECK(in[0] == word_of(me, c, round, from, number, 0) &&
                  in[last] == word_of(me, c, round, from, number, last),
              "thread %d, communicator %d, round %d: message %d of rank %d begins with %d, ends "
              "with %d",
              me, c, round, number, from, in[0], in[last]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        free(out[i]);
    free(in);
}

/* Every second word, of 1.6 MB: written to the receiver, or pushed in pieces. */
static void strided(int me, int c, int round)
{
    enum { WORDS = 200000 };
    static int out[THREADS][2 * WORDS], in[THREADS][2 * WORDS];
    MPI_Datatype type;
    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < WORDS; i++)
        out[me][2 * i] = word_of(me, c, round, check.rank, 0, i);
    memset(in[me], 0, sizeof in[me]);
    MPI_Sendrecv(out[me], 1, type, check_up(), TAG_STRIDED, in[me], 1, type, check_down(),
                 TAG_STRIDED, comms[me][c], MPI_STATUS_IGNORE);
    int wrong = 0;
    for (int i = 0; i < WORDS; i++)
        wrong +=
            in[me][2 * i] != word_of(me, c, round, check_down(), 0, i) || in[me][2 * i + 1] != 0;
    CHECK(!wrong, "thread %d, communicator %d, round %d: %d words of a strided message are wrong",
          me, c, round, wrong);
    MPI_Type_free(&type);
}

/* A send is cancelled, or its message arrives: the receiver learns which. */
static void cancelled(int me, int c, int round)
{
    static const int lengths[] = {1, 3000, 150000};
    static int out[THREADS][150000], in[THREADS][150000];
    int length = lengths[round % 3], mine = 0, other = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm comm = comms[me][c];
    out[me][length - 1] = round + 1;
    MPI_Isend(out[me], length, MPI_INT, check_up(), TAG_CANCELLED, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &mine);
    MPI_Sendrecv(&mine, 1, MPI_INT, check_up(), TAG_ANSWER, &other, 1, MPI_INT, check_down(),
                 TAG_ANSWER, comm, MPI_STATUS_IGNORE);
    if (!other) {
        MPI_Recv(in[me], length, MPI_INT, check_down(), TAG_CANCELLED, comm, MPI_STATUS_IGNORE);
        CHECK(in[me][length - 1] == round + 1, "thread %d, round %d: the last word is %d", me,
              round, in[me][length - 1]);
    }
    MPI_Iprobe(check_down(), TAG_CANCELLED, comm, &other, MPI_STATUS_IGNORE);
    CHECK(!other, "thread %d, round %d: a cancelled or received message is still there", me, round);
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int round = 0; round < ROUNDS; round++)
        for (int c = 0; c < COMMS; c++) {
            order(me, c, round);
            if ((round + c) % 3 == 0)
                strided(me, c, round);
            cancelled(me, c, round);
        }
    return NULL;
}

int main(int argc, char **argv)
{
    bool alone = check_setting("PMIX_RANK", 0) == 2;
    int provided;
    check_watch();
    MPI_Init_thread(&argc, &argv, alone ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    check_world(2);
    for (int c = 0; c < COMMS; c++)
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i][c]);
    check_step("%d threads", THREADS);
    threads_run(THREADS, alone, work);
    for (int c = 0; c < COMMS; c++)
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_free(&comms[i][c]);
    return check_done();
}
