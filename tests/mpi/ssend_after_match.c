// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,rxm-soft,net-soft,shm,shm-copy seconds=40
/*
 * A synchronous send completes only after its receive has started: shown by the order of events.
 * Even ranks send, the next odd rank receives.
 */
#include "check.h"

enum { SYNC = 1, ROUND_TRIP = 2, AFTER = 3, POLLS = 400 };

static const int sizes[] = {0, 8, 64, 65, 4000, 16384, 16385, 65536, 65537, 300000};
static unsigned char *buf;

/* The request must stay incomplete while both sides are busy inside MPI with other messages. */
static void nonblocking_sender(int peer, int n)
{
    MPI_Request request;
    int flag = 0;
    MPI_Issend(buf, n, MPI_BYTE, peer, SYNC, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 50; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, peer, ROUND_TRIP, &flag, 1, MPI_INT, peer, ROUND_TRIP,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0, "MPI_Issend of %d bytes completed before its receive was posted", n);
        if (flag) {
            return;
        }
    }
    MPI_Send(NULL, 0, MPI_BYTE, peer, AFTER, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void nonblocking_receiver(int peer, int n)
{
    int other;
    MPI_Status st;
    for (int i = 0; i < 50; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, peer, ROUND_TRIP, &other, 1, MPI_INT, peer, ROUND_TRIP,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, peer, AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buf, n, MPI_BYTE, peer, SYNC, MPI_COMM_WORLD, &st);
    CHECK_STATUS(st, peer, SYNC, n);
}

/* What the sender does after its blocking send must not happen before the receive. */
static void blocking_receiver(int peer, int n)
{
    MPI_Request after;
    int flag = 0;
    MPI_Irecv(NULL, 0, MPI_BYTE, peer, AFTER, MPI_COMM_WORLD, &after);
    for (int i = 0; i < POLLS && !flag; i++) {
        MPI_Test(&after, &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0, "MPI_Ssend of %d bytes returned before its receive was posted", n);
        usleep(20);
    }
    MPI_Recv(buf, n, MPI_BYTE, peer, SYNC, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&after, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    buf = check_zeroed(300000);
    int peer = check.rank ^ 1;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && peer < check.size; s++) {
        check_step("MPI_Issend of %d bytes", sizes[s]);
        (check.rank & 1 ? nonblocking_receiver : nonblocking_sender)(peer, sizes[s]);
        check_step("MPI_Ssend of %d bytes", sizes[s]);
        if (check.rank & 1) {
            blocking_receiver(peer, sizes[s]);
        } else {
            MPI_Ssend(buf, sizes[s], MPI_BYTE, peer, SYNC, MPI_COMM_WORLD);
            MPI_Send(NULL, 0, MPI_BYTE, peer, AFTER, MPI_COMM_WORLD);
        }
    }
    free(buf);
    return check_done();
}
