// SPDX-License-Identifier: BSD-3-Clause
/*
 * Between the files that make tags (tag.c), keep errors (fault.c), execute steps (engine.c) and
 * serve calls (call.c).
 */
#ifndef WEFT_ENGINE_H
#define WEFT_ENGINE_H

#include "core/coll/schedule.h"

/* ---- tag.c */

/* The tag of the next call on a communicator. */
int weft_coll_next_tag(struct weft_comm *comm, int kind, bool persistent);

/* Refuses the last call on a communicator, which has this tag (refusal.h). */
WEFT_COLD void weft_coll_refuse_tag(struct weft_comm *comm, int tag, int code);

/* The number of calls between that of a tag and the next one, which is counted. */
uint32_t weft_coll_age(const struct weft_comm *comm, int tag, uint32_t next);

/* The number of the call that has a tag, one of the last weft_coll_numbers(comm) calls. */
uint32_t weft_coll_number(const struct weft_comm *comm, int tag);

/* The number of the oldest call that is in the lists of active schedules; none: `next`. */
uint32_t weft_coll_oldest(const struct weft_comm *comm, uint32_t next);

/* A collective of this process has failed or was refused. */
void weft_coll_note_failure(void);

/* ---- fault.c */

/* False for the messages of a refusal, and for work of this rank alone. */
bool weft_schedule_is_collective(const struct weft_schedule *s);

/* Sends the other ranks the error of this one, once, which ends their calls if they wait: the ranks
 * of several jobs do not all learn of a death, and those of a schedule whose steps follow from its
 * messages would wait for messages that this rank does not send. */
WEFT_COLD void weft_schedule_report(struct weft_schedule *s);

/* ---- engine.c */

static inline bool weft_schedule_is_complete(const struct weft_schedule *s)
{
    return s->done == s->end;
}

/* Starts a schedule. It is in the list of active schedules unless it is complete. */
void weft_schedule_begin(struct weft_schedule *s);

/* Starts and completes steps until the schedule is complete, waits for a message (s->waits_for), or
 * has a call to repeat (s->waits_for: a request that is complete). If all started steps are
 * complete, the next step can start. Returns false if there was nothing but a call that waits. */
bool weft_schedule_advance(struct weft_schedule *s);

/* For each poll of a schedule that waits. */
void weft_schedule_note_waiting(struct weft_schedule *s);

#endif
