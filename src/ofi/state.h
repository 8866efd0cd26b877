// SPDX-License-Identifier: BSD-3-Clause
/*
 * The state of the net lane: operations of the provider, requests, peers, VCIs.
 *
 * Invariants:
 *  - Every operation given to the provider has a struct weft_net_op as its context, in memory that
 *    does not move, and stays memory of such an op until the endpoint is closed. A completion is
 *    acted on only if its op is in flight (in_flight.c): peers decide what some providers report.
 *  - packed, mr, pipeline and rails of a request's lane state are NULL whenever they hold nothing,
 *    also while the request is in the pool; phase is WEFT_NET_NO_RENDEZVOUS then. In a receive
 *    header holds a header only in the phases READING to AWAITING_PIECES: else it may contain the
 *    first bytes of a message.
 */
#ifndef WEFT_OFI_STATE_H
#define WEFT_OFI_STATE_H

#include "core/message/process.h"
#include "core/message/request.h"
#include "ofi/net.h"
#include "ofi/read_limit.h"
#include "ofi/replay.h"
#include "ofi/select/objects.h"
#include "ofi/select/provider.h"
#include "ofi/sequence.h"
#include "ofi/wire.h"

#include <rdma/fabric.h>

/* The longest address of an endpoint. */
enum { WEFT_ADDRESS_BYTES = 256 };

/* ---- Operations of the provider */

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
    bool in_flight; /* from the post to its completion; a receive of a request has IN_LANE */
};

/* An op that is no field of a request or a receive buffer. */
struct weft_net_slot {
    struct weft_net_op op;
    struct weft_net_slot *next;   /* of the free ones */
    struct weft_request *request; /* READ and PIECE */
    size_t offset, bytes;         /* READ: of the packed form */
    uint8_t rail;                 /* READ: number of the rail (rails.c), or 0 */
    void *data;                   /* READ: bounce buffer of data with holes, or NULL; PIECE and OWN:
                                     the struct in the bounce buffer */
};

/* ---- Requests */

/* The kinds of entries of a peer's backlog. */
enum weft_net_out_kind {
    WEFT_NET_OUT_UNPREPARED, /* a user message that becomes one of the next two as it is first tried
                              */
    WEFT_NET_OUT_EAGER,
    WEFT_NET_OUT_RTS,
    WEFT_NET_OUT_CONTROL,
    WEFT_NET_OUT_PIECE
};

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
    bool stalled;       /* in the list of its VCI, or in the readers of its peer */
    uint8_t phase;      /* enum weft_net_phase */
    uint16_t reads_out; /* pieces in flight: read or pushed */
    bool put;           /* transfers of windows: fi_write, not fi_read */
    bool may_pipeline;  /* sends that are pushed: the receiver reads pieces of a pipeline */
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
    struct weft_net_pipeline *pipeline; /* of a send, or of a receive in AWAITING_PIECES; or NULL */
    struct weft_net_rail_use *rails;    /* of a message that uses rails, or NULL (rails.c) */
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
    unsigned times;            /* in so many consecutive COMPAREs, */
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
    bool holds_fins;             /* in the list of peers whose FINs may be held back */
    bool held;                   /* nothing is sent until a tunnel is agreed on or connected */
    uint8_t refusals;            /* consecutive looks at which its address refused a connection */
    struct weft_peer *next_backlogged;
    double report_after; /* seconds without a connection before the next report; 0: the first */
    struct weft_request *sync, **sync_end;       /* eager synchronous sends not yet matched */
    struct weft_request *readers, **readers_end; /* receives whose reads wait for space */
    struct weft_read_limit read_limit;           /* of reads from it */
    uint32_t fetching;                           /* rendezvous receives from it that are active */
    uint32_t fins;                               /* FINs to be sent: entries of fin_numbers */
    uint32_t fin_numbers[WEFT_FINS_AT_ONCE];     /* numbers of its sends whose data have arrived */
    struct weft_peer *next_with_fins;            /* of those that hold FINs back */
    uint32_t credits;                            /* that it gave this rank at first contact */
    uint32_t sent_mark;   /* a value that the sequence had, not 2^32 messages ago, */
    uint64_t sent_before; /* and how many messages there had been then */
    struct weft_net_compare compare;
    struct weft_net_peer_rails *rails; /* rails that reach it, or NULL (rails.c) */
    struct weft_tunnel *tunnel; /* another network that both nodes have, or NULL (tunnel.c) */
};

_Static_assert(sizeof(struct weft_net_peer) <= WEFT_PEER_LANE_BYTES, "lane state of a peer");
_Static_assert(offsetof(struct weft_net_peer, fast) == 0, "read by lane_fast.h");

static inline struct weft_net_peer *weft_net_peer(const struct weft_peer *peer)
{
    return (struct weft_net_peer *)(uintptr_t)peer->lane_state;
}

static inline struct weft_net_request *weft_net_state(struct weft_request *request)
{
    return (struct weft_net_request *)request->lane;
}

static inline struct weft_request *weft_net_request_of(struct weft_net_request *state)
{
    return (struct weft_request *)((char *)state - offsetof(struct weft_request, lane));
}

/* True for a peer of this lane that is not dead. */
static inline bool weft_net_is_alive(const struct weft_peer *peer)
{
    return peer->lane == WEFT_LANE_NET && !peer->dead;
}

/* ---- VCIs */

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
    struct weft_peer *with_fins;  /* peers whose FINs may be held back until a wait ends */
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
    struct weft_net_bounce *bounce; /* bounce_pool.c */
    struct weft_net_query *queries; /* requests of peers that this rank has to answer: cancel.c */
    struct weft_remote_region *regions; /* of windows: rma.c */
    bool answering;                     /* within weft_net_answer_queries */
    unsigned retries;                   /* calls of weft_net_retry */
    unsigned busy_polls;                /* without an event, while the provider is busy */
    double busy_since;                  /* when that was first seen, or memory was last tried */
    int connecting_back;                /* the world rank that this rank connects back to, or -1 */
    struct weft_net_unconnected *unconnected; /* by sender number; or NULL */
    uint32_t unattributed; /* messages taken for a communicator that this rank has not opened yet */
    struct weft_net_rails *rails; /* of the first VCI, or NULL: rails.c */
    size_t rails_busy;            /* requests that use them */
    struct weft_tunnel *tunnels;  /* that peers of this VCI may need: tunnel.c */
};

/* The state that is common to all VCIs. After weft_net_agree only a thread that holds all VCIs
 * changes it; the members of `vcis` belong to those that hold the VCI. */
struct weft_net {
    struct weft_net_vci vcis[WEFT_VCIS_MAX];
    unsigned nvcis;       /* endpoints that are open: `vci_numbers`, or 1 */
    unsigned vci_numbers; /* of communicators with ranks of other nodes */
    size_t inject_short;  /* the longest message that is injected for one credit */
    size_t inject_max, eager_limit;
    unsigned rank_shift, sequence_shift, form_shift;
    uint32_t job_key;      /* as many bits as the completion data have for a rank */
    uint32_t credits_step; /* credits are returned to a peer in steps of so many */
    unsigned context_shift;
    uint64_t tag_mask, form_mask, space_bit;
    uint32_t sequence_mask;             /* the bits of a sequence number in the completion data */
    unsigned sender_shift, sender_bits; /* of the sender number in the tag word */
    size_t overflow_limit; /* receives with less space than this get the overflow area too; 0 if the
                         provider truncates */
    uint64_t stop_step;    /* what each completed receive adds to posts_stop */
    bool header_apart;     /* enough iovecs to keep headers out of buffers, and no FI_MR_LOCAL */
    size_t in_place_space; /* receives that exceed WEFT_NET_SMALL by fewer bytes are in place */
    uint64_t post_limit;   /* receives that the provider may hold on one endpoint */
    bool software, virtual_addresses, local_mr, can_read, can_write;
    bool device;       /* the provider reads and writes device memory: FI_HMEM */
    bool copies;       /* the provider matches, and may report a message again: replay.c */
    unsigned rma;      /* what weft_net_rma returns, after its first call */
    size_t read_chunk; /* bytes of one read */
    size_t read_limit; /* of all the reads from one peer; 0: measured (read_limit.c) */
    size_t nbuffers, buffer_bytes, few;
    struct weft_provider_choice choice;
    struct weft_net_comparison *comparison; /* of networks, while it is not complete, or NULL */
    struct weft_tunnels *tunnels;           /* NULL: this rank has no other network (tunnel.c) */
    char name[160];
    uint32_t credits;        /* what each peer gets from this rank */
    uint32_t check_interval; /* messages between two flow checks of a peer */
    unsigned check_shift;    /* log2 of the bytes that count as one more of these messages */
    int next_probed;         /* rank at which the next look begins to probe peers */
    double look_at;          /* when the hosts of peers are to be checked again (keepalive.c), */
    double probe_at;         /* and peers without a connection probed */
    double compare_at;       /* when the messages of peers are to be compared again (compare.c) */
    bool inserting;          /* fi_av_insert is repeated: completions are not read */
    double unanswered_at;    /* when operations with dead peers end (unanswered.c), or 0 */
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

#endif
