// SPDX-License-Identifier: BSD-3-Clause
/*
 * Random communication schedules that are valid by construction. No MPI here: a schedule is a list
 * of operations in a global order, each of one rank, computed from a seed alike on every rank.
 *
 * Invariants, which make a schedule free of deadlock and its outcome known:
 *  - An operation that blocks needs only operations that stand before it in the list, or (a pair of
 *    blocking send and receive, a ring of send-receives) operations of the same time, which all
 *    have nothing else to match.
 *  - Messages of one source to one destination on one communicator match in one way only, however
 *    ranks run ahead of each other: the one that comes out when the list is played in its order.
 *  - Where a destination takes from any source, all its receives on that communicator do, alike;
 *    who gets which message is left open, that every one gets one is not.
 *  - Where only one source sends to a destination, its receives may name any source, or the source,
 *    as they like: it is still known who gets what.
 *  - Everything sent is received, everything received was sent, except what is there to be
 *    cancelled.
 */
#ifndef WEFT_FUZZ_SCHEDULE_H
#define WEFT_FUZZ_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FUZZ_RANKS = 8,
    FUZZ_COMMS = 5,
    FUZZ_SELF = 1,  /* of the communicators: each rank's own */
    FUZZ_INTER = 4, /* and the one between even and odd ranks */
    FUZZ_OPS = 600,
    FUZZ_OBJECTS = 12, /* persistent requests of a rank */
    FUZZ_BATCH = 3,    /* messages of one FUZZ_CANCEL_SEND */
    FUZZ_NEVER = 1 << 30,
    FUZZ_ANY = -1, /* any source, any tag, no message */
};

enum fuzz_kind {
    FUZZ_SEND,
    FUZZ_RECEIVE,
    FUZZ_BOTH,           /* a send-receive */
    FUZZ_NOWHERE,        /* something with MPI_PROC_NULL */
    FUZZ_CANCEL_NOTHING, /* a receive that nothing matches: must be cancelled */
    FUZZ_CANCEL_RECEIVE, /* a receive, cancelled; received again where the cancel won */
    FUZZ_CANCEL_SEND,    /* sends, cancelled; the outcome goes to the receiver with the next tag */
    FUZZ_POST_DOUBTFUL,  /* the receives of messages that will perhaps be cancelled */
    FUZZ_HEAR_OUTCOME    /* the outcome, and then the messages that are left */
};

enum fuzz_mode { FUZZ_STANDARD, FUZZ_SYNCHRONOUS, FUZZ_BUFFERED, FUZZ_READY, FUZZ_MODES };

enum fuzz_how {
    FUZZ_BLOCKING,
    FUZZ_NONBLOCKING,
    FUZZ_PERSISTENT,
    FUZZ_REPLACE, /* of FUZZ_BOTH: one buffer; blocking */
    FUZZ_NONBLOCKING_REPLACE,
    FUZZ_PROBE, /* of FUZZ_RECEIVE, this and the rest: looks first; all of them block */
    FUZZ_IPROBE,
    FUZZ_MPROBE,
    FUZZ_IMPROBE
};

struct fuzz_message {
    int comm, source, dest; /* world ranks */
    int tag, type, count;
    int sent, taken; /* operations; taken is FUZZ_ANY where a wildcard decides */
};

struct fuzz_op {
    int time, rank, kind, how, mode;
    int comm, tag;         /* of the send of a FUZZ_BOTH, else of its one message */
    int peer;              /* world rank: destination, or source (or FUZZ_ANY) */
    int from, receive_tag; /* of the receive of a FUZZ_BOTH or FUZZ_RECEIVE; FUZZ_ANY for any */
    bool any_source;       /* the receive names any source, although only `from` can be meant */
    int sends, receives;   /* messages, or FUZZ_ANY */
    int type, room;        /* of the receive, in elements */
    int object;            /* of FUZZ_PERSISTENT: which of the rank's, or FUZZ_ANY */
    int certain;           /* the time after which it is complete without fail */
    int forget;            /* of a nonblocking send: its request is freed at once */
    int batch;             /* of FUZZ_CANCEL_SEND and its receiver: messages, from the first on */
};

struct fuzz_schedule {
    int ranks, comms, tag_ub;
    int n_ops, n_messages;
    bool closed; /* nothing of the next schedule may come before all is done: a barrier behind it */
    struct fuzz_op ops[FUZZ_OPS];
    struct fuzz_message messages[FUZZ_OPS];
};

/* Fills the schedule: ranks (at most FUZZ_RANKS), comms and tag_ub are set by the caller. size:
 * about how many operations; buffer: bytes that the buffered messages of one rank may take, with
 * `overhead` for each. */
void fuzz_generate(struct fuzz_schedule *s, uint64_t seed, int size, long buffer, long overhead);

/* 64 random bits from a state, and a number from 0 to below - 1. */
uint64_t fuzz_next(uint64_t *state);
int fuzz_below(uint64_t *state, int below);

/* ---- Types of elements (data.c), by number */
enum { FUZZ_TYPES = 5, FUZZ_PLAIN = 0 };
int fuzz_type_bytes(int type);  /* of data in an element */
int fuzz_type_extent(int type); /* from one element to the next */

#endif
