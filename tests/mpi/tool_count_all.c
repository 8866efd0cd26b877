// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,rxm-push,net-soft,shm,shm-copy seconds=40
// run: ranks=4 lanes=mixed seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * MPI_T with WEFT_COUNTERS=all, set as a control variable: bytes and receives, by rank and by lane,
 * are exactly those of a schedule whose sums are known, whatever the call and the protocol; polls
 * and time waited move.
 */
#include "tool.h"

enum { ROUNDS = 12, TAG = 3, LONGEST = 1 << 20, RANKS = 8 };

static MPI_T_pvar_session session;
static count_t out[RANKS], in_messages[RANKS], in_bytes[RANKS]; /* what is expected */
static char *data;

static int size_of(int round)
{
    static const int sizes[] = {0, 1, 8, 32, 33, 200, 256, 3000, 9000, 70000, 300000, LONGEST};
    return sizes[round % ROUNDS];
}

static void note(int to, int from, int bytes)
{
    out[to] += (count_t)bytes;
    in_bytes[from] += (count_t)bytes;
    in_messages[from]++;
}

/* Every rank to the next one, the same by one kind of call after the other. */
static void ring(int round)
{
    int to = (check.rank + 1) % check.size, from = (check.rank + check.size - 1) % check.size;
    int n = size_of(round);
    char *in = data + LONGEST;
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Status status;

    MPI_Irecv(in, n, MPI_CHAR, from, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, n, MPI_CHAR, to, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    note(to, from, n);

    MPI_Irecv(in, LONGEST, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend(data, n, MPI_CHAR, to, TAG, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    note(to, from, n);

    MPI_Sendrecv(data, n, MPI_CHAR, to, TAG, in, n, MPI_CHAR, from, TAG, MPI_COMM_WORLD, &status);
    note(to, from, n);

    MPI_Isend(data, n, MPI_CHAR, to, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Mprobe(from, TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in, n, MPI_CHAR, &message, &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    note(to, from, n);

    MPI_Recv_init(in, n, MPI_CHAR, from, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(data, n, MPI_CHAR, to, TAG, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        note(to, from, n);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    /* A request that its user gives up is counted too. */
    MPI_Irecv(in, n, MPI_CHAR, from, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, n, MPI_CHAR, to, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Request_free(&requests[0]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    note(to, from, n);

    /* A receive that is cancelled is not. */
    MPI_Irecv(in, n, MPI_CHAR, from, TAG + 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/* The next rank's messages lie here until the last has come: those kept are counted for their rank,
 * where it is this library that keeps them. Collectives may leave some too, so only sums are equal.
 */
static void unexpected(int to, int from)
{
    enum { LATE = 20, LAST = 1000 };
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle kept = tool_pvar(session, "weft_unexpected_messages", NULL);
    MPI_T_pvar_handle by_rank = tool_pvar(session, "weft_rank_unexpected_messages", &world);
    MPI_T_pvar_handle limit = tool_pvar(session, "weft_net_eager_limit", NULL);
    MPI_Request requests[LATE + 1];
    count_t got[RANKS] = {0}, all = 0;
    char byte = 1;
    MPI_Barrier(MPI_COMM_WORLD); /* nobody counts too late */
    for (int i = 0; i <= LATE; i++)
        MPI_Isend(&byte, 1, MPI_CHAR, to, i < LATE ? TAG : LAST, MPI_COMM_WORLD, &requests[i]);
    MPI_Recv(&byte, 1, MPI_CHAR, from, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < LATE; i++)
        MPI_Recv(&byte, 1, MPI_CHAR, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(LATE + 1, requests, MPI_STATUSES_IGNORE);
    CHECK_CODE(MPI_T_pvar_read(session, by_rank, got), MPI_SUCCESS);
    for (int i = 0; i < check.size; i++)
        all += got[i];
    CHECK(all == tool_read(session, kept), "%llu kept of all ranks, %llu in all", all,
          tool_read(session, kept));
    /* Without a network nobody else can keep them. */
    CHECK(tool_read(session, limit) || got[from] >= LATE, "%llu of rank %d were kept", got[from],
          from);
}

static void expect(MPI_T_pvar_handle handle, const count_t *expected, const char *what)
{
    count_t got[RANKS] = {0};
    CHECK_CODE(MPI_T_pvar_read(session, handle, got), MPI_SUCCESS);
    for (int i = 0; i < check.size; i++)
        CHECK(got[i] == expected[i], "%s of rank %d: %llu, expected %llu", what, i, got[i],
              expected[i]);
}

static count_t sum_of(const char *const names[3], MPI_T_pvar_handle handles[3])
{
    count_t all = 0;
    (void)names;
    for (int i = 0; i < 3; i++)
        all += tool_read(session, handles[i]);
    return all;
}

/* Until the receives whose requests were freed have ended: a long one may end after the message
 * that follows it. */
static void await_freed(MPI_T_pvar_handle messages)
{
    count_t got[RANKS];
    bool all = false;
    check_step("waiting for receives whose requests were freed");
    while (!all) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG + 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_T_pvar_read(session, messages, got);
        all = true;
        for (int i = 0; i < check.size; i++)
            all &= got[i] >= in_messages[i];
    }
}

/* Rank 0 lets the others wait. Whether at least half of the time counts as waited: it may be
 * another process that has the core. */
static bool waits_for_rank_0(MPI_T_pvar_handle waited)
{
    double begun, end, waiting = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CODE(MPI_T_pvar_reset(session, waited), MPI_SUCCESS);
    begun = end = MPI_Wtime();
    while (check.rank == 0 && (end = MPI_Wtime()) - begun < 0.05)
        ;
    MPI_Bcast(data, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    end = MPI_Wtime();
    CHECK_CODE(MPI_T_pvar_read(session, waited, &waiting), MPI_SUCCESS);
    CHECK(waiting <= end - begun + 0.001, "waited for %g of %g seconds", waiting, end - begun);
    return check.rank == 0 || waiting > 0.5 * (end - begun);
}

int main(int argc, char **argv)
{
    static const char *const sent[] = {"weft_net_bytes_sent", "weft_shm_bytes_sent",
                                       "weft_self_bytes_sent"};
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle by_lane[3];
    count_t all = 0;
    double waiting = -1;
    check_watch();
    tool_begin();
    CHECK_CODE(tool_set_choice("WEFT_COUNTERS", 1), MPI_SUCCESS);
    MPI_Init(&argc, &argv);
    check_world(1);
    data = check_alloc(2 * LONGEST);
    memset(data, 1, 2 * LONGEST);
    MPI_T_pvar_session_create(&session);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_pvar_handle bytes_out = tool_pvar(session, "weft_rank_bytes_sent", &world);
    MPI_T_pvar_handle messages = tool_pvar(session, "weft_rank_messages_received", &world);
    MPI_T_pvar_handle bytes_in = tool_pvar(session, "weft_rank_bytes_received", &world);
    MPI_T_pvar_handle polls = tool_pvar(session, "weft_polls", NULL);
    MPI_T_pvar_handle news = tool_pvar(session, "weft_polls_with_events", NULL);
    MPI_T_pvar_handle waited = tool_pvar(session, "weft_time_waiting", NULL);
    for (int i = 0; i < 3; i++)
        by_lane[i] = tool_pvar(session, sent[i], NULL);
    for (int i = 0; i < ROUNDS; i++)
        ring(i);
    await_freed(messages);
    expect(bytes_out, out, "bytes sent");
    expect(messages, in_messages, "messages received");
    expect(bytes_in, in_bytes, "bytes received");
    for (int i = 0; i < check.size; i++)
        all += out[i];
    CHECK(sum_of(sent, by_lane) == all, "%llu bytes on all lanes, expected %llu",
          sum_of(sent, by_lane), all);
    CHECK(tool_read(session, news) <= tool_read(session, polls), "more news than polls");
    CHECK_CODE(MPI_T_pvar_read(session, waited, &waiting), MPI_SUCCESS);
    CHECK(waiting >= 0 && waiting < 1000, "waited for %g seconds", waiting);
    if (check.size > 1) {
        CHECK(tool_read(session, news) > 0, "no poll brought anything");
        int all = 0;
        for (int i = 0; !all && i < 40; i++) {
            int mine = waits_for_rank_0(waited);
            MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        }
        CHECK(all, "time in a wait does not count");
    }
    unexpected((check.rank + 1) % check.size, (check.rank + check.size - 1) % check.size);
    CHECK_CODE(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    free(data);
    int code = check_done();
    CHECK_CODE(MPI_T_finalize(), MPI_SUCCESS);
    return code || check.failures;
}
