// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,net-soft,shm,shm-copy,mixed seconds=60
// run: ranks=2 lanes=rxm,shm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Communicators whose processes have asserted that they use no MPI_ANY_TAG, or no MPI_ANY_SOURCE:
 * their messages are spread over VCIs by tag, or by the ranks. Four threads a rank use them at the
 * same time, each with several tags: windows, order, probes, exchanges whose two messages have two
 * VCIs, persistent, buffered, cancelled and freed requests, requests of several VCIs in one wait.
 * One thread then looks at what is left: wrong wildcards, hints, errors, an assertion that one rank
 * has not made, an inter-communicator, freed communicators. In the last rank of three the same
 * calls are made by one thread, with MPI_THREAD_SINGLE.
 */
#include "check.h"
#include "threads.h"

enum { THREADS = 4, ROUNDS = 12, WINDOW = 24, MANY = 300, LONGEST = 30000, TAGS = 8 };
enum { TAG_ORDER = 100, TAG_PROBE = 200, TAG_EXCHANGE = 300, TAG_PREPARED = 400, TAG_NEVER = 500 };
enum { COMMS = 2 };

static MPI_Comm comms[COMMS]; /* by tag, by ranks */
static bool spread;           /* there are several VCIs */
static const char *const asserted[COMMS] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source"};

static int value_of(int rank, int thread, int round, int i)
{
    return ((rank * THREADS + thread) * ROUNDS + round) * 8192 + i % 8192;
}

static void fill(int *data, int n, int me, int round)
{
    for (int i = 0; i < n; i++)
        data[i] = value_of(check.rank, me, round, i);
}

static void look(const int *data, int n, int from, int me, int round)
{
    for (int i = 0; i < n; i++)
        if (data[i] != value_of(from, me, round, i)) {
            CHECK(false, "thread %d, round %d: word %d of %d is %d instead of %d", me, round, i, n,
                  data[i], value_of(from, me, round, i));
            return;
        }
}

/* A window with a tag for each message; the tags of a thread are its own. */
static void window(MPI_Comm comm, int me, int round)
{
    static const int lengths[] = {2, 0, 9, 250, LONGEST};
    int n = lengths[round % 5], base = me * TAGS, left = 2 * WINDOW, done, indices[2 * WINDOW];
    int *out = check_alloc(((size_t)n + 1) * sizeof *out);
    int *in = check_alloc(WINDOW * ((size_t)n + 1) * sizeof *in);
    MPI_Request requests[2 * WINDOW];
    fill(out, n, me, round);
    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(in + i * n, n, MPI_INT, check_down(), base + i % TAGS, comm, &requests[i]);
    for (int i = WINDOW - 1; i >= 0; i--)
        MPI_Isend(out, n, MPI_INT, check_up(), base + i % TAGS, comm, &requests[WINDOW + i]);
    if (round % 3 == 0)
        MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; round % 3 == 1 && i < 2 * WINDOW; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (; round % 3 == 2 && left > 0; left -= done)
        MPI_Waitsome(2 * WINDOW, requests, &done, indices, MPI_STATUSES_IGNORE);
    for (int i = 0; i < WINDOW; i++)
        look(in + i * n, n, check_down(), me, round);
    free(out);
    free(in);
}

/* Messages with one tag keep their order, also against a receive from any source. */
static void order(MPI_Comm comm, bool any_source, int me, int round)
{
    int out[MANY], in;
    MPI_Request requests[MANY];
    MPI_Status status;
    fill(out, MANY, me, round);
    for (int i = 0; i < MANY; i++)
        MPI_Isend(&out[i], 1, MPI_INT, check_up(), TAG_ORDER + me, comm, &requests[i]);
    for (int i = 0; i < MANY; i++) {
        MPI_Recv(&in, 1, MPI_INT, any_source ? MPI_ANY_SOURCE : check_down(), TAG_ORDER + me, comm,
                 &status);
        CHECK(in == value_of(check_down(), me, round, i), "thread %d, round %d: message %d is %d",
              me, round, i, in);
        CHECK_STATUS(status, check_down(), TAG_ORDER + me, sizeof in);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
}

/* Probes of all kinds, and a synchronous send. */
static void probes(MPI_Comm comm, int me, int round)
{
    int out[3], in[3] = {0}, flag = 0;
    MPI_Request requests[3];
    MPI_Message message;
    MPI_Status status;
    fill(out, 3, me, round);
    for (int i = 0; i < 3; i++)
        MPI_Issend(&out[i], 1, MPI_INT, check_up(), TAG_PROBE + 3 * me + i, comm, &requests[i]);
    MPI_Probe(check_down(), TAG_PROBE + 3 * me, comm, &status);
    CHECK_STATUS(status, check_down(), TAG_PROBE + 3 * me, sizeof in[0]);
    MPI_Recv(&in[0], 1, MPI_INT, check_down(), TAG_PROBE + 3 * me, comm, MPI_STATUS_IGNORE);
    MPI_Mprobe(check_down(), TAG_PROBE + 3 * me + 1, comm, &message, &status);
    MPI_Mrecv(&in[1], 1, MPI_INT, &message, &status);
    CHECK_STATUS(status, check_down(), TAG_PROBE + 3 * me + 1, sizeof in[1]);
    while (!flag)
        MPI_Improbe(check_down(), TAG_PROBE + 3 * me + 2, comm, &flag, &message, &status);
    MPI_Request receive;
    MPI_Imrecv(&in[2], 1, MPI_INT, &message, &receive);
    MPI_Wait(&receive, &status);
    CHECK_STATUS(status, check_down(), TAG_PROBE + 3 * me + 2, sizeof in[2]);
    look(in, 3, check_down(), me, round);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

/* Exchanges that send with one tag and receive with another, around the ranks one way, then back.
 */
static void exchanges(MPI_Comm comm, int me, int round)
{
    int n = round % 4 ? 3 : LONGEST, sent = TAG_EXCHANGE + 2 * me, got = sent + 1, flag = 0;
    int *out = check_alloc((size_t)n * sizeof *out), *in = check_alloc((size_t)n * sizeof *in);
    int *back = check_alloc((size_t)n * sizeof *back);
    MPI_Request request, other, receive;
    MPI_Status status;
    fill(out, n, me, round);
    MPI_Irecv(back, n, MPI_INT, check_down(), sent, comm, &receive);
    MPI_Isend(out, n, MPI_INT, check_up(), got, comm, &other);
    MPI_Sendrecv(out, n, MPI_INT, check_up(), sent, in, n, MPI_INT, check_down(), got, comm,
                 &status);
    CHECK_STATUS(status, check_down(), got, n * sizeof *in);
    look(in, n, check_down(), me, round);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    look(back, n, check_down(), me, round);
    MPI_Wait(&other, MPI_STATUS_IGNORE);

    memcpy(in, out, (size_t)n * sizeof *in);
    MPI_Irecv(out, n, MPI_INT, check_up(), sent, comm, &other);
    MPI_Isendrecv_replace(in, n, MPI_INT, check_down(), sent, check_up(), got, comm, &request);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    look(out, n, check_up(), me, round);
    fill(out, n, me, round);
    MPI_Send(out, n, MPI_INT, check_down(), got, comm);
    if (round % 2)
        MPI_Wait(&request, &status);
    while (!flag && round % 2 == 0)
        MPI_Testall(1, &request, &flag, &status);
    CHECK(request == MPI_REQUEST_NULL, "the request of an exchange was left");
    CHECK_STATUS(status, check_up(), got, n * sizeof *in);
    look(in, n, check_up(), me, round);

    /* cancelled; freed; beside MPI_PROC_NULL */
    MPI_Irecv(out, n, MPI_INT, check_up(), sent, comm, &other);
    MPI_Isendrecv(in, n, MPI_INT, check_down(), sent, &flag, 1, MPI_INT, check_up(), TAG_NEVER + me,
                  comm, &request); /* nobody sends with this tag */
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag, "thread %d, round %d: the receive of an exchange was not cancelled", me, round);
    MPI_Irecv(out, n, MPI_INT, check_up(), got, comm, &other);
    MPI_Isendrecv(in, n, MPI_INT, check_down(), got, NULL, 0, MPI_INT, MPI_PROC_NULL, sent, comm,
                  &request);
    MPI_Wait(&request, &status);
    CHECK_STATUS(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    MPI_Isend(in, n, MPI_INT, check_down(), sent, comm, &other);
    MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, got, out, n, MPI_INT, check_up(), sent, comm,
                 &status);
    CHECK_STATUS(status, check_up(), sent, n * sizeof *in);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    free(back);
}

/* Persistent, buffered, ready and freed requests, and a receive that is cancelled. */
static void kinds(MPI_Comm comm, int me, int round)
{
    enum { N = 6 };
    static int freed[THREADS][ROUNDS][COMMS];
    int out[N], in[N] = {0}, never, index, cancelled = 0,
                *kept = &freed[me][round][comm == comms[1]];
    int base = TAG_PREPARED + 2 * N * me;
    MPI_Request requests[2 * N], hopeless, request;
    MPI_Status status;
    fill(out, N, me, round);
    for (int i = 0; i < N; i++) {
        int tag = base + i;
        MPI_Recv_init(&in[i], 1, MPI_INT, check_down(), tag, comm, &requests[i]);
        if (i % 3 == 1)
            MPI_Bsend_init(&out[i], 1, MPI_INT, check_up(), tag, comm, &requests[N + i]);
        else if (i % 3 == 2)
            MPI_Ssend_init(&out[i], 1, MPI_INT, check_up(), tag, comm, &requests[N + i]);
        else
            MPI_Send_init(&out[i], 1, MPI_INT, check_up(), tag, comm, &requests[N + i]);
    }
    for (int time = 0; time < 2; time++) {
        MPI_Startall(2 * N, requests);
        for (int i = 0; i < 2 * N; i++)
            MPI_Waitany(2 * N, requests, &index, MPI_STATUS_IGNORE);
        look(in, N, check_down(), me, round);
        memset(in, 0, sizeof in);
    }
    for (int i = 0; i < 2 * N; i++)
        MPI_Request_free(&requests[i]);
    for (int i = 0; i < 2; i++)
        MPI_Bsend(&out[i], 1, MPI_INT, check_up(), base + N + i, comm);
    MPI_Ibsend(&out[2], 1, MPI_INT, check_up(), base + N + 2, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 2; i >= 0; i--)
        MPI_Recv(&in[i], 1, MPI_INT, check_down(), base + N + i, comm, MPI_STATUS_IGNORE);
    look(in, 3, check_down(), me, round);
    *kept = out[0];
    MPI_Isend(kept, 1, MPI_INT, check_up(), base + N + 3, comm, &request);
    MPI_Request_free(&request);
    MPI_Recv(in, 1, MPI_INT, check_down(), base + N + 3, comm, MPI_STATUS_IGNORE);
    look(in, 1, check_down(), me, round);
    MPI_Irecv(&never, 1, MPI_INT, check_down(), TAG_NEVER + me, comm,
              &hopeless); /* nobody sends this */
    MPI_Cancel(&hopeless);
    MPI_Wait(&hopeless, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled, "thread %d, round %d: a receive of nothing was not cancelled", me, round);
    MPI_Issend(out, 1, MPI_INT, check_up(), TAG_NEVER + THREADS + me, comm,
               &hopeless); /* nor receives */
    MPI_Cancel(&hopeless);
    MPI_Wait(&hopeless, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled, "thread %d, round %d: a send to nobody was not cancelled", me, round);
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int round = 0; round < ROUNDS; round++)
        for (int c = 0; c < COMMS; c++) {
            window(comms[c], me, round);
            if (round % THREADS == me)
                order(comms[c], c == 0, me, round);
            probes(comms[c], me, round);
            exchanges(comms[c], me, round);
            kinds(comms[c], me, round);
        }
    return NULL;
}

static MPI_Comm dup_with(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Comm made;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Comm_dup_with_info(comm, info, &made);
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
}

/* A wildcard on a communicator whose messages it would have to search for on several VCIs. */
static void wildcards(void)
{
    int word = 0, flag;
    char text[MPI_MAX_ERROR_STRING] = "";
    MPI_Request request;
    check_step("wildcards in spite of an assertion");
    for (int c = 0; c < COMMS; c++) {
        int source = c ? MPI_ANY_SOURCE : check_down(), tag = c ? 3 : MPI_ANY_TAG;
        int class = c ? MPI_ERR_RANK : MPI_ERR_TAG;
        int code = MPI_Recv(&word, 1, MPI_INT, source, tag, comms[c], MPI_STATUS_IGNORE);
        CHECK_CLASS(code, class);
        MPI_Error_string(code, text, &flag);
        CHECK(strstr(text, asserted[c]), "the error of a wildcard is: %s", text);
        CHECK_CLASS(MPI_Irecv(&word, 1, MPI_INT, source, tag, comms[c], &request), class);
        CHECK_CLASS(MPI_Recv_init(&word, 1, MPI_INT, source, tag, comms[c], &request), class);
        CHECK_CLASS(MPI_Iprobe(source, tag, comms[c], &flag, MPI_STATUS_IGNORE), class);
        CHECK_CLASS(MPI_Probe(source, tag, comms[c], MPI_STATUS_IGNORE), class);
        CHECK_CLASS(MPI_Sendrecv(&word, 1, MPI_INT, check_up(), 3, &word, 1, MPI_INT, source, tag,
                                 comms[c], MPI_STATUS_IGNORE),
                    class);
        CHECK_CLASS(
            MPI_Recv(&word, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comms[c], MPI_STATUS_IGNORE),
            MPI_SUCCESS);
    }
}

static void hints(void)
{
    MPI_Info info;
    check_step("hints");
    for (int c = 0; c < COMMS; c++) {
        MPI_Info_create(&info);
        MPI_Info_set(info, asserted[c], "false");
        MPI_Info_set(info, "mpi_assert_exact_length", "true");
        MPI_Comm_set_info(comms[c], info);
        check_hint(comms[c], asserted[c], spread ? "true" : "false"); /* messages stay spread */
        check_hint(comms[c], "mpi_assert_exact_length", "true");
        MPI_Info_free(&info);
    }
}

/* Errors of requests of several VCIs, one of them of a communicator that was freed. */
static void errors(void)
{
    enum { N = 4 };
    int in[N], out[2] = {1, 2}, index;
    MPI_Request requests[N];
    MPI_Status statuses[N];
    MPI_Comm gone = dup_with(MPI_COMM_WORLD, asserted[0], "true");
    check_step("errors of requests of several VCIs");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < N; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, check_down(), i, i == 2 ? gone : comms[0], &requests[i]);
    CHECK_CLASS(MPI_Waitany(N, requests, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Testall(N, requests, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Testany(2, &requests[1], &index, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    for (int i = 0; i < N; i++)
        MPI_Send(out, i ? 2 : 1, MPI_INT, check_up(), i, i == 2 ? gone : comms[0]);
    MPI_Comm_free(&gone);
    CHECK_CLASS(MPI_Waitall(N, requests, statuses), MPI_ERR_IN_STATUS);
    for (int i = 1; i < N; i++)
        CHECK(check_class(statuses[i].MPI_ERROR) == MPI_ERR_TRUNCATE,
              "the error of message %d is %d", i, statuses[i].MPI_ERROR);
}

/* An assertion counts when all processes make it. */
static void disagreement(void)
{
    int word = -1;
    check_step("an assertion that rank 0 has not made");
    MPI_Comm comm = dup_with(MPI_COMM_WORLD, asserted[0], check.rank ? "true" : "false");
    check_hint(comm, asserted[0], check.rank ? "true" : "false");
    MPI_Request request;
    MPI_Isend(&check.rank, 1, MPI_INT, check_up(), 5, comm, &request);
    CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, check_down(), MPI_ANY_TAG, comm, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK(word == check_down(), "received %d", word);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

/* Messages between two groups, with several tags and to several ranks. */
static void between_groups(void)
{
    MPI_Comm half, inter, comm;
    int n, rank;
    if (check.size < 2)
        return;
    check_step("an inter-communicator");
    MPI_Comm_split(MPI_COMM_WORLD, check.rank == 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check.rank == 0, 9, &inter);
    MPI_Comm_remote_size(inter, &n);
    MPI_Comm_rank(inter, &rank);
    for (int c = 0; c < COMMS; c++) {
        comm = dup_with(inter, asserted[c], "true");
        for (int tag = 0; tag < TAGS; tag++)
            for (int i = 0; i < n; i++) {
                int out = value_of(check.rank, 0, 0, 100 * i + tag), in = -1;
                int world = check.rank == 0 ? i + 1 : 0;
                MPI_Sendrecv(&out, 1, MPI_INT, i, tag, &in, 1, MPI_INT, i, tag, comm,
                             MPI_STATUS_IGNORE);
                CHECK(in == value_of(world, 0, 0, 100 * rank + tag), "tag %d: received %d", tag,
                      in);
            }
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* More communicators, some by MPI_Comm_idup_with_info; collectives on them, messages after them. */
static void many(void)
{
    MPI_Info info;
    check_step("many communicators");
    MPI_Info_create(&info);
    MPI_Info_set(info, asserted[0], "true");
    MPI_Info_set(info, asserted[1], "true");
    for (int i = 0; i < 150; i++) {
        int sum = 0, in = -1;
        MPI_Comm comm;
        MPI_Request requests[2];
        MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Irecv(&in, 1, MPI_INT, check_down(), i, comm, &requests[0]);
        MPI_Isend(&i, 1, MPI_INT, check_up(), i, comm, &requests[1]);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Comm_free(&comm); /* with active requests */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(sum == i * check.size && in == i, "communicator %d: sum %d, message %d", i, sum, in);
    }
    MPI_Info_free(&info);
}

/* A communicator of a session has its assertions from the begin, too. */
static void from_group(void)
{
    int word = 0;
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    MPI_Comm comm;
    check_step("a communicator of a session");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Info_create(&info);
    MPI_Info_set(info, asserted[0], "true");
    MPI_Comm_create_from_group(group, "threads_spread", info, MPI_ERRORS_RETURN, &comm);
    if (spread)
        CHECK_CLASS(MPI_Recv(&word, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE),
                    MPI_ERR_TAG);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

static bool has_several_vcis(void)
{
    static const char *const without[] = {"psm2", "psm3", "opx", "efa"};
    const char *provider = getenv("WEFT_PROVIDER");
    for (size_t i = 0; provider && i < sizeof without / sizeof *without; i++)
        if (strcmp(provider, without[i]) == 0)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    bool alone = check_setting("PMIX_RANK", 0) == 2;
    int provided;
    check_watch();
    MPI_Init_thread(&argc, &argv, alone ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    check_world(1);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    spread = has_several_vcis();
    for (int c = 0; c < COMMS; c++)
        comms[c] = dup_with(MPI_COMM_WORLD, asserted[c], "true");
    if (spread)
        wildcards();
    hints();
    errors();
    disagreement();
    between_groups();
    from_group();
    many();
    check_step("%d threads", THREADS);
    threads_run(THREADS, alone, work);
    for (int c = 0; c < COMMS; c++)
        MPI_Comm_free(&comms[c]);
    return check_done();
}
