// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions that section.c and describe.c share: the bytes of a section that a count and a
 * datatype name.
 */
#ifndef WEFT_FORTRAN_SECTION_INTERNAL_H
#define WEFT_FORTRAN_SECTION_INTERNAL_H

#include "fortran/section.h"

struct weft_fortran_bounds {
    MPI_Count size, lb, extent, true_lb, true_extent;
};

/* False if it is no datatype, which the C function refuses. */
bool weft_fortran_bounds(MPI_Datatype type, struct weft_fortran_bounds *bounds);

/* True if an item, with its gaps, is within its extent, and `length` is a multiple of the extent.
 */
bool weft_fortran_fits(const struct weft_fortran_bounds *bounds, MPI_Count length);

/* Raises an error if count items of a datatype, from byte `at` of the packed copy, are not all in
 * the section. Sets *end to the end of the last one, if that is larger. */
bool weft_fortran_inside(const struct weft_fortran_section *section, struct weft_fortran_call *call,
                         MPI_Count at, MPI_Count count, const struct weft_fortran_bounds *bounds,
                         MPI_Count *end);

/* Appends the bytes of these items to the section's spans; adjacent ones are joined. `basic`: the
 * predefined datatype that this one consists of, or MPI_BYTE, if the order of the bytes matters;
 * MPI_DATATYPE_NULL, if it does not. */
void weft_fortran_add_spans(struct weft_fortran_section *section, MPI_Count at, MPI_Count count,
                            MPI_Datatype type, const struct weft_fortran_bounds *bounds,
                            MPI_Datatype basic);

/* Passes the datatype with `stride` bytes as its extent. */
void weft_fortran_stretch(struct weft_fortran_section *section, MPI_Datatype type,
                          CFI_index_t stride);

/* The address of an element of the section, in array element order. */
char *weft_fortran_element(const CFI_cdesc_t *of, MPI_Count index);

#endif
