// SPDX-License-Identifier: BSD-3-Clause
/*
 * Random nested datatypes against their type maps: size and bounds, packing and unpacking in any
 * pieces, runs, counting. WEFT_TEST_SEED repeats a run, WEFT_TEST_TYPES says how many types.
 */
#include "core/datatype/datatype.h"
#include "core/datatype/iov.h"
#include "tests/typemap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

/* Memory in which count elements lie, whatever their bounds. */
struct arena {
    unsigned char *memory, *base; /* base: where the buffer begins, maybe outside */
    long low, bytes, data;        /* data: packed bytes */
    long *places;
};

static struct arena arena_of(const struct map *map, long count)
{
    struct arena a = {.data = map_size(map) * count, .places = map_places(map, count)};
    long high = 0;
    for (long i = 0; i < a.data; i++) {
        a.low = i == 0 || a.places[i] < a.low ? a.places[i] : a.low;
        high = i == 0 || a.places[i] >= high ? a.places[i] + 1 : high;
    }
    a.bytes = high - a.low;
    a.memory = malloc((size_t)a.bytes + 1);
    assert_non_null(a.memory);
    a.base = (unsigned char *)((uintptr_t)a.memory - (uintptr_t)a.low);
    return a;
}

static void arena_free(struct arena *a)
{
    free(a->memory);
    free(a->places);
}

static unsigned char *byte_of(const struct arena *a, long i)
{
    return a->memory + (a->places[i] - a->low);
}

static bool overlaps(const struct arena *a)
{
    bool found = false;
    memset(a->memory, 0, (size_t)a->bytes + 1);
    for (long i = 0; i < a->data; i++)
        found = found || (*byte_of(a, i))++;
    return found;
}

static void bounds_are_right(const struct weft_datatype *type, const struct map *map)
{
    long lb, extent, true_lb, true_ub;
    map_bounds(map, &lb, &extent);
    map_true_bounds(map, &true_lb, &true_ub);
    assert_int_equal(type->size, map_size(map));
    assert_int_equal(type->lb, lb);
    assert_int_equal(type->extent, extent);
    assert_int_equal(type->true_lb, true_lb);
    assert_int_equal(type->true_extent, true_ub - true_lb);
}

/* Contiguous data are known as such. */
static void flags_are_right(const struct weft_datatype *type, const struct map *map,
                            const struct arena *two)
{
    bool run = true, dense = type->extent == (MPI_Aint)type->size;
    for (size_t i = 1; i < type->size; i++)
        run = run && two->places[i] == two->places[i - 1] + 1;
    dense = dense && run && (!type->size || two->places[0] == 0);
    if (type->size) {
        assert_int_equal(type->layout->kind == WEFT_LAYOUT_RUN, run);
        assert_int_equal(!!(type->flags & WEFT_TYPE_CONTIGUOUS), dense);
        if (run) /* of one element */
            assert_ptr_equal(weft_datatype_run(type, two->base, type->size), byte_of(two, 0));
    } else {
        assert_null(type->layout);
    }
    (void)map;
}

static void packs(const struct weft_datatype *type, const struct arena *a, size_t from, size_t to)
{
    unsigned char out[64 + 4096], *packed = to - from > 4096 ? malloc(to - from + 64) : out;
    assert_non_null(packed);
    memset(packed, 0x5a, to - from + 64);
    weft_datatype_pack(type, a->base, from, packed + 32, to - from);
    for (size_t i = from; i < to; i++)
        assert_int_equal(packed[32 + i - from], *byte_of(a, (long)i));
    for (size_t i = 0; i < 32; i++) {
        assert_int_equal(packed[i], 0x5a);
        assert_int_equal(packed[32 + to - from + i], 0x5a);
    }
    if (packed != out)
        free(packed);
}

static void packs_all(const struct weft_datatype *type, const struct arena *a, size_t count)
{
    unsigned char *packed = malloc((size_t)a->data + 1);
    assert_non_null(packed);
    packed[a->data] = 0x5a;
    weft_datatype_pack_all(type, a->base, count, packed);
    for (long i = 0; i < a->data; i++)
        assert_int_equal(packed[i], *byte_of(a, i));
    assert_int_equal(packed[a->data], 0x5a);
    free(packed);
}

static void packs_anywhere(const struct weft_datatype *type, const struct arena *a,
                           struct map_random *random)
{
    size_t data = (size_t)a->data;
    for (long i = 0; i < a->bytes; i++)
        a->memory[i] = (unsigned char)map_next(random);
    if (type->size)
        packs_all(type, a, data / type->size);
    packs(type, a, 0, data);
    if (data <= 256)
        for (size_t split = 0; split <= data; split++) {
            packs(type, a, 0, split);
            packs(type, a, split, data);
        }
    for (int i = 0; i < 40; i++) {
        size_t from = map_next(random) % (data + 1), to = map_next(random) % (data + 1);
        packs(type, a, from < to ? from : to, from < to ? to : from);
    }
}

/* In random pieces, in a random order. */
static void unpacks(const struct weft_datatype *type, const struct arena *a,
                    struct map_random *random, bool whole)
{
    enum { MOST = 8 };
    size_t data = (size_t)a->data, cut[MOST + 1] = {0};
    int order[MOST], pieces = whole ? 1 : MOST;
    unsigned char *packed = malloc(data + 1);
    assert_non_null(packed);
    for (size_t i = 0; i < data; i++)
        packed[i] = (unsigned char)map_next(random);
    memset(a->memory, 0xa5, (size_t)a->bytes);
    for (int i = 0; i < pieces; i++) {
        cut[i + 1] = i == pieces - 1 ? data : cut[i] + map_next(random) % (data - cut[i] + 1);
        order[i] = i;
    }
    for (int i = pieces - 1; i > 0; i--) {
        int j = map_pick(random, 0, i), was = order[i];
        order[i] = order[j];
        order[j] = was;
    }
    if (whole && type->size)
        weft_datatype_unpack_all(type, a->base, data / type->size, packed);
    for (int i = 0; !whole && i < pieces; i++)
        weft_datatype_unpack(type, a->base, cut[order[i]], packed + cut[order[i]],
                             cut[order[i] + 1] - cut[order[i]]);
    for (size_t i = 0; i < data; i++) {
        assert_int_equal(*byte_of(a, (long)i), packed[i]);
        *byte_of(a, (long)i) = 0xa5;
    }
    for (long i = 0; i < a->bytes; i++)
        assert_int_equal(a->memory[i], 0xa5);
    free(packed);
}

/* Runs of a part, listed a few at a time, are the bytes of that part, and no two are adjacent. */
static void lists_runs(const struct weft_datatype *type, const struct arena *a,
                       struct map_random *random)
{
    if (!type->layout)
        return;
    size_t data = (size_t)a->data, x = map_next(random) % (data + 1);
    size_t y = map_next(random) % (data + 1), from = x < y ? x : y, to = x < y ? y : x;
    while (from < to) {
        struct weft_run runs[5];
        size_t n = weft_layout_list_runs(type->layout, type->extent, 0, from, to, runs,
                                         1 + map_next(random) % 5);
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++) {
            for (size_t b = 0; b < runs[i].bytes; b++)
                assert_int_equal(a->places[from + b], runs[i].at + (MPI_Aint)b);
            from += runs[i].bytes;
            if (from < to)
                assert_true(i + 1 == n || a->places[from] != a->places[from - 1] + 1);
        }
    }
    assert_int_equal(from, to);
}

static void counts(const struct weft_datatype *type, const struct map *map, long count)
{
    long bytes = 0, elements = 0, size = map_size(map);
    for (long k = 0; k < count; k++)
        for (int i = 0; i < map->count; i++) {
            size_t back = 1;
            assert_int_equal(weft_datatype_elements(type, (size_t)bytes), elements);
            assert_true(weft_datatype_bytes_of(type, elements, &back));
            assert_int_equal(back, bytes);
            assert_int_equal(weft_datatype_count(type, (size_t)bytes),
                             bytes % size ? MPI_UNDEFINED : bytes / size);
            for (int b = 1; b < map->entries[i].bytes; b++)
                assert_int_equal(weft_datatype_elements(type, (size_t)(bytes + b)), MPI_UNDEFINED);
            bytes += map->entries[i].bytes;
            elements++;
        }
    assert_int_equal(weft_datatype_elements(type, (size_t)bytes), elements);
}

static void try_one(struct map_random *random)
{
    struct mapped m = mapped_random(random, map_pick(random, 0, MAP_DEPTH));
    MPI_Type_commit(&m.type);
    const struct weft_datatype *type = weft_handle_object(m.type);
    struct arena two = arena_of(&m.map, 2);
    bounds_are_right(type, &m.map);
    flags_are_right(type, &m.map, &two);
    arena_free(&two);
    long count = map_pick(random, 0, map_pick(random, 0, 3) ? 3 : 40);
    if (m.map.count * count > 2 * MAP_MOST)
        count = 1;
    struct arena a = arena_of(&m.map, count);
    packs_anywhere(type, &a, random);
    lists_runs(type, &a, random);
    lists_runs(type, &a, random);
    counts(type, &m.map, count);
    if (!overlaps(&a)) {
        unpacks(type, &a, random, true);
        unpacks(type, &a, random, false);
    }
    arena_free(&a);
    mapped_free(&m);
}

static long setting(const char *variable, long fallback)
{
    const char *text = getenv(variable);
    return text ? atol(text) : fallback;
}

static void random_types_are_their_type_maps(void **state)
{
    long seed = setting("WEFT_TEST_SEED", (long)time(NULL) % 1000000);
    long types = setting("WEFT_TEST_TYPES", 3000);
    struct map_random random = {0};
    (void)state;
    print_message("seed %ld (repeat with WEFT_TEST_SEED=%ld)\n", seed, seed);
    for (long i = 0; i < types; i++) {
        random.state = (uint64_t)(seed * 1000003 + i);
        if (getenv("WEFT_TEST_VERBOSE"))
            print_message("type %ld\n", i);
        try_one(&random);
    }
}

/* Bodies of two or three runs of every class of length, with a hole after each, repeated `count`
 * times: packed and unpacked, they are what a byte-wise copy makes of them, and holes stay as they
 * were. */
static void try_body(const int *lengths, int runs, int count)
{
    enum { EXTENT = 256, MOST = 9 };
    static unsigned char data[EXTENT * MOST], back[EXTENT * MOST], wanted[EXTENT * MOST],
        packed[EXTENT * MOST], by_bytes[EXTENT * MOST];
    MPI_Aint places[3], at = 3;
    MPI_Datatype types[3] = {MPI_BYTE, MPI_BYTE, MPI_BYTE}, body, type;
    size_t size = 0;
    for (int i = 0; i < runs; at += lengths[i] + 1 + i, i++)
        places[i] = at;
    MPI_Type_create_struct(runs, lengths, places, types, &body);
    MPI_Type_create_resized(body, 0, EXTENT, &type);
    MPI_Type_commit(&type);
    memset(back, 0xEE, sizeof back);
    memset(wanted, 0xEE, sizeof wanted);
    for (int i = 0; i < EXTENT * count; i++)
        data[i] = (unsigned char)(i * 7 + i / 251);
    for (int e = 0; e < count; e++)
        for (int i = 0; i < runs; i++)
            for (int k = 0; k < lengths[i]; k++) {
                MPI_Aint where = e * EXTENT + places[i] + k;
                wanted[where] = data[where];
                by_bytes[size++] = data[where];
            }
    int position = 0;
    memset(packed, 0xDD, sizeof packed);
    MPI_Pack(data, count, type, packed, (int)size, &position, MPI_COMM_SELF);
    assert_int_equal(position, size);
    assert_memory_equal(packed, by_bytes, size);
    assert_int_equal(packed[size], 0xDD);
    position = 0;
    MPI_Unpack(packed, (int)size, &position, back, count, type, MPI_COMM_SELF);
    assert_memory_equal(back, wanted, sizeof back);
    MPI_Type_free(&type);
    MPI_Type_free(&body);
}

static void short_bodies_of_all_lengths(void **state)
{
    static const int lengths[] = {1, 2, 3, 4, 6, 8, 11, 16, 28, 32, 33, 70};
    static const int counts[] = {1, 2, 5, 9};
    enum { N = sizeof lengths / sizeof lengths[0] };
    (void)state;
    for (int i = 0; i < N * N * N; i++)
        for (int c = 0; c < 4; c++) {
            int of[] = {lengths[i % N], lengths[i / N % N], lengths[i / N / N]};
            try_body(of, 3, counts[c]);
            if (i < N * N)
                try_body(of, 2, counts[c]);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_bodies_of_all_lengths),
        cmocka_unit_test(random_types_are_their_type_maps),
    };
    MPI_Init(&argc, &argv);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
