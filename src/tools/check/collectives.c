// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective calls: each member of a communicator sends a record of each call to rank 0 of the
 * communicator, which compares it with the first record of the same number: the call, root,
 * operation and signature.
 *
 * In a blocking call that synchronizes anyway (all but rooted ones), rank 0 waits up to a second
 * for the records before it enters the real call, so that a mismatch is reported before data move.
 *
 * The signature that is the same on all ranks: of the data of MPI_Bcast and reductions; of a block
 * of the others, at the root of MPI_Gather and MPI_Scatter that of its side of all ranks. Of calls
 * with a count for each rank only the basic type is compared, if no count is 0.
 *
 * Invariants:
 *  - A communicator whose ranks differ in a call is not compared any more: what follows
 *    would differ, too.
 *  - Records of one number are kept until all ranks have sent theirs.
 */
#include "tools/check/channel.h"
#include "core/base/clock.h"
#include "tools/check/buffering.h"
#include "tools/check/check.h"
#include "tools/check/comms.h"

#include <stdlib.h>

/* A number of a communicator of which not all ranks have sent their record. */
struct round {
    struct round *next;
    struct check_record first;
    int arrived;
};

static struct {
    struct round *rounds;
    struct check_keys uncompared;
    pthread_mutex_t lock;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The record of a call */

/* -1: the call has none. */
static int root_of(const struct weft_call *call)
{
    const int root = weft_function_find_name(call->function, "root");
    return root < 0 ? -1 : (int)weft_call_number(call, root, 0);
}

/* True if data have one count and datatype, and not some for each rank. */
static bool is_uniform(const struct weft_function *function, const struct weft_parameter *data)
{
    int count = data->about[0], type = data->about[1];
    return count >= 0 && type >= 0 && function->parameter[count].length == WEFT_LENGTH_ONE &&
           function->parameter[type].length == WEFT_LENGTH_ONE;
}

/* The number of the data whose signature is compared; -1: none. At the root its own side of a
 * gather or scatter, elsewhere the other; else what is received, which MPI_IN_PLACE does not
 * replace. *uniform: of all data. */
static int compared_data(const struct weft_call *call, bool is_root, bool *uniform)
{
    const struct weft_function *function = call->function;
    int found = -1;
    bool has_root_side = false;
    *uniform = true;
    for (int i = 0; i < function->parameters; i++) {
        const struct weft_parameter *parameter = &function->parameter[i];
        *uniform &= parameter->kind != WEFT_PARAMETER_DATA || is_uniform(function, parameter);
        has_root_side |= parameter->kind == WEFT_PARAMETER_DATA && parameter->root;
    }
    for (int i = 0; i < function->parameters; i++) {
        const struct weft_parameter *parameter = &function->parameter[i];
        if (parameter->kind == WEFT_PARAMETER_DATA &&
            (!has_root_side || parameter->root == is_root))
            found = i;
    }
    return found;
}

/* True if there is one datatype, and something of it for each rank. Then all ranks have elements of
 * the same basic type, if each has only one. */
static bool is_typed(const struct weft_call *call, const struct weft_parameter *data, int size)
{
    const struct weft_parameter *parameters = call->function->parameter;
    const int count = data->about[0], type = data->about[1];
    if (count < 0 || type < 0 || parameters[type].length != WEFT_LENGTH_ONE)
        return false;
    const int n = parameters[count].length == WEFT_LENGTH_ONE ? 1 : size;
    for (int i = 0; i < n; i++)
        if (weft_call_number(call, count, i) <= 0)
            return false;
    return true;
}

static void fill(const struct weft_call *call, const struct check_comm *comm,
                 struct check_record *record)
{
    const struct weft_function *function = call->function;
    struct check_collective *collective = &record->collective;
    struct check_location here = check_location_of(call);
    void *op = weft_call_handle(call, WEFT_OBJECT_OP);
    *record = (struct check_record){.kind = CHECK_RECORD_COLLECTIVE,
                                    .call = function->plain,
                                    .site = weft_site_pack(here.site)};
    collective->comm = comm->key;
    collective->number = comm->calls;
    collective->size = comm->size;
    collective->root = root_of(call);
    collective->op =
        weft_object_is_predefined(op) ? (uintptr_t)op : 1; /* 1: one of the program's */
    if (weft_function_is_neighbor(function) || (function->does & WEFT_DOES_FILE))
        return;
    bool uniform;
    int data = compared_data(call, collective->root == comm->rank, &uniform);
    if (data < 0)
        return;
    const struct weft_parameter *parameter = &function->parameter[data];
    collective->is_typed = !uniform && is_typed(call, parameter, comm->size);
    if (!uniform && !collective->is_typed)
        return;
    collective->is_compared = uniform;
    collective->signature =
        check_signature_of(weft_call_element(call, parameter->about[1], 0),
                           uniform ? weft_call_number(call, parameter->about[0], 0) : 1);
}

/* ---- Comparing, at rank 0 of the communicator */

static void describe(const struct check_record *record, char *text, size_t size)
{
    struct check_location location = check_location_in(record);
    check_location_print(&location, text, size);
}

/* Reports at the call of the higher rank, whichever record came first. */
static void report(enum check_rule rule, const struct check_record *a, const struct check_record *b,
                   const char *what)
{
    const struct check_record *low = a->rank < b->rank ? a : b, *high = low == a ? b : a;
    struct check_location location = check_location_in(high);
    char other[512];
    describe(low, other, sizeof other);
    check_report_of(high->rank, rule, &location, true, "%s differs from that of rank %d, in %s",
                    what, low->rank, other);
}

/* Compares a record with the first of its number; false: the ranks' calls differ. */
static bool compare(const struct check_record *first, const struct check_record *record)
{
    const struct check_collective *a = &first->collective, *b = &record->collective;
    if (first->call != record->call) {
        report(CHECK_OTHER_COLLECTIVE, first, record, "the call on the communicator");
        return false;
    }
    if (a->root != b->root) {
        report(CHECK_OTHER_ROOT, first, record, "root");
        return false;
    }
    if (a->op != b->op)
        report(CHECK_OTHER_OPERATION, first, record, "the operation");
    if (a->is_compared && b->is_compared && !check_signature_fits(&a->signature, &b->signature))
        report(CHECK_OTHER_SIGNATURE, first, record,
               a->signature.length == b->signature.length ? "the type of the elements"
                                                          : "the number of elements");
    if (a->is_typed && b->is_typed && a->signature.basic != b->signature.basic &&
        a->signature.basic && b->signature.basic && !a->signature.packed && !b->signature.packed)
        report(CHECK_OTHER_SIGNATURE, first, record, "the type of the elements");
    return true;
}

static struct round **find_round(const struct check_collective *collective)
{
    struct round **at = &state.rounds;
    while (*at && ((*at)->first.collective.comm != collective->comm ||
                   (*at)->first.collective.number != collective->number))
        at = &(*at)->next;
    return at;
}

static void take(const struct check_record *record)
{
    const struct check_collective *collective = &record->collective;
    if (check_keys_has(&state.uncompared, collective->comm) || collective->size == 1)
        return;
    struct round **at = find_round(collective), *round = *at;
    if (!round) {
        round = *at = weft_interpose_allocate(1, sizeof *round);
        round->first = *record;
    } else if (!compare(&round->first, record)) {
        check_keys_add(&state.uncompared, collective->comm);
    }
    if (++round->arrived == collective->size) {
        *at = round->next;
        free(round);
    }
}

void check_collectives_take(const struct check_record *record)
{
    check_mutex_lock(&state.lock);
    take(record);
    check_mutex_unlock(&state.lock);
}

/* True if a rank has not made the call, and may. */
static bool is_open(const struct check_collective *collective)
{
    check_mutex_lock(&state.lock);
    bool open = *find_round(collective) && !check_keys_has(&state.uncompared, collective->comm);
    check_mutex_unlock(&state.lock);
    return open;
}

/* ---- Calls */

/* The call of this thread whose records are awaited. */
static CHECK_THREAD struct check_collective awaited;
static CHECK_THREAD bool is_awaited;

void check_collectives_await(void)
{
    if (!is_awaited)
        return;
    const double limit = weft_seconds() + 1;
    while (is_open(&awaited) && weft_seconds() < limit)
        check_channel_poll();
    is_awaited = false;
}

/* True if all processes of the communicator that the call reads call it. */
static bool is_collective(const struct weft_function *function)
{
    return (function->does & WEFT_DOES_COLLECTIVE) &&
           function->plain != WEFT_CALL_Comm_create_group &&
           function->plain != WEFT_CALL_Intercomm_create;
}

/* Adds what a blocking call waits for to the log of buffering.c, where its data make it certain. */
static void log_call(const struct weft_call *call, const struct check_comm *comm)
{
    const int count = weft_call_find(call, WEFT_PARAMETER_COUNT, 0);
    const int at = root_of(call);
    if (check.several_threads || (count >= 0 && weft_call_number(call, count, 0) <= 0))
        return;
    enum check_log_kind kind;
    check_log_add(call, CHECK_LOG_ENTER, -1, comm->key, 0, comm->calls);
    switch (call->function->plain) {
    case WEFT_CALL_Barrier:
    case WEFT_CALL_Allreduce:
    case WEFT_CALL_Allgather:
    case WEFT_CALL_Alltoall:
        check_log_add(call, CHECK_LOG_AWAIT_ALL, -1, comm->key, 0, comm->calls);
        break;
    case WEFT_CALL_Reduce:
    case WEFT_CALL_Gather:
        kind = at == comm->rank ? CHECK_LOG_AWAIT_ALL : CHECK_LOG_MAY_AWAIT;
        check_log_add(call, kind, -1, comm->key, 0, comm->calls);
        break;
    case WEFT_CALL_Bcast:
    case WEFT_CALL_Scatter:
        if (at >= 0 && at < comm->size && at != comm->rank)
            check_log_add(call, CHECK_LOG_AWAIT_ROOT, comm->world[at], comm->key, 0, comm->calls);
        check_log_add(call, CHECK_LOG_MAY_AWAIT, -1, comm->key, 0, comm->calls);
        break;
    case WEFT_CALL_Scan:
    case WEFT_CALL_Exscan:
        check_log_add(call, CHECK_LOG_MAY_AWAIT, -1, comm->key, 0, comm->calls);
        break;
    default:
        break;
    }
}

void check_collectives_begin(struct weft_call *call)
{
    const struct weft_function *function = call->function;
    struct check_record record;
    if (!is_collective(function))
        return;
    const void *handle = check_comm_handle(call);
    check_lock();
    struct check_comm *found = handle ? check_comm_find(handle) : NULL;
    struct check_comm comm = found ? *found : (struct check_comm){0};
    if (found)
        found->recent[found->calls++ % CHECK_RECENT] =
            check_comm_shape(function->plain, root_of(call));
    check_unlock();
    if (found && comm.sync == comm.handle)
        log_call(call, &comm);
    if (!found || !(check.kinds & CHECK_COLLECTIVES))
        return;
    fill(call, &comm, &record);
    check_channel_send(comm.leader, &record);
    bool is_blocking = !(function->does & (WEFT_DOES_NONBLOCKING | WEFT_DOES_PERSISTENT));
    awaited = record.collective;
    is_awaited = comm.leader == check.rank && is_blocking && record.collective.root < 0;
}

void check_collectives_finish(void)
{
    while (state.rounds) {
        struct round *round = state.rounds;
        const struct check_record *first = &round->first;
        struct check_location location = check_location_in(first);
        if (!check_keys_has(&state.uncompared, first->collective.comm))
            check_report_of(first->rank, CHECK_COLLECTIVE_MISSING, &location, false,
                            "%d of %d ranks of the communicator have made this call",
                            round->arrived, first->collective.size);
        /* The later ones follow from this. */
        check_keys_add(&state.uncompared, first->collective.comm);
        state.rounds = round->next;
        free(round);
    }
}
