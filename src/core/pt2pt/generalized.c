// SPDX-License-Identifier: BSD-3-Clause
/*
 * Generalized requests: see generalized.h.
 *
 * Invariant: request->generalized is the request's struct weft_generalized until
 * free_functions.
 */
#include "core/pt2pt/generalized.h"
#include "core/base/callback.h"
#include "core/base/error.h"
#include "core/message/process.h"

#include <stdio.h>
#include <stdlib.h>

static struct weft_generalized *functions_of(const struct weft_request *request)
{
    weft_assert(request->op == WEFT_REQUEST_GENERALIZED && request->generalized);
    return request->generalized;
}

/* Returns the result of a function of the user; sets the sentence if it is an error. */
static int returned(int code, const char *which)
{
    if (code != MPI_SUCCESS)
        weft_error_set(code, "the %s function of a generalized request returned %d", which, code);
    return code;
}

struct weft_request *weft_generalized_new(const struct weft_generalized *functions)
{
    struct weft_request *request = weft_request_get(&weft.vcis[0], WEFT_REQUEST_GENERALIZED, 1);
    if (!request)
        return NULL;
    struct weft_generalized *copy = malloc(sizeof *copy);
    if (!copy) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for the functions of a generalized request");
        weft_request_put(request);
        return NULL;
    }
    *copy = *functions;
    request->generalized = copy;
    request->channel = NULL;
    request->peer = NULL;
    return request;
}

/* Calls the free function and clears all four. Returns what it returned. */
static int free_functions(struct weft_request *request)
{
    struct weft_generalized *functions = functions_of(request);
    struct weft_callback callback;
    weft_callback_begin(&callback, request, "its free function");
    int code = functions->free ? functions->free(functions->state) : MPI_SUCCESS;
    weft_callback_end(&callback);
    request->generalized = NULL;
    free(functions);
    return returned(code, "free");
}

int weft_generalized_complete(struct weft_request *request)
{
    int code = MPI_SUCCESS;
    request->pending = 0;
    if (request->flags & WEFT_REQUEST_ORPHAN) {
        code = free_functions(request);
        weft_request_put(request);
    }
    return code;
}

/* For a call that completes, frees or queries a request: MPI_SUCCESS, or an error if it is made by
 * the request's query or free function. */
static int check(const struct weft_request *request)
{
    return weft_callback_check(request, MPI_ERR_REQUEST,
                               "the generalized request cannot be completed, freed or queried");
}

/* Calls the user's function for the status of a complete request; status may be MPI_STATUS_IGNORE.
 * Returns what the query function returned. */
static int query(const struct weft_request *request, MPI_Status *status)
{
    const struct weft_generalized *functions = functions_of(request);
    struct weft_callback callback;
    MPI_Status unseen = {0};
    if (status == MPI_STATUS_IGNORE) /* the function gets a status of its own */
        status = &unseen;
    weft_status_clear(status);
    if (!functions->query)
        return MPI_SUCCESS;
    int error = status->MPI_ERROR;
    weft_callback_begin(&callback, request, "its query function");
    int code = functions->query(functions->state, status);
    weft_callback_end(&callback);
    status->MPI_ERROR = error; /* it is for the calls that complete many to set */
    return returned(code, "query");
}

static int cancel(struct weft_request *request)
{
    const struct weft_generalized *functions = functions_of(request);
    int code = MPI_SUCCESS;
    if (functions->cancel)
        code = functions->cancel(functions->state, !request->pending);
    return returned(code, "cancel");
}

static void describe(const struct weft_request *request, char *text, size_t len)
{
    snprintf(text, len, "generalized request %p: MPI_Grequest_complete was not called for it",
             (const void *)request);
}

const struct weft_request_ops weft_generalized_request_ops = {.name = "generalized request",
                                                              .needs_all = true,
                                                              .cancel = cancel,
                                                              .may_free = check,
                                                              .query = query,
                                                              .free = free_functions,
                                                              .describe = describe};
