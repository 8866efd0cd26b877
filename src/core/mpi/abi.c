// SPDX-License-Identifier: BSD-3-Clause
/*
 * Asking and telling about the ABI (MPI 5.0 section 20.2): sizes of C's types, and what Fortran's
 * are, which a Fortran layer tells. All may be called at any time, by any thread.
 *
 * Invariant: what was told once stays; telling it again is an error (MPI_ERR_ABI).
 */
#include "core/mpi/api.h"
#include "core/object/error.h"
#include "core/object/info.h"
#include "core/process/weft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_LOGICAL = 16 };

static struct weft_info *fortran; /* what was told; NULL until then */
static struct {
    bool known;
    unsigned char is_true[LARGEST_LOGICAL], is_false[LARGEST_LOGICAL];
} logicals[LARGEST_LOGICAL + 1]; /* by size */

static int leave(int code, const char *function)
{
    if (code != MPI_SUCCESS)
        code = weft_error_raise(NULL, code, function);
    weft_leave_anytime();
    return code;
}

static int null_pointer(const char *what)
{
    return weft_error_set(MPI_ERR_ARG, "the pointer to the %s is null", what);
}

static int set_size(struct weft_info *info, const char *key, size_t size)
{
    char text[16];
    snprintf(text, sizeof text, "%zu", size);
    return weft_info_set(info, key, text);
}

WEFT_EXPORT(Abi_get_info);
int PMPI_Abi_get_info(MPI_Info *out)
{
    weft_enter_anytime();
    struct weft_info *info = out ? weft_info_make() : NULL;
    int code = out ? info ? MPI_SUCCESS : MPI_ERR_NO_MEM : null_pointer("info object");
    if (!code)
        code = set_size(info, "mpi_aint_size", sizeof(MPI_Aint));
    if (!code)
        code = set_size(info, "mpi_count_size", sizeof(MPI_Count));
    if (!code)
        code = set_size(info, "mpi_offset_size", sizeof(MPI_Offset));
    if (!code)
        *out = (MPI_Info)info;
    else
        weft_info_free(info);
    return leave(code, "MPI_Abi_get_info");
}

/* The sizes of Fortran's types are part of the datatypes that Weft has: others cannot be. */
static int check_size(const struct weft_info *info, const char *key, int expected)
{
    const char *told = weft_info_get(info, key);
    if (!told || atoi(told) == expected)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ABI,
                          "%s is %s, but Weft has the Fortran datatypes of a compiler where it is "
                          "%d; compile without options that change the size of default types",
                          key, told, expected);
}

WEFT_EXPORT(Abi_set_fortran_info);
int PMPI_Abi_set_fortran_info(MPI_Info handle)
{
    weft_enter_anytime();
    const struct weft_info *info = weft_info_resolve(handle);
    int code = MPI_SUCCESS;
    if (!info)
        code = weft_error_set(MPI_ERR_INFO, "%p is no info object; was it freed?", (void *)handle);
    else if (fortran)
        code = weft_error_set(MPI_ERR_ABI, "the sizes of Fortran's types were told before, and can "
                                           "be told once");
    if (!code)
        code = check_size(info, "mpi_logical_size", 4);
    if (!code)
        code = check_size(info, "mpi_integer_size", 4);
    if (!code)
        code = check_size(info, "mpi_real_size", 4);
    if (!code)
        code = check_size(info, "mpi_double_precision_size", 8);
    if (!code && !(fortran = weft_info_dup(info)))
        code = MPI_ERR_NO_MEM;
    return leave(code, "MPI_Abi_set_fortran_info");
}

WEFT_EXPORT(Abi_get_fortran_info);
int PMPI_Abi_get_fortran_info(MPI_Info *out)
{
    weft_enter_anytime();
    struct weft_info *copy = out && fortran ? weft_info_dup(fortran) : NULL;
    int code = MPI_SUCCESS;
    if (!out)
        code = null_pointer("info object");
    else if (fortran && !copy)
        code = MPI_ERR_NO_MEM;
    else
        *out = copy ? (MPI_Info)copy : MPI_INFO_NULL;
    return leave(code, "MPI_Abi_get_fortran_info");
}

static int check_logical(int size, const void *is_true, const void *is_false)
{
    if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16)
        return weft_error_set(MPI_ERR_ARG, "%d is no size of a LOGICAL: 1, 2, 4, 8 or 16 bytes",
                              size);
    if (!is_true || !is_false)
        return null_pointer(is_true ? "value of .FALSE." : "value of .TRUE.");
    return MPI_SUCCESS;
}

WEFT_EXPORT(Abi_set_fortran_booleans);
int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    weft_enter_anytime();
    int code = check_logical(logical_size, logical_true, logical_false);
    if (!code && logicals[logical_size].known)
        code =
            weft_error_set(MPI_ERR_ABI,
                           "the values of a LOGICAL of %d bytes were told before, and can be told "
                           "once",
                           logical_size);
    if (!code) {
        memcpy(logicals[logical_size].is_true, logical_true, (size_t)logical_size);
        memcpy(logicals[logical_size].is_false, logical_false, (size_t)logical_size);
        logicals[logical_size].known = true;
    }
    return leave(code, "MPI_Abi_set_fortran_booleans");
}

WEFT_EXPORT(Abi_get_fortran_booleans);
int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
                                  int *is_set)
{
    weft_enter_anytime();
    int code = check_logical(logical_size, logical_true, logical_false);
    if (!code && !is_set)
        code = null_pointer("flag");
    if (!code) {
        *is_set = logicals[logical_size].known;
        if (*is_set) {
            memcpy(logical_true, logicals[logical_size].is_true, (size_t)logical_size);
            memcpy(logical_false, logicals[logical_size].is_false, (size_t)logical_size);
        }
    }
    return leave(code, "MPI_Abi_get_fortran_booleans");
}
