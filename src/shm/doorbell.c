// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sleeping until a message comes, and waking who sleeps.
 *
 * A rank that sleeps sets its bell and looks once more; a rank that writes looks at the bell behind
 * it. Each must see what the other did, or the message is overlooked. A fence in the writer would
 * cost every message more than all the rest of it; so the sleeper, who has time, makes all
 * processors that run ranks pass a fence: membarrier(). Where the kernel has none, a sleep is short.
 *
 * Invariant: the bell is 1 from before the last look until the rank is awake, or a writer has
 * cleared it and is about to wake it.
 */
#include "shm/shm_internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { UNSURE_US = 500 }; /* the longest sleep of a rank that can be overlooked */

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

void weft_shm_open_sleep(void)
{
    int commands = membarrier(MEMBARRIER_CMD_QUERY);
    weft_shm.barrier = commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) &&
                       membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

void weft_shm_wake(_Atomic uint32_t *bell)
{
    if (atomic_exchange(bell, 0))
        syscall(SYS_futex, bell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void weft_shm_sleep(unsigned microseconds)
{
    _Atomic uint32_t *bell = &weft_shm_member(weft_shm.self)->bell;
    atomic_store(bell, 1);
    if ((!weft_shm.barrier || membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED)) &&
        microseconds > UNSURE_US)
        microseconds = UNSURE_US;
    struct timespec time = {.tv_sec = microseconds / 1000000,
                            .tv_nsec = (long)(microseconds % 1000000) * 1000};
    if (!weft_shm_has_mail())
        syscall(SYS_futex, bell, FUTEX_WAIT, 1, &time, NULL, 0);
    atomic_store(bell, 0);
}
