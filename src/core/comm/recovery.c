// SPDX-License-Identifier: BSD-3-Clause
/*
 * Dead members of communicators: see recovery.h.
 */
#include "core/comm/recovery.h"

#include "core/progress/failure.h"
#include "core/progress/progress.h"

/* The members among the first `end` of the record. */
static struct weft_group *members_of_record(const struct weft_comm *comm, int end)
{
    int n = 0;
    for (int i = 0; i < end; i++)
        n += weft_comm_has_process(comm, weft_failure_at(i));
    struct weft_group *group = weft_group_make(n);
    if (!group)
        return NULL;
    n = 0;
    for (int i = 0; i < end; i++)
        if (weft_comm_has_process(comm, weft_failure_at(i)))
            group->table[n++] = weft_failure_at(i);
    return weft_group_seal(group);
}

struct weft_group *weft_comm_failed(const struct weft_comm *comm)
{
    weft_look(NULL); /* a program that polls for deaths answers others meanwhile */
    weft_failure_check();
    return members_of_record(comm, weft_failure_count());
}

struct weft_group *weft_comm_acknowledged(const struct weft_comm *comm)
{
    return members_of_record(comm, comm->acked);
}

int weft_comm_unacknowledged(const struct weft_channel *channel)
{
    const struct weft_comm *comm = channel->comm;
    for (int i = comm->acked; i < weft_failure_count(); i++) {
        int world = weft_failure_at(i);
        if (world >= 0 && weft_group_rank_of(comm->remote, world) >= 0)
            return world;
    }
    return -1;
}

int weft_comm_acknowledge(struct weft_comm *comm, int count)
{
    weft_failure_check();
    int acknowledged = 0, found = weft_failure_count();
    weft_assert(comm->acked <= found);
    for (int i = 0; i < comm->acked; i++)
        acknowledged += weft_comm_has_process(comm, weft_failure_at(i));
    for (; comm->acked < found && acknowledged < count; comm->acked++)
        acknowledged += weft_comm_has_process(comm, weft_failure_at(comm->acked));
    weft_failure_resume();
    return acknowledged;
}
