// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of predefined datatypes against the tables of the ABI and against C.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/coll/op.h"
#include "core/datatype/predefined_types.h"

static const struct weft_predefined_type *row_of(unsigned handle)
{
    for (size_t i = 0; i < weft_predefined_types_count; i++) {
        if (weft_predefined_types[i].handle == handle)
            return &weft_predefined_types[i];
    }
    return NULL;
}

static FILE *open_constants(void)
{
    const char *top = getenv("top_srcdir");
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/abi/constants.tsv", top ? top : ".");
    file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s; set top_srcdir to the root of the source tree.", path);
    return file;
}

static void every_datatype_constant_has_a_row_of_its_name(void **state)
{
    FILE *file = open_constants();
    char line[256], name[128];
    unsigned value;
    size_t found = 0;

    (void)state;
    while (fgets(line, sizeof line, file)) {
        const struct weft_predefined_type *row;

        if (sscanf(line, "define %127s ((MPI_Datatype)%x)", name, &value) != 2 ||
            strcmp(name, "MPI_DATATYPE_NULL") == 0)
            continue;
        row = row_of(value);
        if (!row)
            fail_msg("%s (0x%x) has no row", name, value);
        /* The ABI's header defines MPI_LONG_LONG_INT and MPI_C_COMPLEX by what are their synonyms
         * in the standard. */
        if (strcmp(name, "MPI_LONG_LONG") == 0)
            strcpy(name, "MPI_LONG_LONG_INT");
        if (strcmp(name, "MPI_C_FLOAT_COMPLEX") == 0)
            strcpy(name, "MPI_C_COMPLEX");
        assert_string_equal(row->name, name);
        found++;
    }
    fclose(file);
    assert_int_equal(found, weft_predefined_types_count);
    assert_null(row_of((unsigned)(uintptr_t)MPI_DATATYPE_NULL));
}

static void rows_ascend(void **state)
{
    (void)state;
    for (size_t i = 1; i < weft_predefined_types_count; i++)
        assert_true(weft_predefined_types[i - 1].handle < weft_predefined_types[i].handle);
}

static void fixed_sizes_are_those_the_handle_encodes(void **state)
{
    size_t checked = 0;

    (void)state;
    for (size_t i = 0; i < weft_predefined_types_count; i++) {
        const struct weft_predefined_type *row = &weft_predefined_types[i];

        if ((row->handle >= 0x240 && row->handle <= 0x25f) ||
            (row->handle >= 0x2c0 && row->handle <= 0x2ff)) {
            assert_int_equal(row->size, 1u << ((row->handle >> 3) & 7));
            assert_int_equal(row->extent, row->size);
            checked++;
        }
    }
    assert_int_not_equal(checked, 0);
}

static void blocks_fill_the_type_and_lie_within_its_extent(void **state)
{
    (void)state;
    for (size_t i = 0; i < weft_predefined_types_count; i++) {
        const struct weft_predefined_type *row = &weft_predefined_types[i];

        assert_int_equal(row->first_size + row->second_size, row->size);
        assert_true(row->align > 0 && (row->align & (row->align - 1)) == 0);
        assert_int_equal(row->extent % row->align, 0);
        if (row->second_offset) {
            assert_true(row->second_size > 0);
            assert_true(row->second_offset >= row->first_size);
            assert_true(row->second_offset + row->second_size <= row->extent);
        } else {
            assert_int_equal(row->second_size, 0);
            assert_int_equal(row->size, row->extent);
        }
    }
}

static void an_element_kind_is_as_large_as_the_types_that_have_it(void **state)
{
    bool used[WEFT_BASIC_KINDS] = {false};

    (void)state;
    for (size_t i = 0; i < weft_predefined_types_count; i++) {
        const struct weft_predefined_type *row = &weft_predefined_types[i];

        if (row->basic_type != WEFT_BASIC_NONE)
            assert_int_equal(weft_basic_size(row->basic_type), row->extent);
        used[row->basic_type] = true;
    }
    for (int elem = 0; elem < WEFT_BASIC_KINDS; elem++) {
        if (!used[elem])
            fail_msg("no predefined datatype is of element kind %d", elem);
    }
}

static void sizes_of_some_types_are_those_users_know(void **state)
{
    static const struct {
        MPI_Datatype type;
        unsigned size, extent;
    } known[] = {
        {MPI_CHAR, 1, 1},
        {MPI_INT, sizeof(int), sizeof(int)},
        {MPI_LONG_DOUBLE, sizeof(long double), sizeof(long double)},
        {MPI_DOUBLE_INT, sizeof(double) + sizeof(int), 16},
        {MPI_SHORT_INT, sizeof(short) + sizeof(int), 8},
        {MPI_LOGICAL, 4, 4},
        {MPI_DOUBLE_PRECISION, 8, 8},
        {MPI_DOUBLE_COMPLEX, 16, 16},
        {MPI_2DOUBLE_PRECISION, 16, 16},
        {MPI_COMPLEX32, 32, 32},
        {MPI_WCHAR, sizeof(wchar_t), sizeof(wchar_t)},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct weft_predefined_type *row = row_of((unsigned)(uintptr_t)known[i].type);

        assert_non_null(row);
        assert_int_equal(row->size, known[i].size);
        assert_int_equal(row->extent, known[i].extent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_datatype_constant_has_a_row_of_its_name),
        cmocka_unit_test(rows_ascend),
        cmocka_unit_test(fixed_sizes_are_those_the_handle_encodes),
        cmocka_unit_test(blocks_fill_the_type_and_lie_within_its_extent),
        cmocka_unit_test(an_element_kind_is_as_large_as_the_types_that_have_it),
        cmocka_unit_test(sizes_of_some_types_are_those_users_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
