// SPDX-License-Identifier: BSD-3-Clause
/*
 * The node's hardware, as far as communicators are split by it: which instance of a resource this
 * process is bound to. The one file that uses hwloc is hardware.c.
 *
 * Invariant: the hardware is looked at once, at the first question; binding is asked for each time.
 */
#ifndef WEFT_HARDWARE_H
#define WEFT_HARDWARE_H

/* The types of resource inside a node, the largest first: "hwloc://Package". NULL past the last. */
const char *weft_hardware_type(int level);

/* The level of a type's name, or -1. */
int weft_hardware_level(const char *name);

/* The number of the instance that this process is bound to, or -1 when it may run on several. */
int weft_hardware_instance(int level);

/* The number, in the order of the hardware, of the first processing unit that this process is bound
 * to; -1 when it may run on all of the node, or nobody knows. */
int weft_hardware_core(void);

#endif
