// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages of windows: operations on targets whose memory this process cannot reach, and the
 * synchronization between any two ranks.
 *
 * A packet is one message on the channel `partitioned` of the window's communicator: a header, the
 * addresses in the target's window as a list of runs of bytes, and the data in packed form. An
 * operation whose data do not fit is several packets, each of which can be applied alone. Every
 * rank keeps WEFT_RMA_SLOTS receives from any source posted, and handles their messages in the
 * order of posting.
 *
 * Invariants:
 *  - Packets of one rank to another are handled in the order in which they were sent. So an ACK
 *    acknowledges every operation sent before, and accumulate operations keep their order.
 *  - A handler never waits: the lane queues what it sends.
 *  - Source, kind, length, runs and numbers of a packet are checked before they are used.
 */
#ifndef WEFT_RMA_MESSAGE_H
#define WEFT_RMA_MESSAGE_H

#include "core/datatype/iov.h"
#include "core/message/process.h"
#include "core/rma/win.h"

/* The scope that a call on a window progresses: its VCI, or everything (NULL) if this thread holds
 * all. */
static inline struct weft_vci *weft_win_scope(const struct weft_win *win)
{
    return weft_vci_scope(win->comm->vci);
}

enum weft_rma_packet_kind {
    /* 0 to 4: enum weft_rma_kind */
    WEFT_RMA_RESULT = 5, /* data of the operation `number`, from `offset` on */
    WEFT_RMA_FAULT,      /* the operation `number` failed with the error class `bytes` */
    WEFT_RMA_FLUSH,
    WEFT_RMA_LOCK,   /* of type `op`: enum weft_win_lock */
    WEFT_RMA_UNLOCK, /* the lock that was granted */
    WEFT_RMA_ACK,    /* an operation, FLUSH or UNLOCK was handled, or a LOCK granted (op 0) or
                        refused (op: enum weft_win_refusal) */
    WEFT_RMA_POST,
    WEFT_RMA_COMPLETE,
    WEFT_RMA_HOLDER /* to a rank that waits for the lock: the rank + 1 in `number` holds it */
};

struct weft_rma_packet {
    uint8_t kind;    /* enum weft_rma_packet_kind */
    uint8_t element; /* enum weft_basic_type */
    uint16_t op;     /* the handle of a predefined operation, or enum weft_win_lock */
    uint16_t runs;
    uint16_t acknowledge; /* of an operation without a result: not 0 if an ACK is to follow */
    uint64_t number;
    uint64_t offset; /* in the packed form of the operation */
    uint64_t bytes;  /* of data that the packet carries, or that its result is to carry */
};

enum {
    WEFT_RMA_SLOTS = 2,            /* few: providers search their posted receives one by one */
    WEFT_RMA_RUNS = 256,           /* the most of a packet */
    WEFT_RMA_PACKET_BYTES = 65536, /* long enough that the cost of a message is small */
    WEFT_RMA_DATA_BYTES = WEFT_RMA_PACKET_BYTES - sizeof(struct weft_rma_packet) -
                          WEFT_RMA_RUNS * sizeof(struct weft_run),
    WEFT_RMA_SWAP_BYTES = 16,  /* the largest element of compare_and_swap */
    WEFT_RMA_RESULTS_MAX = 32, /* packets of a window that wait for a result */
    WEFT_RMA_SENDS_MAX = 64    /* packets and transfers in flight before operations are queued */
};

/* Opens the messages of a window: posts the receives. */
int weft_rma_open(struct weft_win *win);

/* Withdraws the receives; no message to this rank is in flight. */
void weft_rma_close(struct weft_win *win);

/* A packet to be sent, with space for so many runs and bytes of data. Ends the job when memory is
 * short. */
struct weft_rma_packet *weft_rma_packet_make(enum weft_rma_packet_kind kind, size_t runs,
                                             size_t bytes);

/* Sends a packet, and frees it when it was sent. */
int weft_rma_packet_send(struct weft_win *win, int rank, struct weft_rma_packet *packet);

/* The bytes of data in a packet. */
size_t weft_rma_packet_carries(const struct weft_rma_packet *packet);

static inline struct weft_run *weft_rma_runs(const struct weft_rma_packet *packet)
{
    return (struct weft_run *)(packet + 1);
}

/* The beginning of the data of a packet: 16-byte aligned, as packets are. */
static inline char *weft_rma_packet_data(const struct weft_rma_packet *packet)
{
    return (char *)(weft_rma_runs(packet) + packet->runs);
}

/* Sends a packet without runs and data. */
int weft_rma_notify(struct weft_win *win, int rank, enum weft_rma_packet_kind kind, int op);

/* A wait for a packet, a lock or the end of operations at a rank. */
struct weft_rma_wait {
    struct weft_win *win;
    int rank;
    const char *what; /* for the hang report */
    bool (*waits)(struct weft_rma_wait *wait);
    uint64_t number; /* for waits */
    int code;        /* waits may set it, and return false */
    bool polled;     /* a turn has passed */
};

/* Progresses while wait->waits(wait) is true. Returns wait->code; MPIX_ERR_PROC_FAILED when the
 * rank is dead. */
int weft_rma_wait_while(struct weft_rma_wait *wait);

/* True if a rank is dead; weft_rma_report_dead records the sentence of one that is, and returns
 * MPIX_ERR_PROC_FAILED. */
bool weft_rma_is_dead(const struct weft_win *win, int rank);
int weft_rma_report_dead(const struct weft_win *win, int rank);

/* ---- operation.c */

/* Lists the runs at the target of the packed form from `done` on, relative to its window: at most
 * WEFT_RMA_RUNS, of at most `most` bytes, and of complete elements if the operation accumulates.
 * Returns their bytes. */
size_t weft_rma_list_runs(const struct weft_rma_call *call, size_t done, size_t most,
                          struct weft_run *runs, size_t *nruns);

/* ---- handler.c */

/* Handles a packet that has arrived. */
void weft_rma_handle(struct weft_win *win, int source, const struct weft_rma_packet *packet,
                     size_t length);

/* A rank requests this rank's lock: queued requests with numbers up to the one returned are granted
 * before it. */
uint64_t weft_rma_turn(struct weft_win *win, int rank, enum weft_win_lock type);

/* True if such a request is queued. */
bool weft_rma_has_waiter(const struct weft_win *win, uint64_t turn);

/* Grants the lock of this rank to waiting ranks. Returns the number of events. */
int weft_rma_grant(struct weft_win *win);

/* Releases the locks that dead ranks hold, and drops their requests. */
void weft_rma_release_dead(struct weft_win *win);

/* ---- send.c */

/* Starts an operation by messages. Without a request its data may still be queued when this
 * returns. */
int weft_rma_send(struct weft_win *win, const struct weft_rma_call *call,
                  struct weft_request *request);

/* Sends packets of queued operations. Returns how many. */
int weft_rma_issue(struct weft_win *win);

/* Handles a RESULT or FAULT of an operation of this rank. */
void weft_rma_result(struct weft_win *win, int source, const struct weft_rma_packet *packet);

/* A transfer of an operation has ended; error: 0 or an error class. */
void weft_rma_moved(struct weft_win *win, struct weft_rma_op *op, int error);

/* Frees operations of a VCI that have ended where only one VCI was held; the caller holds all. */
void weft_rma_free_spent(struct weft_vci *vci);

/* Ends the operations on a dead rank. */
void weft_rma_fail_operations(struct weft_win *win, int rank);

/* ---- apply.c */

/* Bytes of an element in packed form. */
size_t weft_rma_element_bytes(enum weft_basic_type element);

/* Applies the operation to the elements in a list of runs, whose offsets are relative to base. in:
 * the origin's elements in packed form, aligned to 16 bytes if there is more than one run (not read
 * by MPI_NO_OP); out: their values before, packed, or NULL. */
int weft_rma_apply(const struct weft_rma_apply *apply, char *base, const struct weft_run *runs,
                   size_t nruns, const char *in, char *out);

/* Compares and swaps one element of 1 to WEFT_RMA_SWAP_BYTES bytes: *out is its value before. */
int weft_rma_compare_and_swap(const struct weft_rma_apply *apply, char *at, size_t bytes,
                              const void *compare, const void *value, void *out);

/* ---- lock.c */

/* Takes the lock of a rank for another one if it is free. */
bool weft_win_lock_try(struct weft_win_control *control, enum weft_win_lock type, int holder);
void weft_win_lock_release(struct weft_win_control *control, enum weft_win_lock type);

/* The rank that holds the lock exclusively, or -1. */
int weft_win_lock_holder(const struct weft_win_control *control);

/* A dead rank that holds the lock of a target with `control`, or -1. */
int weft_win_lock_dead_holder(const struct weft_win *win, int target);

#endif
