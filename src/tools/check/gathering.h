// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective calls as waits: for which ranks each waits, and how it is made without blocking.
 *
 * A blocking collective call of a communicator is made in its nonblocking form, so that records are
 * received meanwhile. Weft builds the schedules of both forms by the same rules, so the data are
 * the same, sums of floating-point numbers included. Constructors, and calls on windows and files,
 * have no such form: a reduction of what they are comes first.
 *
 * Invariant: a rank is needed only if the call cannot return before that rank has made the same
 * call. The others are optional: an implementation may wait for them, and does so if the call
 * lasts.
 */
#ifndef WEFT_CHECK_GATHERING_H
#define WEFT_CHECK_GATHERING_H

#include "tools/check/check.h"
#include "tools/check/comms.h"

struct check_wants;

enum check_gathering_kind {
    CHECK_WAITS_FOR_NONE,
    CHECK_WAITS_FOR_ALL,
    CHECK_WAITS_FOR_ROOT,
    CHECK_WAITS_FOR_LOWER /* ranks */
};

/* The wait of a collective call. */
struct check_gathering {
    enum check_gathering_kind kind;
    enum weft_call_number call;
    uint64_t comm, number, shape; /* comms.h */
    int root;                     /* in MPI_COMM_WORLD */
};

/* After check_collectives_begin, by the thread that makes the call. */
struct check_gathering check_gathering_of(const struct weft_call *call);

/* Adds the ranks to what a wait is for, those that are needed first. call: the collective call, if
 * that is the wait; NULL: its request is. */
void check_gathering_want(const struct check_gathering *gathering, const struct weft_call *call,
                          struct check_wants *wants);

/* True if the wait for a collective call can be one for its nonblocking form, which weft_call_start
 * makes. */
bool check_gathering_has_form(const struct weft_function *function);

/* True if the call has no such form, and waits for all ranks. */
bool check_gathering_synchronizes(const struct weft_call *call);

#endif
