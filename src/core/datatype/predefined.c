// SPDX-License-Identifier: BSD-3-Clause
/*
 * Predefined datatypes: the named ones, and the unnamed ones of MPI_Type_create_f90_*, which are
 * made by the first call that requests them.
 *
 * Invariant: predefined types are not freed before weft_datatype_finalize. Equal arguments of
 * MPI_Type_create_f90_* return the same type.
 */
#include "core/datatype/build.h"
#include "core/base/error.h"
#include "core/datatype/predefined_types.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TYPES = 128 };
static struct weft_datatype types[MOST_TYPES];
uint8_t weft_plain_sizes[WEFT_PREDEFINED_HANDLES];

static struct weft_basic plain(size_t size)
{
    return (struct weft_basic){(uint8_t)size, (uint8_t)size, WEFT_FORM_PLAIN, 1};
}

/* The external32 form of the first or only block of a type (tables of MPI 5.0). A C long has 4
 * bytes there, wchar_t 2, long double 16. */
static struct weft_basic basic_of(const struct weft_predefined_type *row)
{
    size_t bytes = row->second_offset ? row->first_size : row->size;
    struct weft_basic basic = plain(bytes);
    MPI_Datatype handle = (MPI_Datatype)(uintptr_t)row->handle;
    if (handle == MPI_LONG || handle == MPI_LONG_INT)
        return (struct weft_basic){(uint8_t)bytes, 4, WEFT_FORM_SIGNED, 1};
    if (handle == MPI_UNSIGNED_LONG)
        return (struct weft_basic){(uint8_t)bytes, 4, WEFT_FORM_UNSIGNED, 1};
    if (handle == MPI_WCHAR)
        return (struct weft_basic){(uint8_t)bytes, 2, WEFT_FORM_UNSIGNED, 1};
    if (handle == MPI_COMPLEX4 || handle == MPI_COMPLEX32)
        basic.components = 2;
    switch (row->basic_type) {
    case WEFT_BASIC_FLOAT_COMPLEX:
    case WEFT_BASIC_DOUBLE_COMPLEX:
        basic.components = 2;
        return basic;
    case WEFT_BASIC_LONG_DOUBLE:
    case WEFT_BASIC_LONG_DOUBLE_INT:
        return (struct weft_basic){(uint8_t)bytes, 16, WEFT_FORM_LONG_DOUBLE, 1};
    case WEFT_BASIC_LONG_DOUBLE_COMPLEX:
        return (struct weft_basic){(uint8_t)bytes, 32, WEFT_FORM_LONG_DOUBLE, 2};
    default:
        return basic;
    }
}

/* A value and its index are two basic elements. */
static void describe_pair(struct weft_datatype *type, const struct weft_predefined_type *row)
{
    struct weft_layout_list layouts;
    struct weft_signature_list signatures;
    weft_layout_list_begin(&layouts, &type->arena, 2);
    weft_layout_list_add(&layouts, weft_layout_run(&type->arena, row->first_size), 0);
    weft_layout_list_add(&layouts, weft_layout_run(&type->arena, row->second_size),
                         (MPI_Aint)row->second_offset);
    type->layout = weft_layout_list_end(&layouts);
    weft_signature_list_begin(&signatures, &type->arena);
    weft_signature_list_add(&signatures, weft_signature_basic(&type->arena, basic_of(row)));
    weft_signature_list_add(&signatures,
                            weft_signature_basic(&type->arena, plain(row->second_size)));
    type->signature = weft_signature_list_end(&signatures);
}

static void define(struct weft_datatype *type, const struct weft_predefined_type *row)
{
    bool pair = row->second_offset != 0;
    *type = (struct weft_datatype){
        .object = {WEFT_KIND_DATATYPE, 0},
        .flags = WEFT_TYPE_COMMITTED | WEFT_TYPE_PREDEFINED,
        .basic_type = row->basic_type,
        .size = row->size,
        .extent = (MPI_Aint)row->extent,
        .true_extent =
            pair ? (MPI_Aint)(row->second_offset + row->second_size) : (MPI_Aint)row->size,
        .handle = (MPI_Datatype)(uintptr_t)row->handle,
        .name = row->name,
        .refs = 1,
        .align = row->align,
    };
    if (pair) {
        describe_pair(type, row);
    } else {
        type->layout = weft_layout_run(&type->arena, row->size);
        type->signature = weft_signature_basic(&type->arena, basic_of(row));
    }
    weft_datatype_classify(type);
    if (type->flags & WEFT_TYPE_PLAIN)
        weft_plain_sizes[row->handle] = (uint8_t)row->size;
}

void weft_datatype_init(void)
{
    for (size_t i = 0; i < weft_predefined_types_count && i < MOST_TYPES; i++) {
        define(&types[i], &weft_predefined_types[i]);
        if (types[i].arena.failed)
            weft_fatal(MPI_ERR_NO_MEM, "no memory for the predefined datatypes");
        weft_handle_predefine(weft_predefined_types[i].handle, &types[i].object);
    }
}

/* ---- Fortran's kinds ---- */

struct kind {
    int combiner, p, r;
    struct weft_datatype *type;
    struct kind *next;
};
static struct kind *kinds;

/* Floating-point types by decimal digits and decimal exponent. As in Fortran, the exponent is that
 * of the smallest numbers, which is one less than that of the largest. */
static const struct {
    int digits, exponent;
    MPI_Datatype real, complex;
} reals[] = {
    {FLT_DIG, -FLT_MIN_10_EXP, MPI_REAL4, MPI_COMPLEX8},
    {DBL_DIG, -DBL_MIN_10_EXP, MPI_REAL8, MPI_COMPLEX16},
#if LDBL_MANT_DIG == 64
    {LDBL_DIG, -LDBL_MIN_10_EXP, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
#endif
    {33, 4931, MPI_REAL16, MPI_COMPLEX32},
};

static const struct {
    int digits;
    MPI_Datatype type;
} integers[] = {{2, MPI_INTEGER1},
                {4, MPI_INTEGER2},
                {9, MPI_INTEGER4},
                {18, MPI_INTEGER8},
                {38, MPI_INTEGER16}};

static MPI_Datatype find_kind(int typeclass, int p, int r)
{
    if (typeclass == MPI_TYPECLASS_INTEGER) {
        for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
            if (r <= integers[i].digits)
                return integers[i].type;
        return MPI_DATATYPE_NULL;
    }
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if ((p == MPI_UNDEFINED || p <= reals[i].digits) &&
            (r == MPI_UNDEFINED || r <= reals[i].exponent))
            return typeclass == MPI_TYPECLASS_REAL ? reals[i].real : reals[i].complex;
    return MPI_DATATYPE_NULL;
}

static struct weft_envelope *envelope_of(int combiner, int p, int r, MPI_Datatype base)
{
    bool integer = combiner == MPI_COMBINER_F90_INTEGER;
    struct weft_envelope *envelope = weft_envelope_new(combiner, integer ? 1 : 2, 0, 0, 1);
    if (!envelope)
        return NULL;
    envelope->integers[0] = integer ? r : p;
    if (!integer)
        envelope->integers[1] = r;
    envelope->types[0] = weft_handle_object(base);
    return envelope;
}

int weft_datatype_f90(int typeclass, int p, int r, struct weft_datatype **out)
{
    int combiner = typeclass == MPI_TYPECLASS_REAL      ? MPI_COMBINER_F90_REAL
                   : typeclass == MPI_TYPECLASS_COMPLEX ? MPI_COMBINER_F90_COMPLEX
                                                        : MPI_COMBINER_F90_INTEGER;
    for (struct kind *kind = kinds; kind; kind = kind->next)
        if (kind->combiner == combiner && kind->p == p && kind->r == r) {
            *out = kind->type;
            return MPI_SUCCESS;
        }
    if (typeclass != MPI_TYPECLASS_INTEGER && p == MPI_UNDEFINED && r == MPI_UNDEFINED)
        return weft_error_set(MPI_ERR_ARG, "the precision or the range must be given, not "
                                           "MPI_UNDEFINED for both");
    MPI_Datatype base = find_kind(typeclass, p, r);
    if (base == MPI_DATATYPE_NULL)
        return weft_error_set(MPI_ERR_ARG, "no Fortran type has precision %d and range %d", p, r);
    struct weft_envelope *envelope = envelope_of(combiner, p, r, base);
    struct kind *kind = malloc(sizeof *kind);
    if (!envelope || !kind) {
        free(envelope);
        free(kind);
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for another datatype");
    }
    *kind = (struct kind){combiner, p, r, NULL, kinds};
    int code = weft_datatype_make(envelope, &kind->type);
    if (code) {
        free(kind);
        return code;
    }
    weft_datatype_commit(kind->type);
    kind->type->flags |= WEFT_TYPE_PREDEFINED;
    kinds = kind;
    *out = kind->type;
    return MPI_SUCCESS;
}

void weft_datatype_free_predefined(void)
{
    while (kinds) {
        struct kind *kind = kinds;
        kinds = kind->next;
        weft_handle_retire(&kind->type->object);
        weft_datatype_destroy(kind->type);
        free(kind);
    }
    for (size_t i = 0; i < weft_predefined_types_count && i < MOST_TYPES; i++) {
        weft_arena_clear(&types[i].arena);
        weft_attribute_free_all(&types[i].attributes);
        free(types[i].own_name);
        types[i].own_name = NULL;
        free(types[i].twin);
        types[i].twin = NULL;
        types[i].layout = NULL;
        types[i].signature = NULL;
    }
}

/* ---- Names ---- */

bool weft_datatype_rename(struct weft_datatype *type, const char *name)
{
    char *copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);
    if (!copy)
        return false;
    free(type->own_name);
    type->own_name = copy;
    type->name = copy;
    return true;
}
