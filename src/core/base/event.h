// SPDX-License-Identifier: BSD-3-Clause
/*
 * The hook at which events are raised; core/tool/event.h, above all who raise them, sets it.
 *
 * Invariant: an event without callbacks costs one load and one branch.
 */
#ifndef WEFT_BASE_EVENT_H
#define WEFT_BASE_EVENT_H

#include "core/base/handle.h"

#include <stdbool.h>
#include <stdint.h>

enum weft_event_type {
    WEFT_EVENT_UNEXPECTED,  /* a message entered the unexpected queue */
    WEFT_EVENT_CONTACT,     /* first contact with a rank */
    WEFT_EVENT_RENDEZVOUS,  /* a send was announced by an RTS */
    WEFT_EVENT_TRANSFERRED, /* the data of a rendezvous were sent, or received */
    WEFT_EVENT_BACKLOG,     /* a send to a rank entered the backlog */
    WEFT_EVENT_DEATH,       /* a rank was reported dead */
    WEFT_EVENT_HANG,        /* a report of a hang was written */
    WEFT_EVENT_COLLECTIVE,  /* the messages of a collective were planned */
    WEFT_EVENTS
};

/* The data of all event types; the row of a type lists its elements. */
struct weft_event_data {
    int32_t rank; /* in MPI_COMM_WORLD; WEFT_EVENT_UNEXPECTED: in the communicator */
    int32_t lane; /* its number minus 1 */
    int32_t tag;
    int32_t sends;     /* WEFT_EVENT_TRANSFERRED: 1: this rank is the sender */
    int32_t algorithm; /* enum weft_algorithm */
    uint32_t context;  /* context id of the communicator */
    uint64_t bytes;    /* size of the message; of a collective, what its rules compare */
};

/* Bit t is set while there are callbacks for event type t; then raise calls them, or queues the
 * calls.
 */
extern WEFT_HIDDEN unsigned weft_event_armed;
extern WEFT_HIDDEN void (*weft_event_raise)(enum weft_event_type type,
                                            const struct weft_event_data *data);

static inline bool weft_event_wanted(enum weft_event_type type)
{
    return weft_unlikely(__atomic_load_n(&weft_event_armed, __ATOMIC_RELAXED) & 1U << type);
}

#endif
