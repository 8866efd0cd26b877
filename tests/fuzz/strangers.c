// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=shm,rxm,net-soft,nodes seconds=40
/*
 * The last rank sends the others revocations of communicators of which it is no member: they are
 * ignored, and those of a communicator that is being made take a bounded amount of memory. A
 * revocation of a member, behind them, is not.
 */
#include "../mpi/check.h"

#include "core/comm/comm.h"
#include "core/message/lane.h"

enum { FORGED = 2000, DONE = 1, CONTEXT };

static void revoke_at(int victim, unsigned context)
{
    struct weft_peer *peer = weft_peer_get(0, victim);
    CHECK(peer, "rank %d is no peer", victim);
    weft_vcis_enter();
    if (peer)
        weft_lane_of(peer)->revoke(peer, context);
    weft_vcis_leave();
}

static void attack(void)
{
    unsigned context;
    MPI_Recv(&context, 1, MPI_UNSIGNED, 0, CONTEXT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < FORGED; i++) {
        /* of the communicator, and of those that the victims make meanwhile */
        revoke_at(i % 2, context + (unsigned)(i / 2 % 8 * WEFT_CONTEXTS));
        if (i % 50 == 0)
            MPI_Sendrecv(NULL, 0, MPI_BYTE, i / 50 % 2, DONE, NULL, 0, MPI_BYTE, i / 50 % 2, DONE,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void answer(MPI_Comm victims)
{
    MPI_Comm made;
    int sum, flag = 1;
    unsigned context = ((struct weft_comm *)victims)->coll.context;
    if (check.rank == 0)
        MPI_Send(&context, 1, MPI_UNSIGNED, 2, CONTEXT, MPI_COMM_WORLD);
    for (int i = 0; i < FORGED / 100; i++) {
        MPI_Sendrecv(NULL, 0, MPI_BYTE, 2, DONE, NULL, 0, MPI_BYTE, 2, DONE, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Comm_dup(victims, &made);
        CHECK_CLASS(MPI_Allreduce(&check.rank, &sum, 1, MPI_INT, MPI_SUM, made), MPI_SUCCESS);
        CHECK(sum == 1, "the sum is %d", sum);
        CHECK_CLASS(MPIX_Comm_is_revoked(made, &flag), MPI_SUCCESS);
        CHECK(!flag, "a stranger has revoked a new communicator");
        MPI_Comm_free(&made);
    }
    CHECK_CLASS(MPIX_Comm_is_revoked(victims, &flag), MPI_SUCCESS);
    CHECK(!flag, "a stranger has revoked the communicator");
    CHECK_CLASS(MPI_Barrier(victims), MPI_SUCCESS);
    if (check.rank == 1)
        CHECK_CLASS(MPIX_Comm_revoke(victims), MPI_SUCCESS);
    else
        CHECK_CLASS(MPI_Recv(&sum, 1, MPI_INT, 1, DONE, victims, MPI_STATUS_IGNORE),
                    MPIX_ERR_REVOKED);
}

int main(int argc, char **argv)
{
    MPI_Comm victims;
    check_begin(&argc, &argv, 3);
    check_errors_return();
    for (int rank = 0; rank < check.size; rank++) /* connects all */
        MPI_Sendrecv(NULL, 0, MPI_BYTE, rank, DONE, NULL, 0, MPI_BYTE, rank, DONE, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, check.rank == 2 ? MPI_UNDEFINED : 0, check.rank, &victims);
    if (check.rank == 2) {
        attack();
    } else {
        MPI_Comm_set_errhandler(victims, MPI_ERRORS_RETURN);
        answer(victims);
        MPI_Comm_free(&victims);
    }
    return check_done();
}
