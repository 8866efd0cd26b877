// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is done with whole datatypes (MPI 5.0 sections 5.1.5 to 5.1.10, 7.8 and 19.1.9): commit, free,
 * duplicate, size, bounds, name, and finding a predefined one.
 *
 * Invariant: the questions (size, bounds, name) never wait for the lock: they read what does not
 * change while the handle is valid.
 */
#include "core/mpi/api.h"
#include "core/datatype/datatype.h"
#include "core/object/error.h"
#include "core/process/weft.h"

#include <limits.h>
#include <string.h>

WEFT_COLD static int bad_type(const char *function, MPI_Datatype handle)
{
    return weft_error(NULL, MPI_ERR_TYPE, function, "%p is no datatype; was it freed?",
                      (void *)handle);
}

WEFT_COLD static int null_pointer(const char *function, const char *what)
{
    return weft_error(NULL, MPI_ERR_ARG, function, "the pointer to the %s is null", what);
}

static struct weft_datatype *type_of(MPI_Datatype handle)
{
    return weft_handle_resolve(handle, WEFT_KIND_DATATYPE);
}

/* A number that an int cannot hold is MPI_UNDEFINED (MPI 5.0, 5.1.5). */
static int narrow(MPI_Count n)
{
    return n > INT_MAX ? MPI_UNDEFINED : (int)n;
}

/* ---- Commit, free, duplicate ---- */

static int commit(MPI_Datatype *handle)
{
    struct weft_datatype *type = handle ? type_of(*handle) : NULL;
    if (!handle)
        return null_pointer("MPI_Type_commit", "datatype");
    if (!type)
        return bad_type("MPI_Type_commit", *handle);
    weft_datatype_commit(type);
    return MPI_SUCCESS;
}

WEFT_EXPORT(Type_commit);
int PMPI_Type_commit(MPI_Datatype *datatype)
{
    int code = weft_enter("MPI_Type_commit");
    if (code)
        return code;
    code = commit(datatype);
    weft_leave();
    return code;
}

static int free_type(MPI_Datatype *handle)
{
    struct weft_datatype *type = handle ? type_of(*handle) : NULL;
    if (!handle)
        return null_pointer("MPI_Type_free", "datatype");
    if (!type)
        return bad_type("MPI_Type_free", *handle);
    if (type->flags & WEFT_TYPE_PREDEFINED)
        return weft_error(NULL, MPI_ERR_TYPE, "MPI_Type_free",
                          "%s is predefined and cannot be freed",
                          *type->name ? type->name : "the datatype of a Fortran kind");
    int code = weft_attribute_delete_all(weft_datatype_attributed(type));
    if (code != MPI_SUCCESS)
        return weft_error_raise(NULL, code, "MPI_Type_free");
    weft_datatype_release(type);
    *handle = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Type_free);
int PMPI_Type_free(MPI_Datatype *datatype)
{
    int code = weft_enter("MPI_Type_free");
    if (code)
        return code;
    code = free_type(datatype);
    weft_leave();
    return code;
}

static int duplicate(MPI_Datatype handle, MPI_Datatype *result)
{
    struct weft_datatype *old = type_of(handle), *type;
    if (!old)
        return bad_type("MPI_Type_dup", handle);
    if (!result)
        return null_pointer("MPI_Type_dup", "new datatype");
    struct weft_envelope *envelope = weft_envelope_new(MPI_COMBINER_DUP, 0, 0, 0, 1);
    if (!envelope)
        return weft_error(NULL, MPI_ERR_NO_MEM, "MPI_Type_dup", "no memory for another datatype");
    envelope->types[0] = old;
    weft_datatype_retain(old);
    int code = weft_datatype_make(envelope, &type);
    if (code)
        return weft_error_raise(NULL, code, "MPI_Type_dup");
    code = weft_attribute_copy_all(weft_datatype_attributed(old), weft_datatype_attributed(type));
    if (code) {
        weft_attribute_delete_all(weft_datatype_attributed(type));
        weft_datatype_release(type);
        return weft_error_raise(NULL, code, "MPI_Type_dup");
    }
    *result = type->handle;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Type_dup);
int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int code = weft_enter("MPI_Type_dup");
    if (code)
        return code;
    code = duplicate(oldtype, newtype);
    weft_leave();
    return code;
}

/* ---- Size and bounds ---- */

static int size_of(const char *function, MPI_Datatype handle, MPI_Count *size)
{
    const struct weft_datatype *type = type_of(handle);
    if (!type)
        return bad_type(function, handle);
    if (!size)
        return null_pointer(function, "size");
    *size = (MPI_Count)type->size;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Type_size_c);
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    return size_of("MPI_Type_size_c", datatype, size);
}

WEFT_EXPORT(Type_size_x);
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    return size_of("MPI_Type_size_x", datatype, size);
}

WEFT_EXPORT(Type_size);
int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    MPI_Count large = 0;
    int code = size_of("MPI_Type_size", datatype, size ? &large : NULL);
    if (code == MPI_SUCCESS)
        *size = narrow(large);
    return code;
}

/* The bounds of the elements, or of the data alone. MPI_Aint is as wide as MPI_Count. */
static int bounds_of(const char *function, MPI_Datatype handle, bool data, MPI_Count *lb,
                     MPI_Count *extent)
{
    const struct weft_datatype *type = type_of(handle);
    if (!type)
        return bad_type(function, handle);
    if (!lb || !extent)
        return null_pointer(function, lb ? "extent" : "lower bound");
    *lb = data ? type->true_lb : type->lb;
    *extent = data ? type->true_extent : type->extent;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Type_get_extent);
int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    return bounds_of("MPI_Type_get_extent", datatype, false, lb, extent);
}

WEFT_EXPORT(Type_get_extent_c);
int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    return bounds_of("MPI_Type_get_extent_c", datatype, false, lb, extent);
}

WEFT_EXPORT(Type_get_extent_x);
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    return bounds_of("MPI_Type_get_extent_x", datatype, false, lb, extent);
}

WEFT_EXPORT(Type_get_true_extent);
int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
    return bounds_of("MPI_Type_get_true_extent", datatype, true, true_lb, true_extent);
}

WEFT_EXPORT(Type_get_true_extent_c);
int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return bounds_of("MPI_Type_get_true_extent_c", datatype, true, true_lb, true_extent);
}

WEFT_EXPORT(Type_get_true_extent_x);
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return bounds_of("MPI_Type_get_true_extent_x", datatype, true, true_lb, true_extent);
}

/* ---- Names ---- */

static int set_name(MPI_Datatype handle, const char *name)
{
    struct weft_datatype *type = type_of(handle);
    if (!type)
        return bad_type("MPI_Type_set_name", handle);
    if (!name)
        return null_pointer("MPI_Type_set_name", "name");
    if (!weft_datatype_rename(type, name))
        return weft_error(NULL, MPI_ERR_NO_MEM, "MPI_Type_set_name", "no memory for the name");
    return MPI_SUCCESS;
}

WEFT_EXPORT(Type_set_name);
int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
    int code = weft_enter("MPI_Type_set_name");
    if (code)
        return code;
    code = set_name(datatype, type_name);
    weft_leave();
    return code;
}

WEFT_EXPORT(Type_get_name);
int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    int code = weft_enter("MPI_Type_get_name");
    if (code)
        return code;
    const struct weft_datatype *type = type_of(datatype);
    if (!type && datatype != MPI_DATATYPE_NULL) {
        code = bad_type("MPI_Type_get_name", datatype);
    } else if (!type_name || !resultlen) {
        code = null_pointer("MPI_Type_get_name", type_name ? "length" : "name");
    } else {
        const char *name = type ? type->name : "MPI_DATATYPE_NULL";
        *resultlen = (int)strlen(name);
        memcpy(type_name, name, (size_t)*resultlen + 1);
    }
    weft_leave();
    return code;
}

/* ---- Finding a predefined type ---- */

struct match {
    int typeclass, size;
    MPI_Datatype type;
};
static const struct match matches[] = {
    {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
    {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
    {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
    {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
    {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
    {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
    {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}, {MPIX_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1},
    {MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},  {MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4},
    {MPIX_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8},  {MPIX_TYPECLASS_LOGICAL, 16, MPI_LOGICAL16},
};

WEFT_EXPORT(Type_match_size);
int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    int code = weft_enter("MPI_Type_match_size");
    if (code)
        return code;
    MPI_Datatype found = MPI_DATATYPE_NULL;
    for (size_t i = 0; i < sizeof matches / sizeof matches[0]; i++)
        if (matches[i].typeclass == typeclass && matches[i].size == size)
            found = matches[i].type;
    if (found == MPI_DATATYPE_NULL)
        code = weft_error(NULL, MPI_ERR_ARG, "MPI_Type_match_size",
                          "there is no type of %d bytes in class %d", size, typeclass);
    else if (!datatype)
        code = null_pointer("MPI_Type_match_size", "datatype");
    else
        *datatype = found;
    weft_leave();
    return code;
}

struct pair {
    MPI_Datatype value, index, type;
};
static const struct pair pairs[] = {
    {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
    {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
    {MPI_LONG, MPI_INT, MPI_LONG_INT},
    {MPI_INT, MPI_INT, MPI_2INT},
    {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
    {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
    {MPI_REAL, MPI_REAL, MPI_2REAL},
    {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
    {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
};

WEFT_EXPORT(Type_get_value_index);
int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                              MPI_Datatype *pair_type)
{
    int code = weft_enter("MPI_Type_get_value_index");
    if (code)
        return code;
    MPI_Datatype found = MPI_DATATYPE_NULL;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].value == value_type && pairs[i].index == index_type)
            found = pairs[i].type;
    if (!type_of(value_type))
        code = bad_type("MPI_Type_get_value_index", value_type);
    else if (!type_of(index_type))
        code = bad_type("MPI_Type_get_value_index", index_type);
    else if (!pair_type)
        code = null_pointer("MPI_Type_get_value_index", "pair type");
    else
        *pair_type = found;
    weft_leave();
    return code;
}

static int create_f90(const char *function, int typeclass, int p, int r, MPI_Datatype *result)
{
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_datatype *type;
    if (!result) {
        code = null_pointer(function, "new datatype");
    } else if ((code = weft_datatype_f90(typeclass, p, r, &type))) {
        code = weft_error_raise(NULL, code, function);
    } else {
        *result = type->handle;
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Type_create_f90_integer);
int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    return create_f90("MPI_Type_create_f90_integer", MPI_TYPECLASS_INTEGER, MPI_UNDEFINED, r,
                      newtype);
}

WEFT_EXPORT(Type_create_f90_real);
int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    return create_f90("MPI_Type_create_f90_real", MPI_TYPECLASS_REAL, p, r, newtype);
}

WEFT_EXPORT(Type_create_f90_complex);
int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    return create_f90("MPI_Type_create_f90_complex", MPI_TYPECLASS_COMPLEX, p, r, newtype);
}
