// SPDX-License-Identifier: BSD-3-Clause
/*
 * Failures: dead ranks, which the launcher or this process reports, and a lost connection to the
 * launcher.
 *
 * Invariant: each failure is in the list once, in the order of the reports. `unread` counts the
 * failures that weft_boot_next_failure has not returned, so that a check costs one load while there
 * is none. The event handlers run on PMIx's thread.
 */
#include "boot.h"
#include "core/base/assert.h"
#include "pmix/pmix_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of PMIx's ABI; no version's headers define all of them. */
enum { LOST_CONNECTION_TO_SERVER = -101 };
static pmix_status_t events[] = {
    PMIX_ERR_LOST_CONNECTION,
    LOST_CONNECTION_TO_SERVER,
    -7,   /* PMIX_ERR_PROC_ABORTED: weftrun */
    -8,   /* PMIX_ERR_PROC_REQUESTED_ABORT */
    -200, /* PMIX_ERR_PROC_TERM_WO_SYNC: ended without PMIx_Finalize */
    -400, /* PMIX_ERR_PROC_KILLED_BY_CMD */
    -402, /* PMIX_ERR_PROC_ABORTED_BY_SIG */
    -403, /* PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED */
    -404, /* PMIX_ERR_EXIT_NONZERO_TERM */
};

static struct {
    pthread_mutex_t lock; /* guards list, count, next */
    int *list;            /* ranks and WEFT_BOOT_LAUNCHER, size + 1 at most */
    int count, next;
    atomic_int unread;
    atomic_bool any, lost;
    atomic_bool *dead; /* by rank */
    int size, self;
    char nspace[PMIX_MAX_NSLEN + 1];
} failures = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Adds a failure to the list, unless it is known. */
static void report(int who)
{
    atomic_bool *known = who == WEFT_BOOT_LAUNCHER ? &failures.lost : &failures.dead[who];
    pthread_mutex_lock(&failures.lock);
    if (!atomic_exchange(known, true)) {
        weft_assert(failures.list && failures.count <= failures.size);
        failures.list[failures.count++] = who;
        if (who != WEFT_BOOT_LAUNCHER)
            atomic_store(&failures.any, true);
        atomic_fetch_add(&failures.unread, 1);
    }
    pthread_mutex_unlock(&failures.lock);
}

static void report_process(const pmix_proc_t *proc)
{
    if (strncmp(proc->nspace, failures.nspace, PMIX_MAX_NSLEN) == 0 &&
        proc->rank < (pmix_rank_t)failures.size && proc->rank != (pmix_rank_t)failures.self)
        report((int)proc->rank);
}

/* An event names the dead processes in PMIX_EVENT_AFFECTED_PROC, or in PMIX_EVENT_AFFECTED_PROCS,
 * or, without these, as its source: launchers differ. */
static void report_deaths(const pmix_proc_t *source, const pmix_info_t *info, size_t ninfo)
{
    bool named = false;
    for (size_t i = 0; i < ninfo; i++) {
        const pmix_value_t *v = &info[i].value;
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && v->type == PMIX_PROC) {
            report_process(v->data.proc);
            named = true;
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROCS) &&
                   v->type == PMIX_DATA_ARRAY && v->data.darray->type == PMIX_PROC) {
            const pmix_proc_t *procs = v->data.darray->array;
            for (size_t k = 0; k < v->data.darray->size; k++)
                report_process(&procs[k]);
            named = true;
        }
    }
    if (!named && source)
        report_process(source);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id, (void)results, (void)nresults;
    if (status == PMIX_ERR_LOST_CONNECTION || status == LOST_CONNECTION_TO_SERVER)
        report(WEFT_BOOT_LAUNCHER);
    else
        report_deaths(source, info, ninfo);
    if (cbfunc)
        cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

int weft_failure_open(int self, int size)
{
    weft_assert(!failures.list && !failures.count);
    failures.list = calloc((size_t)size + 1, sizeof *failures.list);
    failures.dead = calloc((size_t)size, sizeof *failures.dead);
    if (!failures.list || !failures.dead) {
        weft_failure_close();
        return -1;
    }
    failures.size = size;
    failures.self = self;
    return 0;
}

void weft_failure_listen(const char *nspace)
{
    snprintf(failures.nspace, sizeof failures.nspace, "%s", nspace);
    PMIx_Register_event_handler(events, sizeof events / sizeof *events, NULL, 0, on_event, NULL,
                                NULL);
}

void weft_failure_close(void)
{
    pthread_mutex_lock(&failures.lock);
    free(failures.list);
    free(failures.dead);
    failures.list = NULL;
    failures.dead = NULL;
    failures.count = failures.next = failures.size = 0;
    atomic_store(&failures.unread, 0);
    atomic_store(&failures.any, false);
    atomic_store(&failures.lost, false);
    pthread_mutex_unlock(&failures.lock);
}

void weft_boot_report_failure(int rank)
{
    if (failures.list && rank >= 0 && rank < failures.size && rank != failures.self)
        report(rank);
}

bool weft_boot_failure_at(int index, int *rank)
{
    pthread_mutex_lock(&failures.lock);
    bool any = index < failures.count;
    if (any)
        *rank = failures.list[index];
    pthread_mutex_unlock(&failures.lock);
    return any;
}

bool weft_boot_has_failed(int rank)
{
    if (!atomic_load_explicit(&failures.any, memory_order_acquire))
        return false;
    return rank == WEFT_BOOT_ANYBODY || (rank < failures.size && atomic_load(&failures.dead[rank]));
}

int weft_failure_lowest(void)
{
    for (int rank = 0; rank < failures.size; rank++)
        if (weft_boot_has_failed(rank))
            return rank;
    return -1;
}

bool weft_failure_launcher_lost(void)
{
    return atomic_load_explicit(&failures.lost, memory_order_acquire);
}

bool weft_boot_next_failure(int *rank)
{
    weft_spawn_reap();
    if (atomic_load_explicit(&failures.unread, memory_order_acquire) == 0)
        return false;
    pthread_mutex_lock(&failures.lock);
    bool any = failures.next < failures.count;
    weft_assert(failures.next <= failures.count && failures.count <= failures.size + 1);
    if (any) {
        *rank = failures.list[failures.next++];
        atomic_fetch_sub(&failures.unread, 1);
    }
    pthread_mutex_unlock(&failures.lock);
    return any;
}
