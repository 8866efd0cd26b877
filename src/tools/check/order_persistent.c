// SPDX-License-Identifier: BSD-3-Clause
/*
 * Persistent receives from any source: see order_persistent.h.
 */
#include "tools/check/order_persistent.h"
#include "tools/check/changes.h"

#include <stdlib.h>

enum { TABLE = 1024 };
enum { BY_HANDLE, BY_ACTIVE };

/* In two tables: by the handle, and by the receive that replaces it, if there is one. */
struct persistent {
    struct persistent *next[2];
    const void *handle;
    void *buffer;
    MPI_Count count;
    MPI_Datatype type; /* that of the program, or one of the same data: it may free its own */
    int tag;
    MPI_Comm comm;      /* MPI_COMM_NULL: the program has freed it */
    MPI_Request active; /* MPI_REQUEST_NULL: it has not been started by check_persistent_start */
};

static struct {
    struct persistent *slots[2][TABLE];
    int64_t n; /* entries */
} table;

static struct persistent **slot_of(int by, const void *handle)
{
    return &table.slots[by][check_mix((uintptr_t)handle, 0) % TABLE];
}

static struct persistent *find(const void *handle)
{
    struct persistent *persistent = table.n ? *slot_of(BY_HANDLE, handle) : NULL;
    while (persistent && persistent->handle != handle)
        persistent = persistent->next[BY_HANDLE];
    return persistent;
}

static void link_entry(int by, const void *handle, struct persistent *persistent)
{
    struct persistent **slot = slot_of(by, handle);
    persistent->next[by] = *slot;
    *slot = persistent;
}

static void unlink_entry(int by, const void *handle, const struct persistent *persistent)
{
    struct persistent **at = slot_of(by, handle);
    while (*at != persistent) {
        weft_assert(*at);
        at = &(*at)->next[by];
    }
    *at = persistent->next[by];
}

static void set_active(struct persistent *persistent, MPI_Request active)
{
    if (persistent->active != MPI_REQUEST_NULL)
        unlink_entry(BY_ACTIVE, persistent->active, persistent);
    persistent->active = active;
    if (active != MPI_REQUEST_NULL)
        link_entry(BY_ACTIVE, active, persistent);
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
        persistent = weft_interpose_allocate(1, sizeof *persistent);
        persistent->handle = handle;
        persistent->active = MPI_REQUEST_NULL;
        link_entry(BY_HANDLE, handle, persistent);
        table.n++;
    } else {
        free_type(persistent);
    }
    persistent->buffer = v[0].pointer;
    persistent->count = v[1].number;
    persistent->type = keep_type(v[2].pointer);
    persistent->tag = (int)v[4].number;
    persistent->comm = v[5].pointer;
    set_active(persistent, MPI_REQUEST_NULL);
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
    const struct persistent *persistent = table.n ? *slot_of(BY_ACTIVE, request) : NULL;
    while (persistent && persistent->active != request)
        persistent = persistent->next[BY_ACTIVE];
    return persistent ? persistent->handle : request;
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
    const int result = source < 0 ? weft_next.Irecv_c(p->buffer, p->count, p->type, check.rank,
                                                      CHECK_TAG_NEVER_SENT, check.channel, &request)
                                  : weft_next.Irecv_c(p->buffer, p->count, p->type, source, p->tag,
                                                      p->comm, &request);
    if (result == MPI_SUCCESS)
        set_active(p, request);
    return result;
}

static void drop(struct persistent *persistent)
{
    set_active(persistent, MPI_REQUEST_NULL);
    unlink_entry(BY_HANDLE, persistent->handle, persistent);
    table.n--;
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
    for (int i = 0; i < TABLE; i++)
        for (struct persistent *at = table.slots[BY_HANDLE][i]; at; at = at->next[BY_HANDLE])
            at->comm = at->comm == comm ? MPI_COMM_NULL : at->comm;
}

static void free_active(struct persistent *persistent)
{
    MPI_Request request = persistent->active;
    set_active(persistent, MPI_REQUEST_NULL);
    weft_next.Request_free(&request);
}

void check_persistent_begin(struct weft_call *call)
{
    const struct check_changes *changes = call->state;
    if (!table.n)
        return;
    if (call->function->plain == WEFT_CALL_Request_get_status)
        call->values[0].pointer = check_persistent_made(call->values[0].pointer);
    for (int64_t i = 0; changes && i < changes->n; i++)
        if (call->function->parameter[changes->list[i].parameter].object == WEFT_OBJECT_COMM)
            forget_comm(changes->list[i].handle);
    for (int64_t i = 0; changes && i < changes->n; i++) {
        struct persistent *persistent = find_active(call, &changes->list[i]);
        if (persistent && call->function->plain == WEFT_CALL_Request_free)
            free_active(persistent);
        else if (persistent)
            *element_of(call, &changes->list[i]) = persistent->active;
    }
}

void check_persistent_end(struct weft_call *call)
{
    const struct check_changes *changes = call->state;
    for (int64_t i = 0; table.n && changes && i < changes->n; i++) {
        const struct check_change *change = &changes->list[i];
        struct persistent *persistent = find_active(call, change);
        if (persistent && *element_of(call, change) != change->handle) { /* not in its start */
            set_active(persistent, *element_of(call, change));           /* or MPI_REQUEST_NULL */
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
    const int64_t n = table.n && is_query(call) && v[1].pointer ? weft_call_length(call, 1) : 0;
    if (n <= 0)
        return false;
    MPI_Request *made = weft_interpose_allocate((size_t)n, sizeof *made);
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
