// SPDX-License-Identifier: BSD-3-Clause
/*
 * Subarrays and distributed arrays (MPI 5.0, 5.1.3 and 5.1.4): one loop for each dimension, the
 * fastest varying dimension first.
 *
 * Invariant: `layout` describes the dimensions added so far, and `unit` is the size of the array of
 * these dimensions in bytes: the stride of the next dimension.
 */
#include "core/datatype/build.h"
#include "core/base/error.h"

/* The indices that the type selects in one dimension: from `first`, `blocks` blocks of `block`
 * indices, `stride` apart, then the first `rest` indices of another block. */
struct section {
    MPI_Count first, block, blocks, stride, rest;
};

struct array {
    struct weft_datatype *type;
    const struct weft_datatype *old;
    const struct weft_layout *layout;
    weft_wide unit;
    weft_wide low, high; /* offsets of the first and last element, bytes */
    weft_wide count;     /* elements selected */
};

static void begin_array(struct array *a, struct weft_datatype *type)
{
    const struct weft_datatype *old = type->envelope->types[0];
    *a = (struct array){type, old, old->layout, old->extent, 0, 0, 1};
}

/* Returns false if the array is too large. */
static bool add_dimension(struct array *a, MPI_Count size, struct section p)
{
    struct weft_arena *arena = &a->type->arena;
    MPI_Count taken = p.blocks * p.block + p.rest;
    MPI_Count last =
        p.first + (p.rest ? p.blocks * p.stride + p.rest : (p.blocks - 1) * p.stride + p.block) - 1;
    weft_wide unit = a->unit;
    a->unit *= size;
    a->count *= taken;
    if (!weft_bounds_fit(a->unit) || !weft_bounds_fit(a->count * (weft_wide)a->old->size))
        return false;
    if (!taken) {
        a->layout = NULL;
        return true;
    }
    weft_assert(p.first >= 0 && last < size && p.first <= last);
    a->low += p.first * unit;
    a->high += last * unit;
    MPI_Aint step = (MPI_Aint)unit;
    const struct weft_layout *one = a->layout;
    const struct weft_layout *block = weft_layout_repeat(arena, one, (size_t)p.block, step);
    const struct weft_layout *blocks =
        weft_layout_repeat(arena, block, (size_t)p.blocks, (MPI_Aint)(p.stride * unit));
    if (p.rest) {
        struct weft_layout_list list;
        weft_layout_list_begin(&list, arena, 2);
        weft_layout_list_add(&list, blocks, 0);
        weft_layout_list_add(&list, weft_layout_repeat(arena, one, (size_t)p.rest, step),
                             (MPI_Aint)(p.blocks * p.stride * unit));
        blocks = weft_layout_list_end(&list);
    }
    a->layout = weft_layout_shift(arena, blocks, (MPI_Aint)(p.first * unit));
    return true;
}

static int end_array(struct array *a)
{
    struct weft_bounds bounds = {.marked = {true, 0, a->unit}};
    struct weft_datatype *type = a->type;
    if (a->count) {
        weft_bounds_cover(&bounds, a->old, a->low, 1);
        weft_bounds_cover(&bounds, a->old, a->high, 1);
        weft_bounds_count(&bounds, a->old, a->count);
    }
    bounds.marked = (struct weft_span){true, 0, a->unit};
    int code = weft_bounds_apply(&bounds, type);
    if (code || !type->size)
        return code;
    type->layout = a->layout;
    type->signature = weft_signature_repeat(&type->arena, a->old->signature, (size_t)a->count);
    return MPI_SUCCESS;
}

static int bad_order(int order)
{
    return weft_error_set(MPI_ERR_ARG, "the order %d is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN",
                          order);
}

/* The dimension that varies i-th fastest. */
static size_t dimension(size_t i, size_t ndims, int order)
{
    return order == MPI_ORDER_C ? ndims - 1 - i : i;
}

int weft_datatype_build_subarray(struct weft_datatype *type)
{
    const struct weft_envelope *r = type->envelope;
    size_t ndims = (size_t)r->integers[0], first = r->nlarge ? 0 : 1;
    struct weft_numbers sizes = weft_envelope_numbers(r, first);
    struct weft_numbers taken = weft_envelope_numbers(r, first + ndims);
    struct weft_numbers starts = weft_envelope_numbers(r, first + 2 * ndims);
    int order = r->integers[r->nintegers - 1];
    struct array a;
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        return bad_order(order);
    begin_array(&a, type);
    for (size_t i = 0; i < ndims; i++) {
        size_t d = dimension(i, ndims, order);
        MPI_Count size = weft_number(sizes, d), n = weft_number(taken, d);
        MPI_Count start = weft_number(starts, d);
        if (size < 1 || n < 1 || n > size || start < 0 || start > size - n)
            return weft_error_set(MPI_ERR_ARG,
                                  "%lld elements from index %lld on are not in dimension %zu, "
                                  "which has %lld",
                                  (long long)n, (long long)start, d, (long long)size);
        if (!add_dimension(&a, size, (struct section){start, n, 1, 0, 0}))
            return weft_bounds_too_large();
    }
    return end_array(&a);
}

/* The indices of a dimension that process `process` of `processes` has. Returns MPI_SUCCESS, or
 * MPI_ERR_ARG, recorded. */
static int distribute(MPI_Count size, int kind, int argument, int processes, int process,
                      struct section *out)
{
    bool by_default = argument == MPI_DISTRIBUTE_DFLT_DARG;
    MPI_Count block = by_default ? 1 : argument == WEFT_DARG_19 ? 19 : argument;
    *out = (struct section){0, size, 1, 0, 0};
    if (kind == MPI_DISTRIBUTE_NONE) {
        if (processes != 1)
            return weft_error_set(MPI_ERR_ARG,
                                  "a dimension that is not distributed has %d processes, not 1",
                                  processes);
        return MPI_SUCCESS;
    }
    if (kind == MPI_DISTRIBUTE_BLOCK && by_default)
        block = size / processes + (size % processes != 0);
    if (block < 1)
        return weft_error_set(MPI_ERR_ARG, "the distribution argument %lld is not positive",
                              (long long)block);
    if (kind == MPI_DISTRIBUTE_BLOCK && size / processes + (size % processes != 0) > block)
        return weft_error_set(MPI_ERR_ARG, "%d blocks of %lld do not cover the %lld elements",
                              processes, (long long)block, (long long)size);
    weft_wide first = (weft_wide)process * block;
    if (first >= size) {
        *out = (struct section){0, 0, 0, 0, 0};
        return MPI_SUCCESS;
    }
    weft_wide round = (weft_wide)processes * block;
    MPI_Count left = size - (MPI_Count)first;
    if (kind == MPI_DISTRIBUTE_BLOCK || round >= left) {
        *out = (struct section){(MPI_Count)first, left < block ? left : block, 1, 0, 0};
        return MPI_SUCCESS;
    }
    MPI_Count stride = (MPI_Count)round, rest = left % stride;
    *out = (struct section){(MPI_Count)first, block, left / stride + (rest >= block), stride,
                            rest < block ? rest : 0};
    return MPI_SUCCESS;
}

/* The arguments of MPI_Type_create_darray; only the global sizes are large counts in its _c
 * form. */
struct darray {
    int size, rank, order;
    size_t ndims;
    struct weft_numbers sizes;
    const int *kinds, *arguments, *processes;
};

static int read_darray(const struct weft_envelope *r, struct darray *d)
{
    const int *n = r->integers;
    *d = (struct darray){n[0], n[1], n[r->nintegers - 1], (size_t)n[2], {0}, NULL, NULL, NULL};
    d->sizes = weft_envelope_numbers(r, r->nlarge ? 0 : 3);
    d->kinds = n + 3 + (r->nlarge ? 0 : d->ndims);
    d->arguments = d->kinds + d->ndims;
    d->processes = d->arguments + d->ndims;
    if (d->order != MPI_ORDER_C && d->order != MPI_ORDER_FORTRAN)
        return bad_order(d->order);
    if (d->size < 1 || d->rank < 0 || d->rank >= d->size)
        return weft_error_set(MPI_ERR_ARG, "rank %d is not in a group of %d", d->rank, d->size);
    weft_wide processes = 1;
    for (size_t i = 0; i < d->ndims; i++) {
        int kind = d->kinds[i];
        if (d->processes[i] < 1 || weft_number(d->sizes, i) < 1)
            return weft_error_set(MPI_ERR_ARG, "dimension %zu has %lld elements and %d processes",
                                  i, (long long)weft_number(d->sizes, i), d->processes[i]);
        if (kind != MPI_DISTRIBUTE_NONE && kind != MPI_DISTRIBUTE_BLOCK &&
            kind != MPI_DISTRIBUTE_CYCLIC)
            return weft_error_set(MPI_ERR_ARG,
                                  "the distribution %d of dimension %zu is unknown; use "
                                  "MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE",
                                  kind, i);
        processes *= processes > INT32_MAX ? 1 : d->processes[i];
    }
    if (processes != d->size)
        return weft_error_set(MPI_ERR_ARG,
                              "the process grid does not have as many places as the %d processes",
                              d->size);
    return MPI_SUCCESS;
}

int weft_datatype_build_darray(struct weft_datatype *type)
{
    struct darray d;
    struct array a;
    int code = read_darray(type->envelope, &d);
    if (code)
        return code;
    begin_array(&a, type);
    for (size_t i = 0; i < d.ndims; i++) {
        size_t at = dimension(i, d.ndims, d.order);
        int after = 1; /* processes of the later dimensions: ranks are in row-major order */
        for (size_t j = at + 1; j < d.ndims; j++)
            after *= d.processes[j];
        struct section section;
        code = distribute(weft_number(d.sizes, at), d.kinds[at], d.arguments[at], d.processes[at],
                          d.rank / after % d.processes[at], &section);
        if (code)
            return code;
        if (!add_dimension(&a, weft_number(d.sizes, at), section))
            return weft_bounds_too_large();
    }
    return end_array(&a);
}
