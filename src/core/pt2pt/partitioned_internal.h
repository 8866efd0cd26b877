// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inside partitioned communication: what a send, a receive and an announcement are, and what the
 * files of the module call of each other. The protocol is in core/pt2pt/partitioned.h.
 *
 * Invariants:
 *  - The buffer of a user's partitioned request is its struct weft_psend or weft_precv, which
 *    begins with a struct weft_partitioned.
 *  - A message of an operation is a request of the pool with WEFT_REQUEST_SUB, whose parent is the
 *    user's request; that of an announcement has weft_announcements.
 */
#ifndef WEFT_PARTITIONED_STATE_H
#define WEFT_PARTITIONED_STATE_H

#include "core/pt2pt/partitioned.h"

/* The announcement of a send. */
struct weft_announcement {
    uint64_t bytes; /* of one partition */
    uint32_t partitions, id;
};

/* The content of a notice: the partitions that follow it, or whose data are in the same message. */
struct weft_partition_range {
    uint32_t first, count;
};

/* The state that both sides have. */
struct weft_partitioned {
    struct weft_partition_arguments is;
    struct weft_request
        *request;  /* the user's; NULL: freed, and its announcement is still to come */
    size_t bytes;  /* of data in one partition */
    uint32_t id;   /* 0: a receive that has not matched */
    uint8_t error; /* what happened in this round */
    bool sends;    /* it is a struct weft_psend, else a struct weft_precv */
    bool queued;   /* for weft_partitioned_progress */
    struct weft_partitioned *next_queued;
    struct weft_partitioned *next, **link; /* among all of this process */
};

struct weft_psend {
    struct weft_partitioned base;
    uint64_t *ready; /* a bit for each partition that was marked in this round */
    uint32_t unflushed;
    struct weft_partition_range *queue; /* marked and not sent: entries head to tail; has space for
                                           a range for each partition */
    uint32_t head, tail;
    uint32_t in_flight;  /* messages of this round that are not complete */
    uint32_t free_slots; /* a bit for each */
    size_t slot_bytes;
    char *slots; /* where notices are written */
};

/* One message with data that a receive waits for. */
struct weft_precv_slot {
    struct weft_partition_range range;
    void *staging; /* malloc'ed when the data cannot be received in the buffer, or NULL */
};

struct weft_precv {
    struct weft_partitioned base;
    struct weft_announcement sender; /* received there; valid once base.id is set */
    uint8_t unmatchable;             /* the error of that receive, or 0 */
    bool posted;                     /* a receive for a notice is posted */
    bool noticed;                    /* a notice came in this round */
    bool lost;                       /* no more notices will come in this round */
    uint32_t announced;              /* partitions of the sender, in this round */
    uint32_t *covered;               /* of each own partition: how many of the sender's arrived */
    struct weft_request *notice;     /* has come, and is to be looked at */
    char *notice_data;               /* where notices land */
    size_t notice_bytes;
    uint64_t free_slots; /* a bit for each */
    struct weft_precv_slot slots[WEFT_PRECV_SLOTS];
};

/* ---- partitioned.c */

/* Records that there is no memory for an operation, "send" or "receive". Returns MPI_ERR_NO_MEM. */
int weft_partitioned_no_memory(const struct weft_partition_arguments *arguments, const char *what);

/* Fills what both sides have and makes the user's request. False if memory is short,
 * the sentence recorded. */
bool weft_partitioned_open(struct weft_partitioned *base,
                           const struct weft_partition_arguments *arguments,
                           enum weft_request_kind op);

/* Off all lists; the memory is the caller's. */
void weft_partitioned_drop(struct weft_partitioned *base);

/* Has the next weft_partitioned_progress look at it. */
void weft_partitioned_queue(struct weft_partitioned *base);

/* True when a send of this process has that id. */
bool weft_partitioned_has_id(uint32_t id);

/* Starts a message of the operation to, or from, its other side; its parent is that user's request
 * or weft_announcements. What is complete at once ends as a sub-request. Return
 * an MPI error class; its sentence is recorded. copy is what a send's copy is to be, index a
 * receive's index. */
int weft_partitioned_send(int rank, struct weft_channel *channel, int tag, const void *data,
                          size_t bytes, const struct weft_datatype *type,
                          struct weft_request *parent, void *copy);
int weft_partitioned_receive(int rank, struct weft_channel *channel, int tag, void *data,
                             size_t bytes, const struct weft_datatype *type,
                             struct weft_request *parent, uint32_t index);

/* The parent of announcements, sent or received: the user may free its request before. */
extern struct weft_request weft_announcements;

/* ---- partitioned_send.c */

void weft_psend_start(struct weft_psend *send);
void weft_psend_sub_ended(struct weft_request *sub);

/* Sends what can be sent, and completes the user's request when all is done. */
void weft_psend_advance(struct weft_psend *send);
void weft_psend_delete(struct weft_psend *send);

/* ---- partitioned_recv.c */

void weft_precv_start(struct weft_precv *recv);
void weft_precv_sub_ended(struct weft_request *sub);

/* Takes what arrived, posts the next receives, and completes the user's request after the last. */
void weft_precv_advance(struct weft_precv *recv);

/* The receive of its announcement is complete. */
void weft_precv_matched(struct weft_request *sub);

/* The user freed the request: deleted now, or when its announcement comes. */
void weft_precv_abandon(struct weft_precv *recv);
void weft_precv_delete(struct weft_precv *recv);

static inline struct weft_partitioned *weft_partitioned_of(const struct weft_request *request)
{
    weft_assert(request->op == WEFT_REQUEST_PSEND || request->op == WEFT_REQUEST_PRECV);
    return request->partitioned;
}

static inline struct weft_psend *weft_psend_of(const struct weft_request *request)
{
    weft_assert(weft_partitioned_of(request)->sends);
    return (struct weft_psend *)weft_partitioned_of(request);
}

static inline struct weft_precv *weft_precv_of(const struct weft_request *request)
{
    weft_assert(!weft_partitioned_of(request)->sends);
    return (struct weft_precv *)weft_partitioned_of(request);
}

static inline bool weft_partitioned_active(const struct weft_partitioned *base)
{
    return base->request && base->request->pending > 0;
}

#endif
