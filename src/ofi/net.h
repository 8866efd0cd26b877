// SPDX-License-Identifier: BSD-3-Clause
/*
 * The net lane as the core sees it: libfabric behind a dozen functions, no rdma type in sight.
 *
 * Invariants:
 *  - A send started here completes its request through weft_request_event; an error is in the
 *    request's error field, its sentence said, before the last event.
 *  - Messages to one peer leave in the order of the calls, whatever their protocol: what the
 *    provider will not take waits in the peer's backlog, and every message after it too.
 */
#ifndef WEFT_NET_H
#define WEFT_NET_H

#include "core/pt2pt/request.h"
#include "pmix/boot.h"

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Lets crash signals be crash signals again: libraries that libfabric brings along catch them. */
void weft_net_free_signals(void);

/* Opens the provider that fits and publishes this rank's address. Returns 0, or -1 with a sentence
 * in why. */
int weft_net_open(const struct weft_job *job, char *why, size_t len);

/* To be called once for each request that comes into being, after weft_net_open. */
void weft_net_adopt(struct weft_request *request);

/* True when every peer must be connected before the first message may arrive. */
bool weft_net_must_know_all(void);

/* Closes everything; only after weft_net_idle has returned true. */
void weft_net_close(void);

/* True when nothing waits to be sent and no read is under way. */
bool weft_net_idle(void);

/* Sets a new peer's address. Returns 0, or -1 with a sentence in why. */
int weft_net_connect(struct weft_peer *peer, char *why, size_t len);

/* The largest user tag, and the bits of a context id in the tag word. */
int weft_net_tag_ub(void);
uint64_t weft_net_context_bits(uint32_t context);

/* A rank in a communicator as bits of the completion data. */
uint64_t weft_net_rank_bits(int rank);

/* True when the core matches every receive (WEFT_MATCHING, or the provider cannot). */
bool weft_net_software_matching(void);

/* "tcp;ofi_rxm on lo", or "no provider". */
const char *weft_net_name(void);

/* What the fast path needs of the provider: its fi_tinjectdata and fi_trecvv, bound. */
struct fid_ep;
struct weft_net_fast {
    ssize_t (*inject)(struct fid_ep *ep, const void *data, size_t bytes, uint64_t cq_data,
                      uint64_t address, uint64_t word);
    struct fid_ep *ep;
    uint64_t ready_bits;    /* the form of a message in ready mode, in the tag word */
    uint32_t sequence_mask; /* how much of a peer's sequence the completion data carry */
    ssize_t (*post)(struct fid_ep *ep, const struct iovec *iov, void **descriptors, size_t pieces,
                    uint64_t source, uint64_t word, uint64_t ignore, void *context);
    uint64_t posts, posts_stop; /* receives posted so far, and where to stop for now: completed ones
                                   plus what the provider may hold; 0: the long way always */
    size_t short_pieces;        /* iovecs of a receive that lands in its request */
    uint64_t form_mask;         /* what such a receive ignores */
};
extern WEFT_HIDDEN struct weft_net_fast weft_net_fast;

/* What the mode of an eager send that is not synchronous adds to the tag word. */
static inline __attribute__((always_inline)) uint64_t weft_net_mode_bits(enum weft_send_mode mode)
{
    return mode == WEFT_SEND_READY ? weft_net_fast.ready_bits : 0;
}

/* Gives the provider a message with its number. 0, or it is busy. */
static inline __attribute__((always_inline)) ssize_t
weft_net_give(const struct weft_peer *peer, const struct weft_channel *channel, int tag,
              uint64_t mode_bits, const void *data, size_t bytes, uint32_t number)
{
    return weft_net_fast.inject(weft_net_fast.ep, data, bytes,
                                (number & weft_net_fast.sequence_mask) | channel->net_rank,
                                peer->net_addr, channel->net_bits | mode_bits | (uint32_t)tag);
}

/* Sends a contiguous message of fewer than peer->inject_below bytes, with no request. False when other
 * messages wait, there is something to think of (ofi/credits.c), or the provider is busy: then
 * nothing was sent. */
static inline __attribute__((always_inline)) bool
weft_net_inject(struct weft_peer *peer, const struct weft_channel *channel, int tag,
                uint64_t mode_bits, const void *data, size_t bytes)
{
    uint32_t number = peer->sequence;
    if (weft_unlikely(number == peer->stop) ||
        weft_unlikely(weft_net_give(peer, channel, tag, mode_bits, data, bytes, number)))
        return false;
    peer->sequence++;
    return true;
}

/* Starts a send; every field of the request but lane is set. Returns MPI_SUCCESS: what goes wrong is
 * in the request's error. */
int weft_net_isend(struct weft_request *request);

/* Posts a receive to the provider (nothing older waits in software), from any source when the
 * request's peer is NULL. What the provider will not take, because its receive queue is full, is
 * left to the software (weft_sw_receive). Returns MPI_SUCCESS. */
int weft_net_irecv(struct weft_request *request);

/* The same for a contiguous buffer and a receive with a tag from one source; the flag IN_NET is set. */
int weft_net_irecv_plain(struct weft_request *request);

/* Whether the following may be used now. */
static inline bool weft_net_may_post(void)
{
    return weft_likely(weft_net_fast.posts < weft_net_fast.posts_stop);
}

/* The same for one of up to WEFT_NET_SMALL bytes from a peer whose land_below says that it lands in
 * its request: whose net_addr is given, and the tag with the context's bits. 0, or the provider does
 * not take it: then it is for weft_net_refused, which leaves it to the software and returns
 * MPI_SUCCESS. */
enum { WEFT_NET_SMALL = 64, WEFT_NET_SHORT_AT = 200 /* its iovecs in the lane part */ };

static inline __attribute__((always_inline)) ssize_t
weft_net_post_short(struct weft_request *request, uint64_t source, uint64_t word)
{
    request->posted = weft_net_fast.posts;
    __atomic_signal_fence(__ATOMIC_ACQ_REL); /* so that memory is added to: one instruction */
    weft_net_fast.posts++;
    return weft_net_fast.post(
        weft_net_fast.ep, (const struct iovec *)(request->lane + WEFT_NET_SHORT_AT), NULL,
        weft_net_fast.short_pieces, source, word, weft_net_fast.form_mask, request->lane);
}

WEFT_COLD int weft_net_refused(struct weft_request *request);

static inline __attribute__((always_inline)) int
weft_net_irecv_short(struct weft_request *request, uint64_t source, uint64_t word)
{
    return weft_likely(!weft_net_post_short(request, source, word)) ? MPI_SUCCESS
                                                                    : weft_net_refused(request);
}

/* What a rank's death leaves behind. True for a send that only waits for its peer's word; ends such
 * a send (its error is set); forgets what was still to be sent to the peer, failing its sends. */
bool weft_net_waits_for_peer(const struct weft_request *request);
void weft_net_abandon(struct weft_request *request);
void weft_net_drop_backlog(struct weft_peer *peer);

/* The same for a receive that has matched and is being fetched: true when it only waits for its
 * peer's word; ends it (its error is set). */
bool weft_net_fetch_waits(const struct weft_request *request);
void weft_net_fetch_abandon(struct weft_request *request);

/* Takes a receive back from the provider, waiting for the provider's word. True when it was taken
 * back, false when a message had matched it (it completes as usual). */
bool weft_net_withdraw(struct weft_request *request);

/* A receive matched a message in software: data as its form says (RTS header), from the peer that
 * the request names. Reads the data, tells the sender; completes the request. */
void weft_net_fetch(struct weft_request *request, const void *header);

/* Tells the sender of a synchronous eager message that it has matched. */
void weft_net_acknowledge(struct weft_peer *peer, struct weft_channel *channel, int tag);

/* An eager message of a rank of the channel's communicator has matched, or is gone, in software: its
 * sender may send as much again. length is the message's, whatever the receive took of it. */
void weft_net_matched(const struct weft_channel *channel, int source, size_t length);

/* The length of the user's message behind an RTS header. */
size_t weft_net_header_length(const void *header);

/* Whether it was sent in ready mode. */
bool weft_net_header_ready(const void *header);

/* What names a message by its RTS header: the sender's cookie. */
uint64_t weft_net_header_cookie(const void *header);

/* Takes the oldest message that the provider holds unexpected of a channel into software. Progresses
 * while it waits for the provider's word. False when there is none. */
bool weft_net_collect(struct weft_channel *channel);

/* Takes all the messages that the provider holds unexpected into software. Nothing may be posted
 * meanwhile. */
void weft_net_collect_all(void);

/* Cancels a send of this lane, complete or not: at once when it has not left, else by asking the
 * receiver, whose answer the request then waits for (WEFT_REQUEST_CANCELLING). */
void weft_net_cancel(struct weft_request *request);

/* Reads completions, retries backlogs, claims messages for held receives. Returns the number of
 * events. */
int weft_net_progress(void);

/* A file descriptor that is readable when weft_net_progress has something to do, or -1: the provider
 * has none, or nobody wants to wait (WEFT_PROGRESS_THREAD). Only after weft_net_may_sleep returned
 * true, which it does while nothing has to be tried again and again. */
int weft_net_wait_fd(void);
bool weft_net_may_sleep(void);

/* How much there is of what this lane counts anyway: receives that the provider holds, how many it
 * may hold, and how many it has ended; the longest eager message. All 0 while it is closed. */
struct weft_net_levels {
    uint64_t posted, room, completed, eager_limit;
};
struct weft_net_levels weft_net_levels(void);

/* Where a request of this lane that is not complete stands, for people: "posted in …", "in the
 * backlog …". Valid until the next call. */
const char *weft_net_describe(const struct weft_request *request);

#endif
