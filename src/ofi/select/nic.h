// SPDX-License-Identifier: BSD-3-Clause
/*
 * The NIC of a rank on a node that has several equal ones. A rank takes one of those that are
 * nearest to the NUMA nodes that it is bound to, and the ranks with the same nearest NICs take them
 * in turn, in the order of their PCI addresses, so that the numbers of ranks of two such NICs
 * differ by at most one.
 *
 * Invariant: the machine is read only below the directory of sysfs that is given, so that tests can
 * use invented machines.
 */
#ifndef WEFT_NIC_H
#define WEFT_NIC_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_SYSFS "/sys"

/* More NICs are left out. WEFT_NIC_BYTES: space for the reason of the choice. */
enum { WEFT_NIC_MAX = 64, WEFT_NIC_BYTES = 160 };

#define WEFT_NIC_NO_BUS UINT64_MAX

/* The PCI address 0000:3b:00.1 as a number. */
static inline uint64_t weft_nic_bus(unsigned domain, unsigned bus, unsigned device,
                                    unsigned function)
{
    return (uint64_t)domain << 24 | (uint64_t)bus << 16 | (uint64_t)device << 8 | function;
}

/* The rank that needs a NIC. */
struct weft_nic_rank {
    const char *sysfs, *job;    /* job: its name on this host */
    int local_rank, local_size; /* local_rank -1: unknown, and local_size is an upper bound */
    cpu_set_t cores;            /* that it may run on */
    bool takes_turn;            /* it will use the NIC, and calls weft_nic_end_turn later */
};

/* Makes the score on the rank's NIC the choice, scores[0], if the ranks of the node share
 * several NICs (weft_provider_score_nics), and writes the reason, else "". */
struct weft_settings;
struct weft_score;
void weft_nic_choose(const struct weft_settings *settings, const struct weft_nic_rank *rank,
                     struct weft_score *scores, size_t count, char reason[WEFT_NIC_BYTES]);

/* To be called when all ranks of the node have chosen. */
void weft_nic_end_turn(void);

#endif
