// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,rxm-push,net-soft,shm,shm-copy seconds=30
// host memory: it counts registrations
/*
 * MPI_T: what is counted for each rank on slow ways. Messages to a rank that looks away wait at
 * their sender, are counted as they begin to wait, and are no longer there when it has received
 * them; an announced message is counted for its receiver, and so is the memory registered for it at
 * both ends. All ranks together are what the lane says.
 *
 * Invariant: rank 1 is outside of the library until rank 0 has seen its messages wait and sends it
 * a signal, so nothing is left to timing.
 */
#include "tool.h"

#include <signal.h>

enum { MOST = 200000, LONG = 3 << 20, TAG = 5, RANKS = 8 };

static MPI_T_pvar_session session;
static bool shm; /* rank 0 and rank 1 have no network between them */

/* A count of each rank and the lane's own. */
struct pair {
    MPI_T_pvar_handle ranks, lane;
};

static struct pair pair_of(const char *of_ranks, const char *of_net, const char *of_shm)
{
    static MPI_Comm world = MPI_COMM_WORLD;
    const char *lane = shm ? of_shm : of_net;
    return (struct pair){tool_pvar(session, of_ranks, &world),
                         lane ? tool_pvar(session, lane, NULL) : MPI_T_PVAR_HANDLE_NULL};
}

/* That of rank `peer`; the others have none, and the lane has as many. */
static count_t count_of(struct pair pair, int peer, const char *what)
{
    count_t got[RANKS] = {0};
    CHECK_CODE(MPI_T_pvar_read(session, pair.ranks, got), MPI_SUCCESS);
    for (int i = 0; i < check.size; i++)
        CHECK(i == peer || got[i] == 0, "%s: %llu of rank %d", what, got[i], i);
    if (pair.lane != MPI_T_PVAR_HANDLE_NULL) {
        count_t all = tool_read(session, pair.lane);
        CHECK(got[peer] == all, "%s: %llu of rank %d, %llu in all", what, got[peer], peer, all);
    }
    return got[peer];
}

/* Sends short messages until one waits. Returns how many. */
static int send_until_one_waits(MPI_Request *requests, struct pair waits, struct pair waited)
{
    static const char byte = 7;
    int n = 0;
    while (n < MOST && count_of(waits, 1, "backlog") == 0)
        MPI_Isend(&byte, 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[n++]);
    CHECK(n < MOST, "%d messages to a rank that looks away, and none waits", n);
    CHECK(count_of(waited, 1, "backlogged") >= 1, "one waits and was not counted");
    for (int more = 0; more < 10 && n < MOST; more++)
        MPI_Isend(&byte, 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[n++]);
    CHECK(count_of(waits, 1, "backlog") >= 11, "%llu wait behind the first",
          count_of(waits, 1, "backlog"));
    return n;
}

static void sender(void)
{
    struct pair waits = pair_of("weft_rank_backlog", "weft_net_backlog", "weft_shm_backlog");
    struct pair waited =
        pair_of("weft_rank_backlogged", "weft_net_backlogged", "weft_shm_backlogged");
    MPI_Request *requests = check_host(MOST * sizeof(MPI_Request));
    int pid, n;
    MPI_Recv(&pid, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(count_of(waits, 1, "backlog") == 0, "something waits already");
    n = send_until_one_waits(requests, waits, waited);
    kill(pid, SIGUSR2);
    MPI_Send(&n, 1, MPI_INT, 1, TAG + 1, MPI_COMM_WORLD);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    CHECK(count_of(waits, 1, "backlog") == 0, "%llu still wait", count_of(waits, 1, "backlog"));
    CHECK(count_of(waited, 1, "backlogged") >= 11, "%llu have waited",
          count_of(waited, 1, "backlogged"));
    free(requests);
}

static void receiver(void)
{
    int pid = (int)getpid(), n, got = 0;
    sigset_t one;
    char byte;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    MPI_Ssend(&pid, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD); /* has come when it returns */
    sigwait(&one, &got);                                 /* outside of the library */
    MPI_Recv(&n, 1, MPI_INT, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) {
        byte = 0;
        MPI_Recv(&byte, 1, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(byte == 7, "message %d of %d brings %d", i, n, byte);
    }
}

/* One long message from rank 0. */
static void announced(void)
{
    struct pair sent = pair_of("weft_rank_rendezvous_sent", "weft_net_rendezvous_sent",
                               "weft_shm_rendezvous_sent");
    struct pair memory = pair_of("weft_rank_registrations", NULL, NULL);
    MPI_T_pvar_handle all = tool_pvar(session, "weft_net_registrations", NULL);
    int other = 1 - check.rank;
    char *data = check_alloc(LONG);
    memset(data, 1, LONG);
    if (check.rank == 0)
        MPI_Ssend(data, LONG, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(data, LONG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(count_of(sent, other, "rendezvous") == (count_t)(check.rank == 0), "%llu rendezvous",
          count_of(sent, other, "rendezvous"));
    count_t of_peer = count_of(memory, other, "registrations"), in_all = tool_read(session, all);
    CHECK(of_peer <= in_all, "%llu registrations for rank %d, %llu in all", of_peer, other, in_all);
    CHECK(!shm || of_peer == 0, "%llu registrations without a network", of_peer);
    /* A message that is read where it lies lies in registered memory. */
    const char *way = getenv("WEFT_RENDEZVOUS");
    if (check.rank == 0 && !shm && (!way || strcmp(way, "read") == 0) && in_all)
        CHECK(of_peer == 1, "%llu registrations for a message to rank 1", of_peer);
    free(data);
}

int main(int argc, char **argv)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    sigprocmask(SIG_BLOCK, &one, NULL); /* before there are threads that it could end */
    check_begin(&argc, &argv, 2);
    tool_begin();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    shm = tool_read(session, tool_pvar(session, "weft_net_eager_limit", NULL)) == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    check_step("messages that wait");
    if (check.rank == 0)
        sender();
    if (check.rank == 1)
        receiver();
    check_step("an announced message");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank < 2)
        announced();
    CHECK_CODE(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    int code = check_done();
    CHECK_CODE(MPI_T_finalize(), MPI_SUCCESS);
    return code || check.failures;
}
