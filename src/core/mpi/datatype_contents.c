// SPDX-License-Identifier: BSD-3-Clause
/*
 * How a datatype was made (MPI 5.0 section 5.1.13).
 *
 * Invariant: every derived type that MPI_Type_get_contents hands out counts as a handle of its own,
 * which the caller frees.
 */
#include "core/mpi/api.h"
#include "core/datatype/datatype.h"
#include "core/object/error.h"
#include "core/process/weft.h"

#include <limits.h>
#include <string.h>

static const struct weft_envelope named = {.combiner = MPI_COMBINER_NAMED};

/* What a envelope tells the user: the kinds of Fortran are types without constituents. */
static size_t types_of(const struct weft_envelope *envelope)
{
    bool kind = envelope->combiner == MPI_COMBINER_F90_REAL ||
                envelope->combiner == MPI_COMBINER_F90_COMPLEX ||
                envelope->combiner == MPI_COMBINER_F90_INTEGER;
    return kind ? 0 : envelope->ntypes;
}

static const struct weft_envelope *envelope_of(const char *function, MPI_Datatype handle, int *code)
{
    const struct weft_datatype *type = weft_handle_resolve(handle, WEFT_KIND_DATATYPE);
    *code = MPI_SUCCESS;
    if (!type) {
        *code = weft_error(NULL, MPI_ERR_TYPE, function, "%p is no datatype; was it freed?",
                           (void *)handle);
        return NULL;
    }
    return type->envelope ? type->envelope : &named;
}

static int need_large(const char *function)
{
    return weft_error(NULL, MPI_ERR_TYPE, function,
                      "the datatype was made with large counts; call %s_c", function);
}

static int null_result(const char *function)
{
    return weft_error(NULL, MPI_ERR_ARG, function, "one of the pointers to the results is null");
}

static int envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
                    int *num_datatypes, int *combiner)
{
    const char *function = "MPI_Type_get_envelope";
    int code;
    const struct weft_envelope *envelope = envelope_of(function, datatype, &code);
    if (!envelope)
        return code;
    if (!num_integers || !num_addresses || !num_datatypes || !combiner)
        return null_result(function);
    if (envelope->nlarge)
        return need_large(function);
    *num_integers = envelope->nintegers > INT_MAX ? MPI_UNDEFINED : (int)envelope->nintegers;
    *num_addresses = (int)envelope->naddresses;
    *num_datatypes = (int)types_of(envelope);
    *combiner = envelope->combiner;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Type_get_envelope);
int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
                           int *num_datatypes, int *combiner)
{
    int code = weft_enter("MPI_Type_get_envelope");
    if (code)
        return code;
    code = envelope(datatype, num_integers, num_addresses, num_datatypes, combiner);
    weft_leave();
    return code;
}

WEFT_EXPORT(Type_get_envelope_c);
int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
                             MPI_Count *num_addresses, MPI_Count *num_large_counts,
                             MPI_Count *num_datatypes, int *combiner)
{
    int code = weft_enter("MPI_Type_get_envelope_c");
    if (code)
        return code;
    const struct weft_envelope *envelope = envelope_of("MPI_Type_get_envelope_c", datatype, &code);
    if (envelope &&
        (!num_integers || !num_addresses || !num_large_counts || !num_datatypes || !combiner)) {
        code = null_result("MPI_Type_get_envelope_c");
    } else if (envelope) {
        *num_integers = (MPI_Count)envelope->nintegers;
        *num_addresses = (MPI_Count)envelope->naddresses;
        *num_large_counts = (MPI_Count)envelope->nlarge;
        *num_datatypes = (MPI_Count)types_of(envelope);
        *combiner = envelope->combiner;
    }
    weft_leave();
    return code;
}

/* Where the contents go, and how much there is room for. */
struct room {
    MPI_Count integers, addresses, large, types;
    int *to_integers;
    MPI_Aint *to_addresses;
    MPI_Count *to_large;
    MPI_Datatype *to_types;
};

static bool short_of(MPI_Count room, const void *to, size_t needed)
{
    return needed && (room < (MPI_Count)needed || !to);
}

static int contents(const char *function, MPI_Datatype datatype, const struct room *room,
                    bool large)
{
    int code;
    const struct weft_envelope *envelope = envelope_of(function, datatype, &code);
    if (!envelope)
        return code;
    if (envelope == &named)
        return weft_error(NULL, MPI_ERR_TYPE, function,
                          "a named datatype has no contents; MPI_Type_get_envelope tells them");
    if (envelope->nlarge && !large)
        return need_large(function);
    size_t ntypes = types_of(envelope);
    if (short_of(room->integers, room->to_integers, envelope->nintegers) ||
        short_of(room->addresses, room->to_addresses, envelope->naddresses) ||
        short_of(room->large, room->to_large, envelope->nlarge) ||
        short_of(room->types, room->to_types, ntypes))
        return weft_error(NULL, MPI_ERR_ARG, function,
                          "the arrays are too short for the %zu integers, %zu addresses, %zu large "
                          "counts and %zu datatypes",
                          envelope->nintegers, envelope->naddresses, envelope->nlarge, ntypes);
    if (envelope->nintegers)
        memcpy(room->to_integers, envelope->integers, envelope->nintegers * sizeof(int));
    if (envelope->naddresses)
        memcpy(room->to_addresses, envelope->addresses, envelope->naddresses * sizeof(MPI_Aint));
    if (envelope->nlarge)
        memcpy(room->to_large, envelope->large, envelope->nlarge * sizeof(MPI_Count));
    for (size_t i = 0; i < ntypes; i++) {
        weft_datatype_retain(envelope->types[i]);
        room->to_types[i] = envelope->types[i]->handle;
    }
    return MPI_SUCCESS;
}

WEFT_EXPORT(Type_get_contents);
int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                           int max_datatypes, int array_of_integers[],
                           MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    const struct room room = {.integers = max_integers,
                              .addresses = max_addresses,
                              .types = max_datatypes,
                              .to_integers = array_of_integers,
                              .to_addresses = array_of_addresses,
                              .to_types = array_of_datatypes};
    int code = weft_enter("MPI_Type_get_contents");
    if (code)
        return code;
    code = contents("MPI_Type_get_contents", datatype, &room, false);
    weft_leave();
    return code;
}

WEFT_EXPORT(Type_get_contents_c);
int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes,
                             int array_of_integers[], MPI_Aint array_of_addresses[],
                             MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
{
    const struct room room = {max_integers,          max_addresses,     max_large_counts,
                              max_datatypes,         array_of_integers, array_of_addresses,
                              array_of_large_counts, array_of_datatypes};
    int code = weft_enter("MPI_Type_get_contents_c");
    if (code)
        return code;
    code = contents("MPI_Type_get_contents_c", datatype, &room, true);
    weft_leave();
    return code;
}
