// SPDX-License-Identifier: BSD-3-Clause
/*
 * The report of dead ranks; see failure.c.
 */
#ifndef WEFT_FAILURE_H
#define WEFT_FAILURE_H

#include "core/message/peer.h"

struct weft_channel;

/* Takes note of ranks that the launcher reported dead: every operation that needs one ends with
 * MPIX_ERR_PROC_FAILED. Returns the number of deaths. Ends the job when the launcher is gone, or a
 * host does not answer (check_hosts of core/message/lane.h). */
int weft_failure_check(void);

/* The processes found dead so far, in the order in which this process found them: world ranks, or
 * numbers of processes of other jobs. -1: a number that means another process by now, or none. */
int weft_failure_count(void);
int weft_failure_at(int index);
void weft_failure_forget_all(void); /* at the end of MPI */

/* Another process has found this one dead; weft_failure_check takes note of it. */
void weft_failure_add(int world);

/* The time in which a launcher's report follows the error of a provider, but on a busy host. */
enum { WEFT_FAILURE_REPORT_MS = 300 };

/* Waits at most so many milliseconds until a function that looks for a report returns true, without
 * progress. After a wait in vain the next second's calls do not wait. */
WEFT_COLD bool weft_failure_await(bool (*is_dead)(const void *arg), const void *arg, int ms);

/* True if the launcher reports a process (WEFT_BOOT_ANYBODY: any rank) as dead; for a caller whose
 * connection to it has failed. Waits for the report. */
WEFT_COLD bool weft_failure_confirm(int world);

/* For a call from any source on a channel: MPIX_ERR_PROC_FAILED, recorded, if a process that may
 * send to it is dead and the program has not acknowledged that; else MPI_SUCCESS. */
int weft_failure_report_unacknowledged(const struct weft_channel *channel);

/* The same for a receive from any source, pending, that has no message. Marks one that no call
 * waits for as stalled, and returns MPI_SUCCESS. */
int weft_failure_stall(struct weft_request *receive);

/* The error of a call that would wait for a stalled request: MPIX_ERR_PROC_FAILED_PENDING. */
WEFT_COLD int weft_failure_report_stalled(const struct weft_request *request);

/* The program has acknowledged deaths: the stalled receives go on whose communicator has no others.
 */
void weft_failure_resume(void);

/* Ends a receive without a message, or an operation that waits for its dead peer, with an error
 * whose sentence is recorded, unless a message has just matched. */
void weft_failure_end(struct weft_request *request, int code);

/* Ends a receive that has matched the announcement of a message whose data its dead peer has not
 * sent. For lanes. */
WEFT_COLD void weft_failure_end_fetch(struct weft_request *receive);

/* True of an error class that a death is the reason of. */
static inline bool weft_failure_is_death(int code)
{
    return code == MPIX_ERR_PROC_FAILED;
}

/* Records that a process is dead, for an operation that needs it: by its peer, or its number as in
 * groups. Returns MPIX_ERR_PROC_FAILED. */
WEFT_COLD int weft_failure_report(const struct weft_peer *peer);
WEFT_COLD int weft_failure_report_process(int world);

/* The connection with a process has failed for good, or cannot be made: if the launcher or the
 * monitor (lane.h) does not report the process dead, it counts as dead from now on, or the job ends
 * with that class and sentence, unless it goes on without dead ranks. */
__attribute__((format(printf, 3, 4))) WEFT_COLD void weft_failure_lost(int world, int code,
                                                                       const char *format, ...);

#endif
