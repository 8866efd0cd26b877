// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that are the same as one before: a message that is sent or received again from the same
 * line, with the same arguments, while no communicator or datatype has been made, changed or freed.
 * What the modules have read from its arguments then is kept, and what they have checked of its
 * handles and its buffer is true again.
 *
 * Only MPI_Send, MPI_Recv, MPI_Isend, MPI_Irecv and their kin are kept, if all their arguments were
 * in order. The buffers of operations in flight are compared in each call.
 */
#ifndef WEFT_CHECK_KNOWN_H
#define WEFT_CHECK_KNOWN_H

#include "tools/check/matching.h"

enum { CHECK_KNOWN_VALUES = 6 }; /* without the request or status */

struct check_known {
    const void *site;
    const struct weft_function *function; /* NULL: the entry is free */
    uint64_t generation;                  /* of the handles */
    union weft_value values[CHECK_KNOWN_VALUES];
    int dest; /* of a send */
    union {
        struct check_record record; /* of a send */
        struct check_posted posted; /* of a receive */
    };
};

/* At the begin of each call: true if there is one that is the same, which check_known_of returns
 * until the next begin. Not with MPI_THREAD_MULTIPLE. */
bool check_known_begin(const struct weft_call *call);
const struct check_known *check_known_of(const struct weft_call *call);

/* Keeps a send or a receive whose arguments are in order. */
void check_known_keep_send(const struct weft_call *call, const struct check_record *record,
                           int dest);
void check_known_keep_receive(const struct weft_call *call, const struct check_posted *posted);

/* A call makes, changes or frees a communicator or datatype. */
void check_known_forget(void);

#endif
