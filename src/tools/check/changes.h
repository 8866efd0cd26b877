// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handles that a call changes (MPI_Wait, MPI_Comm_free), as they were before the call, because the
 * call overwrites them. call->state points at them from weft_call_begin to weft_call_end.
 */
#ifndef WEFT_CHECK_CHANGES_H
#define WEFT_CHECK_CHANGES_H

#include "tools/check/check.h"

struct check_change {
    int parameter;
    int64_t element;
    const void *handle;
    uint64_t object; /* objects.c: the number of the object; 0: it is not known */
    uint64_t serial; /* buffers.c: the operation in flight of a request */
};

struct check_changes {
    struct check_changes *below; /* of the call of this thread that was begun before */
    const struct weft_function *function;
    uintptr_t frame; /* of the call */
    int64_t n, capacity;
    struct check_change list[];
};

/* Before and after the modules. */
void check_changes_keep(struct weft_call *call);
void check_changes_free(struct weft_call *call);

/* The changes of the innermost call if its frame is below an address: it was left, and does not
 * end. NULL: there is none. The caller frees them. */
struct check_changes *check_changes_take_left(uintptr_t limit);
void check_changes_free_left(struct check_changes *changes);

/* The request that a call has made; NULL: it makes none. */
const void *check_made_request(const struct weft_call *call);

/* True if a completing call has ended the operation of element i of its requests. The handle of an
 * operation that is not persistent has become MPI_REQUEST_NULL then, too. */
bool check_has_completed(const struct weft_call *call, int64_t element);

#endif
