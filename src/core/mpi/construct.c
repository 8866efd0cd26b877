// SPDX-License-Identifier: BSD-3-Clause
/*
 * Constructors of datatypes (MPI 5.0 section 5.1): the arguments become an envelope, from which the
 * type is built. The forms with large counts keep them as large counts.
 *
 * Invariant: arguments are checked in the order count, arrays, old types, their combination,
 * result; nothing is written to *newtype unless a type was made.
 */
#include "core/mpi/construct.h"
#include "core/datatype/envelope.h"
#include "core/mpi/arg.h"
#include "core/base/handle_list.h"
#include "core/process/weft.h"

#include <string.h>

/* No array has more entries: it would fill the 2^47 bytes that a process can address. */
static const MPI_Count MOST_ENTRIES = (MPI_Count)1 << 44;

static size_t total(const struct weft_row *rows)
{
    size_t n = 0;
    for (int i = 0; i < WEFT_ROWS; i++)
        n += (size_t)rows[i].count;
    return n;
}

static bool has_null(const struct weft_row *rows)
{
    for (int i = 0; i < WEFT_ROWS; i++)
        if (rows[i].count && !rows[i].from)
            return true;
    return false;
}

static bool has_endless(const struct weft_row *rows)
{
    for (int i = 0; i < WEFT_ROWS; i++)
        if (rows[i].count > MOST_ENTRIES)
            return true;
    return false;
}

static void copy_rows(void *to, const struct weft_row *rows, size_t size)
{
    char *at = to;
    for (int i = 0; i < WEFT_ROWS; i++) {
        size_t bytes = (size_t)rows[i].count * size;
        if (bytes)
            memcpy(at, rows[i].from, bytes);
        at += bytes;
    }
}

static int check_call(const struct weft_construct *call)
{
    bool array = call->combiner == MPI_COMBINER_SUBARRAY || call->combiner == MPI_COMBINER_DARRAY;
    if (array && call->count < 1)
        return weft_error_set(MPI_ERR_DIMS, "an array cannot have %lld dimensions",
                              (long long)call->count);
    if (call->count < 0)
        return weft_error_set(MPI_ERR_COUNT, "the count %lld is negative", (long long)call->count);
    if (has_null(call->integers) || has_null(call->addresses) || has_null(call->large) ||
        (call->ntypes && !call->types))
        return weft_error_set(MPI_ERR_ARG, "one of the arrays is a null pointer");
    if (has_endless(call->integers) || has_endless(call->addresses) || has_endless(call->large))
        return weft_error_set(MPI_ERR_COUNT, "no array has %lld entries", (long long)call->count);
    for (MPI_Count i = 0; i < call->ntypes; i++)
        if (!weft_handle_resolve(call->types[i], WEFT_KIND_DATATYPE))
            return weft_arg_bad_handle(WEFT_KIND_DATATYPE, call->types[i],
                                       call->ntypes > 1 ? (int)i : -1);
    return MPI_SUCCESS;
}

static int make_type(const struct weft_construct *call)
{
    struct weft_datatype *type;
    int code = check_call(call);
    if (code)
        return code;
    size_t ntypes = (size_t)call->ntypes;
    struct weft_envelope *envelope = weft_envelope_new(
        call->combiner, total(call->integers), total(call->addresses), total(call->large), ntypes);
    if (!envelope)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for the arguments of a datatype");
    copy_rows(envelope->integers, call->integers, sizeof(int));
    copy_rows(envelope->addresses, call->addresses, sizeof(MPI_Aint));
    copy_rows(envelope->large, call->large, sizeof(MPI_Count));
    for (size_t i = 0; i < ntypes; i++) {
        envelope->types[i] = weft_handle_object(call->types[i]);
        weft_datatype_retain(envelope->types[i]);
    }
    code = weft_datatype_make(envelope, &type);
    if (code)
        return code;
    if (!call->result) {
        weft_datatype_release(type);
        return weft_error_set(MPI_ERR_ARG, "the pointer to the new datatype is null");
    }
    *call->result = type->handle;
    weft_handle_list_add(type->handle, WEFT_KIND_DATATYPE);
    return MPI_SUCCESS;
}

int weft_construct(const struct weft_construct *call)
{
    int code = weft_enter(call->function);
    if (code)
        return code;
    return weft_leave_with(NULL, make_type(call), call->function);
}
