// SPDX-License-Identifier: BSD-3-Clause
/*
 * The time line as a file: see timeline.c.
 */
#ifndef WEFT_PROFILE_TIMELINE_H
#define WEFT_PROFILE_TIMELINE_H

#include "tools/profile/shared.h"

/* The begin of the file, and its end. */
void profile_timeline_put_head(FILE *file);
void profile_timeline_put_foot(FILE *file);

/* The events of a rank. base: the time of 0, on the clock of rank 0; first: earlier events are left
 * out. */
void profile_timeline_put_rank(FILE *file, const struct profile_shared *rank, double base,
                               double first);

#endif
