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
    MPI_Datatype type;
    int tag;
    MPI_Comm comm;
    MPI_Request active; /* MPI_REQUEST_NULL: it has not been started by check_persistent_start */
} * list;

static struct persistent *find(const void *handle)
{
    struct persistent *persistent = list;
    while (persistent && persistent->handle != handle)
        persistent = persistent->next;
    return persistent;
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
    }
    persistent->handle = handle;
    persistent->buffer = v[0].pointer;
    persistent->count = v[1].number;
    persistent->type = v[2].pointer;
    persistent->tag = (int)v[4].number;
    persistent->comm = v[5].pointer;
    persistent->active = MPI_REQUEST_NULL;
}

bool check_persistent_is_wild(const void *handle)
{
    return find(handle) != NULL;
}

int check_persistent_start(const void *handle, int source)
{
    struct persistent *p = find(handle);
    weft_assert(p && p->active == MPI_REQUEST_NULL);
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

void check_persistent_begin(struct weft_call *call)
{
    const struct check_changes *changes = call->state;
    if (!list)
        return;
    if (call->function->plain == WEFT_CALL_Request_get_status && find(call->values[0].pointer) &&
        find(call->values[0].pointer)->active != MPI_REQUEST_NULL)
        call->values[0].pointer = find(call->values[0].pointer)->active;
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
