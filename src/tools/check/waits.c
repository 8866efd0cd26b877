// SPDX-License-Identifier: BSD-3-Clause
/*
 * Waiting before a call that waits: see waits.h.
 */
#include "tools/check/waits.h"
#include "tools/check/messages.h"

#include <sched.h>
#include <time.h>

enum { SPINS = 200 };                       /* polls before the processor is yielded */
static const double record_seconds = 0.002; /* for the record of a message that is there */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* One round of a wait. */
static void poll_round(int round)
{
    const struct timespec pause = {.tv_nsec = 20000};
    check_channel_poll();
    if (round > 2 * SPINS)
        nanosleep(&pause, NULL);
    else if (round > SPINS)
        sched_yield();
}

static void await_records(const struct weft_call *call)
{
    const double limit = now() + record_seconds;
    while (!check_messages_are_matched(call) && now() < limit)
        check_channel_poll();
}

static bool has_ended(MPI_Request request)
{
    int flag = 0;
    return weft_next.Request_get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

/* True if the call that completes requests would return. */
static bool may_return(const struct weft_call *call, int requests, bool all)
{
    const int64_t n = weft_call_length(call, requests);
    bool is_any = false;
    for (int64_t i = 0; i < n; i++) {
        MPI_Request request = weft_call_element(call, requests, i);
        if (request == MPI_REQUEST_NULL)
            continue;
        bool ended = has_ended(request);
        if (ended != all)
            return ended;
        is_any = true;
    }
    return all || !is_any;
}

static void await_requests(const struct weft_call *call, bool all)
{
    int requests = 0;
    while (call->function->parameter[requests].object != WEFT_OBJECT_REQUEST)
        requests++;
    if (!call->values[requests].pointer)
        return;
    for (int round = 0; !may_return(call, requests, all); round++)
        poll_round(round);
    await_records(call);
}

static void await_probe(const struct weft_call *call)
{
    MPI_Comm comm = weft_call_handle(call, WEFT_OBJECT_COMM);
    int flag = 0;
    for (int round = 0; !flag; round++) {
        poll_round(round);
        if (weft_next.Iprobe((int)call->values[0].number, (int)call->values[1].number, comm, &flag,
                             MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return;
    }
}

static void receive(struct weft_call *call)
{
    const union weft_value *v = call->values;
    MPI_Request request;
    call->result = weft_next.Irecv_c(v[0].pointer, (MPI_Count)v[1].number, v[2].pointer,
                                     (int)v[3].number, (int)v[4].number, v[5].pointer, &request);
    if (call->result != MPI_SUCCESS)
        return;
    for (int round = 0; !has_ended(request); round++)
        poll_round(round);
    await_records(call);
    call->result = weft_next.Wait(&request, v[6].pointer);
}

bool check_wait(struct weft_call *call)
{
    if (check.several_threads || !(check.kinds & CHECK_MESSAGES))
        return false;
    switch (call->function->plain) {
    case WEFT_CALL_Recv:
        receive(call);
        return true;
    case WEFT_CALL_Wait:
    case WEFT_CALL_Waitall:
        await_requests(call, true);
        return false;
    case WEFT_CALL_Waitany:
    case WEFT_CALL_Waitsome:
        await_requests(call, false);
        return false;
    case WEFT_CALL_Probe:
    case WEFT_CALL_Mprobe:
        await_probe(call);
        return false;
    default:
        return false;
    }
}
