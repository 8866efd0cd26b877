// SPDX-License-Identifier: BSD-3-Clause
/*
 * Neighbourhood collectives: one message along each edge of the topology, all concurrent.
 *
 * Invariant: several edges between the same two ranks match in order (MPI 5.0, 8.6), as their
 * messages do. In a grid a message sent in one direction is received from the opposite direction,
 * so the two receives of a dimension are posted in the reverse order of its sends.
 */
#include "core/coll/schedule.h"

static void receive_all(struct weft_schedule *s, const struct weft_blocks *out,
                        const struct weft_neighbours *neighbours)
{
    for (int i = 0; i < neighbours->in; i++) {
        int j = neighbours->grid ? i ^ 1 : i;
        if (neighbours->sources[j] != MPI_PROC_NULL)
            weft_schedule_receive(s, neighbours->sources[j], weft_block(out, j));
    }
}

void weft_build_neighbor_allgather(struct weft_schedule *s, struct weft_elements in,
                                   const struct weft_blocks *out,
                                   const struct weft_neighbours *neighbours)
{
    receive_all(s, out, neighbours);
    for (int i = 0; i < neighbours->out; i++)
        if (neighbours->destinations[i] != MPI_PROC_NULL)
            weft_schedule_send(s, neighbours->destinations[i], in);
}

void weft_build_neighbor_alltoall(struct weft_schedule *s, const struct weft_blocks *in,
                                  const struct weft_blocks *out,
                                  const struct weft_neighbours *neighbours)
{
    receive_all(s, out, neighbours);
    for (int i = 0; i < neighbours->out; i++)
        if (neighbours->destinations[i] != MPI_PROC_NULL)
            weft_schedule_send(s, neighbours->destinations[i], weft_block(in, i));
}
