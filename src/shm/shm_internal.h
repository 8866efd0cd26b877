// SPDX-License-Identifier: BSD-3-Clause
/*
 * Inside the shared-memory lane: the segment, the body of a ring's line, and the private state of
 * this process.
 *
 * Invariants:
 *  - Only this process writes the private side (struct weft_shm, links); of the shared side a
 *    member writes its own entry and its ends of rings, except that others set bits in its contacts
 *    and clear its doorbell.
 *  - A link exists from first contact, by either side, to weft_shm_close.
 */
#ifndef WEFT_SHM_INTERNAL_H
#define WEFT_SHM_INTERNAL_H

#include "core/base/lock.h"
#include "core/base/segment.h"
#include "core/message/lane_fast.h"
#include "core/base/copy_tuning.h"
#include "shm/ring.h"
#include "shm/share.h"
#include "shm/shm.h"

#include <sched.h>
#include <stdatomic.h>

/* ---- The shared side */

enum { WEFT_SHM_VERSION = 16, WEFT_SHM_CONTACT_WORD = 64, WEFT_SHM_CORE_WORDS = CPU_SETSIZE / 64 };

struct weft_shm_head {
    uint64_t nonce; /* the same as in the record, by which ranks find the segment */
    uint32_t version, members;
    uint32_t
        rings; /* from each member to each other, one for each VCI number: core/message/vci.h */
    uint32_t vci_numbers; /* that the maker wants */
    struct weft_ring_geometry shape;
    _Atomic uint32_t attached;                   /* members that are */
    _Atomic uint64_t handed_down;                /* see weft_shm_hand_down */
    _Atomic uint64_t cores[WEFT_SHM_CORE_WORDS]; /* a bit for each that a member may run on */
};

struct weft_shm_member {
    _Alignas(WEFT_RING_LINE) _Atomic uint32_t attached;
    int32_t pid, world;
    uint64_t nonce_address; /* of a copy of the nonce in its own memory */
    _Alignas(WEFT_RING_LINE) _Atomic uint32_t doorbell; /* 1: it sleeps, on this word */
    /* A bit for each member that writes to it: contact_words for each VCI number. */
    _Alignas(WEFT_RING_LINE) _Atomic uint64_t contacts[];
};

/* ---- Lines */

enum weft_shm_kind {
    WEFT_SHM_INLINE, /* a message in its line */
    WEFT_SHM_DATA,   /* a message in the data area; if synchronous, with the sender's cookie */
    WEFT_SHM_RTS,    /* a message to be fetched: cookie, address (0: cannot be read), length */
    WEFT_SHM_ACK,    /* the synchronous send of cookie has matched */
    WEFT_SHM_FIN,    /* the data of the RTS of cookie were taken; bytes 1: a buffer is bad */
    WEFT_SHM_CTS,    /* push `length` bytes of the RTS of cookie to the receiver's cookie `address`;
                        mode: enum weft_shm_gpu */
    WEFT_SHM_CTS_REVOCABLE, /* the same for a sender that waits and can take the push `bytes`,
                               unless it is revoked: fetch.c */
    WEFT_SHM_PIECE,  /* bytes in the data area for the receiver's cookie, at offset `length` */
    WEFT_SHM_EXPORT, /* a struct weft_gpu_export there: the receiver copies the data, sends FIN */
    WEFT_SHM_SHARE,  /* copy ranges of the RTS of cookie to address, `length` in all;
                        message `bytes` of share.h */
    WEFT_SHM_CANCEL, /* discard the message that had turn `bytes`; the reply names the cookie */
    WEFT_SHM_CANCELLED,
    WEFT_SHM_TOO_LATE,
    WEFT_SHM_REVOKE /* the communicator with that context is revoked */
};

/* Bits of a CTS: the receive buffer is in device memory; the receiver maps memory of other devices.
 */
enum weft_shm_gpu { WEFT_SHM_GPU_DEVICE = 1, WEFT_SHM_GPU_IPC = 2 };

enum { WEFT_SHM_INLINE_BYTES = 32 };

/* The body of an RTS: all that the receiver needs to fetch the message. */
struct weft_shm_header {
    uint64_t cookie, address, length;
};

/* The content of a line. Label and key are what a short standard message is matched by: its kind
 * and mode are 0, as in the receive that waits for it, so that they are compared with the context.
 */
struct weft_shm_body {
    uint32_t bytes, pad;
    union {
        struct {
            int32_t source, tag; /* the sender's rank in the communicator */
        };
        uint64_t key; /* weft_match_key */
    };
    union {
        struct {
            uint32_t context;
            uint8_t kind; /* enum weft_shm_kind */
            uint8_t mode; /* enum weft_send_mode */
            uint16_t zero;
        };
        uint64_t label;
    };
    union {
        unsigned char data[WEFT_SHM_INLINE_BYTES];
        struct weft_shm_header word;
    };
};

_Static_assert(sizeof(struct weft_shm_body) == WEFT_RING_BODY, "a body fills its line");
_Static_assert(WEFT_SHM_INLINE == 0 && WEFT_SEND_STANDARD == 0, "a short message's label");

/* ---- The private side */

/* The kinds of entries of the backlog. */
enum weft_shm_out_kind { WEFT_SHM_OUT_REQUEST, WEFT_SHM_OUT_CONTROL };

struct weft_shm_control {
    struct weft_backlog_entry out;
    struct weft_shm_body body;
};

/* The state of a request. */
enum weft_shm_phase {
    WEFT_SHM_SENT,    /* eagerly */
    WEFT_SHM_QUEUED,  /* in the backlog */
    WEFT_SHM_AWAITED, /* written; an ACK, a FIN or a CTS is to come */
    WEFT_SHM_PUSHING,
    WEFT_SHM_MATCHED,  /* ACK, FIN or the last piece */
    WEFT_SHM_PUSHED_AT /* a receive, being pushed to */
};

/* The state of this lane in a request: the first WEFT_LANE_SCRATCH bytes of its lane state. */
struct weft_shm_request {
    uint8_t phase; /* enum weft_shm_phase */
    bool rendezvous;
    bool revocable;  /* pushed after a revocable CTS: a transfer of the VCI */
    uint8_t gpu;     /* sends: enum weft_shm_gpu, of the CTS */
    uint32_t number; /* receives: of the revocable CTS */
    union {
        struct weft_backlog_entry out; /* WEFT_SHM_QUEUED */
        struct {
            uint64_t cookie, address; /* WEFT_SHM_PUSHED_AT, revocable: of the RTS */
        };
    };
    struct weft_request *next; /* among those that are pushed, or pushed at */
    uint64_t receiver;         /* sends: the cookie to push to */
    size_t moved, total;       /* bytes pushed or received, and how many are to be */
};

_Static_assert(sizeof(struct weft_shm_request) <= WEFT_LANE_SCRATCH, "lane state of a request");

/* The data area of a ring, registered for copies of device memory. */
struct weft_shm_pin {
    bool tried;
    void *at; /* NULL: the driver has refused */
};

struct weft_shm_link {
    _Alignas(WEFT_RING_LINE) struct weft_ring_writer out;
    struct weft_shm_vci *vci;     /* that reads it */
    struct weft_matcher *matcher; /* of the same VCI */
    _Atomic uint32_t *doorbell;
    struct weft_shm_share *share_out, *share_in;      /* of messages to it, and from it */
    struct weft_copy_tuning push_tuning, data_tuning; /* of writes for it */
    uint64_t piece_pushed; /* when the last one was, by weft_nanoseconds */
    uint64_t data_copied;  /* the same of a message in the data area */
    uint32_t share_number; /* of the last message in share_in */
    uint32_t pushes,
        taken; /* revocable CTS sent to it so far; of these taken when it was looked for last */
    uint64_t revocable_at; /* when it took the last one, or the first was sent */
    _Alignas(WEFT_RING_LINE) struct weft_ring_reader in;
    struct weft_peer *peer;
    int32_t pid;
    bool dead;         /* its process has ended */
    bool no_read;      /* its memory cannot be read */
    bool no_import;    /* its device memory cannot be mapped */
    bool listed;       /* in the VCI's list busy */
    bool in_revocable; /* in the VCI's list revocable */
    bool core_each;    /* of VCI number 0, with a core for each rank: copies are tuned */
    struct weft_shm_link *next_busy, *next_revocable;
    struct weft_request *pushed;        /* sends to it, in order of their CTS */
    struct weft_request *pushed_at;     /* receives from it */
    uint64_t controls_out, controls_in; /* lines that were no messages */
    struct weft_shm_pin pin_out, pin_in;
    uint32_t out_present, in_present; /* bytes of the data areas whose pages are present here */
};

/* The state of this lane in a VCI; only a thread that holds the VCI touches it. */
struct weft_shm_vci {
    _Alignas(WEFT_RING_LINE) struct weft_shm_link **active; /* links, the ones to poll */
    int nactive, space, look; /* space: entries of active; look: index of the ring polled last */
    int first_contacts, contacts;    /* its words of contacts */
    struct weft_shm_link *busy;      /* links with a backlog or pushed sends */
    struct weft_shm_link *revocable; /* links with pushes that their peer may take */
    struct weft_shm_path path;
};

struct weft_shm {
    struct weft_shm_vci vcis[WEFT_LOCKS_MAX];
    _Atomic uint64_t *contacts; /* this member's, and those that have a link */
    uint64_t *accepted;
    int contact_words; /* of each VCI number */

    size_t eager_limit, piece, short_piece;
    bool open;
    bool single_copy; /* memory of other processes can be read */
    bool core_each;   /* each rank of the node has a core */
    bool in_valgrind; /* what other processes write counts there as never written */
    int members, self;
    uint64_t handed_down;       /* the last number of weft_shm_hand_down, or 0 */
    int *world;                 /* ranks of the members, ascending */
    struct weft_shm_head *head; /* where the segment is mapped */
    struct weft_segment segment;
    struct weft_ring_geometry shape;
    unsigned rings, vci_numbers; /* of the head */

    /* The rank does not sleep once *awaited has reached the value: area.h. NULL: nothing. */
    const _Atomic uint64_t *awaited;
    uint64_t awaited_value;
};

extern WEFT_HIDDEN struct weft_shm weft_shm;

/* The state of this lane in a peer. */
struct weft_shm_peer {
    struct weft_shm_link *link; /* kept when the peer is dead */
};

_Static_assert(sizeof(struct weft_shm_peer) <= WEFT_PEER_LANE_BYTES, "lane state of a peer");

static inline struct weft_shm_peer *weft_shm_peer(const struct weft_peer *peer)
{
    return (struct weft_shm_peer *)(uintptr_t)peer->lane_state;
}

static inline struct weft_shm_link *weft_shm_link(const struct weft_peer *peer)
{
    weft_assert(peer->lane == WEFT_LANE_SHM);
    return weft_shm_peer(peer)->link;
}

/* Data up to `end` of a data area are about to be written or read. Both ends make its pages present
 * in steps: a fault for each page of the first lap of a ring takes ten times as long where it traps
 * into a hypervisor. The writer is ahead, so that the pages are on its NUMA node. */
void weft_shm_populate(uint32_t *present, const char *data, bool write);

static inline void weft_shm_touch(uint32_t *present, const char *data, const char *end, bool write)
{
    while (weft_unlikely(*present < weft_shm.shape.data) && end > data + *present)
        weft_shm_populate(present, data, write);
}

static inline struct weft_shm_request *weft_shm_state(struct weft_request *request)
{
    return (struct weft_shm_request *)request->lane;
}

static inline struct weft_shm_body *weft_shm_body(struct weft_ring_line *line)
{
    return (struct weft_shm_body *)line->body;
}

/* segment.c, for the lane's object: core/message/lane.h. Publish makes the node's segment, if this
 * rank is the lowest, and publishes where it is: at once where weft_shm_expects_all, else together
 * with the addresses of other lanes. vci_numbers: that the maker wants. Join waits for the maker.
 * */
bool weft_shm_expects_all(const struct weft_job *job);
void weft_shm_publish(const struct weft_job *job, unsigned vci_numbers);
bool weft_shm_join(const struct weft_job *job);
bool weft_shm_has_all(void);
void weft_shm_begin(void);
bool weft_shm_reaches(int world);
bool weft_shm_is_first(void);
uint64_t weft_shm_hand_down(uint64_t number);
int weft_shm_cores(void);
void weft_shm_close(void);

struct weft_shm_member *weft_shm_member(int index);

/* The messages that both ends copy, from one member to another for a VCI number; the ring follows
 * them. */
struct weft_shm_share *weft_shm_share(int from, int to, unsigned vci_number);

/* The member that is a world rank, or -1. */
int weft_shm_index(int world);

/* link.c, for the lane's object. */
void weft_shm_open_vcis(void);
int weft_shm_connect(struct weft_peer *peer, char *why, size_t len);
void weft_shm_close_dead(struct weft_peer *peer);
uint64_t weft_shm_sent_to(const struct weft_peer *peer);
uint64_t weft_shm_arrived_from(const struct weft_peer *peer);

/* Connects to members that have written to a VCI for the first time. Returns how many. */
WEFT_COLD int weft_shm_accept_contacts(struct weft_shm_vci *vci);

/* True if there is a line or a contact that was not read, or an area has what this rank waits for.
 */
bool weft_shm_has_arrivals(void);

/* Registers a data area for copies of device memory. */
WEFT_COLD void weft_shm_pin(struct weft_shm_pin *pin, const char *data, size_t bytes);
void weft_shm_free_links(void);

/* doorbell.c, for the lane's object, but for the first. */
WEFT_COLD void weft_shm_wake(_Atomic uint32_t *doorbell);

void weft_shm_sleep(unsigned microseconds);
bool weft_shm_set_doorbell(void);
void weft_shm_await_doorbell(unsigned microseconds);
void weft_shm_wake_self(void);

/* To be called after writing to a peer's ring. */
static inline void weft_shm_signal(const struct weft_shm_link *link)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (weft_unlikely(atomic_load_explicit(link->doorbell, memory_order_relaxed)))
        weft_shm_wake(link->doorbell);
}

/* Called in a loop that waits for a peer: yields the core from time to time. True if the peer's
 * process has ended (its stores before that are visible), or counts as dead: a process that is
 * stopped does, and ends when it runs again. */
bool weft_shm_is_gone(const struct weft_shm_link *link, unsigned *looks);

/* send.c, for the lane's object: weft_shm_matched ends a send that had its ACK, FIN or last piece,
 * or whose error is set. */
bool weft_shm_is_idle(void);
bool weft_shm_waits_for_peer(const struct weft_request *request);
void weft_shm_matched(struct weft_request *request);
const char *weft_shm_describe(const struct weft_request *request);

/* Writes a control to a peer's ring, or puts it at the end of the backlog. */
void weft_shm_control(struct weft_shm_link *link, const struct weft_shm_body *body);

/* Sets the peer's limit of the fast path: 0 while there is a backlog, when it is dead. */
void weft_shm_set_limit(struct weft_shm_link *link);

/* Writes what waits. Returns the number of events. */
WEFT_COLD int weft_shm_retry(struct weft_shm_vci *vci);

/* CTS or CTS_REVOCABLE: pushes a message to the receive that a cookie of the receiver names. */
void weft_shm_push(struct weft_request *request, const struct weft_shm_body *body, bool revocable);

/* Removes an entry from the backlog. False if it is not there. */
bool weft_shm_take_back(struct weft_shm_link *link, const struct weft_backlog_entry *out);
void weft_shm_drop_backlog(struct weft_shm_link *link);

/* cancel.c */
void weft_shm_cancel(struct weft_request *request);

/* progress.c, for the lane's object; and reads what a link has brought. Returns the number of
 * lines. */
int weft_shm_progress(unsigned vci);
int weft_shm_drain(struct weft_shm_link *link);

/* fetch.c: for the lane's object, a receive matched an RTS with that header; acknowledges the
 * synchronous message that the cookie names; peer->kept has changed: gives or takes credits. */
void weft_shm_fetch(struct weft_request *request, const void *header);
void weft_shm_acknowledge(struct weft_peer *peer, uint64_t cookie);
void weft_shm_kept(const struct weft_peer *peer);

/* A piece of a pushed message arrived. */
void weft_shm_piece_arrived(struct weft_shm_link *link, const struct weft_shm_body *body,
                            const void *data);

/* The description of a message in the sender's device memory arrived. */
WEFT_COLD void weft_shm_export_arrived(struct weft_shm_link *link, const struct weft_shm_body *body,
                                       const void *data);

/* A peer requests a push, unless it revokes that before. */
void weft_shm_revocable_cts(struct weft_shm_link *link, struct weft_request *request,
                            const struct weft_shm_body *body);

/* Reads the messages whose senders do not push them. Returns the number of events. */
WEFT_COLD int weft_shm_revoke(struct weft_shm_vci *vci);

/* Ends the receives that a dead peer was pushing to. */
void weft_shm_drop_pushed(struct weft_shm_link *link);

/* share.c */

/* Reads from a peer's memory: 0, or an errno. */
int weft_shm_read_memory(int pid, uint64_t address, void *to, size_t bytes);

/* The same for the message that a cookie of the sender names; the sender may copy a share. */
int weft_shm_share_read(struct weft_shm_link *link, uint64_t cookie, uint64_t address, void *to,
                        size_t bytes);

/* The receiver of a send requests that its sender shares the copying. */
void weft_shm_share_requested(struct weft_shm_link *link, const struct weft_request *request,
                              const struct weft_shm_body *body);

/* cancel.c */
void weft_shm_cancel_requested(struct weft_shm_link *link, const struct weft_shm_body *body);
void weft_shm_cancel_replied(struct weft_request *request, bool cancelled);

#endif
