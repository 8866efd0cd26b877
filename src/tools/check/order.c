// SPDX-License-Identifier: BSD-3-Clause
/*
 * The order of a run: see order.h.
 */
#include "tools/check/order.h"
#include "tools/check/changes.h"
#include "tools/check/channel.h"
#include "tools/check/deadlocks.h"
#include "tools/check/messages.h"
#include "tools/check/objects.h"
#include "tools/check/order_file.h"
#include "tools/check/order_persistent.h"
#include "tools/check/shuffle.h"
#include "tools/check/waits.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Values of an entry beside those that its call gives. */
enum { FAILED = INT_MIN, NOTHING };
/* Sources beside ranks. */
enum { UNKNOWN = INT_MIN, CANCELLED = INT_MIN + 1 };
enum { TABLE = 1024 };

/* A receive from any source that is not complete. */
struct open_receive {
    struct open_receive *next;
    const void *request;
    int64_t entry;
};

static struct {
    const char *record, *replay; /* names of files, or NULL */
    struct check_order_file written, read;
    int64_t at; /* the entry that is repeated next */
    int times;  /* of it that have been repeated */
    const struct weft_call
        *wild; /* the call had MPI_ANY_SOURCE when it began; shuffle.c names one */
    struct open_receive *table[TABLE];
} state = {.written.file = -1, .read.file = -1};

static struct check_pool receives = {.size = sizeof(struct open_receive)};

/* ---- The begin and the end of the job */

void check_order_read(void)
{
    state.record = getenv("WEFT_CHECK_RECORD");
    state.replay = getenv("WEFT_CHECK_REPLAY");
    check.repeats = state.replay != NULL;
}

static void open_file(const char *name, bool is_read)
{
    char path[4096];
    bool is_open = false;
    errno = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s.rank%d", name, check.rank) < (int)sizeof path)
        is_open = is_read ? check_order_file_open(&state.read, path, check.rank, check.size)
                          : check_order_file_make(&state.written, path, check.rank, check.size);
    if (is_open)
        return;
    fprintf(stderr,
            is_read && errno == 0
                ? "weft check: rank %d: %s is not a record of this rank, of as many ranks and of "
                  "this version of Weft; record the run again\n"
                : "weft check: rank %d: the record %s cannot be opened: %s\n",
            check.rank, path, strerror(errno));
    weft_next.Abort(MPI_COMM_WORLD, 1);
}

void check_order_begin_job(void)
{
    if (!state.record && !state.replay)
        return;
    check.has_order = true;
    check.kinds |= CHECK_MESSAGES; /* statuses, and waits by the source of a choice */
    check.kinds |= state.replay ? CHECK_DEADLOCKS : 0;
    if (check.several_threads) {
        if (check.rank == 0)
            fprintf(stderr, "weft check: no order is recorded or repeated with "
                            "MPI_THREAD_MULTIPLE\n");
        return;
    }
    if (state.replay)
        open_file(state.replay, true);
    if (state.record)
        open_file(state.record, false);
}

/* The name of a call in a file that another program may have written. */
static const char *name_of(const struct check_choice *choice)
{
    return choice->call <= WEFT_CALLS ? weft_functions[choice->call - 1].name : "an unknown call";
}

void check_order_finish(void)
{
    check_order_file_close(&state.written, true);
    if (state.read.file >= 0 && state.at < state.read.n)
        fprintf(stderr,
                "weft check: rank %d: the run differs from the recorded one in MPI_Finalize, where "
                "that has %s\n",
                check.rank, name_of(check_order_file_entry(&state.read, state.at)));
    check_order_file_close(&state.read, false);
}

/* ---- Which calls have a choice */

static int source_of(const struct weft_call *call)
{
    return weft_call_find(call, WEFT_PARAMETER_SOURCE, 0);
}

/* A receive or probe of a message of any source. */
static bool has_any_source(const struct weft_call *call)
{
    const int source = source_of(call);
    return source >= 0 && call->values[source].number == MPI_ANY_SOURCE;
}

/* The parameter of a result that is true or false; -1: the call has none, or is not recorded. */
static int flag_of(const struct weft_call *call)
{
    switch (call->function->plain) {
    case WEFT_CALL_Iprobe:
    case WEFT_CALL_Improbe:
    case WEFT_CALL_Test:
    case WEFT_CALL_Testall:
    case WEFT_CALL_Testany:
    case WEFT_CALL_Parrived:
    case WEFT_CALL_Request_get_status:
    case WEFT_CALL_Win_test:
        return weft_call_find(call, WEFT_PARAMETER_LOGICAL, 0);
    default:
        return -1;
    }
}

static bool is_some(const struct weft_call *call)
{
    const enum weft_call_number plain = call->function->plain;
    return plain == WEFT_CALL_Waitsome || plain == WEFT_CALL_Testsome;
}

static bool is_any(const struct weft_call *call)
{
    const enum weft_call_number plain = call->function->plain;
    return plain == WEFT_CALL_Waitany || plain == WEFT_CALL_Testany;
}

static bool is_start(const struct weft_call *call)
{
    return call->function->plain == WEFT_CALL_Start || call->function->plain == WEFT_CALL_Startall;
}

/* The number of requests that a call starts, and one of them. */
static int64_t starts_of(const struct weft_call *call)
{
    return is_start(call) ? weft_call_length(call, call->function->parameters - 1) : 0;
}

static const void *started(const struct weft_call *call, int64_t i)
{
    return weft_call_element(call, call->function->parameters - 1, i);
}

/* Beside a receive or probe with MPI_ANY_SOURCE. */
static bool has_choice(const struct weft_call *call)
{
    return flag_of(call) >= 0 || is_some(call) || is_any(call);
}

/* ---- Receives from any source that are not complete */

static struct open_receive **slot_of(const void *request)
{
    return &state.table[check_mix((uintptr_t)request, 0) % TABLE];
}

static void add_receive(const void *request, int64_t entry)
{
    struct open_receive *receive = check_pool_take(&receives), **slot = slot_of(request);
    *receive = (struct open_receive){*slot, request, entry};
    *slot = receive;
}

/* Removes a request; the index of its entry, -1: it has none. */
static int64_t take_receive(const void *request)
{
    struct open_receive **at = slot_of(request);
    while (*at && (*at)->request != request)
        at = &(*at)->next;
    struct open_receive *receive = *at;
    if (!receive)
        return -1;
    const int64_t entry = receive->entry;
    *at = receive->next;
    check_pool_give(&receives, receive);
    return entry;
}

static int source_in(const MPI_Status *status)
{
    int is_cancelled = 0;
    weft_next.Test_cancelled(status, &is_cancelled);
    return is_cancelled ? CANCELLED : status->MPI_SOURCE;
}

/* Completes the entries of the receives that a call has completed. */
static void record_sources(const struct weft_call *call)
{
    const struct check_changes *changes = call->state;
    const int status = weft_call_find(call, WEFT_PARAMETER_STATUS, 0);
    for (int64_t i = 0; changes && i < changes->n; i++) {
        const struct check_change *change = &changes->list[i];
        if (call->function->parameter[change->parameter].object != WEFT_OBJECT_REQUEST)
            continue;
        const int64_t at = status < 0 ? -1 : weft_call_status(call, change->element);
        const bool is_freed = call->function->plain == WEFT_CALL_Request_free;
        const int64_t entry = at >= 0 || is_freed ? take_receive(change->handle) : -1;
        if (entry >= 0 && at >= 0 && call->values[status].pointer)
            check_order_file_entry(&state.written, entry)->source =
                source_in((const MPI_Status *)call->values[status].pointer + at);
    }
}

/* ---- Recording */

static int64_t add_entry(const struct weft_call *call, int value, int source)
{
    const int64_t entry = check_order_file_add(
        &state.written, (struct check_choice){(int)call->function->plain + 1, value, source, 1});
    if (entry < 0)
        fprintf(stderr,
                "weft check: rank %d: the disk has no space for the record, which ends here: %s\n",
                check.rank, strerror(errno));
    return entry;
}

/* The indices follow their number. */
static void record_some(const struct weft_call *call, int n)
{
    const int index = weft_call_find(call, WEFT_PARAMETER_INDEX, 0);
    add_entry(call, n, 0);
    for (int i = 0; i < n && state.written.file >= 0; i++)
        add_entry(call, (int)weft_call_number(call, index, i), 0);
}

/* The call has found nothing, as often before. */
static void record_nothing(const struct weft_call *call)
{
    const int64_t n = state.written.n;
    struct check_choice *last = n ? check_order_file_entry(&state.written, n - 1) : NULL;
    if (last && last->call == (int)call->function->plain + 1 && last->value == NOTHING &&
        last->times < INT_MAX)
        last->times++;
    else
        add_entry(call, NOTHING, UNKNOWN);
}

static void record_choice(const struct weft_call *call)
{
    const int flag = flag_of(call), index = weft_call_find(call, WEFT_PARAMETER_INDEX, 0),
              status = weft_call_find(call, WEFT_PARAMETER_STATUS, 0);
    const int some = is_some(call) ? (int)weft_call_number(call, index - 1, 0) : 0;
    if (call->result != MPI_SUCCESS) {
        add_entry(call, FAILED, UNKNOWN);
    } else if (flag >= 0 ? !weft_call_number(call, flag, 0) : is_some(call) && some == 0) {
        record_nothing(call);
    } else if (is_some(call)) {
        record_some(call, some);
    } else if (is_any(call)) {
        add_entry(call, (int)weft_call_number(call, index, 0), UNKNOWN);
    } else if (state.wild != call) {
        add_entry(call, 1, UNKNOWN);
    } else if (check_made_request(call)) {
        const int64_t entry = add_entry(call, 1, UNKNOWN);
        if (entry >= 0)
            add_receive(check_made_request(call), entry);
    } else {
        const MPI_Status *of = call->values[status].pointer;
        add_entry(call, 1, of ? of->MPI_SOURCE : UNKNOWN);
    }
}

void check_order_end(struct weft_call *call)
{
    check_persistent_end(call);
    if (call->function->plain == WEFT_CALL_Recv_init && has_any_source(call) &&
        call->result == MPI_SUCCESS && (state.written.file >= 0 || state.read.file >= 0))
        check_persistent_add(call);
    if (state.written.file < 0)
        return;
    if (call->function->does & WEFT_DOES_COMPLETE)
        record_sources(call);
    if (call->function->plain == WEFT_CALL_Recv_init)
        return;
    if (has_choice(call) || state.wild == call)
        record_choice(call);
    for (int64_t i = 0; call->result == MPI_SUCCESS && i < starts_of(call); i++) {
        const void *request = started(call, i);
        const int64_t entry = check_persistent_is_wild(request) ? add_entry(call, 1, UNKNOWN) : -1;
        if (entry >= 0)
            add_receive(request, entry);
    }
}

/* ---- Repeating */

static void stop(const struct weft_call *call, const struct check_choice *choice)
{
    const struct check_location location = check_location_of(call);
    char here[256];
    check_location_print(&location, here, sizeof here);
    const bool is_end = !choice && !state.read.head->is_complete;
    fprintf(stderr,
            is_end ? "weft check: rank %d: the record ends before %s, where the recorded run was "
                     "ended\n"
                   : "weft check: rank %d: the run differs from the recorded one in %s, where that "
                     "has %s; it is not repeated any more\n",
            check.rank, here, choice ? name_of(choice) : "MPI_Finalize");
    check_order_file_close(&state.read, false);
}

/* The next entry if it is one of the call, and counts it as repeated; NULL: there is none. */
static const struct check_choice *next_choice(const struct weft_call *call)
{
    const struct check_choice *choice = check_order_file_entry(&state.read, state.at);
    if (state.at == state.read.n || choice->call != (int)call->function->plain + 1) {
        stop(call, state.at == state.read.n ? NULL : choice);
        return NULL;
    }
    if (++state.times >= choice->times) {
        state.at++;
        state.times = 0;
    }
    return choice;
}

static void await_request(struct weft_call *call, MPI_Request request)
{
    if (request != MPI_REQUEST_NULL && !check_objects_is_inactive(request) &&
        !check_objects_is_generalized(request))
        check_wait_for_request(call, request);
}

static void complete(struct weft_call *call, int64_t i, MPI_Status *status)
{
    MPI_Request *request = (MPI_Request *)call->values[1].pointer + i;
    await_request(call, *request);
    call->result = weft_next.Wait(request, status);
}

/* False: the recorded index is not one of the call, or was MPI_UNDEFINED. */
static bool complete_any(struct weft_call *call, int index)
{
    const union weft_value *v = call->values;
    if (index < 0 || index >= weft_call_number(call, 0, 0))
        return false;
    const int flag = flag_of(call);
    complete(call, index, v[weft_call_find(call, WEFT_PARAMETER_STATUS, 0)].pointer);
    *(int *)v[weft_call_find(call, WEFT_PARAMETER_INDEX, 0)].pointer = index;
    if (flag >= 0)
        *(int *)v[flag].pointer = 1;
    return true;
}

static bool complete_some(struct weft_call *call, int n)
{
    const union weft_value *v = call->values;
    MPI_Status *statuses = v[4].pointer;
    int *indices = v[3].pointer;
    if (n == MPI_UNDEFINED || n > weft_call_number(call, 0, 0))
        return false;
    call->result = MPI_SUCCESS;
    for (int i = 0; i < n && call->result == MPI_SUCCESS; i++) {
        const struct check_choice *choice = next_choice(call);
        if (!choice || choice->value < 0 || choice->value >= weft_call_number(call, 0, 0))
            return false;
        indices[i] = choice->value;
        complete(call, choice->value, statuses ? &statuses[i] : MPI_STATUS_IGNORE);
    }
    *(int *)v[2].pointer = n;
    return true;
}

static bool find_nothing(struct weft_call *call)
{
    const union weft_value *v = call->values;
    const int flag = flag_of(call);
    if (flag >= 0)
        *(int *)v[flag].pointer = 0;
    if (call->function->plain == WEFT_CALL_Testany)
        *(int *)v[2].pointer = MPI_UNDEFINED;
    if (is_some(call))
        *(int *)v[2].pointer = 0;
    call->result = MPI_SUCCESS;
    check_channel_poll();
    return true;
}

/* Makes the call once. */
static void make(struct weft_call *call, int source)
{
    const union weft_value *v = call->values;
    const bool has_source = has_any_source(call) && source >= 0;
    const int rank = has_source ? source : (int)v[0].number;
    switch (call->function->plain) {
    case WEFT_CALL_Iprobe:
        call->result =
            weft_next.Iprobe(rank, (int)v[1].number, v[2].pointer, v[3].pointer, v[4].pointer);
        break;
    case WEFT_CALL_Improbe:
        call->result = weft_next.Improbe(rank, (int)v[1].number, v[2].pointer, v[3].pointer,
                                         v[4].pointer, v[5].pointer);
        break;
    case WEFT_CALL_Test:
        call->result = weft_next.Test(v[0].pointer, v[1].pointer, v[2].pointer);
        break;
    case WEFT_CALL_Testall:
        call->result =
            weft_next.Testall((int)v[0].number, v[1].pointer, v[2].pointer, v[3].pointer);
        break;
    case WEFT_CALL_Parrived:
        call->result = weft_next.Parrived(v[0].pointer, (int)v[1].number, v[2].pointer);
        break;
    case WEFT_CALL_Request_get_status:
        call->result = weft_next.Request_get_status(v[0].pointer, v[1].pointer, v[2].pointer);
        break;
    default:
        weft_assert(call->function->plain == WEFT_CALL_Win_test);
        call->result = weft_next.Win_test(v[0].pointer, v[1].pointer);
    }
}

/* The same call of another source, for those who ask what it waits for. */
struct narrowed {
    struct weft_call call;
    union weft_value values[8];
};

static struct weft_call *narrow(struct narrowed *narrowed, const struct weft_call *call, int source)
{
    const size_t n = (size_t)call->function->parameters;
    if (!has_any_source(call) || source < 0 ||
        n > sizeof narrowed->values / sizeof(union weft_value))
        source = UNKNOWN;
    narrowed->call = *call;
    if (source == UNKNOWN)
        return &narrowed->call;
    memcpy(narrowed->values, call->values, n * sizeof *narrowed->values);
    narrowed->values[source_of(call)].number = source;
    narrowed->call.values = narrowed->values;
    return &narrowed->call;
}

/* Makes a call that found something until it does. */
static bool find(struct weft_call *call, int source)
{
    const int *flag = call->values[flag_of(call)].pointer;
    struct narrowed narrowed;
    for (int round = 0;; round++) {
        make(call, source);
        if (call->result != MPI_SUCCESS || *flag)
            break;
        check_wait_again(narrow(&narrowed, call, source), round);
    }
    check_deadlocks_leave();
    return true;
}

/* A receive that was cancelled must not take a message now: it is posted where none comes. */
static bool post_cancelled(struct weft_call *call)
{
    const union weft_value *v = call->values;
    if (call->function->plain != WEFT_CALL_Irecv)
        return false;
    call->result = weft_next.Irecv_c(v[0].pointer, v[1].number, v[2].pointer, check.rank,
                                     CHECK_TAG_NEVER_SENT, check.channel, v[6].pointer);
    return true;
}

static bool receive_from(struct weft_call *call, int source)
{
    if (source == CANCELLED)
        return post_cancelled(call);
    if (source < 0)
        return false;
    const union weft_value *v = call->values;
    if (call->function->does & WEFT_DOES_PROBE) {
        struct narrowed narrowed;
        int flag = 0;
        for (int round = 0; !flag; round++) {
            check_wait_again(narrow(&narrowed, call, source), round);
            if (weft_next.Iprobe(source, (int)v[1].number, v[2].pointer, &flag,
                                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
                break;
        }
        check_deadlocks_leave();
    }
    return check_shuffle_source(call, source);
}

/* Starts the requests one by one: those from any source by their entries. */
static bool start_all(struct weft_call *call)
{
    bool has_wild = false;
    for (int64_t i = 0; i < starts_of(call) && !has_wild; i++)
        has_wild = check_persistent_is_wild(started(call, i));
    if (!has_wild)
        return false;
    call->result = MPI_SUCCESS;
    for (int64_t i = 0; i < starts_of(call) && call->result == MPI_SUCCESS; i++) {
        MPI_Request request = (MPI_Request)started(call, i);
        const struct check_choice *choice = NULL;
        if (check_persistent_is_wild(request) && state.read.file >= 0)
            choice = next_choice(call);
        if (choice && choice->source >= 0)
            check_messages_start_with(request, choice->source);
        if (choice && (choice->source >= 0 || choice->source == CANCELLED))
            call->result = check_persistent_start(request, choice->source);
        else
            call->result = weft_next.Start(&request);
    }
    return true;
}

bool check_order_begin(struct weft_call *call)
{
    check_persistent_begin(call);
    state.wild = state.written.file >= 0 && has_any_source(call) ? call : NULL;
    if (state.read.file >= 0 && is_start(call))
        return start_all(call);
    if (state.read.file < 0 || call->function->plain == WEFT_CALL_Recv_init ||
        (!has_choice(call) && !has_any_source(call)))
        return check_persistent_query(call);
    const struct check_choice *choice = next_choice(call);
    if (!choice || choice->value == FAILED)
        return false;
    if (choice->value == NOTHING)
        return find_nothing(call);
    if (is_some(call))
        return complete_some(call, choice->value);
    if (is_any(call))
        return complete_any(call, choice->value);
    if (flag_of(call) >= 0)
        return find(call, choice->source);
    return receive_from(call, choice->source);
}
