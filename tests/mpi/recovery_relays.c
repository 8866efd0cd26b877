// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3,5,8 lanes=shm,rxm deaths=yes seconds=60
// run: ranks=2,4,6 lanes=shm-coll deaths=yes seconds=60
// run: ranks=4 lanes=shm-copy,rxm-soft,nodes deaths=yes seconds=60
/*
 * Ranks die at random times during traffic, and while the others revoke the communicator, agree and
 * shrink. A rank that gets an error revokes the communicator, and some die as soon as they have:
 * all living ones leave their calls, get the same agreement and communicators of the same members,
 * and the traffic goes on there with right data. WEFT_TEST_SEED=S repeats one job.
 */
#include "deaths.h"

enum { ROUNDS = 120, LONG = 20000 };

static int rank, size, data[LONG];

/* True for success; else an error that a death is the reason of. */
static bool well(const char *what, int code)
{
    int class = check_class(code);
    CHECK(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED ||
              class == MPIX_ERR_PROC_FAILED_PENDING,
          "%s: class %d", what, class);
    return class == MPI_SUCCESS;
}

static bool pass_ring(MPI_Comm comm, int round)
{
    int n = round % 3 ? 1 : LONG, in[LONG], left = (rank + size - 1) % size;
    data[n - 1] = 1000 * round + rank;
    if (!well("MPI_Sendrecv", MPI_Sendrecv(data, n, MPI_INT, (rank + 1) % size, 1, in, n, MPI_INT,
                                           left, 1, comm, MPI_STATUS_IGNORE)))
        return false;
    CHECK(in[n - 1] == 1000 * round + left, "received %d in round %d", in[n - 1], round);
    return true;
}

/* Rank 0 receives from any source. */
static bool gather_any(MPI_Comm comm, int round)
{
    int sum = 0;
    for (int i = 1; rank == 0 && i < size; i++) {
        int value = 0;
        if (!well("MPI_Recv",
                  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, round, comm, MPI_STATUS_IGNORE)))
            return false;
        sum += value;
    }
    CHECK(rank || sum == size * (size - 1) / 2, "the sum of all is %d", sum);
    return !rank || well("MPI_Ssend", MPI_Ssend(&rank, 1, MPI_INT, 0, round, comm));
}

static bool reduce_all(MPI_Comm comm, int round)
{
    int n = round % 5 ? 1 : LONG, out[LONG];
    data[n - 1] = rank + 1;
    if (!well("MPI_Allreduce", MPI_Allreduce(data, out, n, MPI_INT, MPI_SUM, comm)))
        return false;
    CHECK(out[n - 1] == size * (size + 1) / 2, "the sum is %d", out[n - 1]);
    return true;
}

static bool broadcast(MPI_Comm comm, int round)
{
    MPI_Request request;
    data[0] = rank == round % size ? round : -1;
    if (!well("MPI_Ibcast", MPI_Ibcast(data, 1, MPI_INT, round % size, comm, &request)) ||
        !well("MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE)))
        return false;
    CHECK(data[0] == round, "the broadcast of round %d gave %d", round, data[0]);
    return true;
}

static bool (*const traffic[])(MPI_Comm comm, int round) = {pass_ring, gather_any, reduce_all,
                                                            broadcast};

/* The same result at all members that live: true if all were well. */
static bool agree(MPI_Comm comm, bool mine)
{
    int flag = mine;
    if (!mine) {
        CHECK_CLASS(MPIX_Comm_revoke(comm), MPI_SUCCESS);
        if (check.rank != survivor() && draw(7, (uint64_t)check.rank) % 4 == 0)
            die();
    }
    return well("MPIX_Comm_agree", MPIX_Comm_agree(comm, &flag)) && flag;
}

static void measure(MPI_Comm comm)
{
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
}

/* Replaces the communicator by ones of the living, until one works at all of them. */
static MPI_Comm repair(MPI_Comm comm, int round)
{
    for (bool good = false; !good;) {
        MPI_Comm made = MPI_COMM_NULL;
        int pair[2] = {round, -round}, most[2] = {0};
        check_step("shrinking in round %d", round);
        CHECK_CLASS(MPIX_Comm_shrink(comm, &made), MPI_SUCCESS);
        MPI_Comm_free(&comm);
        comm = made;
        measure(comm);
        good = well("MPI_Allreduce", MPI_Allreduce(pair, most, 2, MPI_INT, MPI_MAX, comm));
        CHECK(!good || (most[0] == round && most[1] == -round), "rounds %d to %d", -most[1],
              most[0]);
        good = agree(comm, good);
    }
    return comm;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_begin(&argc, &argv, 2);
    check_errors_return();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    measure(comm);
    draw_seed();
    arm_deaths();
    for (int round = 1; round <= ROUNDS; round++) {
        check_step("round %d", round);
        bool good = traffic[draw(6, (uint64_t)round) % 4](comm, round);
        if (!agree(comm, good))
            comm = repair(comm, round);
    }
    MPI_Comm_free(&comm);
    return check_survived();
}
