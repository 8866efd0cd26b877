// SPDX-License-Identifier: BSD-3-Clause
/*
 * A table of routes: see routes.h.
 */
#include "tools/profile/routes.h"
#include "core/base/assert.h"

struct profile_route profile_routes[PROFILE_ROUTES];
const struct profile_route *profile_route;

void profile_route_keep(const struct weft_call *call, const struct profile_plan *plan, int32_t peer,
                        struct profile_channel *channel)
{
    const void *comm = call->values[plan->comm].pointer;
    const int32_t rank = (int32_t)call->values[plan->rank].number;
    const int32_t tag = (int32_t)call->values[plan->tag].number;
    weft_assert(plan->routed && plan->end < PROFILE_ENDS && peer >= 0 && channel);
    *profile_route_slot(comm, rank, tag, plan->end) =
        (struct profile_route){comm, rank, tag, plan->end, peer, channel};
}

void profile_routes_forget(const void *comm)
{
    for (int i = 0; i < PROFILE_ROUTES; i++)
        if (profile_routes[i].comm == comm)
            profile_routes[i] = (struct profile_route){0};
}
