// SPDX-License-Identifier: BSD-3-Clause
/*
 * Completion of requests (MPI 5.0 sections 3.7.3 to 3.7.6).
 *
 * Invariant: a handle is set to MPI_REQUEST_NULL in the same call that copies its status out and
 * gives the request back; an array is checked as a whole before anything is waited for.
 */
#include "core/api/api.h"
#include "core/cancel.h"
#include "core/error.h"
#include "core/weft.h"

#include <stdbool.h>
#include <stddef.h>

static inline bool is_null(MPI_Request handle)
{
    return handle == MPI_REQUEST_NULL;
}

static inline struct weft_request *request_of(MPI_Request handle)
{
    return (struct weft_request *)handle;
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

/* Copies a complete request's outcome and gives it back. Returns its error. */
static int retire(MPI_Request *handle, MPI_Status *status, bool with_error)
{
    struct weft_request *request = request_of(*handle);
    int code = request->error;
    weft_request_status(request, status, with_error);
    weft_request_put(request);
    *handle = MPI_REQUEST_NULL;
    return code;
}

/* Whose error handler hears of a failed request. (A send that completed at once has no channel, and
 * never fails.) */
static struct weft_comm *comm_of(const struct weft_request *failed)
{
    return failed->op == WEFT_REQUEST_NONE ? NULL : failed->channel->comm;
}

static int finish_one(MPI_Request *handle, MPI_Status *status, const char *function)
{
    struct weft_request *request = request_of(*handle);
    struct weft_comm *comm = weft_unlikely(request->error) ? comm_of(request) : NULL;
    int code = retire(handle, status, false);
    return weft_likely(code == MPI_SUCCESS) ? code : weft_error_raise(comm, code, function);
}

/* Checks an array before anything is done with it. */
static int check_array(int count, const MPI_Request *handles, const char *function)
{
    if (count < 0)
        return weft_error(NULL, MPI_ERR_COUNT, function, "the count %d is negative", count);
    if (count && !handles)
        return weft_error(NULL, MPI_ERR_REQUEST, function, "the array of requests is null");
    for (int i = 0; i < count; i++)
        if (weft_unlikely(!is_valid(handles[i])))
            return bad_request(function, handles[i], i);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Wait);
int PMPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    int code = weft_enter("MPI_Wait");
    if (code)
        return code;
    if (weft_unlikely(!is_valid(*handle))) {
        code = bad_request("MPI_Wait", *handle, -1);
    } else if (is_null(*handle)) {
        weft_status_empty(status, false);
    } else {
        weft_request_wait(request_of(*handle));
        code = finish_one(handle, status, "MPI_Wait");
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Test);
int PMPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    int code = weft_enter("MPI_Test");
    if (code)
        return code;
    *flag = 1;
    if (weft_unlikely(!is_valid(*handle))) {
        code = bad_request("MPI_Test", *handle, -1);
    } else if (is_null(*handle)) {
        weft_status_empty(status, false);
    } else {
        if (request_of(*handle)->pending)
            weft_progress();
        *flag = !request_of(*handle)->pending;
        if (*flag)
            code = finish_one(handle, status, "MPI_Test");
    }
    weft_leave();
    return code;
}

static bool all_complete(int count, const MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        if (!is_null(handles[i]) && request_of(handles[i])->pending)
            return false;
    return true;
}

/* The first request of an array that is complete and failed, or NULL. */
static struct weft_request *first_failed(int count, const MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        if (!is_null(handles[i]) && !request_of(handles[i])->pending &&
            weft_unlikely(request_of(handles[i])->error))
            return request_of(handles[i]);
    return NULL;
}

/* Retires every request of an array; all are complete. */
static int finish_all(int count, MPI_Request *handles, MPI_Status *statuses, const char *function)
{
    struct weft_request *failed = first_failed(count, handles);
    struct weft_comm *comm = failed ? comm_of(failed) : NULL;
    int cause = failed ? failed->error : MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses ? &statuses[i] : MPI_STATUS_IGNORE;
        if (is_null(handles[i]))
            weft_status_empty(status, failed);
        else
            retire(&handles[i], status, failed);
    }
    return weft_likely(!failed) ? MPI_SUCCESS : weft_error_raise_in_status(comm, cause, function);
}

WEFT_EXPORT(Waitall);
int PMPI_Waitall(int count, MPI_Request *handles, MPI_Status *statuses)
{
    int code = weft_enter("MPI_Waitall");
    if (code)
        return code;
    code = check_array(count, handles, "MPI_Waitall");
    if (code == MPI_SUCCESS) {
        for (int i = 0; i < count; i++)
            if (!is_null(handles[i]))
                weft_request_wait(request_of(handles[i]));
        code = finish_all(count, handles, statuses, "MPI_Waitall");
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Testall);
int PMPI_Testall(int count, MPI_Request *handles, int *flag, MPI_Status *statuses)
{
    int code = weft_enter("MPI_Testall");
    if (code)
        return code;
    *flag = 0;
    code = check_array(count, handles, "MPI_Testall");
    if (code == MPI_SUCCESS) {
        if (!all_complete(count, handles))
            weft_progress();
        *flag = all_complete(count, handles);
        if (*flag)
            code = finish_all(count, handles, statuses, "MPI_Testall");
    }
    weft_leave();
    return code;
}

/* The first complete request, or MPI_UNDEFINED; *active tells whether there is any at all. */
static int find_complete(int count, const MPI_Request *handles, bool *active)
{
    *active = false;
    for (int i = 0; i < count; i++) {
        if (is_null(handles[i]))
            continue;
        *active = true;
        if (!request_of(handles[i])->pending)
            return i;
    }
    return MPI_UNDEFINED;
}

WEFT_EXPORT(Waitany);
int PMPI_Waitany(int count, MPI_Request *handles, int *index, MPI_Status *status)
{
    int code = weft_enter("MPI_Waitany");
    if (code)
        return code;
    code = check_array(count, handles, "MPI_Waitany");
    if (code == MPI_SUCCESS) {
        bool active;
        unsigned idle = 0;
        while ((*index = find_complete(count, handles, &active)) == MPI_UNDEFINED && active) {
            if (weft_progress())
                idle = 0;
            else
                weft_idle(&idle);
        }
        if (active)
            code = finish_one(&handles[*index], status, "MPI_Waitany");
        else
            weft_status_empty(status, false);
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Testany);
int PMPI_Testany(int count, MPI_Request *handles, int *index, int *flag, MPI_Status *status)
{
    int code = weft_enter("MPI_Testany");
    if (code)
        return code;
    *flag = 0;
    code = check_array(count, handles, "MPI_Testany");
    if (code == MPI_SUCCESS) {
        bool active;
        *index = find_complete(count, handles, &active);
        if (*index == MPI_UNDEFINED && active) {
            weft_progress();
            *index = find_complete(count, handles, &active);
        }
        *flag = !active || *index != MPI_UNDEFINED;
        if (!active)
            weft_status_empty(status, false);
        else if (*flag)
            code = finish_one(&handles[*index], status, "MPI_Testany");
    }
    weft_leave();
    return code;
}

/* Retires every complete request of an array. */
static int finish_some(int count, MPI_Request *handles, int *outcount, int *indices,
                       MPI_Status *statuses, const char *function)
{
    struct weft_request *failed = first_failed(count, handles);
    struct weft_comm *comm = failed ? comm_of(failed) : NULL;
    int cause = failed ? failed->error : MPI_SUCCESS;
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (is_null(handles[i]) || request_of(handles[i])->pending)
            continue;
        retire(&handles[i], statuses ? &statuses[n] : MPI_STATUS_IGNORE, failed);
        indices[n++] = i;
    }
    *outcount = n;
    return weft_likely(!failed) ? MPI_SUCCESS : weft_error_raise_in_status(comm, cause, function);
}

WEFT_EXPORT(Waitsome);
int PMPI_Waitsome(int incount, MPI_Request *handles, int *outcount, int *indices,
                  MPI_Status *statuses)
{
    int code = weft_enter("MPI_Waitsome");
    if (code)
        return code;
    code = check_array(incount, handles, "MPI_Waitsome");
    if (code == MPI_SUCCESS) {
        bool active;
        unsigned idle = 0;
        while (find_complete(incount, handles, &active) == MPI_UNDEFINED && active) {
            if (weft_progress())
                idle = 0;
            else
                weft_idle(&idle);
        }
        if (active)
            code = finish_some(incount, handles, outcount, indices, statuses, "MPI_Waitsome");
        else
            *outcount = MPI_UNDEFINED;
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Testsome);
int PMPI_Testsome(int incount, MPI_Request *handles, int *outcount, int *indices,
                  MPI_Status *statuses)
{
    int code = weft_enter("MPI_Testsome");
    if (code)
        return code;
    code = check_array(incount, handles, "MPI_Testsome");
    if (code == MPI_SUCCESS) {
        bool active;
        weft_progress();
        find_complete(incount, handles, &active);
        if (active)
            code = finish_some(incount, handles, outcount, indices, statuses, "MPI_Testsome");
        else
            *outcount = MPI_UNDEFINED;
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Cancel);
int PMPI_Cancel(MPI_Request *handle)
{
    int code = weft_enter("MPI_Cancel");
    if (code)
        return code;
    if (!is_valid(*handle) || is_null(*handle))
        code = bad_request("MPI_Cancel", *handle, -1);
    else
        weft_cancel(request_of(*handle));
    weft_leave();
    return code;
}

WEFT_EXPORT(Request_free);
int PMPI_Request_free(MPI_Request *handle)
{
    int code = weft_enter("MPI_Request_free");
    if (code)
        return code;
    if (!is_valid(*handle) || is_null(*handle)) {
        code = bad_request("MPI_Request_free", *handle, -1);
    } else {
        struct weft_request *request = request_of(*handle);
        if (request->pending)
            request->flags |= WEFT_REQUEST_ORPHAN;
        else
            weft_request_put(request);
        *handle = MPI_REQUEST_NULL;
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Request_get_status);
int PMPI_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    int code = weft_enter("MPI_Request_get_status");
    if (code)
        return code;
    *flag = 1;
    if (!is_valid(handle)) {
        code = bad_request("MPI_Request_get_status", handle, -1);
    } else if (is_null(handle)) {
        weft_status_empty(status, false);
    } else {
        if (request_of(handle)->pending)
            weft_progress();
        *flag = !request_of(handle)->pending;
        if (*flag)
            weft_request_status(request_of(handle), status, false);
    }
    weft_leave();
    return code;
}
