// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls on requests: the VCIs that they hold, and the check of their handles.
 *
 * Invariant: a call on requests of several VCIs holds at most one of them at a time. It reads and
 * changes each request while it holds the VCI of that request.
 */
#ifndef WEFT_REQUEST_CALL_H
#define WEFT_REQUEST_CALL_H

#include "core/mpi/arg.h"
#include "core/mpi/frontend.h"
#include "core/process/weft.h"
#include "core/progress/progress.h"
#include "mpi.h"

struct weft_request_call {
    const char *function;
    struct weft_vci *vci;  /* which the call holds from its begin to its end; NULL: all */
    unsigned vcis;         /* a bit for each of several VCIs; 0: the call holds vci */
    struct weft_vci *held; /* of several VCIs the one that the call holds now; NULL: none */
};

/* The action of a call on complete requests: waits for them and completes them, completes them, or
 * leaves them as they are. */
enum weft_how { WEFT_HOW_WAIT, WEFT_HOW_TEST, WEFT_HOW_LOOK };

/* Chooses the VCIs of a call. Entries that are no requests are left to the caller's check. */
void weft_request_call_choose(struct weft_request_call *call, int count,
                              const MPI_Request *handles);

/* In a call on several VCIs: releases the VCI that is held, and takes vci, or none (NULL). */
void weft_request_call_switch(struct weft_request_call *call, struct weft_vci *vci);

static inline int weft_request_call_enter(struct weft_request_call *call, const char *function,
                                          int count, const MPI_Request *handles)
{
    *call = (struct weft_request_call){.function = function};
    if (weft_likely(!weft_entry_flags))
        return MPI_SUCCESS;
    weft_request_call_choose(call, count, handles);
    return call->vcis ? MPI_SUCCESS : weft_enter_scope(function, call->vci);
}

/* Takes one of several VCIs before a request is used, and releases the one before. vci is NULL for
 * MPI_REQUEST_NULL. */
static inline void weft_request_call_hold(struct weft_request_call *call, struct weft_vci *vci)
{
    if (weft_unlikely(call->vcis) && vci && vci != call->held)
        weft_request_call_switch(call, vci);
}

static inline void weft_request_call_leave(struct weft_request_call *call)
{
    if (weft_unlikely(call->vcis))
        weft_request_call_switch(call, NULL);
    else if (weft_unlikely(weft_entry_flags))
        weft_leave_scope(call->vci);
}

/* Progresses the VCIs of the call, each once. idle: in a loop that waits, as for weft_await; NULL:
 * in a test. */
void weft_request_call_progress(struct weft_request_call *call, unsigned *idle);

/* For a test without a pending request. */
static inline void weft_request_call_look(const struct weft_request_call *call)
{
    if (weft_likely(!call->vcis))
        weft_look_sometimes(call->vci);
}

/* The request of a valid handle; of MPI_REQUEST_NULL it is weft_request_null, which is inactive. */
static inline struct weft_request *weft_request_of(MPI_Request handle)
{
    return weft_handle_object(handle);
}

static inline bool weft_request_is_valid(MPI_Request handle)
{
    struct weft_object *object = weft_handle_object(handle);
    return weft_likely(object->kind == WEFT_KIND_REQUEST);
}

/* The handle of an integer that a front end passes: MPI_REQUEST_NULL for that of
 * weft_abi_integers, an invalid handle if the integer is not in use. Most requests are those of VCI
 * 0, whose numbers are the lowest. */
static inline MPI_Request weft_request_of_integer(int value)
{
    const struct weft_request_pool *pool = &weft.vcis[0].requests;
    size_t number = (unsigned)value - WEFT_REQUEST_INTEGERS;
    if (weft_likely(weft_request_pool_has(pool, number)))
        return (MPI_Request)weft_request_pool_at(pool, number);
    return value == weft_integers.null ? MPI_REQUEST_NULL
                                       : (MPI_Request)weft_request_numbered(number);
}

/* Records the error of the only handle of a call, which may be NULL. Returns its class. */
WEFT_COLD int weft_request_call_bad(const MPI_Request *handle);

/* The VCI of a call that does not wait; NULL: all, for requests of several or of none. */
static inline struct weft_vci *weft_requests_vci(int count, const MPI_Request *handles)
{
    struct weft_request_call call = {.vci = NULL};
    if (weft_unlikely(weft_entry_flags))
        weft_request_call_choose(&call, count, handles);
    return call.vci;
}

#endif
