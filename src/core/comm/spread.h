// SPDX-License-Identifier: BSD-3-Clause
/*
 * Spread messages: the point-to-point messages of one communicator on several VCIs.
 *
 * A receive without wildcards names the source and the tag of its message. If all processes of a
 * communicator have asserted when it was made that they use no MPI_ANY_TAG
 * (mpi_assert_no_any_tag), the tag decides on which channel, and so on which VCI, a message is sent
 * and matched. If they have asserted only that they use no MPI_ANY_SOURCE
 * (mpi_assert_no_any_source), the ranks of sender and receiver decide. Messages that the same
 * receive could match have one channel, so their order is kept. Collectives and partitioned
 * communication use the channels that they use without assertions.
 *
 * Invariants:
 *  - Sender and receiver compute the same key: it depends on the tag, or on the sum of both ranks.
 *  - The channels of a communicator, their number and the rule are the same in all processes of the
 *    communicator (core/comm/context_alloc.h), and never change. So no message of the communicator
 *    is in flight when its rule begins to hold.
 *  - The channel p2p of such a communicator has no messages and no ranks: size and sources are 0,
 *    so that the fast paths without threads, which use p2p, take no call.
 */
#ifndef WEFT_SPREAD_H
#define WEFT_SPREAD_H

#include "core/comm/comm.h"

/* Bits of weft_comm.assertions: core/comm/comm_info.c. */
enum weft_assertion { WEFT_ASSERT_NO_ANY_TAG = 1, WEFT_ASSERT_NO_ANY_SOURCE = 2 };

/* The bits that the processes of a communicator agree on. */
enum { WEFT_ASSERT_AGREED = WEFT_ASSERT_NO_ANY_TAG | WEFT_ASSERT_NO_ANY_SOURCE };

/* The rule that follows from the assertions of all processes. */
static inline enum weft_spread weft_spread_rule(unsigned assertions)
{
    return assertions & WEFT_ASSERT_NO_ANY_TAG      ? WEFT_SPREAD_BY_TAG
           : assertions & WEFT_ASSERT_NO_ANY_SOURCE ? WEFT_SPREAD_BY_RANKS
                                                    : WEFT_SPREAD_NONE;
}

/* The number of channels with so many VCI numbers: a power of two, so that no message costs a
 * division.
 */
static inline unsigned weft_spread_channels(unsigned vci_numbers)
{
    unsigned channels = 1;
    while (2 * channels <= vci_numbers)
        channels *= 2;
    return channels;
}

/* The index of a message's channel. Of rank and peer one is the sender, the other the receiver. */
static inline uint32_t weft_spread_index(enum weft_spread rule, uint32_t channels, int rank,
                                         int peer, int tag)
{
    uint32_t key = rule == WEFT_SPREAD_BY_TAG ? (uint32_t)tag : (uint32_t)rank + (uint32_t)peer;
    return key & (channels - 1);
}

/* The channel of a message with a peer. Arguments that are no rank or tag get one too, on which
 * their error is raised. */
static inline struct weft_channel *weft_comm_channel(struct weft_comm *comm, int peer, int tag)
{
    if (weft_likely(!comm->spread))
        return &comm->p2p;
    return &comm->spread[weft_spread_index(comm->spread_rule, comm->spread_channels, comm->rank,
                                           peer, tag)];
}

#endif
