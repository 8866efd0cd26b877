// SPDX-License-Identifier: BSD-3-Clause
/*
 * Refused collectives: a call whose arguments are wrong at one rank, while the other ranks started
 * it. The rank that refuses sends a message with the reason to all others. A rank whose schedule
 * waits for some time receives such messages; if one is about that schedule, it gives the schedule
 * up with the same error class.
 *
 * Invariants:
 *  - A refusal names its call by the tag without the kind, because the kind of a refused call may
 *    be wrong too.
 *  - A refusal of a call so long ago that its tag names another call now is not looked at.
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

/* Sends a refusal of the call with that tag and number to all other ranks of the communicator: an
 * error class, and its last sentence. Returns when the messages have started. */
WEFT_COLD void weft_refusal_send(struct weft_comm *comm, int tag, uint32_t number, int code);

/* Receives the refusals that have arrived on a communicator. */
WEFT_COLD void weft_refusal_take(struct weft_comm *comm);

/* For a schedule that waits, to be called again and again. Returns the refusal of its call, if it
 * has arrived, or NULL. */
WEFT_COLD const struct weft_refusal *weft_refusal_look(struct weft_schedule *s);

/* Withdraws the receives of a schedule. */
WEFT_COLD void weft_refusal_withdraw(struct weft_schedule *s);

#endif
