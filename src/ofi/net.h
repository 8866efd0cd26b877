// SPDX-License-Identifier: BSD-3-Clause
/*
 * The interface of the net lane. It contains no types of libfabric; its fast attempt is in
 * core/message/lane_fast.h.
 *
 * Invariants:
 *  - A send started here completes its request through weft_request_event; if it
 *    fails, the request has the error, and its sentence is recorded, before the last event.
 *  - Messages to one peer leave in the order of the calls, for every protocol: if the
 *    provider returns -FI_EAGAIN, the message and all later ones wait in the peer's backlog.
 */
#ifndef WEFT_NET_H
#define WEFT_NET_H

#include "core/base/lock.h"
#include "core/message/lane.h"
#include "core/message/lane_fast.h"
#include "pmix/boot.h"

#include <stdbool.h>

extern WEFT_HIDDEN const struct weft_lane weft_net_lane;

/* Restores the default action of crash signals, which libraries that libfabric depends on catch. */
void weft_net_free_signals(void);

/* Opens the chosen provider, on a network of the job (0: the best of this node), with endpoints for
 * so many VCIs (one if the provider has no more), and publishes their addresses. Returns 0, or -1
 * with a sentence in why. */
int weft_net_open(const struct weft_job *job, unsigned vcis, uint64_t network, char *why,
                  size_t len);

/* After the fence, for one rank of each node: WEFT_NETWORK_UNCHANGED if the endpoints of all nodes
 * are on one network; else, at every rank, the network that all nodes share, to which all ranks
 * move: each closes the lane and opens it on that network, and a fence follows. Ends the job if
 * there is no such network. In large jobs it first returns WEFT_NETWORK_LATER, to be called again
 * after one more fence. */
uint64_t weft_net_shared_network(const struct weft_job *job);

/* After the fence: rank 0 determines for the job how many VCI numbers communicators have,
 * those with ranks of other nodes (weft_net_vci_numbers: 1 or *vci_numbers) and the others.
 * Endpoints beyond that are closed. Returns 0, or -1 with a sentence in why. */
int weft_net_agree(const struct weft_job *job, unsigned *vci_numbers, char *why, size_t len);
unsigned weft_net_vci_numbers(void);

/* True if this rank has an endpoint for each of weft_net_vci_numbers. */
bool weft_net_has_all(void);

/* Initialises the lane's state of a new request; after weft_net_open. */
void weft_net_init_request(struct weft_request *request);

/* True when every peer must be connected before the first message may arrive. */
bool weft_net_must_connect_all(void);

/* This rank needs no message any more: messages to it may be lost from now on. */
void weft_net_leave(void);

/* Closes everything; only after weft_net_idle has returned true. */
void weft_net_close(void);

/* True if all sends have left and all reads are complete. A query of a peer that is not due yet is
 * not waited for: the peer is, and a forged one never becomes due. */
bool weft_net_idle(void);

/* Sets a new peer's address. Returns 0, or -1 with a sentence in why. */
int weft_net_connect(struct weft_peer *peer, char *why, size_t len);

/* Makes the net lane's state of a new peer. */
void weft_net_peer_init(struct weft_peer *peer);

/* User messages sent to a peer on the net lane; long messages that are being read from it. */
uint64_t weft_net_sent_to(const struct weft_peer *peer);
uint64_t weft_net_fetching_from(const struct weft_peer *peer);

/* The largest user tag. */
int weft_net_tag_ub(void);

/* True if software matches every receive (WEFT_MATCHING, or the provider cannot). */
bool weft_net_software_matching(void);

/* "tcp;ofi_rxm on lo", or "no provider". */
const char *weft_net_name(void);

/* Posts a receive to the provider (nothing older waits in software), from any source when the
 * request's peer is NULL. If the receive queue of the provider is full, the receive
 * is posted in software (weft_sw_receive). Returns MPI_SUCCESS. */
int weft_net_irecv(struct weft_request *request);

/* For the death of a rank. True for a send, or a receive that is being fetched, that only waits for
 * a message of its peer; ends such an operation, whose error is set; drops the backlog of the peer,
 * whose sends fail. */
bool weft_net_waits_for_peer(const struct weft_request *request);
void weft_net_abandon(struct weft_request *request);
void weft_net_drop_backlog(struct weft_peer *peer);

/* A peer has died: drops its backlog; what it will not answer ends later (unanswered.c). */
void weft_net_close_dead(struct weft_peer *peer);

/* For a rank that waits: ends the job if a host has not answered for WEFT_NETWORK_TIMEOUT. */
void weft_net_check_hosts(void);

/* Sets a channel's bits of the tag word and of the completion data, and counts its messages that
 * were claimed before. */
void weft_net_open_channel(struct weft_channel *channel);

/* Withdraws a receive from the provider, and waits for the result. False: a message had matched,
 * and the receive completes as usual. */
bool weft_net_withdraw(struct weft_request *request);

/* A receive matched an RTS in software: reads the data from the request's peer, sends FIN and
 * completes the request. */
void weft_net_fetch(struct weft_request *request, const void *header);

/* Sends an ACK to the sender of a synchronous eager message that has matched. */
void weft_net_acknowledge(struct weft_peer *peer, struct weft_channel *channel, int tag);

/* Sends that a communicator is revoked: see core/message/lane.h. */
void weft_net_revoke(struct weft_peer *peer, uint32_t context);

/* An eager message of a rank of the channel's communicator has matched or was dropped in software:
 * returns its credits. length is that of the complete message. */
void weft_net_matched(const struct weft_channel *channel, int source, size_t length);

/* Claims the oldest unexpected message of a channel from the provider into software. Progresses
 * while it waits for the provider. False if there is none. */
bool weft_net_collect(struct weft_channel *channel);

/* Claims all unexpected messages of the provider into software. No receive may be posted meanwhile.
 */
void weft_net_collect_all(void);

/* Cancels a send of this lane, complete or not: at once if it has not left, else by a control to
 * the receiver, and the request waits for the reply (WEFT_REQUEST_CANCELLING). */
void weft_net_cancel(struct weft_request *request);

/* Reads completions of a VCI, retries backlogs, claims messages for held receives. Returns the
 * number of events. */
int weft_net_progress(unsigned vci);

/* The last blocking call of a VCI has ended: sends the FINs that were held back in it. */
void weft_net_wait_ended(unsigned vci);

/* Stores the file descriptors that become readable when weft_net_progress has something to do, one
 * for each VCI, and returns how many; 0: an operation has to be retried, or the provider has none
 * (they are requested with WEFT_PROGRESS_THREAD). */
int weft_net_wait_fds(int fds[WEFT_LOCKS_MAX]);

/* Values for the performance variables; 0 while the lane is closed. */
uint64_t weft_net_level(enum weft_lane_level level);

/* The state of an incomplete request of this lane as text: "posted in …", "in the backlog …". Valid
 * until the next call. */
const char *weft_net_describe(const struct weft_request *request);

#endif
