// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counts that are derived from the state of the lanes, because the fast path counts nothing.
 */
#ifndef WEFT_DERIVED_H
#define WEFT_DERIVED_H

#include "core/message/count.h"

/* Before the lanes close: adds the derived counts to weft_counts, and ends counting. */
void weft_count_close(void);

/* User messages sent to a peer on any lane, including those of collectives. */
uint64_t weft_count_sent_to(const struct weft_peer *peer);

/* User messages sent on a lane, and received through shared memory. */
uint64_t weft_count_sent(enum weft_lane lane);
uint64_t weft_count_shm_arrived(void);

/* Messages announced by an RTS that have matched and are being fetched. */
uint64_t weft_count_fetching(void);

/* Other ranks that this process is in contact with. */
uint64_t weft_count_peers(void);

#endif
