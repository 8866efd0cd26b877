// SPDX-License-Identifier: BSD-3-Clause
/*
 * Positions of offsets and the order of offsets, of random nested datatypes, against their type
 * maps. WEFT_TEST_SEED repeats a run, WEFT_TEST_TYPES is the number of types.
 */
#include "core/datatype/datatype.h"
#include "core/datatype/position.h"
#include "tests/typemap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

enum { ELEMENTS = 3 };

static long ascending, tried, offsets;

/* The offset of byte i of elements extent bytes apart. */
static long place_of(const long *places, long size, long extent, long i)
{
    return places[i % size] + i / size * extent;
}

static void positions_are_right(const struct weft_layout *layout, const long *places, long extent)
{
    long size = (long)layout->size, from = places[0] - 3, below = 0;
    long to = place_of(places, size, extent, ELEMENTS * size - 1) + 1;
    for (long offset = from; offset <= to; offset++, offsets++) {
        while (below < ELEMENTS * size && place_of(places, size, extent, below) < offset)
            below++;
        assert_int_equal(weft_layout_position(layout, extent, offset), below);
    }
}

static void try_extent(const struct weft_datatype *type, const long *places, long extent)
{
    long size = (long)type->size;
    bool ascends = true, negative = false;
    for (long i = 0; i < 2 * size; i++) {
        negative = negative || place_of(places, size, extent, i) < 0;
        ascends = ascends &&
                  (!i || place_of(places, size, extent, i) > place_of(places, size, extent, i - 1));
    }
    enum weft_order order = weft_layout_order(type->layout, extent);
    assert_int_equal(order == WEFT_ORDER_ASCENDS, ascends && !negative);
    tried++;
    if (!ascends)
        return;
    ascending++;
    positions_are_right(type->layout, places, extent);
}

static void random_types(void **state)
{
    const char *seed_text = getenv("WEFT_TEST_SEED"), *types_text = getenv("WEFT_TEST_TYPES");
    long seed = seed_text ? atol(seed_text) : (long)time(NULL) % 1000000;
    long types = types_text ? atol(types_text) : 3000;
    struct map_random random = {0};
    (void)state;
    print_message("seed %ld (repeat with WEFT_TEST_SEED=%ld)\n", seed, seed);
    for (long i = 0; i < types; i++) {
        random.state = (uint64_t)(seed * 1000003 + i);
        struct mapped m = mapped_random(&random, map_pick(&random, 0, MAP_DEPTH));
        const struct weft_datatype *type = weft_handle_object(m.type);
        long *places = map_places(&m.map, 1);
        long reach = type->size ? places[type->size - 1] + 1 - places[0] : 0;
        if (type->size) {
            try_extent(type, places, type->extent);
            try_extent(type, places, reach + map_pick(&random, 0, 40));
        }
        free(places);
        mapped_free(&m);
    }
    print_message("%ld of %ld arrays ascend, %ld offsets\n", ascending, tried, offsets);
    assert_true(ascending > tried / 10 && (types < 3000 || offsets > 100000));
}

/* Two runs that overlap begin in order; with the second first, they do not. */
static void overlapping_runs(void **state)
{
    int lengths[] = {8, 8};
    MPI_Aint in_order[] = {0, 4}, swapped[] = {4, 0};
    MPI_Datatype type;
    (void)state;
    MPI_Type_create_hindexed(2, lengths, in_order, MPI_BYTE, &type);
    const struct weft_datatype *object = weft_handle_object(type);
    assert_int_equal(weft_layout_order(object->layout, 12), WEFT_ORDER_TOUCHES);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed(2, lengths, swapped, MPI_BYTE, &type);
    object = weft_handle_object(type);
    assert_int_equal(weft_layout_order(object->layout, 12), WEFT_ORDER_NONE);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_runs),
        cmocka_unit_test(random_types),
    };
    MPI_Init(&argc, &argv);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
