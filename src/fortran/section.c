// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sections with gaps: packed copies, and datatypes that describe them. See section.h.
 *
 * Invariant: a datatype made here covers exactly the first elements of the section in array element
 * order, so that a count and a datatype mean what they would mean for a contiguous copy of it.
 */
#include "fortran/section.h"

#include <stdio.h>
#include <string.h>

/* The last extent of an assumed-size array is -1: its elements follow one another. */
bool weft_fortran_gaps(const CFI_cdesc_t *buffer)
{
    CFI_index_t step = (CFI_index_t)buffer->elem_len;
    bool gaps = false;
    for (int d = 0; d < buffer->rank; d++) {
        CFI_index_t extent = buffer->dim[d].extent;
        if (extent == 0)
            return false;
        if (extent != 1 && buffer->dim[d].sm != step)
            gaps = true;
        step *= extent;
    }
    return gaps;
}

static size_t elements_of(const CFI_cdesc_t *buffer)
{
    size_t elements = 1;
    for (int d = 0; d < buffer->rank; d++)
        elements *= (size_t)buffer->dim[d].extent;
    return elements;
}

/* Copies dimensions 0 to d; returns the end of what was read or written in the packed copy. */
static char *copy_section(const CFI_cdesc_t *of, int d, char *at, char *packed, bool pack)
{
    if (d < 0) {
        memcpy(pack ? packed : at, pack ? at : packed, of->elem_len);
        return packed + of->elem_len;
    }
    for (CFI_index_t i = 0; i < of->dim[d].extent; i++)
        packed = copy_section(of, d - 1, at + i * of->dim[d].sm, packed, pack);
    return packed;
}

void weft_fortran_pack(struct weft_fortran_section *section, const CFI_cdesc_t *buffer)
{
    section->of = buffer;
    section->packed = buffer->base_addr;
    if (!weft_fortran_has_gaps(buffer))
        return;
    section->packed = weft_fortran_allocate(elements_of(buffer), buffer->elem_len);
    weft_fortran_gather(section);
}

void weft_fortran_gather(const struct weft_fortran_section *section)
{
    const CFI_cdesc_t *of = section->of;
    if (section->packed != of->base_addr)
        copy_section(of, of->rank - 1, of->base_addr, section->packed, true);
}

void weft_fortran_scatter(const struct weft_fortran_section *section)
{
    const CFI_cdesc_t *of = section->of;
    if (section->packed != of->base_addr)
        copy_section(of, of->rank - 1, of->base_addr, section->packed, false);
}

void weft_fortran_drop(struct weft_fortran_section *section)
{
    if (section->packed != section->of->base_addr)
        free(section->packed);
}

void weft_fortran_unpack(struct weft_fortran_section *section)
{
    weft_fortran_scatter(section);
    weft_fortran_drop(section);
}

void weft_fortran_unused(struct weft_fortran_section *section, const CFI_cdesc_t *buffer)
{
    section->of = buffer;
    section->packed = buffer->base_addr;
}

bool weft_fortran_is_root(int comm, int root)
{
    int rank;
    return root == MPI_ROOT || PMPI_Comm_rank(weft_Comm_of(comm), &rank) || rank == root;
}

/* ---- Datatypes */

enum { PIECES = CFI_MAX_RANK + 1 };

struct pieces {
    MPI_Count lengths[PIECES], displacements[PIECES];
    MPI_Datatype types[PIECES];
    MPI_Count number;
};

static void add_piece(struct pieces *pieces, MPI_Count displacement, MPI_Datatype type)
{
    pieces->lengths[pieces->number] = 1;
    pieces->displacements[pieces->number] = displacement;
    pieces->types[pieces->number++] = type;
}

/* The first n elements of the section, each of type `element`, and `more` times `item` after them:
 * for each dimension, from the last one, the complete slices that are left. Its extent is `step`,
 * if that is not 0. Frees element. */
static MPI_Datatype describe_elements(const CFI_cdesc_t *of, MPI_Datatype element, MPI_Count n,
                                      MPI_Datatype item, MPI_Count more, MPI_Count step)
{
    MPI_Datatype slices[CFI_MAX_RANK] = {element}, made = MPI_DATATYPE_NULL;
    MPI_Count sizes[CFI_MAX_RANK] = {1}, at = 0;
    struct pieces pieces = {.number = 0};
    int last = of->rank - 1;
    for (int d = 0; d < last; d++) {
        sizes[d + 1] = sizes[d] * of->dim[d].extent;
        PMPI_Type_create_hvector_c(of->dim[d].extent, 1, of->dim[d].sm, slices[d], &slices[d + 1]);
    }
    for (int d = last; d >= 0; d--) {
        MPI_Datatype piece;
        MPI_Count full = n / sizes[d];
        n %= sizes[d];
        if (full) {
            PMPI_Type_create_hvector_c(full, 1, of->dim[d].sm, slices[d], &piece);
            add_piece(&pieces, at, piece);
        }
        at += full * of->dim[d].sm;
    }
    if (more) {
        MPI_Datatype piece;
        PMPI_Type_contiguous_c(more, item, &piece);
        add_piece(&pieces, at, piece);
    }
    PMPI_Type_create_struct_c(pieces.number, pieces.lengths, pieces.displacements, pieces.types,
                              &made);
    if (step) {
        MPI_Datatype first = made;
        PMPI_Type_create_resized_c(first, 0, step, &made);
        PMPI_Type_free(&first);
    }
    PMPI_Type_commit(&made);
    for (MPI_Count i = 0; i < pieces.number; i++)
        PMPI_Type_free(&pieces.types[i]);
    for (int d = 0; d <= last; d++)
        PMPI_Type_free(&slices[d]);
    return made;
}

/* The size of a datatype without gaps of its own, 0 for any other. */
static MPI_Count size_if_dense(MPI_Datatype type)
{
    MPI_Count size, lb, extent, true_lb, true_extent;
    if (PMPI_Type_size_c(type, &size) || PMPI_Type_get_extent_c(type, &lb, &extent) ||
        PMPI_Type_get_true_extent_c(type, &true_lb, &true_extent))
        return 0;
    return size == extent && size == true_extent && lb == 0 && true_lb == 0 ? size : 0;
}

/* The bytes from each partition of n elements to the next, if the partitions of a section of `all`
 * elements have the same gaps: each begins at a slice of one dimension. Dimensions that continue
 * one another count as one. 0: the partitions differ. */
static CFI_index_t distance(const CFI_cdesc_t *of, MPI_Count n, MPI_Count all)
{
    MPI_Count slice = 1;
    for (int d = 0; d < of->rank; d++) {
        CFI_index_t step = of->dim[d].sm;
        MPI_Count extent = of->dim[d].extent;
        while (d + 1 < of->rank && of->dim[d + 1].sm == step * extent)
            extent *= of->dim[++d].extent;
        if (n % slice == 0 && (extent < 0 || all <= slice * extent))
            return n / slice * step;
        slice *= extent;
    }
    return 0;
}

bool weft_fortran_describe(struct weft_fortran_section *section, const char *function, int comm,
                           const CFI_cdesc_t *buffer, int pieces, MPI_Count count, int datatype,
                           int *ierror)
{
    MPI_Count all;
    *section = (struct weft_fortran_section){
        .of = buffer, .count = count, .small_count = (int)count, .type = datatype};
    MPI_Datatype type = weft_Type_of(datatype), element;
    if (!weft_fortran_has_gaps(buffer) || count <= 0 || type == MPI_DATATYPE_NULL || pieces <= 0 ||
        __builtin_mul_overflow(pieces, count, &all))
        return true; /* the C function refuses a wrong count or a null datatype */
    MPI_Count length = (MPI_Count)buffer->elem_len, size = size_if_dense(type);
    char sentence[200];
    if (!size || length % size) {
        snprintf(sentence, sizeof sentence,
                 "a section with gaps, of elements of %lld bytes, cannot be described by this "
                 "datatype, which does not divide them; pass a contiguous array",
                 (long long)length);
        weft_fortran_raise(MPI_ERR_TYPE, function, comm, ierror, sentence);
        return false;
    }
    MPI_Count per_element = length / size;
    MPI_Count space = (MPI_Count)elements_of(buffer) * per_element;
    if (buffer->dim[buffer->rank - 1].extent >= 0 && all > space) {
        snprintf(sentence, sizeof sentence,
                 "the count is %lld, but the section has room for %lld; pass a longer section",
                 (long long)all, (long long)space);
        weft_fortran_raise(MPI_ERR_COUNT, function, comm, ierror, sentence);
        return false;
    }
    CFI_index_t step = 0;
    if (pieces > 1 && count % per_element == 0)
        step = distance(buffer, count / per_element, all / per_element);
    if (pieces > 1 && !step) {
        weft_fortran_raise(MPI_ERR_BUFFER, function, comm, ierror,
                           "the partitions of this section do not all have the same gaps; pass a "
                           "contiguous array, or partitions that are whole lines or columns");
        return false;
    }
    PMPI_Type_contiguous_c(per_element, type, &element);
    type = describe_elements(buffer, element, count / per_element, type, count % per_element, step);
    section->type = weft_Type_integer(type);
    section->count = section->small_count = 1;
    section->made = true;
    return true;
}

void weft_fortran_forget(struct weft_fortran_section *section)
{
    if (!section->made)
        return;
    MPI_Datatype type = weft_Type_of(section->type);
    PMPI_Type_free(&type);
}

void weft_fortran_refuse(const char *function, int comm, int *ierror)
{
    weft_fortran_raise(MPI_ERR_BUFFER, function, comm, ierror,
                       "the buffer is a section with gaps, which this call cannot take; pass a "
                       "contiguous array");
}
