// SPDX-License-Identifier: BSD-3-Clause
/*
 * Random nested datatypes, and beside each its type map as the standard defines it: a list of basic
 * types and displacements, and the marks of its bounds. What the map says is right by inspection:
 * every constructor here is a loop that copies entries.
 *
 * Invariant: map.entries are in type-map order; a type and its map were made by the same calls.
 */
#ifndef WEFT_TESTS_TYPEMAP_H
#define WEFT_TESTS_TYPEMAP_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_MOST = 3000, MAP_DEPTH = 5 };

struct map_entry {
    long at;
    int bytes, align;
    MPI_Datatype basic;
};

struct map {
    struct map_entry *entries;
    int count;
    bool marked;
    long mark_lb, mark_ub;
    bool built;
    long reach; /* of a built one: the highest upper bound of the elements that it is built of */
};

struct mapped {
    MPI_Datatype type;
    struct map map;
};

struct map_random {
    uint64_t state;
};

static inline uint64_t map_next(struct map_random *random)
{
    uint64_t x = random->state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* From low to high. */
static inline int map_pick(struct map_random *random, int low, int high)
{
    return low + (int)(map_next(random) % (uint64_t)(high - low + 1));
}

static inline void map_add(struct map *map, long at, struct map_entry e)
{
    if (!(map->count & (map->count - 1))) { /* full: room is the next power of two */
        size_t room = map->count ? 2 * (size_t)map->count : 1;
        map->entries = realloc(map->entries, room * sizeof *map->entries);
        if (!map->entries)
            abort();
    }
    map->entries[map->count++] = (struct map_entry){at, e.bytes, e.align, e.basic};
}

static inline void map_mark(struct map *map, long lb, long ub)
{
    map->mark_lb = map->marked && map->mark_lb < lb ? map->mark_lb : lb;
    map->mark_ub = map->marked && map->mark_ub > ub ? map->mark_ub : ub;
    map->marked = true;
}

static inline void map_bounds(const struct map *map, long *lb, long *extent);

/* A copy of all entries and marks of another map, `at` bytes further. */
static inline void map_append(struct map *map, const struct map *old, long at)
{
    long lb, extent;
    map_bounds(old, &lb, &extent);
    if (old->count && !old->marked) {
        long end = at + lb + extent;
        map->reach = map->built && map->reach > end ? map->reach : end;
        map->built = true;
    }
    for (int i = 0; i < old->count; i++)
        map_add(map, old->entries[i].at + at, old->entries[i]);
    if (old->marked)
        map_mark(map, old->mark_lb + at, old->mark_ub + at);
}

static inline long map_size(const struct map *map)
{
    long size = 0;
    for (int i = 0; i < map->count; i++)
        size += map->entries[i].bytes;
    return size;
}

static inline void map_true_bounds(const struct map *map, long *lb, long *ub)
{
    *lb = *ub = 0;
    for (int i = 0; i < map->count; i++) {
        long begin = map->entries[i].at, end = begin + map->entries[i].bytes;
        *lb = i == 0 || begin < *lb ? begin : *lb;
        *ub = i == 0 || end > *ub ? end : *ub;
    }
}

static inline void map_bounds(const struct map *map, long *lb, long *extent)
{
    long ub;
    int align = 1;
    map_true_bounds(map, lb, &ub);
    ub = map->built && map->reach > ub ? map->reach : ub;
    for (int i = 0; i < map->count; i++)
        align = map->entries[i].align > align ? map->entries[i].align : align;
    while ((ub - *lb) % align)
        ub++;
    if (map->marked) {
        *lb = map->mark_lb;
        ub = map->mark_ub;
    }
    *extent = ub - *lb;
}

static inline long map_extent(const struct map *map)
{
    long lb, extent;
    map_bounds(map, &lb, &extent);
    return extent;
}

/* length copies, extents apart, the first at `at`. */
static inline void map_block(struct map *map, const struct map *old, long length, long at)
{
    long extent = map_extent(old);
    for (long i = 0; i < length; i++)
        map_append(map, old, at + i * extent);
}

static inline void mapped_free(struct mapped *m)
{
    int combiner = MPI_COMBINER_DUP;
    MPI_Count a, b, c, d;
    MPI_Type_get_envelope_c(m->type, &a, &b, &c, &d, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&m->type);
    free(m->map.entries);
    m->map = (struct map){0};
}

static inline struct mapped mapped_basic(struct map_random *random)
{
    static const struct {
        MPI_Datatype type;
        struct map_entry first;
        struct map_entry second; /* of pairs */
    } basics[] = {
        {MPI_CHAR, {0, 1, 1, MPI_CHAR}, {0}},
        {MPI_BYTE, {0, 1, 1, MPI_BYTE}, {0}},
        {MPI_SHORT, {0, 2, 2, MPI_SHORT}, {0}},
        {MPI_INT, {0, 4, 4, MPI_INT}, {0}},
        {MPI_FLOAT, {0, 4, 4, MPI_FLOAT}, {0}},
        {MPI_DOUBLE, {0, 8, 8, MPI_DOUBLE}, {0}},
        {MPI_INT64_T, {0, 8, 8, MPI_INT64_T}, {0}},
        {MPI_C_DOUBLE_COMPLEX, {0, 16, 8, MPI_C_DOUBLE_COMPLEX}, {0}},
        {MPI_LONG_DOUBLE, {0, 16, 16, MPI_LONG_DOUBLE}, {0}},
        {MPI_SHORT_INT, {0, 2, 2, MPI_SHORT}, {4, 4, 4, MPI_INT}},
        {MPI_DOUBLE_INT, {0, 8, 8, MPI_DOUBLE}, {8, 4, 4, MPI_INT}},
        {MPI_FLOAT_INT, {0, 4, 4, MPI_FLOAT}, {4, 4, 4, MPI_INT}},
    };
    int i = map_pick(random, 0, (int)(sizeof basics / sizeof basics[0]) - 1);
    struct mapped m = {basics[i].type, {0}};
    map_add(&m.map, 0, basics[i].first);
    if (basics[i].second.bytes)
        map_add(&m.map, basics[i].second.at, basics[i].second);
    return m;
}

/* How often something of `each` entries fits, at most `most` times. */
static inline int map_times(struct map_random *random, int most, int each)
{
    int room = each > 0 ? MAP_MOST / each : most;
    return map_pick(random, 0, most < room ? most : room);
}

static inline struct mapped mapped_vector(struct map_random *random, const struct mapped *old)
{
    int count = map_times(random, 5, old->map.count);
    int length = map_times(random, 4, old->map.count * count);
    bool bytes = map_pick(random, 0, 1), large = map_pick(random, 0, 1);
    int stride = bytes ? map_pick(random, -64, 64) : map_pick(random, -5, 6);
    struct mapped m = {0};
    long unit = bytes ? 1 : map_extent(&old->map);
    if (map_pick(random, 0, 2) == 0) { /* as if it were contiguous */
        stride = bytes ? (int)(length * map_extent(&old->map)) : length;
    }
    for (int i = 0; i < count; i++)
        map_block(&m.map, &old->map, length, i * stride * unit);
    if (bytes && large)
        MPI_Type_create_hvector_c(count, length, stride, old->type, &m.type);
    else if (bytes)
        MPI_Type_create_hvector(count, length, stride, old->type, &m.type);
    else if (large)
        MPI_Type_vector_c(count, length, stride, old->type, &m.type);
    else
        MPI_Type_vector(count, length, stride, old->type, &m.type);
    return m;
}

static inline struct mapped mapped_contiguous(struct map_random *random, const struct mapped *old)
{
    int count = map_times(random, 6, old->map.count);
    struct mapped m = {0};
    map_block(&m.map, &old->map, count, 0);
    if (map_pick(random, 0, 1))
        MPI_Type_contiguous_c(count, old->type, &m.type);
    else
        MPI_Type_contiguous(count, old->type, &m.type);
    return m;
}

/* indexed, hindexed, indexed_block and hindexed_block, in both forms. */
static inline struct mapped mapped_indexed(struct map_random *random, const struct mapped *old)
{
    enum { MOST = 12 };
    int lengths[MOST], places[MOST], count = map_times(random, MOST, 2 * old->map.count);
    MPI_Count large_lengths[MOST], large_places[MOST];
    MPI_Aint addresses[MOST];
    bool bytes = map_pick(random, 0, 1), block = map_pick(random, 0, 1);
    bool large = map_pick(random, 0, 1), even = map_pick(random, 0, 3) == 0;
    int one = map_pick(random, 0, 2), step = map_pick(random, -70, 70);
    long extent = map_extent(&old->map);
    struct mapped m = {0};
    for (int i = 0; i < count; i++) {
        lengths[i] = block ? one : map_pick(random, 0, 2);
        places[i] = even ? step * i : bytes ? map_pick(random, -200, 200) : map_pick(random, -9, 9);
        if (i > 0 && map_pick(random, 0, 2) == 0) /* continue the block before */
            places[i] = places[i - 1] + (int)(lengths[i - 1] * (bytes ? extent : 1));
        large_lengths[i] = lengths[i];
        large_places[i] = addresses[i] = places[i];
        map_block(&m.map, &old->map, lengths[i], places[i] * (bytes ? 1 : extent));
    }
    if (block && bytes && large)
        MPI_Type_create_hindexed_block_c(count, one, large_places, old->type, &m.type);
    else if (block && bytes)
        MPI_Type_create_hindexed_block(count, one, addresses, old->type, &m.type);
    else if (block && large)
        MPI_Type_create_indexed_block_c(count, one, large_places, old->type, &m.type);
    else if (block)
        MPI_Type_create_indexed_block(count, one, places, old->type, &m.type);
    else if (bytes && large)
        MPI_Type_create_hindexed_c(count, large_lengths, large_places, old->type, &m.type);
    else if (bytes)
        MPI_Type_create_hindexed(count, lengths, addresses, old->type, &m.type);
    else if (large)
        MPI_Type_indexed_c(count, large_lengths, large_places, old->type, &m.type);
    else
        MPI_Type_indexed(count, lengths, places, old->type, &m.type);
    return m;
}

static inline struct mapped mapped_resized(struct map_random *random, const struct mapped *old)
{
    long lb, extent;
    struct mapped m = {0};
    map_bounds(&old->map, &lb, &extent);
    if (map_pick(random, 0, 2)) {
        lb = map_pick(random, -20, 20);
        extent = map_pick(random, -40, 120);
    }
    for (int i = 0; i < old->map.count; i++)
        map_add(&m.map, old->map.entries[i].at, old->map.entries[i]);
    map_mark(&m.map, lb, lb + extent);
    if (map_pick(random, 0, 1))
        MPI_Type_create_resized_c(old->type, lb, extent, &m.type);
    else
        MPI_Type_create_resized(old->type, lb, extent, &m.type);
    return m;
}

/* The elements of an array that a process gets, in the order of memory. */
struct map_array {
    int ndims, order;
    int sizes[3];
    bool takes[3][16]; /* of each index of each dimension */
};

static inline void map_array(struct map *map, const struct map *old, const struct map_array *a)
{
    long extent = map_extent(old), total = 1;
    for (int d = 0; d < a->ndims; d++)
        total *= a->sizes[d];
    for (long n = 0; n < total; n++) {
        long rest = n;
        bool taken = true;
        for (int i = 0; i < a->ndims; i++) { /* the fastest first */
            int d = a->order == MPI_ORDER_C ? a->ndims - 1 - i : i;
            taken = taken && a->takes[d][rest % a->sizes[d]];
            rest /= a->sizes[d];
        }
        if (taken)
            for (int i = 0; i < old->count; i++)
                map_add(map, old->entries[i].at + n * extent, old->entries[i]);
    }
    map->marked = false;
    map_mark(map, 0, total * extent);
}

static inline struct mapped mapped_subarray(struct map_random *random, const struct mapped *old)
{
    struct map_array a = {map_pick(random, 1, 3), 0, {0}, {{0}}};
    int taken[3], starts[3];
    MPI_Count large[3][3];
    struct mapped m = {0};
    a.order = map_pick(random, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < a.ndims; d++) {
        a.sizes[d] = map_pick(random, 1, 5);
        taken[d] = map_pick(random, 0, 2) ? map_pick(random, 1, a.sizes[d]) : a.sizes[d];
        starts[d] = map_pick(random, 0, a.sizes[d] - taken[d]);
        for (int i = 0; i < taken[d]; i++)
            a.takes[d][starts[d] + i] = true;
        large[0][d] = a.sizes[d];
        large[1][d] = taken[d];
        large[2][d] = starts[d];
    }
    map_array(&m.map, &old->map, &a);
    if (map_pick(random, 0, 1))
        MPI_Type_create_subarray_c(a.ndims, large[0], large[1], large[2], a.order, old->type,
                                   &m.type);
    else
        MPI_Type_create_subarray(a.ndims, a.sizes, taken, starts, a.order, old->type, &m.type);
    return m;
}

/* Who gets index i of a dimension: by blocks, dealt out in turns. */
static inline struct mapped mapped_darray(struct map_random *random, const struct mapped *old)
{
    struct map_array a = {map_pick(random, 1, 3), 0, {0}, {{0}}};
    int kinds[3], arguments[3], places[3], size = 1;
    MPI_Count large[3];
    struct mapped m = {0};
    a.order = map_pick(random, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < a.ndims; d++) {
        kinds[d] = MPI_DISTRIBUTE_NONE + map_pick(random, 0, 2);
        a.sizes[d] = map_pick(random, 1, 9);
        large[d] = a.sizes[d];
        places[d] = kinds[d] == MPI_DISTRIBUTE_NONE ? 1 : map_pick(random, 1, 3);
        size *= places[d];
    }
    int rank = map_pick(random, 0, size - 1), after = size;
    for (int d = 0; d < a.ndims; d++) {
        int least = (a.sizes[d] + places[d] - 1) / places[d], block = 1;
        bool usual = map_pick(random, 0, 1);
        after /= places[d];
        int place = rank / after % places[d];
        if (kinds[d] == MPI_DISTRIBUTE_BLOCK)
            block = usual ? least : least + map_pick(random, 0, 2);
        else if (kinds[d] == MPI_DISTRIBUTE_CYCLIC)
            block = usual ? 1 : map_pick(random, 1, 4);
        arguments[d] = usual ? MPI_DISTRIBUTE_DFLT_DARG : block;
        for (int i = 0; i < a.sizes[d]; i++)
            a.takes[d][i] = kinds[d] == MPI_DISTRIBUTE_NONE || i / block % places[d] == place;
    }
    map_array(&m.map, &old->map, &a);
    if (map_pick(random, 0, 1))
        MPI_Type_create_darray_c(size, rank, a.ndims, large, kinds, arguments, places, a.order,
                                 old->type, &m.type);
    else
        MPI_Type_create_darray(size, rank, a.ndims, a.sizes, kinds, arguments, places, a.order,
                               old->type, &m.type);
    return m;
}

static inline struct mapped mapped_random(struct map_random *random, int depth);

static inline struct mapped mapped_struct(struct map_random *random, int depth)
{
    enum { MOST = 6 };
    int count = map_pick(random, 0, MOST), lengths[MOST];
    MPI_Count large_lengths[MOST], large_places[MOST];
    MPI_Aint places[MOST];
    MPI_Datatype types[MOST];
    struct mapped parts[MOST], m = {0};
    long end = 0;
    for (int i = 0; i < count; i++) {
        parts[i] =
            i > 0 && map_pick(random, 0, 3) == 0 ? parts[i - 1] : mapped_random(random, depth - 1);
        types[i] = parts[i].type;
        lengths[i] = map_times(random, 2, parts[i].map.count * 4);
        places[i] = map_pick(random, 0, 1) ? end : map_pick(random, -100, 300);
        end = places[i] + lengths[i] * map_extent(&parts[i].map);
        large_lengths[i] = lengths[i];
        large_places[i] = places[i];
        map_block(&m.map, &parts[i].map, lengths[i], places[i]);
    }
    if (map_pick(random, 0, 1))
        MPI_Type_create_struct_c(count, large_lengths, large_places, types, &m.type);
    else
        MPI_Type_create_struct(count, lengths, places, types, &m.type);
    for (int i = 0; i < count; i++) {
        bool again = i + 1 < count && parts[i + 1].type == parts[i].type &&
                     parts[i + 1].map.entries == parts[i].map.entries;
        if (!again)
            mapped_free(&parts[i]);
    }
    return m;
}

/* Not committed. */
static inline struct mapped mapped_random(struct map_random *random, int depth)
{
    if (depth <= 0 || map_pick(random, 0, 9) == 0)
        return mapped_basic(random);
    int kind = map_pick(random, 0, 9);
    if (kind < 2)
        return mapped_struct(random, depth);
    struct mapped old = mapped_random(random, depth - 1), m = {0};
    bool small = old.map.count <= MAP_MOST / 100;
    if (kind < 4 || (!small && kind > 7))
        m = mapped_vector(random, &old);
    else if (kind == 4)
        m = mapped_contiguous(random, &old);
    else if (kind < 7)
        m = mapped_indexed(random, &old);
    else if (kind == 7)
        m = mapped_resized(random, &old);
    else if (kind == 8)
        m = mapped_subarray(random, &old);
    else
        m = mapped_darray(random, &old);
    mapped_free(&old); /* the new type lives on */
    return m;
}

/* What count elements at base look like packed: byte i of the packed form is at base + the result's
 * i-th number. */
static inline long *map_places(const struct map *map, long count)
{
    long size = map_size(map), extent = map_extent(map), n = 0;
    long *places = malloc(((size_t)(size * count) + 1) * sizeof *places);
    if (!places)
        abort();
    for (long k = 0; k < count; k++)
        for (int i = 0; i < map->count; i++)
            for (int b = 0; b < map->entries[i].bytes; b++)
                places[n++] = k * extent + map->entries[i].at + b;
    return places;
}

#endif
