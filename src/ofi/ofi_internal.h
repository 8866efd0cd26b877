// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inside the net lane: its state, its state of requests, and the format of its messages.
 *
 * The tag word, from the top of the provider's usable bits:
 *
 *     | space 1 | form 2 | sender | context (20..28 bits) | user's tag (15..31 bits) |
 *
 * space separates user messages (0) from control messages (1) and is always matched. form is the
 * kind of a user message (enum weft_message_form); receives ignore it and read it from the
 * completion. With software matching, sender is the sender number, stream * job size + rank in
 * MPI_COMM_WORLD, because each stream has sequence numbers of its own (core/message/vci.h); with
 * matching by the provider, sender has no bits. The CQ data carries the sender's rank in the
 * communicator and the message's sequence number (8 or 32 bits). Where the provider matches and the
 * sequence number has 32 bits, an RTS carries the number of the send's request instead.
 *
 * Invariants:
 *  - Every operation given to the provider has a struct weft_net_op as its context, in memory that
 *    does not move, and stays memory of such an op until the endpoint is closed. A completion is
 *    acted on only if its op is in flight (in_flight.c): peers decide what some providers report.
 *  - packed, mr, ring and rails of a request's lane state are NULL whenever they hold nothing, also
 *    while the request is in the pool; phase is WEFT_NET_NO_RENDEZVOUS then. In a receive header
 *    holds a header only in the phases READING to AWAITING_PIECES: else it may contain the first
 *    bytes of a message.
 *  - A peer names a request by its number. A control message is acted on only if that request is
 *    active, with that peer, and in the phase that the message is for (control.c).
 *  - A control message is at most WEFT_NET_CONTROL_BYTES, an RTS header at most
 *    WEFT_NET_HEADER_BYTES.
 */
#ifndef WEFT_OFI_H
#define WEFT_OFI_H

#include "core/message/request.h"
#include "core/message/process.h"
#include "ofi/net.h"
#include "ofi/replay.h"
#include "ofi/select/objects.h"
#include "ofi/select/provider.h"
#include "ofi/sequence.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

enum { WEFT_NET_HEADER_BYTES = 32, WEFT_NET_CONTROL_BYTES = 56, WEFT_ADDRESS_BYTES = 256 };

enum weft_net_op_kind {
    WEFT_NET_REQUEST, /* of a struct weft_request: an eager message, or a receive that the provider
                         matches. A request's own is of this kind all its life */
    WEFT_NET_POOL, /* of a struct weft_net_buffer: any control or, in software matching, any message
                    */
    WEFT_NET_CLAIM, /* of the one claim */
    /* of a struct weft_net_slot: */
    WEFT_NET_READ,  /* one piece of a rendezvous, read: rndv_read.c */
    WEFT_NET_PIECE, /* one piece of a pushed rendezvous: a struct weft_net_piece */
    WEFT_NET_OWN    /* a control or an RTS that is too long to be injected: control.c */
};

struct weft_net_op {
    struct fi_context2 context;
    uint8_t kind;   /* enum weft_net_op_kind */
    bool in_flight; /* from the post to its completion; a receive of a request has IN_NET instead */
};

/* An op that is no field of a request or a receive buffer. */
struct weft_net_slot {
    struct weft_net_op op;
    struct weft_net_slot *next;   /* of the free ones */
    struct weft_request *request; /* READ */
    size_t offset, bytes;         /* READ: of the packed form */
    uint8_t rail;                 /* READ: number of the rail (rails.c), or 0 */
    void *data;                   /* READ: bounce buffer of data with holes, or NULL; PIECE and OWN:
                                     the struct in the bounce buffer */
};

/* The kinds of entries of a peer's backlog. */
enum weft_net_out_kind {
    WEFT_NET_OUT_UNPREPARED, /* a user message that becomes one of the next two as it is first tried
                              */
    WEFT_NET_OUT_EAGER,
    WEFT_NET_OUT_RTS,
    WEFT_NET_OUT_CONTROL,
    WEFT_NET_OUT_PIECE
};

/* The payload of an RTS. */
struct weft_net_header {
    uint8_t version;
    uint8_t staged; /* 0: it can be read; 1: its sender pushes it (rndv_send.c, rndv_ring.c) */
    uint8_t ready;  /* it was sent in ready mode */
    uint8_t pad;
    uint32_t number;  /* of the sender's request */
    uint64_t length;  /* bytes of the user's message */
    uint64_t address; /* for fi_read: virtual address, or offset in the registration */
    uint64_t key;
};

enum weft_net_control_kind {
    WEFT_NET_ACK,    /* the oldest unacknowledged synchronous send of (context, tag) has matched */
    WEFT_NET_FIN,    /* count sends have been read; their numbers begin at `number` */
    WEFT_NET_CTS,    /* push the message of the send `number`, length bytes, to the receive `other`;
                        count 1: its rank reads pieces of a ring */
    WEFT_NET_DATA,   /* a pushed piece for the receive `number`, at offset `other`; data follows */
    WEFT_NET_FILLED, /* length bytes, at offset `other` of the message for the receive `number`, can
                        be read with address and key */
    WEFT_NET_EMPTY,  /* those at offset `other` of the send `number` have been read */
    WEFT_NET_CANCEL, /* drop the message of (context, tag) of the send `number`: announced (count
                        1), or with the sequence `other` (count 0); address: the sender's rank in
                        the communicator. The reply is sent when the messages with sequences
                        below `length` have been delivered; `key` user messages and controls were
                        sent before it */
    WEFT_NET_CANCELLED,  /* the send `number` is cancelled */
    WEFT_NET_TOO_LATE,   /* the send `number` has matched */
    WEFT_NET_CREDITS,    /* eager messages of `length` credits have matched */
    WEFT_NET_FLOW_CHECK, /* flow check: many messages were sent, with sequences below `length`; when
                           they have been delivered, claim unexpected ones and reply */
    WEFT_NET_FLOW_CHECKED,   /* the reply to it */
    WEFT_NET_REQUEST_HEADER, /* the RTS of the send `number` has matched; repeat its header for the
                                receive `other` */
    WEFT_NET_HEADER,    /* the header, for the receive `number`: staged (count), number (other),
                           length,   address, key */
    WEFT_NET_COMPARE,   /* `number` messages were sent before this one; it is not counted itself */
    WEFT_NET_COMPARED,  /* the reply: all of these have arrived (count 0), or not yet (count 1) */
    WEFT_NET_CONNECTED, /* the sender connects, or is connected, to the receiver; count 1: the
                           receiver connects to the sender too, if it has not */
    WEFT_NET_RAILS,     /* the receive `other` of the send `number` wants to read through rails: the
                           bytes of address are numbers of the sender's rails, or 0 */
    WEFT_NET_RAIL       /* the reply for rail `count` of the receive `number`: it can be read with
                           address and key (length 1), or not (length 0) */
};

enum { WEFT_FINS_AT_ONCE = 10 };

struct weft_net_control {
    uint8_t version, kind, count;
    uint8_t stream; /* of the peer: core/message/vci.h */
    int32_t from;   /* world rank of the sender: weft_net_mark on the wire */
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

enum { WEFT_NET_WIRE_VERSION = 18 };

/* The most bytes of data of one operation of the provider that pass through a bounce buffer. */
enum { WEFT_NET_PIECE_MAX = 1 << 20 };

/* The ring of a send: pieces that are read while others are filled (rndv_ring.c). Four of them keep
 * a copy, a read and both controls busy. */
enum {
    WEFT_NET_RING_PIECES = 4,
    WEFT_NET_RING_PIECE = 512 << 10,
    WEFT_NET_RING_BYTES = WEFT_NET_RING_PIECES * WEFT_NET_RING_PIECE
};

/* The length of reads into bounce buffers for a message of so many bytes: about an eighth, so that
 * reading and unpacking overlap, but at least 64 KiB, so that calls take little of the time. A
 * power of two. */
static inline size_t weft_net_piece_bytes(size_t bytes)
{
    size_t piece = 64 << 10;
    while (piece < bytes / 8 && piece < WEFT_NET_PIECE_MAX)
        piece *= 2;
    return piece;
}

/* The state of the rendezvous of a request. */
enum weft_net_phase {
    WEFT_NET_NO_RENDEZVOUS,
    /* of a receive that has matched an RTS */
    WEFT_NET_AWAITING_HEADER,
    WEFT_NET_READING,         /* it reads, and sends FIN */
    WEFT_NET_AWAITING_PIECES, /* it has sent CTS */
    /* of a send whose RTS has left */
    WEFT_NET_ANNOUNCED,
    WEFT_NET_PUSHING /* CTS has arrived */
};

/* The net lane's state of a request. */
struct weft_net_request {
    struct weft_net_op op;
    struct weft_backlog_entry out;
    bool withdrawing;   /* receives: Weft cancels it */
    bool withdrawn;     /* receives: it is cancelled */
    bool stalled;       /* in the list weft_net.stalled, or in the readers of its peer */
    uint8_t phase;      /* enum weft_net_phase */
    uint16_t reads_out; /* pieces in flight: read or pushed */
    bool put;           /* transfers of windows: fi_write, not fi_read */
    bool may_ring;      /* sends that are pushed: the receiver reads pieces of a ring */
    void *packed;       /* bounce buffer with the packed data of a buffer with holes, or NULL */
    struct fid_mr *mr;  /* registration of the buffer, or NULL */
    union { /* before a receive has a phase, small; from then on, and in sends, header */
        struct weft_net_header header; /* of the RTS that was sent or received */
        char small[WEFT_NET_SMALL];    /* the first bytes of the message */
    };
    size_t moved;   /* bytes requested (reads) or pushed */
    size_t arrived; /* bytes received (pushed) */
    struct weft_request *next_stalled;
    struct iovec
        short_iov[2]; /* of a receive of up to WEFT_NET_SMALL bytes: small and the overflow */
    uint32_t receive; /* sends that are pushed: the receiver's number for it */
    struct weft_net_ring *ring;      /* of a send, or of a receive in AWAITING_PIECES; or NULL */
    struct weft_net_rail_use *rails; /* of a message that uses rails, or NULL (rails.c) */
};

_Static_assert(sizeof(struct weft_net_request) <= WEFT_LANE_BYTES, "lane state of a request");
_Static_assert(offsetof(struct weft_net_request, op) == 0, "the context of what is posted");
_Static_assert(offsetof(struct weft_net_request, short_iov) == WEFT_NET_SHORT_AT, "its iovecs");

/* ---- Peers */

/* The messages that a peer was sent, compared with those that it has taken, and the reverse:
 * compare.c. */
struct weft_net_compare {
    uint32_t sent;      /* messages to the peer at the last look */
    uint32_t confirmed; /* messages that it had been sent when it reported that all have arrived */
    double at, wait;    /* time of the next COMPARE, and seconds until the one after it */
    uint32_t claimed, missing; /* messages that it claims to have sent; those that are not here, */
    unsigned times;            /* in so many COMPAREs in a row, */
    double since;              /* the first of which arrived then */
};

/* The state of this lane in a peer. Send order and credits: credits.c. */
struct weft_net_peer {
    struct weft_net_fast_peer fast;
    uint32_t credits_end;       /* sequence number at which the credits end */
    uint32_t flow_check_at;     /* sequence number at which the next flow check is due */
    uint32_t credits_to_return; /* of its messages that matched here */
    uint32_t taken;    /* its controls that arrived and, if the provider matches, user messages */
    uint32_t controls; /* controls and pieces sent to it */
    uint8_t flow_checks_pending; /* flow checks that it has not replied to */
    bool reached;                /* the provider has accepted a message to it */
    bool connected_back;         /* its connection to this rank exists */
    bool backlogged;             /* in the list of peers with a backlog */
    uint8_t refusals;            /* looks in a row at which its address refused a connection */
    struct weft_peer *next_backlogged;
    double report_after; /* seconds without a connection before the next report; 0: the first */
    struct weft_request *sync, **sync_end;       /* eager synchronous sends not yet matched */
    struct weft_request *readers, **readers_end; /* receives whose reads wait for space */
    size_t reading;                              /* bytes of its messages that are being read */
    uint32_t fetching;                           /* rendezvous receives from it that are active */
    uint32_t fins;                               /* FINs to be sent: entries of fin_numbers */
    uint32_t fin_numbers[WEFT_FINS_AT_ONCE];     /* numbers of its sends whose data have arrived */
    uint32_t credits;                            /* that it gave this rank at first contact */
    uint32_t sent_mark;   /* a value that the sequence had, not 2^32 messages ago, */
    uint64_t sent_before; /* and how many messages there had been then */
    struct weft_net_compare compare;
    struct weft_net_peer_rails *rails; /* rails that reach it, or NULL (rails.c) */
};

_Static_assert(sizeof(struct weft_net_peer) <= WEFT_PEER_NET_BYTES, "lane state of a peer");
_Static_assert(offsetof(struct weft_net_peer, fast) == 0, "read by lane_fast.h");

static inline struct weft_net_peer *weft_net_peer(const struct weft_peer *peer)
{
    return (struct weft_net_peer *)(uintptr_t)peer->net;
}

static inline struct weft_net_request *weft_net_state(struct weft_request *request)
{
    return (struct weft_net_request *)request->lane;
}

static inline struct weft_request *weft_net_request_of(struct weft_net_request *state)
{
    return (struct weft_request *)((char *)state - offsetof(struct weft_request, lane));
}

/* A pre-posted receive buffer. */
struct weft_net_buffer {
    struct weft_net_op op;
    struct weft_net_buffer *next; /* while it waits to be posted again */
    char *data;
};

/* A rank without a connection to this one: the credits to return to it, and its messages that were
 * taken (struct weft_net_peer). */
struct weft_net_unconnected {
    uint32_t credits, taken;
};

/* The state of one VCI: an endpoint in a domain of its own (FI_THREAD_DOMAIN), and all operations
 * on it. Only a thread that holds the VCI uses it. */
struct weft_net_vci {
    unsigned number;
    struct weft_objects objects;
    struct weft_peer *backlogged; /* peers with a backlog */
    struct weft_request *stalled; /* rendezvous whose read or write got -FI_EAGAIN */
    struct weft_net_buffer *unposted;
    size_t posted, wanted;           /* of the pool's buffers; wanted is few or nbuffers */
    struct weft_sequences sequences; /* of the user messages that the core matches */
    struct weft_replays replays;     /* of those that the provider matches, if it has copies */
    uint32_t first_sender;           /* the sender number that is index 0 in both */
    uint64_t completed;              /* receives */
    size_t announced;                /* rendezvous sends that are not complete */
    size_t outstanding;              /* own sends, reads, writes and pieces in flight */
    uint64_t next_key;
    struct iovec overflow; /* where what does not fit a receive goes */
    struct fid_mr *overflow_mr;
    struct weft_net_buffer *buffers;
    unsigned one_by_one; /* polls that took few messages, while all buffers are wanted */
    char *buffer_data;
    struct fid_mr *buffer_mr;
    struct weft_net_claim *claim;     /* peek_claim.c */
    struct weft_net_slot *free_slots; /* in_flight.c */
    struct weft_net_slab *slabs;
    struct weft_net_bounce *bounce;  /* bounce_pool.c */
    struct weft_net_query *queries;  /* requests of peers that this rank has to answer: cancel.c */
    struct weft_net_region *regions; /* of windows: rma.c */
    bool answering;                  /* within weft_net_answer_queries */
    unsigned retries;                /* calls of weft_net_retry */
    unsigned busy_polls;             /* in a row without an event, while the provider is busy */
    double busy_since;               /* when that was first seen, or memory was last tried */
    int connecting_back;             /* the world rank that this rank connects back to, or -1 */
    struct weft_net_unconnected *unconnected; /* by sender number; or NULL */
    uint32_t unattributed; /* messages taken for a communicator that this rank has not opened yet */
    struct weft_net_rails *rails; /* of the first VCI, or NULL: rails.c */
    size_t rails_busy;            /* requests that use them */
};

/* The state that is common to all VCIs; not changed after weft_net_agree. */
struct weft_net {
    struct weft_net_vci vcis[WEFT_VCIS_MAX];
    unsigned nvcis;   /* endpoints that are open: `streams`, or 1 */
    unsigned streams; /* communicators with ranks of other nodes are assigned to so many streams */
    size_t inject_short; /* the longest message that is injected for one credit */
    size_t inject_max, eager_limit;
    unsigned rank_shift, sequence_shift, form_shift;
    uint32_t job_key;      /* as many bits as the completion data have for a rank */
    uint32_t credits_step; /* credits are returned to a peer in steps of so many */
    unsigned context_shift;
    uint64_t tag_mask, form_mask, space_bit;
    uint32_t sequence_mask;             /* the bits of a sequence number in the completion data */
    unsigned sender_shift, sender_bits; /* of the sender number in the tag word */
    size_t overflow_limit; /* receives with less space than this get the overflow area too; 0 if the
                         provider   truncates */
    uint64_t stop_step;    /* what each completed receive adds to posts_stop */
    bool header_apart;     /* enough iovecs to keep headers out of buffers, and no FI_MR_LOCAL */
    size_t in_place_space; /* receives that exceed WEFT_NET_SMALL by fewer bytes are in place */
    uint64_t post_limit;   /* receives that the provider may hold on one endpoint */
    bool software, virtual_addresses, local_mr, can_read, can_write;
    bool device;        /* the provider reads and writes device memory: FI_HMEM */
    bool copies;        /* the provider matches, and may report a message again: replay.c */
    unsigned rma;       /* what weft_net_rma returns, after its first call */
    size_t read_chunk;  /* bytes of one read */
    size_t read_window; /* and of all the reads from one peer */
    size_t nbuffers, buffer_bytes, few;
    struct weft_provider_choice choice;
    char name[160];
    uint32_t credits;        /* what each peer gets from this rank */
    uint32_t check_interval; /* messages between two flow checks of a peer */
    unsigned check_shift;    /* log2 of the bytes that count as one more of these messages */
    int next_probed;         /* rank at which the next look begins to probe peers */
    double look_at;          /* when the hosts of peers are to be checked again (keepalive.c) */
    double compare_at;       /* when the messages of peers are to be compared again (compare.c) */
    double buffers_at;       /* when buffers are to be looked at again (completion.c), */
    unsigned buffers_from;   /* from this one on */
    bool leaving;            /* this rank needs no message any more */
    const struct weft_peer *refused;    /* a peer to which the provider accepts no COMPARE, */
    double refused_since;               /* at each attempt since then */
    const struct weft_peer *connecting; /* a peer to which a connection is being made, */
    double connecting_since;            /* and was at each check since then */
    bool unaccepted; /* at the last check no file descriptor was free to accept a connection */
};

extern WEFT_HIDDEN struct weft_net weft_net;

/* The lane's state of the VCI that a peer, a request or a channel belongs to. */
static inline struct weft_net_vci *weft_net_of_peer(const struct weft_peer *peer)
{
    return &weft_net.vcis[peer->vci];
}

static inline struct weft_net_vci *weft_net_of(const struct weft_request *request)
{
    return &weft_net.vcis[request->vci->number];
}

static inline struct weft_net_vci *weft_net_of_channel(const struct weft_channel *channel)
{
    return &weft_net.vcis[channel->vci->number];
}

/* The form of a user message, two bits of its tag word. */
enum weft_message_form {
    WEFT_MESSAGE_EAGER,
    WEFT_MESSAGE_SYNC,
    WEFT_MESSAGE_RTS, /* its data are a struct weft_net_header */
    WEFT_MESSAGE_READY
};

/* A rank in a message, combined with the job's key: a sender that does not have the key claims a
 * rank that does not exist (SECURITY.md). */
static inline uint32_t weft_net_mark(int rank)
{
    return (uint32_t)rank ^ weft_net.job_key;
}

/* The rank in its communicator that a user message claims as its sender. */
static inline int weft_net_source(uint64_t cq_data)
{
    return (int)((uint32_t)(cq_data >> weft_net.rank_shift) ^ weft_net.job_key);
}

/* The sequence number's bits of the completion data. */
static inline uint64_t weft_net_number_bits(uint32_t number)
{
    return (uint64_t)(number & weft_net.sequence_mask) << weft_net.sequence_shift;
}

/* True if the sender of a user message has the job's key. */
static inline bool weft_net_is_of_job(uint64_t cq_data)
{
    return (uint32_t)weft_net_source(cq_data) < (uint32_t)weft.job.size;
}

/* The id of a message that was announced by an RTS (struct weft_arrival); of any other message it
 * is the sequence number. */
static inline uint64_t weft_net_rts_id(uint32_t number)
{
    return UINT64_C(1) << 32 | number;
}

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

/* The sender number of a user message, with software matching. */
static inline uint32_t weft_net_sender(uint64_t word)
{
    return (uint32_t)((word & ((UINT64_C(1) << weft_net.form_shift) - 1)) >> weft_net.sender_shift);
}

/* With software matching: the number of a sender in the tag word, and the senders of one VCI of
 * this process. */
static inline uint32_t weft_net_sender_number(unsigned stream, int world)
{
    return stream * (uint32_t)weft.job.size + (uint32_t)world;
}

static inline size_t weft_net_senders(void)
{
    return (size_t)weft.job.size * (weft_net.nvcis == 1 ? weft_net.streams : 1);
}

/* True if messages of a stream arrive on a VCI. */
static inline bool weft_net_takes_stream(const struct weft_net_vci *net, unsigned stream)
{
    return stream < weft_net.streams && (weft_net.nvcis == 1 || stream == net->number);
}

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

/* credits.c */

/* The credits that this rank gives to each peer. Called once, when the eager limit and the tag word
 * are known. */
void weft_net_credits_open(void);

/* The undelivered user messages that a sender may have. One message may be sent after a flow check
 * is due, and two flow checks may be pending. */
uint32_t weft_net_window(void);

/* A message was taken: of a rank that may have no connection; of a sender in a channel, as the
 * completion data claim it, where the provider matches. */
void weft_net_took(struct weft_net_vci *net, unsigned stream, int world);
void weft_net_took_from(const struct weft_channel *channel, int source);

/* Messages of a peer, user messages and controls, that this rank has taken, modulo 2^32. */
uint32_t weft_net_taken(const struct weft_net_vci *net, const struct weft_peer *peer);

/* First contact: the peer gives this rank so many. */
void weft_net_credits_start(struct weft_peer *peer, uint32_t credits);

/* The credits that an eager message costs: one for each 256 bytes it begins, but at least one. */
enum { WEFT_NET_CREDIT_SHIFT = 8 };

static inline uint32_t weft_net_cost(size_t bytes)
{
    return 1 + (uint32_t)(bytes >> WEFT_NET_CREDIT_SHIFT);
}

/* The credits that are left; below 0 after messages shorter than an RTS, which are always sent. */
static inline int32_t weft_net_credits_left(const struct weft_peer *peer)
{
    return (int32_t)(weft_net_peer(peer)->credits_end - peer->sequence);
}

/* True if user messages to a peer wait in the backlog for the reply to a flow check. */
enum { WEFT_NET_FLOW_CHECKS_MAX = 2 };

static inline bool weft_net_must_wait(const struct weft_peer *peer)
{
    return weft_net_peer(peer)->flow_checks_pending >= WEFT_NET_FLOW_CHECKS_MAX;
}

static inline bool weft_net_affordable(const struct weft_peer *peer, size_t bytes)
{
    return bytes <= WEFT_NET_HEADER_BYTES ||
           (int32_t)weft_net_cost(bytes) <= weft_net_credits_left(peer);
}

/* Recomputes the sequence number at which the fast path must stop: the current one while there is a
 * backlog or too many flow checks are pending, else where credits end or a flow check is due. To be
 * called after each change of these. */
static inline void weft_net_settle(struct weft_peer *peer)
{
    weft_assert(weft_vci_is_held(&weft.vcis[peer->vci]));
    weft_assert(weft_net_peer(peer)->flow_checks_pending <= WEFT_NET_FLOW_CHECKS_MAX);
    int32_t credits = weft_net_credits_left(peer);
    int32_t messages = (int32_t)(weft_net_peer(peer)->flow_check_at - peer->sequence);
    int32_t first = credits < messages ? credits : messages;
    bool here = peer->backlog.first || weft_net_must_wait(peer) || first < 0;
    weft_net_peer(peer)->fast.stop = peer->sequence + (here ? 0 : (uint32_t)first);
}

/* Counts a user message that has left, one of so many bytes, and so many credits (an RTS: 0).
 * Returns its number. */
uint32_t weft_net_number(struct weft_peer *peer, size_t bytes, uint32_t cost);

/* Sends a flow check to a peer, if one is due. Not within weft_net_push. */
void weft_net_flow_check(struct weft_peer *peer);

/* The reply to a flow check arrived. False if none is pending. */
bool weft_net_flow_checked(struct weft_peer *peer);

/* Credits were returned. False if the peer never got that many. */
bool weft_net_credits_arrived(struct weft_peer *peer, uint64_t credits);

/* Returns the credits of a peer. */
WEFT_COLD void weft_net_credits_return(struct weft_peer *peer);

/* An eager message of that length has matched a receive from one source. */
static inline void weft_net_matched_from(struct weft_peer *peer, size_t length)
{
    weft_assert(weft_vci_is_held(&weft.vcis[peer->vci]));
    weft_net_peer(peer)->credits_to_return += weft_net_cost(length);
    if (weft_unlikely(weft_net_peer(peer)->credits_to_return >= weft_net.credits_step))
        weft_net_credits_return(peer);
}

/* completion.c: records the error of the provider with a peer (NULL: unknown), or that the peer is
 * dead (MPI_ERR_PROC_ABORTED), if the launcher reports that now or within a moment, also if the
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

/* recv.c */

/* A provider-matched receive has a message. */
void weft_net_received(struct weft_request *request, const struct fi_cq_tagged_entry *entry);

/* A provider-matched receive was cancelled, truncated or failed. */
WEFT_COLD void weft_net_receive_failed(struct weft_request *request,
                                       const struct fi_cq_err_entry *error, const char *text);

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
const char *weft_net_bounce_advice(void);
void *weft_net_bounce_get(struct weft_net_vci *net, size_t bytes);

/* True if so many bytes may be in use until a peer has read them: 64 MiB in all. */
bool weft_net_bounce_allows(const struct weft_net_vci *net, size_t bytes);
void *weft_net_bounce_get_reserved(struct weft_net_vci *net, enum weft_net_reserve which,
                                   size_t bytes, int *error);
void weft_net_bounce_put(struct weft_net_vci *net, void *data);
struct fid_mr *weft_net_bounce_mr(struct weft_net_vci *net, void *data);

/* rails.c. Opens endpoints on the further NICs of this rank; without them it has no rails. */
void weft_net_rails_open(const struct weft_job *job);
void weft_net_rails_close(struct weft_net_vci *net);
char *weft_net_rails_names(char *buf, size_t len);

/* Writes the network (8 bytes) and address of each rail. Returns their number. */
unsigned weft_net_rails_publish(char *at, size_t address_bytes);

/* First contact with a peer that has published so many rails. */
void weft_net_rails_connect(struct weft_peer *peer, const char *record, unsigned count,
                            size_t address_bytes);

/* The sender's side: RAILS arrived. False if it does not fit the send. */
WEFT_COLD bool weft_net_rails_asked(struct weft_request *send,
                                    const struct weft_net_control *control);

/* The receiver's side. Sends RAILS for a receive in READING, if its peer has rails and the message
 * is long enough. */
WEFT_COLD void weft_net_rails_ask(struct weft_request *request);

/* RAIL arrived. False if it was not asked for. */
WEFT_COLD bool weft_net_rail_granted(struct weft_request *request,
                                     const struct weft_net_control *control);

/* True if a RAIL is still to arrive. */
bool weft_net_rails_awaited(const struct weft_request *request);

/* Starts as many reads of a receive with rails as may be in flight: returns what read_pieces of
 * rndv_read.c returns. The second starts those on the rails only, and returns their number. */
int weft_net_rails_read(struct weft_request *request, int *issued);
int weft_net_rails_issue(struct weft_request *request);

/* A read of a receive with rails has ended: on that rail, or on the first NIC (0). */
void weft_net_rails_read_ended(struct weft_request *request, unsigned rail);

/* Takes the completions of the rails. Returns the number of events. */
WEFT_COLD int weft_net_rails_progress(struct weft_net_vci *net);

void weft_net_rails_release(struct weft_request *request);

/* Frees the registrations and the bounce buffer of a request. */
static inline void weft_net_release(struct weft_request *request)
{
    struct weft_net_request *state = weft_net_state(request);
    if (weft_unlikely(state->mr != NULL)) {
        fi_close(&state->mr->fid);
        if (state->rails)
            weft_net_rails_release(request);
    }
    if (state->packed)
        weft_net_bounce_put(weft_net_of(request), state->packed);
    state->mr = NULL;
    state->packed = NULL;
}

/* in_flight.c */

/* Takes a slot for an operation of that kind: NULL if memory is short. The op is in flight until
 * the slot is given back. */
struct weft_net_slot *weft_net_slot_get(struct weft_net_vci *net, enum weft_net_op_kind kind);
void weft_net_slot_put(struct weft_net_vci *net, struct weft_net_slot *slot);
void weft_net_slots_close(struct weft_net_vci *net);

/* True if an op starts at that address: of a request, a receive buffer, the claim or a slot of this
 * VCI. Slow. */
WEFT_COLD bool weft_net_is_op(const struct weft_net_vci *net, const void *address);

/* The op of the claim, its first field (peek_claim.c), or NULL. */
static inline const struct weft_net_op *weft_net_claim_op(const struct weft_net_vci *net)
{
    return (const struct weft_net_op *)net->claim;
}

/* rndv_read.c */

/* Fills the header of a send, whose buffer is registered if it can be. If not, its data pass
 * through stages. */
WEFT_COLD void weft_net_expose(struct weft_request *request);

/* A receive matched an RTS whose header it does not have: requests the header of the send with that
 * number. The reply continues with weft_net_fetch. */
WEFT_COLD void weft_net_request_header(struct weft_request *request, uint32_t number);

/* Records a message that the provider matched or gave, whose source is a sender of the channel.
 * True if it was received before. An RTS is never a copy: its CQ data contain the number of the
 * send request, and its data are checked as a header. */
bool weft_net_is_copy(struct weft_net_vci *net, const struct weft_channel *channel, int source,
                      uint64_t tag, uint64_t cq_data);
WEFT_COLD void weft_net_header_requested(struct weft_request *send, uint64_t receive);
WEFT_COLD void weft_net_header_arrived(struct weft_request *request,
                                       const struct weft_net_control *answer);

/* No more bytes may be read from a peer now. */
enum { WEFT_NET_NO_SPACE = 1 };

/* Continues to read a message that is not stalled; completes it if nothing is left. */
int weft_net_read_on(struct weft_request *request);

/* The provider returned -FI_EAGAIN for a piece of a request: weft_net_move_more tries again, and
 * returns the number of pieces that have started. */
void weft_net_stall(struct weft_request *request);
WEFT_COLD int weft_net_move_more(struct weft_net_vci *net);

/* Completes a rendezvous receive, and sends FIN if the sender waits for it. */
void weft_net_fetched(struct weft_request *request);
bool weft_net_fetch_waits(const struct weft_request *request);
void weft_net_fetch_abandon(struct weft_request *request);
void weft_net_read_done(struct weft_net_slot *read, int error, const char *text);

/* Begins to read bytes of a message from a peer's memory to their offset. Returns 0, -FI_EAGAIN or
 * an error. */
int weft_net_begin_read(struct weft_request *request, size_t offset, size_t bytes, uint64_t address,
                        uint64_t key);

/* True if a read of so many bytes may start now. */
bool weft_net_has_space(const struct weft_request *request, size_t bytes);

/* rndv_send.c: the receiver's side, then the sender's. weft_net_push_more continues to push and
 * returns the number of pieces that were sent or entered the backlog. */
void weft_net_pushed_fetch(struct weft_request *request);
void weft_net_piece_arrived(struct weft_request *request, size_t offset, const void *data,
                            size_t bytes);
void weft_net_push_pieces(struct weft_request *request, uint64_t receive, size_t length,
                          bool may_ring);
int weft_net_push_more(struct weft_request *request);
int weft_net_piece_send(struct weft_peer *peer, struct weft_backlog_entry *out);
WEFT_COLD void weft_net_piece_failed(struct weft_backlog_entry *out, const char *text);
void weft_net_piece_done(struct weft_net_slot *slot, int error, const char *text);

/* rndv_ring.c, the sender's side. Copies the next bytes to the pieces of the ring that are empty,
 * and announces those whose copies have ended; takes a ring before, if the send may have one.
 * Returns the number of events. */
WEFT_COLD int weft_net_ring_fill(struct weft_request *request);

/* True if the send has no ring, or all of it has been read. */
bool weft_net_ring_is_empty(const struct weft_request *request);

/* EMPTY arrived. False if that piece is not filled. */
bool weft_net_piece_emptied(struct weft_request *send, uint64_t offset);

/* The receiver's side. True if this rank can read pieces. */
bool weft_net_reads_pieces(void);

/* FILLED arrived. False if it does not fit the receive. */
bool weft_net_piece_filled(struct weft_request *request, const struct weft_net_control *filled);

/* Reads pieces that wait for that; returns how many. */
WEFT_COLD int weft_net_ring_read_on(struct weft_request *request);

/* The read of a piece has ended, and still counts as in flight. */
WEFT_COLD void weft_net_piece_read(struct weft_request *request, size_t offset, int error,
                                   const char *text);

/* So many bytes of a receive in AWAITING_PIECES have arrived: completes it after the last. */
void weft_net_pieces_arrived(struct weft_request *request, size_t bytes);

/* Frees the ring of a request, if it has one. */
void weft_net_ring_close(struct weft_request *request);

/* rma.c: a transfer of a window has ended */
void weft_net_rma_done(struct weft_request *request, int error, const char *text);

/* keepalive.c: whether a TCP connection to the peer, or one of a rank on its host to this rank,
 * exists or is being made. Slow. */
bool weft_net_is_connected(const struct weft_peer *peer);

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

/* Claims all unexpected messages of a VCI from the provider into software. */
void weft_net_collect_unexpected(struct weft_net_vci *net);

/* shared_network.c: the lowest rank of a node publishes the node's networks, together with the next
 * value. */
int weft_net_publish_networks(const struct weft_job *job, const struct weft_network_list *list,
                              char *why, size_t len);

/* endpoint.c: a peer has connected to this rank. The first is for completion handlers, and returns
 * false where this rank has to connect to that peer, by the second, outside of them. */
bool weft_net_connected_by(unsigned stream, int world);
void weft_net_connect_back(struct weft_net_vci *net, unsigned stream, int world);

/* The addresses of a peer's endpoint and of this rank's for that peer, as text. Return buf. */
char *weft_net_own_address(const struct weft_peer *peer, char *buf, size_t len);
char *weft_net_peer_address(struct weft_peer *peer, char *buf, size_t len);

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

/* rndv_read.c: as weft_net_register, for a message; counted for its peer, if that is known. */
struct fid_mr *weft_net_register_for(const struct weft_request *request, void *data, size_t bytes,
                                     uint64_t access);

/* rndv_read.c: registers the buffer of a receive that reads, if the provider requires that. */
void weft_net_register_receive(struct weft_request *request);

static inline void *weft_net_descriptor(struct fid_mr *mr)
{
    return mr ? fi_mr_desc(mr) : NULL;
}

#endif
