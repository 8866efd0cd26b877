// SPDX-License-Identifier: BSD-3-Clause
/*
 * Requests: one object for every operation that has begun and not been waited for.
 *
 * Invariants:
 *  - pending counts the events an operation still waits for (a provider completion, an
 *    acknowledgement, a match…); it is complete exactly when pending is 0, and then source, tag,
 *    error and bytes are final.
 *  - A request's memory never moves and is never freed: pools only grow. So providers and peers may
 *    hold its address (a cookie) until the operation is complete.
 *  - A request freed by the user before it completes (MPI_Request_free) is returned to the pool
 *    when pending becomes 0: weft_request_event.
 *  - A persistent request keeps its arguments (buffer, type, match, or tag and rank) from its
 *    making to its end. While it is inactive its pending is 0, and every wait and test passes it
 *    over like MPI_REQUEST_NULL, which is an inactive request itself.
 *  - The state of a kind is read only where the kind is tested or asserted: weft_request_row.
 */
#ifndef WEFT_REQUEST_H
#define WEFT_REQUEST_H

#include "core/base/error.h"
#include "core/base/handle.h"
#include "core/datatype/datatype.h"
#include "core/message/channel.h"
#include "core/message/match.h"

#include <stdatomic.h>
#include <string.h>

struct weft_generalized;
struct weft_partitioned;
struct weft_schedule;
struct weft_vci;

enum weft_request_kind {
    WEFT_REQUEST_NONE, /* to or from MPI_PROC_NULL */
    WEFT_REQUEST_SEND,
    WEFT_REQUEST_RECV,
    WEFT_REQUEST_PROBE,       /* only to report what a rank waits for; never in the pool */
    WEFT_REQUEST_FLUSH,       /* of a buffer for buffered sends */
    WEFT_REQUEST_GENERALIZED, /* the user's own: core/pt2pt/generalized.h */
    WEFT_REQUEST_BSEND,       /* the user's request of a buffered send: core/pt2pt/bsend.h */
    WEFT_REQUEST_MAKING,      /* MPI_Comm_idup: core/comm/comm_make.h; agreements: agree.h */
    WEFT_REQUEST_COLL,        /* a collective: core/coll/coll.h */
    WEFT_REQUEST_PSEND,       /* partitioned: core/pt2pt/partitioned.h */
    WEFT_REQUEST_PRECV,
    WEFT_REQUEST_ANNOUNCEMENT, /* the parent of announcements of partitioned sends; not in the pool
                                */
    WEFT_REQUEST_RMA, /* an operation on a window; the parent of a window's messages: core/rma/win.h
                       */
    WEFT_REQUEST_FILE,     /* a nonblocking collective access to a file: core/file/file.h */
    WEFT_REQUEST_FILE_OWN, /* a nonblocking access of one rank */
    WEFT_REQUEST_PAIR,     /* a receive and a send of two VCIs: weft_request_pair */
    WEFT_REQUEST_KINDS
};

enum weft_send_mode {
    WEFT_SEND_STANDARD,
    WEFT_SEND_SYNCHRONOUS,
    WEFT_SEND_READY,
    WEFT_SEND_BUFFERED /* below the entry points: a standard send from an attached buffer */
};

/* A receive from any source, after the death of a member of its communicator that the program has
 * not acknowledged. */
enum weft_receive_mode {
    WEFT_RECEIVE_STANDARD,
    WEFT_RECEIVE_BLOCKING = 16, /* it ends */
    WEFT_RECEIVE_STALLED        /* a call that waits for it ends, and it stays posted */
};

enum weft_request_flag {
    WEFT_REQUEST_ORPHAN = 1,  /* the user freed it while it was active */
    WEFT_REQUEST_IN_LANE = 2, /* a receive that its lane matches: `owner` */
    WEFT_REQUEST_CANCELLED = 4,
    WEFT_REQUEST_PERSISTENT = 8,
    WEFT_REQUEST_INACTIVE = 16,   /* persistent and not started, or completed since */
    WEFT_REQUEST_SUB = 32,        /* a sub-request: its completion is an event of its parent */
    WEFT_REQUEST_OBSERVED = 64,   /* its end is observed: by the row of its kind */
    WEFT_REQUEST_CANCELLING = 128 /* a send: CANCEL was sent, pending counts the reply */
};

/* Bytes of a request for its lane. The first of them are for any lane that works on it; one lane
 * keeps state in the rest from one operation to the next. */
enum { WEFT_LANE_BYTES = 256, WEFT_LANE_SCRATCH = 64 };

struct weft_request {
    struct weft_object object;
    uint8_t op;    /* enum weft_request_kind */
    uint8_t mode;  /* sends: enum weft_send_mode; receives: enum weft_receive_mode */
    uint8_t flags; /* enum weft_request_flag */
    uint8_t error; /* MPI error class of what happened to it */
    int16_t pending;
    uint8_t owner;  /* the number of the lane whose state `lane` holds; WEFT_LANE_UNKNOWN: none */
    bool with_send; /* a send that it waits for too (weft_request_join) is active */
    /* up to here: struct weft_request_head */

    union { /* receives: what came; sends: tag */
        struct {
            int32_t source, tag;
        };
        uint64_t key; /* both: weft_match_key */
    };
    uint32_t sequence; /* sends: number of the message among all to its peer */
    uint32_t number;   /* for good: its VCI, slab and index there, see weft_request_numbered */
    size_t bytes;      /* data received; data to send */

    struct weft_channel *channel;
    struct weft_peer *peer; /* NULL before a receive from any source matches */
    const struct weft_datatype *type;
    void *buffer;
    size_t capacity;           /* bytes of data the buffer's type map takes */
    struct weft_request *next; /* in the pool's free list, or in a lane's queue */
    union {                    /* the state of a kind; op is the tag */
        struct {               /* receives and probes */
            struct weft_match_receive match;
            uint64_t posted; /* in the provider: number among those of the endpoint */
            uint32_t order;  /* from any source: number among those of the VCI */
            uint32_t index;  /* of partitioned operations: weft_partitioned_receive */
        };
        struct {        /* sends, buffered sends and operations on windows */
            void *copy; /* of a sub-request: what its parent frees or takes back; may be NULL */
            int rank;   /* of a persistent request: the destination */
        };
        struct weft_schedule *schedule;       /* collectives: what it completes with */
        struct weft_generalized *generalized; /* generalized requests */
        struct weft_partitioned *partitioned; /* partitioned sends and receives */
        uint64_t entries; /* flushes: they wait for the entries with lower numbers */
    };
    struct weft_request *parent;  /* of a sub-request: WEFT_REQUEST_SUB */
    struct weft_request *partner; /* buffered: of the user's request its send, and vice versa; of a
                                     pair its receive until that has ended, else NULL */
    struct weft_vci *vci;         /* whose pool it belongs to, for good */

    _Alignas(16) unsigned char lane[WEFT_LANE_BYTES]; /* belongs to the lane (fi_context2 …) */
};

/* The first 16 bytes of a request, written by one store. */
struct weft_request_head {
    struct weft_object object;
    uint8_t op, mode, flags, error;
    int16_t pending;
    uint8_t owner;
    bool with_send;
};

_Static_assert(offsetof(struct weft_request, source) == sizeof(struct weft_request_head),
               "the head is the beginning of a request");
_Static_assert(offsetof(struct weft_request, rank) + sizeof(int) <=
                   offsetof(struct weft_request, match.queued),
               "match.queued stays false while the request is of another kind");

struct weft_request_pool {
    struct weft_request *free;
    /* Another thread may read these two: the array is replaced by a longer one, and kept. */
    struct weft_request **_Atomic slabs;
    _Atomic size_t nslabs;
    size_t space; /* members of the array; the one before the first is the array before, or NULL */
};

enum { WEFT_REQUEST_SLAB = 256 };

/* The integer form of a request is its number, and this (MPI_Request_toint): other handles have
 * less, so a request needs no entry in their table, which would cost time for each message. */
enum { WEFT_REQUEST_INTEGERS = 1 << 30 };

/* A kind of requests: all that differs between the kinds. A function that is NULL does nothing. */
struct weft_request_ops {
    const char *name;     /* for users; NULL: requests of Weft's own */
    const char *buffer;   /* what an error calls its buffer: "send" */
    bool sends, receives; /* it is one message, which it sends or receives */
    bool of_vci;          /* it belongs to the VCI of its channel, and not to all VCIs */
    /* A request of this kind, one that is observed, or a sub-request of one, ends in objects that
     * belong to no VCI, so that its last event needs all VCIs. */
    bool needs_all, observed_needs_all, subs_need_all;
    bool no_data; /* its status has only its error, and whether it was cancelled */
    bool paired;  /* it waits for its partner, which a report shows instead */
    /* Starts an inactive persistent request. Returns MPI_SUCCESS, or an error class whose sentence
     * is recorded; then the request is inactive still. */
    int (*start)(struct weft_request *request);
    /* The user cancels it. Returns an MPI error class. */
    int (*cancel)(struct weft_request *request);
    /* Returns MPI_SUCCESS if the user may free an active request. */
    int (*may_free)(const struct weft_request *request);
    /* Sets the status by functions of the user. NULL: weft_request_status sets it. */
    int (*query)(const struct weft_request *request, MPI_Status *status);
    /* A call has completed it, and set the status. */
    int (*completed)(struct weft_request *request);
    /* A sub-request of such a request is complete. NULL: it frees its copy, and is an event of its
     * parent, which takes over its error. */
    void (*sub_ended)(struct weft_request *sub);
    /* A request with WEFT_REQUEST_OBSERVED is complete. Returns true if it takes it over. */
    bool (*observed)(struct weft_request *request);
    /* Frees what a complete or inactive request holds besides itself. Returns an error class. */
    int (*free)(struct weft_request *request);
    /* Ends what such requests have deferred in a VCI until a thread holds all, which the caller
     * does. */
    void (*end_deferred)(struct weft_vci *vci);
    /* Writes what a request that is not complete waits for, for a report. NULL: not shown. */
    void (*describe)(const struct weft_request *request, char *text, size_t len);
};

/* By kind. weft_init writes the rows of modules above this one. */
extern struct weft_request_ops weft_request_ops[WEFT_REQUEST_KINDS];

static inline const struct weft_request_ops *weft_request_row(const struct weft_request *request)
{
    return &weft_request_ops[request->op];
}

/* Refuses to cancel, and to free, a collective or an operation on a window. */
int weft_request_refuse_cancel(struct weft_request *request);
int weft_request_refuse_free(const struct weft_request *request);

/* The object of MPI_REQUEST_NULL; never written to. */
extern struct weft_request weft_request_null;

/* A complete request for an operation with MPI_PROC_NULL: source MPI_PROC_NULL, no bytes (MPI 5.0,
 * 3.10). Ends the job when memory is short. */
WEFT_COLD struct weft_request *weft_request_to_nowhere(struct weft_vci *vci);

/* Makes MPI_REQUEST_NULL valid. Called once. */
void weft_request_init(void);
void weft_request_finalize(void);

/* Takes the first of a pool that is not empty; the rest of the request is undefined. */
static inline __attribute__((always_inline)) struct weft_request *
weft_request_pop(struct weft_request_pool *pool, enum weft_request_kind op, int flags,
                 unsigned owner, int pending)
{
    struct weft_request *request = pool->free;
    weft_assert(request->object.kind == WEFT_KIND_NONE);
    const struct weft_request_head head = {.object = {WEFT_KIND_REQUEST, 0},
                                           .op = (uint8_t)op,
                                           .flags = (uint8_t)flags,
                                           .pending = (int16_t)pending,
                                           .owner = (uint8_t)owner};
    pool->free = request->next;
    memcpy(request, &head, sizeof head);
    return request;
}

/* A request of that op, no flags, no error, pending as given; the rest is undefined. NULL when
 * memory is short (MPI_ERR_NO_MEM), the sentence recorded. */
struct weft_request *weft_request_get(struct weft_vci *vci, enum weft_request_kind op, int pending);

/* Gives a request back to its pool (inline: weft_request_push, vci.h). */
void weft_request_put(struct weft_request *request);

/* True for a receive that no message has matched. */
static inline bool weft_request_is_posted(const struct weft_request *request)
{
    return weft_request_row(request)->receives &&
           (request->match.queued || (request->flags & WEFT_REQUEST_IN_LANE));
}

/* True for an active receive that a call does not wait for: MPIX_ERR_PROC_FAILED_PENDING. A receive
 * that has its message may be pending for a send (weft_request_join). */
static inline bool weft_request_is_stalled(const struct weft_request *request)
{
    if (request->op == WEFT_REQUEST_PAIR && request->partner)
        request = request->partner;
    return weft_unlikely(request->mode == WEFT_RECEIVE_STALLED) && request->pending &&
           weft_request_is_posted(request);
}

/* True if a pool has a request with that index, and the request. For any thread. */
static inline bool weft_request_pool_has(const struct weft_request_pool *pool, size_t index)
{
    return index / WEFT_REQUEST_SLAB < pool->nslabs;
}

static inline struct weft_request *weft_request_pool_at(const struct weft_request_pool *pool,
                                                        size_t index)
{
    return &pool->slabs[index / WEFT_REQUEST_SLAB][index % WEFT_REQUEST_SLAB];
}

/* The request with that number; NULL when there is none. For any thread. */
struct weft_request *weft_request_numbered(uint64_t number);

/* Calls see(arg, request) for each request that is handed out, complete and inactive ones included:
 * of a VCI, for a caller that holds no other, or of all VCIs. Slow. */
void weft_request_each_of(const struct weft_vci *vci,
                          void (*see)(void *arg, struct weft_request *request), void *arg);
void weft_request_each(void (*see)(void *arg, struct weft_request *request), void *arg);

/* The posted receives of a VCI on a channel (NULL: on any), the newest first; in_lane: those that a
 * lane matches, else those in software are in the bins of the matcher. Returns a list of *n, to be
 * freed. Ends the job when memory is short. */
WEFT_COLD struct weft_request **weft_request_posted(const struct weft_vci *vci,
                                                    const struct weft_channel *channel,
                                                    bool in_lane, size_t *n);

/* Makes a request that was just started, and may be complete, a sub-request: its parent's kind has
 * sub_ended. */
void weft_request_set_parent(struct weft_request *sub, struct weft_request *parent);

/* Makes a request wait for a send of its own too, which the user does not see: the parent takes
 * over its error. copy is freed when the send is complete; may be NULL. */
void weft_request_join(struct weft_request *parent, struct weft_request *send, void *copy);

/* A request that waits for a receive and a send of different VCIs, and has the status of the
 * receive. The caller holds all VCIs. copy as above. */
struct weft_request *weft_request_pair(struct weft_request *receive, struct weft_request *send,
                                       void *copy);

/* The user frees a request: it ends now, or as soon as it is complete. Returns MPI_SUCCESS, or
 * what the free function of a generalized request returned. */
int weft_request_abandon(struct weft_request *request);

/* The last event of a request that the user does not wait for: frees what it holds, and itself;
 * the end of a sub-request is an event of its parent. Where that needs all VCIs and the caller
 * holds one, it is deferred: the next thread that takes all VCIs calls the second. */
WEFT_COLD void weft_request_last(struct weft_request *request);
WEFT_COLD void weft_request_end_deferred(void);

/* Something an operation waited for has happened. */
static inline __attribute__((always_inline)) void weft_request_event(struct weft_request *request)
{
    weft_assert(request->pending > 0);
    if (--request->pending == 0 &&
        weft_unlikely(request->flags &
                      (WEFT_REQUEST_ORPHAN | WEFT_REQUEST_OBSERVED | WEFT_REQUEST_SUB)))
        weft_request_last(request);
}

/* Notes that a message of length bytes is too long for a receive, whose source and tag are set. */
WEFT_COLD void weft_request_truncated(struct weft_request *request, size_t length);

/* Sets how many bytes a receive, whose source and tag are set, takes of a message of length bytes,
 * and returns them; records the error if the message is truncated. */
static inline __attribute__((always_inline)) size_t weft_request_fit(struct weft_request *request,
                                                                     size_t length)
{
    size_t bytes = length;
    if (weft_unlikely(length > request->capacity)) {
        weft_request_truncated(request, length);
        bytes = request->capacity;
    }
    request->bytes = bytes;
    return bytes;
}

/* Ends a receive, without a message, with an error. Its status has the source and the tag that it
 * names. */
WEFT_COLD void weft_request_end_receive(struct weft_request *request, int code);

/* The rendezvous of a send or receive has ended at this rank: raises the event, if its data were
 * transferred. */
void weft_request_transferred(const struct weft_request *request);

/* The communicator whose error handler a failed request calls; NULL: MPI_COMM_SELF. (Only requests
 * that never fail, and generalized requests, have no channel.) */
static inline struct weft_comm *weft_request_comm(const struct weft_request *request)
{
    return request->channel ? request->channel->comm : NULL;
}

/* Looks at the buffer of a message, whose data have no holes, that was not transferred. Returns
 * MPI_SUCCESS if this process may access `bytes` bytes of it, else MPI_ERR_BUFFER, recorded. */
WEFT_COLD int weft_request_check_buffer(const struct weft_request *request, size_t bytes,
                                        bool write);

/* Fills a user's status (may be MPI_STATUS_IGNORE) from a complete request; MPI_ERROR too only if
 * with_error is set (MPI 5.0, 3.2.5). */
void weft_request_status(const struct weft_request *request, MPI_Status *status, bool with_error);

/* The empty status of MPI 5.0 section 3.7.3, of what is no operation; weft_status_clear leaves its
 * MPI_ERROR, for operations without a status of their own. */
void weft_status_empty(MPI_Status *status);
void weft_status_clear(MPI_Status *status);

/* The status of a receive from, or a probe of, MPI_PROC_NULL (MPI 5.0, 3.10). */
void weft_status_proc_null(MPI_Status *status);
void weft_status_set_bytes(MPI_Status *status, size_t bytes);
size_t weft_status_bytes(const MPI_Status *status);
void weft_status_set_cancelled(MPI_Status *status, bool cancelled);
bool weft_status_cancelled(const MPI_Status *status);

#endif
