// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4 lanes=shm,rxm,net-soft deaths=yes seconds=30
/*
 * What a program learns of dead members: who they are, in one order, and which of them it has
 * acknowledged; for a communicator with them, one without, an inter-communicator and a window.
 */
#include "deaths.h"

#include <mpi-ext.h>

_Static_assert(MPI_ERR_PROC_FAILED == MPIX_ERR_PROC_FAILED &&
                   MPI_ERR_PROC_FAILED_PENDING == MPIX_ERR_PROC_FAILED_PENDING &&
                   MPI_ERR_REVOKED == MPIX_ERR_REVOKED,
               "the names of Open MPI's header");

static MPI_Comm halves; /* between the even and the odd ranks */

/* The group has these ranks of MPI_COMM_WORLD in this order. Frees it. */
static void expect(const char *what, MPI_Group group, int n, const int *ranks)
{
    int size = -1, found[4] = {-1, -1, -1, -1}, all[4] = {0, 1, 2, 3};
    MPI_Group world;
    MPI_Group_size(group, &size);
    CHECK(size == n, "%s: %d dead instead of %d", what, size, n);
    CHECK((size == 0) == (group == MPI_GROUP_EMPTY), "%s: the group of %d is not the empty one",
          what, size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (size == n)
        MPI_Group_translate_ranks(group, n, all, world, found);
    for (int i = 0; size == n && i < n; i++)
        CHECK(found[i] == ranks[i], "%s: rank %d is dead instead of %d", what, found[i], ranks[i]);
    MPI_Group_free(&world);
    if (group != MPI_GROUP_EMPTY)
        MPI_Group_free(&group);
}

static void expect_failed(MPI_Comm comm, int n, const int *ranks)
{
    MPI_Group group = MPI_GROUP_NULL;
    CHECK_CLASS(MPIX_Comm_get_failed(comm, &group), MPI_SUCCESS);
    expect("MPIX_Comm_get_failed", group, n, ranks);
}

static void expect_acked(MPI_Comm comm, int n, const int *ranks)
{
    MPI_Group group = MPI_GROUP_NULL;
    CHECK_CLASS(MPIX_Comm_failure_get_acked(comm, &group), MPI_SUCCESS);
    expect("MPIX_Comm_failure_get_acked", group, n, ranks);
}

static void expect_ack(MPI_Comm comm, int count, int wanted)
{
    int acked = -1;
    CHECK_CLASS(MPIX_Comm_ack_failed(comm, count, &acked), MPI_SUCCESS);
    CHECK(acked == wanted, "%d dead of %d are acknowledged instead of %d", acked, count, wanted);
}

/* After rank 3, and then rank 1. */
static void look_at_deaths(MPI_Win win)
{
    static const int dead[] = {3, 1};
    MPI_Group group = MPI_GROUP_NULL;
    int flag = 7, token = 0;
    await_deaths(MPI_COMM_WORLD, 1);
    expect_failed(MPI_COMM_WORLD, 1, dead);
    expect_failed(MPI_COMM_SELF, 0, dead);
    expect_failed(halves, 1, dead);
    expect_acked(MPI_COMM_WORLD, 0, dead);
    expect_ack(MPI_COMM_WORLD, 0, 0);
    expect_ack(MPI_COMM_WORLD, 9, 1);
    expect_acked(MPI_COMM_WORLD, 1, dead);
    expect_acked(halves, 0, dead);
    MPI_Sendrecv(&token, 1, MPI_INT, 2 - check.rank, 0, &token, 1, MPI_INT, 2 - check.rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (check.rank == 0)
        MPI_Send(&token, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    await_deaths(MPI_COMM_WORLD, 2);
    expect_failed(MPI_COMM_WORLD, 2, dead);
    expect_acked(MPI_COMM_WORLD, 1, dead);
    expect_ack(MPI_COMM_WORLD, 1, 1);
    expect_ack(halves, 1, 1);
    expect_acked(halves, 1, dead);
    CHECK_CLASS(MPIX_Comm_failure_ack(halves), MPI_SUCCESS);
    expect_acked(halves, 2, dead);
    expect_acked(MPI_COMM_WORLD, 1, dead);
    CHECK_CLASS(MPIX_Win_get_failed(win, &group), MPI_SUCCESS);
    expect("MPIX_Win_get_failed", group, 2, dead);
    CHECK_CLASS(MPIX_Comm_is_revoked(MPI_COMM_WORLD, &flag), MPI_SUCCESS);
    CHECK(flag == 0, "a communicator that nobody revoked is revoked: %d", flag);
}

static void look_at_arguments(void)
{
    MPI_Group group;
    int number = 0, flag = 0, *value = NULL;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &value, &flag);
    CHECK(flag && *value == 1, "the attribute MPIX_FT is not 1");
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPIX_FT, &number), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPIX_Comm_get_failed(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Comm_failure_get_acked(MPI_COMM_NULL, &group), MPI_ERR_COMM);
    CHECK_CLASS(MPIX_Comm_ack_failed(MPI_COMM_WORLD, -1, &number), MPI_ERR_COUNT);
    CHECK_CLASS(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 1, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Win_get_failed(MPI_WIN_NULL, &group), MPI_ERR_WIN);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    MPI_Win win;
    int token = 0;
    check_begin(&argc, &argv, 4);
    check_errors_return();
    look_at_arguments();
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check.rank % 2, 0, &halves);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    expect_failed(halves, 0, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 3)
        die();
    if (check.rank == 1) {
        MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        die();
    }
    look_at_deaths(win);
    return check_survived();
}
