// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes: looking at messages that no receive has matched (MPI 5.0, 3.8).
 *
 * Arguments are resolved and checked; MPI_PROC_NULL never comes here.
 */
#ifndef WEFT_PROBE_H
#define WEFT_PROBE_H

#include "core/message/sw_match.h"

/* The message of MPI_MESSAGE_NO_PROC. */
extern struct weft_message weft_message_no_proc;

/* Makes MPI_MESSAGE_NO_PROC valid. Called once. */
void weft_probe_init(void);

/* The message that a receive with these arguments would take now, left where it is, or NULL. Makes
 * progress: a message that has arrived is found. */
struct weft_message *weft_probe_look(struct weft_channel *channel, int source, int tag);

/* MPI_SUCCESS, or MPIX_ERR_PROC_FAILED (its sentence is recorded) when the source is dead: then
 * there is no use in looking again for what a look did not find. */
int weft_probe_source(const struct weft_channel *channel, int source);

/* Waits for such a message. Returns MPI_SUCCESS, or MPIX_ERR_PROC_FAILED (its sentence is recorded)
 * when the source is dead and left none. */
int weft_probe_wait(struct weft_channel *channel, int source, int tag, struct weft_message **out);

/* Takes a message that one of the above returned: only weft_sw_receive_taken can receive it. */
void weft_probe_take(struct weft_channel *channel, struct weft_message *message);

/* Fills a status (or MPI_STATUS_IGNORE) from a message. */
void weft_probe_status(const struct weft_message *message, MPI_Status *status);

#endif
