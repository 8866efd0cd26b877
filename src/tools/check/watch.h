// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that the library alone may change: buffers of receives that are not complete, of
 * nonblocking collective calls and of MPI_Get. The bytes are kept at the end of each call of MPI
 * and compared at the begin of the next one. What has changed in between, the program has changed.
 *
 * That is certain only where the library moves data inside of calls. So a process watches nothing
 * if a rank is on another node, where an adapter may write at any time, nor with ranks of another
 * job, with a progress thread, without shared memory (WEFT_SHM=0) or with MPI_THREAD_MULTIPLE.
 *
 * Invariants:
 *  - At most WATCHES_MAX ranges of CHECK_WATCHED bytes are watched, so that the cost of a call is
 *    bounded: both ends of a longer buffer, if its message is copied inside of a call. The sender
 *    may move a message beyond the eager limit at any time.
 *  - Memory of windows is not watched for operations, because other processes may write to it. A
 *    short window is watched as such: windows.c decides which changes are stores of this process.
 */
#ifndef WEFT_CHECK_WATCH_H
#define WEFT_CHECK_WATCH_H

#include "tools/check/check.h"

extern int check_watches; /* buffers that are watched */

enum { CHECK_WATCHED = 1024 };

/* Collective. */
void check_watch_begin_job(void);

/* There are ranks of another job: from now on nothing more is watched. */
void check_watch_stop(void);

/* An operation with a serial number is in flight, and writes to bytes low to high - 1. */
void check_watch_add(uint64_t serial, uint64_t low, uint64_t high, const char *name,
                     const struct check_location *where, bool is_rma);
void check_watch_remove(uint64_t serial);

/* The same for the memory of a window. */
void check_watch_add_window(uint64_t serial, uint64_t low, uint64_t high);
void check_watch_remove_window(uint64_t serial);

/* A call that the tool sees has completed the operation: reports what the program has changed. A
 * call by its name PMPI_ is not seen, and what the program does after it is right. */
void check_watch_finish(uint64_t serial);

/* At the begin and at the end of a call, if something is watched. */
void check_watch_compare(const struct weft_call *call);
void check_watch_keep(const struct weft_call *call);

#endif
