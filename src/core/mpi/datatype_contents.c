// SPDX-License-Identifier: BSD-3-Clause
/*
 * The arguments by which a datatype was made (MPI 5.0 section 5.1.13).
 *
 * Invariant: every derived type that MPI_Type_get_contents returns is a new object, which the
 * caller frees.
 */
#include "core/base/handle_list.h"
#include "core/datatype/envelope.h"
#include "core/mpi/entry.h"

#include <string.h>

static const struct weft_envelope named = {.combiner = MPI_COMBINER_NAMED};

/* The number of types that the user sees: the kinds of Fortran have no constituents. */
static size_t types_of(const struct weft_envelope *envelope)
{
    bool kind = envelope->combiner == MPI_COMBINER_F90_REAL ||
                envelope->combiner == MPI_COMBINER_F90_COMPLEX ||
                envelope->combiner == MPI_COMBINER_F90_INTEGER;
    return kind ? 0 : envelope->ntypes;
}

static const struct weft_envelope *envelope_of(const struct weft_datatype *type)
{
    const struct weft_envelope *envelope = weft_datatype_envelope(type);
    return envelope ? envelope : &named;
}

int weft_mpi_check_results(bool given)
{
    return given ? MPI_SUCCESS
                 : weft_error_set(MPI_ERR_ARG, "one of the pointers to the results is null");
}

/* The forms without _c return no large counts. */
int weft_mpi_check_small(struct weft_datatype *type, const char *function)
{
    if (!envelope_of(type)->nlarge)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_TYPE, "the datatype was made with large counts; call %s_c",
                          function);
}

int weft_mpi_check_derived(struct weft_datatype *type)
{
    if (envelope_of(type) != &named)
        return MPI_SUCCESS;
    return weft_error_set(
        MPI_ERR_TYPE, "a named datatype has no contents; MPI_Type_get_envelope distinguishes them");
}

void weft_mpi_type_get_envelope(struct weft_datatype *type, int *num_integers, int *num_addresses,
                                int *num_datatypes, int *combiner)
{
    const struct weft_envelope *envelope = envelope_of(type);
    *num_integers = weft_arg_narrow((MPI_Count)envelope->nintegers);
    *num_addresses = (int)envelope->naddresses;
    *num_datatypes = (int)types_of(envelope);
    *combiner = envelope->combiner;
}

void weft_mpi_type_get_envelope_c(struct weft_datatype *type, MPI_Count *num_integers,
                                  MPI_Count *num_addresses, MPI_Count *num_large_counts,
                                  MPI_Count *num_datatypes, int *combiner)
{
    const struct weft_envelope *envelope = envelope_of(type);
    *num_integers = (MPI_Count)envelope->nintegers;
    *num_addresses = (MPI_Count)envelope->naddresses;
    *num_large_counts = (MPI_Count)envelope->nlarge;
    *num_datatypes = (MPI_Count)types_of(envelope);
    *combiner = envelope->combiner;
}

static bool short_of(MPI_Count space, const void *to, size_t needed)
{
    return needed && (space < (MPI_Count)needed || !to);
}

static void copy_array(void *to, const void *from, size_t count, size_t size)
{
    if (count)
        memcpy(to, from, count * size);
}

int weft_mpi_type_return(const struct weft_datatype *type, MPI_Datatype *handle)
{
    struct weft_datatype *returned;
    int code = weft_datatype_return((struct weft_datatype *)type, &returned);
    if (code != MPI_SUCCESS)
        return code;
    *handle = returned->handle;
    weft_handle_list_add(*handle, WEFT_KIND_DATATYPE);
    return MPI_SUCCESS;
}

void weft_mpi_type_take_back(MPI_Datatype handle)
{
    weft_handle_list_remove(handle);
    weft_datatype_release(weft_handle_object(handle));
}

int weft_mpi_type_get_contents(struct weft_datatype *type, MPI_Count max_integers,
                               MPI_Count max_addresses, MPI_Count max_large, MPI_Count max_types,
                               int integers[], MPI_Aint addresses[], MPI_Count large[],
                               MPI_Datatype types[])
{
    const struct weft_envelope *envelope = envelope_of(type);
    size_t ntypes = types_of(envelope);
    if (short_of(max_integers, integers, envelope->nintegers) ||
        short_of(max_addresses, addresses, envelope->naddresses) ||
        short_of(max_large, large, envelope->nlarge) || short_of(max_types, types, ntypes))
        return weft_error_set(MPI_ERR_ARG,
                              "the arrays are too short for the %zu integers, %zu addresses, %zu "
                              "large counts and %zu datatypes",
                              envelope->nintegers, envelope->naddresses, envelope->nlarge, ntypes);
    copy_array(integers, envelope->integers, envelope->nintegers, sizeof *integers);
    copy_array(addresses, envelope->addresses, envelope->naddresses, sizeof *addresses);
    copy_array(large, envelope->large, envelope->nlarge, sizeof *large);
    size_t returned = 0;
    int code = MPI_SUCCESS;
    while (returned < ntypes && code == MPI_SUCCESS) {
        code = weft_mpi_type_return(envelope->types[returned], &types[returned]);
        returned += code == MPI_SUCCESS;
    }
    while (code != MPI_SUCCESS && returned > 0)
        weft_mpi_type_take_back(types[--returned]);
    return code;
}
