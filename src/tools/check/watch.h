// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that the library alone may change: buffers of receives that are not complete, of
 * nonblocking collective calls and of MPI_Get. The bytes are kept at the end of each call of MPI
 * and compared at the begin of the next one. What has changed in between, the program has changed.
 *
 * That is certain only where the library moves data inside of calls. So a process watches nothing
 * if a rank is on another node, where an adapter may write at any time, nor with a progress thread,
 * without shared memory (WEFT_SHM=0) or with MPI_THREAD_MULTIPLE.
 *
 * Invariants:
 *  - At most WATCHES_MAX buffers of WATCHED_BYTES are watched: others move long messages into the
 *    buffers of a rank, and the cost of a call is bounded.
 *  - Memory of windows is not watched, because other processes may write to it.
 */
#ifndef WEFT_CHECK_WATCH_H
#define WEFT_CHECK_WATCH_H

#include "tools/check/check.h"

extern int check_watches; /* buffers that are watched */

/* Collective. */
void check_watch_begin_job(void);

/* An operation with a serial number is in flight, and writes to bytes low to high - 1. */
void check_watch_add(uint64_t serial, uint64_t low, uint64_t high, const char *name,
                     const struct check_location *where, bool is_rma);
void check_watch_remove(uint64_t serial);

/* A call that the tool sees has completed the operation: reports what the program has changed. A
 * call by its name PMPI_ is not seen, and what the program does after it is right. */
void check_watch_finish(uint64_t serial);

/* At the begin and at the end of a call, if something is watched. */
void check_watch_compare(const struct weft_call *call);
void check_watch_keep(const struct weft_call *call);

#endif
