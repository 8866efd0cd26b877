// SPDX-License-Identifier: BSD-3-Clause
/*
 * The binding of a rank: its host, the hardware threads that it may run on, its network, and the
 * most memory that it has had.
 */
#include "tools/profile/profile.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* "0-3,8"; a list that is too long ends with an ellipsis. */
static void list_cpus(const cpu_set_t *set, char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        int first = i;
        if (!CPU_ISSET(i, set))
            continue;
        while (i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, set))
            i++;
        char range[32];
        int n = snprintf(range, sizeof range, first < i ? "%s%d-%d" : "%s%d", length ? "," : "",
                         first, i);
        if (length + (size_t)n + 4 > size) {
            memcpy(text + length, "...", 4);
            return;
        }
        memcpy(text + length, range, (size_t)n + 1);
        length += (size_t)n;
    }
}

void profile_binding_find(struct profile_binding *binding)
{
    cpu_set_t set;
    struct rusage usage;
    char network[MPI_MAX_INFO_VAL + 1];
    int flag = 0;
    *binding = (struct profile_binding){.n_cpus = 0};
    gethostname(binding->host, sizeof binding->host - 1);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        binding->n_cpus = CPU_COUNT(&set);
        list_cpus(&set, binding->cpus, sizeof binding->cpus);
    }
    if (weft_next.Info_get(MPI_INFO_ENV, "weft_network", MPI_MAX_INFO_VAL, network, &flag) == 0 &&
        flag)
        snprintf(binding->network, sizeof binding->network, "%.63s", network);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        binding->resident = (uint64_t)usage.ru_maxrss * 1024;
}
