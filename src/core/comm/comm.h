// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators: whom messages go to, channels for them, an error handler, and what users attach.
 *
 * Invariants:
 *  - size and peers describe the processes that messages go to and come from, those of `remote`: of
 *    an inter-communicator the remote group, else the group. rank is this process's own, in its local
 *    group; messages carry it.
 *  - A communicator that its user has freed lives on, with its context ids, until no request,
 *    message or agreement refers to it.
 *  - A channel's context id belongs to this communicator alone for as long as any of its messages
 *    can be on the way.
 *  - A channel with held != 0 may post no receive to the provider: some receive of it that could
 *    take a message from the net, or some message on its way out of the provider, is in software
 *    and is older.
 */
#ifndef WEFT_COMM_H
#define WEFT_COMM_H

#include "core/object/attribute.h"
#include "core/pt2pt/bsend_buffer.h"
#include "core/comm/context.h"
#include "core/object/error.h"
#include "core/comm/group.h"
#include "core/object/handle.h"
#include "core/pt2pt/peer.h"
#include "mpi.h"

#include <stdbool.h>

/* Software matching, or no peer on the net lane: every receive is held. */
enum { WEFT_HELD_ALWAYS = 1 << 30 };

struct weft_comm;
struct weft_info;
struct weft_session;
struct weft_topology;
struct weft_vci;

struct weft_channel {
    uint32_t context;
    int32_t held;        /* see the invariant; begins at WEFT_HELD_ALWAYS or 0 */
    uint32_t sources;    /* the communicator's size, or 0 while a receive that the provider could
                            match is held; one from a rank below it may be posted at once wherever
                            its peer's lane matches: post_below, listen_below */
    bool wildcards_held; /* receives from any source stay in software: lanes are mixed */
    bool took_back;      /* posted receives were withdrawn, so a ready send may find none */
    bool listed;         /* in the VCI's list `held`: progress looks into the provider for it */
    uint64_t net_bits;   /* the context's bits in the net lane's tag word */
    uint64_t net_rank;   /* this rank's bits in the net lane's completion data */
    struct weft_comm *comm;
    struct weft_channel *next_held;
};

struct weft_comm {
    struct weft_object object;
    int rank, size;
    struct weft_peer **peers; /* by rank; weft_peer_unknown until first contact through this one */
    struct weft_vci *vci;     /* core/pt2pt/vci.h: of all channels */
    struct weft_channel p2p, coll;
    struct weft_errhandler *errhandler;
    MPI_Comm handle;
    const char *name;                   /* NULL: none was given */
    uint32_t coll_sequence, coll_inits; /* collective calls so far, and persistent ones made */
    struct weft_bsend_buffer bsend;     /* for buffered sends, while one is attached to it */

    struct weft_channel part, making, grouping; /* see enum weft_context_use */
    struct weft_group *group, *remote;          /* the local group; the one that peers describe */
    struct weft_comm *local; /* of an inter-communicator: its local group, for internal use only */
    bool first_half;         /* of an inter-communicator: the local group comes first when both are
                                put in one order */
    unsigned deal;           /* which table of peers: core/pt2pt/vci.h */
    int block;               /* of context ids */
    bool named;              /* the name is allocated */
    bool referred;           /* during a sweep: something refers to it */
    int uses;                /* matched messages and agreements that refer to it, not requests */
    uint32_t makings;        /* communicators made over it so far: names the next agreement */
    struct weft_comm *next_dying;

    struct weft_attribute *attributes; /* core/object/attribute.h */
    struct weft_topology *topology;    /* core/comm/topology.h; NULL: none */
    struct weft_session *session;      /* core/comm/session.h; NULL: not made from one */
    unsigned assertions;               /* core/comm/comm_info.c */
};

extern WEFT_HIDDEN struct weft_comm weft_comm_world, weft_comm_self;

/* All processes of the job, for the library's own use: it has no handle. */
extern struct weft_comm weft_comm_job;

/* Builds MPI_COMM_WORLD and MPI_COMM_SELF from the job, after the lanes are open; their handles are
 * valid once they are exposed. Returns an MPI error class; MPI_ERR_NO_MEM is the only one that is
 * not MPI_SUCCESS. */
int weft_comm_init(void);
void weft_comm_expose(bool visible);

/* Frees all that are left; no request may refer to any. */
void weft_comm_finalize(void);

/* A communicator over a group, or between two (remote is NULL for an intra-communicator), of which
 * this process is in the first; the handler is inherited, and may be NULL (MPI_ERRORS_ARE_FATAL).
 * Keeps references of its own. It has a handle, and no context ids yet. NULL when memory is short,
 * the sentence said. */
struct weft_comm *weft_comm_make(struct weft_group *group, struct weft_group *remote,
                                 struct weft_errhandler *errhandler);

/* Gives it a block of context ids that all members took: from here on it can be used. */
void weft_comm_open(struct weft_comm *comm, int block);

/* Frees one that was never opened. */
void weft_comm_drop(struct weft_comm *comm);

/* The user gives up a communicator, whose attributes are deleted: its handle is void from now on. */
void weft_comm_release(struct weft_comm *comm);

/* Takes over the hints of an info object (NULL: none); returns MPI_SUCCESS. Those in use, as a new
 * object: NULL when memory is short, the sentence said. */
int weft_comm_take_hints(struct weft_comm *comm, const struct weft_info *info);
struct weft_info *weft_comm_hints(const struct weft_comm *comm);

/* Frees those given up that nothing refers to any more. */
void weft_comm_sweep(void);

/* Whether a request that is not complete, or an agreement, refers to a communicator. */
bool weft_comm_active(const struct weft_comm *comm);

/* Sets the name; "" takes it away. MPI_SUCCESS, or MPI_ERR_NO_MEM with its sentence said. */
int weft_comm_set_name(struct weft_comm *comm, const char *name);

/* The channel of a context id, or NULL. */
struct weft_channel *weft_channel_of(uint32_t context);

/* The rank in a communicator of a rank in MPI_COMM_WORLD, or -1. */
int weft_comm_rank_of(const struct weft_comm *comm, int world);

/* The other way round. */
static inline int weft_comm_world_of(const struct weft_comm *comm, int rank)
{
    return weft_group_world(comm->remote, rank);
}

/* The peer of a rank, or NULL before first contact with it through any communicator. */
static inline struct weft_peer *weft_comm_peer(const struct weft_comm *comm, int rank)
{
    struct weft_peer *peer = comm->peers[rank];
    return weft_likely(peer != &weft_peer_unknown)
               ? peer
               : weft_peer_known(comm->deal, weft_comm_world_of(comm, rank));
}

/* The same, with first contact if need be. NULL as for weft_peer_connect. */
struct weft_peer *weft_comm_connect(struct weft_comm *comm, int rank);

/* Ranks of both sides together, and this process's place among them (see first_half). */
static inline int weft_comm_total(const struct weft_comm *comm)
{
    return comm->local ? comm->local->size + comm->size : comm->size;
}

static inline int weft_comm_place(const struct weft_comm *comm)
{
    return comm->local && !comm->first_half ? comm->size + comm->rank : comm->rank;
}

static inline struct weft_attributed weft_comm_attributed(struct weft_comm *comm)
{
    return (struct weft_attributed){WEFT_KIND_COMM, comm->handle, &comm->attributes};
}

static inline struct weft_comm *weft_comm_resolve(MPI_Comm handle)
{
    return weft_handle_resolve(handle, WEFT_KIND_COMM);
}

#endif
