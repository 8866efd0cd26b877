// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clocks of nodes: the difference of each to that of rank 0.
 *
 * One rank of each node, the lowest, exchanges ROUNDS messages with rank 0, which returns its time;
 * the round trip that took the least time counts, with the time of rank 0 at its middle. The error
 * is at most half of this round trip. On the node of rank 0 the difference is 0. Processes of a
 * node in different time namespaces, as containers may have, count as different nodes here.
 */
#include "tools/profile/messages.h"
#include "core/base/clock.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ROUNDS = 8, TAG_CLOCK = 5 };

static double measure(void)
{
    double best = 1e9, difference = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double theirs = 0, before = weft_seconds();
        if (weft_next.Sendrecv(NULL, 0, MPI_BYTE, 0, TAG_CLOCK, &theirs, 1, MPI_DOUBLE, 0,
                               TAG_CLOCK, profile.channel, MPI_STATUS_IGNORE))
            return difference;
        double after = weft_seconds();
        if (after - before < best) {
            best = after - before;
            difference = theirs - (before + after) / 2;
        }
    }
    return difference;
}

static void serve(int rank)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (weft_next.Recv(NULL, 0, MPI_BYTE, rank, TAG_CLOCK, profile.channel, MPI_STATUS_IGNORE))
            return;
        double now = weft_seconds();
        weft_next.Send(&now, 1, MPI_DOUBLE, rank, TAG_CLOCK, profile.channel);
    }
}

/* Reads which ranks are on this node. */
static void find_distances(MPI_Comm node)
{
    MPI_Group world, near;
    int n;
    weft_next.Comm_size(node, &n);
    int *ranks = weft_interpose_allocate((size_t)n * 2, sizeof *ranks);
    profile.distances = weft_interpose_allocate((size_t)profile.size, 1);
    for (int i = 0; i < n; i++)
        ranks[n + i] = i;
    weft_next.Comm_group(profile.channel, &world);
    weft_next.Comm_group(node, &near);
    weft_next.Group_translate_ranks(near, n, ranks + n, world, ranks);
    weft_next.Group_free(&near);
    weft_next.Group_free(&world);
    memset(profile.distances, PROFILE_FAR, (size_t)profile.size);
    for (int i = 0; i < n; i++)
        profile.distances[ranks[i]] = PROFILE_NODE;
    profile.distances[profile.rank] = PROFILE_ITSELF;
    free(ranks);
}

/* A number of the time namespace of this process. */
static int time_namespace(void)
{
    struct stat namespace;
    return stat("/proc/self/ns/time", &namespace) == 0 ? (int)(namespace.st_ino & INT_MAX) : 0;
}

double profile_clock_difference(void)
{
    MPI_Comm node, same;
    int rank = 0, *leads = weft_interpose_allocate((size_t)profile.size, sizeof *leads);
    double difference = 0;
    if (weft_next.Comm_split_type(profile.channel, MPI_COMM_TYPE_SHARED, profile.rank,
                                  MPI_INFO_NULL, &node)) {
        free(leads);
        return 0;
    }
    if (!profile.distances)
        find_distances(node);
    if (weft_next.Comm_split(node, time_namespace(), profile.rank, &same) == MPI_SUCCESS) {
        weft_next.Comm_free(&node);
        node = same;
    }
    weft_next.Comm_rank(node, &rank);
    int lead = rank == 0;
    weft_next.Gather(&lead, 1, MPI_INT, leads, 1, MPI_INT, 0, profile.channel);
    if (profile.rank == 0) {
        for (int i = 1; i < profile.size; i++)
            if (leads[i])
                serve(i);
    } else if (lead) {
        difference = measure();
    }
    weft_next.Bcast(&difference, 1, MPI_DOUBLE, 0, node);
    weft_next.Comm_free(&node);
    free(leads);
    return difference;
}
