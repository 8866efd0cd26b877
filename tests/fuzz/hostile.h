// SPDX-License-Identifier: BSD-3-Clause
/*
 * A job with a hostile rank, the last one. The other ranks, its victims, exchange messages and
 * verify them until the hostile rank has sent its last tick, and count what they drop.
 *
 * Invariant: what the hostile rank sends depends on the seed alone.
 */
#ifndef WEFT_TESTS_HOSTILE_H
#define WEFT_TESTS_HOSTILE_H

#include "../mpi/check.h"

#include "core/base/clock.h"
#include "core/comm/comm.h"
#include "core/message/count.h"
#include "core/progress/progress.h"
#include "ofi/ofi_internal.h"

enum { TICK = 1, TOCK, DATA, VICTIMS_MAX = 64 };

static struct {
    int rank;         /* of the hostile rank: also the number of victims */
    MPI_Comm victims; /* all ranks but that */
    uint64_t random;
    long certain[VICTIMS_MAX]; /* messages or completions that each victim has to drop */
} hostile;

/* A random number below a limit, or any number if that is 0. */
static uint64_t any(uint64_t below)
{
    hostile.random++;
    return below ? check_mix(hostile.random) % below : check_mix(hostile.random);
}

/* Connects all ranks, and forms the communicator of the victims. */
static void hostile_begin(int seed)
{
    hostile.rank = check.size - 1;
    hostile.random = check_mix((uint64_t)seed);
    for (int rank = 0; rank < check.size; rank++)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, rank, DATA, NULL, 0, MPI_BYTE, rank, DATA, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, check.rank == hostile.rank ? MPI_UNDEFINED : 0, check.rank,
                   &hostile.victims);
}

/* At the hostile rank: the provider's address of a victim. */
static void victim_address(int rank, void *address, size_t bytes)
{
    struct weft_peer *peer = weft_peer_get(0, rank);
    int rc = fi_av_lookup(weft_net_of_peer(peer)->objects.av, weft_net_peer(peer)->fast.address,
                          address, &bytes);
    CHECK(!rc, "the address of rank %d cannot be read: %s", rank, fi_strerror(-rc));
}

/* At the hostile rank: waits until all victims make progress. last: the attack is over. */
static void hostile_tick(int last)
{
    for (int to = 0; to < hostile.rank; to++)
        MPI_Send(&last, 1, MPI_INT, to, TICK, MPI_COMM_WORLD);
    for (int from = 0; from < hostile.rank; from++)
        MPI_Recv(NULL, 0, MPI_BYTE, from, TOCK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* At a victim: runs rounds until the hostile rank has sent its last tick to every victim. */
static void endure(void (*exchange)(int round, uint64_t *seed))
{
    MPI_Request tick;
    uint64_t seed = hostile.random;
    int last = 0, all = 0, arrived;
    MPI_Irecv(&last, 1, MPI_INT, hostile.rank, TICK, MPI_COMM_WORLD, &tick);
    for (int round = 0; !all; round++) {
        check_step("exchanging messages, round %d", round);
        exchange(round, &seed);
        MPI_Test(&tick, &arrived, MPI_STATUS_IGNORE);
        if (arrived && tick == MPI_REQUEST_NULL && last >= 0) {
            MPI_Send(NULL, 0, MPI_BYTE, hostile.rank, TOCK, MPI_COMM_WORLD);
            if (last)
                last = -1;
            else
                MPI_Irecv(&last, 1, MPI_INT, hostile.rank, TICK, MPI_COMM_WORLD, &tick);
        }
        int done = last < 0;
        MPI_Allreduce(&done, &all, 1, MPI_INT, MPI_LAND, hostile.victims);
    }
}

/* Verifies that each victim has dropped what it had to drop. Rank 0 prints the sums. */
static void count_dropped(long sent, const char *what)
{
    long mine[2] = {0, 0}, all[2] = {0, 0};
    MPI_Scatter(hostile.certain, 1, MPI_LONG, &mine[0], 1, MPI_LONG, hostile.rank, MPI_COMM_WORLD);
    if (check.rank != hostile.rank)
        mine[1] = (long)weft_counts.net_dropped;
    else
        mine[0] = 0;
    CHECK(mine[1] >= mine[0], "%ld %s had to be dropped, %ld were", mine[0], what, mine[1]);
    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (check.rank == 0)
        printf("%ld %s sent, %ld of them certainly wrong, %ld dropped\n", sent, what, all[0],
               all[1]);
}

#endif
