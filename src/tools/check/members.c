// SPDX-License-Identifier: BSD-3-Clause
/*
 * Datatypes and C types: see members.h.
 */
#include "tools/check/members.h"
#include "tools/check/signature.h"

#include <string.h>

enum { SITES = 256, POINTERS_MAX = 8 };

/* The kind of number of a basic type; 0: it is none, or has a size only. */
static char kind_of(MPI_Datatype type)
{
    static const struct {
        MPI_Datatype type;
        char kind;
    } kinds[] = {
        {MPI_SHORT, 'i'},
        {MPI_INT, 'i'},
        {MPI_LONG, 'i'},
        {MPI_LONG_LONG, 'i'},
        {MPI_INT16_T, 'i'},
        {MPI_INT32_T, 'i'},
        {MPI_INT64_T, 'i'},
        {MPI_UNSIGNED_SHORT, 'u'},
        {MPI_UNSIGNED, 'u'},
        {MPI_UNSIGNED_LONG, 'u'},
        {MPI_UNSIGNED_LONG_LONG, 'u'},
        {MPI_UINT16_T, 'u'},
        {MPI_UINT32_T, 'u'},
        {MPI_UINT64_T, 'u'},
        {MPI_FLOAT, 'f'},
        {MPI_DOUBLE, 'f'},
        {MPI_LONG_DOUBLE, 'f'},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == type)
            return kinds[i].kind;
    return 0;
}

static const char *word_of(char kind)
{
    return kind == 'i'   ? "signed integers"
           : kind == 'u' ? "unsigned integers"
           : kind == 'f' ? "floating point"
                         : "characters";
}

static int size_of(MPI_Datatype type)
{
    MPI_Count size = 0;
    weft_next.Type_size_c(type, &size);
    return (int)size;
}

/* ---- Numbers */

/* The memory has numbers of one type, and the datatype one basic type. False: they differ. */
static bool compare_numbers(const struct weft_call *call, int parameter,
                            const struct check_extent *extent, MPI_Datatype datatype)
{
    const struct check_member *member = &extent->members[0];
    const struct check_signature signature = check_signature_of(datatype, 1);
    const MPI_Datatype basic = (MPI_Datatype)(uintptr_t)signature.basic;
    const char kind = kind_of(basic);
    const struct check_location location = check_location_of(call);
    if (extent->n != 1 || !kind || !member->kind || member->kind == 'c' ||
        (kind == member->kind && size_of(basic) == member->size))
        return true;
    check_report(CHECK_BUFFER_TYPE, &location, false,
                 "%s is %s %s, of %s of %d bytes, but the datatype has %s of %d bytes",
                 call->function->parameter[parameter].name, extent->high ? "in" : "at",
                 extent->name, word_of(member->kind), member->size, word_of(kind), size_of(basic));
    return false;
}

/* ---- Structures */

/* The member that has an offset; NULL: there is none. */
static const struct check_member *find_member(const struct check_extent *extent, int64_t offset)
{
    for (int i = 0; i < extent->n; i++)
        if (offset >= extent->members[i].offset &&
            offset < extent->members[i].offset + extent->members[i].bytes)
            return &extent->members[i];
    return NULL;
}

static bool fits(const struct check_member *member, int64_t offset, MPI_Datatype type)
{
    const int64_t size = size_of(type), within = offset - member->offset;
    const char kind = kind_of(type);
    if (!member->kind || !kind)
        return true;
    if (member->kind == 'c')
        return within + size <= member->bytes;
    return kind == member->kind && size == member->size && within % member->size == 0;
}

/* Block by block; the elements of a block are alike, so the first one is compared. at: the offset
 * of the buffer in an element. */
static void compare_blocks(const struct weft_call *call, int parameter,
                           const struct check_extent *extent, int64_t at,
                           const struct check_contents *contents)
{
    const struct check_location location = check_location_of(call);
    for (int64_t i = 0; i < contents->types; i++) {
        const MPI_Datatype type = contents->type[i];
        const int64_t length = check_contents_length(contents, i);
        for (int64_t k = 0; kind_of(type) && k < length && k < CHECK_MEMBERS_MAX; k++) {
            const int64_t displacement =
                check_contents_displacement(contents, i) + k * size_of(type);
            const int64_t offset = at + displacement;
            const struct check_member *member = find_member(extent, offset);
            if (offset < 0 || offset >= extent->stride || (member && fits(member, offset, type)))
                continue; /* the first: of another object, or element */
            check_report(CHECK_BUFFER_TYPE, &location, false,
                         "block %lld of the datatype of %s has %s of %d bytes at displacement "
                         "%lld, where the structure of %s has %s %s",
                         (long long)i, call->function->parameter[parameter].name,
                         word_of(kind_of(type)), size_of(type), (long long)displacement,
                         extent->name, member ? "its member" : "no member",
                         member && member->name ? member->name : "");
            return;
        }
    }
}

/* The contents of a datatype of MPI_Type_create_struct, without duplicates and other extents around
 * it; false: it is another one. */
static bool read_structure(MPI_Datatype datatype, struct check_contents *contents)
{
    if (weft_object_is_predefined(datatype) || !check_contents_read(datatype, contents))
        return false;
    bool is_structure = contents->combiner == MPI_COMBINER_STRUCT;
    const bool is_around =
        contents->combiner == MPI_COMBINER_DUP || contents->combiner == MPI_COMBINER_RESIZED;
    if (is_structure)
        return true;
    struct check_contents inner;
    is_structure = is_around && read_structure(contents->type[0], &inner);
    check_contents_free(contents);
    if (is_structure)
        *contents = inner;
    return is_structure;
}

/* ---- Both */

/* True in the first calls from a line, because debug information is slow to read. */
static bool may_find_pointers(const void *site)
{
    static CHECK_THREAD struct {
        const void *site;
        int times;
    } found[SITES];
    const uint64_t at = check_mix((uintptr_t)site, 0) % SITES;
    if (found[at].site != site)
        found[at].times = 0;
    found[at].site = site;
    return found[at].times++ < POINTERS_MAX;
}

void check_members(const struct weft_call *call, int parameter, const struct check_extent *object)
{
    const struct weft_parameter *data = &call->function->parameter[parameter];
    const uintptr_t address = (uintptr_t)call->values[parameter].pointer;
    const void *site = weft_site_of(call->site);
    struct check_contents contents;
    struct check_extent extent = *object;
    /* one datatype, of memory at the buffer's address: with MPI_BOTTOM it is elsewhere */
    if (data->about[1] < 0 || call->function->parameter[data->about[1]].length != WEFT_LENGTH_ONE ||
        address < object->low || address >= object->high)
        return;
    if (!object->name[0] &&
        (!may_find_pointers(site) || !check_extent_find_pointers(site, address, &extent)))
        return;
    const MPI_Datatype datatype = weft_call_element(call, data->about[1], 0);
    if (!extent.stride || !compare_numbers(call, parameter, &extent, datatype) || extent.n < 2 ||
        !read_structure(datatype, &contents))
        return;
    compare_blocks(call, parameter, &extent, (int64_t)(address - extent.low) % extent.stride,
                   &contents);
    check_contents_free(&contents);
}
