// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sections with gaps: where their elements are, and packed copies. See section.h; the datatypes
 * that describe them are in describe.c.
 *
 * Invariants:
 *  - A copy has the bytes of the section from the first one to the end of the last one that the
 *    call may use.
 *  - Only bytes that are in a span are written back, so what other calls write to the same section
 *    meanwhile stays as it is.
 */
#include "fortran/section_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- Elements */

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

/* True if the elements are equally far from one another, *stride bytes. */
static bool find_stride(const CFI_cdesc_t *of, CFI_index_t *stride)
{
    CFI_index_t next = 0;
    for (int d = 0; d < of->rank; d++) {
        CFI_index_t extent = of->dim[d].extent, step = of->dim[d].sm;
        if (extent == 1)
            continue;
        if (!next)
            *stride = step;
        else if (step != next)
            return false;
        next = step * extent;
    }
    return next != 0;
}

char *weft_fortran_element(const CFI_cdesc_t *of, MPI_Count index)
{
    char *address = of->base_addr;
    int last = of->rank - 1;
    for (int d = 0; d < last; d++) {
        address += index % of->dim[d].extent * of->dim[d].sm;
        index /= of->dim[d].extent;
    }
    return address + index * of->dim[last].sm;
}

/* -1 for an array of assumed size. */
static MPI_Count bytes_of(const CFI_cdesc_t *of)
{
    MPI_Count bytes = (MPI_Count)of->elem_len;
    for (int d = 0; d < of->rank; d++)
        bytes *= of->dim[d].extent;
    return bytes < 0 ? -1 : bytes;
}

/* Copies bytes of the packed copy from the section, or to it. */
static void copy_bytes(const struct weft_fortran_section *section, MPI_Count at, MPI_Count length,
                       bool pack)
{
    const CFI_cdesc_t *of = section->of;
    MPI_Count size = (MPI_Count)of->elem_len;
    weft_assert(at >= 0 && length >= 0 && at + length <= section->end);
    while (length > 0) {
        MPI_Count index = at / size, first = at % size;
        char *address = weft_fortran_element(of, index) + first;
        MPI_Count line = of->rank > 1 ? of->dim[0].extent - index % of->dim[0].extent : length;
        for (; line && length > 0; line--) {
            MPI_Count n = length < size - first ? length : size - first;
            char *packed = section->packed + at;
            memcpy(pack ? packed : address, pack ? address : packed, (size_t)n);
            address += of->dim[0].sm - first;
            first = 0;
            at += n;
            length -= n;
        }
    }
}

void weft_fortran_gather(const struct weft_fortran_section *section)
{
    if (section->packed)
        copy_bytes(section, 0, section->end, true);
}

void weft_fortran_unpack(struct weft_fortran_section *section)
{
    for (size_t i = 0; section->packed && i < section->number; i++)
        copy_bytes(section, section->spans[i].at, section->spans[i].length, false);
}

void weft_fortran_narrow(struct weft_fortran_section *section, MPI_Count from, MPI_Count to)
{
    if (!section->packed)
        return;
    bool inside = from >= 0 && to >= from && to <= section->end;
    section->spans[0] = (struct weft_fortran_span){inside ? from : 0, inside ? to - from : 0};
    section->number = 1;
}

void weft_fortran_forget(struct weft_fortran_section *section)
{
    MPI_Datatype type = section->made ? weft_Type_of(section->type) : MPI_DATATYPE_NULL;
    if (section->made)
        PMPI_Type_free(&type);
    section->made = false;
    free(section->packed);
    free(section->spans);
    section->packed = NULL;
    section->spans = NULL;
}

/* ---- Errors */

bool weft_fortran_inside(const struct weft_fortran_section *section, struct weft_fortran_call *call,
                         MPI_Count at, MPI_Count count, const struct weft_fortran_bounds *bounds,
                         MPI_Count *end)
{
    MPI_Count reach = 0, first = 0, last = 0, bytes = bytes_of(section->of);
    char sentence[200];
    if (count <= 0 || bounds->size == 0)
        return true;
    bool over = __builtin_mul_overflow(count - 1, bounds->extent, &reach) ||
                __builtin_add_overflow(at, bounds->true_lb, &first) ||
                __builtin_add_overflow(first, bounds->true_extent, &last) ||
                __builtin_add_overflow(reach < 0 ? first : last, reach, reach < 0 ? &first : &last);
    if (over || (bytes >= 0 && last > bytes))
        snprintf(sentence, sizeof sentence,
                 "the count and the datatype reach %lld bytes beyond a section of %lld bytes; pass "
                 "a longer section",
                 over ? (long long)INT64_MAX : (long long)(last - bytes), (long long)bytes);
    else if (first < 0)
        snprintf(sentence, sizeof sentence,
                 "the data begin %lld bytes before the section; pass a longer section",
                 -(long long)first);
    else {
        *end = last > *end ? last : *end;
        return true;
    }
    weft_fortran_raise(MPI_ERR_COUNT, call, sentence);
    return false;
}

bool weft_fortran_one(struct weft_fortran_call *call, const CFI_cdesc_t *buffer, int datatype)
{
    struct weft_fortran_bounds bounds;
    if (!weft_fortran_has_gaps(buffer) || !weft_fortran_bounds(weft_Type_of(datatype), &bounds) ||
        bounds.true_extent <= (MPI_Count)buffer->elem_len)
        return true;
    weft_fortran_raise(MPI_ERR_TYPE, call,
                       "the datatype is longer than an element of the section, whose elements are "
                       "apart; pass a contiguous array");
    return false;
}

bool weft_fortran_refuse(struct weft_fortran_call *call)
{
    weft_fortran_raise(MPI_ERR_BUFFER, call,
                       "the buffer is a section with gaps, which this call cannot take; pass a "
                       "contiguous array");
    return false;
}

MPI_Errhandler weft_fortran_replace_handler(const struct weft_fortran_call *call)
{
    MPI_Errhandler saved = MPI_ERRHANDLER_NULL;
    weft_assert(call->on == WEFT_FORTRAN_COMM || call->on == WEFT_FORTRAN_FILE);
    if (call->on == WEFT_FORTRAN_COMM) {
        PMPI_Comm_get_errhandler(weft_Comm_of(call->handle), &saved);
        PMPI_Comm_set_errhandler(weft_Comm_of(call->handle), MPI_ERRORS_RETURN);
    } else {
        PMPI_File_get_errhandler(weft_File_of(call->handle), &saved);
        PMPI_File_set_errhandler(weft_File_of(call->handle), MPI_ERRORS_RETURN);
    }
    return saved;
}

void weft_fortran_restore_handler(const struct weft_fortran_call *call, MPI_Errhandler saved)
{
    weft_assert(call->on == WEFT_FORTRAN_COMM || call->on == WEFT_FORTRAN_FILE);
    if (call->on == WEFT_FORTRAN_COMM)
        PMPI_Comm_set_errhandler(weft_Comm_of(call->handle), saved);
    else
        PMPI_File_set_errhandler(weft_File_of(call->handle), saved);
    PMPI_Errhandler_free(&saved);
    finish(call->ierror, call->code);
}

int *weft_fortran_no_types(int n)
{
    int *types = weft_fortran_allocate((size_t)n, sizeof *types);
    for (int i = 0; i < n; i++)
        types[i] = weft_Type_integer(MPI_DATATYPE_NULL);
    return types;
}

/* ---- Copies */

/* False for a block of a neighbor that does not exist, which the call does not write. */
static bool is_received(const struct weft_fortran_call *call, int block)
{
    MPI_Comm comm = weft_Comm_of(call->handle);
    int status, source, destination;
    if (!call->neighbors || PMPI_Topo_test(comm, &status) || status != MPI_CART ||
        PMPI_Cart_shift(comm, block / 2, 1, &source, &destination))
        return true;
    return (block % 2 == 0 ? source : destination) != MPI_PROC_NULL;
}

static bool add_block(struct weft_fortran_section *section, struct weft_fortran_call *call,
                      int block, MPI_Count at, MPI_Count count, MPI_Datatype type)
{
    struct weft_fortran_bounds bounds;
    if (count <= 0 || !weft_fortran_bounds(type, &bounds))
        return true;
    if (!weft_fortran_inside(section, call, at, count, &bounds, &section->end))
        return false;
    if (section->result && is_received(call, block))
        weft_fortran_add_spans(section, at, count, type, &bounds, MPI_DATATYPE_NULL);
    return true;
}

static bool take_copy(struct weft_fortran_section *section)
{
    weft_assert(!section->packed && !section->made);
    section->packed = weft_fortran_allocate((size_t)section->end, 1);
    section->address = section->packed;
    weft_fortran_gather(section);
    return true;
}

static MPI_Count product(MPI_Count a, MPI_Count b)
{
    MPI_Count result;
    return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

bool weft_fortran_copy(struct weft_fortran_section *section, struct weft_fortran_call *call, int n,
                       MPI_Count count, int datatype)
{
    struct weft_fortran_bounds bounds;
    MPI_Datatype type = weft_Type_of(datatype);
    if (!weft_fortran_has_gaps(section->of) || n <= 0 || count <= 0 ||
        !weft_fortran_bounds(type, &bounds))
        return true;
    for (int i = 0; i < n; i++)
        if (!add_block(section, call, i, product(i, product(count, bounds.extent)), count, type))
            return false;
    return take_copy(section);
}

bool weft_fortran_copy_first(struct weft_fortran_section *section, struct weft_fortran_call *call,
                             MPI_Count first, MPI_Count all, int datatype)
{
    struct weft_fortran_bounds bounds;
    MPI_Datatype type = weft_Type_of(datatype);
    if (!weft_fortran_has_gaps(section->of) || all <= 0 || !weft_fortran_bounds(type, &bounds))
        return true;
    return weft_fortran_inside(section, call, 0, all, &bounds, &section->end) &&
           add_block(section, call, 0, 0, first, type) && take_copy(section);
}

static MPI_Count number(struct weft_fortran_numbers of, int i)
{
    return of.wide ? ((const MPI_Count *)of.array)[i] : ((const int *)of.array)[i];
}

bool weft_fortran_copy_each(struct weft_fortran_section *section, struct weft_fortran_call *call,
                            int n, struct weft_fortran_numbers counts,
                            struct weft_fortran_numbers displs, const int *datatypes)
{
    if (!weft_fortran_has_gaps(section->of) || n <= 0)
        return true;
    for (int i = 0; i < n; i++)
        if (!add_block(section, call, i, number(displs, i), number(counts, i),
                       weft_Type_of(datatypes[i])))
            return false;
    return take_copy(section);
}

bool weft_fortran_describe_each(struct weft_fortran_section *section,
                                struct weft_fortran_call *call, int n,
                                struct weft_fortran_numbers counts,
                                struct weft_fortran_numbers displs, int datatype)
{
    struct weft_fortran_bounds bounds;
    CFI_index_t stride = 0;
    MPI_Datatype type = weft_Type_of(datatype);
    section->type = datatype;
    if (!weft_fortran_has_gaps(section->of) || n <= 0 || !weft_fortran_bounds(type, &bounds))
        return true;
    bool stretched = weft_fortran_fits(&bounds, bounds.extent) &&
                     bounds.extent == (MPI_Count)section->of->elem_len &&
                     find_stride(section->of, &stride);
    for (int i = 0; i < n; i++) {
        MPI_Count at = product(number(displs, i), bounds.extent), count = number(counts, i);
        if (stretched ? !weft_fortran_inside(section, call, at, count, &bounds, &section->end)
                      : !add_block(section, call, i, at, count, type))
            return false;
    }
    if (!stretched)
        return take_copy(section);
    weft_fortran_stretch(section, type, stride);
    return true;
}

/* ---- Ranks */

bool weft_fortran_is_root(int comm, int root)
{
    MPI_Comm of = weft_Comm_of(comm);
    int rank = MPI_PROC_NULL, inter;
    if (of == MPI_COMM_NULL || PMPI_Comm_test_inter(of, &inter))
        return false; /* the C function refuses it */
    return inter ? root == MPI_ROOT : PMPI_Comm_rank(of, &rank) == MPI_SUCCESS && rank == root;
}

bool weft_fortran_in_group(int comm, int root)
{
    MPI_Comm of = weft_Comm_of(comm);
    int inter;
    if (of == MPI_COMM_NULL || PMPI_Comm_test_inter(of, &inter))
        return false;
    return !inter || root >= 0;
}

bool weft_fortran_is_first(int comm)
{
    MPI_Comm of = weft_Comm_of(comm);
    int rank;
    return of != MPI_COMM_NULL && PMPI_Comm_rank(of, &rank) == MPI_SUCCESS && rank == 0;
}

int weft_fortran_size(int comm)
{
    MPI_Comm of = weft_Comm_of(comm);
    int size = 0;
    if (of != MPI_COMM_NULL)
        PMPI_Comm_size(of, &size);
    return size;
}

MPI_Count weft_fortran_sum(int comm, struct weft_fortran_numbers counts)
{
    MPI_Count sum = 0;
    for (int i = 0, n = weft_fortran_size(comm); i < n; i++)
        sum += number(counts, i);
    return sum;
}

MPI_Count weft_fortran_own(int comm, struct weft_fortran_numbers counts)
{
    MPI_Comm of = weft_Comm_of(comm);
    int rank;
    return of == MPI_COMM_NULL || PMPI_Comm_rank(of, &rank) ? 0 : number(counts, rank);
}
