// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft seconds=30
/*
 * The ends of long messages are told together: rank 1, outside of MPI until rank 0 has announced a
 * window of them, reads them one after the other and says so in few control messages. Then windows
 * of every smaller size, in which every send must hear of its end though no other message follows.
 */
#include "tool.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

enum { WINDOW = 40, BYTES = 300 << 10, MOST = 10, GO = 1, DATA = 2 };

static unsigned char *buffers[WINDOW];

static void send_window(int window, int round)
{
    MPI_Request requests[WINDOW];
    pid_t pid;
    MPI_Recv(&pid, sizeof pid, MPI_BYTE, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < window; i++) {
        check_fill(buffers[i], BYTES, 0, DATA, round + i);
        MPI_Isend(buffers[i], BYTES, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &requests[i]);
    }
    kill(pid, SIGUSR2);
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
}

static void receive_window(int window, int round, const sigset_t *signals)
{
    MPI_Request requests[WINDOW];
    pid_t pid = getpid();
    int signal;
    for (int i = 0; i < window; i++) {
        memset(buffers[i], 0, BYTES);
        MPI_Irecv(buffers[i], BYTES, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Send(&pid, sizeof pid, MPI_BYTE, 0, GO, MPI_COMM_WORLD);
    sigwait(signals, &signal);
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < window; i++)
        CHECK_DATA(buffers[i], BYTES, 0, DATA, round + i);
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    check_begin(&argc, &argv, 2);
    tool_begin();
    CHECK_CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle controls = tool_pvar(session, "weft_net_controls_sent", NULL);
    for (int i = 0; i < WINDOW; i++)
        buffers[i] = check_alloc(BYTES);
    for (int window = WINDOW; window > 0; window -= window > 12 ? window - 12 : 1) {
        check_step("a window of %d messages", window);
        count_t before = tool_read(session, controls);
        if (check.rank == 0)
            send_window(window, window);
        else
            receive_window(window, window, &signals);
        count_t told = tool_read(session, controls) - before;
        if (check.rank == 1 && window == WINDOW)
            CHECK(told <= MOST, "the ends of %d messages took %llu control messages", window, told);
    }
    for (int i = 0; i < WINDOW; i++)
        free(buffers[i]);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
