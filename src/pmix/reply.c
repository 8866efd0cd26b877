// SPDX-License-Identifier: BSD-3-Clause
/*
 * The reply to a nonblocking PMIx call, and the wait for it.
 *
 * Invariant: a reply is freed once: by the waiter if the callback came in time, else by the
 * callback. So a wait can time out although PMIx cannot cancel a call.
 */
#include "boot.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "pmix/pmix_internal.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds from a death to the end of a wait, in which PMIx can reply with a proper error. */
#define GRACE 2.0

struct weft_reply *weft_reply_new(void)
{
    struct weft_reply *reply = calloc(1, sizeof *reply);
    if (!reply)
        return NULL;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&reply->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&reply->lock, NULL);
    return reply;
}

void weft_reply_free(struct weft_reply *reply)
{
    if (!reply)
        return;
    pthread_cond_destroy(&reply->changed);
    pthread_mutex_destroy(&reply->lock);
    for (size_t i = 0; i < reply->how_count; i++)
        PMIX_INFO_DESTRUCT(&reply->how[i]);
    free(reply->bytes);
    free(reply);
}

/* Completes the reply with the lock held; frees it if the waiter has timed out. */
static void finish_reply(struct weft_reply *reply, pmix_status_t status)
{
    weft_assert(!reply->done);
    reply->status = status;
    reply->done = true;
    bool last = reply->abandoned;
    pthread_cond_signal(&reply->changed);
    pthread_mutex_unlock(&reply->lock);
    if (last)
        weft_reply_free(reply);
}

void weft_reply_done(pmix_status_t status, void *reply)
{
    struct weft_reply *r = reply;
    pthread_mutex_lock(&r->lock);
    finish_reply(r, status);
}

void weft_reply_value(pmix_status_t status, pmix_value_t *value, void *reply)
{
    struct weft_reply *r = reply;
    pthread_mutex_lock(&r->lock);
    if (status == PMIX_SUCCESS) {
        if (!value || value->type != PMIX_BYTE_OBJECT) {
            status = PMIX_ERR_TYPE_MISMATCH;
        } else if (value->data.bo.size > 0) {
            r->size = value->data.bo.size;
            r->bytes = malloc(r->size);
            if (r->bytes)
                memcpy(r->bytes, value->data.bo.bytes, r->size);
            else
                status = PMIX_ERR_NOMEM;
        }
    }
    finish_reply(r, status);
}

/* Waits with the lock held, for less than a second. */
static void nap(struct weft_reply *reply, double seconds)
{
    struct timespec until;
    weft_assert(seconds >= 0 && seconds < 1);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(seconds * 1e9);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&reply->changed, &reply->lock, &until);
}

/* One round of waiting. True if the reply is complete. */
static bool wait_a_little(struct weft_reply *reply, unsigned round, struct weft_meanwhile meanwhile)
{
    if (meanwhile.call)
        meanwhile.call(meanwhile.arg);
    if (meanwhile.often && round < WEFT_ROUNDS_BEFORE_NAP)
        sched_yield();
    pthread_mutex_lock(&reply->lock);
    if (!reply->done && (!meanwhile.often || round >= WEFT_ROUNDS_BEFORE_NAP))
        nap(reply, meanwhile.often ? WEFT_NAP_WITH_PROGRESS : WEFT_NAP_WITHOUT);
    bool done = reply->done;
    pthread_mutex_unlock(&reply->lock);
    return done;
}

/* Leaves the reply to the callback, and returns the reason, unless the callback has come meanwhile.
 */
static pmix_status_t abandon(struct weft_reply **reply, pmix_status_t reason)
{
    pthread_mutex_lock(&(*reply)->lock);
    weft_assert(!(*reply)->abandoned);
    bool done = (*reply)->done;
    (*reply)->abandoned = !done;
    pthread_mutex_unlock(&(*reply)->lock);
    if (done)
        return (*reply)->status;
    *reply = NULL;
    return reason;
}

void weft_reply_abandon(struct weft_reply *reply)
{
    struct weft_reply *left = reply;
    abandon(&left, PMIX_ERR_TIMEOUT);
    weft_reply_free(left);
}

pmix_status_t weft_reply_await(struct weft_reply **reply, int from, double deadline,
                               struct weft_meanwhile meanwhile)
{
    double failed_since = 0;

    for (unsigned round = 0; !wait_a_little(*reply, round, meanwhile);
         round += round < WEFT_ROUNDS_BEFORE_NAP) {
        bool dead = weft_boot_has_failed(from), lost = weft_failure_launcher_lost();
        if (!dead && !lost && deadline == 0)
            continue;
        double now = weft_seconds();
        if (deadline > 0 && now > deadline)
            return abandon(reply, PMIX_ERR_TIMEOUT);
        if (!dead && !lost)
            continue;
        if (failed_since == 0)
            failed_since = now;
        if (now > failed_since + GRACE)
            return abandon(reply, lost ? PMIX_ERR_LOST_CONNECTION : PMIX_ERR_PROC_TERM_WO_SYNC);
    }
    return (*reply)->status;
}
