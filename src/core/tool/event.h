// SPDX-License-Identifier: BSD-3-Clause
/*
 * Events of MPI_T (MPI 5.0 section 15.3.8): callbacks for rare events on general paths.
 *
 * A callback is called at the event, inside the library, if its safety level permits that:
 * MPI_T_CB_REQUIRE_MPI_RESTRICTED, or MPI_T_CB_REQUIRE_THREAD_SAFE with a progress thread. A
 * callback of a lower level is deferred to the beginning of the next MPI function, where it may
 * call MPI. Up to WEFT_EVENTS_QUEUED deferred events are queued for a callback; further ones are
 * dropped and counted.
 *
 * Invariants:
 *  - Bit t of weft_event_armed is set exactly while a callback is registered for event type t, so
 *    an event without callbacks costs one load and one branch.
 *  - The data of an instance are unchanged until its callback has returned.
 */
#ifndef WEFT_EVENT_H
#define WEFT_EVENT_H

#include "core/base/handle.h"
#include "core/message/peer.h"
#include "core/tool/tool.h"

struct weft_info;

enum weft_event_type {
    WEFT_EVENT_UNEXPECTED, /* a message entered the unexpected queue */
    WEFT_EVENT_CONTACT,    /* first contact with a rank */
    WEFT_EVENT_RENDEZVOUS, /* a send was announced by an RTS */
    WEFT_EVENT_BACKLOG,    /* a send to a rank entered the backlog */
    WEFT_EVENT_DEATH,      /* a rank was reported dead */
    WEFT_EVENTS
};

enum { WEFT_EVENT_ELEMENTS = 4, WEFT_EVENTS_QUEUED = 256 };

/* The data of all event types; the row of a type lists its elements. */
struct weft_event_data {
    int32_t rank; /* in MPI_COMM_WORLD; WEFT_EVENT_UNEXPECTED: in the communicator */
    int32_t lane; /* enum weft_lane minus WEFT_LANE_SELF */
    int32_t tag;
    uint32_t context; /* context id of the communicator */
    uint64_t bytes;   /* size of the message */
};

struct weft_event_row {
    const char *name, *help;
    const char *elements; /* names of the elements, as an enumeration: "rank|lane" */
    enum weft_tool_category category;
    struct {
        MPI_Datatype type;
        size_t at; /* offset in struct weft_event_data */
    } element[WEFT_EVENT_ELEMENTS];
};

extern const struct weft_event_row weft_event_types[WEFT_EVENTS];

extern WEFT_HIDDEN unsigned weft_event_armed;

/* Protects registrations and instances; taken after VCIs. A thread may take it several times, and
 * can test whether it holds it. */
void weft_event_lock(void);
void weft_event_unlock(void);
bool weft_event_is_locked(void);

/* Calls, or queues, the callbacks of an event type. */
WEFT_COLD void weft_event_raise(enum weft_event_type type, const struct weft_event_data *data);

static inline bool weft_event_wanted(enum weft_event_type type)
{
    return weft_unlikely(__atomic_load_n(&weft_event_armed, __ATOMIC_RELAXED) & 1U << type);
}

/* Raises an event of a rank of MPI_COMM_WORLD on a lane (enum weft_lane); tag and bytes are 0 if
 * the type does not have them. */
static inline void weft_event_of_rank(enum weft_event_type type, int rank, int lane, int tag,
                                      uint64_t bytes)
{
    if (weft_event_wanted(type))
        weft_event_raise(
            type, &(struct weft_event_data){
                      .rank = rank, .lane = lane - WEFT_LANE_SELF, .tag = tag, .bytes = bytes});
}

/* Calls the deferred callbacks, at the beginning of an MPI function, without the lock. */
WEFT_COLD void weft_event_deliver(void);

/* ---- For the entry points. Called under the lock; results are codes of MPI_T */

/* Nanoseconds of the only event source, a monotonic clock. */
int64_t weft_event_now(void);

/* Registrations: event handles of MPI_T. */
struct weft_registration *weft_registration_find(MPI_T_event_registration handle);
int weft_registration_make(int type, MPI_T_event_registration *handle);
void weft_registration_drop(struct weft_registration *registration, void *user_data,
                            MPI_T_event_free_cb_function *free_callback);
int weft_registration_set(struct weft_registration *registration, MPI_T_cb_safety safety,
                          void *user_data, MPI_T_event_cb_function *callback);
void weft_registration_on_drop(struct weft_registration *registration,
                               MPI_T_event_dropped_cb_function *callback);

/* Whether a callback is registered for exactly this level. */
bool weft_registration_has(const struct weft_registration *registration, MPI_T_cb_safety safety);

/* An event whose callback is queued or running. */
struct weft_instance {
    enum weft_event_type type;
    int64_t when;
    struct weft_event_data data;
    struct weft_instance *next;
};

struct weft_instance *weft_instance_find(MPI_T_event_instance handle);

/* Copies one element. Returns its size in bytes. */
size_t weft_instance_read(const struct weft_instance *instance, int element, void *to);

/* The number of elements of a type; the displacement of an element in bytes, where the element
 * after the last one is the end. */
int weft_event_count(enum weft_event_type type);
size_t weft_event_displacement(enum weft_event_type type, int element);

/* Frees all registrations at the last MPI_T_finalize. */
void weft_event_free_all(void);

#endif
