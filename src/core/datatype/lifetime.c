// SPDX-License-Identifier: BSD-3-Clause
/*
 * Frees datatypes without references.
 *
 * Requests are not counted as references, because counting would cost instructions for each
 * message. A type without references is put on the list `unreferenced`. A sweep visits all requests
 * once and frees the listed types that no request uses; one sweep serves many types, so its cost
 * per type is small.
 *
 * Invariants:
 *  - A listed type is not reachable by its handle: its kind is cleared. Its memory and its
 *    constituents are intact.
 *  - Between two sweeps at least as many types are listed as the first of them left.
 */
#include "core/datatype/build.h"
#include "core/datatype/device.h"

#include <stdlib.h>

/* A sweep is due if the list holds sweep_at types, or more than 1 MiB. */
enum { SWEEP_TYPES_MIN = 16, SWEEP_BYTES = 1 << 20 };

void (*weft_datatype_each_use)(void (*see)(void *arg, const struct weft_datatype *type), void *arg);

static struct weft_datatype *unreferenced;
static size_t unreferenced_types, unreferenced_bytes, sweep_at = SWEEP_TYPES_MIN;

void weft_datatype_retain(const struct weft_datatype *type)
{
    type = weft_datatype_in_host(type);
    weft_assert(type->flags & WEFT_TYPE_PREDEFINED ||
                __atomic_load_n(&type->refs, __ATOMIC_RELAXED) > 0);
    if (!(type->flags & WEFT_TYPE_PREDEFINED))
        __atomic_fetch_add(&((struct weft_datatype *)type)->refs, 1, __ATOMIC_RELAXED);
}

static void list_unreferenced(struct weft_datatype *type)
{
    weft_assert(!type->refs && type->object.kind == WEFT_KIND_NONE);
    type->next = unreferenced;
    unreferenced = type;
    unreferenced_types++;
    unreferenced_bytes += type->arena.bytes;
}

/* The listed types and their twins, which requests may use instead. */
struct candidates {
    const struct weft_datatype **types; /* sorted by address */
    bool *used;
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (void *const *)a, y = (uintptr_t) * (void *const *)b;
    return x > y ? 1 : x < y ? -1 : 0;
}

static bool *use_of(const struct candidates *c, const struct weft_datatype *type)
{
    const struct weft_datatype **found =
        bsearch(&type, c->types, c->count, sizeof *c->types, by_address);
    return found ? &c->used[found - c->types] : NULL;
}

/* A request without a type has that of an earlier one, which may have been freed: an address is
 * compared, and what is there is read only if it is a candidate. */
static void mark_used(void *arg, const struct weft_datatype *type)
{
    const struct candidates *c = arg;
    bool *used = use_of(c, type);
    if (used && type->flags & WEFT_TYPE_DEVICE)
        used = use_of(c, type->twin);
    if (used)
        *used = true;
}

static void leave_out_twins(struct candidates *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (c->types[i]->flags & WEFT_TYPE_DEVICE)
            continue;
        c->types[n] = c->types[i];
        c->used[n++] = c->used[i];
    }
    c->count = n;
}

/* Frees the listed types that no request uses. Freeing may list their constituents. If memory is
 * short, all types stay listed. */
static void sweep(void)
{
    struct candidates c = {calloc(2 * unreferenced_types, sizeof *c.types),
                           calloc(2 * unreferenced_types, sizeof *c.used), 0};
    if (c.types && c.used) {
        for (struct weft_datatype *type = unreferenced; type; type = type->next) {
            c.types[c.count++] = type;
            if (type->twin)
                c.types[c.count++] = type->twin;
        }
        qsort(c.types, c.count, sizeof *c.types, by_address);
        if (weft_datatype_each_use)
            weft_datatype_each_use(mark_used, &c);
        leave_out_twins(&c); /* they end with their types */
        weft_assert(c.count == unreferenced_types);
        unreferenced = NULL;
        unreferenced_types = unreferenced_bytes = 0;
        for (size_t i = 0; i < c.count; i++)
            if (c.used[i])
                list_unreferenced((struct weft_datatype *)c.types[i]);
        size_t left = unreferenced_types;
        for (size_t i = 0; i < c.count; i++)
            if (!c.used[i])
                weft_datatype_destroy((struct weft_datatype *)c.types[i]);
        sweep_at = 2 * left > SWEEP_TYPES_MIN ? 2 * left : SWEEP_TYPES_MIN;
    }
    free(c.types);
    free(c.used);
}

static bool sweep_is_due(void)
{
    return unreferenced_types >= sweep_at ||
           (unreferenced_bytes > SWEEP_BYTES && unreferenced_types > 0);
}

void weft_datatype_release(const struct weft_datatype *released)
{
    static bool sweeping;
    struct weft_datatype *type = (struct weft_datatype *)weft_datatype_in_host(released);
    weft_assert(type->flags & WEFT_TYPE_PREDEFINED || type->refs > 0);
    if ((type->flags & WEFT_TYPE_PREDEFINED) || --type->refs)
        return;
    weft_handle_retire(&type->object);
    list_unreferenced(type);
    if (sweeping)
        return; /* a constituent of a type that the sweep frees */
    sweeping = true;
    for (size_t before = SIZE_MAX; sweep_is_due() && unreferenced_types < before;) {
        before = unreferenced_types;
        sweep();
    }
    sweeping = false;
}

void weft_datatype_finalize(void)
{
    while (unreferenced) {
        struct weft_datatype *type = unreferenced;
        unreferenced = type->next;
        weft_assert(unreferenced_types > 0);
        unreferenced_types--;
        weft_datatype_destroy(type);
    }
    unreferenced_bytes = 0;
    weft_datatype_free_predefined();
}
