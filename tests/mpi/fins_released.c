// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft seconds=60
/*
 * The end of a long message is reported to its sender although the receiver leaves MPI next, with
 * other messages of that sender under way: the call that completes the receive reports it. Rank 1
 * waits outside of MPI until the send has ended.
 */
#include "check.h"

#include <signal.h>
#include <sys/types.h>

enum { FIRST_BYTES = 300 << 10, BYTES = 16 << 20, FORMS = 5, GO = 1, DATA = 2, OTHERS = 2 };

static unsigned char *first, *others[OTHERS];

static void send(pid_t receiver)
{
    MPI_Request requests[OTHERS], request;
    MPI_Issend(first, FIRST_BYTES, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request);
    for (int i = 0; i < OTHERS; i++)
        MPI_Isend(others[i], BYTES, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &requests[i]);
    kill(receiver, SIGUSR1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    kill(receiver, SIGUSR2);
    MPI_Waitall(OTHERS, requests, MPI_STATUSES_IGNORE);
}

static void complete(int form, MPI_Request *request)
{
    int done = 0, index, count = 0;
    switch (form) {
    case 0:
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
        break;
    case 3:
        MPI_Waitsome(1, request, &count, &index, MPI_STATUSES_IGNORE);
        break;
    default:
        while (!done)
            MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
}

static void receive(int form, const sigset_t *announced, const sigset_t *ended)
{
    static const struct timespec limit = {.tv_sec = 10};
    MPI_Request requests[OTHERS], request;
    int signal;
    pid_t pid = getpid();
    MPI_Irecv(first, FIRST_BYTES, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &request);
    for (int i = 0; i < OTHERS; i++)
        MPI_Irecv(others[i], BYTES, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(&pid, sizeof pid, MPI_BYTE, 0, GO, MPI_COMM_WORLD);
    sigwait(announced, &signal);
    complete(form, &request);
    CHECK(sigtimedwait(ended, NULL, &limit) == SIGUSR2,
          "form %d: the sender waits while the receiver is outside of MPI", form);
    MPI_Waitall(OTHERS, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    sigset_t announced, ended;
    sigemptyset(&announced);
    sigaddset(&announced, SIGUSR1);
    sigemptyset(&ended);
    sigaddset(&ended, SIGUSR2);
    sigprocmask(SIG_BLOCK, &announced, NULL);
    sigprocmask(SIG_BLOCK, &ended, NULL);
    check_begin(&argc, &argv, 2);
    first = check_alloc(FIRST_BYTES);
    for (int i = 0; i < OTHERS; i++)
        others[i] = check_alloc(BYTES);
    for (int form = 0; form < FORMS; form++) {
        check_step("form %d", form);
        if (check.rank == 0) {
            pid_t pid;
            MPI_Recv(&pid, sizeof pid, MPI_BYTE, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            send(pid);
        } else {
            receive(form, &announced, &ended);
        }
    }
    free(first);
    for (int i = 0; i < OTHERS; i++)
        free(others[i]);
    return check_done();
}
