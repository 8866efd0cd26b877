// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * MPI_T: performance variables. Each counts what it says: messages by lane and by rank, rendezvous,
 * what waits unmatched, high watermarks; sessions do not disturb one another; a variable that is
 * not started does not move; what cannot be done is refused with the code that says why.
 */
#include "tool.h"

enum { MESSAGES = 700, LONG = 3 << 20, LATE = 20, TAG = 5 };

static MPI_T_pvar_session session;

static void describe_all(void)
{
    int num = 0;
    CHECK_CODE(MPI_T_pvar_get_num(&num), MPI_SUCCESS);
    CHECK(num > 30, "%d performance variables", num);
    for (int i = 0; i < num; i++) {
        char name[64], desc[512];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, class, bind, readonly;
        int continuous, atomic, index = -1;
        MPI_Datatype type;
        MPI_T_enum enumtype;
        CHECK_CODE(MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &enumtype,
                                       desc, &desc_len, &bind, &readonly, &continuous, &atomic),
                   MPI_SUCCESS);
        CHECK(desc_len > 5 && strncmp(name, "weft_", 5) == 0, "%s: %s", name, desc);
        CHECK_CODE(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
        CHECK(index == i, "%s has indices %d and %d", name, i, index);
        CHECK((class == MPI_T_PVAR_CLASS_STATE) == (type == MPI_INT) &&
                  (type == MPI_INT) == (enumtype != MPI_T_ENUM_NULL),
              "%s: class, type and enumeration do not fit", name);
        CHECK(continuous || !readonly, "%s can be started, but not reset", name);
    }
}

/* Whether the other rank of the pair is reached through shared memory. */
static bool shared(void)
{
    return tool_read(session, tool_pvar(session, "weft_net_eager_limit", NULL)) == 0;
}

/* Sends and receives so that nothing is left over: rank 0 to rank 1. */
static void messages(void)
{
    char byte = 0;
    if (check.rank == 0)
        for (int i = 0; i < MESSAGES; i++)
            MPI_Send(&byte, 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
    if (check.rank == 1)
        for (int i = 0; i < MESSAGES; i++)
            MPI_Recv(&byte, 1, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void count_messages(void)
{
    count_t by_rank[8] = {0};
    MPI_Comm world = MPI_COMM_WORLD;
    const char *lane = shared() ? "weft_shm_messages_sent" : "weft_net_messages_sent";
    MPI_T_pvar_handle sent = tool_pvar(session, lane, NULL);
    MPI_T_pvar_handle stopped = tool_pvar(session, lane, NULL);
    MPI_T_pvar_handle ranks = tool_pvar(session, "weft_rank_messages_sent", &world);
    MPI_T_pvar_session other;
    MPI_T_pvar_session_create(&other);
    MPI_T_pvar_handle elsewhere = tool_pvar(other, lane, NULL);
    CHECK_CODE(MPI_T_pvar_stop(session, stopped), MPI_SUCCESS);
    CHECK(tool_read(session, sent) == 0, "a counter does not begin at 0");
    messages();
    count_t expected = check.rank == 0 ? MESSAGES : 0;
    CHECK(tool_read(session, sent) == expected, "%llu messages were sent, not %llu",
          tool_read(session, sent), expected);
    CHECK(tool_read(session, stopped) == 0, "a stopped variable has moved");
    CHECK_CODE(MPI_T_pvar_read(session, ranks, by_rank), MPI_SUCCESS);
    for (int i = 0; i < check.size; i++)
        CHECK(by_rank[i] == (i == 1 ? expected : 0), "%llu messages were sent to rank %d",
              by_rank[i], i);

    count_t value = 0, half = 7;
    CHECK_CODE(MPI_T_pvar_readreset(session, sent, &value), MPI_SUCCESS);
    CHECK(value == expected && tool_read(session, sent) == 0, "readreset gave %llu", value);
    CHECK(tool_read(other, elsewhere) == expected, "one session's reset was seen by another");
    CHECK_CODE(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_write(session, sent, &half), MPI_SUCCESS);
    messages();
    CHECK(tool_read(session, sent) == expected + 7, "%llu after a write", tool_read(session, sent));
    CHECK(tool_read(session, stopped) == expected, "a started variable has not moved");
    CHECK_CODE(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK(tool_read(session, sent) == 0 && tool_read(session, stopped) == 0, "reset did nothing");
    CHECK_CODE(MPI_T_pvar_handle_free(other, &elsewhere), MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_session_free(&other), MPI_SUCCESS);
}

static void count_rendezvous(void)
{
    bool shm = shared();
    char *data = check_alloc(LONG);
    memset(data, 1, LONG);
    MPI_T_pvar_handle sent =
        tool_pvar(session, shm ? "weft_shm_rendezvous_sent" : "weft_net_rendezvous_sent", NULL);
    MPI_T_pvar_handle bytes = tool_pvar(
        session, shm ? "weft_shm_rendezvous_bytes_sent" : "weft_net_rendezvous_bytes_sent", NULL);
    MPI_T_pvar_handle flying = tool_pvar(session, "weft_net_rendezvous_in_flight", NULL);
    MPI_Request request;
    if (check.rank == 0) {
        MPI_Isend(data, LONG, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request);
        CHECK(shm || tool_read(session, flying) == 1, "%llu rendezvous in flight",
              tool_read(session, flying));
        MPI_Send(data, 0, MPI_CHAR, 1, TAG + 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (check.rank == 1) {
        MPI_Recv(data, 0, MPI_CHAR, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, LONG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    count_t expected = check.rank == 0;
    CHECK(tool_read(session, sent) == expected, "%llu rendezvous", tool_read(session, sent));
    CHECK(tool_read(session, bytes) == expected * LONG, "%llu bytes", tool_read(session, bytes));
    CHECK(tool_read(session, flying) == 0, "%llu still in flight", tool_read(session, flying));
    free(data);
}

static void count_own(void)
{
    char byte = 1;
    MPI_T_pvar_handle kept = tool_pvar(session, "weft_unexpected_messages", NULL);
    MPI_T_pvar_handle queue = tool_pvar(session, "weft_unexpected_queue", NULL);
    MPI_T_pvar_handle high = tool_pvar(session, "weft_unexpected_queue_high", NULL);
    MPI_T_pvar_handle second = tool_pvar(session, "weft_unexpected_queue_high", NULL);
    MPI_T_pvar_handle memory = tool_pvar(session, "weft_unexpected_bytes", NULL);
    MPI_T_pvar_handle self = tool_pvar(session, "weft_self_messages_sent", NULL);
    count_t before = tool_read(session, queue), bytes_before = tool_read(session, memory);
    for (int i = 0; i < LATE; i++)
        MPI_Send(&byte, 1, MPI_CHAR, 0, TAG, MPI_COMM_SELF);
    CHECK(tool_read(session, queue) == before + LATE, "%llu in the queue",
          tool_read(session, queue));
    CHECK(tool_read(session, memory) == bytes_before + LATE, "%llu bytes are kept",
          tool_read(session, memory));
    for (int i = 0; i < LATE; i++)
        MPI_Recv(&byte, 1, MPI_CHAR, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(tool_read(session, kept) == LATE, "%llu messages were kept", tool_read(session, kept));
    CHECK(tool_read(session, self) == LATE, "%llu to itself", tool_read(session, self));
    CHECK(tool_read(session, queue) == before, "%llu remain", tool_read(session, queue));
    CHECK(tool_read(session, memory) == bytes_before, "%llu bytes remain",
          tool_read(session, memory));
    CHECK(tool_read(session, high) == before + LATE, "the watermark is %llu",
          tool_read(session, high));
    CHECK_CODE(MPI_T_pvar_reset(session, high), MPI_SUCCESS);
    CHECK(tool_read(session, high) == before, "after its reset it is %llu",
          tool_read(session, high));
    CHECK(tool_read(session, second) == before + LATE, "another handle's reset lowered one to %llu",
          tool_read(session, second));
    CHECK_CODE(MPI_T_pvar_stop(session, high), MPI_T_ERR_PVAR_NO_STARTSTOP);
}

/* Messages of a process to itself that nobody receives yet, while all others wait. */
static void count_unexpected(void)
{
    int last = check.size - 1;
    if (check.rank > 0)
        MPI_Recv(NULL, 0, MPI_CHAR, check.rank - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    count_own();
    if (check.rank < last) {
        MPI_Send(NULL, 0, MPI_CHAR, check.rank + 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_CHAR, last, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < last && check.rank == last; i++)
        MPI_Send(NULL, 0, MPI_CHAR, i, TAG, MPI_COMM_WORLD);
}

static void count_posted(void)
{
    char byte;
    MPI_Request request;
    MPI_T_pvar_handle posted = tool_pvar(session, "weft_posted_receives", NULL);
    count_t before = tool_read(session, posted);
    MPI_Irecv(&byte, 1, MPI_CHAR, 0, TAG, MPI_COMM_SELF, &request);
    CHECK(tool_read(session, posted) == before + 1, "%llu receives are posted",
          tool_read(session, posted));
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(tool_read(session, posted) == before, "%llu receives remain", tool_read(session, posted));
}

static void count_windows(void)
{
    int *cell, value = 1, other = 1 - check.rank;
    MPI_Win win;
    MPI_T_pvar_handle direct = tool_pvar(session, "weft_rma_direct", NULL);
    MPI_T_pvar_handle by_messages = tool_pvar(session, "weft_rma_by_messages", NULL);
    MPI_T_pvar_handle by_net = tool_pvar(session, "weft_rma_by_net", NULL);
    MPI_T_pvar_handle packets = tool_pvar(session, "weft_rma_packets_sent", NULL);
    MPI_T_pvar_handle waits = tool_pvar(session, "weft_rma_lock_waits", NULL);
    MPI_Win_allocate(sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check.rank, 0, win);
    MPI_Put(&value, 1, MPI_INT, check.rank, 0, 1, MPI_INT, win);
    MPI_Win_unlock(check.rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
    MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win);
    MPI_Accumulate(&value, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(other, win);
    MPI_Barrier(MPI_COMM_WORLD);
    count_t messages = tool_read(session, by_messages), moved = tool_read(session, by_net);
    CHECK(tool_read(session, direct) == (shared() ? 3 : 1), "%llu direct operations",
          tool_read(session, direct));
    CHECK(shared() ? !messages && !moved : messages >= 1 && messages + moved == 2,
          "%llu operations by messages, %llu by the provider", messages, moved);
    CHECK(tool_read(session, packets) == (shared() ? 0 : 4 + messages), "%llu packets",
          tool_read(session, packets)); /* LOCK, operations, UNLOCK; two ACKs */
    CHECK(tool_read(session, waits) == 0, "%llu waits for a lock", tool_read(session, waits));
    if (check.rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    for (double end = MPI_Wtime() + 0.1; check.rank == 0 && MPI_Wtime() < end;)
        MPI_Win_sync(win); /* rank 1 requests the lock meanwhile */
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(tool_read(session, waits) == (check.rank == (shared() ? 1 : 0)),
          "%llu waits for a lock that was held", tool_read(session, waits));
    MPI_Win_free(&win);
}

static void refused(void)
{
    int count = -1, num = 0, state = -1, index = tool_pvar_index("weft_state");
    count_t value = 0;
    MPI_Comm none = MPI_COMM_NULL;
    MPI_T_pvar_handle handle, freed, self = tool_pvar(session, "weft_self_messages_sent", NULL);
    MPI_T_pvar_session gone, wrong = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_get_num(&num);
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count), MPI_SUCCESS);
    CHECK(count == 1, "weft_state has %d elements", count);
    CHECK_CODE(MPI_T_pvar_read(session, handle, &state), MPI_SUCCESS);
    CHECK(state == 1, "MPI runs, and weft_state is %d", state);
    CHECK_CODE(MPI_T_pvar_write(session, handle, &state), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_CODE(MPI_T_pvar_reset(session, handle), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_CODE(MPI_T_pvar_readreset(session, handle, &state), MPI_T_ERR_PVAR_NO_ATOMIC);
    CHECK_CODE(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_CODE(MPI_T_pvar_read(session, handle, NULL), MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_CODE(MPI_T_pvar_read(wrong, handle, &value), MPI_T_ERR_INVALID_SESSION);
    MPI_T_pvar_session_create(&gone);
    CHECK_CODE(MPI_T_pvar_read(gone, handle, &value), MPI_T_ERR_INVALID_HANDLE);
    freed = handle;
    CHECK_CODE(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
    CHECK(handle == MPI_T_PVAR_HANDLE_NULL, "the handle is still there");
    CHECK_CODE(MPI_T_pvar_handle_free(session, &freed), MPI_T_ERR_INVALID_HANDLE);
    wrong = gone;
    CHECK_CODE(MPI_T_pvar_session_free(&gone), MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_session_free(&wrong), MPI_T_ERR_INVALID_SESSION);
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, num, NULL, &handle, &count),
               MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_pvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                   NULL, NULL),
               MPI_T_ERR_INVALID_INDEX);
    CHECK_CODE(MPI_T_pvar_get_index("weft_state", MPI_T_PVAR_CLASS_COUNTER, &index),
               MPI_T_ERR_INVALID_NAME);
    index = tool_pvar_index("weft_rank_messages_sent");
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, index, &none, &handle, &count), MPI_T_ERR_INVALID);
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count), MPI_T_ERR_INVALID);
    index = tool_pvar_index("weft_net_bytes_sent"); /* needs WEFT_COUNTERS=all */
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count),
               MPI_T_ERR_NOT_ACCESSIBLE);
    CHECK_CODE(MPI_T_pvar_handle_free(session, &self), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_session whole;
    MPI_T_pvar_handle handle, sent, ranks;
    int count, code;
    check_watch();
    tool_begin();
    describe_all();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    CHECK_CODE(MPI_T_pvar_handle_alloc(session, tool_pvar_index("weft_rank_messages_sent"), &world,
                                       &handle, &count),
               MPI_T_ERR_NOT_ACCESSIBLE); /* before MPI there is no communicator */
    sent = tool_pvar(session, "weft_self_messages_sent", NULL);
    MPI_Init(&argc, &argv);
    check_world(1);
    MPI_T_pvar_session_create(&whole); /* nothing in it is reset */
    ranks = tool_pvar(whole, "weft_rank_messages_sent", &world);
    if (check.size > 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        count_messages();
        MPI_Barrier(MPI_COMM_WORLD);
        count_rendezvous();
        MPI_Barrier(MPI_COMM_WORLD);
        count_windows();
    }
    count_unexpected();
    count_posted();
    refused();
    code = check_done();
    /* After MPI: what was counted stays. */
    CHECK(tool_read(session, sent) >= LATE, "%llu messages to itself", tool_read(session, sent));
    if (check.size > 1) {
        count_t last[8] = {0};
        CHECK_CODE(MPI_T_pvar_read(whole, ranks, last), MPI_SUCCESS);
        CHECK(check.rank != 0 || last[1] >= 2 * MESSAGES, "%llu messages to rank 1", last[1]);
    }
    CHECK_CODE(MPI_T_finalize(), MPI_SUCCESS); /* takes the session and its handles along */
    return code || check.failures;
}
