// SPDX-License-Identifier: BSD-3-Clause
/*
 * The interface of the shared-memory lane: messages between ranks of one node.
 *
 * One segment of shared memory serves all ranks of the job on a node. The lowest of them makes it,
 * without a name in any file system (a memfd), so nothing is left behind however the job ends; the
 * others open it through /proc, whose path they get by PMIx. In it:
 *
 *     head      what it is, how it is laid out
 *     members   for each rank: its process, its doorbell (set while it sleeps), its contacts (a bit
 *               for each rank that has written to it, in each stream)
 *     rings     for each stream (core/message/vci.h) and ordered pair of ranks a ring (ring.h), of
 *               which no byte is touched, and so takes memory, before the first message
 *
 * A message takes one of three protocols. A short one is in a line of the ring. One up to the eager
 * limit is in the ring's data area: one copy in, one out, straight into the receive's buffer if it
 * was posted. A longer one is announced by an RTS; after the match the receiver copies it out of
 * the sender's memory (process_vm_readv: one copy), with the help of a sender that waits (share.h),
 * and sends FIN; or, if the kernel does not permit that or either buffer is not contiguous, the
 * receiver sends CTS, and the sender pushes pieces through the data area.
 *
 * Invariants:
 *  - Messages and controls to one peer are written to its ring in the order of the calls. If one
 *    finds no space, it and all after it wait in the peer's backlog; only pieces of pushed
 * messages, which name their receive, may overtake.
 *  - Every receive that a message of this lane could match waits in the software matcher.
 *  - A reader never waits for space: it empties its rings whatever it cannot write itself.
 *  - A sleeping rank has polled all its rings after it set its doorbell, and a writer reads the
 *    doorbell after writing (doorbell.c).
 */
#ifndef WEFT_SHM_H
#define WEFT_SHM_H

#include "core/message/request.h"
#include "pmix/boot.h"

/* Makes the node's segment, if this rank is the lowest, and publishes where it is: at once
 * where weft_shm_expects_all, else together with the net lane's address. threads: this rank has
 * MPI_THREAD_MULTIPLE. */
void weft_shm_publish(const struct weft_job *job, bool threads);

/* Joins the segment. All ranks of the node call it after the former and before the fence of
 * MPI_Init; it waits for the rank that makes it. Without a segment, or with WEFT_SHM=0, the lane
 * stays closed and reaches no rank. */
void weft_shm_open(const struct weft_job *job);

/* While the lane is open: rings from each rank of the node to each other, one for each stream that
 * there may be (core/message/vci.h), and the streams that the maker of the segment wants: all, or 1
 * without threads. */
unsigned weft_shm_rings(void);
unsigned weft_shm_streams(void);

/* Gives each VCI of this process its state of the lane, once their number is settled. */
void weft_shm_open_vcis(void);

/* After the fence: tests whether memory of other processes can be read. */
void weft_shm_begin(void);

/* The number of cores that the attached ranks of this node may run on, all together (each has its
 * own set: a binding, taskset, a cpuset). After the fence; 0 while the lane is closed. */
int weft_shm_cores(void);

/* True when every rank of the job may be expected in this rank's segment (before the fence), or is
 * there (after it). */
bool weft_shm_expects_all(const struct weft_job *job);
bool weft_shm_has_all(void);

/* True when a world rank, not this one, is reached through this lane. After the fence. */
bool weft_shm_reaches(int world);

/* True if the lane is open. */
bool weft_shm_is_open(void);

/* After the fence: a number for the ranks of the segment, not 0. The lowest of them, for which
 * weft_shm_is_first is true, gives it, the others wait for it; all return it. A rank without a
 * segment is the first. */
bool weft_shm_is_first(void);
uint64_t weft_shm_hand_down(uint64_t number);

/* For tests: how many ranks pretend to be a node (WEFT_TEST_NODE_SIZE), or 0. */
int weft_shm_pretended_node(void);

/* Leaves the segment; every peer's link is freed. */
void weft_shm_close(void);

/* First contact with a peer that weft_shm_reaches. Returns 0, or -1 with a sentence in why. */
int weft_shm_connect(struct weft_peer *peer, char *why, size_t len);

/* Sends a contiguous message of fewer than peer->send_limit bytes, with no request. False when
 * there is no space: then nothing was sent. */
bool weft_shm_inject(struct weft_peer *peer, const struct weft_channel *channel, int tag,
                     const void *data, size_t bytes);

/* Starts a send; every field of the request but lane is set, pending is 1. Returns MPI_SUCCESS:
 * what goes wrong is in the request's error. */
int weft_shm_isend(struct weft_request *request);

/* A receive, whose source and tag are set, matched an RTS with that header: fetches the data, sends
 * FIN, completes the request. */
void weft_shm_fetch(struct weft_request *request, const void *header);

/* Sends the ACK of a synchronous message, which the cookie names. */
void weft_shm_acknowledge(struct weft_peer *peer, uint64_t cookie);

/* The number of bytes kept of a peer's messages (peer->kept) has changed: gives or takes credits.
 */
void weft_shm_kept(const struct weft_peer *peer);

/* Cancels a send of this lane, complete or not, like weft_net_cancel. */
void weft_shm_cancel(struct weft_request *request);

/* Reads what has arrived for a VCI, writes what waits there. Returns the number of events. */
int weft_shm_progress(unsigned vci);

/* True when nothing waits to be sent. */
bool weft_shm_is_idle(void);

/* Sleeps until something arrives, at most so many microseconds. Returns at once when something has.
 * Touches nothing of the core: with threads, called without the lock. */
void weft_shm_sleep(unsigned microseconds);

/* The same in two steps, for a thread that polls in between: from the first on writers wake this
 * rank, and what was written before the first is found by polls after it, if it returns true, else
 * perhaps not. The second sleeps, 0 not at all, and ends that. weft_shm_wake_self is a writer. */
bool weft_shm_set_doorbell(void);
void weft_shm_await_doorbell(unsigned microseconds);
void weft_shm_wake_self(void);

/* After a rank's death: takes what it has sent completely; ends what was to be sent to it and what
 * it was pushing. Then: true for a send that only waits for its ACK or FIN; ends a send: ACK, FIN,
 * the last piece, or its error is set. */
void weft_shm_close_dead(struct weft_peer *peer);
bool weft_shm_waits_for_peer(const struct weft_request *request);
void weft_shm_matched(struct weft_request *request);

/* Messages that went to a peer through this lane, and came from it. */
uint64_t weft_shm_sent_to(const struct weft_peer *peer);
uint64_t weft_shm_arrived_from(const struct weft_peer *peer);

/* The bytes of the node's segment, and the longest message that is sent at once; 0 without one. */
size_t weft_shm_bytes(void);
size_t weft_shm_eager_limit(void);

/* The state of a request of this lane that is not complete, as text. Valid until the next call. */
const char *weft_shm_describe(const struct weft_request *request);

#endif
