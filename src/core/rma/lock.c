// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lock word of one rank's window (struct weft_win_control).
 *
 * Invariant: the word is 0 (free), a number of shared holders, or the exclusive holder's rank + 1
 * in its upper half.
 */
#include "core/message/count.h"
#include "core/rma/message.h"

static uint64_t held_by(int rank)
{
    return (uint64_t)((uint32_t)rank + 1) << 32;
}

bool weft_win_lock_try(struct weft_win_control *control, enum weft_win_lock type, int holder)
{
    uint64_t seen = atomic_load_explicit(&control->lock, memory_order_relaxed);
    if (type == WEFT_WIN_EXCLUSIVE)
        return !seen && atomic_compare_exchange_strong(&control->lock, &seen, held_by(holder));
    while (!(seen >> 32))
        if (atomic_compare_exchange_weak(&control->lock, &seen, seen + 1))
            return true;
    return false;
}

void weft_win_lock_release(struct weft_win_control *control, enum weft_win_lock type)
{
    if (type == WEFT_WIN_EXCLUSIVE)
        atomic_store(&control->lock, 0);
    else if (type == WEFT_WIN_SHARED)
        atomic_fetch_sub(&control->lock, 1);
}

int weft_win_lock_holder(const struct weft_win_control *control)
{
    return (int)(atomic_load_explicit(&control->lock, memory_order_relaxed) >> 32) - 1;
}

int weft_win_lock_dead_holder(const struct weft_win *win, int target)
{
    const struct weft_win_target *at = &win->targets[target];
    int holder = weft_win_lock_holder(at->control);
    if (!weft_counts.deaths)
        return -1;
    for (int i = 0; i < win->nmembers && holder < 0; i++)
        if (at->shared_by[i] && weft_rma_is_dead(win, win->members[i]))
            return win->members[i];
    return weft_rma_is_dead(win, holder) ? holder : -1;
}
