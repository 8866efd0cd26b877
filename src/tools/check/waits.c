// SPDX-License-Identifier: BSD-3-Clause
/*
 * Waiting before a call that waits: see waits.h.
 */
#include "tools/check/waits.h"
#include "core/base/clock.h"
#include "tools/check/comms.h"
#include "tools/check/deadlocks.h"
#include "tools/check/gathering.h"
#include "tools/check/messages.h"
#include "tools/check/objects.h"
#include "tools/check/shuffle.h"
#include "tools/check/windows.h"

static const double record_seconds = 0.5; /* for the record of a message that is there */
static const double post_seconds = 5, lock_seconds = 5;
static const double differ_seconds = 2; /* for the proof that calls that differ wait */

/* A wait: what it is for is asked when it lasts. */
struct wait {
    struct weft_call *call;
    void (*add)(const struct wait *wait, struct check_wants *wants);
    MPI_Request send, receive; /* of a blocking call */
    int sent;                  /* the result of the send */
    int requests;              /* the parameter of a completing call */
    bool all;
    struct check_gathering gathering;
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

/* ---- Calls in error: the real call is made, so that its error has its name */

/* A null pointer where the elements of a predefined datatype would be. */
static bool is_null_data(const struct weft_call *call, int i)
{
    const struct weft_parameter *parameter = &call->function->parameter[i];
    return !call->values[i].pointer && parameter->about[0] >= 0 &&
           weft_call_number(call, parameter->about[0], 0) > 0 &&
           weft_object_is_predefined(weft_call_element(call, parameter->about[1], 0));
}

static bool is_null_handle(const void *handle)
{
    return !handle || handle == MPI_COMM_NULL || handle == MPI_DATATYPE_NULL;
}

static bool is_rank(const struct weft_call *call, int64_t number)
{
    struct check_comm comm;
    return number == MPI_PROC_NULL || !check_comm_copy(call, &comm) ||
           (number >= 0 && number < comm.size);
}

/* True if the library will refuse an argument. */
static bool is_refused_argument(const struct weft_call *call, int i)
{
    const struct weft_parameter *parameter = &call->function->parameter[i];
    const int64_t number = call->values[i].number;
    switch (parameter->kind) {
    case WEFT_PARAMETER_DATA:
        return is_null_data(call, i);
    case WEFT_PARAMETER_HANDLE:
        return parameter->pointer ? !call->values[i].pointer
                                  : is_null_handle(call->values[i].pointer);
    case WEFT_PARAMETER_RANK:
        return !is_rank(call, number);
    case WEFT_PARAMETER_SOURCE:
        return number != MPI_ANY_SOURCE && !is_rank(call, number);
    case WEFT_PARAMETER_TAG:
        return number < 0 && number != MPI_ANY_TAG;
    case WEFT_PARAMETER_COUNT:
        return !parameter->pointer && number < 0;
    case WEFT_PARAMETER_STATUS:
        return false;
    default: /* a result without an address */
        return parameter->pointer && !call->values[i].pointer;
    }
}

static bool is_refused(const struct weft_call *call)
{
    for (int i = 0; i < call->function->parameters; i++)
        if (is_refused_argument(call, i))
            return true;
    return false;
}

/* ---- Calls that complete requests */

/* True if the call would return. */
static bool may_return(const struct wait *wait)
{
    const int64_t n = weft_call_length(wait->call, wait->requests);
    bool is_any = false;
    for (int64_t i = 0; i < n; i++) {
        MPI_Request request = weft_call_element(wait->call, wait->requests, i);
        if (request == MPI_REQUEST_NULL || check_objects_is_inactive(request))
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
        if (request != MPI_REQUEST_NULL && !check_objects_is_inactive(request) &&
            !check_request_has_ended(request))
            check_messages_want_request(request, wants);
    }
}

/* The library would call the program for the state of such a request: nothing is asked. */
static bool has_generalized(const struct wait *wait)
{
    const int64_t n = weft_call_length(wait->call, wait->requests);
    for (int64_t i = 0; i < n; i++)
        if (check_objects_is_generalized(weft_call_element(wait->call, wait->requests, i)))
            return true;
    return false;
}

static void await_requests(struct weft_call *call, bool all)
{
    struct wait wait = {.call = call, .add = want_requests, .all = all};
    while (call->function->parameter[wait.requests].object != WEFT_OBJECT_REQUEST)
        wait.requests++;
    if (is_refused(call) || has_generalized(&wait))
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

/* True: the call is in error, which has been reported. */
static bool await_probe(struct weft_call *call)
{
    const struct wait wait = {.call = call, .add = want_probe, .requests = -1};
    MPI_Comm comm = weft_call_handle(call, WEFT_OBJECT_COMM);
    int flag = is_refused(call);
    for (int round = 0; !flag; round++) {
        next_round(&wait, round);
        call->result = weft_next.Iprobe((int)call->values[0].number, (int)call->values[1].number,
                                        comm, &flag, MPI_STATUS_IGNORE);
        if (call->result != MPI_SUCCESS)
            break;
    }
    check_deadlocks_leave();
    return !flag;
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
    if (wait->receive == MPI_REQUEST_NULL) {
        check_deadlocks_leave();
        wait->call->result = wait->sent;
        return;
    }
    await_records(wait->call);
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

/* The arguments of a call that is followed are in order. */
static bool is_made(struct weft_call *call, void (*make)(struct weft_call *call))
{
    if (!check_messages_are_followed(call) && is_refused(call))
        return false;
    make(call);
    return true;
}

bool check_wait_is_for_message(enum weft_call_number plain)
{
    return plain == WEFT_CALL_Recv || plain == WEFT_CALL_Send || plain == WEFT_CALL_Ssend ||
           plain == WEFT_CALL_Rsend;
}

void check_wait_for_message(struct weft_call *call)
{
    weft_assert(check_wait_is_for_message(call->function->plain));
    if (call->function->plain == WEFT_CALL_Recv)
        receive(call);
    else
        send(call);
}

/* ---- Windows */

static void want_complete(const struct wait *wait, struct check_wants *wants)
{
    check_windows_want_complete(weft_call_handle(wait->call, WEFT_OBJECT_WIN), wants);
}

/* MPI_Win_wait by MPI_Win_test; false: there is nothing to wait for, which the real call reports.
 */
static bool await_exposure(struct weft_call *call)
{
    const struct wait wait = {.call = call, .add = want_complete, .requests = -1};
    MPI_Win win = weft_call_handle(call, WEFT_OBJECT_WIN);
    struct check_wants wants = {.n = 0};
    int flag = 0;
    if (!check_windows_want_complete(win, &wants))
        return false;
    for (int round = 0; !flag; round++) {
        next_round(&wait, round);
        call->result = weft_next.Win_test(win, &flag);
        if (call->result != MPI_SUCCESS)
            break;
    }
    check_deadlocks_leave();
    return true;
}

static void want_posts(const struct wait *wait, struct check_wants *wants)
{
    check_windows_want_post(wait->call, wants);
}

/* MPI_Win_start waits for each MPI_Win_post. One by the name PMPI_Win_post has no record: after a
 * long wait the real calls wait. */
static void await_posts(struct weft_call *call)
{
    const struct wait wait = {.call = call, .add = want_posts, .requests = -1};
    const double late = weft_seconds() + record_seconds;
    struct check_wants wants = {.n = 0};
    for (int round = 0; check_windows_lack_posts(call) && weft_seconds() < late; round++)
        check_channel_pause(round);
    for (int round = 0; check_windows_want_post(call, &wants); round++) {
        next_round(&wait, round);
        wants.n = 0;
        if (weft_seconds() < late + post_seconds)
            continue;
        check_windows_leave_posts(call);
        break;
    }
    check_deadlocks_leave();
}

static void want_unlock(const struct wait *wait, struct check_wants *wants)
{
    check_windows_want_unlock(wait->call, wants);
}

/* A word may not become free although the lock does: its process has died, or called
 * PMPI_Win_unlock, or others take it again and again. After a long wait the real calls wait. */
static void await_lock(struct weft_call *call)
{
    const struct wait wait = {.call = call, .add = want_unlock, .requests = -1};
    double limit = 0;
    for (int round = 0; !check_windows_take_word(call); round++) {
        next_round(&wait, round);
        limit = round == 0 ? weft_seconds() + lock_seconds : limit;
        if (weft_seconds() < limit)
            continue;
        check_windows_leave_word(call);
        break;
    }
    check_deadlocks_leave();
}

/* ---- Calls that are repeated (order.h) */

static void want_one(const struct wait *wait, struct check_wants *wants)
{
    if (!check_request_has_ended(wait->receive))
        check_messages_want_request(wait->receive, wants);
}

void check_wait_for_request(struct weft_call *call, MPI_Request request)
{
    const struct wait wait = {.call = call, .add = want_one, .receive = request, .requests = -1};
    for (int round = 0; !check_request_has_ended(request); round++)
        next_round(&wait, round);
    check_deadlocks_leave();
}

static void want_nothing(const struct wait *wait, struct check_wants *wants)
{
    (void)wait;
    wants->is_known = false;
}

void check_wait_again(struct weft_call *call, int round)
{
    struct wait wait = {.call = call, .add = want_nothing, .requests = -1};
    switch (call->function->plain) {
    case WEFT_CALL_Probe:
    case WEFT_CALL_Mprobe:
    case WEFT_CALL_Iprobe:
    case WEFT_CALL_Improbe:
        wait.add = want_probe;
        break;
    case WEFT_CALL_Test:
    case WEFT_CALL_Testall:
        wait.add = want_requests;
        wait.all = true;
        wait.requests = call->function->plain == WEFT_CALL_Testall;
        break;
    default:
        break;
    }
    next_round(&wait, round);
}

/* ---- Collective calls */

static void want_ranks(const struct wait *wait, struct check_wants *wants)
{
    check_gathering_want(&wait->gathering, wait->call, wants);
}

static struct wait gathering_of(struct weft_call *call)
{
    return (struct wait){
        .call = call, .add = want_ranks, .requests = -1, .gathering = check_gathering_of(call)};
}

static void finish_collective(const struct wait *wait, MPI_Request *request)
{
    for (int round = 0; !check_request_has_ended(*request); round++)
        next_round(wait, round);
    check_deadlocks_leave();
    wait->call->result = weft_next.Wait(request, MPI_STATUS_IGNORE);
}

/* Waits until all ranks have called a function without a nonblocking form. Calls that differ would
 * wait where no records are received. */
static void synchronize(struct weft_call *call, MPI_Comm comm)
{
    const struct wait wait = gathering_of(call);
    const uint64_t shape = wait.gathering.shape;
    uint64_t both[2] = {shape, ~shape};
    MPI_Request request;
    if (weft_next.Iallreduce(MPI_IN_PLACE, both, 2, MPI_UINT64_T, MPI_MAX, comm, &request) !=
        MPI_SUCCESS)
        return;
    finish_collective(&wait, &request);
    const double limit = weft_seconds() + differ_seconds;
    for (int round = 0; both[0] != ~both[1] && weft_seconds() < limit; round++)
        next_round(&wait, round);
    check_deadlocks_leave();
}

/* True: the call has been made. */
static bool wait_for_ranks(struct weft_call *call)
{
    struct check_comm comm;
    MPI_Request request;
    const bool has_form = check_gathering_has_form(call->function);
    if ((!has_form && !check_gathering_synchronizes(call)) || !check_comm_copy(call, &comm))
        return false;
    if (!has_form) {
        synchronize(call, comm.sync);
        return false;
    }
    const struct wait wait = gathering_of(call);
    check_collectives_await();
    call->result = weft_call_start(call, &request);
    if (call->result == MPI_SUCCESS)
        finish_collective(&wait, &request);
    return true;
}

static bool wait_for_messages(struct weft_call *call)
{
    switch (call->function->plain) {
    case WEFT_CALL_Recv:
        return is_made(call, receive);
    case WEFT_CALL_Send:
    case WEFT_CALL_Ssend:
    case WEFT_CALL_Rsend:
        return is_made(call, send);
    case WEFT_CALL_Sendrecv:
        return is_made(call, exchange);
    case WEFT_CALL_Wait:
    case WEFT_CALL_Waitall:
        await_requests(call, true);
        return false;
    case WEFT_CALL_Waitany:
    case WEFT_CALL_Waitsome:
        await_requests(call, false);
        return call->function->plain == WEFT_CALL_Waitany && check_shuffle_completion(call);
    case WEFT_CALL_Probe:
    case WEFT_CALL_Mprobe:
        return await_probe(call);
    case WEFT_CALL_Win_wait:
        return await_exposure(call);
    case WEFT_CALL_Win_start:
        if (check.kinds & CHECK_DEADLOCKS)
            await_posts(call);
        return false;
    case WEFT_CALL_Win_lock:
        await_lock(call);
        return false;
    default:
        return false;
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
