// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives for the library's own use, and descriptions of collectives for reports.
 */
#include "core/coll/coll.h"

#include "core/coll/schedule.h"

#include <stdio.h>

static struct weft_blocks one(struct weft_elements elements)
{
    return (struct weft_blocks){.at = elements.at, .count = elements.count, .type = elements.type};
}

static int run(struct weft_comm *comm, enum weft_coll_kind kind, struct weft_elements in,
               struct weft_elements out, int root, const struct weft_op *op)
{
    struct weft_coll_args args = {
        .kind = kind, .comm = comm, .in = one(in), .out = one(out), .op = op, .root = root};
    return weft_coll_run(&args);
}

int weft_coll_barrier(struct weft_comm *comm)
{
    struct weft_elements nothing = weft_elements_of_bytes(NULL, 0);
    return run(comm, WEFT_COLL_BARRIER, nothing, nothing, 0, NULL);
}

int weft_coll_bcast(struct weft_comm *comm, struct weft_elements data, int root)
{
    return run(comm, WEFT_COLL_BCAST, data, data, root, NULL);
}

int weft_coll_allreduce(struct weft_comm *comm, struct weft_elements in, void *out,
                        const struct weft_op *op)
{
    return run(comm, WEFT_COLL_ALLREDUCE, in, (struct weft_elements){out, in.count, in.type}, 0,
               op);
}

int weft_coll_allgather(struct weft_comm *comm, struct weft_elements in, struct weft_elements out)
{
    return run(comm, WEFT_COLL_ALLGATHER, in, out, 0, NULL);
}

struct viewer {
    void (*see)(void *arg, const char *text);
    void *arg;
};

static void describe(void *arg, const struct weft_schedule *s)
{
    static const char *const actions[] = {[WEFT_STEP_SEND] = "send to",
                                          [WEFT_STEP_RECEIVE] = "receive from",
                                          [WEFT_STEP_COPY] = "copy at",
                                          [WEFT_STEP_COMBINE] = "reduction at"};
    const struct viewer *viewer = arg;
    char text[400];
    if (!s->count)
        return;
    const struct weft_step *step = &s->steps[s->done < s->count ? s->done : 0];
    const char *name =
        s->comm->name && *s->comm->name ? s->comm->name : "a communicator without a name";
    snprintf(text, sizeof text, "%s%s on %.100s (%s): waits in step %u of %u, %s rank %d",
             s->request ? s->persistent ? "persistent " : "nonblocking " : "",
             weft_coll_name(s->kind), name, weft_algorithm_name(s->algorithm), s->done + 1,
             s->count, actions[step->kind], step->peer);
    viewer->see(viewer->arg, text);
}

void weft_coll_each_active(void (*see)(void *arg, const char *text), void *arg)
{
    struct viewer viewer = {see, arg};
    weft_schedule_each_active(describe, &viewer);
}
