// SPDX-License-Identifier: BSD-3-Clause
/*
 * Refused collectives: a call whose arguments are wrong at one rank, while the other ranks started
 * it. The rank that refuses sends a message with the reason to all others. A rank whose schedule
 * waits for some time receives such messages, and keeps those of calls that it has not completed or
 * not begun; if one is about that schedule, it gives the schedule up with the same error class.
 *
 * Invariants:
 *  - A refusal names its call by the tag without the kind, because the kind of a refused call may
 *    be wrong too.
 *  - A refusal also has the number of its call: long afterwards its tag names another call.
 *  - A refusal belongs to the list of its communicator, or to the schedule that has failed with it,
 *    until the error of that schedule is recorded.
 *  - The receives of a schedule are posted only while it waits, and are withdrawn when it ends: a
 *    receive from any source makes the other receives of a channel slower.
 */
#ifndef WEFT_REFUSAL_H
#define WEFT_REFUSAL_H

#include "core/coll/schedule.h"

struct weft_refusal {
    struct weft_refusal *next; /* in the list of the communicator */
    int from;                  /* the rank that refuses, in its group */
    struct {
        int32_t tag, code;
        uint32_t number;  /* of the call: the tag has its lowest bits */
        char reason[244]; /* a sentence, ends with 0 */
    } message;
};

/* Sends a refusal of the call with that tag to all other ranks of the communicator: an error class,
 * and its last sentence. Returns when the messages have started. A rank that cannot be reached is
 * passed over. Without memory for them the job ends. */
WEFT_COLD void weft_refusal_send(struct weft_comm *comm, int tag, int code);

/* Ends the job: there is no memory for a refusal, and the other ranks would wait for ever. */
WEFT_COLD _Noreturn void weft_refusal_fail(void);

/* The channels on which the collectives of a communicator send: its own, then, of an
 * inter-communicator, that of the local group. NULL: there is no further one. */
WEFT_COLD struct weft_channel *weft_refusal_channel(struct weft_comm *comm, int i);

/* Receives the refusals that have arrived on a communicator. */
WEFT_COLD void weft_refusal_take(struct weft_comm *comm);

/* For a schedule that waits, to be called again and again. Returns true if a refusal of its call
 * has arrived: the schedule has failed. */
WEFT_COLD bool weft_refusal_look(struct weft_schedule *s);

/* Records the error of a schedule that failed with a refusal, which is freed. */
WEFT_COLD void weft_refusal_record(struct weft_schedule *s);

/* Withdraws the receives of a schedule. */
WEFT_COLD void weft_refusal_withdraw(struct weft_schedule *s);

#endif
