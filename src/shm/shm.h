// SPDX-License-Identifier: BSD-3-Clause
/*
 * The shared-memory lane as the core sees it: messages between ranks of one node.
 *
 * One segment of shared memory serves all ranks of the job on a node. The lowest of them makes it,
 * without a name in any file system (a memfd), so nothing is left behind however the job ends; the
 * others open it through /proc, whose path they get by PMIx. In it:
 *
 *     head      what it is, how it is laid out
 *     members   for each rank: its process, its bell (does it sleep?), its news (who has written to
 *               it for the first time, in each deal)
 *     rings     for each ordered pair of ranks one ring (ring.h), of which no byte is touched, and
 *               so takes memory, before the first message
 *     stages    for each rank room for pieces that others bring it (stage.c), untouched likewise
 *     extra     if the maker has threads: for each pair a ring of each further deal
 *               (core/pt2pt/vci.h)
 *
 * A message goes one of three ways. Short ones lie in a line of the ring. Those up to the eager limit
 * lie in the ring's data area: one copy in, one out, and the way out is straight into the receive's
 * buffer when it was posted. Longer ones are announced by an RTS; on the match the receiver copies
 * them out of the sender's memory (process_vm_readv: one copy), a sender that waits helps it to
 * (share.h; stage.c where the receive has holes), and the receiver says FIN; or, where the kernel does
 * not permit that or the sender's buffer is not contiguous, says CTS, and the sender pushes them in pieces
 * through the data area.
 *
 * Invariants:
 *  - Messages and controls to one peer are written to its ring in the order of the calls. What finds
 *    no room waits in the link's backlog, and everything after it too; only pieces of pushed
 *    messages, which the receiver knows by its own cookie, may be overtaken.
 *  - Every receive that a message of this lane could match waits in the software matcher.
 *  - A reader never waits for room: it empties its rings whatever it cannot write itself.
 *  - A sleeping rank has looked into all its rings after its bell was set, and who writes looks at
 *    the bell after writing (sleep.c).
 */
#ifndef WEFT_SHM_H
#define WEFT_SHM_H

#include "core/pt2pt/request.h"
#include "pmix/boot.h"

/* Makes the node's segment, if that is this rank's part, and tells the others where it is: at once
 * where weft_shm_expects_all, else together with the net lane's address. threads: this rank has
 * MPI_THREAD_MULTIPLE. */
void weft_shm_offer(const struct weft_job *job, bool threads);

/* Joins the segment. All ranks of the node call it after the former and before the fence of
 * MPI_Init; it waits for the rank that makes it. Where there can be none, or WEFT_SHM says so, the
 * lane stays closed and reaches nobody. */
void weft_shm_open(const struct weft_job *job);

/* The deals of this node (core/pt2pt/vci.h): WEFT_VCIS if the maker of the segment has threads, else
 * 1. While the lane is open. */
unsigned weft_shm_deals(void);

/* Gives each VCI of this process its part of the lane, once their number is settled. */
void weft_shm_open_vcis(void);

/* After the fence: finds out whether memory of other processes can be read. */
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

/* Is there anybody at all? */
bool weft_shm_is_open(void);

/* For tests: how many ranks pretend to be a node (WEFT_TEST_NODE_SIZE), or 0. */
int weft_shm_pretended_node(void);

/* Leaves the segment; every peer's link is freed. */
void weft_shm_close(void);

/* First contact with a peer that weft_shm_reaches. Returns 0, or -1 with a sentence in why. */
int weft_shm_connect(struct weft_peer *peer, char *why, size_t len);

/* Sends a contiguous message of fewer than peer->share_below bytes, with no request. False when there is no
 * room: then nothing was sent. */
bool weft_shm_inject(struct weft_peer *peer, const struct weft_channel *channel, int tag,
                     const void *data, size_t bytes);

/* The same with a request, complete from the beginning: the first of the VCI's pool, which has one.
 * NULL when there is no room. */
struct weft_request *weft_shm_inject_request(struct weft_peer *peer, struct weft_channel *channel,
                                             int tag, const void *data, size_t bytes);

/* Starts a send; every field of the request but lane is set. Returns MPI_SUCCESS: what goes wrong is
 * in the request's error. */
int weft_shm_isend(struct weft_request *request);

/* A receive, whose source and tag are set, matched an RTS: header is what weft_sw_keep was given
 * for it. Gets the data, tells the sender; completes the request. */
void weft_shm_fetch(struct weft_request *request, const void *header);

/* Tells the sender of a synchronous message, by its cookie, that it has matched. */
void weft_shm_acknowledge(struct weft_peer *peer, uint64_t cookie);

/* Cancels a send of this lane, complete or not, like weft_net_cancel. */
void weft_shm_cancel(struct weft_request *request);

/* Reads what has arrived for a VCI, writes what waits there. Returns the number of events. */
int weft_shm_progress(unsigned vci);

/* True when nothing waits to be sent. */
bool weft_shm_is_idle(void);

/* Sleeps until something arrives, at most so many microseconds. Returns at once when something has.
 * Touches nothing of the core: with threads, called without the lock. */
void weft_shm_sleep(unsigned microseconds);

/* What a rank's death leaves behind. Takes what it has sent completely; ends what was to be sent to
 * it and what it was pushing. Then: true for a send that only waits for its word; ends such a send
 * (its error is set). */
void weft_shm_bury(struct weft_peer *peer);
bool weft_shm_waits_for_peer(const struct weft_request *request);
void weft_shm_abandon(struct weft_request *request);

/* Messages that went to a peer through this lane, and came from it. */
uint64_t weft_shm_sent_to(const struct weft_peer *peer);
uint64_t weft_shm_arrived_from(const struct weft_peer *peer);

/* The bytes of the node's segment, and the longest message that is sent at once; 0 without one. */
size_t weft_shm_bytes(void);
size_t weft_shm_eager_limit(void);

/* Where a request of this lane that is not complete stands, for people. Valid until the next call. */
const char *weft_shm_describe(const struct weft_request *request);

#endif
