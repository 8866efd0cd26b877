// SPDX-License-Identifier: BSD-3-Clause
/*
 * Records of messages that are alike. Most programs send the same kind of message again and again
 * from the same line, so a record that equals the last one of its slot is counted instead of sent.
 *
 * A slot is chosen by receiver, communicator and tag: MPI keeps the order of messages that have all
 * three in common, and their records are sent in that order, too. The count is sent as one record
 * before another record of the slot, before a record of another kind to the same rank, in a wait
 * that lasts, in MPI_Finalize, and when it has reached its limit.
 *
 * Invariants:
 *  - When a rank has replied to a question (deadlocks.h), all records of its messages
 *    have been sent.
 *  - Numbers of messages differ for one receiver; those that a record counts are consecutive.
 */
#ifndef WEFT_CHECK_REPEATS_H
#define WEFT_CHECK_REPEATS_H

#include "tools/check/channel.h"

enum { CHECK_SLOTS = 8, CHECK_REPEATS_MAX = 64 };

void check_repeats_begin(void);
void check_repeats_finish(void);

/* Sends or counts the record of a message, and sets its number. */
void check_repeats_send(int rank, struct check_record *record);

/* Sends the counts of the messages to a rank; -1: to all. */
void check_repeats_flush(int rank);

/* The slot of a message among those to its receiver. */
static inline int check_repeats_slot(uint64_t comm, int tag)
{
    return (int)((comm ^ (uint64_t)tag) * UINT64_C(0x9e3779b97f4a7c15) >> 61);
}

#endif
