// SPDX-License-Identifier: BSD-3-Clause
/*
 * Legal orders at random (--check=shuffle[,SEED]): a program that depends on the order of messages
 * or of completions fails more often, on any machine.
 *
 *   a receive or probe with MPI_ANY_SOURCE takes any of the messages that are there
 *   MPI_Waitany returns any of the operations that are complete
 *   MPI_Iprobe and MPI_Improbe may find nothing
 *   a call may begin late
 *
 * The choices follow from the seed and the rank. They repeat with the seed where the same messages
 * are there at the same calls.
 *
 * Invariants:
 *  - Each choice is one that MPI permits: a receive names a source only if MPI_Iprobe has found a
 *    message of it that matches.
 *  - Nothing is chosen with MPI_THREAD_MULTIPLE, where another thread may take that message.
 */
#ifndef WEFT_CHECK_SHUFFLE_H
#define WEFT_CHECK_SHUFFLE_H

#include "tools/check/check.h"

/* Collective: all ranks have the seed of rank 0, which prints it. */
void check_shuffle_begin_job(void);

/* After the begin of all modules. True: the call has been made, and call->result is set. */
bool check_shuffle(struct weft_call *call);

/* Makes the receive or probe with a source, where its own is MPI_ANY_SOURCE. False: it is made
 * later, by waits.c, with the source in the values of the call; or it is another call. */
bool check_shuffle_source(struct weft_call *call, int rank);

/* When MPI_Waitany would return. True: the call has been made. */
bool check_shuffle_completion(struct weft_call *call);

#endif
