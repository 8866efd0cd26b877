// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3,5,8 lanes=shm,rxm deaths=yes seconds=60
// run: ranks=2,4,6 lanes=shm-coll deaths=yes seconds=60
// run: ranks=4 lanes=shm-copy,rxm-soft,nodes deaths=yes seconds=60
/*
 * Ranks die at random times, while all agree and shrink: all living ones get the same flags and the
 * same errors, and communicators of the same members, on which messages and collectives work.
 * WEFT_TEST_SEED=S repeats one job.
 */
#include "deaths.h"

enum { ROUNDS = 300, SHRINK_EACH = 12 };

/* Combines the flags of the living; the result, with the error, is the same at all of them. */
static uint64_t agree(MPI_Comm comm, int round, bool nonblocking)
{
    int mine = (int)~(1u << draw(5, (uint64_t)(round * 64 + check.rank)) % 31), flag = mine, code;
    MPI_Request request = MPI_REQUEST_NULL;
    check_step("agreement %d", round);
    if (nonblocking) {
        CHECK_CLASS(MPIX_Comm_iagree(comm, &flag, &request), MPI_SUCCESS);
        code = check_class(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        code = check_class(MPIX_Comm_agree(comm, &flag));
    }
    CHECK(code == MPI_SUCCESS || code == MPIX_ERR_PROC_FAILED, "agreement %d: class %d", round,
          code);
    CHECK((flag & ~mine) == 0, "agreement %d: the flag %x has more than this rank's %x", round,
          (unsigned)flag, (unsigned)mine);
    if (code == MPIX_ERR_PROC_FAILED)
        MPIX_Comm_failure_ack(comm);
    return (uint64_t)(uint32_t)flag << 8 | (uint64_t)code;
}

static MPI_Comm shrink(MPI_Comm comm, bool nonblocking)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    check_step("shrinking");
    if (nonblocking) {
        CHECK_CLASS(MPIX_Comm_ishrink(comm, &made, &request), MPI_SUCCESS);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    } else {
        CHECK_CLASS(MPIX_Comm_shrink(comm, &made), MPI_SUCCESS);
    }
    return made;
}

/* All members have the same value and see the same group. False if a member died meanwhile. */
static bool compare(MPI_Comm comm, uint64_t value)
{
    int rank, size, ok = 1, other = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    uint64_t mine[4] = {value, (uint64_t)size, ~value, ~(uint64_t)size}, least[4] = {0};
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    check_step("comparing on %d of %d ranks", size, check.size);
    MPI_Request send = MPI_REQUEST_NULL;
    if (MPI_Isend(&rank, 1, MPI_INT, right, 5, comm, &send) != MPI_SUCCESS)
        ok = 0;
    if (MPI_Recv(&other, 1, MPI_INT, left, 5, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        ok = 0;
    else
        CHECK(other == left, "rank %d of %d received %d from %d", rank, size, other, left);
    if (MPI_Wait(&send, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        ok = 0;
    if (MPI_Allreduce(mine, least, 4, MPI_UINT64_T, MPI_MIN, comm) != MPI_SUCCESS)
        ok = 0;
    else
        CHECK(least[0] == value && least[1] == (uint64_t)size && ~least[2] == value &&
                  ~least[3] == (uint64_t)size,
              "rank %d of %d: %llx and %llx of others differ from %llx", rank, size,
              (unsigned long long)least[0], (unsigned long long)~least[2],
              (unsigned long long)value);
    bool well = MPIX_Comm_agree(comm, &ok) == MPI_SUCCESS;
    return ok && well;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;
    check_begin(&argc, &argv, 2);
    check_errors_return();
    draw_seed();
    arm_deaths();
    MPI_Comm last = MPI_COMM_NULL;
    for (int round = 1; round <= ROUNDS; round++) {
        sum = check_mix(sum ^ agree(MPI_COMM_WORLD, round, round % 3 == 0));
        if (round % SHRINK_EACH)
            continue;
        MPI_Comm from = last != MPI_COMM_NULL && round % 2 ? last : MPI_COMM_WORLD;
        MPI_Comm made = shrink(from, round % (2 * SHRINK_EACH) == 0);
        compare(made, sum);
        if (last != MPI_COMM_NULL)
            MPI_Comm_free(&last);
        last = made;
    }
    for (bool well = false; !well;) {
        MPI_Comm made = shrink(MPI_COMM_WORLD, false);
        well = compare(made, sum);
        MPI_Comm_free(&made);
    }
    return check_survived();
}
