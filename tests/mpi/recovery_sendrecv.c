// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=shm,shm-copy,rxm,net-soft,nodes deaths=yes seconds=40
/*
 * MPI_Isendrecv with a dead destination waits for its message. A revocation of the communicator
 * ends it, as it ends all operations.
 */
#include "deaths.h"

static int in, out = 5;

static void wait_revoked(MPI_Request *request)
{
    MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
    int class = check_class(MPI_Wait(request, MPI_STATUS_IGNORE));
    CHECK(class == MPIX_ERR_REVOKED || class == MPIX_ERR_PROC_FAILED, "class %d", class);
}

/* Rank 0 waits for a message of rank 1, which revokes the communicator. */
static void exchange(MPI_Comm comm, int source, bool replace)
{
    MPI_Request request;
    check_step("an exchange with the dead rank and rank %d, replace %d", source, replace);
    if (check.rank == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPIX_Comm_revoke(comm);
        return;
    }
    MPIX_Comm_failure_ack(comm);
    if (replace)
        CHECK_CLASS(MPI_Isendrecv_replace(&out, 1, MPI_INT, 2, 1, source, 1, comm, &request),
                    MPI_SUCCESS);
    else
        CHECK_CLASS(
            MPI_Isendrecv(&out, 1, MPI_INT, 2, 1, &in, 1, MPI_INT, source, 1, comm, &request),
            MPI_SUCCESS);
    wait_revoked(&request);
}

int main(int argc, char **argv)
{
    enum { EXCHANGES = 4 };
    MPI_Comm comms[EXCHANGES];
    check_begin(&argc, &argv, 3);
    check_errors_return();
    for (int i = 0; i < EXCHANGES; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 2)
        die();
    await_deaths(MPI_COMM_WORLD, 1);
    for (int i = 0; i < EXCHANGES; i++)
        exchange(comms[i], i % 2 ? MPI_ANY_SOURCE : 1, i / 2);
    for (int i = 0; i < EXCHANGES; i++)
        MPI_Comm_free(&comms[i]);
    return check_survived();
}
