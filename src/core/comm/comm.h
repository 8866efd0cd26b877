// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicators: the group of peers, a channel for each use, an error handler, and attributes.
 *
 * Invariants:
 *  - `size` and `peers` describe the group that messages go to and come from: `remote`, which is
 *    the group itself except in an inter-communicator. `rank` is this process's rank in its local
 *    group; messages carry it.
 *  - After MPI_Comm_free a communicator keeps its memory and context ids until no request, message
 *    or context allocation refers to it.
 */
#ifndef WEFT_COMM_H
#define WEFT_COMM_H

#include "core/base/attribute.h"
#include "core/pt2pt/bsend.h"
#include "core/comm/context.h"
#include "core/base/error.h"
#include "core/comm/group.h"
#include "core/base/handle.h"
#include "core/datatype/elements.h"
#include "core/message/channel.h"
#include "mpi.h"

#include <stdbool.h>

struct weft_agree;
struct weft_area;
struct weft_comm;
struct weft_info;
struct weft_session;
struct weft_topology;
struct weft_vci;

/* The rule that selects the channel of a point-to-point message: core/comm/spread.h. */
enum weft_spread { WEFT_SPREAD_NONE, WEFT_SPREAD_BY_TAG, WEFT_SPREAD_BY_RANKS };

struct weft_comm {
    struct weft_object object;
    int rank, size;
    struct weft_peer **peers; /* by rank; weft_peer_unknown before first contact */
    struct weft_vci *vci;     /* core/message/vci.h: of all channels but those of `spread` */
    struct weft_channel p2p, coll;
    struct weft_errhandler *errhandler;
    MPI_Comm handle;
    const char *name;                   /* NULL: no name was set */
    uint32_t coll_sequence, coll_inits; /* collective calls so far; persistent collectives made */
    uint32_t coll_cleared; /* coll_sequence when messages of refused calls were last dropped */
    int tag_ub; /* the largest tag that all its processes have, also those of other jobs */
    struct weft_area *area;         /* core/coll/shared.h; NULL: not made */
    struct weft_refusal *refusals;  /* calls that other ranks refused: core/coll/refusal.h */
    struct weft_bsend_buffer bsend; /* the buffer of MPI_Comm_attach_buffer */

    struct weft_channel partitioned, announcing, making, grouping; /* see enum weft_context_use */
    struct weft_channel *spread; /* the channels of point-to-point messages; NULL: p2p is the only
                                    one */
    unsigned spread_channels;
    enum weft_spread spread_rule;      /* set before weft_comm_open */
    struct weft_group *group, *remote; /* the local group; the group that peers describe */
    struct weft_comm *local; /* of an inter-communicator: over the local group, internal use only */
    struct weft_comm *inter; /* of such a local one: its inter-communicator */
    bool first_half;         /* of an inter-communicator: the local group comes first where both
                                groups are put in one order */
    unsigned vci_number;     /* index of the table of peers: core/message/vci.h */
    int block;               /* its block of context ids */
    bool named;              /* the name is allocated */
    bool referred;           /* during weft_comm_sweep: a request or message refers to it */
    struct weft_agree *agree; /* agree.h; NULL: no agreement was made */
    int acked;                /* the dead that the program has acknowledged: recovery.h */
    int uses;                 /* context allocations that refer to it */
    int raisings;             /* errors whose handlers run, or were left by longjmp */
    uint64_t deaths_seen;     /* deaths of the job when its members were last looked at, */
    int dead_member;          /* and the result: weft_comm_dead_member */
    bool revoked;             /* revoke.h; also of `local` */
    bool outlasts_deaths;     /* its collectives wait for the living members although others died */
    uint32_t makings;         /* communicators made over it so far: the tag of the next call */
    struct weft_comm *constructs; /* that of a window or file that is being made over it, or NULL:
                                     comm_make.h */
    struct weft_comm *next_dying;

    struct weft_attribute *attributes; /* core/base/attribute.h */
    struct weft_topology *topology;    /* core/comm/topology.h; NULL: none */
    struct weft_session *session;      /* core/comm/session.h; NULL: not made from a session */
    unsigned assertions;               /* core/comm/comm_info.c */
    char *kinds;    /* the memory allocation kinds of buffers that the user asserts, or NULL */
    bool host_only; /* all of them are on the host */
};

extern WEFT_HIDDEN struct weft_comm weft_comm_world, weft_comm_self;

/* All processes of the job, for the library's own use: it has no handle. */
extern struct weft_comm weft_comm_job;

/* The collectives that communicators call, which are above them: core/coll/coll.h describes the
 * functions, and core/process sets them. */
struct weft_op;
struct weft_comm_collectives {
    int (*bcast)(struct weft_comm *comm, struct weft_elements data, int root);
    int (*allreduce)(struct weft_comm *comm, struct weft_elements in, void *out,
                     const struct weft_op *op);
    int (*allgather)(struct weft_comm *comm, struct weft_elements in, struct weft_elements out);
    void (*refuse)(struct weft_comm *comm, bool persistent, int code);
    void (*forget)(struct weft_comm *comm);
    /* Two words of a rank in memory that all ranks share, at first 0, for agreements; NULL if there
     * is no such memory. wake: after a store to them that others may wait for. */
    _Atomic uint64_t *(*words)(const struct weft_comm *comm, int rank);
    void (*wake)(const struct weft_comm *comm);
};
extern WEFT_HIDDEN struct weft_comm_collectives weft_comm_collectives;

/* Builds the predefined communicators after the lanes are open. Returns MPI_SUCCESS or
 * MPI_ERR_NO_MEM. weft_comm_expose makes their handles valid or invalid. */
int weft_comm_init(void);
void weft_comm_expose(bool visible);

/* Gives a communicator the error handler that the launcher or the spawning job has chosen. */
void weft_comm_set_initial_errhandler(struct weft_comm *comm);

/* Frees all remaining communicators. No request may refer to one. */
void weft_comm_finalize(void);

/* Makes a communicator over a group that this process is in, or between it and a remote group
 * (NULL: an intra-communicator; else the caller sets first_half). References the groups and the
 * error handler (NULL: MPI_ERRORS_ARE_FATAL). The communicator has a handle and no context ids yet.
 * NULL without memory, with the error sentence set. */
struct weft_comm *weft_comm_make(struct weft_group *group, struct weft_group *remote,
                                 struct weft_errhandler *errhandler);

/* Gives a communicator that has no context ids yet other groups, of some of its members. Ends the
 * job without memory. */
void weft_comm_regroup(struct weft_comm *comm, struct weft_group *group, struct weft_group *remote);

/* Opens the channels on a block of context ids that all members have taken. */
void weft_comm_open(struct weft_comm *comm, int block);

/* Frees a communicator that was never opened (NULL is allowed). */
void weft_comm_drop(struct weft_comm *comm);

/* MPI_Comm_free, after the attributes are deleted: makes the handle invalid; weft_comm_sweep frees
 * the memory. */
void weft_comm_release(struct weft_comm *comm);

/* Applies the hints of an info object (NULL: none); returns MPI_SUCCESS. */
int weft_comm_take_hints(struct weft_comm *comm, const struct weft_info *info);

/* A new object with the hints in use. NULL without memory, with the error sentence set. */
struct weft_info *weft_comm_hints(const struct weft_comm *comm);

/* Frees the released communicators that nothing refers to. */
void weft_comm_sweep(void);

/* True if an incomplete request or a context allocation refers to the communicator. */
bool weft_comm_active(struct weft_comm *comm);

/* Sets the name; "" removes it. Returns MPI_SUCCESS or MPI_ERR_NO_MEM with its sentence set. */
int weft_comm_set_name(struct weft_comm *comm, const char *name);

/* Its name in sentences. */
static inline const char *weft_comm_name(const struct weft_comm *comm)
{
    return comm->name && *comm->name ? comm->name : "a communicator without a name";
}

/* The number, as in groups, of a dead member of either group, also for the local side of an
 * inter-communicator, or -1. A collective call on such a communicator that waits ends with an error
 * at every member. The second one looks only at deaths that weft_failure_check has seen, and is
 * cheap. */
WEFT_COLD int weft_comm_find_dead(const struct weft_comm *comm);
WEFT_COLD int weft_comm_dead_member(struct weft_comm *comm);

/* True if no collective call on such a communicator waits any more: a member is dead, or it is
 * revoked. The other one records why, and returns the error class. */
static inline bool weft_comm_is_broken(struct weft_comm *comm)
{
    return comm->revoked || weft_comm_dead_member(comm) >= 0;
}
WEFT_COLD int weft_comm_report_broken(const struct weft_comm *comm);

/* MPIX_ERR_REVOKED, recorded. */
WEFT_COLD int weft_comm_report_revoked(const struct weft_comm *comm);

/* True if the channel is one of the communicator's. Does not read the channel. */
bool weft_comm_has_channel(const struct weft_comm *comm, const struct weft_channel *channel);

/* The rows of weft_channel_ops, and weft_bsend_owner_of. */
extern const struct weft_channel_ops weft_comm_channel_ops;
struct weft_bsend_owner weft_comm_bsend_owner_of(const struct weft_channel *channel);

/* The buffer of a communicator, as an argument of the functions of core/pt2pt/bsend.h. */
static inline struct weft_bsend_owner weft_comm_bsend_owner(struct weft_comm *comm)
{
    return (struct weft_bsend_owner){.buffer = &comm->bsend, .channel = &comm->p2p};
}

/* The rank in a communicator of a world rank, or -1; the world rank of a rank. */
static inline int weft_comm_rank_of(const struct weft_comm *comm, int world)
{
    return weft_group_rank_of(comm->remote, world);
}

/* True for the communicator of a window or file, whose handle it has. A communicator that the
 * program has freed has none. */
static inline bool weft_comm_is_of_object(const struct weft_comm *comm)
{
    return weft_handle_resolve(comm->handle, WEFT_KIND_WIN) ||
           weft_handle_resolve(comm->handle, WEFT_KIND_FILE);
}

/* True if a process is a member, of either group. */
static inline bool weft_comm_has_process(const struct weft_comm *comm, int world)
{
    return world >= 0 && (weft_group_rank_of(comm->remote, world) >= 0 ||
                          (comm->local && weft_group_rank_of(comm->group, world) >= 0));
}

static inline int weft_comm_world_of(const struct weft_comm *comm, int rank)
{
    return weft_group_world(comm->remote, rank);
}

/* weft_channel_peer and weft_channel_connect of an open communicator. */
static inline struct weft_peer *weft_comm_peer(const struct weft_comm *comm, int rank)
{
    return weft_channel_peer(&comm->coll, rank);
}

static inline struct weft_peer *weft_comm_connect(struct weft_comm *comm, int rank)
{
    return weft_channel_connect(&comm->coll, rank);
}

/* The number of ranks of both groups together, and this process's index among them (see
 * first_half). */
static inline int weft_comm_total(const struct weft_comm *comm)
{
    return comm->local ? comm->local->size + comm->size : comm->size;
}

static inline int weft_comm_new_rank(const struct weft_comm *comm)
{
    return comm->local && !comm->first_half ? comm->size + comm->rank : comm->rank;
}

/* True if it contains processes of other jobs. */
static inline bool weft_comm_is_foreign(const struct weft_comm *comm)
{
    return comm->group->foreign || comm->remote->foreign;
}

/* True if not all of its processes learn of the death of one. */
static inline bool weft_comm_learns_late(const struct weft_comm *comm)
{
    return weft_comm_is_foreign(comm->inter ? comm->inter : comm);
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
