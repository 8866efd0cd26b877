// SPDX-License-Identifier: BSD-3-Clause
/*
 * Waiting before a call that waits: see waits.h.
 */
#include "tools/check/waits.h"
#include "core/base/clock.h"
#include "tools/check/comms.h"
#include "tools/check/deadlocks.h"
#include "tools/check/messages.h"

static const double record_seconds = 0.5; /* for the record of a message that is there */

/* A wait: what it is for is asked when it lasts. */
struct wait {
    struct weft_call *call;
    void (*add)(const struct wait *wait, struct check_wants *wants);
    MPI_Request send, receive; /* of a blocking call */
    int sent;                  /* the result of the send */
    int requests;              /* the parameter of a completing call */
    bool all;
    uint64_t comm, number; /* of a collective call */
    const int *ranks;      /* for which it waits */
    int n, rank;
};

/* ---- Rounds */

static void next_round(const struct wait *wait, int round)
{
    struct check_wants wants;
    check_channel_pause(round);
    if (round < CHECK_SPINS || !(check.kinds & CHECK_DEADLOCKS) || !check_deadlocks_is_due())
        return;
    wants.n = 0;
    wants.is_known = true;
    wants.any = wait->requests >= 0 && !wait->all;
    wait->add(wait, &wants);
    check_deadlocks_ask(wait->call, &wants);
}

static void await_records(const struct weft_call *call)
{
    check_deadlocks_leave();
    if (check_messages_are_matched(call))
        return;
    const double limit = weft_seconds() + record_seconds;
    for (int round = 0; !check_messages_are_matched(call); round++) {
        check_channel_pause(round);
        if (weft_seconds() < limit)
            continue;
        check_messages_stop(call);
        break;
    }
}

/* ---- Calls that complete requests */

/* True if the call would return. */
static bool may_return(const struct wait *wait)
{
    const int64_t n = weft_call_length(wait->call, wait->requests);
    bool is_any = false;
    for (int64_t i = 0; i < n; i++) {
        MPI_Request request = weft_call_element(wait->call, wait->requests, i);
        if (request == MPI_REQUEST_NULL)
            continue;
        bool ended = check_request_has_ended(request);
        if (ended != wait->all)
            return ended;
        is_any = true;
    }
    return wait->all || !is_any;
}

static void want_requests(const struct wait *wait, struct check_wants *wants)
{
    const int64_t n = weft_call_length(wait->call, wait->requests);
    for (int64_t i = 0; i < n; i++) {
        MPI_Request request = weft_call_element(wait->call, wait->requests, i);
        if (request != MPI_REQUEST_NULL && !check_request_has_ended(request))
            check_messages_want_request(request, wants);
    }
}

/* True if the real call will refuse its arguments: a result has no address. */
static bool is_refused(const struct weft_call *call)
{
    for (int i = 0; i < call->function->parameters; i++)
        if (call->function->parameter[i].pointer && !call->values[i].pointer &&
            call->function->parameter[i].kind != WEFT_KIND_STATUS)
            return true;
    return false;
}

static void await_requests(struct weft_call *call, bool all)
{
    struct wait wait = {.call = call, .add = want_requests, .all = all};
    while (call->function->parameter[wait.requests].object != WEFT_OBJECT_REQUEST)
        wait.requests++;
    if (is_refused(call))
        return;
    for (int round = 0; !may_return(&wait); round++)
        next_round(&wait, round);
    await_records(call);
}

/* ---- Probes */

static void want_probe(const struct wait *wait, struct check_wants *wants)
{
    check_messages_want_probe(wait->call, wants);
}

static void await_probe(struct weft_call *call)
{
    const struct wait wait = {.call = call, .add = want_probe, .requests = -1};
    MPI_Comm comm = weft_call_handle(call, WEFT_OBJECT_COMM);
    int flag = is_refused(call);
    for (int round = 0; !flag; round++) {
        next_round(&wait, round);
        if (weft_next.Iprobe((int)call->values[0].number, (int)call->values[1].number, comm, &flag,
                             MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
    }
    check_deadlocks_leave();
}

/* ---- Blocking sends and receives */

static void want_messages(const struct wait *wait, struct check_wants *wants)
{
    if (wait->send != MPI_REQUEST_NULL && !check_request_has_ended(wait->send))
        check_messages_want_send(wait->call, wants);
    if (wait->receive != MPI_REQUEST_NULL && !check_request_has_ended(wait->receive))
        check_messages_want_receive(wait->call, wants);
}

static bool have_ended(struct wait *wait)
{
    int flag = 1;
    if (wait->send != MPI_REQUEST_NULL)
        wait->sent = weft_next.Test(&wait->send, &flag, MPI_STATUS_IGNORE);
    return flag && (wait->receive == MPI_REQUEST_NULL || check_request_has_ended(wait->receive));
}

static void finish_messages(struct wait *wait, MPI_Status *status)
{
    for (int round = 0; !have_ended(wait); round++)
        next_round(wait, round);
    await_records(wait->call);
    if (wait->receive != MPI_REQUEST_NULL)
        wait->call->result = weft_next.Wait(&wait->receive, status);
    if (wait->call->result == MPI_SUCCESS)
        wait->call->result = wait->sent;
}

static struct wait messages_of(struct weft_call *call)
{
    return (struct wait){.call = call,
                         .add = want_messages,
                         .send = MPI_REQUEST_NULL,
                         .receive = MPI_REQUEST_NULL,
                         .requests = -1};
}

static void receive(struct weft_call *call)
{
    const union weft_value *v = call->values;
    struct wait wait = messages_of(call);
    call->result =
        weft_next.Irecv_c(v[0].pointer, (MPI_Count)v[1].number, v[2].pointer, (int)v[3].number,
                          (int)v[4].number, v[5].pointer, &wait.receive);
    if (call->result == MPI_SUCCESS)
        finish_messages(&wait, v[6].pointer);
}

static void send(struct weft_call *call)
{
    const union weft_value *v = call->values;
    struct wait wait = messages_of(call);
    __typeof__(weft_next.Isend_c) start = weft_next.Isend_c;
    if (call->function->plain == WEFT_CALL_Ssend)
        start = weft_next.Issend_c;
    else if (call->function->plain == WEFT_CALL_Rsend)
        start = weft_next.Irsend_c;
    call->result = start(v[0].pointer, (MPI_Count)v[1].number, v[2].pointer, (int)v[3].number,
                         (int)v[4].number, v[5].pointer, &wait.send);
    if (call->result == MPI_SUCCESS)
        finish_messages(&wait, MPI_STATUS_IGNORE);
}

static void exchange(struct weft_call *call)
{
    const union weft_value *v = call->values;
    struct wait wait = messages_of(call);
    call->result =
        weft_next.Irecv_c(v[5].pointer, (MPI_Count)v[6].number, v[7].pointer, (int)v[8].number,
                          (int)v[9].number, v[10].pointer, &wait.receive);
    if (call->result != MPI_SUCCESS)
        return;
    call->result = weft_next.Isend_c(v[0].pointer, (MPI_Count)v[1].number, v[2].pointer,
                                     (int)v[3].number, (int)v[4].number, v[10].pointer, &wait.send);
    if (call->result == MPI_SUCCESS) {
        finish_messages(&wait, v[11].pointer);
        return;
    }
    weft_next.Cancel(&wait.receive);
    weft_next.Wait(&wait.receive, MPI_STATUS_IGNORE);
}

/* ---- Collective calls */

static void want_ranks(const struct wait *wait, struct check_wants *wants)
{
    for (int i = 0; i < wait->n && wants->n < CHECK_WANTS_MAX; i++) {
        const int rank = wait->ranks[(wait->rank + 1 + i) % wait->n];
        if (rank != check.rank)
            wants->list[wants->n++] = (struct check_want){.kind = CHECK_WANT_COLLECTIVE,
                                                          .comm = wait->comm,
                                                          .number = wait->number,
                                                          .rank = rank};
    }
}

/* Waits until all ranks have made the call; true: the call was MPI_Barrier. */
static bool synchronize(struct weft_call *call)
{
    struct check_comm comm;
    MPI_Request request;
    if (!check_comm_copy(call, &comm) || weft_next.Ibarrier(comm.handle, &request) != MPI_SUCCESS)
        return false;
    const struct wait wait = {.call = call,
                              .add = want_ranks,
                              .requests = -1,
                              .comm = comm.key,
                              .number = comm.calls - 1,
                              .ranks = comm.world,
                              .n = comm.size,
                              .rank = comm.rank};
    for (int round = 0; !check_request_has_ended(request); round++)
        next_round(&wait, round);
    check_deadlocks_leave();
    call->result = weft_next.Wait(&request, MPI_STATUS_IGNORE);
    check_collectives_await();
    return call->function->plain == WEFT_CALL_Barrier;
}

/* A collective call in which a rank waits for some ranks only: for the root, for all at the root,
 * or for lower ranks. */
struct rooted {
    bool waits_at_root, waits_for_root; /* false, false: MPI_Scan */
    int root;                           /* the parameter */
};

/* False: not one of these calls. */
static bool describe_rooted(const struct weft_call *call, struct rooted *rooted)
{
    switch (call->function->plain) {
    case WEFT_CALL_Reduce:
        *rooted = (struct rooted){.waits_at_root = true, .root = 5};
        return true;
    case WEFT_CALL_Gather:
        *rooted = (struct rooted){.waits_at_root = true, .root = 6};
        return true;
    case WEFT_CALL_Gatherv:
        *rooted = (struct rooted){.waits_at_root = true, .root = 7};
        return true;
    case WEFT_CALL_Bcast:
        *rooted = (struct rooted){.waits_for_root = true, .root = 3};
        return true;
    case WEFT_CALL_Scatter:
        *rooted = (struct rooted){.waits_for_root = true, .root = 6};
        return true;
    case WEFT_CALL_Scatterv:
        *rooted = (struct rooted){.waits_for_root = true, .root = 7};
        return true;
    case WEFT_CALL_Scan:
    case WEFT_CALL_Exscan:
        *rooted = (struct rooted){.root = -1};
        return true;
    default:
        return false;
    }
}

/* Starts the nonblocking form of the call. Arrays of counts have the width of the form. */
static int start_rooted(const struct weft_call *call, MPI_Request *request)
{
    const union weft_value *v = call->values;
    const bool is_large = call->function != &weft_functions[call->function->plain];
    switch (call->function->plain) {
    case WEFT_CALL_Reduce:
        return weft_next.Ireduce_c(v[0].pointer, v[1].pointer, (MPI_Count)v[2].number, v[3].pointer,
                                   v[4].pointer, (int)v[5].number, v[6].pointer, request);
    case WEFT_CALL_Gather:
        return weft_next.Igather_c(v[0].pointer, (MPI_Count)v[1].number, v[2].pointer, v[3].pointer,
                                   (MPI_Count)v[4].number, v[5].pointer, (int)v[6].number,
                                   v[7].pointer, request);
    case WEFT_CALL_Scatter:
        return weft_next.Iscatter_c(v[0].pointer, (MPI_Count)v[1].number, v[2].pointer,
                                    v[3].pointer, (MPI_Count)v[4].number, v[5].pointer,
                                    (int)v[6].number, v[7].pointer, request);
    case WEFT_CALL_Gatherv:
        return is_large
                   ? weft_next.Igatherv_c(v[0].pointer, (MPI_Count)v[1].number, v[2].pointer,
                                          v[3].pointer, v[4].pointer, v[5].pointer, v[6].pointer,
                                          (int)v[7].number, v[8].pointer, request)
                   : weft_next.Igatherv(v[0].pointer, (int)v[1].number, v[2].pointer, v[3].pointer,
                                        v[4].pointer, v[5].pointer, v[6].pointer, (int)v[7].number,
                                        v[8].pointer, request);
    case WEFT_CALL_Scatterv:
        return is_large
                   ? weft_next.Iscatterv_c(v[0].pointer, v[1].pointer, v[2].pointer, v[3].pointer,
                                           v[4].pointer, (MPI_Count)v[5].number, v[6].pointer,
                                           (int)v[7].number, v[8].pointer, request)
                   : weft_next.Iscatterv(v[0].pointer, v[1].pointer, v[2].pointer, v[3].pointer,
                                         v[4].pointer, (int)v[5].number, v[6].pointer,
                                         (int)v[7].number, v[8].pointer, request);
    case WEFT_CALL_Scan:
        return weft_next.Iscan_c(v[0].pointer, v[1].pointer, (MPI_Count)v[2].number, v[3].pointer,
                                 v[4].pointer, v[5].pointer, request);
    case WEFT_CALL_Exscan:
        return weft_next.Iexscan_c(v[0].pointer, v[1].pointer, (MPI_Count)v[2].number, v[3].pointer,
                                   v[4].pointer, v[5].pointer, request);
    default:
        return weft_next.Ibcast_c(v[0].pointer, (MPI_Count)v[1].number, v[2].pointer,
                                  (int)v[3].number, v[4].pointer, request);
    }
}

/* True: the call has been made. */
static bool wait_rooted(struct weft_call *call)
{
    struct check_comm comm;
    struct rooted rooted;
    MPI_Request request;
    if (!describe_rooted(call, &rooted) || !check_comm_copy(call, &comm))
        return false;
    const int64_t root = rooted.root < 0 ? 0 : call->values[rooted.root].number;
    if (root < 0 || root >= comm.size)
        return false;
    struct wait wait = {.call = call,
                        .add = want_ranks,
                        .requests = -1,
                        .comm = comm.key,
                        .number = comm.calls - 1,
                        .ranks = comm.world};
    if (rooted.waits_for_root && root != comm.rank) {
        wait.ranks = &comm.world[root];
        wait.n = 1;
    } else if (rooted.waits_at_root && root == comm.rank) {
        wait.n = comm.size;
        wait.rank = comm.rank;
    } else if (rooted.root < 0) {
        wait.n = comm.rank;
    }
    check_collectives_await();
    call->result = start_rooted(call, &request);
    if (call->result != MPI_SUCCESS)
        return true;
    for (int round = 0; !check_request_has_ended(request); round++)
        next_round(&wait, round);
    check_deadlocks_leave();
    call->result = weft_next.Wait(&request, MPI_STATUS_IGNORE);
    return true;
}

static bool wait_for_messages(struct weft_call *call)
{
    switch (call->function->plain) {
    case WEFT_CALL_Recv:
        receive(call);
        return true;
    case WEFT_CALL_Send:
    case WEFT_CALL_Ssend:
    case WEFT_CALL_Rsend:
        send(call);
        return true;
    case WEFT_CALL_Sendrecv:
        exchange(call);
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

static bool wait_for_ranks(struct weft_call *call)
{
    switch (call->function->plain) {
    case WEFT_CALL_Barrier:
    case WEFT_CALL_Allreduce:
    case WEFT_CALL_Allgather:
    case WEFT_CALL_Allgatherv:
    case WEFT_CALL_Alltoall:
    case WEFT_CALL_Alltoallv:
    case WEFT_CALL_Alltoallw:
    case WEFT_CALL_Reduce_scatter:
    case WEFT_CALL_Reduce_scatter_block:
    case WEFT_CALL_Comm_dup:
    case WEFT_CALL_Comm_split:
    case WEFT_CALL_Comm_create:
    case WEFT_CALL_Win_create:
    case WEFT_CALL_Win_allocate:
    case WEFT_CALL_File_open:
        return synchronize(call);
    default:
        return wait_rooted(call);
    }
}

bool check_wait(struct weft_call *call)
{
    if (check.several_threads || !(check.kinds & CHECK_FOLLOW)) {
        check_collectives_await();
        return false;
    }
    if (wait_for_messages(call))
        return true;
    if ((check.kinds & CHECK_DEADLOCKS) && wait_for_ranks(call))
        return true;
    check_collectives_await();
    return false;
}
