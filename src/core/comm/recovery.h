// SPDX-License-Identifier: BSD-3-Clause
/*
 * Dead members of a communicator, as the program sees and acknowledges them.
 *
 * A communicator has acknowledged the first `acked` deaths of the record that the process keeps
 * (core/progress/failure.h). So the members of its failed group have one order at this process, in
 * which the acknowledged ones come first.
 *
 * Functions that return NULL have set the error sentence.
 */
#ifndef WEFT_RECOVERY_H
#define WEFT_RECOVERY_H

#include "core/comm/comm.h"

/* The members that this process has found dead, those of both groups of an inter-communicator, in
 * the order in which it found them. Looks for reports first. The caller holds all VCIs. NULL
 * without memory. */
struct weft_group *weft_comm_failed(const struct weft_comm *comm);

/* A dead member that is not acknowledged and may send on a channel of the communicator, or -1. */
int weft_comm_unacknowledged(const struct weft_channel *channel);

/* The acknowledged ones among them. NULL without memory. */
struct weft_group *weft_comm_acknowledged(const struct weft_comm *comm);

/* Looks for reports, and acknowledges the first `count` dead members, at most those that have been
 * found; what has been acknowledged stays so. Returns the number of acknowledged dead members. */
int weft_comm_acknowledge(struct weft_comm *comm, int count);

#endif
