// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,net-soft,shm seconds=40
/*
 * First contact with a rank that is outside of MPI. First rank 1 is there for a while when rank 0
 * sends it its first message: nothing fails, whatever limit the provider has for a connection. Then
 * rank 2 sends its first message to rank 0 and leaves MPI until rank 0 has received and answered
 * it: that must not wait for rank 2. (Not over sockets: there the first message of all leaves only
 * while its sender makes progress.)
 */
#include "check.h"

#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { BUSY_MS = 3500, TAG = 3 };

static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void exchange_with_busy(void)
{
    int value = 0;
    check_step("a first message to a rank that is outside of MPI");
    if (check.rank == 0) {
        value = 17;
        MPI_Send(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    } else if (check.rank == 1) {
        sleep_ms(BUSY_MS);
        MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 17, "received %d", value);
    }
}

/* Rank 0 looks from any source, so it does not connect to rank 2 before rank 2 has left. */
static void answer_one_that_left(void)
{
    MPI_Status status;
    int arrived = 0, answer = 23;
    pid_t pid;
    while (!arrived)
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &arrived, &status);
    sleep_ms(200);
    MPI_Recv(&pid, sizeof pid, MPI_BYTE, 2, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&answer, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD);
    kill(pid, SIGUSR2);
}

static void send_and_leave(const sigset_t *signals)
{
    pid_t pid = getpid();
    int signal, answer = 0;
    MPI_Send(&pid, sizeof pid, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    sigwait(signals, &signal);
    MPI_Recv(&answer, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(answer == 23, "received %d", answer);
}

int main(int argc, char **argv)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    /* Providers that connect in their own calls give up after seconds: let it be few. */
    setenv("FI_PSM2_CONN_TIMEOUT", "1", 0);
    setenv("FI_PSM3_CONN_TIMEOUT", "1", 0);
    check_begin(&argc, &argv, 3);
    exchange_with_busy();
    check_step("a message from a rank that has left MPI since");
    if (check.rank == 0)
        answer_one_that_left();
    else if (check.rank == 2)
        send_and_leave(&signals);
    return check_done();
}
