// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handles that a call changes: see changes.h.
 */
#include "tools/check/changes.h"

#include <stdlib.h>

/* Space for the handles of most calls, which is used again. */
enum { SPARE = 8 };
static CHECK_THREAD struct check_changes *spare;

static CHECK_THREAD struct check_changes *innermost; /* of the calls that the thread is in */

static struct check_changes *allocate(int64_t n)
{
    struct check_changes *changes = spare;
    if (n > SPARE || !changes) {
        n = n > SPARE ? n : SPARE;
        changes = weft_interpose_allocate(1, sizeof *changes + (size_t)n * sizeof changes->list[0]);
        changes->capacity = n;
    } else {
        spare = NULL;
    }
    changes->n = 0;
    return changes;
}

static bool changes_handle(const struct weft_parameter *parameter)
{
    return parameter->object != WEFT_OBJECT_NONE && parameter->flow == WEFT_FLOW_INOUT;
}

void check_changes_keep(struct weft_call *call)
{
    const struct weft_function *function = call->function;
    int64_t n = 0;
    if (!check_has(call, CHECK_HAS_INOUT_HANDLE))
        return;
    for (int i = 0; i < function->parameters; i++)
        if (changes_handle(&function->parameter[i]) && weft_call_length(call, i) > 0)
            n += weft_call_length(call, i);
    if (n == 0)
        return;
    struct check_changes *changes = allocate(n);
    for (int i = 0; i < function->parameters; i++)
        for (int64_t k = 0;
             changes_handle(&function->parameter[i]) && k < weft_call_length(call, i); k++)
            changes->list[changes->n++] =
                (struct check_change){i, k, weft_call_element(call, i, k), 0, 0};
    weft_assert(changes->n == n && n <= changes->capacity && !call->state);
    changes->function = function;
    changes->frame = (uintptr_t)call->frame;
    changes->below = innermost;
    call->state = innermost = changes;
}

void check_changes_free_left(struct check_changes *changes)
{
    if (spare || changes->capacity > SPARE)
        free(changes);
    else
        spare = changes;
}

void check_changes_free(struct weft_call *call)
{
    struct check_changes *changes = call->state;
    if (!changes)
        return;
    weft_assert(changes == innermost); /* calls inside it have ended, or were left */
    call->state = NULL;
    innermost = changes->below;
    check_changes_free_left(changes);
}

struct check_changes *check_changes_take_left(uintptr_t limit)
{
    struct check_changes *left = innermost;
    if (!left || left->frame >= limit)
        return NULL;
    innermost = left->below;
    return left;
}

const void *check_made_request(const struct weft_call *call)
{
    const struct weft_function *function = call->function;
    for (int i = check_has(call, CHECK_HAS_OUT_HANDLE) ? 0 : function->parameters;
         i < function->parameters; i++)
        if (function->parameter[i].object == WEFT_OBJECT_REQUEST &&
            function->parameter[i].flow == WEFT_FLOW_OUT)
            return weft_call_element(call, i, 0);
    return NULL;
}

bool check_has_completed(const struct weft_call *call, int64_t element)
{
    return weft_call_status(call, element) >= 0;
}
