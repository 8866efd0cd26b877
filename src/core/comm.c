// SPDX-License-Identifier: BSD-3-Clause
/*
 * The predefined communicators.
 *
 * Invariant: context ids come in pairs, even for point-to-point and odd for collectives;
 * MPI_COMM_WORLD has 0 and 1, MPI_COMM_SELF 2 and 3.
 */
#include "core/comm.h"
#include "core/weft.h"
#include "ofi/net.h"

#include <stdlib.h>

struct weft_comm weft_comm_world = {
    .errhandler = &weft_errors_are_fatal, .handle = MPI_COMM_WORLD, .name = "MPI_COMM_WORLD"};
struct weft_comm weft_comm_self = {
    .errhandler = &weft_errors_are_fatal, .handle = MPI_COMM_SELF, .name = "MPI_COMM_SELF"};

static int32_t *world_ranks, self_rank[1];
static struct weft_peer *self_peer[1] = {&weft_peer_unknown};

static void open_channel(struct weft_channel *channel, struct weft_comm *comm, uint32_t context)
{
    *channel = (struct weft_channel){.context = context, .comm = comm};
    if (comm->size == 1 || weft_net_software_matching())
        channel->held = WEFT_HELD_ALWAYS;
    channel->sources = channel->held ? 0 : (uint32_t)comm->size;
    channel->wildcards_held = channel->held != 0;
    channel->net_bits = weft_net_context_bits(context);
    channel->net_rank = weft_net_rank_bits(comm->rank);
}

static void open_comm(struct weft_comm *comm, int rank, int size, const int32_t *world,
                      struct weft_peer **peers, uint32_t context)
{
    comm->object.kind = WEFT_KIND_COMM;
    comm->rank = rank;
    comm->size = size;
    comm->world = world;
    comm->peers = peers;
    open_channel(&comm->p2p, comm, context);
    open_channel(&comm->coll, comm, context + 1);
    weft_handle_predefine((uintptr_t)comm->handle, &comm->object);
}

struct weft_channel *weft_channel_of(uint32_t context)
{
    struct weft_channel *const channels[] = {&weft_comm_world.p2p, &weft_comm_world.coll,
                                             &weft_comm_self.p2p, &weft_comm_self.coll};
    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++)
        if (channels[i]->context == context)
            return channels[i];
    return NULL;
}

int weft_comm_rank_of(const struct weft_comm *comm, int world)
{
    for (int rank = 0; rank < comm->size; rank++)
        if (comm->world[rank] == world)
            return rank;
    return -1;
}

int weft_comm_init(void)
{
    int size = weft.job.size;
    world_ranks = malloc((size_t)size * sizeof *world_ranks);
    if (!world_ranks)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < size; i++)
        world_ranks[i] = i;
    self_rank[0] = weft.job.rank;
    open_comm(&weft_comm_world, weft.job.rank, size, world_ranks, weft.peers, 0);
    open_comm(&weft_comm_self, 0, 1, self_rank, self_peer, 2);
    return MPI_SUCCESS;
}

void weft_comm_finalize(void)
{
    free(world_ranks);
    world_ranks = NULL;
}
