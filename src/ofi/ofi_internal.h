// SPDX-License-Identifier: BSD-3-Clause
/*
 * The interface between the files of the net lane, with rendezvous.h and credits.h.
 */
#ifndef WEFT_OFI_INTERNAL_H
#define WEFT_OFI_INTERNAL_H

#include "ofi/state.h"
#include "ofi/tag_word.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

/* send.c */

/* Sends an entry now, or appends it to the peer's backlog. */
void weft_net_push(struct weft_peer *peer, struct weft_backlog_entry *out);

/* True if no control waits in the peer's backlog. */
bool weft_net_may_send_control(const struct weft_peer *peer);

/* Removes an entry from the peer's backlog. False if it is not there. */
bool weft_net_take_back(struct weft_peer *peer, const struct weft_backlog_entry *out);

/* Retries all backlogs; reports peers without a connection after WEFT_CONNECT_TIMEOUT. */
WEFT_COLD int weft_net_retry(struct weft_net_vci *net);

/* Reports a peer at that address as not reached, if that is due. */
WEFT_COLD void weft_net_report_unreachable(struct weft_peer *peer, const char *address);

/* True if a synchronous send was sent eagerly and its ACK has not come. */
bool weft_net_awaits_ack(const struct weft_request *request);

/* A send's provider completion. */
void weft_net_sent(struct weft_request *request);

/* completion.c: records the error of the provider with a peer (NULL: unknown), or that the peer is
 * dead (MPIX_ERR_PROC_FAILED), if the launcher reports that now or within a moment, also if the
 * provider detected it first. Returns the error class. */
__attribute__((format(printf, 2, 3))) WEFT_COLD int weft_net_failed(const struct weft_peer *peer,
                                                                    const char *format, ...);

/* The same for a send. If it is a message of Weft's own (of a collective, a window) to a rank that
 * lives, the job ends, because other ranks would wait for it for ever. */
WEFT_COLD int weft_net_send_failed(const struct weft_request *request, const char *why);

/* For an operation of the provider that failed, on `bytes` bytes of the request's buffer: ends the
 * job if this process may not access them. The job cannot go on: after an incomplete message a
 * stream is at no message's beginning. */
WEFT_COLD void weft_net_check_buffer(const struct weft_request *request, size_t bytes, bool write);

/* Looks at the buffers that other ranks read or that the provider sends. TCP providers report no
 * error to the rank whose buffer a remote read cannot access, so ranks that wait look. */
WEFT_COLD void weft_net_check_buffers(double now);

/* The same for the data of a rendezvous or a window: "reading", "from" of the request's peer. */
WEFT_COLD int weft_net_transfer_failed(const struct weft_request *request, const char *action,
                                       const char *relation, const char *why);

/* The provider reports an error of a request's own operation: a send, or a transfer of a window. */
WEFT_COLD void weft_net_own_op_failed(struct weft_request *request, int error, const char *text);

/* unanswered.c: for a rank that waits; ends the operations that dead peers will not answer. */
WEFT_COLD void weft_net_end_unanswered(double now);

/* recv.c */

/* A provider-matched receive has a message. */
void weft_net_received(struct weft_request *request, const struct fi_cq_tagged_entry *entry);

/* Records a message that the provider matched or gave, whose source is a sender of the channel.
 * True if it was received before. An RTS is never a copy: its CQ data contain the number of the
 * send request, and its data are checked as a header. */
bool weft_net_is_copy(struct weft_net_vci *net, const struct weft_channel *channel, int source,
                      uint64_t tag, uint64_t cq_data);

/* A provider-matched receive was cancelled, truncated or failed. */
WEFT_COLD void weft_net_receive_failed(struct weft_request *request,
                                       const struct fi_cq_err_entry *error, const char *text);

/* The most bytes of data of one operation of the provider that pass through a bounce buffer. */
enum { WEFT_NET_PIECE_MAX = 1 << 20 };

/* bounce_pool.c: memory for packed data. get returns NULL if memory is short, or if it must be
 * registered and the provider refuses. weft_net_bounce_get_reserved is for one operation of the
 * provider: a control or RTS, or at most WEFT_NET_PIECE_MAX bytes of data. It may return the
 * reserve; if it returns NULL, *error is -FI_EAGAIN if the reserve is in use. put accepts NULL; mr
 * returns the registration for all uses, or NULL. advice is the end of a sentence about memory that
 * is short.
 */
enum weft_net_reserve { WEFT_NET_RESERVE_CONTROL, WEFT_NET_RESERVE_PIECE, WEFT_NET_RESERVES };
int weft_net_bounce_open(struct weft_net_vci *net);
void weft_net_bounce_close(struct weft_net_vci *net);

/* Frees the buffers that are not in use. */
void weft_net_bounce_drop(struct weft_net_vci *net);
const char *weft_net_bounce_advice(void);
void *weft_net_bounce_get(struct weft_net_vci *net, size_t bytes);

/* True if so many bytes may be in use until a peer has read them: 64 MiB in all. */
bool weft_net_bounce_allows(const struct weft_net_vci *net, size_t bytes);
void *weft_net_bounce_get_reserved(struct weft_net_vci *net, enum weft_net_reserve which,
                                   size_t bytes, int *error);
void weft_net_bounce_put(struct weft_net_vci *net, void *data);
struct fid_mr *weft_net_bounce_mr(struct weft_net_vci *net, void *data);

/* in_flight.c */

/* Takes a slot for an operation of that kind: NULL if memory is short. The op is in flight until
 * the slot is given back. */
struct weft_net_slot *weft_net_slot_get(struct weft_net_vci *net, enum weft_net_op_kind kind);
void weft_net_slot_put(struct weft_net_vci *net, struct weft_net_slot *slot);
void weft_net_slots_close(struct weft_net_vci *net);

/* Calls see with each slot in flight, which it may give back. */
WEFT_COLD void weft_net_slots_each(struct weft_net_vci *net,
                                   void (*see)(struct weft_net_vci *net,
                                               struct weft_net_slot *slot));

/* True if an op starts at that address: of a request, a receive buffer, the claim or a slot of this
 * VCI. Slow. */
WEFT_COLD bool weft_net_is_op(const struct weft_net_vci *net, const void *address);

/* The op of the claim, its first field (peek_claim.c), or NULL. */
static inline const struct weft_net_op *weft_net_claim_op(const struct weft_net_vci *net)
{
    return (const struct weft_net_op *)net->claim;
}

/* rma.c: a transfer of a window has ended */
void weft_net_rma_done(struct weft_request *request, int error, const char *text);

/* keepalive.c: whether a TCP connection to the peer, or one of a rank on its host to this rank,
 * exists or is being made. Slow. */
bool weft_net_is_connected(const struct weft_peer *peer);

/* True if a TCP connection of this rank to the address of the peer is established. Slow. */
bool weft_net_is_established(const struct weft_peer *peer);

/* The kernel sends probes over a connection that is silent, some times in WEFT_NETWORK_TIMEOUT. */
void weft_net_probe_when_silent(int fd);

/* compare.c */

/* Called by a rank that waits: sends COMPARE to peers for which it is due. */
void weft_net_compare_peers(double now);

/* COMPARE of a peer arrived. Ends the job if messages of it are lost. */
void weft_net_compare(struct weft_net_vci *net, const struct weft_net_control *control);

/* The reply to COMPARE arrived. */
void weft_net_compared(struct weft_peer *peer, const struct weft_net_control *control);

/* True if COMPARE is due, if so many messages were sent. */
bool weft_net_compare_due(struct weft_net_compare *compare, uint32_t sent, double now);

/* COMPARE arrived. Returns the number of messages that are lost; *missing: that are not here. */
uint32_t weft_net_compare_lost(struct weft_net_compare *compare, uint32_t claimed, uint32_t taken,
                               double now, bool *missing);

/* control.c */

/* Sends a control message if the provider accepts it now. */
bool weft_net_control_try(struct weft_peer *peer, struct weft_net_control control);

/* Sends a control or an RTS: 0, -FI_EAGAIN or an error. The data may be changed afterwards. With
 * `reported` the job ends if the provider reports that the message is lost. */
int weft_net_send_own(struct weft_peer *peer, const void *data, size_t bytes, uint64_t cq_data,
                      uint64_t word, bool reported);
void weft_net_own_sent(struct weft_net_slot *slot, int error, const char *text);

/* Ends the job because a control cannot be sent, as the peer would wait for it for ever. Returns if
 * the peer is dead. */
WEFT_COLD void weft_net_control_failed(const struct weft_peer *peer, const char *why);

/* True if a message of a channel may come from that rank, as its completion data claim: a rank of
 * the communicator that sends over the net lane. */
bool weft_net_is_sender(const struct weft_channel *channel, int source);

/* True if the payload of an RTS is a header that a rank sends. */
bool weft_net_is_header(const struct weft_net_header *header, size_t bytes);

/* Sends a control message to a peer, or appends it to the backlog; sets version and from. */
void weft_net_control(struct weft_peer *peer, struct weft_net_control control);

/* Sends a control message of the backlog: 0, -FI_EAGAIN or an error. */
int weft_net_control_send(struct weft_peer *peer, struct weft_backlog_entry *out);

/* Frees a control message that will not be sent. */
void weft_net_control_drop(struct weft_backlog_entry *out);

/* Removes a synchronous send from the list of those that wait for an ACK. False if it is not there.
 */
bool weft_net_forget_sync(struct weft_request *request);

/* The oldest synchronous send of (context, tag) to a peer has matched. False if there is none. */
bool weft_net_acknowledged(struct weft_peer *peer, uint32_t context, int tag);

/* A control message arrived. */
void weft_net_control_arrived(struct weft_net_vci *net, const void *data, size_t bytes);

/* Counts a message that is ignored because it does not fit the operations of this rank, and reports
 * the first one; from: its rank, or -1. */
WEFT_COLD void weft_net_drop(const char *what, int from);

/* pool.c: the pre-posted receives */
int weft_net_pool_open(struct weft_net_vci *net, char *why, size_t len);
void weft_net_pool_close(struct weft_net_vci *net);

/* Passes a user message to the matcher: the tag word, CQ data and data of its completion. arg: the
 * struct weft_net_vci at which it arrived. */
void weft_net_deliver(void *arg, uint64_t tag, uint64_t cq_data, const void *data, size_t bytes);
void weft_net_pool_received(struct weft_net_vci *net, struct weft_net_op *op,
                            const struct fi_cq_tagged_entry *entry);
WEFT_COLD void weft_net_pool_failed(struct weft_net_vci *net, struct weft_net_op *op,
                                    const struct fi_cq_err_entry *error, const char *text);
void weft_net_pool_post_more(struct weft_net_vci *net);

/* cancel.c */

/* The reply to a cancel arrived. False if it does not fit the state of the send. */
bool weft_net_cancel_replied(struct weft_request *request, bool cancelled);

/* A cancel, a flow check or CONNECTED arrived; weft_net_answer_queries replies to it, outside of
 * completion handlers. */
void weft_net_query_arrived(struct weft_net_vci *net, const struct weft_net_control *control);

/* Frees the queries that never became due. */
void weft_net_queries_close(struct weft_net_vci *net);

/* Replies to queries that are due. Returns their number. */
WEFT_COLD int weft_net_answer_queries(struct weft_net_vci *net);

/* peek_claim.c */

/* Searches the provider for the next message of a held channel. */
void weft_net_claim(struct weft_net_vci *net);
void weft_net_claimed(struct weft_net_vci *net, const struct fi_cq_tagged_entry *entry);
WEFT_COLD void weft_net_claim_failed(struct weft_net_vci *net, const struct fi_cq_err_entry *error,
                                     const char *text);
int weft_net_claim_open(struct weft_net_vci *net);
void weft_net_claim_close(struct weft_net_vci *net);

/* Claims the oldest unexpected message of a channel, NULL: of any, from the provider into software.
 * False if there is none. */
bool weft_net_collect_one(struct weft_net_vci *net, struct weft_channel *channel);

/* Counts the messages of a channel that were claimed before it was opened. */
void weft_net_attribute(struct weft_channel *channel);

/* Claims all unexpected messages of a VCI from the provider into software. */
void weft_net_collect_unexpected(struct weft_net_vci *net);

/* shared_network.c: the lowest rank of a node publishes the node's networks, together with the next
 * value. */
int weft_net_publish_networks(const struct weft_job *job, const struct weft_network_list *list,
                              char *why, size_t len);

/* endpoint.c: a peer has connected to this rank. The first is for completion handlers, and returns
 * false where this rank has to connect to that peer, by the second, outside of them. */
bool weft_net_connected_by(unsigned vci_number, int world);
void weft_net_connect_back(struct weft_net_vci *net, unsigned vci_number, int world);

/* The addresses of a peer's endpoint and of this rank's for that peer, as text. Return buf. */
char *weft_net_own_address(const struct weft_peer *peer, char *buf, size_t len);
char *weft_net_peer_address(struct weft_peer *peer, char *buf, size_t len);

struct sockaddr_storage;
/* endpoint.c: the IP address of a peer's endpoint, zeros behind it. False if there is none. */
bool weft_net_peer_sockaddr(const struct weft_peer *peer, struct sockaddr_storage *address);

/* rma.c: closes the registrations of windows that the program has not freed. */
void weft_net_regions_close(struct weft_net_vci *net);

/* net.c: registers memory. NULL if the provider refuses. */
struct fid_mr *weft_net_register(struct weft_net_vci *net, void *data, size_t bytes,
                                 uint64_t access);

/* Counts a new registration, and enables it where it belongs to the endpoint. Returns it, or NULL
 * if the provider refuses. */
struct fid_mr *weft_net_enable(struct fid_mr *mr, struct fid_ep *ep);

/* As weft_net_register, for device memory. The provider has been asked for FI_HMEM. */
WEFT_COLD struct fid_mr *weft_net_register_device(struct weft_net_vci *net, void *data,
                                                  size_t bytes, uint64_t access);

static inline void *weft_net_descriptor(struct fid_mr *mr)
{
    return mr ? fi_mr_desc(mr) : NULL;
}

#endif
