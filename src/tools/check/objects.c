// SPDX-License-Identifier: BSD-3-Clause
/*
 * Objects: see objects.h.
 */
#include "tools/check/objects.h"
#include "tools/check/changes.h"

#include <stdlib.h>
#include <string.h>

/* Uses of an object that was freed, and whose handle may stand for another, or that a call which
 * does not end may have freed. */
enum { UNKNOWN = -1 };

/* ---- The table: open addressing, one for all kinds; freed objects stay until it grows */

static struct {
    struct check_object *slots;
    size_t size, used; /* size: a power of 2 */
    uint64_t numbers;  /* of objects until now */
} table;

static size_t slot_of(enum weft_object_kind kind, const void *handle)
{
    uint64_t key = (uint64_t)(uintptr_t)handle ^ (uint64_t)kind << 56;
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (table.size - 1);
}

static struct check_object *slot(enum weft_object_kind kind, const void *handle)
{
    size_t at = slot_of(kind, handle);
    weft_assert(table.used < table.size); /* an empty slot ends the search */
    while (table.slots[at].handle &&
           (table.slots[at].handle != handle || table.slots[at].kind != kind))
        at = (at + 1) & (table.size - 1);
    return &table.slots[at];
}

struct check_object *check_object_find(enum weft_object_kind kind, const void *handle)
{
    if (!table.size || weft_object_is_predefined(handle))
        return NULL;
    struct check_object *object = slot(kind, handle);
    return object->handle ? object : NULL;
}

/* Makes space; freed objects are dropped. */
static void grow(void)
{
    struct check_object *old = table.slots;
    size_t n = table.size, live = 0;
    for (size_t i = 0; i < n; i++)
        live += old[i].uses > 0;
    if (!n || live * 4 >= n)
        table.size = n ? 2 * n : 256;
    table.slots = weft_interpose_allocate(table.size, sizeof *table.slots);
    table.used = live;
    for (size_t i = 0; i < n; i++)
        if (old[i].uses > 0)
            *slot(old[i].kind, old[i].handle) = old[i];
    free(old);
}

static struct check_object *insert(enum weft_object_kind kind, const void *handle)
{
    if (2 * (table.used + 1) > table.size)
        grow();
    struct check_object *object = slot(kind, handle);
    weft_assert(!weft_object_is_predefined(handle));
    table.used += !object->handle;
    return object;
}

/* ---- Before the call */

static void check_use(const struct weft_call *call, const struct weft_parameter *parameter,
                      const void *handle)
{
    char freed[512];
    if (check_depth > 1) /* a reduction gets its datatype, which may have been freed meanwhile */
        return;
    check_lock();
    struct check_object *object = check_object_find(parameter->object, handle);
    struct check_location location = object ? object->freed : (struct check_location){0};
    bool is_freed = object && object->uses == 0;
    check_unlock();
    if (!is_freed)
        return;
    struct check_location here = check_location_of(call);
    check_location_print(&location, freed, sizeof freed);
    check_report(CHECK_FREED, &here, true, "%s is a %s that %s has freed", parameter->name,
                 weft_object_name(parameter->object), freed);
}

static void check_start(const struct weft_call *call, const void *handle)
{
    check_lock();
    struct check_object *object = check_object_find(WEFT_OBJECT_REQUEST, handle);
    bool twice = object && object->uses > 0 && object->active;
    struct check_location made = object ? object->made : (struct check_location){0};
    if (object && object->persistent) {
        object->active = true;
        object->may_be_freed = false;
    }
    check_unlock();
    if (!twice || !(check.kinds & CHECK_OBJECTS))
        return;
    struct check_location here = check_location_of(call);
    char text[512];
    check_location_print(&made, text, sizeof text);
    check_report(CHECK_REQUEST_ACTIVE, &here, true, "the request of %s is still active", text);
}

/* MPI_Request_free of an operation that has results: nothing shows when they are there. */
static void check_request_free(const struct weft_call *call, const void *handle)
{
    const int receives = WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE | WEFT_DOES_COLLECTIVE;
    check_lock();
    const struct check_object *object = check_object_find(WEFT_OBJECT_REQUEST, handle);
    const bool is_early = object && object->uses > 0 && object->active && !object->may_be_freed &&
                          (object->made.function->does & receives);
    const struct check_location made = object ? object->made : (struct check_location){0};
    check_unlock();
    if (!is_early)
        return;
    const struct check_location here = check_location_of(call);
    char text[512];
    check_location_print(&made, text, sizeof text);
    check_report(CHECK_REQUEST_FREED, &here, false, "the operation of %s is not complete", text);
}

/* False: with MPI_IN_PLACE, and of what only the root uses on other ranks. */
static bool is_significant(const struct weft_call *call, const struct weft_parameter *data)
{
    const MPI_Comm comm = weft_call_handle(call, WEFT_OBJECT_COMM);
    int inter = 0, rank = MPI_ROOT;
    if (call->values[data - call->function->parameter].pointer == MPI_IN_PLACE)
        return false;
    if (!data->root || !comm || comm == MPI_COMM_NULL)
        return true;
    weft_next.Comm_test_inter(comm, &inter);
    if (!inter)
        weft_next.Comm_rank(comm, &rank);
    const int root = weft_call_find(call, WEFT_PARAMETER_RANK, 0);
    return root >= 0 && weft_call_number(call, root, 0) == rank;
}

/* The datatypes of data have to be committed. */
static void check_types(const struct weft_call *call, const struct weft_parameter *data)
{
    int types = data->about[1];
    if (types >= 0 && !call->function->parameter[types].pointer &&
        weft_object_is_predefined(call->values[types].pointer))
        return;
    int64_t n = types < 0 ? 0 : weft_call_length(call, types);
    for (int64_t i = 0; i < n; i++) {
        check_lock();
        struct check_object *type =
            check_object_find(WEFT_OBJECT_DATATYPE, weft_call_element(call, types, i));
        bool missing = type && type->uses > 0 && !type->committed;
        struct check_location made = type ? type->made : (struct check_location){0};
        check_unlock();
        if (!missing || !is_significant(call, data))
            continue;
        struct check_location here = check_location_of(call);
        char text[512];
        check_location_print(&made, text, sizeof text);
        check_report(CHECK_NOT_COMMITTED, &here, true,
                     "the datatype of %s, made by %s, is not committed", data->name, text);
    }
}

/* Keeps which objects the call may free. */
static void keep_numbers(const struct weft_call *call)
{
    struct check_changes *changes = call->state;
    if (!changes)
        return;
    check_lock();
    for (int64_t i = 0; i < changes->n; i++) {
        struct check_change *change = &changes->list[i];
        const struct check_object *object =
            check_object_find(call->function->parameter[change->parameter].object, change->handle);
        change->object = object ? object->number : 0;
    }
    check_unlock();
}

void check_objects_begin(struct weft_call *call)
{
    const struct weft_function *function = call->function;
    const bool reports = check.kinds & CHECK_OBJECTS;
    keep_numbers(call);
    for (int i = 0; i < function->parameters; i++) {
        const struct weft_parameter *parameter = &function->parameter[i];
        if (reports && parameter->kind == WEFT_PARAMETER_DATA)
            check_types(call, parameter);
        if (parameter->object == WEFT_OBJECT_NONE || parameter->flow == WEFT_FLOW_OUT ||
            (!parameter->pointer && weft_object_is_predefined(call->values[i].pointer)))
            continue;
        for (int64_t k = 0; k < weft_call_length(call, i); k++) {
            const void *handle = weft_call_element(call, i, k);
            if (weft_object_is_predefined(handle))
                continue;
            if (reports)
                check_use(call, parameter, handle);
            if (function->does & WEFT_DOES_START)
                check_start(call, handle);
            if (reports && function->plain == WEFT_CALL_Request_free)
                check_request_free(call, handle);
        }
    }
}

/* ---- After the call */

/* The object that the call returns belongs to the library, or to another handle. */
static bool returns_other(const struct weft_function *function)
{
    switch (function->plain) {
    case WEFT_CALL_Comm_get_parent:
    case WEFT_CALL_Type_create_f90_real:
    case WEFT_CALL_Type_create_f90_integer:
    case WEFT_CALL_Type_create_f90_complex:
    case WEFT_CALL_Type_match_size:
    case WEFT_CALL_Type_get_value_index:
        return true;
    default:
        return false;
    }
}

static void make(const struct weft_call *call, const struct weft_parameter *parameter,
                 const void *handle)
{
    const struct weft_function *function = call->function;
    struct check_location here = check_location_of(call);
    check_lock();
    struct check_object *object = insert(parameter->object, handle);
    if (object->handle && object->uses > 0 && parameter->object != WEFT_OBJECT_REQUEST) {
        object->uses++;
    } else {
        *object = (struct check_object){.handle = handle,
                                        .number = ++table.numbers,
                                        .kind = parameter->object,
                                        .uses = 1,
                                        .made = here};
        object->persistent = function->does & WEFT_DOES_PERSISTENT;
        object->active = !object->persistent;
        object->generalized = function->plain == WEFT_CALL_Grequest_start;
        if (function->plain == WEFT_CALL_Type_dup) {
            const void *old = weft_call_handle(call, WEFT_OBJECT_DATATYPE);
            struct check_object *copied = check_object_find(WEFT_OBJECT_DATATYPE, old);
            object->committed = !copied || copied->committed;
        }
    }
    check_unlock();
}

/* Handles of MPI_Type_get_contents and the like are not recorded: what had them before is
 * forgotten. */
static void forget_freed(enum weft_object_kind kind)
{
    check_lock();
    for (size_t i = 0; i < table.size; i++)
        if (table.slots[i].handle && table.slots[i].kind == kind && table.slots[i].uses == 0)
            table.slots[i].uses = UNKNOWN;
    check_unlock();
}

static void see_results(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    const bool is_other = returns_other(function);
    for (int i = 0; i < function->parameters; i++) {
        const struct weft_parameter *parameter = &function->parameter[i];
        if (parameter->object == WEFT_OBJECT_NONE || parameter->flow != WEFT_FLOW_OUT ||
            !weft_call_is_set(call, i))
            continue;
        if (is_other || parameter->length != WEFT_LENGTH_ONE) {
            forget_freed(parameter->object);
            continue;
        }
        const void *handle = weft_call_element(call, i, 0);
        if (!weft_object_is_predefined(handle))
            make(call, parameter, handle);
    }
}

bool check_objects_is_inactive(const void *request)
{
    check_lock();
    const struct check_object *object = check_object_find(WEFT_OBJECT_REQUEST, request);
    bool is_inactive = object && object->uses > 0 && object->persistent && !object->active;
    check_unlock();
    return is_inactive;
}

bool check_objects_is_generalized(const void *request)
{
    check_lock();
    const struct check_object *object = check_object_find(WEFT_OBJECT_REQUEST, request);
    bool is_generalized = object && object->uses > 0 && object->generalized;
    check_unlock();
    return is_generalized;
}

static void see_change(const struct weft_call *call, const struct check_change *change)
{
    const struct weft_function *function = call->function;
    const struct weft_parameter *parameter = &function->parameter[change->parameter];
    const void *after = weft_call_element(call, change->parameter, change->element);
    bool gone = after != change->handle && weft_object_is_predefined(after);
    struct check_location here = gone ? check_location_of(call) : (struct check_location){0};
    check_lock();
    struct check_object *object = check_object_find(parameter->object, change->handle);
    if (object && object->uses > 0 && object->number == change->object) {
        if (gone && --object->uses == 0)
            object->freed = here;
        else if (!gone && object->persistent && (function->does & WEFT_DOES_COMPLETE) &&
                 check_has_completed(call, change->element))
            object->active = false;
        if (function->plain == WEFT_CALL_Type_commit)
            object->committed = true;
    }
    check_unlock();
}

/* MPI_Request_get_status has found that requests are complete, or MPI_Cancel was called. */
static void see_known(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    check_lock();
    for (int i = 0; i < function->parameters; i++)
        for (int64_t k = 0;
             function->parameter[i].object == WEFT_OBJECT_REQUEST && k < weft_call_length(call, i);
             k++) {
            struct check_object *object =
                check_object_find(WEFT_OBJECT_REQUEST, weft_call_element(call, i, k));
            if (object && check_has_completed(call, k))
                object->may_be_freed = true;
        }
    check_unlock();
}

void check_objects_end(struct weft_call *call)
{
    const struct check_changes *changes = call->state;
    for (int64_t i = 0; changes && i < changes->n; i++)
        see_change(call, &changes->list[i]);
    if (call->result == MPI_SUCCESS && check_has(call, CHECK_HAS_OUT_HANDLE))
        see_results(call);
    if (call->result == MPI_SUCCESS &&
        (call->function->plain == WEFT_CALL_Cancel ||
         ((call->function->does & WEFT_DOES_COMPLETE) && check_has(call, CHECK_HAS_IN_REQUEST))))
        see_known(call);
}

void check_objects_leave(const struct check_changes *changes)
{
    check_lock();
    for (int64_t i = 0; i < changes->n; i++) {
        const struct check_change *change = &changes->list[i];
        struct check_object *object = check_object_find(
            changes->function->parameter[change->parameter].object, change->handle);
        if (object && object->number == change->object)
            object->uses = UNKNOWN;
    }
    check_unlock();
}

/* ---- The end */

static enum check_rule rule_of(const struct check_object *object)
{
    switch (object->kind) {
    case WEFT_OBJECT_REQUEST:
        return object->active ? CHECK_REQUEST_LOST : CHECK_NOT_FREED;
    case WEFT_OBJECT_MESSAGE:
        return CHECK_MESSAGE_LOST;
    case WEFT_OBJECT_FILE:
    case WEFT_OBJECT_WIN:
    case WEFT_OBJECT_SESSION:
        return CHECK_NOT_CLOSED;
    default:
        return CHECK_NOT_FREED;
    }
}

/* A session, and what is made from it, may outlive MPI_Finalize. */
static bool has_session(void)
{
    for (size_t i = 0; i < table.size; i++)
        if (table.slots[i].handle && table.slots[i].uses > 0 &&
            table.slots[i].kind == WEFT_OBJECT_SESSION)
            return true;
    return false;
}

void check_objects_finish(void)
{
    if (has_session())
        return;
    for (size_t i = 0; i < table.size; i++) {
        struct check_object *object = &table.slots[i];
        if (!object->handle || object->uses <= 0)
            continue;
        enum check_rule rule = rule_of(object);
        const char *state = rule == CHECK_REQUEST_LOST   ? "was never completed"
                            : rule == CHECK_MESSAGE_LOST ? "was never received"
                                                         : "was not freed before MPI_Finalize";
        check_report(rule, &object->made, false, "the %s that this call made %s",
                     weft_object_name(object->kind), state);
    }
}
