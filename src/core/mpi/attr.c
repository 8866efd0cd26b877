// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attributes of communicators, datatypes and windows, and their keys (MPI 5.0 sections 7.7
 * and 9.1.2): what their entry points do beside abi/entry_points.txt.
 *
 * Invariant: the predefined attributes are the same on every communicator, and cannot be changed.
 */
#include "core/mpi/entry.h"
#include "core/base/attribute.h"
#include "core/base/error_code.h"
#include "core/base/settings.h"

/* ---- Keys */

int weft_mpi_create_keyval(enum weft_kind kind, union weft_attribute_copy copy,
                           union weft_attribute_delete delete, int *number, void *extra)
{
    struct weft_keyval *keyval = weft_keyval_make(kind, copy, delete, extra);
    if (!keyval)
        return MPI_ERR_NO_MEM;
    *number = keyval->number;
    return MPI_SUCCESS;
}

static bool is_predefined(enum weft_kind kind, int number)
{
    return (kind == WEFT_KIND_COMM && number >= MPI_TAG_UB && number <= MPIX_FT) ||
           (kind == WEFT_KIND_WIN && number >= MPI_WIN_BASE && number <= MPI_WIN_MODEL);
}

static int find_keyval(enum weft_kind kind, int number, struct weft_keyval **out)
{
    *out = weft_keyval_find(kind, number);
    if (*out)
        return MPI_SUCCESS;
    if (is_predefined(kind, number))
        return weft_error_set(
            MPI_ERR_KEYVAL, "the predefined attribute with key %d cannot be set, deleted or freed",
            number);
    return weft_error_set(
        MPI_ERR_KEYVAL,
        "there is no attribute key %d for this kind of object: it was freed, or never made",
        number);
}

int weft_mpi_free_keyval(enum weft_kind kind, int *number)
{
    struct weft_keyval *keyval;
    int code = find_keyval(kind, number ? *number : MPI_KEYVAL_INVALID, &keyval);
    if (code != MPI_SUCCESS)
        return code;
    weft_keyval_free(keyval);
    *number = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/* ---- Attributes */

/* The value of a predefined attribute, or NULL when it is not set. */
static int *predefined(int number)
{
    static int no_host = MPI_PROC_NULL, any = MPI_ANY_SOURCE, not_global = 0;
    switch (number) {
    case MPI_TAG_UB:
        return &weft.tag_ub;
    case MPI_IO: /* every process does the language's input and output */
        return &any;
    case MPI_HOST:
        return &no_host;
    case MPI_WTIME_IS_GLOBAL:
        return &not_global;
    case MPI_APPNUM:
        return weft.job.singleton ? NULL : &weft.job.appnum;
    case MPI_LASTUSEDCODE:
        return &weft_error_code_last;
    case MPI_UNIVERSE_SIZE:
        return weft.job.universe > 0 ? &weft.job.universe : NULL;
    case MPIX_FT:
        return &weft_settings.keep_going;
    default:
        return NULL;
    }
}

int weft_mpi_set_attr(struct weft_attributed of, int number, void *value)
{
    struct weft_keyval *keyval;
    int code = find_keyval(of.kind, number, &keyval);
    return code ? code : weft_attribute_set(of, keyval, value);
}

int weft_mpi_get_attr(struct weft_attributed of, int number, void *value, int *flag)
{
    struct weft_keyval *keyval;
    if (is_predefined(of.kind, number)) {
        *flag = predefined(number) != NULL;
        if (*flag)
            *(int **)value = predefined(number);
        return MPI_SUCCESS;
    }
    int code = find_keyval(of.kind, number, &keyval);
    if (code == MPI_SUCCESS)
        *flag = weft_attribute_get(of, keyval, value);
    return code;
}

int weft_mpi_delete_attr(struct weft_attributed of, int number)
{
    struct weft_keyval *keyval;
    int code = find_keyval(of.kind, number, &keyval);
    return code ? code : weft_attribute_delete_one(of, keyval);
}
