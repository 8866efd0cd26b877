// SPDX-License-Identifier: BSD-3-Clause
/*
 * Predefined datatypes, and moving data between a buffer and its packed form.
 *
 * Invariant: pack and unpack walk the blocks in type-map order, so that the packed form of a
 * buffer is the same whoever made it and in whatever pieces.
 */
#include "core/datatype.h"
#include "core/predefined_types.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TYPES = 128 };
static struct weft_datatype types[MOST_TYPES];
static struct weft_block blocks[MOST_TYPES][2];
uint8_t weft_plain_sizes[WEFT_PREDEFINED_HANDLES];

static void define(struct weft_datatype *type, struct weft_block *block,
                   const struct weft_predefined_type *row)
{
    bool pair = row->second_offset != 0;
    block[0] = (struct weft_block){0, pair ? row->first_size : row->size};
    block[1] = (struct weft_block){row->second_offset, row->second_size};
    *type = (struct weft_datatype){
        .object = {WEFT_KIND_DATATYPE, 0},
        .flags = WEFT_TYPE_COMMITTED | WEFT_TYPE_PREDEFINED,
        .elem = row->elem,
        .size = row->size,
        .extent = (MPI_Aint)row->extent,
        .true_extent =
            pair ? (MPI_Aint)(row->second_offset + row->second_size) : (MPI_Aint)row->size,
        .nblocks = pair ? 2 : 1,
        .nelements = pair ? 2 : 1,
        .blocks = block,
        .handle = (MPI_Datatype)(uintptr_t)row->handle,
        .name = row->name,
    };
    if (row->size == row->extent)
        type->flags |= WEFT_TYPE_DENSE | WEFT_TYPE_PLAIN;
    if (type->flags & WEFT_TYPE_PLAIN)
        weft_plain_sizes[row->handle] = (uint8_t)row->size;
}

void weft_datatype_init(void)
{
    for (size_t i = 0; i < weft_predefined_types_count && i < MOST_TYPES; i++) {
        define(&types[i], blocks[i], &weft_predefined_types[i]);
        weft_handle_predefine(weft_predefined_types[i].handle, &types[i].object);
    }
}

/* Where byte `offset` of the packed form lies: element, block, byte within it. */
struct place {
    char *element;
    size_t block, skip;
};

static struct place locate(const struct weft_datatype *type, const void *buffer, size_t offset)
{
    struct place at = {(char *)buffer + (MPI_Aint)(offset / type->size) * type->extent, 0,
                       offset % type->size};
    while (at.skip >= type->blocks[at.block].length)
        at.skip -= type->blocks[at.block++].length;
    return at;
}

static void walk(const struct weft_datatype *type, const void *buffer, size_t offset, char *packed,
                 size_t bytes, bool unpack)
{
    if (!bytes)
        return;
    if (type->flags & WEFT_TYPE_DENSE) {
        char *at = (char *)buffer + offset;
        memcpy(unpack ? at : packed, unpack ? packed : at, bytes);
        return;
    }
    struct place at = locate(type, buffer, offset);
    while (bytes) {
        const struct weft_block *block = &type->blocks[at.block];
        size_t n = block->length - at.skip < bytes ? block->length - at.skip : bytes;
        char *data = at.element + block->offset + at.skip;
        memcpy(unpack ? data : packed, unpack ? packed : data, n);
        packed += n;
        bytes -= n;
        at.skip = 0;
        if (++at.block == type->nblocks) {
            at.block = 0;
            at.element += type->extent;
        }
    }
}

void weft_datatype_pack(const struct weft_datatype *type, const void *buffer, size_t offset,
                        void *out, size_t bytes)
{
    walk(type, buffer, offset, out, bytes, false);
}

void weft_datatype_unpack(const struct weft_datatype *type, void *buffer, size_t offset,
                          const void *in, size_t bytes)
{
    walk(type, buffer, offset, (char *)in, bytes, true);
}

MPI_Count weft_datatype_count(const struct weft_datatype *type, size_t bytes)
{
    if (!type->size)
        return bytes ? MPI_UNDEFINED : 0;
    return bytes % type->size ? MPI_UNDEFINED : (MPI_Count)(bytes / type->size);
}

MPI_Count weft_datatype_elements(const struct weft_datatype *type, size_t bytes)
{
    if (!type->size)
        return bytes ? MPI_UNDEFINED : 0;
    MPI_Count n = (MPI_Count)(bytes / type->size) * (MPI_Count)type->nelements;
    size_t rest = bytes % type->size;
    for (size_t i = 0; rest && i < type->nblocks; i++) {
        if (rest < type->blocks[i].length)
            return MPI_UNDEFINED;
        rest -= type->blocks[i].length;
        n++;
    }
    return n;
}

bool weft_datatype_bytes_of(const struct weft_datatype *type, MPI_Count elements, size_t *bytes)
{
    *bytes = 0;
    if (!type->nelements)
        return elements == 0;
    size_t n = (size_t)elements, rest = n % type->nelements;
    if (__builtin_mul_overflow(n / type->nelements, type->size, bytes))
        return false;
    for (size_t i = 0; i < rest; i++)
        *bytes += type->blocks[i].length;
    return (MPI_Count)*bytes >= 0;
}
