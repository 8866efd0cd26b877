// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective calls as waits: see gathering.h.
 */
#include "tools/check/gathering.h"
#include "tools/check/deadlocks.h"

/* ---- Which ranks */

/* True for calls with a root in which the root waits, and not the others. */
static bool waits_at_root(enum weft_call_number plain)
{
    switch (plain) {
    case WEFT_CALL_Reduce:
    case WEFT_CALL_Ireduce:
    case WEFT_CALL_Gather:
    case WEFT_CALL_Igather:
    case WEFT_CALL_Gatherv:
    case WEFT_CALL_Igatherv:
        return true;
    default:
        return false;
    }
}

static bool is_scan(enum weft_call_number plain)
{
    return plain == WEFT_CALL_Scan || plain == WEFT_CALL_Iscan || plain == WEFT_CALL_Exscan ||
           plain == WEFT_CALL_Iexscan;
}

/* True if a number of elements is zero: the call may move no data. */
static bool is_empty(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    if (!check_gathering_has_form(function) && !(function->does & WEFT_DOES_NONBLOCKING))
        return false;
    for (int i = 0; i < function->parameters; i++)
        if (function->parameter[i].kind == WEFT_PARAMETER_COUNT &&
            function->parameter[i].length == WEFT_LENGTH_ONE && weft_call_number(call, i, 0) <= 0)
            return true;
    return false;
}

/* The number of elements from a rank, of calls that have one for each; else 1. */
static int64_t elements_from(const struct weft_call *call, int rank)
{
    const int counts = weft_function_find_name(call->function, "recvcounts");
    return counts < 0 || !call->values[counts].pointer ? 1 : weft_call_number(call, counts, rank);
}

struct check_gathering check_gathering_of(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    const int root = weft_function_find_name(function, "root");
    struct check_gathering gathering = {.kind = CHECK_WAITS_FOR_NONE, .call = function->plain};
    struct check_comm comm;
    const int nonblocking_file = WEFT_DOES_NONBLOCKING | WEFT_DOES_FILE;
    if (weft_function_is_neighbor(function) ||
        (function->does & nonblocking_file) == nonblocking_file || is_empty(call) ||
        !check_comm_copy(call, &comm))
        return gathering;
    gathering.comm = comm.key;
    gathering.number = comm.calls - 1;
    gathering.shape = comm.recent[gathering.number % CHECK_RECENT];
    const int64_t at = root < 0 ? 0 : weft_call_number(call, root, 0);
    if (at < 0 || at >= comm.size)
        return gathering;
    gathering.root = comm.world[at];
    if (is_scan(function->plain))
        gathering.kind = CHECK_WAITS_FOR_LOWER;
    else if (root < 0 || (waits_at_root(function->plain) && at == comm.rank))
        gathering.kind = CHECK_WAITS_FOR_ALL;
    else if (!waits_at_root(function->plain) && at != comm.rank)
        gathering.kind = CHECK_WAITS_FOR_ROOT;
    if (!(function->does & WEFT_DOES_NONBLOCKING) || gathering.kind == CHECK_WAITS_FOR_NONE)
        return gathering;               /* of MPI_Igatherv, only the root has counts */
    for (int i = 0; i < comm.size; i++) /* the arguments are not kept */
        if (elements_from(call, i) <= 0)
            gathering.kind = CHECK_WAITS_FOR_NONE;
    return gathering;
}

static void add(const struct check_gathering *gathering, int rank, bool is_optional,
                struct check_wants *wants)
{
    weft_assert(wants->n < CHECK_WANTS_MAX);
    if (rank != check.rank)
        wants->list[wants->n++] = (struct check_want){.kind = CHECK_WANT_COLLECTIVE,
                                                      .comm = gathering->comm,
                                                      .number = gathering->number,
                                                      .call = gathering->call,
                                                      .shape = gathering->shape,
                                                      .is_optional = is_optional,
                                                      .rank = rank};
}

static bool is_needed(const struct check_gathering *gathering, const struct weft_call *call,
                      const struct check_comm *comm, int rank)
{
    const bool is_one =
        gathering->kind == CHECK_WAITS_FOR_ALL ||
        (gathering->kind == CHECK_WAITS_FOR_LOWER && rank < comm->rank) ||
        (gathering->kind == CHECK_WAITS_FOR_ROOT && comm->world[rank] == gathering->root);
    return is_one && (!call || elements_from(call, rank) > 0);
}

void check_gathering_want(const struct check_gathering *gathering, const struct weft_call *call,
                          struct check_wants *wants)
{
    /* Each rank begins with the one behind itself: a list has few of the ranks of a large job. */
    check_lock();
    const struct check_comm *comm = check_comm_find_key(gathering->comm);
    const int n = comm ? comm->size : 0;
    for (int optional = 0; optional <= 1; optional++) {
        for (int i = 1; i < n && wants->n < CHECK_WANTS_MAX; i++) {
            const int rank = (comm->rank + i) % n;
            if (is_needed(gathering, call, comm, rank) != (optional == 1))
                add(gathering, comm->world[rank], optional, wants);
        }
    }
    check_unlock();
}

/* ---- Without blocking */

bool check_gathering_has_form(const struct weft_function *function)
{
    return function->starts && !weft_function_is_neighbor(function);
}

static bool has_no_precede(const struct weft_call *call)
{
    const int assertion = weft_function_find_name(call->function, "assert");
    return assertion >= 0 && (weft_call_number(call, assertion, 0) & MPI_MODE_NOPRECEDE);
}

bool check_gathering_synchronizes(const struct weft_call *call)
{
    const int others =
        WEFT_DOES_NONBLOCKING | WEFT_DOES_PERSISTENT | WEFT_DOES_BEGIN | WEFT_DOES_END;
    const struct weft_function *function = call->function;
    if (!(function->does & WEFT_DOES_COLLECTIVE) || (function->does & others))
        return false;
    switch (function->plain) {
    case WEFT_CALL_Comm_dup:
    case WEFT_CALL_Comm_split:
    case WEFT_CALL_Comm_create:
    case WEFT_CALL_Win_create:
    case WEFT_CALL_Win_create_dynamic:
    case WEFT_CALL_Win_allocate:
    case WEFT_CALL_Win_allocate_shared:
    case WEFT_CALL_Win_free:
    case WEFT_CALL_File_open:
        return true;
    case WEFT_CALL_Win_fence:
        return !has_no_precede(call);
    case WEFT_CALL_File_seek_shared:
    case WEFT_CALL_File_set_info:
        return false;
    default:
        return weft_call_handle(call, WEFT_OBJECT_FILE) != NULL;
    }
}
