// SPDX-License-Identifier: BSD-3-Clause
/*
 * Completion of requests (MPI 5.0 sections 3.7.3 to 3.7.6).
 *
 * Invariants:
 *  - A handle is set to MPI_REQUEST_NULL in the same call that copies its status out and gives the
 *    request back; a persistent request becomes inactive there instead, and keeps its handle.
 *  - An array is checked as a whole before anything is waited for.
 *  - MPI_ERROR is written exactly in the statuses of a call that returns MPI_ERR_IN_STATUS.
 */
#include "core/mpi/api.h"
#include "core/mpi/request_scope.h"
#include "core/pt2pt/bsend.h"
#include "core/pt2pt/cancel.h"
#include "core/comm/raise.h"
#include "core/pt2pt/generalized.h"
#include "core/pt2pt/partitioned.h"
#include "core/process/weft.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* True for requests that belong to the VCI of their communicator. */
static inline bool belongs_to_vci(const struct weft_request *request)
{
    return request->op <= WEFT_REQUEST_RECV || request->op == WEFT_REQUEST_COLL;
}

/* What a call on requests holds: their VCI, or all VCIs (NULL); or none, if the requests belong to
 * several VCIs. Then each request is read and changed while its own VCI is held. */
struct scope {
    const char *function;
    struct weft_vci *vci;
    unsigned vcis; /* a bit for each of several VCIs, else 0 */
};

static void choose(struct scope *scope, int count, const MPI_Request *handles)
{
    if (weft_gate != WEFT_GATE_THREADS || weft_vcis_hold_all())
        return;
    unsigned vcis = 0;
    for (int i = 0; handles && i < count; i++) {
        const struct weft_request *request = weft_handle_resolve(handles[i], WEFT_KIND_REQUEST);
        if (request == &weft_request_null)
            continue;
        if (!request || !belongs_to_vci(request))
            return;
        vcis |= 1U << request->vci->number;
        scope->vci = request->vci;
    }
    scope->vcis = vcis & (vcis - 1) ? vcis : 0;
    if (scope->vcis)
        scope->vci = NULL;
}

struct weft_vci *weft_request_scope(int count, const MPI_Request *handles)
{
    struct scope scope = {0};
    choose(&scope, count, handles);
    return scope.vci;
}

static inline int enter(struct scope *scope, const char *function, int count,
                        const MPI_Request *handles)
{
    *scope = (struct scope){.function = function};
    if (weft_likely(!weft_gate))
        return MPI_SUCCESS;
    choose(scope, count, handles);
    return scope->vcis ? MPI_SUCCESS : weft_enter_scope(function, scope->vci);
}

static inline void leave(const struct scope *scope)
{
    if (weft_unlikely(weft_gate) && !scope->vcis)
        weft_leave_scope(scope->vci);
}

/* Around each use of a request, or of a VCI, of several. */
static inline void hold(const struct scope *scope, struct weft_vci *vci)
{
    if (weft_unlikely(scope->vcis) && vci)
        weft_enter_on(scope->function, vci);
}

static inline void let_go(const struct scope *scope, struct weft_vci *vci)
{
    if (weft_unlikely(scope->vcis) && vci)
        weft_leave_on(vci);
}

/* Progresses what the requests need: once, or (idle) as a turn of a loop that waits. */
static void progress(const struct scope *scope, unsigned *idle)
{
    unsigned i = 0;
    do {
        struct weft_vci *vci = scope->vcis ? &weft.vcis[i] : scope->vci;
        if (scope->vcis && !(scope->vcis & 1U << i))
            continue;
        hold(scope, vci);
        if (idle)
            weft_await(weft_vci_scope(vci), idle, NULL);
        else
            weft_look(weft_vci_scope(vci));
        let_go(scope, vci);
    } while (scope->vcis >> ++i);
}

/* Of a valid handle; MPI_REQUEST_NULL names weft_request_null, which is inactive. */
static inline struct weft_request *request_of(MPI_Request handle)
{
    return weft_handle_object(handle);
}

static inline bool is_valid(MPI_Request handle)
{
    struct weft_object *object = weft_handle_object(handle);
    return weft_likely(object->kind == WEFT_KIND_REQUEST);
}

WEFT_COLD static int bad_request(const char *function, MPI_Request handle, int index)
{
    if (index < 0)
        return weft_error(NULL, MPI_ERR_REQUEST, function,
                          "%p is no request; was it completed or freed before?", (void *)handle);
    return weft_error(NULL, MPI_ERR_REQUEST, function,
                      "entry %d of the array, %p, is no request; was it completed or freed before?",
                      index, (void *)handle);
}

/* The same for a call on one request, where even the pointer to the handle may be null. */
WEFT_COLD static int bad_handle(const char *function, const MPI_Request *handle)
{
    if (!handle)
        return weft_error(NULL, MPI_ERR_REQUEST, function, "the pointer to the request is null");
    return bad_request(function, *handle, -1);
}

/* retire, for requests that are not simply given back. */
static __attribute__((noinline)) int retire_special(MPI_Request *handle, MPI_Status *status,
                                                    bool with_error)
{
    struct weft_request *request = request_of(*handle);
    int code = request->error;
    if (request->flags & WEFT_REQUEST_INACTIVE) {
        weft_status_empty(status);
        return MPI_SUCCESS;
    }
    if (request->op != WEFT_REQUEST_GENERALIZED) {
        weft_request_status(request, status, with_error);
        if (request->op == WEFT_REQUEST_BSEND)
            weft_bsend_release(request);
        if (request->flags & WEFT_REQUEST_PERSISTENT) {
            request->flags = WEFT_REQUEST_PERSISTENT | WEFT_REQUEST_INACTIVE;
        } else {
            weft_request_put(request);
            *handle = MPI_REQUEST_NULL;
        }
        return code;
    }
    code = weft_generalized_query(request, status);
    int freed = weft_generalized_free(request);
    weft_request_put(request);
    *handle = MPI_REQUEST_NULL;
    if (freed != MPI_SUCCESS) /* the error of the last function counts */
        code = freed;
    if (with_error && status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = code;
    return code;
}

/* Copies a complete or inactive request's outcome and gives it back. Returns its error, and then
 * sets *comm to whose error it is. */
static inline int retire(MPI_Request *handle, MPI_Status *status, bool with_error,
                         struct weft_comm **comm)
{
    struct weft_request *request = request_of(*handle);
    int code = request->error;
    if (weft_unlikely(code))
        *comm = weft_request_comm(request);
    if (weft_unlikely((request->flags & WEFT_REQUEST_PERSISTENT) ||
                      request->op == WEFT_REQUEST_GENERALIZED || request->op == WEFT_REQUEST_BSEND))
        return retire_special(handle, status, with_error);
    if (status != MPI_STATUS_IGNORE)
        weft_request_status(request, status, with_error);
    weft_request_push(request);
    *handle = MPI_REQUEST_NULL;
    return code;
}

static int raise(const struct scope *scope, struct weft_comm *comm, int code)
{
    struct weft_vci *vci = comm ? comm->vci : &weft.vcis[0];
    hold(scope, vci);
    code = weft_error_raise(comm, code, scope->function);
    let_go(scope, vci);
    return code;
}

static int finish_one(const struct scope *scope, MPI_Request *handle, MPI_Status *status)
{
    struct weft_comm *comm = NULL;
    struct weft_vci *vci = request_of(*handle)->vci;
    hold(scope, vci);
    int code = retire(handle, status, false, &comm);
    let_go(scope, vci);
    return weft_likely(code == MPI_SUCCESS) ? code : raise(scope, comm, code);
}

/* What becomes of the requests that one call completes. */
struct outcome {
    MPI_Status *statuses; /* NULL: not wanted */
    int count;            /* of requests retired */
    int cause;            /* the first error */
    struct weft_comm *comm;
};

/* The first failure among many: from now on MPI_ERROR counts, in the statuses before too. */
WEFT_COLD static void note_failure(struct outcome *outcome, int code, struct weft_comm *comm)
{
    if (!outcome->cause) {
        outcome->cause = code;
        outcome->comm = comm;
        for (int i = 0; outcome->statuses && i < outcome->count; i++)
            outcome->statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
    if (outcome->statuses)
        outcome->statuses[outcome->count].MPI_ERROR = code;
}

static __attribute__((noinline)) void retire_next(const struct scope *scope,
                                                  struct outcome *outcome, MPI_Request *handle)
{
    MPI_Status *status = outcome->statuses ? &outcome->statuses[outcome->count] : MPI_STATUS_IGNORE;
    struct weft_comm *comm = NULL;
    struct weft_vci *vci = request_of(*handle)->vci;
    hold(scope, vci);
    int code = retire(handle, status, outcome->cause != MPI_SUCCESS, &comm);
    let_go(scope, vci);
    if (weft_unlikely(code != MPI_SUCCESS))
        note_failure(outcome, code, comm);
    outcome->count++;
}

static int raise_outcome(const struct scope *scope, const struct outcome *outcome)
{
    if (weft_likely(outcome->cause == MPI_SUCCESS))
        return MPI_SUCCESS;
    struct weft_vci *vci = outcome->comm ? outcome->comm->vci : &weft.vcis[0];
    hold(scope, vci);
    int code = weft_error_raise_in_status(outcome->comm, outcome->cause, scope->function);
    let_go(scope, vci);
    return code;
}

/* A pointer for a result is null. */
WEFT_COLD static int no_result(const struct scope *scope)
{
    hold(scope, &weft.vcis[0]);
    int code = weft_error(NULL, MPI_ERR_ARG, scope->function, "a pointer for a result is null");
    let_go(scope, &weft.vcis[0]);
    return code;
}

/* Checks an array, and whether all results have a place, before anything is done. */
static int check_array(const struct scope *scope, int count, const MPI_Request *handles,
                       bool results)
{
    const char *function = scope->function;
    if (count < 0)
        return weft_error(NULL, MPI_ERR_COUNT, function, "the count %d is negative", count);
    if (count && !handles)
        return weft_error(NULL, MPI_ERR_REQUEST, function, "the array of requests is null");
    for (int i = 0; i < count; i++)
        if (weft_unlikely(!is_valid(handles[i])))
            return bad_request(function, handles[i], i);
    return weft_likely(results) ? MPI_SUCCESS : no_result(scope);
}

/* Completes a send or receive that is complete without error and has no flags. False: the general
 * path is required. */
static inline __attribute__((always_inline)) bool retire_plain(MPI_Request *handle,
                                                               MPI_Status *status)
{
    struct weft_request *request = request_of(*handle);
    if (weft_unlikely(request->pending) || weft_unlikely(request->flags) ||
        weft_unlikely(request->error) ||
        weft_unlikely(request->op != WEFT_REQUEST_SEND && request->op != WEFT_REQUEST_RECV) ||
        weft_unlikely(request->object.kind != WEFT_KIND_REQUEST))
        return false;
    if (status != MPI_STATUS_IGNORE)
        weft_request_status(request, status, false);
    weft_request_push(request);
    *handle = MPI_REQUEST_NULL;
    return true;
}

WEFT_EXPORT(Wait);
int PMPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    struct scope scope;
    if (weft_likely(!weft_gate) && weft_likely(handle != NULL) &&
        weft_likely(retire_plain(handle, status)))
        return MPI_SUCCESS;
    int code = enter(&scope, "MPI_Wait", 1, handle);
    if (code)
        return code;
    if (weft_unlikely(!handle || !is_valid(*handle))) {
        code = bad_handle("MPI_Wait", handle);
    } else {
        weft_request_wait(request_of(*handle));
        code = finish_one(&scope, handle, status);
    }
    leave(&scope);
    return code;
}

enum state { INACTIVE, PENDING, COMPLETE };

static inline enum state state_of(const struct scope *scope, const struct weft_request *request)
{
    hold(scope, request->vci);
    enum state state = request->pending                         ? PENDING
                       : request->flags & WEFT_REQUEST_INACTIVE ? INACTIVE
                                                                : COMPLETE;
    let_go(scope, request->vci);
    return state;
}

static bool all_complete(const struct scope *scope, int count, const MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        if (state_of(scope, request_of(handles[i])) == PENDING)
            return false;
    return true;
}

/* Waits for every request of an array, and retires it. */
static int finish_all(const struct scope *scope, int count, MPI_Request *handles,
                      MPI_Status *statuses)
{
    struct outcome outcome = {.statuses = statuses};
    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses ? &statuses[i] : MPI_STATUS_IGNORE;
        if (weft_likely(!scope->vcis) && weft_likely(!outcome.cause) &&
            weft_likely(retire_plain(&handles[i], status))) {
            outcome.count++;
            continue;
        }
        struct weft_vci *vci = request_of(handles[i])->vci;
        hold(scope, vci);
        weft_request_wait(request_of(handles[i]));
        let_go(scope, vci);
        retire_next(scope, &outcome, &handles[i]);
    }
    return raise_outcome(scope, &outcome);
}

WEFT_EXPORT(Waitall);
int PMPI_Waitall(int count, MPI_Request *handles, MPI_Status *statuses)
{
    struct scope scope;
    int code = enter(&scope, "MPI_Waitall", count, handles);
    if (code)
        return code;
    code = check_array(&scope, count, handles, true);
    if (code == MPI_SUCCESS)
        code = finish_all(&scope, count, handles, statuses);
    leave(&scope);
    return code;
}

static inline bool is_from_any_source(const struct weft_request *request)
{
    return request->op == WEFT_REQUEST_RECV && request->match.source == WEFT_MATCH_ANY_SOURCE;
}

/* The first complete request that is not inactive, or MPI_UNDEFINED; *active is set if there is
 * any active request. Of receives from any source it is the one that was started first: programs
 * that keep some of them open get the messages of a rank in their order, and none is passed over
 * for ever. */
static int find_complete(const struct scope *scope, int count, const MPI_Request *handles,
                         bool *active)
{
    int oldest = MPI_UNDEFINED;
    uint32_t order = 0;

    *active = false;
    for (int i = 0; i < count; i++) {
        const struct weft_request *request = request_of(handles[i]);
        enum state state = state_of(scope, request);
        if (state == INACTIVE)
            continue;
        *active = true;
        if (state == PENDING)
            continue;
        if (!is_from_any_source(request))
            return oldest == MPI_UNDEFINED ? i : oldest;
        if (oldest == MPI_UNDEFINED || (int32_t)(request->sequence - order) < 0) {
            oldest = i;
            order = request->sequence;
        }
    }
    return oldest;
}

/* Retires every complete request of an array. */
static int finish_some(const struct scope *scope, int count, MPI_Request *handles, int *outcount,
                       int *indices, MPI_Status *statuses)
{
    struct outcome outcome = {.statuses = statuses};
    for (int i = 0; i < count; i++) {
        if (state_of(scope, request_of(handles[i])) != COMPLETE)
            continue;
        indices[outcome.count] = i;
        retire_next(scope, &outcome, &handles[i]);
    }
    *outcount = outcome.count;
    return raise_outcome(scope, &outcome);
}

/* ---- Looking without completing. A failed operation's error is for the call that completes it; an
 * error that is raised here is one of the query. */

/* The status of a complete or inactive request, which stays as it is. */
static int look(const struct scope *scope, const struct weft_request *request, MPI_Status *status)
{
    if (request->op == WEFT_REQUEST_GENERALIZED)
        return weft_generalized_query(request, status);
    hold(scope, request->vci);
    if (request->flags & WEFT_REQUEST_INACTIVE)
        weft_status_empty(status);
    else
        weft_request_status(request, status, false);
    let_go(scope, request->vci);
    return MPI_SUCCESS;
}

static int looked(const struct scope *scope, int code)
{
    return weft_likely(code == MPI_SUCCESS) ? code : raise(scope, NULL, code);
}

static int look_at_all(const struct scope *scope, int count, const MPI_Request *handles,
                       MPI_Status *statuses)
{
    int first = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        int seen = look(scope, request_of(handles[i]), statuses ? &statuses[i] : MPI_STATUS_IGNORE);
        if (first == MPI_SUCCESS)
            first = seen;
    }
    return first;
}

/* Looks at every complete request of an array. Returns the first error of a query. */
static int look_at_some(const struct scope *scope, int count, const MPI_Request *handles,
                        int *outcount, int *indices, MPI_Status *statuses)
{
    int n = 0, first = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        const struct weft_request *request = request_of(handles[i]);
        if (state_of(scope, request) != COMPLETE)
            continue;
        int seen = look(scope, request, statuses ? &statuses[n] : MPI_STATUS_IGNORE);
        if (first == MPI_SUCCESS)
            first = seen;
        indices[n++] = i;
    }
    *outcount = n;
    return first;
}

/* ---- Waits, tests, and looks that complete nothing, in one function for each kind of result */

enum how { WAIT, TEST, LOOK };

static int test(const char *function, enum how how, MPI_Request *handle, int *flag,
                MPI_Status *status)
{
    struct scope scope;
    int code = enter(&scope, function, 1, handle);
    if (code)
        return code;
    if (weft_unlikely(!handle || !is_valid(*handle))) {
        code = bad_handle(function, handle);
    } else if (weft_unlikely(!flag)) {
        code = no_result(&scope);
    } else {
        if (request_of(*handle)->pending)
            progress(&scope, NULL);
        *flag = !request_of(*handle)->pending;
        if (*flag && how == TEST)
            code = finish_one(&scope, handle, status);
        else if (*flag)
            code = looked(&scope, look(&scope, request_of(*handle), status));
    }
    leave(&scope);
    return code;
}

static int test_all(const char *function, enum how how, int count, MPI_Request *handles, int *flag,
                    MPI_Status *statuses)
{
    struct scope scope;
    int code = enter(&scope, function, count, handles);
    if (code)
        return code;
    code = check_array(&scope, count, handles, flag);
    if (code == MPI_SUCCESS) {
        if (!all_complete(&scope, count, handles))
            progress(&scope, NULL);
        *flag = all_complete(&scope, count, handles);
        if (*flag && how == TEST)
            code = finish_all(&scope, count, handles, statuses);
        else if (*flag)
            code = looked(&scope, look_at_all(&scope, count, handles, statuses));
    }
    leave(&scope);
    return code;
}

static int any(const char *function, enum how how, int count, MPI_Request *handles, int *index,
               int *flag, MPI_Status *status)
{
    struct scope scope;
    int code = enter(&scope, function, count, handles);
    if (code)
        return code;
    code = check_array(&scope, count, handles, index && flag);
    if (code == MPI_SUCCESS) {
        bool active, again = true;
        unsigned idle = 0;
        *index = find_complete(&scope, count, handles, &active);
        while (*index == MPI_UNDEFINED && active && again) {
            progress(&scope, how == WAIT ? &idle : NULL);
            *index = find_complete(&scope, count, handles, &active);
            again = how == WAIT;
        }
        *flag = !active || *index != MPI_UNDEFINED;
        if (!active)
            weft_status_empty(status);
        else if (*flag && how == LOOK)
            code = looked(&scope, look(&scope, request_of(handles[*index]), status));
        else if (*flag)
            code = finish_one(&scope, &handles[*index], status);
    }
    leave(&scope);
    return code;
}

static int some(const char *function, enum how how, int count, MPI_Request *handles, int *outcount,
                int *indices, MPI_Status *statuses)
{
    struct scope scope;
    int code = enter(&scope, function, count, handles);
    if (code)
        return code;
    code = check_array(&scope, count, handles, outcount && (indices || !count));
    if (code == MPI_SUCCESS) {
        bool active;
        unsigned idle = 0;
        if (how != WAIT)
            progress(&scope, NULL);
        while (find_complete(&scope, count, handles, &active) == MPI_UNDEFINED && active &&
               how == WAIT)
            progress(&scope, &idle);
        if (!active)
            *outcount = MPI_UNDEFINED;
        else if (how == LOOK)
            code =
                looked(&scope, look_at_some(&scope, count, handles, outcount, indices, statuses));
        else
            code = finish_some(&scope, count, handles, outcount, indices, statuses);
    }
    leave(&scope);
    return code;
}

WEFT_EXPORT(Test);
int PMPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    return test("MPI_Test", TEST, handle, flag, status);
}

WEFT_EXPORT(Testall);
int PMPI_Testall(int count, MPI_Request *handles, int *flag, MPI_Status *statuses)
{
    return test_all("MPI_Testall", TEST, count, handles, flag, statuses);
}

WEFT_EXPORT(Waitany);
int PMPI_Waitany(int count, MPI_Request *handles, int *index, MPI_Status *status)
{
    int flag;
    return any("MPI_Waitany", WAIT, count, handles, index, &flag, status);
}

WEFT_EXPORT(Testany);
int PMPI_Testany(int count, MPI_Request *handles, int *index, int *flag, MPI_Status *status)
{
    return any("MPI_Testany", TEST, count, handles, index, flag, status);
}

WEFT_EXPORT(Waitsome);
int PMPI_Waitsome(int incount, MPI_Request *handles, int *outcount, int *indices,
                  MPI_Status *statuses)
{
    return some("MPI_Waitsome", WAIT, incount, handles, outcount, indices, statuses);
}

WEFT_EXPORT(Testsome);
int PMPI_Testsome(int incount, MPI_Request *handles, int *outcount, int *indices,
                  MPI_Status *statuses)
{
    return some("MPI_Testsome", TEST, incount, handles, outcount, indices, statuses);
}

WEFT_EXPORT(Request_get_status);
int PMPI_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    return test("MPI_Request_get_status", LOOK, &handle, flag, status);
}

WEFT_EXPORT(Request_get_status_all);
int PMPI_Request_get_status_all(int count, const MPI_Request *handles, int *flag,
                                MPI_Status *statuses)
{
    return test_all("MPI_Request_get_status_all", LOOK, count, (MPI_Request *)handles, flag,
                    statuses);
}

WEFT_EXPORT(Request_get_status_any);
int PMPI_Request_get_status_any(int count, const MPI_Request *handles, int *index, int *flag,
                                MPI_Status *status)
{
    return any("MPI_Request_get_status_any", LOOK, count, (MPI_Request *)handles, index, flag,
               status);
}

WEFT_EXPORT(Request_get_status_some);
int PMPI_Request_get_status_some(int incount, const MPI_Request *handles, int *outcount,
                                 int *indices, MPI_Status *statuses)
{
    return some("MPI_Request_get_status_some", LOOK, incount, (MPI_Request *)handles, outcount,
                indices, statuses);
}

/* ---- Cancelling and freeing */

static int cancel(struct weft_request *request)
{
    if (request->flags & WEFT_REQUEST_INACTIVE)
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Cancel",
                          "%p is inactive; there is nothing to cancel before MPI_Start",
                          (void *)request);
    if (request->op == WEFT_REQUEST_COLL)
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Cancel",
                          "%p is a collective, which cannot be cancelled; wait for it",
                          (void *)request);
    if (weft_request_is_partitioned(request))
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Cancel",
                          "partitioned communication cannot be cancelled; mark the partitions that "
                          "are missing, and wait for it");
    if (request->op != WEFT_REQUEST_GENERALIZED) {
        weft_cancel(request);
        return MPI_SUCCESS;
    }
    int code = weft_generalized_cancel(request);
    return code == MPI_SUCCESS ? code : weft_error_raise(NULL, code, "MPI_Cancel");
}

WEFT_EXPORT(Cancel);
int PMPI_Cancel(MPI_Request *handle)
{
    struct scope scope;
    int code = enter(&scope, "MPI_Cancel", 1, handle);
    if (code)
        return code;
    if (!handle || !is_valid(*handle) || *handle == MPI_REQUEST_NULL)
        code = bad_handle("MPI_Cancel", handle);
    else
        code = cancel(request_of(*handle));
    leave(&scope);
    return code;
}

/* Frees a valid request; the handle is kept if that is not allowed. */
static int give_up(MPI_Request *handle)
{
    struct weft_request *request = request_of(*handle);
    if (!(request->flags & WEFT_REQUEST_INACTIVE) && weft_request_is_partitioned(request))
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Request_free",
                          "partitioned communication cannot be freed while it is active; wait for "
                          "it first");
    int code = weft_request_abandon(request);
    *handle = MPI_REQUEST_NULL;
    return weft_likely(code == MPI_SUCCESS) ? code
                                            : weft_error_raise(NULL, code, "MPI_Request_free");
}

WEFT_EXPORT(Request_free);
int PMPI_Request_free(MPI_Request *handle)
{
    struct scope scope;
    int code = enter(&scope, "MPI_Request_free", 1, handle);
    if (code)
        return code;
    if (!handle || !is_valid(*handle) || *handle == MPI_REQUEST_NULL) {
        code = bad_handle("MPI_Request_free", handle);
    } else if (request_of(*handle)->op == WEFT_REQUEST_COLL &&
               !(request_of(*handle)->flags & WEFT_REQUEST_INACTIVE)) {
        code =
            weft_error(weft_request_comm(request_of(*handle)), MPI_ERR_REQUEST, "MPI_Request_free",
                       "%p is a collective that was started; wait for it", (void *)*handle);
    } else {
        code = give_up(handle);
    }
    leave(&scope);
    return code;
}
