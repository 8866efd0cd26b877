// SPDX-License-Identifier: BSD-3-Clause
/*
 * Completion of requests (MPI 5.0 sections 3.7.3 to 3.7.6).
 *
 * Invariants:
 *  - A handle is set to MPI_REQUEST_NULL in the same call that copies its status out and gives the
 *    request back; a persistent request becomes inactive there instead, and keeps its handle.
 *  - An array is checked completely before anything is waited for.
 *  - MPI_ERROR is written exactly in the statuses of a call that returns MPI_ERR_IN_STATUS.
 */
#include "core/mpi/api.h"
#include "core/mpi/entry.h"
#include "core/mpi/frontend.h"
#include "core/mpi/request_call.h"
#include "core/comm/raise.h"
#include "core/message/process.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* retire, for requests that are not simply given back. */
static __attribute__((noinline)) int retire_special(MPI_Request *handle, MPI_Status *status,
                                                    bool with_error)
{
    struct weft_request *request = weft_request_of(*handle);
    weft_assert(!request->pending);
    int code = request->error;
    if (request->flags & WEFT_REQUEST_INACTIVE) {
        weft_status_empty(status);
        return MPI_SUCCESS;
    }
    const struct weft_request_ops *row = weft_request_row(request);
    if (!row->query) {
        weft_request_status(request, status, with_error);
        if (row->completed)
            row->completed(request);
        if (request->flags & WEFT_REQUEST_PERSISTENT) {
            request->flags = WEFT_REQUEST_PERSISTENT | WEFT_REQUEST_INACTIVE;
        } else {
            weft_request_put(request);
            *handle = MPI_REQUEST_NULL;
        }
        return code;
    }
    code = row->may_free(request);
    if (code != MPI_SUCCESS)
        return code;
    row->query(request, status);
    code = row->free(request); /* the error of the last function counts (MPI 5.0, 13.2) */
    weft_request_put(request);
    *handle = MPI_REQUEST_NULL;
    if (with_error && status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = code;
    return code;
}

/* Copies a complete or inactive request's outcome and gives it back. Returns its error, and then
 * sets *comm to whose error it is. A stalled request stays as it is. */
static inline int retire(MPI_Request *handle, MPI_Status *status, bool with_error,
                         struct weft_comm **comm)
{
    struct weft_request *request = weft_request_of(*handle);
    weft_assert(!request->vci || weft_vci_is_held(request->vci));
    if (weft_unlikely(request->pending)) {
        *comm = weft_request_comm(request);
        return weft_failure_report_stalled(request);
    }
    int code = request->error;
    if (weft_unlikely(code))
        *comm = weft_request_comm(request);
    const struct weft_request_ops *row = weft_request_row(request);
    if (weft_unlikely((request->flags & WEFT_REQUEST_PERSISTENT) || row->query || row->completed))
        return retire_special(handle, status, with_error);
    if (status != MPI_STATUS_IGNORE)
        weft_request_status(request, status, with_error);
    weft_request_push(request);
    *handle = MPI_REQUEST_NULL;
    return code;
}

static int finish_one(struct weft_request_call *call, MPI_Request *handle, MPI_Status *status)
{
    struct weft_comm *comm = NULL;
    weft_request_call_hold(call, weft_request_of(*handle)->vci);
    int code = retire(handle, status, false, &comm);
    if (weft_unlikely(code != MPI_SUCCESS))
        code = weft_error_raise(comm, code, call->function);
    return code;
}

/* The results of the requests that one call completes. */
struct outcome {
    MPI_Status *statuses;   /* NULL: not wanted */
    int count;              /* of requests retired */
    int cause;              /* the first error */
    struct weft_comm *comm; /* whose error it is; its `raisings` counts this reference */
    struct weft_vci *vci;   /* of the request with that error */
};

/* The first failure among many: from now on MPI_ERROR counts, in the statuses before too. */
WEFT_COLD static void note_failure(struct outcome *outcome, int code, struct weft_comm *comm,
                                   struct weft_vci *vci)
{
    weft_assert(code != MPI_SUCCESS && outcome->count >= 0);
    if (!outcome->cause) {
        outcome->cause = code;
        outcome->vci = vci;
        outcome->comm = comm ? comm : &weft_comm_self;
        /* Threads that hold other VCIs may do the same: see core/comm/spread.h. */
        __atomic_fetch_add(&outcome->comm->raisings, 1, __ATOMIC_RELAXED);
        for (int i = 0; outcome->statuses && i < outcome->count; i++)
            outcome->statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
    if (outcome->statuses)
        outcome->statuses[outcome->count].MPI_ERROR = code;
}

static __attribute__((noinline)) void retire_next(struct weft_request_call *call,
                                                  struct outcome *outcome, MPI_Request *handle)
{
    MPI_Status *status = outcome->statuses ? &outcome->statuses[outcome->count] : MPI_STATUS_IGNORE;
    struct weft_comm *comm = NULL;
    struct weft_vci *vci = weft_request_of(*handle)->vci;
    weft_request_call_hold(call, vci);
    int code = retire(handle, status, outcome->cause != MPI_SUCCESS, &comm);
    if (weft_unlikely(code != MPI_SUCCESS))
        note_failure(outcome, code, comm, vci);
    outcome->count++;
}

static int raise_outcome(struct weft_request_call *call, struct outcome *outcome)
{
    if (weft_likely(outcome->cause == MPI_SUCCESS))
        return MPI_SUCCESS;
    weft_assert(outcome->comm);
    weft_request_call_hold(call, outcome->vci);
    int code = weft_error_raise_in_status(outcome->comm, outcome->cause, call->function);
    int before = __atomic_fetch_sub(&outcome->comm->raisings, 1, __ATOMIC_RELAXED);
    weft_assert(before > 0);
    (void)before;
    return code;
}

/* A pointer for a result is null. */
WEFT_COLD static int no_result(struct weft_request_call *call)
{
    if (call->vcis)
        weft_request_call_hold(call, &weft.vcis[__builtin_ctz(call->vcis)]);
    return weft_error(NULL, MPI_ERR_ARG, call->function, "a pointer for a result is null");
}

/* Checks an array, and that all results have a destination, before anything is done. */
static int check_array(struct weft_request_call *call, int count, const MPI_Request *handles,
                       bool results)
{
    const char *function = call->function;
    if (count < 0)
        return weft_error(NULL, MPI_ERR_COUNT, function, "the count %d is negative", count);
    if (count && !handles)
        return weft_error(NULL, MPI_ERR_REQUEST, function, "the array of requests is null");
    for (int i = 0; i < count; i++)
        if (weft_unlikely(!weft_request_is_valid(handles[i])))
            return weft_error_raise(NULL, weft_arg_bad_handle(WEFT_KIND_REQUEST, handles[i], i),
                                    function);
    return weft_likely(results) ? MPI_SUCCESS : no_result(call);
}

/* Completes a send or receive that is complete without error and has no flags. False: the general
 * path is required. */
static inline __attribute__((always_inline)) bool retire_plain(MPI_Request *handle,
                                                               MPI_Status *status)
{
    struct weft_request *request = weft_request_of(*handle);
    if (weft_unlikely(request->object.kind != WEFT_KIND_REQUEST) ||
        weft_unlikely(request->pending) || weft_unlikely(request->flags) ||
        weft_unlikely(request->error) ||
        weft_unlikely(request->op != WEFT_REQUEST_SEND && request->op != WEFT_REQUEST_RECV))
        return false;
    if (status != MPI_STATUS_IGNORE)
        weft_request_status(request, status, false);
    weft_request_push(request);
    *handle = MPI_REQUEST_NULL;
    return true;
}

static inline __attribute__((always_inline)) int wait_one(MPI_Request *handle, MPI_Status *status)
{
    struct weft_request_call call;
    if (weft_likely(!weft_entry_flags) && weft_likely(handle != NULL) &&
        weft_likely(retire_plain(handle, status)))
        return MPI_SUCCESS;
    int code = weft_request_call_enter(&call, "MPI_Wait", 1, handle);
    if (code)
        return code;
    if (weft_unlikely(!handle || !weft_request_is_valid(*handle))) {
        code = weft_error_raise(NULL, weft_request_call_bad(handle), "MPI_Wait");
    } else {
        weft_request_wait(weft_request_of(*handle));
        code = finish_one(&call, handle, status);
    }
    weft_request_call_leave(&call);
    return code;
}

WEFT_EXPORT(Wait);
int PMPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    return wait_one(handle, status);
}

int weft_abi_wait_integer(int *integer, MPI_Status *status)
{
    MPI_Request handle = weft_request_of_integer(*integer);
    int code = wait_one(&handle, status);
    if (weft_likely(handle == MPI_REQUEST_NULL))
        *integer = weft_integers.null;
    return weft_likely(code == MPI_SUCCESS) ? code : weft_integers.error(code);
}

enum state { INACTIVE, PENDING, STALLED, COMPLETE };

static inline enum state state_of(struct weft_request_call *call,
                                  const struct weft_request *request)
{
    weft_request_call_hold(call, request->vci);
    weft_assert(!request->vci || weft_vci_is_held(request->vci));
    if (request->pending)
        return weft_request_is_stalled(request) ? STALLED : PENDING;
    return request->flags & WEFT_REQUEST_INACTIVE ? INACTIVE : COMPLETE;
}

/* True if a call that does this waits for none of the requests. */
static bool all_complete(struct weft_request_call *call, enum weft_how how, int count,
                         const MPI_Request *handles)
{
    for (int i = 0; i < count; i++) {
        enum state state = state_of(call, weft_request_of(handles[i]));
        if (state == PENDING || (state == STALLED && how == WEFT_HOW_LOOK))
            return false;
    }
    return true;
}

static void wait_for(struct weft_request_call *call, struct weft_request *request)
{
    unsigned idle = 0;
    if (weft_likely(!call->vcis))
        weft_request_wait(request);
    while (state_of(call, request) == PENDING)
        weft_request_call_progress(call, &idle);
}

/* Waits for every request of an array, and retires it. */
static int finish_all(struct weft_request_call *call, int count, MPI_Request *handles,
                      MPI_Status *statuses)
{
    struct outcome outcome = {.statuses = statuses};
    struct weft_vci *waits = NULL; /* one wait for all, so that lanes answer messages together */
    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses ? &statuses[i] : MPI_STATUS_IGNORE;
        if (weft_likely(!call->vcis) && weft_likely(!outcome.cause) &&
            weft_likely(retire_plain(&handles[i], status))) {
            outcome.count++;
            continue;
        }
        struct weft_request *request = weft_request_of(handles[i]);
        if (!call->vcis && !waits && request->pending)
            weft_vci_begin_wait(waits = request->vci);
        wait_for(call, request);
        retire_next(call, &outcome, &handles[i]);
    }
    if (waits)
        weft_vci_end_wait(waits);
    return raise_outcome(call, &outcome);
}

WEFT_EXPORT(Waitall);
int PMPI_Waitall(int count, MPI_Request *handles, MPI_Status *statuses)
{
    struct weft_request_call call;
    int code = weft_request_call_enter(&call, "MPI_Waitall", count, handles);
    if (code)
        return code;
    code = check_array(&call, count, handles, true);
    if (code == MPI_SUCCESS)
        code = finish_all(&call, count, handles, statuses);
    weft_request_call_leave(&call);
    return code;
}

static inline bool is_from_any_source(const struct weft_request *request)
{
    return weft_request_row(request)->receives && request->match.source == WEFT_MATCH_ANY_SOURCE;
}

/* The first complete request that is not inactive, or, in a call that completes it, a stalled one,
 * or MPI_UNDEFINED; *active is set if there is any active request. Of receives from any source it
 * is the one that was started first: programs that keep some of them open get the messages of a
 * rank in their order, and none is passed over for ever. */
static int find_complete(struct weft_request_call *call, enum weft_how how, int count,
                         const MPI_Request *handles, bool *active)
{
    int oldest = MPI_UNDEFINED, stalled = MPI_UNDEFINED;
    uint32_t order = 0;

    *active = false;
    for (int i = 0; i < count; i++) {
        const struct weft_request *request = weft_request_of(handles[i]);
        enum state state = state_of(call, request);
        if (state == INACTIVE)
            continue;
        *active = true;
        if (state == STALLED && how != WEFT_HOW_LOOK)
            stalled = i;
        if (state != COMPLETE)
            continue;
        if (!is_from_any_source(request))
            return oldest == MPI_UNDEFINED ? i : oldest;
        if (oldest == MPI_UNDEFINED || (int32_t)(request->order - order) < 0) {
            oldest = i;
            order = request->order;
        }
    }
    weft_assert(oldest == MPI_UNDEFINED || *active);
    return oldest == MPI_UNDEFINED ? stalled : oldest;
}

/* Retires every complete request of an array, and returns the errors of the stalled ones. */
static int finish_some(struct weft_request_call *call, int count, MPI_Request *handles,
                       int *outcount, int *indices, MPI_Status *statuses)
{
    struct outcome outcome = {.statuses = statuses};
    for (int i = 0; i < count; i++) {
        enum state state = state_of(call, weft_request_of(handles[i]));
        if (state != COMPLETE && state != STALLED)
            continue;
        indices[outcome.count] = i;
        retire_next(call, &outcome, &handles[i]);
    }
    weft_assert(outcome.count <= count);
    *outcount = outcome.count;
    return raise_outcome(call, &outcome);
}

/* ---- Looking without completing. A failed operation's error is for the call that completes it; an
 * error that is raised here is one of the query. */

/* The status of a complete or inactive request, which stays as it is. */
static int look(struct weft_request_call *call, const struct weft_request *request,
                MPI_Status *status)
{
    const struct weft_request_ops *row = weft_request_row(request);
    if (row->query) {
        int code = row->may_free(request);
        return code == MPI_SUCCESS ? row->query(request, status) : code;
    }
    weft_request_call_hold(call, request->vci);
    weft_assert(!request->pending);
    if (request->flags & WEFT_REQUEST_INACTIVE)
        weft_status_empty(status);
    else
        weft_request_status(request, status, false);
    return MPI_SUCCESS;
}

static int looked(struct weft_request_call *call, int code)
{
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(NULL, code, call->function);
}

static int look_at_all(struct weft_request_call *call, int count, const MPI_Request *handles,
                       MPI_Status *statuses)
{
    int first = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        int seen =
            look(call, weft_request_of(handles[i]), statuses ? &statuses[i] : MPI_STATUS_IGNORE);
        if (first == MPI_SUCCESS)
            first = seen;
    }
    return first;
}

/* Looks at every complete request of an array. Returns the first error of a query. */
static int look_at_some(struct weft_request_call *call, int count, const MPI_Request *handles,
                        int *outcount, int *indices, MPI_Status *statuses)
{
    int n = 0, first = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        const struct weft_request *request = weft_request_of(handles[i]);
        if (state_of(call, request) != COMPLETE)
            continue;
        int seen = look(call, request, statuses ? &statuses[n] : MPI_STATUS_IGNORE);
        if (first == MPI_SUCCESS)
            first = seen;
        indices[n++] = i;
    }
    *outcount = n;
    return first;
}

/* ---- Waits, tests, and looks that complete nothing, in one function for each kind of result. They
 * enter and leave, and raise errors. */

int weft_mpi_test(const char *function, enum weft_how how, MPI_Request *handle, int *flag,
                  MPI_Status *status)
{
    struct weft_request_call call;
    int code = weft_request_call_enter(&call, function, 1, handle);
    if (code)
        return code;
    if (weft_unlikely(!handle || !weft_request_is_valid(*handle))) {
        code = weft_error_raise(NULL, weft_request_call_bad(handle), function);
    } else if (weft_unlikely(!flag)) {
        code = no_result(&call);
    } else {
        if (weft_request_of(*handle)->pending)
            weft_request_call_progress(&call, NULL);
        else
            weft_request_call_look(&call);
        *flag = !weft_request_of(*handle)->pending;
        if (how == WEFT_HOW_TEST && (*flag || weft_request_is_stalled(weft_request_of(*handle))))
            code = finish_one(&call, handle, status);
        else if (*flag)
            code = looked(&call, look(&call, weft_request_of(*handle), status));
    }
    weft_request_call_leave(&call);
    return code;
}

int weft_mpi_test_all(const char *function, enum weft_how how, int count, MPI_Request *handles,
                      int *flag, MPI_Status *statuses)
{
    struct weft_request_call call;
    int code = weft_request_call_enter(&call, function, count, handles);
    if (code)
        return code;
    code = check_array(&call, count, handles, flag);
    if (code == MPI_SUCCESS) {
        if (!all_complete(&call, how, count, handles))
            weft_request_call_progress(&call, NULL);
        else
            weft_request_call_look(&call);
        *flag = all_complete(&call, how, count, handles);
        if (*flag && how == WEFT_HOW_TEST)
            code = finish_all(&call, count, handles, statuses);
        else if (*flag)
            code = looked(&call, look_at_all(&call, count, handles, statuses));
    }
    weft_request_call_leave(&call);
    return code;
}

int weft_mpi_any(const char *function, enum weft_how how, int count, MPI_Request *handles,
                 int *index, int *flag, MPI_Status *status)
{
    struct weft_request_call call;
    int code = weft_request_call_enter(&call, function, count, handles);
    if (code)
        return code;
    code = check_array(&call, count, handles, index && flag);
    if (code == MPI_SUCCESS) {
        bool active, again = true;
        unsigned idle = 0;
        *index = find_complete(&call, how, count, handles, &active);
        if (*index != MPI_UNDEFINED || !active)
            weft_request_call_look(&call);
        while (*index == MPI_UNDEFINED && active && again) {
            weft_request_call_progress(&call, how == WEFT_HOW_WAIT ? &idle : NULL);
            *index = find_complete(&call, how, count, handles, &active);
            again = how == WEFT_HOW_WAIT;
        }
        weft_assert(*index == MPI_UNDEFINED || (*index >= 0 && *index < count));
        *flag = !active || *index != MPI_UNDEFINED;
        if (!active)
            weft_status_empty(status);
        else if (*flag && how == WEFT_HOW_LOOK)
            code = looked(&call, look(&call, weft_request_of(handles[*index]), status));
        else if (*flag)
            code = finish_one(&call, &handles[*index], status);
    }
    weft_request_call_leave(&call);
    return code;
}

int weft_mpi_some(const char *function, enum weft_how how, int count, MPI_Request *handles,
                  int *outcount, int *indices, MPI_Status *statuses)
{
    struct weft_request_call call;
    int code = weft_request_call_enter(&call, function, count, handles);
    if (code)
        return code;
    code = check_array(&call, count, handles, outcount && (indices || !count));
    if (code == MPI_SUCCESS) {
        bool active;
        unsigned idle = 0;
        if (how != WEFT_HOW_WAIT)
            weft_request_call_progress(&call, NULL);
        while (find_complete(&call, how, count, handles, &active) == MPI_UNDEFINED && active &&
               how == WEFT_HOW_WAIT)
            weft_request_call_progress(&call, &idle);
        if (!active)
            *outcount = MPI_UNDEFINED;
        else if (how == WEFT_HOW_LOOK)
            code = looked(&call, look_at_some(&call, count, handles, outcount, indices, statuses));
        else
            code = finish_some(&call, count, handles, outcount, indices, statuses);
    }
    weft_request_call_leave(&call);
    return code;
}
