// SPDX-License-Identifier: BSD-3-Clause
/*
 * membarrier(), see membarrier.h.
 *
 * The kernel registers a process of one thread at once, and one of several threads after a grace
 * period of its RCU, 5 to 20 ms for each of the two. So MPI_Init registers before it joins the job,
 * because the PMIx library starts a thread.
 */
#include "core/base/membarrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    int command, registration;
} kinds[] = {
    [WEFT_MEMBARRIER_THREADS] = {MEMBARRIER_CMD_PRIVATE_EXPEDITED,
                                 MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED},
    [WEFT_MEMBARRIER_RANKS] = {MEMBARRIER_CMD_GLOBAL_EXPEDITED,
                               MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED},
};

static bool registered[sizeof kinds / sizeof kinds[0]];

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

void weft_membarrier_register(void)
{
    int commands = membarrier(MEMBARRIER_CMD_QUERY);
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!registered[i])
            registered[i] = commands > 0 && (commands & kinds[i].command) &&
                            membarrier(kinds[i].registration) == 0;
}

bool weft_membarrier_is_registered(enum weft_membarrier which)
{
    return registered[which];
}

bool weft_membarrier(enum weft_membarrier which)
{
    return registered[which] && membarrier(kinds[which].command) == 0;
}
