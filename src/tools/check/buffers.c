// SPDX-License-Identifier: BSD-3-Clause
/*
 * Buffers in flight: the memory of each operation that is not complete. A new operation is compared
 * with those in flight: nobody may write what another writes or reads. The bytes that an operation
 * reads are hashed when it starts and when it completes.
 *
 * An operation begins with the call that returns its request, with MPI_Start, or with a call on a
 * window; it ends with the call that completes the request, or that ends the epoch (windows.c). The
 * buffers of blocking calls are compared, too.
 *
 * A buffer that lay in a frame of the thread's stack when its operation began, and is below the
 * stack pointer of the same thread when that is completed, belongs to a function that has returned.
 * Calls on a stack of the program's own (makecontext) are not compared: above their frames is other
 * memory, too.
 *
 * Short buffers that an operation writes are watched (watch.h).
 *
 * Not checked: partitioned operations, whose partitions start one by one, collectives of
 * neighborhoods and of inter-communicators, and split file calls.
 *
 * Invariants:
 *  - The hash covers no memory of windows, which other processes may change.
 *  - flights.lock is taken before the locks of windows.c and check.c, and is not held during the
 * program's real call.
 *  - A request of which the completion is not seen (PMPI_Wait) is replaced when its handle returns.
 */
#include "tools/check/buffers.h"
#include "tools/check/area.h"
#include "tools/check/changes.h"
#include "tools/check/known.h"
#include "tools/check/ranges.h"
#include "tools/check/watch.h"
#include "tools/check/windows.h"

#include <stdlib.h>

enum {
    SPANS_WATCHED = 4, /* of one buffer */
    BUFFERS_MAX = 3,   /* MPI_Compare_and_swap has three buffers */
    FLIGHTS_MAX = 512  /* operations on windows, of which an epoch may have any number: each new one
                          is compared with all */
};

/* One buffer of an operation. */
struct buffer {
    struct check_area area;
    const char *name;
    int parameter;
    bool writes;
    bool is_hashed;
    bool on_stack;
    uint64_t hash;
};

struct operation {
    uint64_t serial;
    const void *request; /* NULL: of a window, without a request */
    const void *win;     /* NULL: no operation on a window */
    const void *file;    /* NULL: no operation on a file */
    int target;
    bool is_active;   /* false: persistent, and not started */
    bool is_reported; /* other findings follow from the first */
    pthread_t thread; /* that has started it */
    struct check_location where;
    int n;
    struct buffer buffer[BUFFERS_MAX];
};

static struct {
    struct operation *list;
    int capacity;
    int on_windows; /* of check_flights */
    uint64_t serials;
    pthread_mutex_t lock;
} flights = {.lock = PTHREAD_MUTEX_INITIALIZER};

int check_flights;

/* ---- Stacks */

/* The stack of a thread; end 0: not known. */
struct stack {
    uintptr_t low, end;
};

static struct stack stack_of_thread(void)
{
    static CHECK_THREAD struct stack stack;
    static CHECK_THREAD bool is_read;
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (is_read)
        return stack;
    is_read = true;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return stack;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0)
        stack = (struct stack){(uintptr_t)low, (uintptr_t)low + size};
    pthread_attr_destroy(&attributes);
    return stack;
}

bool check_buffers_on_thread_stack(const void *frame)
{
    const struct stack stack = stack_of_thread();
    return (uintptr_t)frame >= stack.low && (uintptr_t)frame < stack.end;
}

bool check_buffers_are_on_stack(const struct weft_call *call, uint64_t low, uint64_t high)
{
    return check_buffers_on_thread_stack(call->frame) && low < high &&
           low >= (uintptr_t)call->frame && high <= stack_of_thread().end;
}

/* ---- The buffers of a call */

/* The number of blocks of a count that a rank sends or receives in a collective of `size` ranks. */
static int64_t times_of(enum weft_call_number plain, bool receives, int size)
{
    switch (plain) {
    case WEFT_CALL_Gather:
    case WEFT_CALL_Igather:
    case WEFT_CALL_Gather_init:
    case WEFT_CALL_Allgather:
    case WEFT_CALL_Iallgather:
    case WEFT_CALL_Allgather_init:
        return receives ? size : 1;
    case WEFT_CALL_Scatter:
    case WEFT_CALL_Iscatter:
    case WEFT_CALL_Scatter_init:
    case WEFT_CALL_Reduce_scatter_block:
    case WEFT_CALL_Ireduce_scatter_block:
    case WEFT_CALL_Reduce_scatter_block_init:
        return receives ? 1 : size;
    case WEFT_CALL_Alltoall:
    case WEFT_CALL_Ialltoall:
    case WEFT_CALL_Alltoall_init:
        return size;
    default:
        return 1;
    }
}

static bool is_reduce_scatter(enum weft_call_number plain)
{
    return plain == WEFT_CALL_Reduce_scatter || plain == WEFT_CALL_Ireduce_scatter ||
           plain == WEFT_CALL_Reduce_scatter_init;
}

/* Collective calls: the rank and size, and whether this is the root. */
struct members {
    int rank, size;
    bool is_root;
};

/* False: the call is not checked. */
static bool find_members(const struct weft_call *call, struct members *members)
{
    const struct weft_function *function = call->function;
    MPI_Comm comm = weft_call_handle(call, WEFT_OBJECT_COMM);
    int inter = 0, root = weft_call_find(call, WEFT_PARAMETER_RANK, 0);
    *members = (struct members){0, 1, false};
    if (!(function->does & WEFT_DOES_COLLECTIVE) || !comm || comm == MPI_COMM_NULL)
        return true;
    if (weft_function_is_neighbor(function))
        return false;
    weft_next.Comm_test_inter(comm, &inter);
    if (inter)
        return false;
    weft_next.Comm_rank(comm, &members->rank);
    weft_next.Comm_size(comm, &members->size);
    members->is_root = root >= 0 && weft_call_number(call, root, 0) == members->rank;
    return true;
}

static bool is_checked(const struct weft_function *function)
{
    const int moves = WEFT_DOES_SEND | WEFT_DOES_RECEIVE | WEFT_DOES_EXCHANGE |
                      WEFT_DOES_COLLECTIVE | WEFT_DOES_RMA | WEFT_DOES_FILE;
    const int wanted = function->does & WEFT_DOES_RMA ? CHECK_WINDOWS : CHECK_BUFFERS;
    return (function->does & moves) && (check.kinds & wanted) &&
           !(function->does & (WEFT_DOES_BEGIN | WEFT_DOES_END)) &&
           function->plain != WEFT_CALL_Psend_init && function->plain != WEFT_CALL_Precv_init;
}

static bool is_exscan(enum weft_call_number plain)
{
    return plain == WEFT_CALL_Exscan || plain == WEFT_CALL_Iexscan ||
           plain == WEFT_CALL_Exscan_init;
}

/* True if the call does not use a parameter of kind data. */
static bool is_unused(const struct weft_call *call, int parameter, const struct members *members)
{
    const struct weft_function *function = call->function;
    const struct weft_parameter *data = &function->parameter[parameter];
    void *pointer = call->values[parameter].pointer;
    if (pointer == MPI_IN_PLACE || (data->root && !members->is_root))
        return true;
    if (function->does & WEFT_DOES_COLLECTIVE) /* rank 0 receives nothing in an exclusive scan */
        return is_exscan(function->plain) && members->rank == 0 && data->flow != WEFT_FLOW_IN &&
               call->values[0].pointer != MPI_IN_PLACE;
    if ((function->does & WEFT_DOES_RMA) && data->flow == WEFT_FLOW_IN &&
        weft_call_handle(call, WEFT_OBJECT_OP) == MPI_NO_OP)
        return true;
    for (int i = parameter + 1; i < function->parameters; i++) /* the peer of this buffer */
        if (function->parameter[i].kind == WEFT_PARAMETER_RANK ||
            function->parameter[i].kind == WEFT_PARAMETER_SOURCE)
            return weft_call_number(call, i, 0) == MPI_PROC_NULL;
    return false;
}

static void add_buffer(struct operation *operation, const struct weft_call *call, int parameter,
                       const struct members *members)
{
    const struct weft_function *function = call->function;
    const struct weft_parameter *data = &function->parameter[parameter];
    struct buffer *buffer = &operation->buffer[operation->n];
    bool receives = data->flow != WEFT_FLOW_IN;
    int64_t times = times_of(function->plain, receives, members->size);
    *buffer = (struct buffer){
        .area = check_area_empty(), .name = data->name, .parameter = parameter, .writes = receives};
    if (data->flow == WEFT_FLOW_INOUT && (function->does & WEFT_DOES_COLLECTIVE))
        buffer->writes = !members->is_root; /* MPI_Bcast */
    if (is_reduce_scatter(function->plain) && receives)
        check_area_add(&buffer->area, (uintptr_t)call->values[parameter].pointer,
                       weft_call_number(call, data->about[0], members->rank),
                       weft_call_element(call, data->about[1], 0));
    else
        check_area_add_data(&buffer->area, call, parameter, members->size, times);
    check_area_seal(&buffer->area);
    if (buffer->area.low == buffer->area.high)
        return;
    buffer->on_stack = check_buffers_are_on_stack(call, buffer->area.low, buffer->area.high);
    operation->n++;
}

/* Fills an operation with the buffers of a call. */
static void describe(struct operation *operation, const struct weft_call *call)
{
    struct members members;
    operation->n = 0;
    operation->where = check_location_of(call);
    operation->thread = pthread_self();
    if (!find_members(call, &members))
        return;
    for (int i = 0; i < call->function->parameters && operation->n < BUFFERS_MAX; i++)
        if (call->function->parameter[i].kind == WEFT_PARAMETER_DATA &&
            !is_unused(call, i, &members))
            add_buffer(operation, call, i, &members);
}

static void free_areas(struct operation *operation)
{
    for (int i = 0; i < operation->n; i++)
        check_area_free(&operation->buffer[i].area);
}

/* ---- Comparing. flights.lock is held */

static void report(struct operation *operation, enum check_rule rule, const char *name,
                   struct operation *other, const char *other_name)
{
    char text[512];
    check_location_print(&other->where, text, sizeof text);
    check_report(rule, &operation->where, false, "%s overlaps %s of %s, which is not complete",
                 name, other_name, text);
    operation->is_reported = other->is_reported = true;
}

static void compare(struct operation *operation, struct operation *other)
{
    bool rma = operation->win || other->win;
    for (int i = 0; i < operation->n; i++) {
        for (int k = 0; k < other->n; k++) {
            struct buffer *a = &operation->buffer[i], *b = &other->buffer[k];
            if ((!a->writes && !b->writes) || !check_areas_overlap(&a->area, &b->area))
                continue;
            report(operation,
                   rma                      ? CHECK_ORIGIN_OVERLAP
                   : a->writes && b->writes ? CHECK_RECEIVES_OVERLAP
                                            : CHECK_BUFFER_IN_FLIGHT,
                   a->name, other, b->name);
            return;
        }
    }
}

static void compare_all(struct operation *operation)
{
    for (int i = 0; i < check_flights; i++)
        if (flights.list[i].is_active && flights.list[i].serial != operation->serial)
            compare(operation, &flights.list[i]);
}

/* Buffers of one call. */
static void check_alias(const struct operation *operation)
{
    for (int i = 0; i < operation->n; i++) {
        for (int k = 0; k < i; k++) {
            const struct buffer *a = &operation->buffer[k], *b = &operation->buffer[i];
            if ((a->writes || b->writes) && check_areas_overlap(&a->area, &b->area))
                check_report(CHECK_ALIAS, &operation->where, true, "%s and %s overlap", a->name,
                             b->name);
        }
    }
}

/* ---- Operations in flight. flights.lock is held */

static struct operation *find_request(const void *request)
{
    for (int i = 0; i < check_flights; i++)
        if (flights.list[i].request == request)
            return &flights.list[i];
    return NULL;
}

static struct operation *find_serial(uint64_t serial)
{
    for (int i = 0; i < check_flights; i++)
        if (flights.list[i].serial == serial)
            return &flights.list[i];
    return NULL;
}

static void erase(struct operation *operation)
{
    check_watch_remove(operation->serial);
    free_areas(operation);
    flights.on_windows -= operation->win != NULL;
    *operation = flights.list[--check_flights];
}

static void start(struct operation *operation)
{
    operation->is_active = true;
    operation->is_reported = false;
    operation->thread = pthread_self();
    compare_all(operation);
    for (int i = 0; i < operation->n; i++) {
        struct buffer *buffer = &operation->buffer[i];
        buffer->is_hashed = !buffer->writes && buffer->area.is_exact &&
                            !check_windows_cover(&buffer->area) &&
                            check_area_hash(&buffer->area, &buffer->hash);
        if (!buffer->writes || !buffer->area.is_exact || buffer->area.n > SPANS_WATCHED ||
            check_windows_cover(&buffer->area))
            continue;
        for (int k = 0; k < buffer->area.n; k++) {
            const struct check_span *span = &check_area_spans(&buffer->area)[k];
            check_watch_add(operation->serial, span->low, span->high, buffer->name,
                            &operation->where, operation->win != NULL);
        }
    }
}

static void insert(const struct weft_call *call, const void *request)
{
    if ((call->function->does & WEFT_DOES_RMA) && flights.on_windows == FLIGHTS_MAX)
        return;
    if (check_flights == flights.capacity)
        flights.list =
            check_enlarge(flights.list, check_flights, &flights.capacity, sizeof *flights.list);
    struct operation *operation = &flights.list[check_flights];
    *operation = (struct operation){.serial = ++flights.serials, .request = request};
    describe(operation, call);
    if (operation->n == 0)
        return;
    check_flights++;
    if (call->function->does & WEFT_DOES_FILE)
        operation->file = weft_call_handle(call, WEFT_OBJECT_FILE);
    if (call->function->does & WEFT_DOES_RMA) {
        operation->win = weft_call_handle(call, WEFT_OBJECT_WIN);
        flights.on_windows++;
        operation->target =
            (int)weft_call_number(call, weft_call_find(call, WEFT_PARAMETER_RANK, 0), 0);
    }
    if (!(call->function->does & WEFT_DOES_PERSISTENT))
        start(operation);
}

/* A buffer in a frame that has returned, before the completing call writes or reads it. */
static void check_frames(struct operation *operation, const struct weft_call *call)
{
    if (operation->is_reported || !pthread_equal(operation->thread, pthread_self()) ||
        !check_buffers_on_thread_stack(call->frame))
        return;
    for (int i = 0; i < operation->n; i++) {
        struct buffer *buffer = &operation->buffer[i];
        if (!buffer->on_stack || buffer->area.high > (uintptr_t)call->frame)
            continue;
        check_report(CHECK_STACK_GONE, &operation->where, true,
                     "%s is a local variable of a function that returned before the operation "
                     "was complete",
                     buffer->name);
        operation->is_reported = true;
        return;
    }
}

/* The operation is complete: what it reads must be as it was. */
static void check_unchanged(struct operation *operation, const struct weft_call *call)
{
    char text[512];
    uint64_t hash;
    for (int i = 0; i < operation->n && !operation->is_reported; i++) {
        struct buffer *buffer = &operation->buffer[i];
        if (!buffer->is_hashed)
            continue;
        bool is_readable = check_area_hash(&buffer->area, &hash);
        if (is_readable && hash == buffer->hash)
            continue;
        struct check_location here = check_location_of(call);
        check_location_print(&here, text, sizeof text);
        if (is_readable)
            check_report(operation->win ? CHECK_ORIGIN_CHANGED : CHECK_SEND_CHANGED,
                         &operation->where, false,
                         "the program has changed %s between this call and %s", buffer->name, text);
        else
            check_report(CHECK_BUFFER_FREED, &operation->where, true,
                         "the memory of %s was freed between this call and %s", buffer->name, text);
        operation->is_reported = true;
    }
}

static void finish(struct operation *operation, const struct weft_call *call)
{
    if (operation->is_active)
        check_unchanged(operation, call);
    operation->is_active = false;
    check_watch_finish(operation->serial);
}

/* ---- Calls */

void check_buffers_begin(struct weft_call *call)
{
    const struct weft_function *function = call->function;
    struct check_changes *changes = call->state;
    bool is_blocking =
        !(function->does & (WEFT_DOES_NONBLOCKING | WEFT_DOES_PERSISTENT | WEFT_DOES_RMA));
    if (changes && check_flights) {
        check_mutex_lock(&flights.lock);
        for (int64_t i = 0; i < changes->n; i++) {
            struct check_change *change = &changes->list[i];
            struct operation *operation =
                function->parameter[change->parameter].object == WEFT_OBJECT_REQUEST
                    ? find_request(change->handle)
                    : NULL;
            change->serial = operation ? operation->serial : 0;
            if (operation && operation->is_active && (function->does & WEFT_DOES_COMPLETE))
                check_frames(operation, call);
        }
        check_mutex_unlock(&flights.lock);
    }
    if (!check_has(call, CHECK_HAS_DATA) || !is_checked(function))
        return;
    int data = weft_call_find(call, WEFT_PARAMETER_DATA, 0);
    const bool is_new = !check_known_of(call) && check_ranges_are_new(call);
    if (!is_new && weft_call_find(call, WEFT_PARAMETER_DATA, data + 1) < 0 &&
        (!is_blocking || !check_flights))
        return;
    struct operation operation = {0};
    if (is_new)
        check_range_of_types(call);
    describe(&operation, call);
    for (int i = 0; is_new && i < operation.n; i++)
        check_range(call, operation.buffer[i].parameter, &operation.buffer[i].area);
    check_alias(&operation);
    if (is_blocking) {
        check_mutex_lock(&flights.lock);
        compare_all(&operation);
        check_mutex_unlock(&flights.lock);
    }
    free_areas(&operation);
}

/* The operation of a request that the call has started, completed or freed. */
static void see_change(const struct weft_call *call, const struct check_change *change)
{
    const struct weft_function *function = call->function;
    struct operation *operation = change->serial ? find_serial(change->serial) : NULL;
    if (!operation)
        return;
    const void *after = weft_call_element(call, change->parameter, change->element);
    if (function->does & WEFT_DOES_START) {
        if (call->result == MPI_SUCCESS && !operation->is_active)
            start(operation);
    } else if (after != change->handle && weft_object_is_predefined(after)) {
        if (function->plain != WEFT_CALL_Request_free)
            finish(operation, call);
        erase(operation);
    } else if ((function->does & WEFT_DOES_COMPLETE) &&
               check_has_completed(call, change->element)) {
        finish(operation, call);
    }
}

/* MPI_Request_get_status and the like complete an operation and keep its request. */
static void see_status(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    for (int i = 0; i < function->parameters; i++) {
        const struct weft_parameter *parameter = &function->parameter[i];
        if (parameter->object != WEFT_OBJECT_REQUEST || parameter->flow != WEFT_FLOW_IN)
            continue;
        for (int64_t k = 0; k < weft_call_length(call, i); k++) {
            struct operation *operation = find_request(weft_call_element(call, i, k));
            if (operation && check_has_completed(call, k))
                finish(operation, call);
        }
    }
}

/* The call returns a request: an operation with its handle has been completed by a call that was
 * not seen. */
static void forget_request(const struct weft_call *call)
{
    const void *request = check_made_request(call);
    struct operation *old = request ? find_request(request) : NULL;
    if (old)
        erase(old);
}

void check_buffers_end(struct weft_call *call)
{
    const struct weft_function *function = call->function;
    const struct check_changes *changes = call->state;
    check_mutex_lock(&flights.lock);
    for (int64_t i = 0; changes && i < changes->n; i++)
        see_change(call, &changes->list[i]);
    if ((function->does & WEFT_DOES_COMPLETE) && call->result == MPI_SUCCESS &&
        check_has(call, CHECK_HAS_IN_REQUEST))
        see_status(call);
    if (check_flights && call->result == MPI_SUCCESS)
        forget_request(call);
    check_mutex_unlock(&flights.lock);
    if (!check_has(call, CHECK_HAS_DATA) || !is_checked(function) || call->result != MPI_SUCCESS)
        return;
    if (!(function->does & (WEFT_DOES_NONBLOCKING | WEFT_DOES_PERSISTENT | WEFT_DOES_RMA)))
        return;
    const void *request = check_made_request(call);
    const bool has_request = function->does & (WEFT_DOES_NONBLOCKING | WEFT_DOES_PERSISTENT);
    if (has_request && weft_object_is_predefined(request))
        return; /* complete already: of MPI_PROC_NULL, for example */
    check_mutex_lock(&flights.lock);
    insert(call, request);
    check_mutex_unlock(&flights.lock);
}

void check_buffers_leave(const struct check_changes *changes)
{
    check_mutex_lock(&flights.lock);
    for (int64_t i = 0; i < changes->n; i++) {
        const uint64_t serial = changes->list[i].serial;
        struct operation *operation = serial ? find_serial(serial) : NULL;
        if (operation)
            erase(operation);
    }
    check_mutex_unlock(&flights.lock);
}

static bool is_of(const struct operation *operation, const void *win, int target)
{
    return operation->win == win && (target < 0 || operation->target == target);
}

void check_buffers_verify(const struct weft_call *call, const void *win, int target)
{
    check_mutex_lock(&flights.lock);
    for (int i = 0; i < check_flights; i++)
        if (is_of(&flights.list[i], win, target) && flights.list[i].is_active) {
            check_frames(&flights.list[i], call);
            check_unchanged(&flights.list[i], call);
        }
    check_mutex_unlock(&flights.lock);
}

void check_buffers_complete(const void *win, int target)
{
    check_mutex_lock(&flights.lock);
    for (int i = check_flights - 1; i >= 0; i--)
        if (is_of(&flights.list[i], win, target)) {
            check_watch_finish(flights.list[i].serial);
            erase(&flights.list[i]);
        }
    check_mutex_unlock(&flights.lock);
}

bool check_buffers_find_file(const void *file, struct check_location *begun)
{
    bool is_found = false;
    check_mutex_lock(&flights.lock);
    for (int i = 0; i < check_flights && !is_found; i++) {
        is_found = flights.list[i].file == file && flights.list[i].is_active;
        *begun = flights.list[i].where;
    }
    check_mutex_unlock(&flights.lock);
    return is_found;
}
