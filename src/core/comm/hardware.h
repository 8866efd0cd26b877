// SPDX-License-Identifier: BSD-3-Clause
/*
 * The hardware of the node, for splitting and reordering communicators: which instance of a
 * resource this process is bound to. Only hardware.c uses hwloc.
 *
 * Invariant: the topology is loaded once, at the first call that needs an instance; the binding is
 * read at every call.
 */
#ifndef WEFT_HARDWARE_H
#define WEFT_HARDWARE_H

enum { WEFT_HARDWARE_LEVELS = 7 };

/* The name of a resource type inside a node, the largest first: "hwloc://Package". NULL after the
 * last level. */
const char *weft_hardware_type(int level);

/* The logical index of the instance that this process is bound to; -1 if bound to several. */
int weft_hardware_instance(int level);

/* A number by which the bound threads of a node are sorted: those with near numbers share a
 * package, and those of one core have the same. -1 if this thread may run anywhere. Read from
 * Linux, because hwloc opens its plug-ins for it: 10 to 100 ms of a first MPI_Cart_create. */
int weft_hardware_core(void);

#endif
