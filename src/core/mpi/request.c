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

/* True for sends and receives: only these belong to the VCI of their communicator. */
static inline bool is_message(const struct weft_request *request)
{
    return request->op == WEFT_REQUEST_SEND || request->op == WEFT_REQUEST_RECV;
}

struct weft_vci *weft_request_scope(int count, const MPI_Request *handles)
{
    struct weft_vci *vci = NULL;
    if (weft_likely(!weft_gate) || (weft_gate & WEFT_GATE_CLOSED) || !handles)
        return NULL;
    for (int i = 0; i < count; i++) {
        const struct weft_request *request = weft_handle_resolve(handles[i], WEFT_KIND_REQUEST);
        if (!request || request == &weft_request_null)
            continue;
        if (!is_message(request) || (vci && vci != request->vci))
            return NULL;
        vci = request->vci;
    }
    return vci;
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

static int finish_one(MPI_Request *handle, MPI_Status *status, const char *function)
{
    struct weft_comm *comm = NULL;
    int code = retire(handle, status, false, &comm);
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(comm, code, function);
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

static void retire_next(struct outcome *outcome, MPI_Request *handle)
{
    MPI_Status *status = outcome->statuses ? &outcome->statuses[outcome->count] : MPI_STATUS_IGNORE;
    struct weft_comm *comm = NULL;
    int code = retire(handle, status, outcome->cause != MPI_SUCCESS, &comm);
    if (weft_unlikely(code != MPI_SUCCESS))
        note_failure(outcome, code, comm);
    outcome->count++;
}

static int raise_outcome(const struct outcome *outcome, const char *function)
{
    if (weft_likely(outcome->cause == MPI_SUCCESS))
        return MPI_SUCCESS;
    return weft_error_raise_in_status(outcome->comm, outcome->cause, function);
}

/* A pointer for a result is null. */
WEFT_COLD static int no_result(const char *function)
{
    return weft_error(NULL, MPI_ERR_ARG, function, "a pointer for a result is null");
}

/* Checks an array, and whether all results have a place, before anything is done. */
static int check_array(int count, const MPI_Request *handles, bool results, const char *function)
{
    if (count < 0)
        return weft_error(NULL, MPI_ERR_COUNT, function, "the count %d is negative", count);
    if (count && !handles)
        return weft_error(NULL, MPI_ERR_REQUEST, function, "the array of requests is null");
    for (int i = 0; i < count; i++)
        if (weft_unlikely(!is_valid(handles[i])))
            return bad_request(function, handles[i], i);
    return weft_likely(results) ? MPI_SUCCESS : no_result(function);
}

/* True for a send or receive that is complete without error and has no flags. */
static inline __attribute__((always_inline)) bool is_plain_complete(MPI_Request handle)
{
    const struct weft_request *request = request_of(handle);
    return request->object.kind == WEFT_KIND_REQUEST && is_message(request) && !request->pending &&
           !request->flags && !request->error;
}

static int wait(MPI_Request *handle, MPI_Status *status)
{
    if (weft_unlikely(!handle || !is_valid(*handle)))
        return bad_handle("MPI_Wait", handle);
    if (request_of(*handle)->pending)
        weft_request_wait(request_of(*handle));
    return finish_one(handle, status, "MPI_Wait");
}

WEFT_EXPORT(Wait);
int PMPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    if (weft_likely(!weft_gate) && weft_likely(handle != NULL) &&
        weft_likely(is_plain_complete(*handle))) {
        struct weft_request *request = request_of(*handle);
        if (status != MPI_STATUS_IGNORE)
            weft_request_status(request, status, false);
        weft_request_push(request);
        *handle = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    struct weft_vci *vci = weft_request_scope(1, handle);
    int code = weft_enter_scope("MPI_Wait", vci);
    if (code)
        return code;
    code = wait(handle, status);
    weft_leave_scope(vci);
    return code;
}

WEFT_EXPORT(Test);
int PMPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    struct weft_vci *vci = weft_request_scope(1, handle);
    int code = weft_enter_scope("MPI_Test", vci);
    if (code)
        return code;
    if (weft_unlikely(!handle || !is_valid(*handle))) {
        code = bad_handle("MPI_Test", handle);
    } else if (weft_unlikely(!flag)) {
        code = no_result("MPI_Test");
    } else {
        if (request_of(*handle)->pending)
            weft_look(weft_vci_scope(vci));
        *flag = !request_of(*handle)->pending;
        if (*flag)
            code = finish_one(handle, status, "MPI_Test");
    }
    weft_leave_scope(vci);
    return code;
}

static bool all_complete(int count, const MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        if (request_of(handles[i])->pending)
            return false;
    return true;
}

/* Retires every request of an array; all are complete. */
static int finish_all(int count, MPI_Request *handles, MPI_Status *statuses, const char *function)
{
    struct outcome outcome = {.statuses = statuses};
    for (int i = 0; i < count; i++)
        retire_next(&outcome, &handles[i]);
    return raise_outcome(&outcome, function);
}

/* Waits for requests of several VCIs one after the other, each with its own VCI only. What is wrong
 * is left to the caller's check. */
static void wait_for_each(int count, const MPI_Request *handles)
{
    for (int i = 0; i < count; i++) {
        struct weft_vci *vci = weft_request_scope(1, &handles[i]);
        if (!vci || weft_enter_on("MPI_Waitall", vci) != MPI_SUCCESS)
            continue;
        if (is_valid(handles[i]))
            weft_request_wait(request_of(handles[i]));
        weft_leave_on(vci);
    }
}

WEFT_EXPORT(Waitall);
int PMPI_Waitall(int count, MPI_Request *handles, MPI_Status *statuses)
{
    struct weft_vci *vci = weft_request_scope(count, handles);
    if (weft_unlikely(weft_gate == WEFT_GATE_THREADS) && !vci && handles)
        wait_for_each(count, handles);
    int code = weft_enter_scope("MPI_Waitall", vci);
    if (code)
        return code;
    code = check_array(count, handles, true, "MPI_Waitall");
    if (code == MPI_SUCCESS) {
        for (int i = 0; i < count; i++)
            weft_request_wait(request_of(handles[i]));
        code = finish_all(count, handles, statuses, "MPI_Waitall");
    }
    weft_leave_scope(vci);
    return code;
}

WEFT_EXPORT(Testall);
int PMPI_Testall(int count, MPI_Request *handles, int *flag, MPI_Status *statuses)
{
    struct weft_vci *vci = weft_request_scope(count, handles);
    int code = weft_enter_scope("MPI_Testall", vci);
    if (code)
        return code;
    code = check_array(count, handles, flag, "MPI_Testall");
    if (code == MPI_SUCCESS) {
        if (!all_complete(count, handles))
            weft_look(weft_vci_scope(vci));
        *flag = all_complete(count, handles);
        if (*flag)
            code = finish_all(count, handles, statuses, "MPI_Testall");
    }
    weft_leave_scope(vci);
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
static int find_complete(int count, const MPI_Request *handles, bool *active)
{
    int oldest = MPI_UNDEFINED;
    uint32_t order = 0;

    *active = false;
    for (int i = 0; i < count; i++) {
        const struct weft_request *request = request_of(handles[i]);
        if (request->flags & WEFT_REQUEST_INACTIVE)
            continue;
        *active = true;
        if (request->pending)
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

WEFT_EXPORT(Waitany);
int PMPI_Waitany(int count, MPI_Request *handles, int *index, MPI_Status *status)
{
    struct weft_vci *vci = weft_request_scope(count, handles);
    int code = weft_enter_scope("MPI_Waitany", vci);
    if (code)
        return code;
    code = check_array(count, handles, index, "MPI_Waitany");
    if (code == MPI_SUCCESS) {
        bool active;
        unsigned idle = 0;
        while ((*index = find_complete(count, handles, &active)) == MPI_UNDEFINED && active)
            weft_await(weft_vci_scope(vci), &idle, NULL);
        if (active)
            code = finish_one(&handles[*index], status, "MPI_Waitany");
        else
            weft_status_empty(status);
    }
    weft_leave_scope(vci);
    return code;
}

WEFT_EXPORT(Testany);
int PMPI_Testany(int count, MPI_Request *handles, int *index, int *flag, MPI_Status *status)
{
    struct weft_vci *vci = weft_request_scope(count, handles);
    int code = weft_enter_scope("MPI_Testany", vci);
    if (code)
        return code;
    code = check_array(count, handles, index && flag, "MPI_Testany");
    if (code == MPI_SUCCESS) {
        bool active;
        *index = find_complete(count, handles, &active);
        if (*index == MPI_UNDEFINED && active) {
            weft_look(weft_vci_scope(vci));
            *index = find_complete(count, handles, &active);
        }
        *flag = !active || *index != MPI_UNDEFINED;
        if (!active)
            weft_status_empty(status);
        else if (*flag)
            code = finish_one(&handles[*index], status, "MPI_Testany");
    }
    weft_leave_scope(vci);
    return code;
}

/* Retires every complete request of an array. */
static int finish_some(int count, MPI_Request *handles, int *outcount, int *indices,
                       MPI_Status *statuses, const char *function)
{
    struct outcome outcome = {.statuses = statuses};
    for (int i = 0; i < count; i++) {
        const struct weft_request *request = request_of(handles[i]);
        if (request->pending || (request->flags & WEFT_REQUEST_INACTIVE))
            continue;
        indices[outcome.count] = i;
        retire_next(&outcome, &handles[i]);
    }
    *outcount = outcome.count;
    return raise_outcome(&outcome, function);
}

WEFT_EXPORT(Waitsome);
int PMPI_Waitsome(int incount, MPI_Request *handles, int *outcount, int *indices,
                  MPI_Status *statuses)
{
    struct weft_vci *vci = weft_request_scope(incount, handles);
    int code = weft_enter_scope("MPI_Waitsome", vci);
    if (code)
        return code;
    code = check_array(incount, handles, outcount && (indices || !incount), "MPI_Waitsome");
    if (code == MPI_SUCCESS) {
        bool active;
        unsigned idle = 0;
        while (find_complete(incount, handles, &active) == MPI_UNDEFINED && active)
            weft_await(weft_vci_scope(vci), &idle, NULL);
        if (active)
            code = finish_some(incount, handles, outcount, indices, statuses, "MPI_Waitsome");
        else
            *outcount = MPI_UNDEFINED;
    }
    weft_leave_scope(vci);
    return code;
}

WEFT_EXPORT(Testsome);
int PMPI_Testsome(int incount, MPI_Request *handles, int *outcount, int *indices,
                  MPI_Status *statuses)
{
    struct weft_vci *vci = weft_request_scope(incount, handles);
    int code = weft_enter_scope("MPI_Testsome", vci);
    if (code)
        return code;
    code = check_array(incount, handles, outcount && (indices || !incount), "MPI_Testsome");
    if (code == MPI_SUCCESS) {
        bool active;
        weft_look(weft_vci_scope(vci));
        find_complete(incount, handles, &active);
        if (active)
            code = finish_some(incount, handles, outcount, indices, statuses, "MPI_Testsome");
        else
            *outcount = MPI_UNDEFINED;
    }
    weft_leave_scope(vci);
    return code;
}

static int cancel(struct weft_request *request)
{
    if (request->flags & WEFT_REQUEST_INACTIVE)
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Cancel",
                          "%p is inactive; there is nothing to cancel before MPI_Start",
                          (void *)request);
    if (request->op == WEFT_REQUEST_COLL || request->op == WEFT_REQUEST_RMA)
        return weft_error(weft_request_comm(request), MPI_ERR_REQUEST, "MPI_Cancel",
                          "%p is a collective or an operation on a window, which cannot be "
                          "cancelled; wait for it",
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
    struct weft_vci *vci = weft_request_scope(1, handle);
    int code = weft_enter_scope("MPI_Cancel", vci);
    if (code)
        return code;
    if (!handle || !is_valid(*handle) || *handle == MPI_REQUEST_NULL)
        code = bad_handle("MPI_Cancel", handle);
    else
        code = cancel(request_of(*handle));
    weft_leave_scope(vci);
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
    struct weft_vci *vci = weft_request_scope(1, handle);
    int code = weft_enter_scope("MPI_Request_free", vci);
    if (code)
        return code;
    if (!handle || !is_valid(*handle) || *handle == MPI_REQUEST_NULL) {
        code = bad_handle("MPI_Request_free", handle);
    } else if ((request_of(*handle)->op == WEFT_REQUEST_COLL ||
                request_of(*handle)->op == WEFT_REQUEST_RMA) &&
               !(request_of(*handle)->flags & WEFT_REQUEST_INACTIVE)) {
        code =
            weft_error(weft_request_comm(request_of(*handle)), MPI_ERR_REQUEST, "MPI_Request_free",
                       "%p is a collective or an operation on a window that was started; wait "
                       "for it",
                       (void *)*handle);
    } else {
        code = give_up(handle);
    }
    weft_leave_scope(vci);
    return code;
}

/* ---- Looking without completing. A failed operation's error is for the call that completes it; an
 * error that is raised here is one of the query. */

/* The status of a complete or inactive request, which stays as it is. */
static int look(const struct weft_request *request, MPI_Status *status)
{
    if (request->op == WEFT_REQUEST_GENERALIZED)
        return weft_generalized_query(request, status);
    if (request->flags & WEFT_REQUEST_INACTIVE)
        weft_status_empty(status);
    else
        weft_request_status(request, status, false);
    return MPI_SUCCESS;
}

static int looked(int code, const char *function)
{
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(NULL, code, function);
}

WEFT_EXPORT(Request_get_status);
int PMPI_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    struct weft_vci *vci = weft_request_scope(1, &handle);
    int code = weft_enter_scope("MPI_Request_get_status", vci);
    if (code)
        return code;
    if (!is_valid(handle)) {
        code = bad_request("MPI_Request_get_status", handle, -1);
    } else if (!flag) {
        code = no_result("MPI_Request_get_status");
    } else {
        if (request_of(handle)->pending)
            weft_look(weft_vci_scope(vci));
        *flag = !request_of(handle)->pending;
        if (*flag)
            code = looked(look(request_of(handle), status), "MPI_Request_get_status");
    }
    weft_leave_scope(vci);
    return code;
}

WEFT_EXPORT(Request_get_status_all);
int PMPI_Request_get_status_all(int count, const MPI_Request *handles, int *flag,
                                MPI_Status *statuses)
{
    struct weft_vci *vci = weft_request_scope(count, handles);
    int code = weft_enter_scope("MPI_Request_get_status_all", vci);
    if (code)
        return code;
    code = check_array(count, handles, flag, "MPI_Request_get_status_all");
    if (code == MPI_SUCCESS) {
        if (!all_complete(count, handles))
            weft_look(weft_vci_scope(vci));
        *flag = all_complete(count, handles);
        int first = MPI_SUCCESS;
        for (int i = 0; *flag && i < count; i++) {
            int seen = look(request_of(handles[i]), statuses ? &statuses[i] : MPI_STATUS_IGNORE);
            if (first == MPI_SUCCESS)
                first = seen;
        }
        code = looked(first, "MPI_Request_get_status_all");
    }
    weft_leave_scope(vci);
    return code;
}

WEFT_EXPORT(Request_get_status_any);
int PMPI_Request_get_status_any(int count, const MPI_Request *handles, int *index, int *flag,
                                MPI_Status *status)
{
    struct weft_vci *vci = weft_request_scope(count, handles);
    int code = weft_enter_scope("MPI_Request_get_status_any", vci);
    if (code)
        return code;
    code = check_array(count, handles, index && flag, "MPI_Request_get_status_any");
    if (code == MPI_SUCCESS) {
        bool active;
        *index = find_complete(count, handles, &active);
        if (*index == MPI_UNDEFINED && active) {
            weft_look(weft_vci_scope(vci));
            *index = find_complete(count, handles, &active);
        }
        *flag = !active || *index != MPI_UNDEFINED;
        if (!active)
            weft_status_empty(status);
        else if (*flag)
            code = looked(look(request_of(handles[*index]), status), "MPI_Request_get_status_any");
    }
    weft_leave_scope(vci);
    return code;
}

/* Looks at every complete request of an array. Returns the first error of a query. */
static int look_at_some(int count, const MPI_Request *handles, int *outcount, int *indices,
                        MPI_Status *statuses)
{
    int n = 0, first = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        const struct weft_request *request = request_of(handles[i]);
        if (request->pending || (request->flags & WEFT_REQUEST_INACTIVE))
            continue;
        int seen = look(request, statuses ? &statuses[n] : MPI_STATUS_IGNORE);
        if (first == MPI_SUCCESS)
            first = seen;
        indices[n++] = i;
    }
    *outcount = n;
    return first;
}

WEFT_EXPORT(Request_get_status_some);
int PMPI_Request_get_status_some(int incount, const MPI_Request *handles, int *outcount,
                                 int *indices, MPI_Status *statuses)
{
    struct weft_vci *vci = weft_request_scope(incount, handles);
    int code = weft_enter_scope("MPI_Request_get_status_some", vci);
    if (code)
        return code;
    code = check_array(incount, handles, outcount && (indices || !incount),
                       "MPI_Request_get_status_some");
    if (code == MPI_SUCCESS) {
        bool active;
        weft_look(weft_vci_scope(vci));
        find_complete(incount, handles, &active);
        if (active)
            code = looked(look_at_some(incount, handles, outcount, indices, statuses),
                          "MPI_Request_get_status_some");
        else
            *outcount = MPI_UNDEFINED;
    }
    weft_leave_scope(vci);
    return code;
}
