// SPDX-License-Identifier: BSD-3-Clause
/*
 * Queries of the ABI (MPI 5.0 section 20.2): the sizes of C types, and the sizes and values of
 * Fortran types, which a Fortran layer sets. All may be called at any time, by any thread.
 *
 * Invariant: a size or value is set once; setting it again is an error (MPI_ERR_ABI).
 */
#include "core/mpi/entry.h"
#include "core/base/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_LOGICAL = 16 };

static struct weft_info *fortran; /* NULL until it is set */
static struct {
    bool known;
    unsigned char is_true[LARGEST_LOGICAL], is_false[LARGEST_LOGICAL];
} logicals[LARGEST_LOGICAL + 1]; /* by size */

static int set_size(struct weft_info *info, const char *key, size_t size)
{
    char text[16];
    snprintf(text, sizeof text, "%zu", size);
    return weft_info_set(info, key, text);
}

int weft_mpi_describe_abi(struct weft_info **made)
{
    struct weft_info *info = weft_info_make();
    int code = info ? set_size(info, "mpi_aint_size", sizeof(MPI_Aint)) : MPI_ERR_NO_MEM;
    if (!code)
        code = set_size(info, "mpi_count_size", sizeof(MPI_Count));
    if (!code)
        code = set_size(info, "mpi_offset_size", sizeof(MPI_Offset));
    if (!code)
        *made = info;
    else
        weft_info_free(info);
    return code;
}

/* The predefined datatypes have fixed sizes of Fortran types: others are an error. */
static int check_size(const struct weft_info *info, const char *key, int expected)
{
    const char *size = weft_info_get(info, key);
    if (!size || atoi(size) == expected)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ABI,
                          "%s is %s, but Weft has the Fortran datatypes of a compiler where it is "
                          "%d; compile without options that change the size of default types",
                          key, size, expected);
}

int weft_mpi_abi_set_fortran_info(struct weft_info *info)
{
    int code = MPI_SUCCESS;
    if (fortran)
        return weft_error_set(MPI_ERR_ABI, "the sizes of Fortran's types are set already, and can "
                                           "be set once");
    code = check_size(info, "mpi_logical_size", 4);
    if (!code)
        code = check_size(info, "mpi_integer_size", 4);
    if (!code)
        code = check_size(info, "mpi_real_size", 4);
    if (!code)
        code = check_size(info, "mpi_double_precision_size", 8);
    if (!code && !(fortran = weft_info_dup(info)))
        code = MPI_ERR_NO_MEM;
    return code;
}

int weft_mpi_abi_get_fortran_info(MPI_Info *info)
{
    struct weft_info *copy = fortran ? weft_info_dup(fortran) : NULL;
    if (fortran && !copy)
        return MPI_ERR_NO_MEM;
    *info = copy ? (MPI_Info)copy : MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int weft_mpi_check_logical(int size, void *is_true, void *is_false)
{
    if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16)
        return weft_error_set(
            MPI_ERR_ARG, "the size of a LOGICAL is %d; it can be 1, 2, 4, 8 or 16 bytes", size);
    if (!is_true || !is_false)
        return weft_arg_no_result(is_true ? "value of .FALSE." : "value of .TRUE.");
    return MPI_SUCCESS;
}

int weft_mpi_abi_set_fortran_booleans(int size, void *is_true, void *is_false)
{
    if (logicals[size].known)
        return weft_error_set(MPI_ERR_ABI,
                              "the values of a LOGICAL of %d bytes are set already, and can be "
                              "set once",
                              size);
    memcpy(logicals[size].is_true, is_true, (size_t)size);
    memcpy(logicals[size].is_false, is_false, (size_t)size);
    logicals[size].known = true;
    return MPI_SUCCESS;
}

void weft_mpi_abi_get_fortran_booleans(int size, void *is_true, void *is_false, int *is_set)
{
    *is_set = logicals[size].known;
    if (*is_set) {
        memcpy(is_true, logicals[size].is_true, (size_t)size);
        memcpy(is_false, logicals[size].is_false, (size_t)size);
    }
}
