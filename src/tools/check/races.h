// SPDX-License-Identifier: BSD-3-Clause
/*
 * Races of messages: a receive with MPI_ANY_SOURCE could have taken the message of another rank,
 * which a later receive has taken. That is legal, so it is reported only if asked for
 * (--check=races).
 *
 * The logs (buffering.h) are executed with a vector clock for each rank. The other message could
 * have come first if its send does not depend on the end of the receive. The result does not depend
 * on the order in which the messages have come.
 */
#ifndef WEFT_CHECK_RACES_H
#define WEFT_CHECK_RACES_H

#include "tools/check/buffering.h"

/* At rank 0. in_deadlock: messages that have not been received count, too. */
void check_races_find(const struct check_log *logs, bool in_deadlock);

#endif
