// SPDX-License-Identifier: BSD-3-Clause
/*
 * The VCIs of the process; see vci.h.
 */
#include "core/message/vci.h"

#include "core/message/process.h"

struct weft_process weft = {.nvcis = 1, .vci_numbers = 1};
unsigned weft_entry_flags = WEFT_ENTRY_CLOSED;

static bool is_mine(unsigned i)
{
    return weft_lock_is_mine(&weft.vcis[i].lock);
}

/* VCI 0 is opened before the others: the lanes need it while they open. */
static unsigned opened;

void weft_vcis_open(unsigned count)
{
    weft_assert(count > 0 && count <= WEFT_VCIS_MAX);
    for (unsigned i = 0; i < count; i++) {
        struct weft_vci *vci = &weft.vcis[i];
        if (i >= opened) {
            weft_match_init(&vci->matcher);
            vci->coll.active_end = &vci->coll.active;
        }
        weft_lock_init(&vci->lock, i);
        vci->number = i;
    }
    opened = weft.nvcis = count;
}

void weft_vcis_close(void)
{
    for (unsigned i = 0; i < weft.nvcis; i++) {
        weft_match_close(&weft.vcis[i].matcher);
        weft_assert(!weft.vcis[i].waiting && !weft.vcis[i].transfers);
        weft.vcis[i].held = NULL;
    }
    opened = 0;
}

/* This thread has just taken all VCIs. */
static void end_deferred(void)
{
    weft_assert(weft_vcis_hold_all());
    if (weft_unlikely(__atomic_load_n(&weft.others, __ATOMIC_RELAXED) & WEFT_OTHERS_DEFERRED))
        weft_request_end_deferred();
}

void weft_vcis_enter(void)
{
    for (unsigned i = 0; i < weft.nvcis; i++)
        weft_lock_enter(&weft.vcis[i].lock);
    end_deferred();
}

void weft_vcis_leave(void)
{
    for (unsigned i = weft.nvcis; i-- > 0;)
        weft_lock_leave(&weft.vcis[i].lock);
}

bool weft_vcis_try(void)
{
    for (unsigned i = 0; i < weft.nvcis; i++)
        if (!weft_lock_try(&weft.vcis[i].lock)) {
            while (i-- > 0)
                weft_lock_leave(&weft.vcis[i].lock);
            return false;
        }
    end_deferred();
    return true;
}

unsigned weft_vcis_release(void)
{
    unsigned held = 0;
    for (unsigned i = 0; i < weft.nvcis; i++)
        if (is_mine(i)) {
            if (weft.vcis[i].lock.depth > 1)
                return 0;
            held |= 1U << i;
        }
    for (unsigned i = 0; i < weft.nvcis; i++)
        if (held & 1U << i)
            weft_lock_leave(&weft.vcis[i].lock);
    return held;
}

void weft_vcis_retake(unsigned held)
{
    for (unsigned i = 0; i < weft.nvcis; i++)
        if (held & 1U << i)
            weft_lock_enter(&weft.vcis[i].lock);
    if (held && weft_vcis_hold_all())
        end_deferred();
}

void weft_vcis_share(void)
{
    for (unsigned i = 0; i < weft.nvcis; i++) {
        struct weft_lock *lock = &weft.vcis[i].lock;
        if (!weft_lock_wanted(lock) || !is_mine(i))
            continue;
        uint32_t turns = atomic_load_explicit(&lock->turns, memory_order_relaxed);
        unsigned held = weft_vcis_release();
        if (!held)
            return;
        weft_lock_step_back(lock, turns);
        weft_vcis_retake(held);
        return;
    }
}

size_t weft_vcis_posted(void)
{
    size_t sum = 0;
    for (unsigned i = 0; i < weft.nvcis; i++)
        sum += weft_match_posted(&weft.vcis[i].matcher);
    return sum;
}

void weft_vcis_each_message(void (*see)(void *arg, struct weft_match_message *message), void *arg)
{
    for (unsigned i = 0; i < weft.nvcis; i++)
        weft_match_each_message(&weft.vcis[i].matcher, WEFT_MATCH_ALL_CONTEXTS, see, arg);
}
