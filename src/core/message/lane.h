// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lanes: the interface between the core and the transports. A lane is a constant object that its
 * folder fills: src/self (this process), src/shm (processes of this node), src/ofi (the network).
 * src/lanes has the list of them. A peer is reached through one lane, decided at first contact.
 *
 * The core names no lane. It calls the functions of the object, and asks by its members for what
 * only some lanes have: a member that is NULL is not available. Only the fast attempts are inline,
 * in lane_fast.h.
 *
 * The state of a lane is in objects of its own, and in memory that the core gives it in a peer, a
 * channel and a request without looking inside.
 *
 * Invariants:
 *  - weft.lanes has the bit of each lane that is open. At most one open lane matches receives
 *    (weft.posts), at most one exposes memory (weft.exposes), and at most one wakes a sleeping
 *    process (weft.sleeps): the first that does.
 *  - `owner` of a request is the number of the lane whose state is in `lane`: set when a send
 *    starts, when a receive is posted to a lane, and when a matched message has to be fetched.
 *  - A lane completes its requests by weft_request_event. If one fails, the request has the error,
 *    and the sentence is recorded, before the last event.
 *  - Messages to a peer leave in the order of the calls.
 */
#ifndef WEFT_LANE_H
#define WEFT_LANE_H

#include "core/base/siphash.h"
#include "core/message/process.h"
#include "core/message/request.h"
#include "core/message/sw_match.h"

#include <sys/uio.h>

/* The abilities of a lane with `exposes`. Without WEFT_REMOTE_DELIVERS a put is in the target's
 * memory when a message arrives there that was sent after the put had started. */
enum weft_remote_flag {
    WEFT_REMOTE_GETS = 1,
    WEFT_REMOTE_PUTS = 2,
    WEFT_REMOTE_DELIVERS = 4 /* a put that is complete is in the target's memory */
};

/* The address of a rank's memory for the others, which access it at offsets from there. */
struct weft_remote_memory {
    uint64_t address, key;
};

struct weft_remote_region; /* the lane's */

/* Access to the memory of other ranks. Only memory from the address on, as much as its owner has
 * exposed, is accessed: the caller checks offsets and lengths. */
struct weft_lane_remote {
    /* A set of enum weft_remote_flag; 0: the lane does not do it now. */
    unsigned (*flags)(void);
    /* Exposes memory to other ranks for transfers on a VCI. NULL if that is refused. It ends only
     * when no transfer is in flight. */
    struct weft_remote_region *(*expose)(unsigned vci, void *memory, size_t bytes,
                                         struct weft_remote_memory *location);
    void (*conceal)(struct weft_remote_region *region);
    /* Starts to move request->bytes bytes, or fewer (then bytes is changed), between
     * request->buffer and the memory of request->peer; channel, vci and peer of the request are
     * set, pending is 1. Returns MPI_SUCCESS, WEFT_REMOTE_LATER if no more are taken now, or an
     * error class. */
    int (*write)(struct weft_request *request, struct weft_remote_memory at);
    int (*read)(struct weft_request *request, struct weft_remote_memory at);
};
enum { WEFT_REMOTE_LATER = -1 };

/* A lane between processes of a node provides this beside messages: they may map the same memory
 * (core/base/shared_memory.h), and wake each other. */
struct weft_lane_node {
    /* True if the kernel copies between this process and those that the lane reaches. */
    bool (*can_copy)(void);
    /* The doorbell of a rank, not 0 while it sleeps; wakes it. */
    _Atomic uint32_t *(*doorbell)(int world);
    void (*wake)(_Atomic uint32_t *doorbell);
    /* Until the call with word NULL, this process, which has one thread, does not sleep once *word
     * has reached a value. */
    void (*awake_at)(const _Atomic uint64_t *word, uint64_t value);
    /* After the fence: a number for the ranks of the node, not 0. The lowest of them, for which
     * is_first is true, gives it, the others wait for it; all return it. Each number differs from
     * the one before. */
    bool (*is_first)(void);
    uint64_t (*hand_down)(uint64_t number);
    /* The cores that these ranks may run on, all together. */
    int (*cores)(void);
};

/* The sleep of a process without work, which its peers on the lane end. */
struct weft_lane_sleep {
    /* Sleeps until something arrives, at most so many microseconds. Returns at once when something
     * has. */
    void (*sleep)(unsigned microseconds);
    /* The same in two steps, for a thread that polls in between: from the first on writers wake
     * this process, and what was written before the first is found by polls after it, if it returns
     * true, else perhaps not. The second sleeps, 0 not at all, and ends that. `wake` is a writer.
     * Both are called without locks. */
    bool (*begin)(void);
    void (*end)(unsigned microseconds);
    void (*wake)(void);
};

struct weft_foreign;
struct weft_dial;

/* A connection between two processes of different jobs, before they have a communicator. */
struct weft_meeting {
    int fd;
    struct weft_key key; /* that both have, and nobody else */
};

/* The lane to processes of other jobs (core/message/foreign.h) offers this. It is opened by the
 * first call of `open`, and not with the other lanes. Functions that can fail return an error
 * class, with the sentence set. All VCIs are held. */
struct weft_lane_foreign {
    /* Listens, and fills `lane` of this process's contact. */
    int (*open)(unsigned char *contact, size_t bytes);
    int (*open_port)(char *name, size_t len);
    int (*close_port)(const char *name);
    int (*check_port)(const char *name); /* it is a port of this process */
    /* The next process that has called a port of this process: sets *done, if there is one. */
    int (*take)(const char *name, bool *done, struct weft_meeting *meeting);
    /* A call to a port; checks the name. Each step returns MPI_SUCCESS, and sets *done when the
     * port's process has answered. */
    int (*dial)(const char *name, struct weft_dial **dial);
    int (*step)(struct weft_dial *dial, bool *done, struct weft_meeting *meeting);
    void (*hang_up)(struct weft_dial *dial);
    /* Sleeps until the lane, or the connection fd (-1: none), has an event, at most so long. Called
     * without locks. */
    void (*sleep)(int fd, unsigned microseconds);
    /* This process has no communicator with that one any more: closes the connection. */
    void (*disconnect)(struct weft_foreign *foreign);
    /* Frees the state of the process. */
    void (*forget)(struct weft_foreign *foreign);
    /* Asks the process to abort. */
    void (*abort)(struct weft_foreign *foreign, int code);
};

/* Detection of dead ranks of the job, whatever the lane to them, in a job that goes on without
 * them. A death that any rank has found, by whatever means, reaches all (weft_boot_report_failure).
 */
struct weft_lane_monitor {
    /* `publish`, a fence, `begin` and another fence: deaths after them are detected. Return 0, or
     * -1 with a sentence in why. */
    int (*publish)(char *why, size_t len);
    int (*begin)(char *why, size_t len);
    bool (*runs)(void);
    bool (*any_left)(void); /* a rank has called `end`, which is no death */
    void (*forked)(void);   /* this is a forked child: async-signal-safe */
    void (*end)(void);
};

/* Values for the performance variables of MPI_T. */
enum weft_lane_level {
    WEFT_LEVEL_EAGER_LIMIT, /* bytes of the longest message that is sent at once */
    WEFT_LEVEL_BYTES,       /* of memory for the lane's queues */
    WEFT_LEVEL_POSTED,      /* receives that are posted to the lane, */
    WEFT_LEVEL_SPACE,       /* their limit, */
    WEFT_LEVEL_COMPLETED    /* and how many have completed */
};

enum { WEFT_NETWORK_UNCHANGED = 1, WEFT_NETWORK_LATER = 2 };

struct weft_lane {
    const char *name;
    bool cheap; /* a poll without an event costs little: other lanes are polled less often */

    /* ---- Start and end, in this order. NULL: nothing to do. */
    void (*prepare)(void); /* before all else */
    /* True if every rank of the job may be reached, before the fence: then the lanes after this one
     * are not opened, unless has_all returns false after it. */
    bool (*expects_all)(const struct weft_job *job);
    bool (*has_all)(void);
    /* Opens this rank's end for so many VCIs, on a network of the job (0: the best of this node),
     * and publishes where it is. Returns 0, or -1 with a sentence in why. */
    int (*open)(const struct weft_job *job, unsigned vcis, uint64_t network, char *why, size_t len);
    /* Before the fence: finds what others have published. Returns false if the lane stays closed.
     */
    bool (*join)(const struct weft_job *job);
    /* After the fence, for one rank of each node: WEFT_NETWORK_UNCHANGED, or the network on which
     * all ranks have to open the lane again, or, at most once, WEFT_NETWORK_LATER: then it is
     * called once more after a further fence. All ranks get the same number. Ends the job if there
     * is no network that all nodes have. */
    uint64_t (*compare_networks)(const struct weft_job *job);
    /* After the fence: *vci_numbers is the number of VCI numbers of communicators. Returns 0, or
     * -1 with a sentence in why. */
    int (*agree)(const struct weft_job *job, unsigned *vci_numbers, char *why, size_t len);
    /* True if this process has an end for each of them, and so may have a VCI for each. NULL: yes.
     */
    bool (*has_all_vcis)(void);
    /* With the VCIs: from here on there are messages. */
    void (*begin)(void);
    /* True when every peer must be connected before the first message may arrive. */
    bool (*connects_all)(void);
    int (*tag_ub)(void); /* the largest tag of a user */
    void (*leave)(void); /* messages to this rank may be lost from now on */
    void (*close)(void);

    /* ---- Peers and channels */
    bool (*reaches)(int world); /* NULL: every rank, if no other lane does */
    void (*init_peer)(struct weft_peer *peer);
    /* First contact. Returns 0, or -1 with a sentence in why. */
    int (*connect)(struct weft_peer *peer, char *why, size_t len);
    /* The process of a peer has ended (peer->dead): takes what it has sent completely, ends what
     * was to be sent to it and what it was pushing. */
    void (*close_dead)(struct weft_peer *peer);
    /* A communicator opens a channel, whose messages may have arrived before. */
    void (*open_channel)(struct weft_channel *channel);
    unsigned (*vci_numbers)(void); /* that its messages may use; NULL: weft.vci_numbers */

    /* ---- Sends */
    /* Starts the send that a request describes; pending is 1. Returns MPI_SUCCESS, or
     * MPI_ERR_NO_MEM with the sentence recorded; other errors are in the request. */
    int (*send)(struct weft_request *request);
    /* Cancels a send, complete or not: at once if it has not left, else by a control to the
     * receiver, and the request waits for the reply (WEFT_REQUEST_CANCELLING). */
    void (*cancel)(struct weft_request *request);

    /* Sends a peer that the communicator with a context id is revoked; it calls
     * weft_channel_ops.revoked. May overtake messages. NULL: of a lane to this process itself. */
    void (*revoke)(struct weft_peer *peer, uint32_t context);

    /* ---- Receives that the lane matches */
    bool (*matches)(void); /* NULL: software matches its messages */
    /* Posts a receive (nothing older waits in software), from any source if it has no peer. If the
     * lane has no space, it is posted in software. */
    int (*post)(struct weft_request *request);
    /* Withdraws such a receive. False: a message had matched, and the receive completes as usual.
     */
    bool (*withdraw)(struct weft_request *request);
    /* Takes the oldest unexpected message of a channel into software. False if there is none. */
    bool (*collect)(struct weft_channel *channel);
    /* The same with all. No receive may be posted meanwhile. */
    void (*collect_all)(void);

    /* ---- Messages that software has matched */
    /* Fetches the data of a message that was announced (WEFT_DATA_AT_SENDER), and completes the
     * receive. NULL: there are no such messages. */
    void (*fetch)(struct weft_request *receive, const void *header);
    /* A message has matched: acknowledges it if it is synchronous. */
    void (*matched)(const struct weft_request *receive, const struct weft_arrival *message);
    /* A complete message is dropped, because its communicator was freed or its collective refused.
     */
    void (*dropped)(const struct weft_arrival *message);
    /* peer->kept has changed; NULL: the lane itself counts the messages without a receive. */
    void (*kept)(const struct weft_peer *peer);

    /* ---- Requests */
    /* For the one lane that keeps state in a request between operations, behind WEFT_LANE_SCRATCH.
     */
    void (*init_request)(struct weft_request *request);
    /* True for an operation that only waits for a message of its peer; ends it, with its error set,
     * because the peer is dead. NULL: there are none. */
    bool (*waits_for_peer)(const struct weft_request *request);
    void (*abandon)(struct weft_request *request);
    /* The state of a request that is not complete, as text. Valid until the next call. */
    const char *(*describe)(const struct weft_request *request);

    /* ---- Beside messages; NULL: not available */
    const struct weft_lane_remote *remote;
    const struct weft_lane_node *node;
    const struct weft_lane_sleep *sleep;
    const struct weft_lane_foreign *foreign;
    const struct weft_lane_monitor *monitor;

    /* ---- Progress */
    /* Takes what has arrived for a VCI, sends what waits there. Returns the number of events. NULL:
     * there are none. */
    int (*progress)(unsigned vci);
    /* The last blocking call of a VCI has ended while vci->transfers counts messages of any lane:
     * ends what was held back during the call. NULL: nothing is. */
    void (*wait_ended)(unsigned vci);
    bool (*is_idle)(void); /* nothing waits to be sent or read; NULL: always */
    /* Stores the file descriptors that become readable when progress has something to do, and
     * returns how many; 0: it has to be polled. */
    int (*wait_fds)(int fds[WEFT_LOCKS_MAX]);
    void (*check_hosts)(void); /* for a rank that waits: ends the job if a host does not answer */

    /* ---- Counters; NULL: 0 */
    uint64_t (*sent_to)(const struct weft_peer *peer); /* user messages */
    uint64_t (*arrived_from)(const struct weft_peer *peer);
    uint64_t (*fetching_from)(const struct weft_peer *peer);
    uint64_t (*level)(enum weft_lane_level level);
    /* The network for a reader: "tcp on eth0". NULL: the lane has none. */
    const char *(*network)(void);
};

/* By number. weft_init sets it; NULL: there is no lane with that number. */
extern WEFT_HIDDEN const struct weft_lane *weft_lanes[WEFT_LANES_MAX];

/* The lane that a peer is reached through. */
static inline const struct weft_lane *weft_lane_of(const struct weft_peer *peer)
{
    weft_assert(weft_lanes[peer->lane] != NULL);
    return weft_lanes[peer->lane];
}

/* The first open lane from a number on, or NULL: for loops over the open ones. *number becomes its
 * number. */
const struct weft_lane *weft_lane_next(unsigned *number);
#define WEFT_LANES_EACH(lane, number)                                                              \
    for (const struct weft_lane *lane; (lane = weft_lane_next(&(number))); (number)++)

/* A lane is open, or closed. */
void weft_lane_opened(unsigned number);
void weft_lane_closed(unsigned number);

/* ---- Peers */

/* The number of the lane to a rank in MPI_COMM_WORLD. */
unsigned weft_lane_to(int world);

/* The number of the lane to processes of other jobs, or WEFT_LANE_UNKNOWN. */
unsigned weft_lane_foreign(void);

/* The member `monitor` of the lane that has it, open or not, or NULL. */
const struct weft_lane_monitor *weft_lane_monitor(void);

/* The member `node` of the lane to a rank. */
const struct weft_lane_node *weft_lane_node(int world);

/* A peer is dead: its lane ends what concerns it. */
void weft_lane_close_dead(struct weft_peer *peer);

/* ---- Messages */

/* Starts the send that a request describes; pending is 1. */
int weft_lane_send(struct weft_request *request);

/* Cancels a send, complete or not. */
void weft_lane_cancel(struct weft_request *request);

/* A message that is kept without a receive (+1), or is not any more (-1): counts its bytes, of
 * which its sender may have weft.eager_credits. */
void weft_lane_kept(const struct weft_arrival *message, int by);

/* ---- Active requests */

/* True if the lanes have nothing left to send or to read. */
bool weft_lane_is_idle(void);

/* Takes all messages that the lanes hold without a receive into software. */
void weft_lane_collect_all(void);

/* True for an operation that only waits for a message of its peer, and ends it, because the peer is
 * dead. */
bool weft_lane_waits_for_peer(const struct weft_request *request);
void weft_lane_abandon(struct weft_request *request);

/* The state of a send or receive that is not complete, as text for the user. Valid until the next
 * call. */
const char *weft_lane_describe(const struct weft_request *request);

#endif
