// SPDX-License-Identifier: BSD-3-Clause
/*
 * Objects: what handles stand for, from the call that made them to the one that freed them.
 *
 * By the kinds of parameters (call.h): a handle that a call returns is made by it; a handle that a
 * call changes to a constant (MPI_Comm_free, MPI_Wait of a nonblocking request) is freed by it;
 * each handle that a call reads has to be live. objects.c names only the functions that differ from
 * that: those that return another's object, and what is peculiar to requests and datatypes.
 *
 * Handles are addresses, which the library uses again: a freed object is kept until its handle
 * returns. That may be before the end of the call that has freed it, in another thread or in an
 * error handler, so a call frees only the object that the handle had at its begin. A handle that is
 * in no table is not judged, because there are calls that make objects and are not seen (PMPI_X).
 *
 * The kinds that follow messages need the table, too: which requests are active. Without the kind
 * objects nothing is reported.
 *
 * Invariants:
 *  - A live object has uses > 0: MPI_Comm_get_errhandler and the like return a handle that exists,
 *    and each has to be freed.
 *  - Predefined handles are in no table.
 */
#ifndef WEFT_CHECK_OBJECTS_H
#define WEFT_CHECK_OBJECTS_H

#include "tools/check/check.h"
#include "tools/check/signature.h"

struct check_object {
    const void *handle; /* NULL: the slot is empty */
    uint64_t number;    /* of the object among all */
    enum weft_object_kind kind;
    int uses;                             /* 0: freed, below: not known */
    bool persistent, active, generalized; /* of a request */
    bool may_be_freed;                    /* while active: cancelled, or known to be complete */
    bool committed;                       /* of a datatype */
    bool described;                       /* its signature is known */
    struct check_signature signature;
    struct check_location made, freed;
};

/* The object of a handle, NULL if there is none. The lock is held. */
struct check_object *check_object_find(enum weft_object_kind kind, const void *handle);

/* True for a persistent request that is not started. */
bool check_objects_is_inactive(const void *request);

/* True for a request of MPI_Grequest_start, whose state is asked of the program. */
bool check_objects_is_generalized(const void *request);

#endif
