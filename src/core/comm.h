// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators: a group, two channels (point-to-point and collective), an error handler.
 *
 * Invariants:
 *  - world[i] is the rank in MPI_COMM_WORLD of rank i.
 *  - A channel's context id belongs to this communicator alone for as long as any of its messages
 *    can be on the way.
 *  - A channel with held != 0 may post no receive to the provider: some receive of it that could
 *    take a message from the net, or some message on its way out of the provider, is in software
 *    and is older.
 */
#ifndef WEFT_COMM_H
#define WEFT_COMM_H

#include "core/bsend_buffer.h"
#include "core/error.h"
#include "core/handle.h"
#include "mpi.h"

#include <stdbool.h>

enum { WEFT_HELD_ALWAYS = 1 << 30 }; /* software matching: every receive is held */

struct weft_comm;

struct weft_channel {
    uint32_t context;
    int32_t held;        /* see the invariant; begins at WEFT_HELD_ALWAYS or 0 */
    uint32_t sources;    /* the communicator's size while held is 0, else 0; a receive from a
                            rank below it may go straight to the provider */
    bool wildcards_held; /* receives from any source stay in software: lanes are mixed */
    bool listed;         /* in weft.held: progress looks into the provider for it */
    uint64_t net_bits;   /* the context's bits in the net lane's tag word */
    uint64_t net_rank;   /* this rank's bits in the net lane's completion data */
    struct weft_comm *comm;
    struct weft_channel *next_held;
};

struct weft_comm {
    struct weft_object object;
    int rank, size;
    const int32_t *world;
    struct weft_peer **peers; /* by rank; weft_peer_unknown until first contact through this one */
    struct weft_channel p2p, coll;
    struct weft_errhandler *errhandler;
    MPI_Comm handle;
    const char *name;
    struct weft_bsend_buffer bsend; /* for buffered sends, while one is attached to it */
};

extern struct weft_comm weft_comm_world, weft_comm_self;

/* Builds MPI_COMM_WORLD and MPI_COMM_SELF from the job, after the lanes are open. Returns an MPI
 * error class; MPI_ERR_NO_MEM is the only one that is not MPI_SUCCESS. */
int weft_comm_init(void);
void weft_comm_finalize(void);

/* The channel of a context id, or NULL. */
struct weft_channel *weft_channel_of(uint32_t context);

/* The rank in a communicator of a rank in MPI_COMM_WORLD, or -1. */
int weft_comm_rank_of(const struct weft_comm *comm, int world);

static inline struct weft_comm *weft_comm_resolve(MPI_Comm handle)
{
    return weft_handle_resolve(handle, WEFT_KIND_COMM);
}

#endif
