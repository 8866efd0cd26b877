// SPDX-License-Identifier: BSD-3-Clause
/*
 * The hardware of the node, for splitting and reordering communicators: which instance of a
 * resource this process is bound to. Only hardware.c uses hwloc.
 *
 * Invariant: the topology is loaded once, at the first call; the binding is read at every call.
 */
#ifndef WEFT_HARDWARE_H
#define WEFT_HARDWARE_H

/* The name of a resource type inside a node, the largest first: "hwloc://Package". NULL after the
 * last level. */
const char *weft_hardware_type(int level);

/* The level of a name, or -1. */
int weft_hardware_level(const char *name);

/* The logical index of the instance that this process is bound to; -1 if bound to several. */
int weft_hardware_instance(int level);

/* The logical index of the first processing unit that this thread is bound to; -1 if it is not
 * bound or the binding is unknown. */
int weft_hardware_core(void);

#endif
