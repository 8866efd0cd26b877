// SPDX-License-Identifier: BSD-3-Clause
/*
 * Datatypes that describe sections with gaps.
 *
 * Invariant: a datatype made here has the type map that the count and the datatype of the call have
 * on the packed copy, with each byte where it is in the section.
 */
#include "fortran/section_internal.h"

#include <string.h>

/* ---- Bytes of a datatype */

bool weft_fortran_bounds(MPI_Datatype type, struct weft_fortran_bounds *bounds)
{
    return type != MPI_DATATYPE_NULL && PMPI_Type_size_c(type, &bounds->size) == MPI_SUCCESS &&
           PMPI_Type_get_extent_c(type, &bounds->lb, &bounds->extent) == MPI_SUCCESS &&
           PMPI_Type_get_true_extent_c(type, &bounds->true_lb, &bounds->true_extent) == MPI_SUCCESS;
}

bool weft_fortran_fits(const struct weft_fortran_bounds *bounds, MPI_Count length)
{
    return bounds->extent > 0 && bounds->true_lb >= 0 &&
           bounds->true_lb + bounds->true_extent <= bounds->extent && length % bounds->extent == 0;
}

static bool is_dense(const struct weft_fortran_bounds *bounds)
{
    return bounds->size == bounds->extent && bounds->size == bounds->true_extent &&
           bounds->true_lb == 0;
}

/* The number of datatypes that made this one: 0 if it is predefined, and not to be freed. */
static MPI_Count types_in(MPI_Datatype type, MPI_Count *integers, MPI_Count *addresses,
                          MPI_Count *counts)
{
    MPI_Count types;
    int combiner;
    if (PMPI_Type_get_envelope_c(type, integers, addresses, counts, &types, &combiner) ||
        combiner == MPI_COMBINER_VALUE_INDEX)
        return 0;
    return types;
}

/* Frees a datatype that a call returned, unless it is predefined. */
static void free_type(MPI_Datatype type)
{
    MPI_Count integers, addresses, counts;
    if (types_in(type, &integers, &addresses, &counts))
        PMPI_Type_free(&type);
}

/* The predefined datatype that a datatype consists of, if it has no gaps; MPI_DATATYPE_NULL if
 * there are several. */
static MPI_Datatype basic_of(MPI_Datatype type)
{
    MPI_Count integers, addresses, counts, number = types_in(type, &integers, &addresses, &counts);
    struct weft_fortran_bounds bounds;
    if (!number)
        return weft_fortran_bounds(type, &bounds) && is_dense(&bounds) ? type : MPI_DATATYPE_NULL;
    int *few_integers = weft_fortran_allocate((size_t)integers, sizeof *few_integers);
    MPI_Aint *few_addresses = weft_fortran_allocate((size_t)addresses, sizeof *few_addresses);
    MPI_Count *few_counts = weft_fortran_allocate((size_t)counts, sizeof *few_counts);
    MPI_Datatype *types = weft_fortran_allocate((size_t)number, sizeof *types);
    MPI_Datatype basic = MPI_DATATYPE_NULL;
    PMPI_Type_get_contents_c(type, integers, addresses, counts, number, few_integers, few_addresses,
                             few_counts, types);
    for (MPI_Count i = 0; i < number; i++) {
        MPI_Datatype found = basic_of(types[i]);
        basic = i == 0 || basic == found ? found : MPI_DATATYPE_NULL;
        if (basic == MPI_DATATYPE_NULL)
            break;
    }
    for (MPI_Count i = 0; i < number; i++)
        free_type(types[i]);
    free(types);
    free(few_counts);
    free(few_addresses);
    free(few_integers);
    return basic;
}

/* Returns the position of each of the n items of `unit` bytes of a datatype, in bytes after its
 * first byte: bytes that hold their own position are packed. */
static MPI_Count *positions_of(MPI_Datatype type, const struct weft_fortran_bounds *bounds,
                               MPI_Count unit, MPI_Count n)
{
    unsigned char *from = weft_fortran_allocate((size_t)bounds->true_extent, 1);
    unsigned char *packed = weft_fortran_allocate((size_t)bounds->size, 1);
    MPI_Count *positions = weft_fortran_allocate((size_t)n, sizeof *positions);
    memset(positions, 0, (size_t)n * sizeof *positions);
    for (int shift = 0; shift == 0 || (bounds->true_extent - 1) >> shift; shift += 8) {
        MPI_Count end = 0;
        for (MPI_Count i = 0; i < bounds->true_extent; i++)
            from[i] = (unsigned char)(i >> shift);
        PMPI_Pack_c(from - bounds->true_lb, 1, type, packed, bounds->size, &end, MPI_COMM_SELF);
        weft_assert(end == bounds->size);
        for (MPI_Count i = 0; i < n; i++)
            positions[i] |= (MPI_Count)packed[i * unit] << shift;
    }
    free(packed);
    free(from);
    return positions;
}

static void add_span(struct weft_fortran_section *section, MPI_Count at, MPI_Count length)
{
    struct weft_fortran_span *last = section->number ? &section->spans[section->number - 1] : NULL;
    if (last && last->at + last->length == at) {
        last->length += length;
        return;
    }
    if (section->number == section->space) {
        size_t space = section->space ? 2 * section->space : 4;
        struct weft_fortran_span *more = weft_fortran_allocate(space, sizeof *more);
        if (section->number)
            memcpy(more, section->spans, section->number * sizeof *more);
        free(section->spans);
        section->spans = more;
        section->space = space;
    }
    weft_assert(section->number < section->space);
    section->spans[section->number++] = (struct weft_fortran_span){at, length};
}

void weft_fortran_add_spans(struct weft_fortran_section *section, MPI_Count at, MPI_Count count,
                            MPI_Datatype type, const struct weft_fortran_bounds *bounds,
                            MPI_Datatype basic)
{
    if (bounds->size == 0)
        return;
    if (is_dense(bounds) && (basic == MPI_DATATYPE_NULL || basic == type)) {
        add_span(section, at, count * bounds->size);
        return;
    }
    MPI_Count unit = 1;
    if (basic != MPI_DATATYPE_NULL)
        PMPI_Type_size_c(basic, &unit);
    weft_assert(unit > 0);
    MPI_Count n = bounds->size / unit, *positions = positions_of(type, bounds, unit, n);
    for (MPI_Count i = 0; i < count; i++)
        for (MPI_Count k = 0; k < n; k++)
            add_span(section, at + i * bounds->extent + bounds->true_lb + positions[k], unit);
    free(positions);
}

/* ---- Datatypes of sections */

void weft_fortran_stretch(struct weft_fortran_section *section, MPI_Datatype type,
                          CFI_index_t stride)
{
    MPI_Datatype made;
    PMPI_Type_create_resized_c(type, 0, stride, &made);
    PMPI_Type_commit(&made);
    weft_assert(!section->made);
    section->type = weft_Type_integer(made);
    section->made = true;
}

static void use(struct weft_fortran_section *section, MPI_Datatype made)
{
    PMPI_Type_commit(&made);
    weft_assert(!section->made && !section->packed);
    section->type = weft_Type_integer(made);
    section->count = section->small_count = 1;
    section->made = true;
}

enum { MEMBERS_MAX = CFI_MAX_RANK + 1 };

struct members {
    MPI_Count lengths[MEMBERS_MAX], displacements[MEMBERS_MAX];
    MPI_Datatype types[MEMBERS_MAX];
    MPI_Count number;
};

static void add_member(struct members *members, MPI_Count displacement, MPI_Datatype type)
{
    weft_assert(members->number < MEMBERS_MAX);
    members->lengths[members->number] = 1;
    members->displacements[members->number] = displacement;
    members->types[members->number++] = type;
}

/* The first n elements of the section, each of type `element`, and `more` times `item` after them:
 * for each dimension, from the last one, the complete slices that are left. Its extent is `step`,
 * if that is not 0. Frees element. */
static MPI_Datatype describe_elements(const CFI_cdesc_t *of, MPI_Datatype element, MPI_Count n,
                                      MPI_Datatype item, MPI_Count more, MPI_Count step)
{
    MPI_Datatype slices[CFI_MAX_RANK] = {element}, made = MPI_DATATYPE_NULL;
    MPI_Count sizes[CFI_MAX_RANK] = {1}, at = 0;
    struct members members = {.number = 0};
    int last = of->rank - 1;
    for (int d = 0; d < last; d++) {
        sizes[d + 1] = sizes[d] * of->dim[d].extent;
        PMPI_Type_create_hvector_c(of->dim[d].extent, 1, of->dim[d].sm, slices[d], &slices[d + 1]);
    }
    for (int d = last; d >= 0; d--) {
        MPI_Datatype member;
        MPI_Count full = n / sizes[d];
        n %= sizes[d];
        if (full) {
            PMPI_Type_create_hvector_c(full, 1, of->dim[d].sm, slices[d], &member);
            add_member(&members, at, member);
        }
        at += full * of->dim[d].sm;
    }
    if (more) {
        MPI_Datatype member;
        PMPI_Type_contiguous_c(more, item, &member);
        add_member(&members, at, member);
    }
    PMPI_Type_create_struct_c(members.number, members.lengths, members.displacements, members.types,
                              &made);
    if (step) {
        MPI_Datatype first = made;
        PMPI_Type_create_resized_c(first, 0, step, &made);
        PMPI_Type_free(&first);
    }
    for (MPI_Count i = 0; i < members.number; i++)
        PMPI_Type_free(&members.types[i]);
    for (int d = 0; d <= last; d++)
        PMPI_Type_free(&slices[d]);
    return made;
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

/* True if the file or the operation uses the basic types of the data, not only their bytes. */
static bool uses_basic_types(struct weft_fortran_call *call)
{
    char representation[MPI_MAX_DATAREP_STRING + 1] = "native";
    MPI_Datatype etype, filetype;
    MPI_Offset displacement;
    if (call->on == WEFT_FORTRAN_WIN)
        return call->operation;
    if (call->on != WEFT_FORTRAN_FILE || weft_File_of(call->handle) == MPI_FILE_NULL ||
        PMPI_File_get_view(weft_File_of(call->handle), &displacement, &etype, &filetype,
                           representation))
        return false;
    free_type(etype);
    free_type(filetype);
    return strcmp(representation, "native") != 0;
}

/* The section's spans, each in the elements that it covers; as bytes if a basic item is in more
 * than one element, or if there are several basic types. */
static bool describe_spans(struct weft_fortran_section *section, struct weft_fortran_call *call,
                           MPI_Datatype basic)
{
    const CFI_cdesc_t *of = section->of;
    MPI_Count length = (MPI_Count)of->elem_len, unit = 1, n = 0, runs = 0;
    bool is_basic = basic != MPI_DATATYPE_NULL && PMPI_Type_size_c(basic, &unit) == MPI_SUCCESS;
    for (size_t i = 0; i < section->number; i++) {
        struct weft_fortran_span span = section->spans[i];
        runs += (span.at % length + span.length + length - 1) / length;
    }
    MPI_Count *lengths = weft_fortran_allocate((size_t)runs, sizeof *lengths);
    MPI_Count *displacements = weft_fortran_allocate((size_t)runs, sizeof *displacements);
    for (size_t i = 0; i < section->number; i++) {
        struct weft_fortran_span span = section->spans[i];
        while (span.length > 0) {
            MPI_Count first = span.at % length, covered = length - first;
            covered = covered < span.length ? covered : span.length;
            MPI_Count displacement =
                weft_fortran_element(of, span.at / length) + first - (char *)of->base_addr;
            is_basic = is_basic && covered % unit == 0;
            if (n && displacements[n - 1] + lengths[n - 1] == displacement) {
                lengths[n - 1] += covered;
            } else {
                weft_assert(n < runs);
                displacements[n] = displacement;
                lengths[n++] = covered;
            }
            span.at += covered;
            span.length -= covered;
        }
    }
    bool described = is_basic || !uses_basic_types(call);
    for (MPI_Count i = 0; is_basic && i < n; i++)
        lengths[i] /= unit;
    MPI_Datatype made;
    if (described) {
        PMPI_Type_create_hindexed_c(n, lengths, displacements, is_basic ? basic : MPI_BYTE, &made);
        use(section, made);
    } else {
        weft_fortran_raise(MPI_ERR_TYPE, call,
                           "the datatype has items of several kinds, or longer than the elements "
                           "of the section, and this call converts them or computes with them; "
                           "pass a contiguous array");
    }
    free(displacements);
    free(lengths);
    return described;
}

/* ---- Calls with a datatype */

enum outcome { FAILED, DESCRIBED, DIFFERENT /* the partitions have different gaps */ };

static enum outcome describe(struct weft_fortran_section *section, struct weft_fortran_call *call,
                             MPI_Count partitions, MPI_Count count, int datatype)
{
    const CFI_cdesc_t *of = section->of;
    MPI_Datatype type = weft_Type_of(datatype), element;
    MPI_Count length = (MPI_Count)of->elem_len, all, end = 0;
    struct weft_fortran_bounds bounds;
    section->count = count;
    section->small_count = (int)count;
    section->type = datatype;
    if (!weft_fortran_has_gaps(of) || count <= 0 || partitions <= 0 ||
        !weft_fortran_bounds(type, &bounds) || bounds.size == 0)
        return DESCRIBED;
    if (__builtin_mul_overflow(partitions, count, &all))
        all = INT64_MAX;
    if (!weft_fortran_inside(section, call, 0, all, &bounds, &end))
        return FAILED;
    if (!weft_fortran_fits(&bounds, length)) {
        MPI_Datatype basic = basic_of(type);
        MPI_Count size = bounds.size * count;
        weft_fortran_add_spans(section, 0, count, type, &bounds,
                               basic == MPI_DATATYPE_NULL ? MPI_BYTE : basic);
        bool dense = section->number == 1 && section->spans[0].at == 0 &&
                     (partitions == 1 || count * bounds.extent == size);
        if (!dense || basic == MPI_DATATYPE_NULL || !weft_fortran_bounds(basic, &bounds) ||
            !weft_fortran_fits(&bounds, length))
            return partitions > 1                         ? DIFFERENT
                   : describe_spans(section, call, basic) ? DESCRIBED
                                                          : FAILED;
        type = basic;
        count = size / bounds.size;
        all = count * partitions;
    }
    MPI_Count per_element = length / bounds.extent;
    CFI_index_t step = 0;
    if (partitions > 1 && count % per_element == 0)
        step = distance(of, count / per_element, all / per_element);
    if (partitions > 1 && !step)
        return DIFFERENT;
    PMPI_Type_contiguous_c(per_element, type, &element);
    use(section,
        describe_elements(of, element, count / per_element, type, count % per_element, step));
    return DESCRIBED;
}

bool weft_fortran_describe(struct weft_fortran_section *section, struct weft_fortran_call *call,
                           MPI_Count partitions, MPI_Count count, int datatype)
{
    enum outcome outcome = describe(section, call, partitions, count, datatype);
    if (outcome == DIFFERENT)
        weft_fortran_raise(MPI_ERR_BUFFER, call,
                           "the partitions of this section do not all have the same gaps; pass a "
                           "contiguous array, or partitions that are is_basic lines or columns");
    return outcome == DESCRIBED;
}

bool weft_fortran_describe_blocks(struct weft_fortran_section *section,
                                  struct weft_fortran_call *call, int n, MPI_Count count,
                                  int datatype)
{
    enum outcome outcome = describe(section, call, n, count, datatype);
    if (outcome != DIFFERENT)
        return outcome == DESCRIBED;
    section->number = 0;
    return weft_fortran_copy(section, call, n, count, datatype);
}
