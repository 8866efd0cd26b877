// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=4,7 lanes=shm,rxm,nodes deaths=yes seconds=60
// run: ranks=5 lanes=shm-coll,rxm-soft deaths=yes seconds=60
/*
 * Agreements, shrinking and revocation on an inter-communicator of the even and the odd ranks: with
 * all members, and after the deaths of one rank of each group, of which the second dies while the
 * others agree. A call that makes an inter-communicator of a group with a dead rank fails at both
 * groups.
 */
#include "deaths.h"

static MPI_Comm inter;
static int side;

static void make_inter(MPI_Comm *made)
{
    MPI_Comm local;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
    CHECK_CLASS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !side, 3, made), MPI_SUCCESS);
    MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    MPI_Comm_free(&local);
}

static int agree(MPI_Comm comm, int mine, int *code)
{
    MPI_Request request;
    int flag = mine;
    *code = MPIX_Comm_iagree(comm, &flag, &request);
    if (*code == MPI_SUCCESS)
        *code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    *code = check_class(*code);
    return flag;
}

/* Sizes of both groups, messages between them, and the communicator of both. */
static void check_shrunk(MPI_Comm comm, int dead_here, int dead_there)
{
    int rank, size, remote, sum = 0, total, one = 1;
    MPI_Comm both;
    int even = (check.size + 1) / 2, odd = check.size / 2;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_remote_size(comm, &remote);
    CHECK(size == (side ? odd : even) - dead_here, "the local group has %d ranks", size);
    CHECK(remote == (side ? even : odd) - dead_there, "the remote group has %d ranks", remote);
    CHECK_CLASS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK(sum == remote, "the sum of the remote group is %d", sum);
    for (int i = 0; i < remote; i++) {
        int from = -1, mine = 100 * side + rank;
        CHECK_CLASS(
            MPI_Sendrecv(&mine, 1, MPI_INT, i, 1, &from, 1, MPI_INT, i, 1, comm, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
        CHECK(from == 100 * !side + i, "rank %d sent %d", i, from);
    }
    CHECK_CLASS(MPI_Intercomm_merge(comm, side, &both), MPI_SUCCESS);
    MPI_Comm_size(both, &total);
    CHECK(total == size + remote, "%d ranks are merged", total);
    CHECK_CLASS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both), MPI_SUCCESS);
    CHECK(sum == total, "the sum of all is %d", sum);
    MPI_Comm_free(&both);
}

static void all_live(void)
{
    MPI_Comm made;
    int code;
    check_step("agreeing with all members");
    int flag = agree(inter, ~(1 << check.rank), &code);
    CHECK(code == MPI_SUCCESS, "class %d", code);
    CHECK(flag == (int)(~0u << check.size), "the flag is %x", (unsigned)flag);
    CHECK_CLASS(MPIX_Comm_shrink(inter, &made), MPI_SUCCESS);
    check_shrunk(made, 0, 0);
    MPI_Comm_free(&made);
}

static void revoked(void)
{
    MPI_Comm doomed;
    int number;
    check_step("revoking");
    make_inter(&doomed);
    if (check.rank == 1)
        CHECK_CLASS(MPIX_Comm_revoke(doomed), MPI_SUCCESS);
    else
        CHECK_CLASS(MPI_Recv(&number, 1, MPI_INT, 0, 1, doomed, MPI_STATUS_IGNORE),
                    MPIX_ERR_REVOKED);
    CHECK_CLASS(MPI_Barrier(doomed), MPIX_ERR_REVOKED);
    MPI_Comm made;
    CHECK_CLASS(MPIX_Comm_shrink(doomed, &made), MPI_SUCCESS);
    check_shrunk(made, 0, 0);
    MPI_Comm_free(&made);
    MPI_Comm_free(&doomed);
}

/* Of side 0 one rank revokes the local communicator, or each. */
static void make_of_revoked(MPI_Comm peer, bool each)
{
    MPI_Comm local, made;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
    MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
    if (side == 0 && (each || check.rank == 2))
        CHECK_CLASS(MPIX_Comm_revoke(local), MPI_SUCCESS);
    if (side == 0 || peer == MPI_COMM_WORLD)
        CHECK_CLASS(MPI_Intercomm_create(local, 0, peer, !side, 4, &made), MPIX_ERR_REVOKED);
    else if (check.rank == 1)
        CHECK_CLASS(MPIX_Comm_revoke(peer), MPI_SUCCESS);
    MPI_Comm_free(&local);
}

/* The other side does not wait for one that has revoked its communicator, nor that one for another
 * side that has left and revoked the communicator between them. */
static void revoked_side(void)
{
    MPI_Comm peer;
    check_step("making an inter-communicator of a revoked group");
    make_of_revoked(MPI_COMM_WORLD, true);
    make_of_revoked(MPI_COMM_WORLD, false);
    check_step("making one over a communicator that is revoked, too");
    MPI_Comm_dup(MPI_COMM_WORLD, &peer);
    make_of_revoked(peer, true);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&peer);
}

/* Of one side a member is dead. */
static void from_groups(void)
{
    MPI_Group mine, theirs;
    MPI_Comm made;
    check_step("making an inter-communicator of two groups");
    MPI_Comm_group(inter, &mine);
    MPI_Comm_remote_group(inter, &theirs);
    CHECK_CLASS(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "groups", MPI_INFO_NULL,
                                                 MPI_ERRORS_RETURN, &made),
                MPIX_ERR_PROC_FAILED);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
}

static void some_die(void)
{
    MPI_Comm made;
    MPI_Group dead;
    int code, first = check.size - 1, second = check.size - 2, size;
    if (check.rank == first)
        die();
    await_deaths(inter, 1);
    from_groups();
    check_step("agreeing without acknowledgement");
    int flag = agree(inter, check.rank == 0 ? 6 : 7, &code);
    CHECK(code == MPIX_ERR_PROC_FAILED && flag == 6, "class %d, flag %d", code, flag);
    MPIX_Comm_failure_ack(inter);
    check_step("agreeing with acknowledgement");
    flag = agree(inter, 7, &code);
    CHECK(code == MPI_SUCCESS && flag == 7, "class %d, flag %d", code, flag);
    if (check.rank == second)
        die();
    check_step("agreeing while rank %d dies", second);
    flag = agree(inter, 5, &code);
    CHECK((code == MPI_SUCCESS || code == MPIX_ERR_PROC_FAILED) && flag == 5, "class %d, flag %d",
          code, flag);
    await_deaths(inter, 2);
    check_step("shrinking");
    CHECK_CLASS(MPIX_Comm_shrink(inter, &made), MPI_SUCCESS);
    check_shrunk(made, 1, 1);
    CHECK_CLASS(MPIX_Comm_get_failed(made, &dead), MPI_SUCCESS);
    MPI_Group_size(dead, &size);
    CHECK(size == 0, "the new communicator has %d dead members", size);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 4);
    check_errors_return();
    side = check.rank % 2;
    make_inter(&inter);
    all_live();
    revoked();
    revoked_side();
    some_die();
    MPI_Comm_free(&inter);
    return check_survived();
}
