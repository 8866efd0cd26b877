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
 *  - Bit t of weft_event_armed (core/base/event.h) is set exactly while a callback is registered
 *    for event type t.
 *  - The data of an instance are unchanged until its callback has returned.
 */
#ifndef WEFT_EVENT_H
#define WEFT_EVENT_H

#include "core/base/clock.h"
#include "core/base/event.h"
#include "core/tool/tool.h"

struct weft_info;

enum { WEFT_EVENT_ELEMENTS = 4, WEFT_EVENTS_QUEUED = 256 };

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

/* Protects registrations and instances; taken after VCIs. A thread may take it several times, and
 * can test whether it holds it. */
void weft_event_lock(void);
void weft_event_unlock(void);
bool weft_event_is_locked(void);

/* Calls the deferred callbacks, at the beginning of an MPI function, without the lock. Waits is
 * true while there are any: the entry flag WEFT_ENTRY_EVENTS is set then, unless it is
 * WEFT_ENTRY_CLOSED. */
WEFT_COLD void weft_event_deliver(void);
bool weft_event_waits(void);

/* ---- For the entry points. Called under the lock; results are codes of MPI_T */

/* Nanoseconds of the only event source, a monotonic clock. */
static inline int64_t weft_event_now(void)
{
    return (int64_t)weft_nanoseconds();
}

/* Registrations: event handles of MPI_T. */
struct weft_event_registration *weft_event_registration_find(MPI_T_event_registration handle);
int weft_event_registration_make(int type, MPI_T_event_registration *handle);
void weft_event_registration_drop(struct weft_event_registration *registration, void *user_data,
                                  MPI_T_event_free_cb_function *free_callback);
int weft_event_registration_set(struct weft_event_registration *registration,
                                MPI_T_cb_safety safety, void *user_data,
                                MPI_T_event_cb_function *callback);
void weft_event_registration_on_drop(struct weft_event_registration *registration,
                                     MPI_T_event_dropped_cb_function *callback);

/* True if a callback is registered for exactly this level. */
bool weft_event_registration_has(const struct weft_event_registration *registration,
                                 MPI_T_cb_safety safety);

/* An event whose callback is queued or running. */
struct weft_event_instance {
    enum weft_event_type type;
    int64_t when;
    struct weft_event_data data;
    struct weft_event_instance *next;
};

struct weft_event_instance *weft_event_instance_find(MPI_T_event_instance handle);

/* Copies one element. Returns its size in bytes. */
size_t weft_event_instance_read(const struct weft_event_instance *instance, int element, void *to);

/* The number of elements of a type; the displacement of an element in bytes, where the element
 * after the last one is the end. */
int weft_event_count(enum weft_event_type type);
size_t weft_event_displacement(enum weft_event_type type, int element);

/* Frees all registrations at the last MPI_T_finalize. */
void weft_event_free_all(void);

#endif
