// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sessions and handles of performance variables: see pvar.h.
 *
 * Invariant: the value of a handle of a sum is `sum`, plus the variable minus `base` while the
 * handle is started. A frozen handle is of ranks whose peers have been freed; it is not started,
 * and a level is 0.
 */
#include "core/tool/pvar.h"

#include "core/base/settings.h"
#include "core/comm/comm.h"
#include "core/message/count.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

struct weft_pvar_handle {
    struct weft_pvar_handle *next;
    const struct weft_pvar_row *row;
    bool started, frozen;
    int count;
    struct element {
        int32_t world;
        uint64_t sum, base; /* watermark: sum is the maximum before other handles' resets */
    } element[];
};

struct weft_pvar_session {
    struct weft_pvar_session *next;
    struct weft_pvar_handle *handles;
};

static struct weft_pvar_session *sessions;

/* ---- Sessions */

int weft_pvar_session_make(MPI_T_pvar_session *out)
{
    struct weft_pvar_session *session = calloc(1, sizeof *session);
    if (!session)
        return MPI_T_ERR_MEMORY;
    session->next = sessions;
    sessions = session;
    *out = (MPI_T_pvar_session)session;
    return MPI_SUCCESS;
}

struct weft_pvar_session *weft_pvar_session_find(MPI_T_pvar_session handle)
{
    struct weft_pvar_session *session = sessions;
    while (session && (MPI_T_pvar_session)session != handle)
        session = session->next;
    return session;
}

void weft_pvar_session_free(struct weft_pvar_session *session)
{
    struct weft_pvar_session **link = &sessions;
    while (session->handles)
        weft_pvar_free(session, session->handles);
    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    free(session);
}

void weft_pvar_free_all(void)
{
    while (sessions)
        weft_pvar_session_free(sessions);
}

/* Sets the watermark of one handle. All other handles store the maximum so far, and tracking
 * restarts from the current level. */
static void set_watermark(struct weft_pvar_handle *handle, uint64_t value)
{
    struct weft_peak *peak = handle->row->peak;
    for (struct weft_pvar_session *s = sessions; s; s = s->next)
        for (struct weft_pvar_handle *h = s->handles; h; h = h->next)
            if (h->row->peak == peak && h->element[0].sum < peak->most)
                h->element[0].sum = peak->most;
    peak->most = peak->now;
    handle->element[0].sum = value;
}

/* ---- Handles */

struct weft_pvar_handle *weft_pvar_find(struct weft_pvar_session *session, MPI_T_pvar_handle handle)
{
    struct weft_pvar_handle *h = session->handles;
    while (h && (MPI_T_pvar_handle)h != handle)
        h = h->next;
    return h;
}

/* The communicator that a variable of ranks is bound to. Returns a code of MPI_T. */
static int bound_comm(const void *object, struct weft_comm **comm)
{
    MPI_Comm handle;
    if (weft_entry_flags & WEFT_ENTRY_CLOSED)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    if (!object)
        return MPI_T_ERR_INVALID;
    memcpy(&handle, object, sizeof handle);
    *comm = handle == NULL ? NULL : weft_comm_resolve(handle);
    return *comm ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int weft_pvar_make(struct weft_pvar_session *session, int index, const void *object,
                   MPI_T_pvar_handle *out, int *count)
{
    const struct weft_pvar_row *row = &weft_pvar_table[index];
    struct weft_comm *comm = NULL;
    if (row->all && weft_settings.counters != WEFT_COUNTERS_ALL)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    if (weft_pvar_of_ranks(row)) {
        int code = bound_comm(object, &comm);
        if (code)
            return code;
    }
    int n = comm ? comm->size : 1;
    struct weft_pvar_handle *handle =
        calloc(1, sizeof *handle + (size_t)n * sizeof handle->element[0]);
    if (!handle)
        return MPI_T_ERR_MEMORY;
    handle->row = row;
    handle->count = n;
    for (int i = 0; comm && i < n; i++)
        handle->element[i].world = weft_comm_world_of(comm, i);
    if (row->class == MPI_T_PVAR_CLASS_HIGHWATERMARK)
        set_watermark(handle, row->peak->now);
    handle->next = session->handles;
    session->handles = handle;
    *out = (MPI_T_pvar_handle)handle;
    *count = n;
    return MPI_SUCCESS;
}

void weft_pvar_free(struct weft_pvar_session *session, struct weft_pvar_handle *handle)
{
    weft_assert(session->handles && weft_pvar_find(session, (MPI_T_pvar_handle)handle));
    struct weft_pvar_handle **link = &session->handles;
    while (*link != handle)
        link = &(*link)->next;
    *link = handle->next;
    free(handle);
}

void weft_pvar_each(struct weft_pvar_session *session, int (*call)(struct weft_pvar_handle *))
{
    for (struct weft_pvar_handle *h = session->handles; h; h = h->next)
        call(h);
}

int weft_pvar_start(struct weft_pvar_handle *handle)
{
    if (!weft_pvar_sums(handle->row))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    if (handle->frozen)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    for (int i = 0; !handle->started && i < handle->count; i++)
        handle->element[i].base = weft_pvar_raw(handle->row, handle->element[i].world);
    handle->started = true;
    return MPI_SUCCESS;
}

/* Adds the growth since base to sum, and sets base to the current value. Returns sum. */
static uint64_t update_sum(struct weft_pvar_handle *handle, struct element *element)
{
    if (!handle->started)
        return element->sum;
    weft_assert(!handle->frozen && weft_pvar_sums(handle->row));
    uint64_t now = weft_pvar_raw(handle->row, element->world);
    if (now > element->base) /* the counts of a process of another job go with its connection */
        element->sum += now - element->base;
    element->base = now;
    return element->sum;
}

int weft_pvar_stop(struct weft_pvar_handle *handle)
{
    if (!weft_pvar_sums(handle->row))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    for (int i = 0; i < handle->count; i++)
        update_sum(handle, &handle->element[i]);
    handle->started = false;
    return MPI_SUCCESS;
}

int weft_pvar_reset(struct weft_pvar_handle *handle)
{
    if (!weft_pvar_resets(handle->row))
        return MPI_T_ERR_PVAR_NO_WRITE;
    if (!weft_pvar_sums(handle->row)) {
        set_watermark(handle, handle->row->peak->now);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < handle->count; i++) {
        update_sum(handle, &handle->element[i]);
        handle->element[i].sum = 0;
    }
    return MPI_SUCCESS;
}

/* Times and percentages are stored in billionths. */
static const double billion = 1e9;

/* Writes value i to a buffer of the variable's type. */
static void store(const struct weft_pvar_handle *handle, int i, uint64_t value, void *to)
{
    MPI_Datatype type = weft_pvar_type(handle->row);
    if (type == MPI_INT)
        ((int *)to)[i] = (int)value;
    else if (type == MPI_DOUBLE)
        ((double *)to)[i] = (double)value / billion;
    else
        ((unsigned long long *)to)[i] = value;
}

static uint64_t value_of(struct weft_pvar_handle *handle, struct element *element)
{
    if (weft_pvar_sums(handle->row))
        return update_sum(handle, element);
    if (handle->frozen)
        return 0;
    uint64_t now = weft_pvar_raw(handle->row, element->world);
    return handle->row->class == MPI_T_PVAR_CLASS_HIGHWATERMARK && element->sum > now ? element->sum
                                                                                      : now;
}

int weft_pvar_read(struct weft_pvar_handle *handle, void *to)
{
    for (int i = 0; i < handle->count; i++)
        store(handle, i, value_of(handle, &handle->element[i]), to);
    return MPI_SUCCESS;
}

int weft_pvar_read_and_reset(struct weft_pvar_handle *handle, void *to)
{
    if (!weft_pvar_resets(handle->row))
        return MPI_T_ERR_PVAR_NO_ATOMIC;
    for (int i = 0; i < handle->count; i++) {
        store(handle, i, value_of(handle, &handle->element[i]), to);
        handle->element[i].sum = 0;
    }
    if (!weft_pvar_sums(handle->row))
        set_watermark(handle, handle->row->peak->now);
    return MPI_SUCCESS;
}

int weft_pvar_write(struct weft_pvar_handle *handle, const void *from)
{
    bool fraction = weft_pvar_type(handle->row) == MPI_DOUBLE;
    if (!weft_pvar_resets(handle->row))
        return MPI_T_ERR_PVAR_NO_WRITE;
    for (int i = 0; i < handle->count; i++) {
        uint64_t value = fraction ? (uint64_t)(((const double *)from)[i] * billion)
                                  : ((const unsigned long long *)from)[i];
        if (weft_pvar_sums(handle->row)) {
            update_sum(handle, &handle->element[i]);
            handle->element[i].sum = value;
        } else {
            set_watermark(handle, value);
        }
    }
    return MPI_SUCCESS;
}

void weft_pvar_freeze(void)
{
    for (struct weft_pvar_session *s = sessions; s; s = s->next)
        for (struct weft_pvar_handle *h = s->handles; h; h = h->next)
            if (weft_pvar_of_ranks(h->row)) {
                weft_pvar_stop(h);
                h->frozen = true;
            }
}
