// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,4 lanes=shm,shm-coll,rxm,rxm-soft,net-soft seconds=120
/*
 * Many collectives that one rank refuses while the calls of the other ranks are pending, or before
 * they begin: each of these calls ends with the error of the refusal. Those of a persistent
 * collective end with it at each start.
 */
#include "refused.h"

/* Each of those through shared memory waits before it looks for its refusal. */
enum { CALLS = 100, AHEAD = 20 };

static MPI_Comm comm;
static int values[CALLS];

/* All calls are pending when their refusals arrive. */
static void pending(int root)
{
    MPI_Request requests[CALLS];
    check_step("%d pending calls that rank %d refuses", CALLS, root);
    for (int i = 0; i < CALLS; i++) {
        int code = MPI_Ibcast(&values[i], check.rank == root ? -1 - i : 1, MPI_INT, root, comm,
                              &requests[i]);
        CHECK_CLASS(code, check.rank == root ? MPI_ERR_COUNT : MPI_SUCCESS);
    }
    for (int i = 0; i < CALLS && check.rank != root; i++)
        check_refused(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), MPI_ERR_COUNT, root, "is negative",
                      "a pending call");
}

/* The root waits in its first call for the last rank, while the refusals of the next calls arrive.
 */
static void not_begun(int root)
{
    const struct timespec pause = {1, 0};
    int all[16], one = 1, last = (root + check.size - 1) % check.size;
    MPI_Request requests[AHEAD];
    check_step("calls that other ranks refuse before rank %d begins them", root);
    if (check.rank == last)
        nanosleep(&pause, NULL);
    CHECK_CLASS(MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, root, comm), MPI_SUCCESS);
    for (int i = 0; i < AHEAD; i++)
        if (check.rank == root)
            CHECK_CLASS(MPI_Igather(&one, 1, MPI_INT, all, 1, MPI_INT, root, comm, &requests[i]),
                        MPI_SUCCESS);
        else
            CHECK_CLASS(MPI_Gather(&one, -1 - i, MPI_INT, all, 1, MPI_INT, root, comm),
                        MPI_ERR_COUNT);
    for (int i = 0; i < AHEAD && check.rank == root; i++)
        CHECK_CLASS(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), MPI_ERR_COUNT);
}

static void persistent(int root)
{
    enum { STARTS = 3, KEPT = 40 };
    MPI_Request requests[KEPT];
    check_step("%d persistent calls that rank %d refuses", KEPT, root);
    for (int i = 0; i < KEPT; i++) {
        int code = MPI_Bcast_init(&values[i], check.rank == root ? -1 - i : 1, MPI_INT, root, comm,
                                  MPI_INFO_NULL, &requests[i]);
        CHECK_CLASS(code, check.rank == root ? MPI_ERR_COUNT : MPI_SUCCESS);
    }
    for (int start = 0; start < STARTS && check.rank != root; start++) {
        MPI_Startall(KEPT, requests);
        for (int i = 0; i < KEPT; i++)
            check_refused(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), MPI_ERR_COUNT, root,
                          "is negative", "a pending call");
    }
    for (int i = 0; i < KEPT && check.rank != root; i++)
        MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_errors_return();
    for (int root = 0; root < check.size; root++) {
        int sum = 0, one = 1;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        pending(root);
        if (root == 0)
            not_begun(root);
        if (root == check.size - 1)
            persistent(root);
        CHECK_CLASS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
        CHECK(sum == check.size, "the sum is %d", sum);
        MPI_Comm_free(&comm);
    }
    return check_done();
}
