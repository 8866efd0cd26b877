// SPDX-License-Identifier: BSD-3-Clause
/*
 * Events and their callbacks: see event.h.
 *
 * Invariants:
 *  - A registration is freed when none of its callbacks runs (busy == 0) and no loop visits the
 *    list (walks == 0); until then a dropped registration is marked dead.
 *  - Callbacks of deferred events run without the lock, so that they may call MPI and block.
 */
#include "core/tool/event.h"

#include "core/base/settings.h"
#include "core/message/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 4 };

struct weft_event_registration {
    struct weft_event_registration *next;
    int type;
    bool dead;
    int busy;
    MPI_Count dropped; /* events dropped since on_drop was last called */
    struct {
        MPI_T_event_cb_function *call;
        void *user_data;
    } level[LEVELS];
    MPI_T_event_dropped_cb_function *on_drop;
    MPI_T_event_free_cb_function *on_free;
    void *free_data;
    int waiting; /* instances in its queue */
    struct weft_event_instance *first, **last;
};

/* clang-format off */
#define ELEMENT(type, member) {type, offsetof(struct weft_event_data, member)}
#define RANK    ELEMENT(MPI_INT32_T, rank)
#define LANE    ELEMENT(MPI_INT32_T, lane)
#define TAG     ELEMENT(MPI_INT32_T, tag)
#define CONTEXT ELEMENT(MPI_UINT32_T, context)
#define BYTES   ELEMENT(MPI_UINT64_T, bytes)
#define SENDS   ELEMENT(MPI_INT32_T, sends)
#define ALGORITHM ELEMENT(MPI_INT32_T, algorithm)

const struct weft_event_row weft_event_types[WEFT_EVENTS] = {
    [WEFT_EVENT_UNEXPECTED] =
        {"weft_unexpected_message",
         "a message without a posted receive has arrived; rank is the source in the communicator",
         "rank|tag|context|bytes", WEFT_TOOL_MATCHING, {RANK, TAG, CONTEXT, BYTES}},
    [WEFT_EVENT_CONTACT] =
        {"weft_contact",
         "first contact with a rank of MPI_COMM_WORLD; lane 0 is this process, 1 shared memory, 2 "
         "the network",
         "rank|lane", WEFT_TOOL_PROCESS, {RANK, LANE}},
    [WEFT_EVENT_RENDEZVOUS] =
        {"weft_rendezvous",
         "a send to a rank of MPI_COMM_WORLD was announced by an RTS and waits for its receive",
         "rank|lane|tag|bytes", WEFT_TOOL_PROCESS, {RANK, LANE, TAG, BYTES}},
    [WEFT_EVENT_TRANSFERRED] =
        {"weft_rendezvous_end",
         "the data of a rendezvous with a rank of MPI_COMM_WORLD were sent (sends 1) or have "
         "arrived (0)",
         "rank|lane|sends|bytes", WEFT_TOOL_PROCESS, {RANK, LANE, SENDS, BYTES}},
    [WEFT_EVENT_BACKLOG] =
        {"weft_backlog",
         "a send to a rank of MPI_COMM_WORLD waits, because the rank or network accepts no more",
         "rank|lane", WEFT_TOOL_PROCESS, {RANK, LANE}},
    [WEFT_EVENT_DEATH] =
        {"weft_death", "a rank of MPI_COMM_WORLD was reported dead",
         "rank|lane", WEFT_TOOL_PROCESS, {RANK, LANE}},
    [WEFT_EVENT_HANG] =
        {"weft_hang", "this rank of MPI_COMM_WORLD waits for long, and has printed what for",
         "rank", WEFT_TOOL_PROCESS, {RANK}},
    [WEFT_EVENT_COLLECTIVE] =
        {"weft_collective",
         "a collective that takes messages was planned; the enumeration of the variable "
         "weft_collective names its algorithm",
         "algorithm|bytes", WEFT_TOOL_COLLECTIVES, {ALGORITHM, BYTES}},
};
/* clang-format on */

static struct weft_event_registration *registrations;
static struct weft_event_instance *running; /* instances whose callbacks run */
static int walks;

/* The index of a level, the least restrictive first, or -1. */
static int level_index(MPI_T_cb_safety safety)
{
    static const MPI_T_cb_safety levels[LEVELS] = {
        MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
        MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
    for (int i = 0; i < LEVELS; i++)
        if (levels[i] == safety)
            return i;
    return -1;
}

/* The level that a callback requires to be called at the event. */
static MPI_T_cb_safety immediate_level(void)
{
    return weft_settings.progress_thread ? MPI_T_CB_REQUIRE_THREAD_SAFE
                                         : MPI_T_CB_REQUIRE_MPI_RESTRICTED;
}

/* The lowest level >= from with a callback, or -1. */
static int lowest(const struct weft_event_registration *registration, int from)
{
    for (int i = from; i < LEVELS; i++)
        if (registration->level[i].call)
            return i;
    return -1;
}

static void raise_event(enum weft_event_type type, const struct weft_event_data *data);

static void arm(void)
{
    unsigned armed = 0;
    for (const struct weft_event_registration *r = registrations; r; r = r->next)
        if (!r->dead && lowest(r, 0) >= 0)
            armed |= 1U << r->type;
    weft_event_raise = raise_event;
    __atomic_store_n(&weft_event_armed, armed, __ATOMIC_RELEASE);
}

static void destroy(struct weft_event_registration *registration)
{
    weft_assert(registration->dead && !registration->busy && weft_event_is_locked());
    while (registration->first) {
        struct weft_event_instance *instance = registration->first;
        registration->first = instance->next;
        free(instance);
    }
    if (registration->on_free)
        registration->on_free((MPI_T_event_registration)registration,
                              MPI_T_CB_REQUIRE_MPI_RESTRICTED, registration->free_data);
    free(registration);
}

/* Frees the dead registrations that are not in use. */
static void sweep(void)
{
    struct weft_event_registration **link = &registrations;
    while (!walks && *link) {
        struct weft_event_registration *registration = *link;
        if (!registration->dead || registration->busy) {
            link = &registration->next;
            continue;
        }
        *link = registration->next;
        destroy(registration);
    }
}

/* ---- The lock: an event is raised by a thread that may hold one VCI, so VCIs do not protect what
 * is here. A callback may call MPI_T. */

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static _Thread_local unsigned depth;

void weft_event_lock(void)
{
    pthread_mutex_lock(&lock);
    depth++;
}

void weft_event_unlock(void)
{
    weft_assert(depth > 0);
    depth--;
    pthread_mutex_unlock(&lock);
}

bool weft_event_is_locked(void)
{
    return depth > 0;
}

/* ---- Raising */

static void begin_instance(struct weft_event_registration *registration,
                           struct weft_event_instance *instance)
{
    registration->busy++;
    instance->next = running;
    running = instance;
}

static void end_instance(struct weft_event_registration *registration,
                         struct weft_event_instance *instance)
{
    struct weft_event_instance **link = &running;
    weft_assert(running && registration->busy > 0);
    while (*link != instance)
        link = &(*link)->next;
    *link = instance->next;
    registration->busy--;
}

static bool waits; /* deferred events are queued */

/* The progress thread may call this while other threads read the flags. */
static void set_waits(bool now)
{
    waits = now;
    if (now && !(weft_entry_flags & WEFT_ENTRY_CLOSED))
        __atomic_fetch_or(&weft_entry_flags, WEFT_ENTRY_EVENTS, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(&weft_entry_flags, ~(unsigned)WEFT_ENTRY_EVENTS, __ATOMIC_RELAXED);
}

bool weft_event_waits(void)
{
    return waits;
}

static void enqueue(struct weft_event_registration *registration,
                    const struct weft_event_instance *instance)
{
    struct weft_event_instance *copy =
        registration->waiting < WEFT_EVENTS_QUEUED ? malloc(sizeof *copy) : NULL;
    set_waits(true);
    if (!copy) {
        registration->dropped++;
        return;
    }
    *copy = *instance;
    copy->next = NULL;
    weft_assert(!*registration->last);
    *registration->last = copy;
    registration->last = &copy->next;
    registration->waiting++;
}

static WEFT_COLD void raise_event(enum weft_event_type type, const struct weft_event_data *data)
{
    weft_event_lock();
    MPI_T_cb_safety here = immediate_level();
    struct weft_event_instance instance = {.type = type, .when = weft_event_now(), .data = *data};
    walks++;
    for (struct weft_event_registration *r = registrations; r; r = r->next) {
        if (r->dead || r->type != (int)type)
            continue;
        int level = lowest(r, level_index(here));
        if (level < 0 && lowest(r, 0) >= 0) {
            enqueue(r, &instance);
        } else if (level >= 0) {
            begin_instance(r, &instance);
            r->level[level].call((MPI_T_event_instance)&instance, (MPI_T_event_registration)r, here,
                                 r->level[level].user_data);
            end_instance(r, &instance);
        }
    }
    weft_assert(walks > 0);
    walks--;
    sweep();
    weft_event_unlock();
}

/* ---- Deferred events */

/* The registration with the oldest queued event, or NULL. */
static struct weft_event_registration *oldest(void)
{
    struct weft_event_registration *found = NULL;
    for (struct weft_event_registration *r = registrations; r; r = r->next)
        if (!r->dead && r->first && (!found || r->first->when < found->first->when))
            found = r;
    return found;
}

static struct weft_event_registration *with_drops(void)
{
    for (struct weft_event_registration *r = registrations; r; r = r->next)
        if (!r->dead && r->dropped && lowest(r, 0) >= 0)
            return r;
    return NULL;
}

static void deliver_one(struct weft_event_registration *registration)
{
    struct weft_event_instance *instance = registration->first;
    int level = lowest(registration, 0);
    registration->first = instance->next;
    if (!registration->first)
        registration->last = &registration->first;
    weft_assert(registration->waiting > 0);
    registration->waiting--;
    MPI_T_event_cb_function *call = level < 0 ? NULL : registration->level[level].call;
    void *user_data = level < 0 ? NULL : registration->level[level].user_data;
    begin_instance(registration, instance);
    weft_event_unlock();
    if (call)
        call((MPI_T_event_instance)instance, (MPI_T_event_registration)registration,
             MPI_T_CB_REQUIRE_NONE, user_data);
    weft_event_lock();
    end_instance(registration, instance);
    free(instance);
}

static void report_drops(struct weft_event_registration *registration)
{
    MPI_Count dropped = registration->dropped;
    MPI_T_event_dropped_cb_function *call = registration->on_drop;
    void *user_data = registration->level[lowest(registration, 0)].user_data;
    registration->dropped = 0;
    registration->busy++;
    weft_event_unlock();
    if (call)
        call(dropped, (MPI_T_event_registration)registration, 0, MPI_T_CB_REQUIRE_NONE, user_data);
    weft_event_lock();
    weft_assert(registration->busy > 0);
    registration->busy--;
}

void weft_event_deliver(void)
{
    static _Thread_local bool delivering; /* a callback that calls MPI enters this function again */
    struct weft_event_registration *registration;
    if (delivering)
        return;
    delivering = true;
    weft_event_lock();
    while ((registration = oldest()) != NULL)
        deliver_one(registration);
    while ((registration = with_drops()) != NULL)
        report_drops(registration);
    set_waits(false);
    sweep();
    weft_event_unlock();
    delivering = false;
}

/* ---- Registrations */

struct weft_event_registration *weft_event_registration_find(MPI_T_event_registration handle)
{
    struct weft_event_registration *r = registrations;
    while (r && (r->dead || (MPI_T_event_registration)r != handle))
        r = r->next;
    return r;
}

int weft_event_registration_make(int type, MPI_T_event_registration *handle)
{
    struct weft_event_registration *registration = calloc(1, sizeof *registration);
    if (!registration)
        return MPI_T_ERR_MEMORY;
    registration->type = type;
    registration->last = &registration->first;
    registration->next = registrations;
    registrations = registration;
    *handle = (MPI_T_event_registration)registration;
    return MPI_SUCCESS;
}

void weft_event_registration_drop(struct weft_event_registration *registration, void *user_data,
                                  MPI_T_event_free_cb_function *free_callback)
{
    registration->dead = true;
    registration->on_free = free_callback;
    registration->free_data = user_data;
    arm();
    sweep();
}

int weft_event_registration_set(struct weft_event_registration *registration,
                                MPI_T_cb_safety safety, void *user_data,
                                MPI_T_event_cb_function *callback)
{
    int level = level_index(safety);
    if (level < 0)
        return MPI_T_ERR_INVALID;
    registration->level[level].call = callback;
    registration->level[level].user_data = user_data;
    arm();
    return MPI_SUCCESS;
}

void weft_event_registration_on_drop(struct weft_event_registration *registration,
                                     MPI_T_event_dropped_cb_function *callback)
{
    registration->on_drop = callback;
}

bool weft_event_registration_has(const struct weft_event_registration *registration,
                                 MPI_T_cb_safety safety)
{
    int level = level_index(safety);
    return level >= 0 && registration->level[level].call;
}

void weft_event_free_all(void)
{
    for (struct weft_event_registration *r = registrations; r; r = r->next)
        r->dead = true;
    weft_event_armed = 0;
    sweep();
}

/* ---- Instances */

struct weft_event_instance *weft_event_instance_find(MPI_T_event_instance handle)
{
    struct weft_event_instance *instance = running;
    while (instance && (MPI_T_event_instance)instance != handle)
        instance = instance->next;
    return instance;
}

/* Elements have 4 or 8 bytes. */
static size_t size_of(MPI_Datatype type)
{
    return type == MPI_UINT64_T ? sizeof(uint64_t) : sizeof(uint32_t);
}

int weft_event_count(enum weft_event_type type)
{
    int count = 0;
    while (count < WEFT_EVENT_ELEMENTS &&
           weft_event_types[type].element[count].type != MPI_DATATYPE_NULL &&
           weft_event_types[type].element[count].type)
        count++;
    return count;
}

size_t weft_event_displacement(enum weft_event_type type, int element)
{
    size_t at = 0;
    for (int i = 0; i <= element; i++) {
        size_t size = i < weft_event_count(type) ? size_of(weft_event_types[type].element[i].type)
                                                 : 1; /* the end */
        at = (at + size - 1) / size * size;
        if (i < element)
            at += size;
    }
    return at;
}

size_t weft_event_instance_read(const struct weft_event_instance *instance, int element, void *to)
{
    const struct weft_event_row *row = &weft_event_types[instance->type];
    size_t bytes = size_of(row->element[element].type);
    memcpy(to, (const char *)&instance->data + row->element[element].at, bytes);
    return bytes;
}
