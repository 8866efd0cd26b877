// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packed copies of sections that nonblocking and persistent collectives use (section.h). A Fortran
 * procedure that completes the request writes the result to its section; one that starts it again
 * reads the section again.
 *
 * Invariants:
 *  - The list has at most one entry for an INTEGER of a request. A new request with the INTEGER of
 *    an entry shows that C completed the old one, whose copy is then dropped.
 *  - An active entry is written to its section once. A nonblocking call's entry is active from the
 *    beginning, a persistent one's between its start and its completion.
 */
#include "fortran/section.h"

#include <pthread.h>
#include <string.h>

struct kept {
    int request;
    bool persistent, active;
    struct weft_fortran_section in, out; /* each with a descriptor of its own, or without a copy */
    struct kept *next;
};

_Atomic int weft_fortran_kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all;

/* Takes the copy of a section, with a descriptor: that which the compiler passed ends with the
 * call.
 */
static struct weft_fortran_section own(struct weft_fortran_section *section)
{
    struct weft_fortran_section mine = {0};
    if (!section || !section->packed)
        return mine;
    weft_assert(section->of->rank >= 0 && section->of->rank <= CFI_MAX_RANK);
    mine = *section;
    size_t dimensions = (size_t)section->of->rank * sizeof section->of->dim[0];
    CFI_cdesc_t *of = weft_fortran_allocate(1, sizeof *of + dimensions);
    memcpy(of, section->of, offsetof(CFI_cdesc_t, dim) + dimensions);
    mine.of = of;
    mine.made = false;
    section->packed = NULL;
    section->spans = NULL;
    return mine;
}

static void release_section(struct weft_fortran_section *section)
{
    if (!section->packed)
        return;
    weft_fortran_forget(section);
    free((void *)section->of);
}

static void remove_entry(struct kept **link)
{
    struct kept *entry = *link;
    weft_assert(weft_fortran_kept > 0);
    *link = entry->next;
    weft_fortran_kept--;
    release_section(&entry->in);
    release_section(&entry->out);
    free(entry);
}

void weft_fortran_keep(int request, bool persistent, struct weft_fortran_section *in,
                       struct weft_fortran_section *out)
{
    if (!(in && in->packed) && !(out && out->packed))
        return;
    struct kept *entry = weft_fortran_allocate(1, sizeof *entry);
    *entry = (struct kept){request, persistent, !persistent, own(in), own(out), NULL};
    pthread_mutex_lock(&lock);
    for (struct kept **link = &all; *link; link = &(*link)->next) {
        if ((*link)->request == request) {
            remove_entry(link);
            break;
        }
    }
    entry->next = all;
    all = entry;
    weft_fortran_kept++;
    if (weft_Request_of(request) == MPI_REQUEST_NULL) /* the call failed */
        remove_entry(&all);
    pthread_mutex_unlock(&lock);
}

static int index_of(int request, int n, const int *requests)
{
    int i = 0;
    while (i < n && requests[i] != request)
        i++;
    return i;
}

/* Writes the result to its section if the operation is complete; true if the entry has no more use.
 */
static bool settle(struct kept *entry, MPI_Request now)
{
    int complete = now == MPI_REQUEST_NULL;
    if (!complete && entry->active)
        PMPI_Request_get_status(now, &complete, MPI_STATUS_IGNORE);
    if (complete && entry->active) {
        weft_fortran_unpack(&entry->out);
        entry->active = false;
    }
    return now == MPI_REQUEST_NULL || (complete && !entry->persistent);
}

void weft_fortran_settle_kept(int n, const int *before, const MPI_Request *after)
{
    struct kept *entry;
    pthread_mutex_lock(&lock);
    for (struct kept **link = &all; (entry = *link);) {
        int i = index_of(entry->request, n, before);
        if (i < n && settle(entry, after ? after[i] : weft_Request_of(before[i])))
            remove_entry(link);
        else
            link = &entry->next;
    }
    pthread_mutex_unlock(&lock);
}

void weft_fortran_start_kept(int n, const int *requests)
{
    pthread_mutex_lock(&lock);
    for (struct kept *entry = all; entry; entry = entry->next) {
        if (index_of(entry->request, n, requests) == n || !entry->persistent || entry->active)
            continue; /* the C function refuses to start what is active */
        weft_fortran_gather(&entry->in);
        weft_fortran_gather(&entry->out);
        entry->active = true;
    }
    pthread_mutex_unlock(&lock);
}
