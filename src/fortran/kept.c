// SPDX-License-Identifier: BSD-3-Clause
/*
 * Packed copies of sections that nonblocking and persistent collectives use (section.h). A Fortran
 * procedure that completes the request writes the result to its section; one that starts it again
 * reads the section again.
 *
 * Invariants:
 *  - The list has at most one entry for an INTEGER of a request. A call that may complete requests
 *    takes their entries out of the list, because another thread may get a new request with the
 *    INTEGER before that call returns. A new request with the INTEGER of an entry in the list so
 *    shows that C completed the old one, whose copy is then dropped.
 *  - An active entry is written to its section once. A nonblocking call's entry is active from the
 *    beginning, a persistent one's between its start and its completion.
 */
#include "fortran/section.h"

#include <pthread.h>
#include <string.h>

struct weft_kept {
    int request;
    bool persistent, active;
    struct weft_fortran_section in, out; /* each with a descriptor of its own, or without a copy */
    struct weft_kept *next;
};

_Atomic int weft_fortran_kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft_kept *all;

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

/* Frees an entry that is in no list. */
static void free_entry(struct weft_kept *entry)
{
    weft_assert(weft_fortran_kept > 0);
    weft_fortran_kept--;
    release_section(&entry->in);
    release_section(&entry->out);
    free(entry);
}

/* Moves an entry from one list to the front of another. */
static void move(struct weft_kept **from, struct weft_kept **to)
{
    struct weft_kept *entry = *from;
    *from = entry->next;
    entry->next = *to;
    *to = entry;
}

void weft_fortran_keep(int request, bool persistent, struct weft_fortran_section *in,
                       struct weft_fortran_section *out)
{
    if (!(in && in->packed) && !(out && out->packed))
        return;
    struct weft_kept *entry = weft_fortran_allocate(1, sizeof *entry), *old = NULL;
    *entry = (struct weft_kept){request, persistent, !persistent, own(in), own(out), NULL};
    weft_fortran_kept++;
    if (weft_Request_of(request) == MPI_REQUEST_NULL) { /* the call failed */
        free_entry(entry);
        return;
    }
    pthread_mutex_lock(&lock);
    for (struct weft_kept **link = &all; *link && !old; link = &(*link)->next)
        if ((*link)->request == request) {
            move(link, &old);
            break;
        }
    entry->next = all;
    all = entry;
    pthread_mutex_unlock(&lock);
    if (old)
        free_entry(old);
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
static bool settle(struct weft_kept *entry, MPI_Request now)
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

struct weft_kept *weft_fortran_take_kept(int n, const int *requests)
{
    struct weft_kept *taken = NULL;
    pthread_mutex_lock(&lock);
    for (struct weft_kept **link = &all; *link;)
        if (index_of((*link)->request, n, requests) < n)
            move(link, &taken);
        else
            link = &(*link)->next;
    pthread_mutex_unlock(&lock);
    return taken;
}

void weft_fortran_settle_kept(struct weft_kept *taken, int n, const int *before,
                              const MPI_Request *after)
{
    struct weft_kept *done = NULL;
    for (struct weft_kept **link = &taken; *link;) {
        int i = index_of((*link)->request, n, before);
        weft_assert(i < n);
        if (settle(*link, after ? after[i] : weft_Request_of(before[i])))
            move(link, &done);
        else
            link = &(*link)->next;
    }
    pthread_mutex_lock(&lock);
    while (taken)
        move(&taken, &all);
    pthread_mutex_unlock(&lock);
    while (done) {
        struct weft_kept *entry = done;
        done = entry->next;
        free_entry(entry);
    }
}

void weft_fortran_start_kept(int n, const int *requests)
{
    pthread_mutex_lock(&lock);
    for (struct weft_kept *entry = all; entry; entry = entry->next) {
        if (index_of(entry->request, n, requests) == n || !entry->persistent || entry->active)
            continue; /* the C function refuses to start what is active */
        weft_fortran_gather(&entry->in);
        weft_fortran_gather(&entry->out);
        entry->active = true;
    }
    pthread_mutex_unlock(&lock);
}
