// SPDX-License-Identifier: BSD-3-Clause
/*
 * How long types live.
 *
 * Requests hold no references: counting them would cost every message something. Instead a type that
 * nobody holds any more waits here until no request names it. The requests are looked at once for
 * many types, so that freeing one costs little however many requests there are.
 *
 * Invariants:
 *  - What waits has no handle: its kind is spoiled. Its memory and its constituents are whole.
 *  - Between two sweeps at least as many types come as the last one left.
 */
#include "core/datatype/build.h"
#include "core/pt2pt/request.h"
#include "core/process/weft.h"

#include <stdlib.h>

enum { SWEEP_AT_LEAST = 16, SWEEP_BYTES = 1 << 20 };

static struct weft_datatype *waiting;
static size_t waiting_types, waiting_bytes, sweep_at = SWEEP_AT_LEAST;

void weft_datatype_retain(const struct weft_datatype *type)
{
    if (!(type->flags & WEFT_TYPE_PREDEFINED))
        ((struct weft_datatype *)type)->refs++;
}

struct candidates {
    const struct weft_datatype **types; /* ascending addresses; NULL: used */
    bool *used;
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (void *const *)a, y = (uintptr_t) * (void *const *)b;
    return x > y ? 1 : x < y ? -1 : 0;
}

static void mark_used(void *arg, struct weft_request *request)
{
    struct candidates *c = arg;
    const struct weft_datatype **found =
        bsearch(&request->type, c->types, c->count, sizeof *c->types, by_address);
    if (found)
        c->used[found - c->types] = true;
}

/* Destroys what no request uses. Destroying may add more to the waiting. */
static void sweep(void)
{
    struct candidates c = {calloc(waiting_types, sizeof *c.types),
                           calloc(waiting_types, sizeof *c.used), 0};
    if (!c.types || !c.used) { /* no memory: they wait on */
        free(c.types);
        free(c.used);
        return;
    }
    for (struct weft_datatype *type = waiting; type; type = type->next)
        c.types[c.count++] = type;
    qsort(c.types, c.count, sizeof *c.types, by_address);
    weft_request_each(mark_used, &c);
    waiting = NULL;
    waiting_types = waiting_bytes = 0;
    for (size_t i = 0; i < c.count; i++) {
        struct weft_datatype *type = (struct weft_datatype *)c.types[i];
        if (!c.used[i])
            continue;
        type->next = waiting;
        waiting = type;
        waiting_types++;
        waiting_bytes += type->arena.bytes;
    }
    size_t left = waiting_types;
    for (size_t i = 0; i < c.count; i++)
        if (!c.used[i])
            weft_datatype_destroy((struct weft_datatype *)c.types[i]);
    free(c.types);
    free(c.used);
    sweep_at = 2 * left > SWEEP_AT_LEAST ? 2 * left : SWEEP_AT_LEAST;
}

void weft_datatype_release(const struct weft_datatype *held)
{
    static bool sweeping;
    struct weft_datatype *type = (struct weft_datatype *)held;
    if ((type->flags & WEFT_TYPE_PREDEFINED) || --type->refs)
        return;
    weft_handle_retire(&type->object);
    type->next = waiting;
    waiting = type;
    waiting_types++;
    waiting_bytes += type->arena.bytes;
    if (sweeping)
        return; /* a constituent of what is being destroyed */
    sweeping = true;
    while (waiting_types >= sweep_at || (waiting_bytes > SWEEP_BYTES && waiting_types > 0)) {
        size_t before = waiting_types;
        sweep();
        if (waiting_types >= before)
            break;
    }
    sweeping = false;
}

void weft_datatype_finalize(void)
{
    while (waiting) {
        struct weft_datatype *type = waiting;
        waiting = type->next;
        waiting_types--;
        weft_datatype_destroy(type);
    }
    waiting_bytes = 0;
    weft_datatype_forget_predefined();
}
