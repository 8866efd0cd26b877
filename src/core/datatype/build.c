// SPDX-License-Identifier: BSD-3-Clause
/*
 * Builds datatypes from their envelopes. Every constructor but the arrays (array.c) makes blocks at
 * a constant stride (build_strided) or blocks at listed displacements (build_blocks).
 *
 * Invariant: building takes time and memory proportional to the arguments of the constructor,
 * independent of the size of its constituent types.
 */
#include "core/datatype/build.h"
#include "core/base/error.h"

#include <stdlib.h>

static int no_memory(void)
{
    return weft_error_set(MPI_ERR_NO_MEM,
                          "no memory for another datatype; free some that are not needed");
}

/* count blocks of `length` elements, stride bytes apart. */
static int build_strided(struct weft_datatype *type, const struct weft_datatype *old,
                         MPI_Count count, MPI_Count length, weft_wide stride)
{
    struct weft_bounds bounds = {0};
    if (length < 0)
        return weft_error_set(MPI_ERR_ARG, "the block length %lld is negative", (long long)length);
    if (count <= 1)
        stride = 0;
    if (!weft_bounds_fit(stride))
        return weft_bounds_too_large();
    if (count) {
        weft_bounds_cover(&bounds, old, 0, length);
        weft_bounds_cover(&bounds, old, (weft_wide)(count - 1) * stride, length);
    }
    bool large = length && (weft_wide)count > (weft_wide)INT64_MAX / length;
    if (!large)
        weft_bounds_count(&bounds, old, (weft_wide)count * length);
    if (large && old->size)
        bounds.size = (weft_wide)INT64_MAX + 1;
    int code = weft_bounds_apply(&bounds, type);
    if (code || !type->size)
        return code;
    type->layout = weft_layout_repeat(&type->arena, old->layout, (size_t)length, old->extent);
    type->layout = weft_layout_repeat(&type->arena, type->layout, (size_t)count, (MPI_Aint)stride);
    type->signature =
        weft_signature_repeat(&type->arena, old->signature, (size_t)count * (size_t)length);
    return MPI_SUCCESS;
}

/* Block i is lengths[i] elements of types[i] at byte displacements[i] * unit. */
struct blocks {
    size_t count;
    struct weft_numbers lengths, displacements;
    struct weft_datatype *const *types;
    bool one_length, one_type; /* entry 0 is used for all blocks */
    MPI_Aint unit;
};

static MPI_Count length_of(const struct blocks *b, size_t i)
{
    return weft_number(b->lengths, b->one_length ? 0 : i);
}

static const struct weft_datatype *type_of(const struct blocks *b, size_t i)
{
    return b->types[b->one_type ? 0 : i];
}

static int bound_blocks(struct weft_datatype *type, const struct blocks *b)
{
    struct weft_bounds bounds = {0};
    for (size_t i = 0; i < b->count; i++) {
        MPI_Count length = length_of(b, i);
        if (length < 0)
            return weft_error_set(MPI_ERR_ARG, "the length %lld of block %zu is negative",
                                  (long long)length, i);
        weft_bounds_cover(&bounds, type_of(b, i),
                          (weft_wide)weft_number(b->displacements, i) * b->unit, length);
        weft_bounds_count(&bounds, type_of(b, i), length);
    }
    return weft_bounds_apply(&bounds, type);
}

/* Layout and signature of a block, reused for the next block if it is alike. */
struct block {
    const struct weft_datatype *old;
    MPI_Count length;
    const struct weft_layout *layout;
    const struct weft_signature *signature;
};

static void make_block(struct block *block, struct weft_arena *arena,
                       const struct weft_datatype *old, MPI_Count length)
{
    if (block->old == old && block->length == length)
        return;
    *block = (struct block){old, length,
                            weft_layout_repeat(arena, old->layout, (size_t)length, old->extent),
                            weft_signature_repeat(arena, old->signature, (size_t)length)};
}

static int build_blocks(struct weft_datatype *type, const struct blocks *b)
{
    int code = bound_blocks(type, b);
    if (code || !type->size)
        return code;
    struct weft_layout_list layouts;
    struct weft_signature_list signatures;
    struct block block = {0};
    weft_layout_list_begin(&layouts, &type->arena, b->count);
    weft_signature_list_begin(&signatures, &type->arena);
    for (size_t i = 0; i < b->count; i++) {
        make_block(&block, &type->arena, type_of(b, i), length_of(b, i));
        /* Unsigned: the product may overflow for an empty block, whose offset is not used. */
        uintptr_t at = (uintptr_t)weft_number(b->displacements, i) * (uintptr_t)b->unit;
        weft_layout_list_add(&layouts, block.layout, (MPI_Aint)at);
        weft_signature_list_add(&signatures, block.signature);
    }
    type->layout = weft_layout_list_end(&layouts);
    type->signature = weft_signature_list_end(&signatures);
    return MPI_SUCCESS;
}

static int build_resized(struct weft_datatype *type, const struct weft_datatype *old,
                         struct weft_numbers bounds)
{
    MPI_Aint lb = weft_number(bounds, 0), extent = weft_number(bounds, 1), ub;
    if (__builtin_add_overflow(lb, extent, &ub))
        return weft_error_set(MPI_ERR_ARG, "lower bound %lld and extent %lld are too large",
                              (long long)lb, (long long)extent);
    struct weft_bounds data = {0};
    weft_bounds_cover(&data, old, 0, 1);
    weft_bounds_count(&data, old, 1);
    int code = weft_bounds_apply(&data, type);
    type->lb = lb;
    type->extent = extent;
    type->flags |= WEFT_TYPE_MARKED;
    type->layout = old->layout;
    type->signature = old->signature;
    return code;
}

static int build_dup(struct weft_datatype *type, const struct weft_datatype *old)
{
    type->size = old->size;
    type->basic_type = old->basic_type;
    type->align = old->align;
    type->lb = old->lb;
    type->extent = old->extent;
    type->true_lb = old->true_lb;
    type->true_extent = old->true_extent;
    type->flags = old->flags & (WEFT_TYPE_COMMITTED | WEFT_TYPE_MARKED);
    type->layout = old->layout;
    type->signature = old->signature;
    return MPI_SUCCESS;
}

static int build(struct weft_datatype *type)
{
    const struct weft_envelope *r = type->envelope;
    struct weft_datatype *const *types = r->types;
    const struct weft_datatype *old = r->ntypes ? types[0] : NULL;
    struct weft_numbers n = {0};
    if (r->nlarge || r->nintegers)
        n = weft_envelope_numbers(r, 0);
    size_t count = n.narrow || n.wide ? (size_t)weft_number(n, 0) : 0;
    struct blocks b = {count, weft_envelope_numbers(r, 1), n, types, false, true, 1};
    switch (r->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        return build_dup(type, old);
    case MPI_COMBINER_RESIZED:
        return build_resized(type, old, weft_envelope_bytes(r, 0));
    case MPI_COMBINER_CONTIGUOUS:
        return build_strided(type, old, 1, (MPI_Count)count, 0);
    case MPI_COMBINER_VECTOR:
        return build_strided(type, old, (MPI_Count)count, weft_number(n, 1),
                             (weft_wide)weft_number(n, 2) * old->extent);
    case MPI_COMBINER_HVECTOR:
        return build_strided(type, old, (MPI_Count)count, weft_number(n, 1),
                             weft_number(weft_envelope_bytes(r, 2), 0));
    case MPI_COMBINER_INDEXED:
        b.displacements = weft_envelope_numbers(r, 1 + count);
        b.unit = old->extent;
        return build_blocks(type, &b);
    case MPI_COMBINER_HINDEXED:
        b.displacements = weft_envelope_bytes(r, 1 + count);
        return build_blocks(type, &b);
    case MPI_COMBINER_STRUCT:
        b.displacements = weft_envelope_bytes(r, 1 + count);
        b.one_type = false;
        return build_blocks(type, &b);
    case MPI_COMBINER_INDEXED_BLOCK:
        b.displacements = weft_envelope_numbers(r, 2);
        b.unit = old->extent;
        b.one_length = true;
        return build_blocks(type, &b);
    case MPI_COMBINER_HINDEXED_BLOCK:
        b.displacements = weft_envelope_bytes(r, 2);
        b.one_length = true;
        return build_blocks(type, &b);
    case MPI_COMBINER_SUBARRAY:
        return weft_datatype_build_subarray(type);
    case MPI_COMBINER_DARRAY:
        return weft_datatype_build_darray(type);
    default:
        return weft_error_set(MPI_ERR_INTERN, "no constructor of datatypes has number %d",
                              r->combiner);
    }
}

void weft_datatype_classify(struct weft_datatype *type)
{
    const struct weft_layout *layout = type->layout;
    bool contiguous = !layout || (layout->kind == WEFT_LAYOUT_RUN && !layout->offset &&
                                  type->extent == (MPI_Aint)type->size);
    if (contiguous)
        type->flags |= WEFT_TYPE_CONTIGUOUS;
    if (layout && contiguous && (type->flags & WEFT_TYPE_COMMITTED) && type->size <= INT32_MAX)
        type->flags |= WEFT_TYPE_PLAIN;
}

void weft_datatype_commit(struct weft_datatype *type)
{
    type->flags |= WEFT_TYPE_COMMITTED;
    weft_datatype_classify(type);
}

static void release_envelope(struct weft_envelope *envelope)
{
    for (size_t i = 0; i < envelope->ntypes; i++)
        weft_datatype_release(envelope->types[i]);
    free(envelope);
}

void weft_datatype_destroy(struct weft_datatype *type)
{
    if (type->envelope)
        release_envelope(type->envelope);
    weft_arena_clear(&type->arena);
    weft_attribute_free_all(&type->attributes);
    free(type->own_name);
    free(type->twin);
    free(type);
}

int weft_datatype_make(struct weft_envelope *envelope, struct weft_datatype **out)
{
    struct weft_datatype *type = calloc(1, sizeof *type);
    *out = NULL;
    if (!type) {
        release_envelope(envelope);
        return no_memory();
    }
    type->object.kind = WEFT_KIND_DATATYPE;
    type->handle = (MPI_Datatype)type;
    type->name = "";
    type->refs = 1;
    type->envelope = envelope;
    int code = build(type);
    if (!code && type->arena.failed)
        code = no_memory();
    if (code) {
        weft_datatype_destroy(type);
        return code;
    }
    weft_assert(type->size == (type->layout ? type->layout->size : 0));
    weft_assert(type->size == (type->signature ? type->signature->bytes : 0));
    weft_assert(type->align > 0 && type->refs == 1);
    weft_datatype_classify(type);
    *out = type;
    return MPI_SUCCESS;
}

int weft_datatype_dup(struct weft_datatype *old, struct weft_datatype **out)
{
    struct weft_envelope *envelope = weft_envelope_new(MPI_COMBINER_DUP, 0, 0, 0, 1);
    if (!envelope)
        return no_memory();
    envelope->types[0] = old;
    weft_datatype_retain(old);
    return weft_datatype_make(envelope, out);
}

/* A duplicate of a duplicate is one of the original, so that no chain of them gets longer. */
int weft_datatype_return(struct weft_datatype *type, struct weft_datatype **out)
{
    *out = type;
    if (type->flags & WEFT_TYPE_PREDEFINED)
        return MPI_SUCCESS;
    int code =
        weft_datatype_dup(type->flags & WEFT_TYPE_RETURNED ? type->envelope->types[0] : type, out);
    if (code == MPI_SUCCESS)
        (*out)->flags |= WEFT_TYPE_RETURNED | (type->flags & WEFT_TYPE_COMMITTED);
    return code;
}

const struct weft_envelope *weft_datatype_envelope(const struct weft_datatype *type)
{
    if (!(type->flags & WEFT_TYPE_RETURNED))
        return type->envelope;
    weft_assert(!(type->envelope->types[0]->flags & WEFT_TYPE_RETURNED));
    return type->envelope->types[0]->envelope;
}
