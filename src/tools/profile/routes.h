// SPDX-License-Identifier: BSD-3-Clause
/*
 * Routes: what is known of a send or receive by its communicator, rank and tag, so that the next
 * one with the same does not look it up again. One thread calls MPI.
 *
 * Invariant: the communicator of a route has been in a call that succeeded, and is not freed.
 */
#ifndef WEFT_PROFILE_ROUTES_H
#define WEFT_PROFILE_ROUTES_H

#include "tools/profile/plan.h"
#include "tools/profile/shared.h"

struct profile_channel; /* messages.h */

enum { PROFILE_ROUTES_BITS = 8, PROFILE_ROUTES = 1 << PROFILE_ROUTES_BITS }; /* 8 KiB */

struct profile_route {
    const void *comm; /* its handle; NULL: the route is free */
    int32_t rank, tag;
    uint8_t end; /* of this rank: enum profile_end */
    int32_t peer;
    struct profile_channel *channel;
};

extern struct profile_route profile_routes[PROFILE_ROUTES];

/* The route of the call that runs, if one thread calls MPI; NULL: it has none, or the route is not
 * known yet. */
extern const struct profile_route *profile_route;

static inline struct profile_route *profile_route_slot(const void *comm, int32_t rank, int32_t tag,
                                                       uint8_t end)
{
    const uint64_t hash = (uintptr_t)comm ^ (uint64_t)(uint32_t)rank << 20 ^
                          (uint64_t)(uint32_t)tag << 40 ^ (uint64_t)end << 63;
    return &profile_routes[hash * 0x9e3779b97f4a7c15U >> (64 - PROFILE_ROUTES_BITS)];
}

/* The route of a call with one end; NULL: it is not known. */
static inline const struct profile_route *profile_route_find(const struct weft_call *call,
                                                             const struct profile_plan *plan)
{
    const void *comm = call->values[plan->comm].pointer;
    const int32_t rank = (int32_t)call->values[plan->rank].number;
    const int32_t tag = (int32_t)call->values[plan->tag].number;
    const struct profile_route *route = profile_route_slot(comm, rank, tag, plan->end);
    return route->comm == comm && route->rank == rank && route->tag == tag &&
                   route->end == plan->end
               ? route
               : NULL;
}

/* Keeps the route of such a call, instead of another one. */
void profile_route_keep(const struct weft_call *call, const struct profile_plan *plan, int32_t peer,
                        struct profile_channel *channel);

/* The communicator is freed. */
void profile_routes_forget(const void *comm);

#endif
