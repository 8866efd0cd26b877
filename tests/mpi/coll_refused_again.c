// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=shm seconds=120
/*
 * What refused collectives leave on a communicator that lives on. Refusals and data that nobody
 * receives do not stay at a rank that refuses, too: their number is bounded. And they are not taken
 * for those of the call that has the same tag, 2^18 calls later. On an inter-communicator that also
 * holds for the data that its calls send within a group.
 */
#include "tool.h"

/* Making shared memory for the collectives takes numbers, too. */
enum { NUMBERS = 1 << 18, NEAR = 5, TIMES = 300 };

/* All ranks refuse: nobody waits for the refusals. */
static void memory(MPI_Comm comm)
{
    int value = 0;
    int64_t left, most = 0;
    check_step("%d calls that all ranks refuse", TIMES);
    for (int i = 0; i < TIMES; i++) {
        CHECK_CLASS(MPI_Bcast(&value, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
        MPI_Barrier(MPI_COMM_WORLD);
        left = tool_unexpected();
        most = left > most ? left : most;
    }
    CHECK(most < 8 * check.size, "%lld messages were kept", (long long)most);
    for (int i = 0; i < 8; i++) /* shared memory for the collectives is made */
        CHECK_CLASS(MPI_Bcast(&value, 1, MPI_INT, 0, comm), MPI_SUCCESS);
    check_step("%d calls whose data nobody receives", TIMES);
    for (int i = 0; i < TIMES; i++) {
        value = -5;
        int code = MPI_Bcast(&value, check.rank ? -1 : 1, MPI_INT, 0, comm);
        CHECK_CLASS(code, check.rank ? MPI_ERR_COUNT : MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    left = check.rank ? tool_unexpected() : 0; /* rank 0 waits for none, and keeps the refusals */
    CHECK(left < 8 * check.size, "%lld messages are still kept", (long long)left);
}

/* Rank 0 refuses calls for which its own group has sent it data. */
static void within_a_group(void)
{
    MPI_Comm local, inter;
    MPI_Request requests[TIMES];
    int one = 1, sums[TIMES], last = check.size - 1, color = check.rank == last;
    check_step("%d calls between two groups that rank 0 refuses", TIMES);
    MPI_Comm_split(MPI_COMM_WORLD, color, 0, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, color ? 0 : last, 7, &inter);
    int64_t before = check.rank ? 0 : tool_unexpected();
    for (int i = 0; i < TIMES; i++) {
        if (check.rank > 0)
            MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, inter, &requests[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0)
            CHECK_CLASS(MPI_Allreduce(&one, sums, -1, MPI_INT, MPI_SUM, inter), MPI_ERR_COUNT);
    }
    int64_t left = check.rank ? 0 : tool_unexpected() - before;
    CHECK(left < 8 * check.size, "%lld messages are kept", (long long)left);
    for (int i = 0; i < TIMES && check.rank > 0; i++)
        CHECK_CLASS(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

/* Comes to the call that has the tag of a refused one. */
static void much_later(MPI_Comm comm, bool all)
{
    int value = -7, count = all || check.rank ? -1 : 1;
    check_step("a call that %s", all ? "all ranks refuse" : "all but the root refuse");
    MPI_Bcast(&value, count, MPI_INT, 0, comm);
    check_step("2^18 calls");
    for (int i = 0; i < NUMBERS - NEAR; i++) {
        if (i % 1024 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        value = i;
        MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    }
    check_step("the calls with about the same tag");
    struct timespec pause = {0, 400000000};
    for (int i = 0; i < 2 * NEAR; i++) { /* the ranks wait so long that they look for refusals */
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0)
            nanosleep(&pause, NULL);
        value = check.rank == 0 ? 4711 + i : 0;
        CHECK_CLASS(MPI_Bcast(&value, 1, MPI_INT, 0, comm), MPI_SUCCESS);
        CHECK(value == 4711 + i, "got %d, not %d", value, 4711 + i);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_begin(&argc, &argv, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    memory(comm);
    MPI_Comm_free(&comm);
    if (check.size > 2)
        within_a_group();
    for (int all = 0; all < 2; all++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        much_later(comm, all);
        MPI_Comm_free(&comm);
    }
    return check_done();
}
