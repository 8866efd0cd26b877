// SPDX-License-Identifier: BSD-3-Clause
/*
 * The order of a run, recorded and repeated (weftrun --record FILE, --replay FILE).
 *
 * Each rank writes its choices to FILE.rank<N>, in the order of its calls:
 *
 *   a receive or probe with MPI_ANY_SOURCE   the source of the message; the start of a persistent
 *                                            receive, too (order_persistent.h)
 *   MPI_Test, MPI_Testall, MPI_Iprobe, MPI_Improbe, MPI_Win_test, MPI_Parrived,
 *   MPI_Request_get_status                   true or false; equal results are counted
 *   MPI_Waitany, MPI_Testany                 the index
 *   MPI_Waitsome, MPI_Testsome               the indices
 *
 * Between two processes messages do not overtake each other, so these choices determine which
 * receive takes which message. A rank that repeats them makes receives with the recorded source,
 * and waits where the recorded call has found something complete.
 *
 * The file is mapped, so that a rank that is killed leaves its choices.
 *
 * Invariants:
 *  - The entry of a nonblocking receive is made when it is posted, and has its source when it is
 *    complete.
 *  - Nothing is recorded with MPI_THREAD_MULTIPLE, where the order of two threads' calls differs
 *    between runs.
 *  - At the first call that is not the recorded one the rank reports both, and continues without.
 *  - A wait for a recorded result is followed like others (deadlocks.h): a message that does not
 *    come again, because the program is another one, ends the job with a sentence.
 */
#ifndef WEFT_CHECK_ORDER_H
#define WEFT_CHECK_ORDER_H

#include "tools/check/check.h"

/* Reads WEFT_CHECK_RECORD and WEFT_CHECK_REPLAY. */
void check_order_read(void);

/* MPI_Init has returned: opens the files. Ends the job if a file cannot be used. */
void check_order_begin_job(void);

/* After the begin of all modules. True: the call has been made, and call->result is set. */
bool check_order_begin(struct weft_call *call);

/* Before the end of all modules. */
void check_order_end(struct weft_call *call);

/* MPI_Finalize: closes the files. */
void check_order_finish(void);

#endif
