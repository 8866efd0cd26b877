// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm-unpaid,push-unpaid seconds=40
/*
 * Messages for which there are no credits meet receives that wait for them: what announces such a
 * message falls into the buffer, and must not stay there. Rank 0 sends a window while rank 1 is
 * outside of MPI, so that many of them are announced; rank 1 has posted receives of the right
 * length, longer and shorter ones, some from any source, and some that share one buffer. Some of
 * the messages have gaps between their bytes at the sender.
 */
#include "tool.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

enum { MESSAGES = 120, SHARED = 5, ANOTHER = 77 };

static const int sizes[] = {65, 100, 3000, 4000, 8192, 15000, 65536, 70000};

static int size_of(int k)
{
    return sizes[k % (int)(sizeof sizes / sizeof sizes[0])];
}

/* Some are longer than the message, some shorter. */
static int room_of(int k)
{
    return k % 11 == 3 ? size_of(k) + 500 : k % 13 == 5 ? size_of(k) - 1 : size_of(k);
}

static bool is_shared(int k)
{
    return k % SHARED == 0;
}

static bool has_gaps(int k)
{
    return k % 4 == 2;
}

/* A message's data as they lie in memory: the type's extent is one byte or two. */
static unsigned char *make_message(int k)
{
    size_t bytes = (size_t)size_of(k);
    unsigned char *out = check_alloc(2 * bytes);
    check_fill(out, bytes, check.rank, k, k);
    for (size_t i = bytes; has_gaps(k) && i-- > 0;)
        out[2 * i] = out[i];
    return out;
}

/* What the provider did not take at once leaves before the receiver looks: after that its credits
 * come back. What waits for the receiver itself stays. */
static void leave_backlog(MPI_T_pvar_session session)
{
    MPI_T_pvar_handle backlog = tool_pvar(session, "weft_net_backlog", NULL);
    int flag;
    for (int i = 0; i < 10000 && tool_read(session, backlog) > 0; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, MESSAGES, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static volatile sig_atomic_t receiver_waits;

static void on_signal(int number)
{
    receiver_waits = number == SIGUSR2;
}

static void send_all(int peer)
{
    static unsigned char *out[MESSAGES];
    MPI_Request requests[MESSAGES];
    MPI_Datatype gaps;
    MPI_Type_create_resized(MPI_BYTE, 0, 2, &gaps);
    MPI_Type_commit(&gaps);
    MPI_T_pvar_session session;
    pid_t own = getpid(), pid;
    tool_begin();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle handle = tool_pvar(session, "weft_net_credit_waits", NULL);
    receiver_waits = 0;
    signal(SIGUSR2, on_signal);
    MPI_Send(&own, sizeof own, MPI_BYTE, peer, ANOTHER, MPI_COMM_WORLD);
    MPI_Recv(&pid, sizeof pid, MPI_BYTE, peer, ANOTHER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!receiver_waits)
        usleep(1000);
    for (int k = 0; k < MESSAGES; k++) {
        out[k] = make_message(k);
        MPI_Isend(out[k], size_of(k), has_gaps(k) ? gaps : MPI_BYTE, peer, k, MPI_COMM_WORLD,
                  &requests[k]);
    }
    leave_backlog(session);
    kill(pid, SIGUSR2);
    check_step("waiting for the sends");
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    count_t unpaid = tool_read(session, handle);
    CHECK(unpaid > MESSAGES / 30, "only %llu of %d messages were not paid for", unpaid, MESSAGES);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Type_free(&gaps);
    for (int k = 0; k < MESSAGES; k++)
        free(out[k]);
}

static void verify(int k, int peer, MPI_Request *request, struct check_buffer *in)
{
    MPI_Status st;
    int class = check_class(MPI_Wait(request, &st));
    bool cut = room_of(k) < size_of(k) && !is_shared(k);
    CHECK(class == (cut ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "message %d ended with class %d", k,
          class);
    CHECK(st.MPI_SOURCE == peer && st.MPI_TAG == k, "message %d says source %d, tag %d", k,
          st.MPI_SOURCE, st.MPI_TAG);
    if (!cut)
        CHECK_STATUS(st, peer, k, size_of(k));
    if (is_shared(k))
        return;
    int used = cut ? room_of(k) : size_of(k);
    if (!cut)
        CHECK_DATA(in->data, (size_t)used, peer, k, k);
    CHECK(check_buffer_intact(in, (size_t)used), "message %d: bytes behind it were written", k);
    check_buffer_free(in);
}

static void receive_all(int peer)
{
    static unsigned char shared[70000];
    struct check_buffer in[MESSAGES];
    MPI_Request requests[MESSAGES];
    pid_t own = getpid(), pid;
    MPI_Recv(&pid, sizeof pid, MPI_BYTE, peer, ANOTHER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < MESSAGES; k++) {
        int room = is_shared(k) ? size_of(k) : room_of(k);
        in[k] = is_shared(k) ? (struct check_buffer){.data = shared}
                             : check_buffer_new((size_t)room, (size_t)k % 16);
        MPI_Irecv(in[k].data, room, MPI_BYTE, k % 7 == 2 ? MPI_ANY_SOURCE : peer, k, MPI_COMM_WORLD,
                  &requests[k]);
    }
    int got;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    sigprocmask(SIG_BLOCK, &one, NULL);
    MPI_Send(&own, sizeof own, MPI_BYTE, peer, ANOTHER, MPI_COMM_WORLD);
    check_step("waiting outside of MPI until all is sent");
    kill(pid, SIGUSR2);
    sigwait(&one, &got);
    for (int k = MESSAGES - 1; k >= 0; k--) {
        check_step("message %d", k);
        verify(k, peer, &requests[k], &in[k]);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_errors_return();
    for (int round = 0; round < 3; round++) {
        if (check.rank == 0)
            send_all(1);
        else if (check.rank == 1)
            receive_all(0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_done();
}
