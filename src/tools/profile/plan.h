// SPDX-License-Identifier: BSD-3-Clause
/*
 * The messages of each function: prepared once, so that a call reads a few numbers.
 */
#ifndef WEFT_PROFILE_PLAN_H
#define WEFT_PROFILE_PLAN_H

#include "tools/interpose/call.h"

/* The step of messages.c at the end of a call. */
enum profile_step {
    PROFILE_STEP_NONE,
    PROFILE_STEP_MESSAGE,
    PROFILE_STEP_INIT,
    PROFILE_STEP_START,
    PROFILE_STEP_PROBE,
    PROFILE_STEP_MATCHED,
    PROFILE_STEP_COMPLETE,
    PROFILE_STEP_CREATE,
    PROFILE_STEP_OTHER
};

struct profile_plan {
    uint8_t step;
    bool blocks;     /* the call returns when the message is complete */
    bool progresses; /* it looks for messages of others: their transfers go on */
    bool partitioned, synchronous;
    int16_t dest, send_tag, source, receive_tag; /* parameters; -1: none */
    int16_t comm, request, message, status;
    int16_t created;   /* a new communicator */
    bool routed;       /* the call is PROFILE_STEP_MESSAGE with one end of this rank: */
    uint8_t end;       /* enum profile_end, */
    int16_t rank, tag; /* and the parameters of the other one */
};

extern struct profile_plan profile_plans[WEFT_CALLS];

void profile_plans_begin(void);

#endif
