// SPDX-License-Identifier: BSD-3-Clause
/*
 * Persistent receives from any source: see order_persistent.h.
 */
#include "tools/check/order_persistent.h"
#include "tools/check/changes.h"

#include <stdlib.h>

static struct persistent {
    struct persistent *next;
    const void *handle;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type; /* that of the program, or one of the same data: it may free its own */
    int tag;
    MPI_Comm comm;      /* MPI_COMM_NULL: the program has freed it */
    MPI_Request active; /* MPI_REQUEST_NULL: it has not been started by check_persistent_start */
} * list;

static struct persistent *find(const void *handle)
{
    struct persistent *persistent = list;
    while (persistent && persistent->handle != handle)
        persistent = persistent->next;
    return persistent;
}

/* Attributes are not copied, unlike by MPI_Type_dup. */
static MPI_Datatype keep_type(MPI_Datatype type)
{
    MPI_Datatype kept = type;
    if (!weft_object_is_predefined(type) &&
        weft_next.Type_contiguous(1, type, &kept) == MPI_SUCCESS)
        weft_next.Type_commit(&kept);
    return kept;
}

static void free_type(struct persistent *persistent)
{
    if (!weft_object_is_predefined(persistent->type))
        weft_next.Type_free(&persistent->type);
}

void check_persistent_add(const struct weft_call *call)
{
    const union weft_value *v = call->values;
    const void *handle = check_made_request(call);
    struct persistent *persistent = find(handle);
    if (!persistent) {
        persistent = tool_allocate(1, sizeof *persistent);
        persistent->next = list;
        list = persistent;
    } else {
        free_type(persistent);
    }
    persistent->handle = handle;
    persistent->buffer = v[0].pointer;
    persistent->count = v[1].number;
    persistent->type = keep_type(v[2].pointer);
    persistent->tag = (int)v[4].number;
    persistent->comm = v[5].pointer;
    persistent->active = MPI_REQUEST_NULL;
}

bool check_persistent_is_wild(const void *handle)
{
    return find(handle) != NULL;
}

MPI_Request check_persistent_made(const void *handle)
{
    const struct persistent *persistent = find(handle);
    return persistent && persistent->active != MPI_REQUEST_NULL ? persistent->active
                                                                : (MPI_Request)handle;
}

const void *check_persistent_of(const void *request)
{
    const struct persistent *persistent = list;
    while (persistent && persistent->active != request)
        persistent = persistent->next;
    return persistent && request != MPI_REQUEST_NULL ? persistent->handle : request;
}

int check_persistent_start(const void *handle, int source)
{
    struct persistent *p = find(handle);
    MPI_Request request = (MPI_Request)handle;
    weft_assert(p);
    if (p->active != MPI_REQUEST_NULL) /* in error, as the start of any request that is active */
        return weft_next.Start(&p->active);
    if (p->comm == MPI_COMM_NULL && source >= 0)
        return weft_next.Start(&request);
    return source < 0 ? weft_next.Irecv_c(p->buffer, p->count, p->type, check.rank,
                                          CHECK_TAG_NEVER_SENT, check.channel, &p->active)
                      : weft_next.Irecv_c(p->buffer, p->count, p->type, source, p->tag, p->comm,
                                          &p->active);
}

static void drop(struct persistent *persistent)
{
    struct persistent **at = &list;
    while (*at != persistent)
        at = &(*at)->next;
    *at = persistent->next;
    free_type(persistent);
    free(persistent);
}

/* The request that a call changes; NULL: it is no such one, or has no receive. */
static struct persistent *find_active(const struct weft_call *call,
                                      const struct check_change *change)
{
    struct persistent *persistent =
        call->function->parameter[change->parameter].object == WEFT_OBJECT_REQUEST
            ? find(change->handle)
            : NULL;
    return persistent && persistent->active != MPI_REQUEST_NULL ? persistent : NULL;
}

static MPI_Request *element_of(const struct weft_call *call, const struct check_change *change)
{
    return (MPI_Request *)call->values[change->parameter].pointer + change->element;
}

static void forget_comm(const void *comm)
{
    for (struct persistent *persistent = list; persistent; persistent = persistent->next)
        if (persistent->comm == comm)
            persistent->comm = MPI_COMM_NULL;
}

void check_persistent_begin(struct weft_call *call)
{
    const struct check_changes *changes = call->state;
    if (!list)
        return;
    if (call->function->plain == WEFT_CALL_Request_get_status)
        call->values[0].pointer = check_persistent_made(call->values[0].pointer);
    for (int64_t i = 0; changes && i < changes->n; i++)
        if (call->function->parameter[changes->list[i].parameter].object == WEFT_OBJECT_COMM)
            forget_comm(changes->list[i].handle);
    for (int64_t i = 0; changes && i < changes->n; i++) {
        struct persistent *persistent = find_active(call, &changes->list[i]);
        if (persistent && call->function->plain == WEFT_CALL_Request_free)
            weft_next.Request_free(&persistent->active);
        else if (persistent)
            *element_of(call, &changes->list[i]) = persistent->active;
    }
}

void check_persistent_end(struct weft_call *call)
{
    const struct check_changes *changes = call->state;
    for (int64_t i = 0; list && changes && i < changes->n; i++) {
        const struct check_change *change = &changes->list[i];
        struct persistent *persistent = find_active(call, change);
        if (persistent && *element_of(call, change) != change->handle) { /* not in its start */
            persistent->active = *element_of(call, change);              /* or MPI_REQUEST_NULL */
            *element_of(call, change) = (MPI_Request)change->handle;
        } else if (call->function->plain == WEFT_CALL_Request_free && find(change->handle)) {
            drop(find(change->handle));
        }
    }
}

static bool is_query(const struct weft_call *call)
{
    return call->function->plain == WEFT_CALL_Request_get_status_all ||
           call->function->plain == WEFT_CALL_Request_get_status_any ||
           call->function->plain == WEFT_CALL_Request_get_status_some;
}

bool check_persistent_query(struct weft_call *call)
{
    const union weft_value *v = call->values;
    const int64_t n = list && is_query(call) && v[1].pointer ? weft_call_length(call, 1) : 0;
    if (n <= 0)
        return false;
    MPI_Request *made = tool_allocate((size_t)n, sizeof *made);
    for (int64_t i = 0; i < n; i++)
        made[i] = check_persistent_made(weft_call_element(call, 1, i));
    if (call->function->plain == WEFT_CALL_Request_get_status_all)
        call->result = weft_next.Request_get_status_all((int)n, made, v[2].pointer, v[3].pointer);
    else if (call->function->plain == WEFT_CALL_Request_get_status_any)
        call->result = weft_next.Request_get_status_any((int)n, made, v[2].pointer, v[3].pointer,
                                                        v[4].pointer);
    else
        call->result = weft_next.Request_get_status_some((int)n, made, v[2].pointer, v[3].pointer,
                                                         v[4].pointer);
    free(made);
    return true;
}
