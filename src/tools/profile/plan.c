// SPDX-License-Identifier: BSD-3-Clause
/*
 * The messages of each function, from the kinds of its parameters: see plan.h.
 */
#include "tools/profile/plan.h"
#include "tools/profile/shared.h"

struct profile_plan profile_plans[WEFT_CALLS];

/* The communicator that a blocking call makes. */
static int16_t find_created(const struct weft_function *f)
{
    return f->does & WEFT_DOES_NONBLOCKING
               ? -1
               : weft_function_find_object(f, WEFT_OBJECT_COMM, WEFT_FLOWS_OUT);
}

static enum profile_step step_of(const struct weft_function *f, const struct profile_plan *plan)
{
    bool has_ends = plan->comm >= 0 && (plan->dest >= 0 || plan->source >= 0);
    switch (f->plain) {
    case WEFT_CALL_Probe:
    case WEFT_CALL_Mprobe:
    case WEFT_CALL_Improbe:
        return PROFILE_STEP_PROBE;
    case WEFT_CALL_Mrecv:
    case WEFT_CALL_Imrecv:
        return PROFILE_STEP_MATCHED;
    default:
        break;
    }
    if (plan->created >= 0)
        return PROFILE_STEP_CREATE;
    if (f->does & WEFT_DOES_START)
        return plan->request >= 0 ? PROFILE_STEP_START : PROFILE_STEP_NONE;
    if (f->does & WEFT_DOES_COMPLETE)
        return plan->request >= 0 && f->parameter[plan->request].flow == WEFT_FLOW_INOUT
                   ? PROFILE_STEP_COMPLETE
                   : PROFILE_STEP_NONE;
    if (!(f->does & (WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE)) || !has_ends)
        return plan->request >= 0 && f->parameter[plan->request].flow == WEFT_FLOW_OUT &&
                       f->does & WEFT_DOES_NONBLOCKING && !(f->does & WEFT_DOES_PERSISTENT)
                   ? PROFILE_STEP_OTHER
                   : PROFILE_STEP_NONE;
    return f->does & WEFT_DOES_PERSISTENT ? PROFILE_STEP_INIT : PROFILE_STEP_MESSAGE;
}

static bool makes_progress(const struct weft_function *f)
{
    const int only_starts = WEFT_DOES_LOCAL | WEFT_DOES_NONBLOCKING | WEFT_DOES_PERSISTENT |
                            WEFT_DOES_START | WEFT_DOES_RMA;
    bool readies = f->plain == WEFT_CALL_Pready || f->plain == WEFT_CALL_Pready_range ||
                   f->plain == WEFT_CALL_Pready_list;
    return f->plain == WEFT_CALL_Parrived || !(f->does & only_starts || readies);
}

static bool is_synchronous(const struct weft_function *f)
{
    return f->plain == WEFT_CALL_Ssend || f->plain == WEFT_CALL_Issend ||
           f->plain == WEFT_CALL_Ssend_init;
}

void profile_plans_begin(void)
{
    for (int i = 0; i < WEFT_CALLS; i++) {
        const struct weft_function *f = &weft_functions[i];
        struct profile_plan plan = {
            .dest = weft_function_find(f, WEFT_PARAMETER_RANK, WEFT_FLOWS_ALL, 0),
            .source = weft_function_find(f, WEFT_PARAMETER_SOURCE, WEFT_FLOWS_ALL, 0),
            .comm = weft_function_find_object(f, WEFT_OBJECT_COMM, WEFT_FLOWS_ALL),
            .request = weft_function_find_object(f, WEFT_OBJECT_REQUEST, WEFT_FLOWS_ALL),
            .message = weft_function_find_object(f, WEFT_OBJECT_MESSAGE, WEFT_FLOWS_ALL),
            .status = weft_function_find(f, WEFT_PARAMETER_STATUS, WEFT_FLOWS_ALL, 0),
            .created = find_created(f),
            .blocks = !(f->does & WEFT_DOES_NONBLOCKING),
            .progresses = makes_progress(f),
            .synchronous = is_synchronous(f),
            .partitioned = f->plain == WEFT_CALL_Psend_init || f->plain == WEFT_CALL_Precv_init};
        if (plan.partitioned && f->does & WEFT_DOES_RECEIVE) { /* its source may not be any */
            plan.source = plan.dest;
            plan.dest = -1;
        }
        plan.send_tag = weft_function_find(f, WEFT_PARAMETER_TAG, WEFT_FLOWS_ALL, plan.dest);
        plan.receive_tag = weft_function_find(f, WEFT_PARAMETER_TAG, WEFT_FLOWS_ALL, plan.source);
        plan.step = (uint8_t)step_of(f, &plan);
        plan.routed = plan.step == PROFILE_STEP_MESSAGE && (plan.dest < 0) != (plan.source < 0);
        plan.end = plan.dest >= 0 ? PROFILE_SENDER : PROFILE_RECEIVER;
        plan.rank = plan.dest >= 0 ? plan.dest : plan.source;
        plan.tag = plan.dest >= 0 ? plan.send_tag : plan.receive_tag;
        profile_plans[i] = plan;
    }
}
