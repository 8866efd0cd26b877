// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,4 lanes=shm,rxm,net-soft,nodes seconds=60
// run: ranks=3 lanes=shm-copy,rxm-soft seconds=60
/*
 * MPIX_Comm_revoke: one rank revokes a communicator while the others wait in each kind of call on
 * it. All calls end with MPIX_ERR_REVOKED, new ones fail, those for recovery go on, and other
 * communicators are as before. Nobody dies here.
 */
#include "deaths.h"

#include <stdlib.h>

enum { LONG = 1 << 20 };

static MPI_Comm comm; /* the one that is revoked */
static int revoker, numbers[4];
static char *data;

/* ---- What the ranks wait in, but the one that revokes. Nothing of it can complete. */

static void wait_receive(void)
{
    expect_revoked("MPI_Recv", MPI_Recv(numbers, 1, MPI_INT, revoker, 5, comm, MPI_STATUS_IGNORE));
}

static void wait_any_source(void)
{
    expect_revoked("MPI_Recv from any source",
                   MPI_Recv(numbers, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE));
}

static void wait_probe(void)
{
    expect_revoked("MPI_Probe", MPI_Probe(revoker, 5, comm, MPI_STATUS_IGNORE));
}

static void wait_ssend(void)
{
    expect_revoked("MPI_Ssend", MPI_Ssend(numbers, 1, MPI_INT, revoker, 5, comm));
}

static void wait_long_send(void)
{
    expect_revoked("MPI_Send", MPI_Send(data, LONG, MPI_CHAR, revoker, 5, comm));
}

static void wait_sendrecv(void)
{
    expect_revoked("MPI_Sendrecv", MPI_Sendrecv(data, LONG, MPI_CHAR, revoker, 5, numbers, 1,
                                                MPI_INT, revoker, 6, comm, MPI_STATUS_IGNORE));
}

static void wait_persistent(void)
{
    MPI_Request request;
    if (!has_started("MPI_Recv_init",
                     MPI_Recv_init(numbers, 1, MPI_INT, revoker, 5, comm, &request)))
        return;
    if (has_started("MPI_Start", MPI_Start(&request)))
        expect_revoked("MPI_Wait of a persistent receive", MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_revoked("MPI_Start", MPI_Start(&request));
    MPI_Request_free(&request);
}

static void wait_partitioned(void)
{
    MPI_Request request;
    if (!has_started("MPI_Precv_init", MPI_Precv_init(numbers, 2, 1, MPI_INT, revoker, 5, comm,
                                                      MPI_INFO_NULL, &request)))
        return;
    if (has_started("MPI_Start", MPI_Start(&request)))
        expect_revoked("MPI_Wait of a partitioned receive", MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Request_free(&request);
}

static void wait_many(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int n = 0;
    for (int i = 0; i < 3; i++)
        n += has_started("MPI_Irecv",
                         MPI_Irecv(&numbers[i], 1, MPI_INT, i ? revoker : MPI_ANY_SOURCE, 5 + i,
                                   comm, &requests[n]));
    n += has_started("MPI_Issend", MPI_Issend(data, 1, MPI_CHAR, revoker, 5, comm, &requests[n]));
    if (n)
        CHECK_CLASS(MPI_Waitall(n, requests, statuses), MPI_ERR_IN_STATUS);
    for (int i = 0; i < n; i++)
        expect_revoked("MPI_Waitall", statuses[i].MPI_ERROR);
}

static void wait_barrier(void)
{
    expect_revoked("MPI_Barrier", MPI_Barrier(comm));
}

static void wait_allreduce(void)
{
    expect_revoked("MPI_Allreduce",
                   MPI_Allreduce(MPI_IN_PLACE, data, LONG / 8, MPI_LONG, MPI_SUM, comm));
}

static void wait_ibcast(void)
{
    MPI_Request request;
    if (has_started("MPI_Ibcast", MPI_Ibcast(data, LONG, MPI_CHAR, revoker, comm, &request)))
        expect_revoked("MPI_Wait of MPI_Ibcast", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void wait_dup(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    expect_revoked("MPI_Comm_dup", MPI_Comm_dup(comm, &made));
}

static void wait_idup(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;
    if (has_started("MPI_Comm_idup", MPI_Comm_idup(comm, &made, &request)))
        expect_revoked("MPI_Wait of MPI_Comm_idup", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void wait_split(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    expect_revoked("MPI_Comm_split", MPI_Comm_split(comm, 0, 0, &made));
}

static void wait_window(void)
{
    MPI_Win win = MPI_WIN_NULL;
    expect_revoked("MPI_Win_create", MPI_Win_create(data, 8, 1, MPI_INFO_NULL, comm, &win));
}

static void (*const waits[])(void) = {
    wait_receive, wait_any_source, wait_probe,       wait_ssend,   wait_long_send, wait_sendrecv,
    wait_many,    wait_persistent, wait_partitioned, wait_barrier, wait_allreduce, wait_ibcast,
    wait_dup,     wait_idup,       wait_split,       wait_window};

/* ---- After it */

static void look_at_revoked(void)
{
    int flag = 0, value = 1, size;
    MPI_Request request;
    MPI_Group group;
    MPI_Comm made;
    CHECK_CLASS(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS);
    CHECK(flag, "a revoked communicator is not");
    CHECK_CLASS(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    expect_revoked("a new MPI_Send", MPI_Send(&value, 1, MPI_INT, revoker, 9, comm));
    expect_revoked("a new MPI_Irecv", MPI_Irecv(&value, 1, MPI_INT, revoker, 9, comm, &request));
    expect_revoked("a new MPI_Iprobe",
                   MPI_Iprobe(MPI_ANY_SOURCE, 9, comm, &flag, MPI_STATUS_IGNORE));
    expect_revoked("a new MPI_Bcast", MPI_Bcast(&value, 1, MPI_INT, 0, comm));
    expect_revoked("a new MPI_Ibarrier", MPI_Ibarrier(comm, &request));
    expect_revoked("a new MPI_Comm_dup", MPI_Comm_dup(comm, &made));
    CHECK_CLASS(MPI_Comm_size(comm, &size), MPI_SUCCESS);
    CHECK_CLASS(MPI_Comm_group(comm, &group), MPI_SUCCESS);
    MPI_Group_free(&group);
    CHECK_CLASS(MPIX_Comm_get_failed(comm, &group), MPI_SUCCESS);
    CHECK_CLASS(MPIX_Comm_failure_ack(comm), MPI_SUCCESS);
}

/* All members come here. */
static void recover(void)
{
    int flag = ~(1 << check.rank), all = ~((1 << check.size) - 1), sum = 0, size;
    MPI_Comm made = MPI_COMM_NULL;
    CHECK_CLASS(MPIX_Comm_agree(comm, &flag), MPI_SUCCESS);
    CHECK(flag == all, "the agreement on a revoked communicator is %x", (unsigned)flag);
    CHECK_CLASS(MPIX_Comm_shrink(comm, &made), MPI_SUCCESS);
    MPI_Comm_size(made, &size);
    CHECK_CLASS(MPIX_Comm_is_revoked(made, &flag), MPI_SUCCESS);
    CHECK(size == check.size && !flag, "the new communicator has %d members, revoked %d", size,
          flag);
    CHECK_CLASS(MPI_Allreduce(&check.rank, &sum, 1, MPI_INT, MPI_SUM, made), MPI_SUCCESS);
    CHECK(sum == check.size * (check.size - 1) / 2, "the sum on the new communicator is %d", sum);
    MPI_Comm_free(&made);
}

/* The others have freed the communicator, with a receive that only the revocation ends. */
static void receive_on_freed(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    check_step("a receive on a freed communicator");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (check.rank > 0) {
        MPI_Irecv(numbers, 1, MPI_INT, 0, 1, comm, &request);
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_CLASS(MPIX_Comm_revoke(comm), MPI_SUCCESS);
        MPI_Comm_free(&comm);
    } else {
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_errors_return();
    data = calloc(LONG, 1);
    for (int kind = 0; kind < (int)(sizeof waits / sizeof waits[0]); kind++) {
        check_step("wait %d", kind);
        revoker = kind % check.size;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == revoker) {
            if (kind % 3 == 0)
                usleep(20000); /* the others wait already, mostly */
            CHECK_CLASS(MPIX_Comm_revoke(comm), MPI_SUCCESS);
        } else {
            waits[kind]();
        }
        if (check.rank != revoker || kind % 2)
            look_at_revoked();
        recover();
        MPI_Comm_free(&comm);
        int sum = 0;
        CHECK_CLASS(MPI_Allreduce(&check.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                    MPI_SUCCESS);
        CHECK(sum == check.size * (check.size - 1) / 2, "the sum of the world is %d", sum);
    }
    receive_on_freed();
    free(data);
    return check_done();
}
