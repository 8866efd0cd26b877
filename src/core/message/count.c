// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counters: see count.h.
 *
 * Invariant: messages of a dead rank are counted for the lane that it had.
 */
#include "core/message/count.h"

#include "core/base/settings.h"
#include "core/message/foreign.h"
#include "core/message/lane.h"
#include "core/base/clock.h"

#include <stdlib.h>

struct weft_counts weft_counts;
struct weft_count_rank *weft_count_ranks;

void weft_count_open(void)
{
    if (weft_settings.counters != WEFT_COUNTERS_ALL)
        return;
    weft_count_ranks = calloc((size_t)weft.job.size, sizeof *weft_count_ranks);
    if (!weft_count_ranks)
        weft_fatal(MPI_ERR_NO_MEM,
                   "no memory to count the messages of %d ranks; unset "
                   "WEFT_COUNTERS",
                   weft.job.size);
    weft.others |= WEFT_OTHERS_COUNT;
}

/* ---- With WEFT_COUNTERS=all */

void weft_count_send(const struct weft_request *request)
{
    int world = request->peer->world;
    weft_counts.bytes_sent[weft_lane_to(world)] += request->bytes;
    if (!weft_is_foreign(world))
        weft_count_ranks[world].bytes_sent += request->bytes;
}

void weft_count_receive(struct weft_request *request)
{
    weft_assert(weft_request_row(request)->receives);
    request->flags |= WEFT_REQUEST_OBSERVED;
}

void weft_count_received(const struct weft_request *request)
{
    if ((request->flags & WEFT_REQUEST_CANCELLED) || !weft_count_ranks ||
        (request->error && request->error != MPI_ERR_TRUNCATE))
        return;
    int world = weft_channel_world(request->channel, request->source);
    weft_counts.received[weft_lane_to(world)]++;
    weft_counts.bytes_received[weft_lane_to(world)] += request->bytes;
    if (weft_is_foreign(world))
        return;
    weft_count_ranks[world].received++;
    weft_count_ranks[world].bytes_received += request->bytes;
}

void weft_count_unexpected_of_rank(uint32_t context, int source)
{
    const struct weft_channel *channel = weft_channel_of(context, source, 0);
    if (channel && !weft_is_foreign(weft_channel_world(channel, source)))
        weft_count_ranks[weft_channel_world(channel, source)].unexpected_messages++;
}

void weft_count_waited(unsigned polls)
{
    static _Thread_local double
        last; /* seconds: time of this thread's last poll without an event */
    double now = weft_seconds();
    if (polls > 1)
        weft_counts.waited += (uint64_t)((now - last) * 1e9);
    last = now;
}
