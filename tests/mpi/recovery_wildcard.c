// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=shm,rxm,net-soft,nodes deaths=yes seconds=60
/*
 * Receives and probes from any source on a communicator with a dead member: blocking ones fail, the
 * others stay active and make each call that waits for them fail, until the program acknowledges
 * the death. Then they receive, in the order in which they were started. The status of a receive
 * from the dead rank names that rank.
 */
#include "deaths.h"

enum { LIVING = 3, TAG = 7, OTHER_TAG = 8, EXCHANGE = 9, REQUESTS = 4, LONG_BYTES = 1 << 20 };

static MPI_Comm living;

static void expect_pending(const char *what, int code, const MPI_Request *request)
{
    CHECK(check_class(code) == MPIX_ERR_PROC_FAILED_PENDING, "%s: class %d", what,
          check_class(code));
    CHECK(*request != MPI_REQUEST_NULL, "%s: the request is gone", what);
}

/* Calls that wait for one stalled request. */
static void look_at_one(MPI_Request *request)
{
    int flag = 1, index = 7;
    MPI_Status status;
    expect_pending("MPI_Wait", MPI_Wait(request, &status), request);
    expect_pending("MPI_Test", MPI_Test(request, &flag, &status), request);
    CHECK(!flag, "MPI_Test completes a request that waits");
    expect_pending("MPI_Waitany", MPI_Waitany(1, request, &index, &status), request);
    CHECK(index == 0, "MPI_Waitany names request %d", index);
    index = 7;
    expect_pending("MPI_Testany", MPI_Testany(1, request, &index, &flag, &status), request);
    CHECK(index == 0, "MPI_Testany names request %d", index);
    CHECK_CLASS(MPI_Request_get_status(*request, &flag, &status), MPI_SUCCESS);
    CHECK(!flag, "MPI_Request_get_status sees a complete request");
}

/* Beside a complete one. */
static void look_at_several(MPI_Request *request)
{
    int value = 1, got = 0, count = 7, indices[2] = {7, 7}, flag;
    MPI_Request both[2] = {*request};
    MPI_Status statuses[2];
    MPI_Irecv(&got, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &both[1]);
    MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_SELF);
    CHECK_CLASS(MPI_Waitany(2, both, &indices[0], &statuses[0]), MPI_SUCCESS);
    CHECK(indices[0] == 1 && got == 1, "MPI_Waitany completes request %d", indices[0]);
    CHECK_CLASS(MPI_Waitall(2, both, statuses), MPI_ERR_IN_STATUS);
    CHECK(check_class(statuses[0].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING &&
              statuses[1].MPI_ERROR == MPI_SUCCESS && both[0] == *request,
          "MPI_Waitall: classes %d and %d", check_class(statuses[0].MPI_ERROR),
          check_class(statuses[1].MPI_ERROR));
    CHECK_CLASS(MPI_Testall(2, both, &flag, statuses), MPI_ERR_IN_STATUS);
    CHECK_CLASS(MPI_Waitsome(2, both, &count, indices, statuses), MPI_ERR_IN_STATUS);
    CHECK(count == 1 && indices[0] == 0 &&
              check_class(statuses[0].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING,
          "MPI_Waitsome: %d requests, class %d", count, check_class(statuses[0].MPI_ERROR));
    CHECK_CLASS(MPI_Testsome(2, both, &count, indices, statuses), MPI_ERR_IN_STATUS);
    CHECK(both[0] == *request, "the request of several is gone");
}

/* Blocking calls of any source. The first one may wait already when the report comes. */
static void fail_blocking(void)
{
    int value, flag, none = 0;
    MPI_Message message;
    for (int i = 0; i < 3; i++) {
        switch ((check.rank + i) % 3) {
        case 0:
            CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE),
                        MPIX_ERR_PROC_FAILED);
            break;
        case 1:
            CHECK_CLASS(MPI_Probe(MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                        MPIX_ERR_PROC_FAILED);
            break;
        default:
            CHECK_CLASS(MPI_Sendrecv(&none, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT,
                                     MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                        MPIX_ERR_PROC_FAILED);
        }
    }
    CHECK_CLASS(MPI_Iprobe(MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE),
                MPIX_ERR_PROC_FAILED);
    CHECK_CLASS(MPI_Mprobe(MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE),
                MPIX_ERR_PROC_FAILED);
}

/* MPI_Isendrecv of rank 0 has received its message, and waits for its send alone. */
static void wait_for_send(void)
{
    static char data[LONG_BYTES];
    volatile int value = 0;
    int sent = 42, flag;
    MPI_Request request;
    check_step("an exchange with living ranks");
    if (check.rank == 0) {
        MPI_Isendrecv(data, sizeof data, MPI_BYTE, 1, EXCHANGE, (int *)&value, 1, MPI_INT,
                      MPI_ANY_SOURCE, EXCHANGE, MPI_COMM_WORLD, &request);
        MPI_Barrier(living);
        while (value != 42)
            MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    } else if (check.rank == 1) {
        MPI_Barrier(living);
        usleep(300000);
        MPI_Recv(data, sizeof data, MPI_BYTE, 0, EXCHANGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(living);
        MPI_Send(&sent, 1, MPI_INT, 0, EXCHANGE, MPI_COMM_WORLD);
    }
}

/* One receive was started before the death, the other is started after it. */
static void fail_named(MPI_Request *before)
{
    MPI_Status statuses[2] = {{.MPI_SOURCE = -9}, {.MPI_SOURCE = -9}};
    MPI_Request both[2] = {*before};
    int value;
    MPI_Irecv(&value, 1, MPI_INT, LIVING, OTHER_TAG, MPI_COMM_WORLD, &both[1]);
    CHECK_CLASS(MPI_Waitall(2, both, statuses), MPI_ERR_IN_STATUS);
    for (int i = 0; i < 2; i++)
        CHECK(check_class(statuses[i].MPI_ERROR) == MPIX_ERR_PROC_FAILED &&
                  statuses[i].MPI_SOURCE == LIVING && statuses[i].MPI_TAG == OTHER_TAG,
              "receive %d: class %d, source %d, tag %d", i, check_class(statuses[i].MPI_ERROR),
              statuses[i].MPI_SOURCE, statuses[i].MPI_TAG);
}

/* All requests have the same tag: they get the messages of a rank in their order. */
static void receive(MPI_Request *requests, int *values)
{
    int flag = 1, right = (check.rank + 1) % LIVING, left = (check.rank + LIVING - 1) % LIVING;
    CHECK_CLASS(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(!flag, "a receive completes without a message");
    MPI_Barrier(living);
    for (int i = 0; i <= REQUESTS; i++) {
        int value = 100 * check.rank + i;
        MPI_Send(&value, 1, MPI_INT, right, TAG, MPI_COMM_WORLD);
    }
    for (int i = 0; i < REQUESTS; i++) {
        MPI_Status status = {.MPI_SOURCE = -9};
        CHECK_CLASS(MPI_Wait(&requests[i], &status), MPI_SUCCESS);
        CHECK(values[i] == 100 * left + i && status.MPI_SOURCE == left,
              "request %d received %d from rank %d", i, values[i], status.MPI_SOURCE);
    }
    CHECK_CLASS(
        MPI_Recv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        MPI_SUCCESS);
    CHECK(values[0] == 100 * left + REQUESTS, "the last receive got %d", values[0]);
}

int main(int argc, char **argv)
{
    int values[REQUESTS] = {0}, none = 0, living_value = 0;
    MPI_Request requests[REQUESTS], other, named;
    int unused;
    check_begin(&argc, &argv, 4);
    check_errors_return();
    MPI_Comm_split(MPI_COMM_WORLD, check.rank == LIVING, 0, &living);
    MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[1]);
    MPI_Irecv(&unused, 1, MPI_INT, LIVING, OTHER_TAG, MPI_COMM_WORLD, &named);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == LIVING)
        die();
    if (check.rank == 0) /* it waits, perhaps, when the report comes */
        expect_pending("MPI_Wait", MPI_Wait(&requests[0], MPI_STATUS_IGNORE), &requests[0]);
    fail_blocking();
    MPI_Irecv(&values[2], 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Isendrecv(&none, 1, MPI_INT, MPI_PROC_NULL, 0, &values[3], 1, MPI_INT, MPI_ANY_SOURCE, TAG,
                  MPI_COMM_WORLD, &requests[3]);
    for (int i = 0; i < REQUESTS; i++)
        look_at_one(&requests[i]);
    look_at_several(&requests[2]);
    wait_for_send();
    fail_named(&named);

    /* A communicator without the dead rank, one that can be cancelled. */
    MPI_Irecv(&living_value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, living, &other);
    MPI_Send(&check.rank, 1, MPI_INT, (check.rank + 1) % LIVING, TAG, living);
    CHECK_CLASS(MPI_Wait(&other, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Irecv(&none, 1, MPI_INT, MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_WORLD, &other);
    MPI_Cancel(&other);
    CHECK_CLASS(MPI_Wait(&other, MPI_STATUS_IGNORE), MPI_SUCCESS);

    CHECK_CLASS(MPIX_Comm_failure_ack(MPI_COMM_WORLD), MPI_SUCCESS);
    receive(requests, values);
    MPI_Request_free(&requests[1]);
    return check_survived();
}
