// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=rxm,rxm-soft,net-soft,shm-coll seconds=60
// run: ranks=7 lanes=rxm seconds=60
// run: ranks=1 lanes=self seconds=60
/*
 * Nonblocking and persistent collectives: a later one completes while an earlier one cannot, one
 * barrier is not left before all have come, hundreds are under way at once, persistent ones are
 * started in any order, and requests of collectives behave as the standard says.
 */
#include "check.h"

enum { MANY = 300, TURNS = 20 };

/* Rank 0 enters the first broadcast only when the second, from rank 2, has reached rank 3. Both
 * trees lead from rank 2 to rank 3: only the sequence number tells their messages apart. */
static void later_overtakes_earlier(void)
{
    int first = check.rank == 0 ? 11 : -1, second = check.rank == 2 ? 22 : -1, go = 0;
    MPI_Request requests[2];
    MPI_Comm four;
    check_step("a broadcast overtakes another");
    MPI_Comm_split(MPI_COMM_WORLD, check.rank < 4 ? 0 : MPI_UNDEFINED, 0, &four);
    if (four == MPI_COMM_NULL)
        return;
    if (check.rank == 0)
        MPI_Recv(&go, 1, MPI_INT, 3, 5, four, MPI_STATUS_IGNORE);
    MPI_Ibcast(&first, 1, MPI_INT, 0, four, &requests[0]);
    MPI_Ibcast(&second, 1, MPI_INT, 2, four, &requests[1]);
    if (check.rank == 3) {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        CHECK(second == 22 && first == -1, "the second broadcast brought %d, the first %d", second,
              first);
        MPI_Send(&go, 1, MPI_INT, 0, 5, four);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(first == 11 && second == 22, "broadcasts brought %d and %d", first, second);
    MPI_Comm_free(&four);
}

/* Nobody leaves a barrier before the last has entered: the last rank enters after it was told that
 * the others wait. */
static void barrier_waits(void)
{
    MPI_Request request;
    int flag = 0, last = check.size - 1;
    check_step("a barrier without its last rank");
    if (check.rank == last)
        for (int i = 0; i < last; i++)
            MPI_Recv(NULL, 0, MPI_INT, i, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (check.rank != last) {
        for (int i = 0; i < 100; i++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag, "the barrier is complete without rank %d", last);
        }
        MPI_Send(NULL, 0, MPI_INT, last, 6, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void many_at_once(void)
{
    static int in[MANY], out[MANY];
    static MPI_Request requests[MANY];
    check_step("%d reductions at once", MANY);
    for (int i = 0; i < MANY; i++) {
        in[i] = check.rank + i;
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        CHECK(out[i] == check.size * (check.size - 1) / 2 + i * check.size, "reduction %d is %d", i,
              out[i]);
}

/* Two persistent collectives alike, started in opposite orders by neighbours, with plain ones
 * between. */
static void starts_in_any_order(void)
{
    int in[2], out[2], plain = 0;
    MPI_Request requests[2];
    check_step("persistent reductions in any order");
    for (int i = 0; i < 2; i++)
        MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, i ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD,
                           MPI_INFO_NULL, &requests[i]);
    for (int turn = 0; turn < TURNS; turn++) {
        in[0] = check.rank + turn;
        in[1] = check.rank * turn;
        for (int i = 0; i < 2; i++)
            MPI_Start(&requests[(i + check.rank + turn) % 2]);
        MPI_Allreduce(&turn, &plain, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(plain == turn && out[1] == (check.size - 1) * turn &&
                  out[0] == check.size * (check.size - 1) / 2 + turn * check.size,
              "turn %d: %d, %d, %d", turn, plain, out[0], out[1]);
    }
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
    CHECK(requests[0] == MPI_REQUEST_NULL, "a freed request is not null");
}

static void requests_behave(void)
{
    int one = 1, sum = 0, flag = 0;
    MPI_Status status;
    MPI_Request request, inactive;
    check_step("what cannot be done to a collective's request");
    check_errors_return();
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    while (!flag)
        MPI_Request_get_status(request, &flag, &status);
    CHECK(sum == check.size, "the sum is %d", sum);
    memset(&status, 0, sizeof status);
    MPI_Wait(&request, &status);
    int cancelled = 1;
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(request == MPI_REQUEST_NULL && !cancelled, "a completed collective");
    CHECK_CLASS(MPI_Ibarrier(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Ibcast(&one, -1, MPI_INT, 0, MPI_COMM_WORLD, &request), MPI_ERR_COUNT);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &inactive);
    CHECK_CLASS(MPI_Cancel(&inactive), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Wait(&inactive, &status), MPI_SUCCESS);
    MPI_Start(&inactive);
    CHECK_CLASS(MPI_Start(&inactive), MPI_ERR_REQUEST);
    MPI_Wait(&inactive, &status);
    MPI_Request_free(&inactive);
}

/* A call that fails at one rank alone, whose part in it is to receive nothing that others send:
 * later calls match as if nothing had been. */
static void failed_call_keeps_step(void)
{
    int one = 1, sum = 0, data = check.rank == 0 ? 7 : 0, last = check.size - 1, in[2];
    check_step("a call that fails at one rank");
    if (check.rank == last)
        CHECK_CLASS(MPI_Scatterv(NULL, NULL, NULL, MPI_INT, in, -1, MPI_INT, 0, MPI_COMM_WORLD),
                    MPI_ERR_COUNT);
    else if (check.rank == 0) {
        int counts[64] = {0}, displs[64] = {0};
        counts[last] = 1;
        CHECK_CLASS(MPI_Scatterv(&data, counts, displs, MPI_INT, in, 0, MPI_INT, 0, MPI_COMM_WORLD),
                    MPI_SUCCESS);
    } else {
        MPI_Scatterv(NULL, NULL, NULL, MPI_INT, in, 0, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Scatter(&in, 0, MPI_INT, &in, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(data == 7 && sum == check.size, "later collectives bring %d and %d", data, sum);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    MPI_Barrier(MPI_COMM_WORLD); /* lane shm-coll: makes the shared area */
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.size >= 4)
        later_overtakes_earlier();
    barrier_waits();
    many_at_once();
    starts_in_any_order();
    requests_behave();
    if (check.size > 1 && check.size <= 64)
        failed_call_keeps_step();
    return check_done();
}
