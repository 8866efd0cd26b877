// SPDX-License-Identifier: BSD-3-Clause
/*
 * Datatypes and statuses (MPI 5.0 sections 5.1.5 to 5.1.11, 7.8 and 19.1.9): what their entry
 * points do beside abi/entry_points.txt.
 */
#include "core/mpi/entry.h"

/* ---- Free, duplicate, name */

int weft_mpi_type_free(struct weft_datatype *type)
{
    if (type->flags & WEFT_TYPE_PREDEFINED)
        return weft_error_set(MPI_ERR_TYPE, "%s is predefined and cannot be freed",
                              *type->name ? type->name : "the datatype of a Fortran kind");
    int code = weft_attribute_check_free(weft_datatype_attributed(type), MPI_ERR_TYPE,
                                         "the datatype cannot be freed");
    if (code == MPI_SUCCESS)
        code = weft_attribute_delete_all(weft_datatype_attributed(type));
    if (code == MPI_SUCCESS)
        weft_datatype_release(type);
    return code;
}

int weft_mpi_type_dup(struct weft_datatype *old, struct weft_datatype **made)
{
    struct weft_datatype *type;
    int code = weft_datatype_dup(old, &type);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_attribute_copy_all(weft_datatype_attributed(old), weft_datatype_attributed(type));
    if (code == MPI_SUCCESS) {
        *made = type;
        return MPI_SUCCESS;
    }
    weft_attribute_delete_all(weft_datatype_attributed(type));
    weft_datatype_release(type);
    return code;
}

int weft_mpi_type_set_name(struct weft_datatype *type, const char *name)
{
    if (weft_datatype_rename(type, name))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_NO_MEM, "no memory for the name");
}

int weft_mpi_status_set_elements(MPI_Status *status, struct weft_datatype *type, MPI_Count count)
{
    size_t bytes;
    if (count < 0 || !weft_datatype_bytes_of(type, count, &bytes))
        return weft_error_set(MPI_ERR_COUNT,
                              count < 0 ? "the number of basic elements, %lld, is negative; pass 0 "
                                          "or more"
                              : type->size ? "%lld basic elements of the datatype have more bytes "
                                             "than an MPI_Count can count; pass fewer"
                                           : "the datatype has no data, so the status cannot have "
                                             "%lld basic elements of it; pass 0, or another type",
                              (long long)count);
    weft_status_set_bytes(status, bytes);
    return MPI_SUCCESS;
}

/* ---- Finding a predefined type */

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

int weft_mpi_type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    for (size_t i = 0; i < sizeof matches / sizeof matches[0]; i++) {
        if (matches[i].typeclass == typeclass && matches[i].size == size) {
            *datatype = matches[i].type;
            return MPI_SUCCESS;
        }
    }
    return weft_error_set(MPI_ERR_ARG, "there is no type of %d bytes in class %d", size, typeclass);
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

MPI_Datatype weft_mpi_pair_type(MPI_Datatype value_type, MPI_Datatype index_type)
{
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].value == value_type && pairs[i].index == index_type)
            return pairs[i].type;
    return MPI_DATATYPE_NULL;
}
