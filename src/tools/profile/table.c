// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tables of threads. A thread takes a table at its first call and gives it back when it ends, with
 * what it counted; a later thread continues in it. If all are held, threads share the last one,
 * under a lock.
 */
#include "tools/profile/profile.h"
#include "core/base/assert.h"

#include <string.h>

pthread_mutex_t profile_shared_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
__thread struct profile_thread *profile_mine __attribute__((tls_model("initial-exec")));

/* The table that threads share. */
static struct profile_thread *last(void)
{
    return &profile.threads[PROFILE_THREADS];
}

static void give_back(void *arg)
{
    struct profile_thread *thread = arg;
    weft_assert(thread != last() && thread->used);
    pthread_mutex_lock(&lock);
    thread->used = false;
    profile_mine = NULL;
    pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
    pthread_key_create(&key, give_back);
}

struct profile_thread *profile_thread_take(void)
{
    struct profile_thread *thread = profile.threads;
    pthread_once(&once, make_key);
    pthread_mutex_lock(&lock);
    while (thread < last() && thread->used)
        thread++;
    int taken = (int)(thread - profile.threads) + 1;
    if (taken > profile.shared->taken) {
        profile_shared_reserve(thread, sizeof *thread);
        __atomic_store_n(&profile.shared->taken, taken, __ATOMIC_RELAXED);
    }
    if (taken > 1 && profile.multiple)
        __atomic_store_n(&profile.one_thread, false, __ATOMIC_RELAXED);
    thread->used = true;
    pthread_mutex_unlock(&lock);
    if (thread != last())
        pthread_setspecific(key, thread);
    return profile_mine = thread;
}

/* The slot of a site and function; if there is none, the free one for it. */
static struct profile_slot *search(struct profile_thread *thread, const void *site,
                                   uint32_t function)
{
    unsigned i = profile_slot_index(site, function);
    struct profile_slot *slot = &thread->slots[i];
    while (slot->site && (slot->site != site || slot->function != function))
        slot = &thread->slots[++i % PROFILE_SLOTS];
    return slot;
}

static struct profile_slot *find(struct profile_thread *thread, const void *site, uint32_t function)
{
    struct profile_slot *slot = search(thread, site, function);
    weft_assert(function < WEFT_CALLS && thread->n <= PROFILE_SLOTS_USED);
    if (slot->site)
        return slot;
    if (thread->n == PROFILE_SLOTS_USED) {
        slot = &thread->slots[PROFILE_SLOTS + function];
        if (!slot->calls)
            *slot = (struct profile_slot){
                .function = function, .least = UINT64_MAX, .least_bytes = UINT64_MAX};
        return slot;
    }
    thread->n++;
    *slot = (struct profile_slot){
        .site = site, .function = function, .least = UINT64_MAX, .least_bytes = UINT64_MAX};
    slot->through = weft_site_of(site) != site;
    return slot;
}

/* A front end may have arrays of a length that differs between calls in its frame. */
static bool has_array(const struct weft_function *f)
{
    for (int i = 0; i < f->parameters; i++)
        if (f->parameter[i].length != WEFT_LENGTH_ONE)
            return true;
    return false;
}

/* The slot of a call that comes through an MPI library. The frames between are of the same size at
 * each call, so the return address to the program is where the last unwinding found it; it is used
 * only if it is a call site of this function that unwinding has found before. */
static struct profile_slot *find_above(struct profile_thread *thread, struct profile_slot *slot,
                                       const struct weft_call *call)
{
    const char *frame = (const char *)call->values;
    const void *site = NULL;
    int32_t offset;
    if (slot->offset) {
        memcpy(&site, frame + slot->offset, sizeof site);
        struct profile_slot *known = site ? search(thread, site, slot->function) : slot;
        if (known->site == site && !known->through)
            return known;
    }
    site = weft_site_unwind(call->site, frame, &offset);
    if (!slot->offset && !has_array(call->function))
        slot->offset = offset;
    return find(thread, site, slot->function);
}

struct profile_slot *profile_slot_search(struct profile_thread *thread,
                                         const struct weft_call *call)
{
    uint32_t function = (uint32_t)(call->function - weft_functions);
    struct profile_slot *slot = find(thread, call->site, function);
    return slot->through ? find_above(thread, slot, call) : slot;
}
