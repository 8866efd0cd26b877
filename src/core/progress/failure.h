// SPDX-License-Identifier: BSD-3-Clause
/*
 * The report of dead ranks; see failure.c.
 */
#ifndef WEFT_FAILURE_H
#define WEFT_FAILURE_H

#include "core/message/peer.h"

/* Takes note of ranks that the launcher reported dead: every operation that needs one ends with
 * MPI_ERR_PROC_ABORTED. Returns the number of deaths. Ends the job when the launcher is gone, or a
 * host does not answer (check_hosts of core/message/lane.h). */
int weft_failure_check(void);

/* True if the launcher reports a rank as dead; for a caller whose connection to it has failed
 * (NULL: the rank is unknown). The launcher's report can arrive later than the failure, so the
 * function waits for it for a moment, once for all operations that fail together. */
WEFT_COLD bool weft_failure_confirm(const struct weft_peer *peer);

/* Records that a rank is dead, for an operation that needs it. Returns MPI_ERR_PROC_ABORTED. */
WEFT_COLD int weft_failure_report(const struct weft_peer *peer);

#endif
