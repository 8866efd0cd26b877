// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T's events (MPI 5.0 section 15.3.8): things that happen on slow ways, told to callbacks.
 *
 * A callback is called where the event happens, inside the library, if it was registered for that:
 * MPI_T_CB_REQUIRE_MPI_RESTRICTED, or, with a progress thread, which may run beside the program,
 * MPI_T_CB_REQUIRE_THREAD_SAFE. One registered for less is called at the beginning of the next MPI
 * function, where it may call MPI itself; until then up to WEFT_EVENTS_QUEUED events wait for it,
 * and further ones are dropped and counted.
 *
 * Invariants:
 *  - weft_event_armed has the bit of an event type exactly while somebody is registered for it: one
 *    load and a branch on a slow way is all that an event costs that nobody asks for.
 *  - The data of an instance stay as they are until its callback has returned.
 */
#ifndef WEFT_EVENT_H
#define WEFT_EVENT_H

#include "core/object/handle.h"
#include "core/pt2pt/peer.h"
#include "core/tool/tool.h"

struct weft_info;

enum weft_event_type {
    WEFT_EVENT_UNEXPECTED, /* a message has come that no receive waits for */
    WEFT_EVENT_CONTACT,    /* the first contact with a rank */
    WEFT_EVENT_RENDEZVOUS, /* a send is announced, its data wait for their receive */
    WEFT_EVENT_BACKLOG,    /* what is sent to a rank begins to wait */
    WEFT_EVENT_DEATH,      /* a rank was reported dead */
    WEFT_EVENTS
};

enum { WEFT_EVENT_ELEMENTS = 4, WEFT_EVENTS_QUEUED = 256 };

/* What is told: one structure for all types, of which each has the elements that its row names. */
struct weft_event_data {
    int32_t rank; /* in MPI_COMM_WORLD; of an unexpected message: in its communicator */
    int32_t lane; /* enum weft_lane less WEFT_LANE_SELF */
    int32_t tag;
    uint32_t context; /* the communicator's context id */
    uint64_t bytes;   /* of the user's message */
};

struct weft_event_row {
    const char *name, *help;
    const char *elements; /* their names, as an enumeration: "rank|lane" */
    enum weft_tool_category category;
    struct {
        MPI_Datatype type;
        size_t at; /* in struct weft_event_data */
    } element[WEFT_EVENT_ELEMENTS];
};

extern const struct weft_event_row weft_event_types[WEFT_EVENTS];

extern WEFT_HIDDEN unsigned weft_event_armed;

/* Protects registrations and instances; taken after VCIs. A thread may take it several times, and asks
 * whether it has. */
void weft_event_lock(void);
void weft_event_unlock(void);
bool weft_event_is_locked(void);

/* Calls the callbacks that are registered. */
WEFT_COLD void weft_event_raise(enum weft_event_type type, const struct weft_event_data *data);

static inline bool weft_event_wanted(enum weft_event_type type)
{
    return weft_unlikely(__atomic_load_n(&weft_event_armed, __ATOMIC_RELAXED) & 1U << type);
}

/* Tells what happened with a rank of MPI_COMM_WORLD, on an enum weft_lane, to who asked for it; tag and
 * bytes are 0 where the type has none. */
static inline void weft_event_of_rank(enum weft_event_type type, int rank, int lane, int tag,
                                      uint64_t bytes)
{
    if (weft_event_wanted(type))
        weft_event_raise(
            type, &(struct weft_event_data){
                      .rank = rank, .lane = lane - WEFT_LANE_SELF, .tag = tag, .bytes = bytes});
}

/* Calls the callbacks that could not be called where their events happened. Not with the lock held,
 * at the beginning of an MPI function. */
WEFT_COLD void weft_event_deliver(void);

/* ---- For the entry points: codes of MPI_T, under the lock */

/* Nanoseconds of the one source, a monotonic clock. */
int64_t weft_event_now(void);

/* One allocated handle. */
struct weft_registration *weft_registration_find(MPI_T_event_registration handle);
int weft_registration_make(int type, MPI_T_event_registration *handle);
void weft_registration_drop(struct weft_registration *registration, void *user_data,
                            MPI_T_event_free_cb_function *free_callback);
int weft_registration_set(struct weft_registration *registration, MPI_T_cb_safety safety,
                          void *user_data, MPI_T_event_cb_function *callback);
void weft_registration_on_drop(struct weft_registration *registration,
                               MPI_T_event_dropped_cb_function *callback);

/* Whether a callback is registered for that very level. */
bool weft_registration_has(const struct weft_registration *registration, MPI_T_cb_safety safety);

/* The index of a level in the order of what it demands, or -1. */
int weft_event_level(MPI_T_cb_safety safety);

/* An instance whose callback is running. */
struct weft_instance {
    enum weft_event_type type;
    int64_t when;
    struct weft_event_data data;
    struct weft_instance *next;
};

struct weft_instance *weft_instance_find(MPI_T_event_instance handle);

/* Copies one element; returns its bytes. */
size_t weft_instance_read(const struct weft_instance *instance, int element, void *to);

/* Bytes from the first element of a type to the end of its last, as displacements tell. */
size_t weft_event_displacement(enum weft_event_type type, int element);
int weft_event_count(enum weft_event_type type);

void weft_event_free_all(void);

#endif
