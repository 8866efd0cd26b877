// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,rxm-push,net-soft,soft-small,nodes deaths=yes seconds=40
// run: ranks=3 lanes=mixed,shm,shm-copy deaths=yes seconds=40
/*
 * Messages that a rank has announced, and whose data it has not sent when it dies. Receives that
 * are posted after its death, by its rank, from any source or of a matched probe, end with
 * MPIX_ERR_PROC_FAILED; what it has sent completely is received.
 */
#include "deaths.h"

enum {
    INTS = 1 << 17,
    SHORT = 100,
    FEW = 10,
    NEVER = 1, /* tags */
    COMPLETE,
    CONTIGUOUS,
    HOLES = CONTIGUOUS + 3,
    MATCHED = HOLES + 3,
    UNSEEN,
    READY = UNSEEN + 3
};

static int data[2 * INTS];
static MPI_Datatype holes; /* of `data` */

static void announce(void)
{
    MPI_Request requests[10];
    int n = 0;
    MPI_Send(data, FEW, MPI_INT, 0, COMPLETE, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        MPI_Isend(data, INTS, MPI_INT, 0, CONTIGUOUS + i, MPI_COMM_WORLD, &requests[n++]);
        MPI_Isend(data, 1, holes, 0, HOLES + i, MPI_COMM_WORLD, &requests[n++]);
        MPI_Isend(data, 1, holes, 0, UNSEEN + i, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Isend(data, 1, holes, 0, MATCHED, MPI_COMM_WORLD, &requests[n++]);
    MPI_Recv(NULL, 0, MPI_INT, 0, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    die();
}

static void expect_death(const char *what, int code)
{
    CHECK(check_class(code) == MPIX_ERR_PROC_FAILED, "%s: class %d", what, check_class(code));
}

static void receive_from(int source, int tag, int ints)
{
    check_step("receiving %d numbers with tag %d from %d", ints, tag, source);
    expect_death("MPI_Recv",
                 MPI_Recv(data, ints, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Rank 0; the victim is the last rank. */
static void receive(int victim)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    check_step("probing");
    MPI_Probe(victim, COMPLETE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++) {
        MPI_Probe(victim, CONTIGUOUS + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Probe(victim, HOLES + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Mprobe(victim, MATCHED, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, victim, READY, MPI_COMM_WORLD);
    await_deaths(MPI_COMM_WORLD, 1);
    check_step("waiting until messages of rank %d fail", victim);
    expect_death("MPI_Probe", MPI_Probe(victim, NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));

    receive_from(victim, CONTIGUOUS, INTS);
    receive_from(victim, HOLES, INTS);
    check_step("receiving a matched message");
    expect_death("MPI_Mrecv", MPI_Mrecv(data, INTS, MPI_INT, &message, MPI_STATUS_IGNORE));
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    receive_from(MPI_ANY_SOURCE, CONTIGUOUS + 1, INTS);
    receive_from(MPI_ANY_SOURCE, HOLES + 1, INTS);
    receive_from(MPI_ANY_SOURCE, CONTIGUOUS + 2, SHORT);
    check_step("waiting for a receive");
    MPI_Irecv(data, INTS, MPI_INT, victim, HOLES + 2, MPI_COMM_WORLD, &request);
    expect_death("MPI_Wait", MPI_Wait(&request, &status));
    CHECK_CLASS(MPI_Recv(data, SHORT, MPI_INT, MPI_ANY_SOURCE, COMPLETE, MPI_COMM_WORLD, &status),
                MPI_SUCCESS);
    CHECK(status.MPI_SOURCE == victim, "the message of rank %d", status.MPI_SOURCE);
}

/* Receives of several lengths whose messages may have come to the provider only. They end if one
 * matches, or else when rank 1 has sent them a message. */
static void receive_unseen(void)
{
    static const int ints[] = {1, SHORT, INTS};
    MPI_Request requests[3];
    check_step("receiving what may have arrived");
    for (int i = 0; i < 3; i++)
        MPI_Irecv(data, ints[i], MPI_INT, MPI_ANY_SOURCE, UNSEEN + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(NULL, 0, MPI_INT, 1, READY, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        MPI_Status status;
        int code = check_class(MPI_Wait(&requests[i], &status));
        CHECK(code == MPIX_ERR_PROC_FAILED || (code == MPI_SUCCESS && status.MPI_SOURCE == 1),
              "class %d, source %d", code, status.MPI_SOURCE);
        if (code != MPI_SUCCESS)
            CHECK_CLASS(MPI_Recv(data, 1, MPI_INT, 1, UNSEEN + i, MPI_COMM_WORLD, &status),
                        MPI_SUCCESS);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 3);
    check_errors_return();
    MPI_Type_vector(INTS, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    int victim = check.size - 1;
    if (check.rank == victim)
        announce();
    if (check.rank == 0) {
        receive(victim);
        receive_unseen();
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 3; i++)
            MPI_Send(data, 1, MPI_INT, 0, UNSEEN + i, MPI_COMM_WORLD);
    }
    MPI_Type_free(&holes);
    return check_survived();
}
