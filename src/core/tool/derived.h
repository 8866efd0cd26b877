// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counts that are derived from the state of the lanes, because the fast path counts nothing.
 */
#ifndef WEFT_DERIVED_H
#define WEFT_DERIVED_H

#include "core/message/count.h"
#include "core/message/lane.h"

/* Before the lanes close: adds the derived counts to weft_counts, and ends counting. */
void weft_count_close(void);

/* User messages sent to a peer on any lane, including those of collectives. */
uint64_t weft_count_sent_to(const struct weft_peer *peer);

/* User messages sent on the lane with a number, and received, as far as the lane counts them; and
 * those announced by an RTS that have matched and are being fetched. */
uint64_t weft_count_sent(unsigned lane);
uint64_t weft_count_arrived(unsigned lane);
uint64_t weft_count_fetching(unsigned lane);

/* A value of a lane, 0 while it is closed. */
uint64_t weft_count_lane_level(unsigned lane, enum weft_lane_level level);

/* Other ranks that this process is in contact with. */
uint64_t weft_count_peers(void);

#endif
