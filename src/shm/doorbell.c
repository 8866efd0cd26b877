// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sleeping until a message comes, and waking a sleeping rank.
 *
 * A rank that goes to sleep sets its doorbell and then polls its rings once more; a rank that
 * writes reads the doorbell after the write. One of both must see the other's store, or the message
 * is missed. A fence in the writer would cost each message more than the rest of the write; so the
 * sleeping rank makes all processors that run ranks execute a fence: membarrier(). If the kernel
 * has no membarrier(), sleeps are short. In a process with threads only the progress thread sleeps
 * here: it polls with the locks held, and releases them for the sleep.
 *
 * Invariant: the doorbell is 1 from before the last poll until the rank is awake, or a writer has
 * cleared it and is about to wake the rank.
 */
#include "shm/shm_internal.h"

#include "core/base/membarrier.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { UNSURE_US = 500 }; /* the longest sleep without membarrier() */

void weft_shm_wake(_Atomic uint32_t *doorbell)
{
    if (atomic_exchange(doorbell, 0))
        syscall(SYS_futex, doorbell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static _Atomic uint32_t *own_doorbell(void)
{
    return &weft_shm_member(weft_shm.self)->doorbell;
}

bool weft_shm_set_doorbell(void)
{
    atomic_store(own_doorbell(), 1);
    return weft_membarrier(WEFT_MEMBARRIER_RANKS);
}

void weft_shm_await_doorbell(unsigned microseconds)
{
    struct timespec time = {.tv_sec = microseconds / 1000000,
                            .tv_nsec = (long)(microseconds % 1000000) * 1000};
    if (microseconds > 0)
        syscall(SYS_futex, own_doorbell(), FUTEX_WAIT, 1, &time, NULL, 0);
    atomic_store(own_doorbell(), 0);
}

void weft_shm_wake_self(void)
{
    weft_shm_wake(own_doorbell());
}

void weft_shm_sleep(unsigned microseconds)
{
    if (!weft_shm_set_doorbell() && microseconds > UNSURE_US)
        microseconds = UNSURE_US;
    weft_shm_await_doorbell(weft_shm_has_arrivals() ? 0 : microseconds);
}
