// SPDX-License-Identifier: BSD-3-Clause
/*
 * Partitioned communication (MPI 5.0, chapter 4): messages whose partitions travel when they are
 * marked ready, each on its own.
 *
 * The protocol consists of ordinary messages on two channels of its own, so that no receive or
 * probe of the user matches them, and so that every lane carries them.
 *
 *  1. Announcements. MPI_Psend_init takes an id that no other partitioned send of this process has
 *     and sends, on the channel `announcing` with the user's tag: the id, how many partitions
 *     there are and how long one is. MPI_Precv_init posts a receive for the announcement. So the
 *     matcher pairs them, in the order of the inits on both sides, and neither init waits.
 *  2. Notices. All that follows between the two is on the other channel, carries the id as its
 *     tag, and so arrives in the order in which it was sent. A range of partitions that is ready is
 *     sent as a notice (the first, and how many), which carries the data too if they are at most
 *     WEFT_PARTITIONED_INLINE bytes. If they are longer, the next message of this id is the data,
 *     from the sender's buffer straight to the receiver's.
 *  3. Rounds. Between MPI_Start and the notice of the last partition the receiver has one receive
 *     for a notice posted; the data of a long one is received beside it. It has none at any other
 *     time: what the sender sends ahead of the receiver's start waits like every message without a
 *     receive, and rounds need no numbers.
 *
 * When the two sides are cut differently, the sender's partitions travel as they are and the
 * receiver counts: with S and R partitions over the same bytes, its partition i is covered by the
 * sender's floor(i * S / R) up to, but not including, ceil((i + 1) * S / R), and has arrived when
 * so many have. That holds for empty partitions too.
 *
 * Ready partitions leave in the call that marks them. Only when all WEFT_PARTITIONED_SLOTS buffers
 * for notices are with the provider do they wait, in a queue that progress empties; neighbours in
 * the queue become one range. So small partitions are gathered exactly when the network is the
 * bottleneck.
 *
 * Invariants:
 *  - The user's request is active and incomplete exactly while its pending is 1; only
 *    weft_psend_advance and weft_precv_advance bring it to 0 (and the start of one with
 *    MPI_PROC_NULL).
 *  - Completions of its messages (sub_ended of its kind) count and queue; they neither send
 * nor post, so they may happen anywhere. What follows from them happens in
 *    weft_partitioned_progress.
 *  - A round allocates nothing (except for a message that begins inside an element of a receive
 *    type with gaps: receive_data in partitioned_recv.c).
 */
#ifndef WEFT_PARTITIONED_H
#define WEFT_PARTITIONED_H

#include "core/message/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_PARTITIONED_INLINE = 4096,
    WEFT_PARTITIONED_CHUNK = 1 << 20, /* a long range travels in messages of about so many bytes */
    WEFT_PARTITIONED_SLOTS = 8,
    WEFT_PRECV_SLOTS = 64 /* messages with data that a receive has in flight at most */
};

/* The arguments of an _init call, checked. */
struct weft_partition_arguments {
    struct weft_channel *channel, *announcing; /* of the communicator; the channels above */
    void *buffer;
    const struct weft_datatype *type;
    uint32_t partitions;
    size_t count;  /* elements in one partition */
    int rank, tag; /* the other side, perhaps MPI_PROC_NULL; the user's tag */
    int tag_ub;    /* the largest tag that all processes of the communicator have */
};

/* Make an inactive request of kind WEFT_REQUEST_PSEND or WEFT_REQUEST_PRECV. Return an MPI error
 * class; its sentence is recorded. */
int weft_psend_init(const struct weft_partition_arguments *arguments, struct weft_request **out);
int weft_precv_init(const struct weft_partition_arguments *arguments, struct weft_request **out);

/* The number of partitions of a request of either kind. */
uint32_t weft_partitioned_count(const struct weft_request *request);

/* Marks a partition of an active send. False, and nothing happened, when it was marked before in
 * this round. */
bool weft_psend_mark(struct weft_request *request, uint32_t partition);

/* True if a partition of an active send is marked. */
bool weft_psend_has(const struct weft_request *request, uint32_t partition);

/* Takes the mark of a partition back that was not flushed. */
void weft_psend_unmark(struct weft_request *request, uint32_t partition);

/* Sends a range of partitions, all marked. */
void weft_psend_flush(struct weft_request *request, uint32_t first, uint32_t count);

/* True if everything that belongs to a partition of an active receive is here. */
bool weft_precv_has(const struct weft_request *request, uint32_t partition);

/* Writes the rows of weft_request_ops. */
void weft_partitioned_init(void);

/* Does what completions left to do; called by weft_progress while weft.partitioned is not NULL.
 * Returns the number of operations it looked at. */
WEFT_COLD int weft_partitioned_progress(void);

/* The rank and tag that a request was made with, and what it waits for, as text: "partitions 1,
 * 3 to 5 are not marked ready". Returns buf. */
char *weft_partitioned_describe(const struct weft_request *request, int *rank, int *tag, char *buf,
                                size_t len);

/* Forgets everything; after the lanes are closed, before the requests go. */
void weft_partitioned_close(void);

#endif
