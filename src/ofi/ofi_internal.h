// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inside the net lane: the endpoint, what is outstanding on it, and the words it speaks.
 *
 * The tag word, from the top of the provider's usable bits:
 *
 *     | space 1 | form 2 | sender | context (20..28 bits) | user's tag (15..31 bits) |
 *
 * space separates user messages (0) from control messages (1) and is always matched. form says what
 * a user message is (enum weft_message_form); receives ignore it and read it back from the
 * completion. sender is the sender's rank in MPI_COMM_WORLD, with as many bits as the job's size
 * needs, where the core matches; where the provider matches, sender has no bits. The CQ data carries
 * the sender's rank in the communicator and the message's sequence number (8 or 32 bits). Where the
 * provider matches and the sequence number has 32 bits, an RTS carries the number of the send's
 * request in its place.
 *
 * Invariants:
 *  - Every operation given to the provider has a struct weft_net_op as its context, in memory that
 *    does not move until the operation's one completion has been read.
 *  - packed and mr of a request's lane part are NULL whenever they hold nothing, also while the
 *    request is in the pool; phase is WEFT_NET_NO_RENDEZVOUS then. In a receive header holds a header
 *    only in the phases READING to AWAITING_PIECES: the first bytes of any message may lie there.
 *  - A peer names a request by its number. A control message is acted on only if that request is
 *    active, with that peer, and in the phase that the message is for (control.c).
 *  - A control message is at most WEFT_NET_CONTROL_BYTES, an RTS header at most
 *    WEFT_NET_HEADER_BYTES.
 */
#ifndef WEFT_OFI_H
#define WEFT_OFI_H

#include "core/pt2pt/request.h"
#include "ofi/net.h"
#include "ofi/select/provider.h"
#include "ofi/sequence.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

enum { WEFT_NET_HEADER_BYTES = 32, WEFT_NET_CONTROL_BYTES = 56 };

enum weft_net_op_kind {
    WEFT_NET_REQUEST, /* of a struct weft_request: an eager message, or a receive that the provider
                         matches. A request's own is of this kind all its life */
    WEFT_NET_POOL, /* of a struct weft_net_buffer: any control or, in software matching, any message */
    WEFT_NET_READ,  /* of a struct weft_net_transfer: one piece of a rendezvous, read */
    WEFT_NET_WRITE, /* of a struct weft_net_transfer: one piece of a rendezvous, written */
    WEFT_NET_CLAIM, /* of the one claim */
    WEFT_NET_PIECE, /* of a struct weft_net_piece: one piece of a pushed rendezvous */
    WEFT_NET_OWN    /* of a control or an RTS that is too long to be injected */
};

struct weft_net_op {
    struct fi_context2 context;
    uint8_t kind; /* enum weft_net_op_kind */
};

/* Something to be sent, in order, to one peer. */
enum weft_net_out_kind {
    WEFT_NET_OUT_UNPREPARED, /* a user message that becomes one of the next two as it is first tried */
    WEFT_NET_OUT_EAGER,
    WEFT_NET_OUT_RTS,
    WEFT_NET_OUT_CONTROL,
    WEFT_NET_OUT_PIECE
};

struct weft_net_out {
    struct weft_net_out *next;
    uint8_t kind; /* enum weft_net_out_kind */
};

/* The payload of an RTS. */
struct weft_net_header {
    uint8_t version;
    uint8_t
        staged; /* 0: the message can be read; 1: its sender packs and writes it (rndv_write.c) */
    uint8_t ready; /* it was sent in ready mode */
    uint8_t pad;
    uint32_t number;  /* of the sender's request */
    uint64_t length;  /* bytes of the user's message */
    uint64_t address; /* what fi_read wants: virtual address, or offset in the registration */
    uint64_t key;
};

enum weft_net_control_kind {
    WEFT_NET_ACK,  /* the oldest unacknowledged synchronous send of (context, tag) has matched */
    WEFT_NET_FIN,  /* count sends have been read: their numbers stand from `number` on */
    WEFT_NET_CTS,  /* push the message of the send `number`, length bytes, to the receive `other` */
    WEFT_NET_DATA, /* a pushed piece for the receive `number`, at offset `other`; data follows */
    WEFT_NET_CANCEL, /* forget the message of (context, tag) of the send `number`: announced (count
                        1), or with the sequence `other` (count 0). Answered when the messages with
                        sequences below `length` have been delivered */
    WEFT_NET_CANCELLED, /* the send `number` is cancelled */
    WEFT_NET_TOO_LATE,  /* it has matched */
    WEFT_NET_PLACE,     /* write the message of the send `number`, length bytes, to (address, key),
                           which is all of the buffer (count 0) or a ring (count 1), and name the
                           receive `other` in WRITTEN */
    WEFT_NET_WRITTEN, /* for the receive `number`: the next slot of its ring, or all, is written; count
                         1: the sender failed, and no more than length bytes will be */
    WEFT_NET_TAKEN,    /* a slot of the ring that the send `number` fills is free again */
    WEFT_NET_CREDITS,  /* eager messages of `length` credits have matched */
    WEFT_NET_RELIEVE,  /* many messages were sent, all with sequences below `length`: when they have
                         been delivered, take what has no receive into software, answer */
    WEFT_NET_RELIEVED, /* it is done */
    WEFT_NET_ASK_HEADER, /* the RTS of the send `number` has matched, repeat its header for the receive
                            `other` */
    WEFT_NET_HEADER, /* the header, for the receive `number`: staged (count), number (other), length,
                        address, key */
    WEFT_NET_CONNECTED /* the sender connects to the receiver; count 1: the receiver connects to the
                          sender too, if it has not */
};

struct weft_net_control {
    uint8_t version, kind, count, pad;
    int32_t from; /* world rank of the sender */
    uint32_t context;
    int32_t tag;
    uint64_t number, other, length;
    uint64_t address, key;
};

_Static_assert(sizeof(struct weft_net_header) == WEFT_NET_HEADER_BYTES, "RTS header");
_Static_assert(sizeof(struct weft_net_control) == WEFT_NET_CONTROL_BYTES, "control message");
_Static_assert(offsetof(struct weft_net_control, number) + WEFT_FINS_AT_ONCE * sizeof(uint32_t) <=
                   sizeof(struct weft_net_control),
               "the numbers of a FIN");

enum { WEFT_NET_WIRE_VERSION = 9 };

/* The ring of a staged rendezvous, part of what both sides must agree on: slots of so many bytes. */
enum { WEFT_NET_SLOT = 1 << 20, WEFT_NET_SLOTS = 4 };

/* The pieces in which so many bytes pass through stages: some eight of them, so that what packs and
 * what unpacks work at the same time, but no longer than a slot, and none so short that the calls
 * would count. A power of two. */
static inline size_t weft_net_piece_bytes(size_t bytes)
{
    size_t piece = 64 << 10;
    while (piece < bytes / 8 && piece < WEFT_NET_SLOT)
        piece *= 2;
    return piece;
}

/* How far the rendezvous of a request is. */
enum weft_net_phase {
    WEFT_NET_NO_RENDEZVOUS,
    /* of a receive that has matched an RTS */
    WEFT_NET_ASKING_HEADER,
    WEFT_NET_READING,         /* it reads, and sends FIN */
    WEFT_NET_AWAITING_WRITES, /* it has sent PLACE */
    WEFT_NET_AWAITING_PIECES, /* it has sent CTS */
    /* of a send whose RTS has left */
    WEFT_NET_ANNOUNCED,
    WEFT_NET_WRITING, /* PLACE has come */
    WEFT_NET_PUSHING  /* CTS has come */
};

/* What the net lane keeps in a request. */
struct weft_net_request {
    struct weft_net_op op;
    struct weft_net_out out;
    bool withdrawn;     /* receives: the provider gave it back unmatched */
    bool stalled;       /* in the list weft_net.stalled, or in the readers of its peer */
    bool ring;          /* staged sends: what is written to is a ring */
    uint8_t phase;      /* enum weft_net_phase */
    uint16_t reads_out; /* pieces under way: read, written or pushed */
    bool cut;           /* staged sends: writing failed, and the receiver waits for more */
    void *packed;       /* a stage with packed data of a buffer that is not contiguous, or NULL */
    struct fid_mr *mr;  /* registration of the buffer, or NULL */
    union {
        struct weft_net_header header; /* sends: RTS; receives: what came */
        char small[WEFT_NET_SMALL];    /* receives: the first bytes of what comes */
    };
    size_t moved;   /* bytes asked for (reads), written or pushed */
    size_t arrived; /* bytes received (pushed or written); staged sends: of those, what was taken */
    struct weft_request *next_stalled;
    struct iovec short_iov[2]; /* of a receive of up to WEFT_NET_SMALL bytes: small and the spill */
    uint32_t receive;          /* sends that are written or pushed: the receiver's number for it */
};

_Static_assert(sizeof(struct weft_net_request) <= WEFT_LANE_BYTES, "lane part of a request");
_Static_assert(offsetof(struct weft_net_request, op) == 0, "the context of what is posted");
_Static_assert(offsetof(struct weft_net_request, short_iov) == WEFT_NET_SHORT_AT, "its iovecs");

static inline struct weft_net_request *weft_net_part(struct weft_request *request)
{
    return (struct weft_net_request *)request->lane;
}

static inline struct weft_request *weft_net_whole(struct weft_net_request *part)
{
    return (struct weft_request *)((char *)part - offsetof(struct weft_request, lane));
}

/* A pre-posted receive buffer. */
struct weft_net_buffer {
    struct weft_net_op op;
    struct weft_net_buffer *next; /* while it waits to be posted again */
    char *data;
};

struct weft_net {
    /* what the fast path reads */
    struct fid_ep *ep;
    size_t inject_short; /* the longest message that is injected for one credit */
    size_t inject_max, eager_limit;
    unsigned rank_shift, form_shift;
    uint32_t credits_step; /* owed to one peer before they are returned */
    unsigned context_shift;
    uint64_t tag_mask, form_mask, space_bit;
    unsigned sender_shift;
    uint64_t sender_bits; /* this rank's, in the tag word of what it sends */
    struct iovec spill;   /* where what does not fit a receive goes */
    size_t spill_below;   /* receives with less room than this get the spill area too; 0 where the
                           provider truncates by itself */

    /* the rest */
    struct fid_cq *cq;
    int wait_fd;                  /* of the queue, or -1 */
    struct weft_peer *backlogged; /* peers with a backlog */
    struct weft_request *stalled; /* rendezvous the provider would not read or write for */
    struct weft_net_buffer *unposted;
    size_t posted, wanted;           /* of the pool's buffers; wanted is few or nbuffers */
    struct weft_sequences sequences; /* of the user messages that the core matches */
    uint64_t completed, stop_step;   /* receives completed; what each adds to posts_stop */
    bool header_apart;    /* there are iovecs to keep headers out of buffers, and no FI_MR_LOCAL */
    size_t in_place_room; /* what is more than WEFT_NET_SMALL by fewer bytes than this */
    uint64_t post_limit;  /* receives that the provider may hold */
    size_t outstanding;   /* control sends, reads, writes and pieces under way */
    bool software, virtual_addresses, provider_keys, local_mr, can_read, can_write;
    uint64_t next_key;
    size_t read_chunk;  /* bytes of one read */
    size_t read_window; /* and of all the reads from one peer */
    bool paced;         /* a stream whose TCP sends at a rate that it has estimated */
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct weft_net_buffer *buffers;
    size_t nbuffers, buffer_bytes, few;
    unsigned one_by_one; /* polls that took few messages, while all buffers are wanted */
    char *buffer_data;
    struct fid_mr *buffer_mr, *spill_mr;
    struct weft_provider_choice choice;
    char name[160];
    bool asked;          /* peers wait for an answer of this rank, or for relief */
    uint32_t credits;    /* what each peer gets from this rank */
    uint32_t part;       /* messages after which a peer is asked whether it has taken them */
    unsigned part_shift; /* so many bytes, as a power of two, count as one more of these */
    uint32_t *strangers; /* owed to ranks that are no peers yet, by world rank; NULL: nothing */
};

extern WEFT_HIDDEN struct weft_net weft_net;

/* The context bits and tag of a user message's tag word. */
static inline int weft_net_form(uint64_t word)
{
    return (int)(word >> weft_net.form_shift) & 3;
}

static inline uint32_t weft_net_context(uint64_t word)
{
    return (uint32_t)((word & ((UINT64_C(1) << weft_net.sender_shift) - 1)) >>
                      weft_net.context_shift);
}

/* The sender of a user message where the core matches: its rank in MPI_COMM_WORLD. */
static inline uint32_t weft_net_sender(uint64_t word)
{
    return (uint32_t)((word & ((UINT64_C(1) << weft_net.form_shift) - 1)) >> weft_net.sender_shift);
}

/* send.c */

/* Sends something now, or puts it at the end of the peer's backlog. */
void weft_net_push(struct weft_peer *peer, struct weft_net_out *out);

/* Takes something out of the peer's backlog. False when it is not there. */
bool weft_net_take_back(struct weft_peer *peer, struct weft_net_out *out);

/* Retries every backlog; reports peers not reached within WEFT_CONNECT_TIMEOUT. */
WEFT_COLD int weft_net_retry(void);

/* Reports a peer at that address as not reached, when that is due. */
WEFT_COLD void weft_net_report_unreachable(struct weft_peer *peer, const char *address);

/* A send's provider completion. */
void weft_net_sent(struct weft_request *request);

/* credits.c */

/* The credits that this rank gives to each peer. Called once, when the eager limit and the tag word
 * are known. */
void weft_net_credits_open(int ranks);

/* The user messages that a sender may have undelivered. Of each two questions one message may have
 * been sent after the question was due. */
uint32_t weft_net_window(void);
void weft_net_credits_close(void);

/* First contact: the peer gives this rank so many. */
void weft_net_credits_meet(struct weft_peer *peer, uint32_t credits);

/* What an eager message costs: at least one credit, as many as it has pieces of 256 bytes. */
enum { WEFT_NET_CREDIT_SHIFT = 8 };

static inline uint32_t weft_net_cost(size_t bytes)
{
    return 1 + (uint32_t)(bytes >> WEFT_NET_CREDIT_SHIFT);
}

/* What may still be spent; below 0 when messages shorter than an RTS, which are always sent, have
 * overdrawn. */
static inline int32_t weft_net_credits_left(const struct weft_peer *peer)
{
    return (int32_t)(peer->credits_end - peer->sequence);
}

/* Whether user messages to a peer wait in the backlog until it has taken what was sent. */
enum { WEFT_NET_UNANSWERED = 2 };

static inline bool weft_net_must_wait(const struct weft_peer *peer)
{
    return peer->unanswered >= WEFT_NET_UNANSWERED;
}

static inline bool weft_net_affordable(const struct weft_peer *peer, size_t bytes)
{
    return bytes <= WEFT_NET_HEADER_BYTES ||
           (int32_t)weft_net_cost(bytes) <= weft_net_credits_left(peer);
}

/* Decides where the short way ends: here while something stops user messages, else where there is
 * something to think of. After every change of what that depends on. */
static inline void weft_net_settle(struct weft_peer *peer)
{
    int32_t credits = weft_net_credits_left(peer);
    int32_t messages = (int32_t)(peer->relieve_at - peer->sequence);
    int32_t first = credits < messages ? credits : messages;
    bool here = peer->backlog || weft_net_must_wait(peer) || first < 0;
    peer->stop = peer->sequence + (here ? 0 : (uint32_t)first);
}

/* Counts a user message that has left, one of so many bytes, and so many credits (an RTS: 0).
 * Returns its number. */
uint32_t weft_net_number(struct weft_peer *peer, size_t bytes, uint32_t cost);

/* Asks a peer whether it has taken what was sent to it, when that is due. Not within
 * weft_net_push. */
void weft_net_relieve(struct weft_peer *peer);

/* It has. False when it was not asked. */
bool weft_net_relieved(struct weft_peer *peer);

/* Credits came back. */
void weft_net_credits_arrived(struct weft_peer *peer, uint64_t credits);

/* Returns what is owed to a peer. */
WEFT_COLD void weft_net_credits_return(struct weft_peer *peer);

/* An eager message of that length has matched a receive from one source. */
static inline void weft_net_matched_from(struct weft_peer *peer, size_t length)
{
    peer->owed += weft_net_cost(length);
    if (weft_unlikely(peer->owed >= weft_net.credits_step))
        weft_net_credits_return(peer);
}

/* failed.c */

/* Says what the provider did not do with a peer (NULL: an unknown one), or that this peer is dead, if
 * the launcher tells so now or within a moment. Returns the error class. */
__attribute__((format(printf, 2, 3))) WEFT_COLD int weft_net_failed(const struct weft_peer *peer,
                                                                    const char *format, ...);

/* recv.c */

/* A provider-matched receive has a message. */
void weft_net_received(struct weft_request *request, const struct fi_cq_tagged_entry *entry);

/* It ended without one: cancelled, truncated, failed. */
WEFT_COLD void weft_net_receive_failed(struct weft_request *request,
                                       const struct fi_cq_err_entry *error, const char *text);

/* bounce_pool.c: memory for packed data. Get returns NULL when there is none, or where local buffers must be
 * registered, when the provider refuses. get_reserved is for what one operation of the provider needs,
 * a control or RTS, or at most WEFT_NET_SLOT bytes of data: it also takes the reserve, and sets *error,
 * when it returns NULL, to -FI_EAGAIN where the reserve comes back soon. put takes NULL; mr returns the
 * registration for everything, NULL when the provider refuses. Advice is the end of a sentence about
 * memory that is short. */
enum weft_net_reserve { WEFT_NET_RESERVE_CONTROL, WEFT_NET_RESERVE_PIECE, WEFT_NET_RESERVES };
int weft_net_bounce_open(void);
void weft_net_bounce_close(void);
const char *weft_net_bounce_advice(void);
void *weft_net_bounce_get(size_t bytes);
void *weft_net_bounce_get_reserved(enum weft_net_reserve which, size_t bytes, int *error);
void weft_net_bounce_put(void *data);
struct fid_mr *weft_net_bounce_mr(void *data);

/* Gives up what the lane part of a request holds. */
static inline void weft_net_release(struct weft_net_request *part)
{
    if (weft_unlikely(part->mr != NULL))
        fi_close(&part->mr->fid);
    if (part->packed)
        weft_net_bounce_put(part->packed);
    part->mr = NULL;
    part->packed = NULL;
}

/* rendezvous.c */

/* One piece of a rendezvous that is read or written: the provider's context. */
struct weft_net_transfer {
    struct weft_net_op op;
    struct weft_request *request;
    size_t offset, bytes; /* of the packed form */
    void *stage;          /* where they are or go if the buffer is not contiguous, else NULL */
    struct weft_net_transfer *next; /* in the free list */
};

/* Get returns NULL when memory is short. */
struct weft_net_transfer *weft_net_transfer_get(void);
void weft_net_transfer_put(struct weft_net_transfer *transfer);
void weft_net_transfer_close(void);

/* Fills the header of a send, whose buffer is registered if it can be. If not, its data pass through
 * stages. */
WEFT_COLD void weft_net_expose(struct weft_request *request);

/* A receive matched an RTS whose header it does not have: asks the sender, whose send has that
 * number. The answer goes on with weft_net_fetch. */
WEFT_COLD void weft_net_ask_header(struct weft_request *request, uint32_t number);
WEFT_COLD void weft_net_header_asked(struct weft_request *send, uint64_t receive);
WEFT_COLD void weft_net_header_told(struct weft_request *request,
                                    const struct weft_net_control *answer);

/* The provider took no more of a request's pieces: it is asked again by weft_net_move_more, which
 * returns how many pieces it took. */
void weft_net_stall(struct weft_request *request);
WEFT_COLD int weft_net_move_more(void);

/* A receive has all that it wanted, or what there will be: it is complete, and its sender is told if
 * it waits for that. */
void weft_net_fetched(struct weft_request *request);
void weft_net_read_done(struct weft_net_op *op, int error, const char *text);

/* rndv_write.c: the receiver's side, then the sender's. */
void weft_net_rndv_write_fetch(struct weft_request *request);
void weft_net_rndv_write_written(struct weft_request *request,
                                 const struct weft_net_control *written);
void weft_net_rndv_write_begin(struct weft_request *request, const struct weft_net_control *place);
bool weft_net_rndv_write_taken(struct weft_request *request); /* false: that slot was not written */

/* Goes on writing. Returns how many pieces the provider took. */
int weft_net_rndv_write_write(struct weft_request *request);
void weft_net_write_done(struct weft_net_op *op, int error, const char *text);

/* rndv_send.c: the receiver's side, then the sender's. weft_net_push_more goes on pushing and returns how
 * many pieces the provider or the backlog took. */
void weft_net_pushed_fetch(struct weft_request *request);
void weft_net_piece_arrived(struct weft_request *request, size_t offset, const void *data,
                            size_t bytes);
void weft_net_push_pieces(struct weft_request *request, uint64_t receive, size_t length);
int weft_net_push_more(struct weft_request *request);
int weft_net_piece_send(struct weft_peer *peer, struct weft_net_out *out);
WEFT_COLD void weft_net_piece_failed(struct weft_net_out *out, const char *text);
void weft_net_piece_done(struct weft_net_op *op, int error, const char *text);

/* own_message.c */

/* Sends a control or an RTS: 0, -FI_EAGAIN or an error. The data may be changed afterwards. */
int weft_net_send_own(struct weft_peer *peer, const void *data, size_t bytes, uint64_t cq_data,
                      uint64_t word);
void weft_net_own_sent(struct weft_net_op *op, int error, const char *text);

/* control.c */

/* Queues a control message to a peer; what its kind has is set, but version and from. */
void weft_net_control(struct weft_peer *peer, struct weft_net_control control);

/* Gives one queued control message to the provider: 0, -FI_EAGAIN or an error. */
int weft_net_control_send(struct weft_peer *peer, struct weft_net_out *out);

void weft_net_control_close(void);

/* Frees one that will never be sent. */
void weft_net_control_drop(struct weft_net_out *out);

/* Takes a synchronous send out of those that wait for an acknowledgement. False when it is not among
 * them. */
bool weft_net_forget_sync(struct weft_request *request);

/* A synchronous send of (context, tag) to a peer has matched: the oldest. False when there is none. */
bool weft_net_acknowledged(struct weft_peer *peer, uint32_t context, int tag);

/* A control message arrived. */
void weft_net_control_arrived(const void *data, size_t bytes);

/* Counts what arrived and is ignored, because it does not fit what this rank has under way; reports
 * the first, of a rank (-1: unknown). */
WEFT_COLD void weft_net_drop(const char *what, int from);

/* pool.c: the pre-posted receives */
int weft_net_pool_open(char *why, size_t len);
void weft_net_pool_close(void);
void weft_net_pool_received(struct weft_net_op *op, const struct fi_cq_tagged_entry *entry);
WEFT_COLD void weft_net_pool_failed(struct weft_net_op *op, const struct fi_cq_err_entry *error,
                                    const char *text);
void weft_net_pool_post_more(void);

/* cancel.c */

/* The answer to a cancelled send. False when it does not fit what has come before. */
bool weft_net_cancel_answered(struct weft_request *request, bool cancelled);

/* A question or a plea for relief arrived; it is answered by weft_net_cancel_answer, outside of
 * completion handlers. */
void weft_net_cancel_asked(const struct weft_net_control *control);

/* Answers what was asked. Returns how many. */
WEFT_COLD int weft_net_cancel_answer(void);

/* claim.c */

/* Looks for the next message of a held channel; what it finds is news, looking is not. */
void weft_net_claim(void);
void weft_net_claimed(const struct fi_cq_tagged_entry *entry);
WEFT_COLD void weft_net_claim_failed(const struct fi_cq_err_entry *error, const char *text);
int weft_net_claim_open(void);
void weft_net_claim_close(void);

/* endpoint.c: a peer has connected to this rank. The first is for completion handlers, and returns
 * false where this rank has to connect to that peer, by the second, outside of them. */
bool weft_net_connected_by(int world);
void weft_net_connect_back(int world);

/* The addresses of this rank's endpoint and of a peer's, for people. Return buf. */
char *weft_net_own_address(char *buf, size_t len);
char *weft_net_peer_address(struct weft_peer *peer, char *buf, size_t len);

/* endpoint.c: registers memory for the provider's own use when it wants that (FI_MR_LOCAL); NULL
 * otherwise or on failure. */
struct fid_mr *weft_net_register(void *data, size_t bytes, uint64_t access);

/* The same for a message, counted for its peer, if that is known. */
struct fid_mr *weft_net_register_for(const struct weft_request *request, void *data, size_t bytes,
                                     uint64_t access);

static inline void *weft_net_descriptor(struct fid_mr *mr)
{
    return mr ? fi_mr_desc(mr) : NULL;
}

#endif
