// SPDX-License-Identifier: BSD-3-Clause
/*
 * The predefined reductions: which element kinds each takes, as MPI 5.0 section 6.9.2 prints it,
 * and what comes out, against a reference that computes one element at a time in the widest type.
 *
 * Random numbers are small multiples of 1/4 for floating point, so that every sum and product is
 * exact in every type. WEFT_TEST_SEED=n repeats a run that printed n.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>
#include <cmocka.h>

#include "core/coll/op.h"

/* ---- the element kinds, described once more, independently of op.c ---- */

enum group { NOTHING, C_INT, F_INT, ADDRESS, FLOATING, COMPLEX, LOGICAL, BYTE, TEXT, WIDE, PAIR };
enum class { SIGNED, UNSIGNED, REAL, REAL_16 };

struct kind {
    enum group group;
    enum class class;                     /* of the value, or of a complex number's parts */
    size_t size;                          /* of the value, or of one part */
    enum class index_class;               /* pairs */
    size_t index_offset, index_size, all; /* pairs; all: the struct */
};

#define NUMBER(group_, class_, size_)                                                              \
    {                                                                                              \
        .group = group_, .class = class_, .size = size_                                            \
    }
#define PAIR_KIND(type, value_class, index_class)                                                  \
    {                                                                                              \
        PAIR, value_class, sizeof((type){0}.value), index_class, offsetof(type, index),            \
            sizeof((type){0}.index), sizeof(type)                                                  \
    }

static const struct kind kinds[WEFT_BASIC_KINDS] = {
    [WEFT_BASIC_NONE] = {.group = NOTHING},
    [WEFT_BASIC_INT8] = NUMBER(C_INT, SIGNED, 1),
    [WEFT_BASIC_INT16] = NUMBER(C_INT, SIGNED, 2),
    [WEFT_BASIC_INT32] = NUMBER(C_INT, SIGNED, 4),
    [WEFT_BASIC_INT64] = NUMBER(C_INT, SIGNED, 8),
    [WEFT_BASIC_UINT8] = NUMBER(C_INT, UNSIGNED, 1),
    [WEFT_BASIC_UINT16] = NUMBER(C_INT, UNSIGNED, 2),
    [WEFT_BASIC_UINT32] = NUMBER(C_INT, UNSIGNED, 4),
    [WEFT_BASIC_UINT64] = NUMBER(C_INT, UNSIGNED, 8),
    [WEFT_BASIC_INTEGER1] = NUMBER(F_INT, SIGNED, 1),
    [WEFT_BASIC_INTEGER2] = NUMBER(F_INT, SIGNED, 2),
    [WEFT_BASIC_INTEGER4] = NUMBER(F_INT, SIGNED, 4),
    [WEFT_BASIC_INTEGER8] = NUMBER(F_INT, SIGNED, 8),
    [WEFT_BASIC_INTEGER16] = NUMBER(F_INT, SIGNED, 16),
    [WEFT_BASIC_ADDRESS] = NUMBER(ADDRESS, SIGNED, sizeof(MPI_Aint)),
    [WEFT_BASIC_FLOAT] = NUMBER(FLOATING, REAL, sizeof(float)),
    [WEFT_BASIC_DOUBLE] = NUMBER(FLOATING, REAL, sizeof(double)),
    [WEFT_BASIC_LONG_DOUBLE] = NUMBER(FLOATING, REAL, sizeof(long double)),
    [WEFT_BASIC_REAL16] = NUMBER(FLOATING, REAL_16, 16),
    [WEFT_BASIC_FLOAT_COMPLEX] = NUMBER(COMPLEX, REAL, sizeof(float)),
    [WEFT_BASIC_DOUBLE_COMPLEX] = NUMBER(COMPLEX, REAL, sizeof(double)),
    [WEFT_BASIC_LONG_DOUBLE_COMPLEX] = NUMBER(COMPLEX, REAL, sizeof(long double)),
    [WEFT_BASIC_COMPLEX32] = NUMBER(COMPLEX, REAL_16, 16),
    [WEFT_BASIC_BOOL] = NUMBER(LOGICAL, UNSIGNED, 1),
    [WEFT_BASIC_LOGICAL1] = NUMBER(LOGICAL, SIGNED, 1),
    [WEFT_BASIC_LOGICAL2] = NUMBER(LOGICAL, SIGNED, 2),
    [WEFT_BASIC_LOGICAL4] = NUMBER(LOGICAL, SIGNED, 4),
    [WEFT_BASIC_LOGICAL8] = NUMBER(LOGICAL, SIGNED, 8),
    [WEFT_BASIC_LOGICAL16] = NUMBER(LOGICAL, SIGNED, 16),
    [WEFT_BASIC_BYTE] = NUMBER(BYTE, UNSIGNED, 1),
    [WEFT_BASIC_CHAR] = NUMBER(TEXT, CHAR_MIN < 0 ? SIGNED : UNSIGNED, 1),
    [WEFT_BASIC_WCHAR] = NUMBER(WIDE, UNSIGNED, sizeof(wchar_t)),
    [WEFT_BASIC_PACKED] = NUMBER(WIDE, UNSIGNED, 1),
    [WEFT_BASIC_FLOAT_INT] = PAIR_KIND(struct weft_float_int, REAL, SIGNED),
    [WEFT_BASIC_DOUBLE_INT] = PAIR_KIND(struct weft_double_int, REAL, SIGNED),
    [WEFT_BASIC_LONG_INT] = PAIR_KIND(struct weft_long_int, SIGNED, SIGNED),
    [WEFT_BASIC_2INT] = PAIR_KIND(struct weft_2int, SIGNED, SIGNED),
    [WEFT_BASIC_SHORT_INT] = PAIR_KIND(struct weft_short_int, SIGNED, SIGNED),
    [WEFT_BASIC_LONG_DOUBLE_INT] = PAIR_KIND(struct weft_long_double_int, REAL, SIGNED),
    [WEFT_BASIC_2REAL] = PAIR_KIND(struct weft_2real, REAL, REAL),
    [WEFT_BASIC_2DOUBLE_PRECISION] = PAIR_KIND(struct weft_2double_precision, REAL, REAL),
    [WEFT_BASIC_2INTEGER] = PAIR_KIND(struct weft_2integer, SIGNED, SIGNED),
};

static size_t stride(const struct kind *k)
{
    return k->group == PAIR ? k->all : k->group == COMPLEX ? 2 * k->size : k->size;
}

/* The table of the standard, and what is accepted besides. */
static bool allowed(enum weft_op_id op, enum group g)
{
    bool integer = g == C_INT || g == F_INT || g == ADDRESS || g == TEXT;
    switch (op) {
    case WEFT_OP_MIN:
    case WEFT_OP_MAX:
        return integer || g == FLOATING;
    case WEFT_OP_SUM:
    case WEFT_OP_PROD:
        return integer || g == FLOATING || g == COMPLEX;
    case WEFT_OP_LAND:
    case WEFT_OP_LOR:
    case WEFT_OP_LXOR:
        return integer || g == LOGICAL;
    case WEFT_OP_BAND:
    case WEFT_OP_BOR:
    case WEFT_OP_BXOR:
        return integer || g == BYTE;
    case WEFT_OP_MINLOC:
    case WEFT_OP_MAXLOC:
        return g == PAIR;
    default:
        return g != NOTHING; /* REPLACE, NO_OP, the user's own is asked elsewhere */
    }
}

/* ---- numbers in memory ---- */

typedef unsigned __int128 wide_integer;

/* An integer as 128 bits, sign-extended if it has one. Little-endian, like the ABI's platforms. */
static wide_integer load_integer(const void *p, size_t size, enum class class)
{
    wide_integer v = 0;

    memcpy(&v, p, size);
    if (class == SIGNED && size < 16 && v >> (size * 8 - 1))
        v |= ~(wide_integer)0 << (size * 8);
    return v;
}

static bool is_real(enum class class)
{
    return class == REAL || class == REAL_16;
}

static long double load_real(const void *p, size_t size, enum class class)
{
    float f;
    double d;
    long double l;
    weft_real16 q;

    if (class == REAL_16)
        return memcpy(&q, p, sizeof q), (long double)q;
    if (size == sizeof f)
        return memcpy(&f, p, size), f;
    if (size == sizeof d)
        return memcpy(&d, p, size), d;
    return memcpy(&l, p, size), l;
}

static void store_real(void *p, size_t size, enum class class, long double v)
{
    weft_real16 q = (weft_real16)v;
    float f = (float)v;
    double d = (double)v;

    if (class == REAL_16)
        memcpy(p, &q, sizeof q);
    else
        memcpy(p, size == sizeof f ? (void *)&f : size == sizeof d ? (void *)&d : (void *)&v, size);
}

/* Less than zero, zero or more, as a is less than, equal to or greater than b. */
static int compare(const void *a, const void *b, size_t size, enum class class)
{
    wide_integer u, v;

    if (is_real(class)) {
        long double x = load_real(a, size, class), y = load_real(b, size, class);

        return (x > y) - (x < y);
    }
    u = load_integer(a, size, class);
    v = load_integer(b, size, class);
    if (class == SIGNED)
        return ((__int128)u > (__int128)v) - ((__int128)u < (__int128)v);
    return (u > v) - (u < v);
}

/* ---- the reference: one element, inout = in op inout ---- */

static wide_integer integer_result(enum weft_op_id op, wide_integer x, wide_integer y)
{
    switch (op) {
    case WEFT_OP_SUM:
        return x + y;
    case WEFT_OP_PROD:
        return x * y;
    case WEFT_OP_LAND:
        return x && y;
    case WEFT_OP_LOR:
        return x || y;
    case WEFT_OP_LXOR:
        return !x != !y;
    case WEFT_OP_BAND:
        return x & y;
    case WEFT_OP_BOR:
        return x | y;
    case WEFT_OP_BXOR:
        return x ^ y;
    default:
        fail_msg("the reference has no integer operation %d", op);
        return 0;
    }
}

static void reference_arithmetic(enum weft_op_id op, const struct kind *k, const char *in,
                                 char *inout)
{
    size_t n = k->size;

    if (k->group == COMPLEX) {
        long double a = load_real(in, n, k->class), b = load_real(in + n, n, k->class);
        long double c = load_real(inout, n, k->class), d = load_real(inout + n, n, k->class);

        store_real(inout, n, k->class, op == WEFT_OP_SUM ? a + c : a * c - b * d);
        store_real(inout + n, n, k->class, op == WEFT_OP_SUM ? b + d : a * d + b * c);
    } else if (is_real(k->class)) {
        long double a = load_real(in, n, k->class), c = load_real(inout, n, k->class);

        store_real(inout, n, k->class, op == WEFT_OP_SUM ? a + c : a * c);
    } else {
        wide_integer r =
            integer_result(op, load_integer(in, n, k->class), load_integer(inout, n, k->class));

        memcpy(inout, &r, n);
    }
}

static void reference_location(enum weft_op_id op, const struct kind *k, const char *in,
                               char *inout)
{
    int order = compare(in, inout, k->size, k->class);
    size_t at = k->index_offset;

    if (op == WEFT_OP_MAXLOC)
        order = -order;
    if (order > 0 ||
        (order == 0 && compare(in + at, inout + at, k->index_size, k->index_class) >= 0))
        return;
    memcpy(inout, in, k->size);
    memcpy(inout + at, in + at, k->index_size);
}

static void reference(enum weft_op_id op, const struct kind *k, const char *in, char *inout)
{
    switch (op) {
    case WEFT_OP_NO_OP:
        return;
    case WEFT_OP_REPLACE:
        memcpy(inout, in, stride(k));
        return;
    case WEFT_OP_MIN:
        if (compare(in, inout, k->size, k->class) < 0)
            memcpy(inout, in, k->size);
        return;
    case WEFT_OP_MAX:
        if (compare(in, inout, k->size, k->class) > 0)
            memcpy(inout, in, k->size);
        return;
    case WEFT_OP_MINLOC:
    case WEFT_OP_MAXLOC:
        reference_location(op, k, in, inout);
        return;
    default:
        reference_arithmetic(op, k, in, inout);
    }
}

/* ---- random elements ---- */

static uint64_t random_state;

/* splitmix64 */
static uint64_t draw(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void draw_number(void *p, size_t size, enum class class, bool few)
{
    uint64_t bits = draw();
    wide_integer number;

    if (is_real(class)) {
        store_real(p, size, class,
                   (long double)((int)(bits % (few ? 4 : 200)) - (few ? 2 : 100)) / 4);
        return;
    }
    if (few || bits % 8 == 0)
        number = (wide_integer)((bits >> 8) % 4) - 2; /* ties, zeros and the neighbours of zero */
    else if (bits % 8 == 1)
        number = (wide_integer)1 << (8 * size - 1); /* the least or the middle */
    else if (bits % 8 == 2)
        number =
            (wide_integer)1 << ((bits >> 8) % (8 * size)); /* true in one bit, maybe a high one */
    else
        number = (wide_integer)draw() << 64 | bits;
    memcpy(p, &number, size);
}

static void draw_elements(const struct kind *k, char *p, size_t count)
{
    memset(p, 0, count * stride(k)); /* padding, so that memcmp may see it */
    for (size_t i = 0; i < count; i++, p += stride(k)) {
        draw_number(p, k->size, k->class, k->group == PAIR);
        if (k->group == COMPLEX)
            draw_number(p + k->size, k->size, k->class, false);
        if (k->group == PAIR)
            draw_number(p + k->index_offset, k->index_size, k->index_class, true);
    }
}

/* ---- promises ---- */

static const struct weft_op *op_of(MPI_Op handle)
{
    const struct weft_op *op = weft_handle_resolve(handle, WEFT_KIND_OP);

    assert_non_null(op);
    return op;
}

static const MPI_Op handles[WEFT_OP_IDS] = {
    [WEFT_OP_SUM] = MPI_SUM,         [WEFT_OP_PROD] = MPI_PROD,     [WEFT_OP_MIN] = MPI_MIN,
    [WEFT_OP_MAX] = MPI_MAX,         [WEFT_OP_LAND] = MPI_LAND,     [WEFT_OP_LOR] = MPI_LOR,
    [WEFT_OP_LXOR] = MPI_LXOR,       [WEFT_OP_BAND] = MPI_BAND,     [WEFT_OP_BOR] = MPI_BOR,
    [WEFT_OP_BXOR] = MPI_BXOR,       [WEFT_OP_MINLOC] = MPI_MINLOC, [WEFT_OP_MAXLOC] = MPI_MAXLOC,
    [WEFT_OP_REPLACE] = MPI_REPLACE, [WEFT_OP_NO_OP] = MPI_NO_OP,
};

static void every_handle_names_its_operation(void **state)
{
    (void)state;
    for (int id = WEFT_OP_USER + 1; id < WEFT_OP_IDS; id++) {
        const struct weft_op *op = op_of(handles[id]);

        assert_int_equal(op->id, id);
        assert_ptr_equal(op->handle, handles[id]);
        assert_int_equal(op->commutative, id < WEFT_OP_REPLACE);
    }
    assert_null(weft_handle_resolve(MPI_OP_NULL, WEFT_KIND_OP));
}

static void only_what_the_standard_lists_is_allowed(void **state)
{
    struct weft_op user = {.object.kind = WEFT_KIND_OP, .id = WEFT_OP_USER};

    (void)state;
    for (int elem = 0; elem < WEFT_BASIC_KINDS; elem++) {
        for (int id = WEFT_OP_USER + 1; id < WEFT_OP_IDS; id++) {
            int expected = allowed(id, kinds[elem].group) ? MPI_SUCCESS : MPI_ERR_OP;

            if (weft_op_check(op_of(handles[id]), elem) != expected)
                fail_msg("operation %d, element kind %d: expected %d", id, elem, expected);
        }
        assert_int_equal(weft_op_check(&user, elem), MPI_SUCCESS);
    }
}

/* Compares numbers where memcmp would see bytes that arithmetic leaves undefined: an x87 long
 * double has 10 bytes in 16. */
static bool same_element(const struct kind *k, const char *a, const char *b)
{
    if (k->class != REAL || k->size != sizeof(long double))
        return memcmp(a, b, stride(k)) == 0;
    if (load_real(a, k->size, k->class) != load_real(b, k->size, k->class))
        return false;
    if (k->group == COMPLEX)
        return load_real(a + k->size, k->size, k->class) ==
               load_real(b + k->size, k->size, k->class);
    return memcmp(a + k->index_offset, b + k->index_offset, k->index_size) == 0;
}

enum { MOST = 300, LONGEST = 32 };

/* One operation on count elements, which begin `skip` elements into the buffers; the element behind
 * the last is a guard. */
static void compare_with_reference(int id, int elem, size_t skip, size_t count)
{
    static _Alignas(32) char in[(MOST + 4) * LONGEST], got[sizeof in], expected[sizeof in];
    const struct kind *k = &kinds[elem];
    size_t step = stride(k), all = skip + count + 1;

    assert_true(step <= LONGEST && all <= MOST + 4);
    draw_elements(k, in, all);
    draw_elements(k, got, all);
    memcpy(expected, got, sizeof got);
    for (size_t i = skip; i < skip + count; i++)
        reference(id, k, in + i * step, expected + i * step);
    weft_op_apply(op_of(handles[id]), elem, in + skip * step, got + skip * step, count);
    for (size_t i = 0; i < all; i++) {
        if (!same_element(k, got + i * step, expected + i * step))
            fail_msg("operation %d, element kind %d, %zu elements from %zu: element %zu differs",
                     id, elem, count, skip, i);
    }
}

static void every_allowed_pair_computes_what_the_reference_does(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 255, MOST};
    const char *given = getenv("WEFT_TEST_SEED");
    size_t pairs = 0;

    (void)state;
    random_state = given && *given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    print_message("WEFT_TEST_SEED=%llu\n", (unsigned long long)random_state);
    for (int id = WEFT_OP_USER + 1; id < WEFT_OP_IDS; id++) {
        for (int elem = 0; elem < WEFT_BASIC_KINDS; elem++) {
            if (!allowed(id, kinds[elem].group))
                continue;
            pairs++;
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
                for (size_t skip = 0; skip < 4 && skip + counts[c] < MOST + 4; skip++)
                    compare_with_reference(id, elem, skip, counts[c]);
            }
        }
    }
    print_message("%zu pairs of operation and element kind\n", pairs);
}

static void equal_values_keep_the_lower_index(void **state)
{
    struct weft_double_int in[2] = {{2.5, 4}, {2.5, 9}}, inout[2] = {{2.5, 7}, {2.5, 7}};

    (void)state;
    weft_op_apply(op_of(MPI_MINLOC), WEFT_BASIC_DOUBLE_INT, in, inout, 2);
    assert_int_equal(inout[0].index, 4);
    assert_int_equal(inout[1].index, 7);
    inout[0].index = 7;
    weft_op_apply(op_of(MPI_MAXLOC), WEFT_BASIC_DOUBLE_INT, in, inout, 2);
    assert_int_equal(inout[0].index, 4);
    assert_int_equal(inout[1].index, 7);
}

static void a_nan_stays_in_inout_and_is_passed_over_in_in(void **state)
{
    MPI_Op ops[] = {MPI_MIN, MPI_MAX};

    (void)state;
    for (int o = 0; o < 2; o++) {
        double in[5], inout[5]; /* vector code and the remainder */

        for (int i = 0; i < 5; i++) {
            in[i] = i & 1 ? 1.0 : (double)NAN;
            inout[i] = i & 1 ? (double)NAN : 1.0;
        }
        weft_op_apply(op_of(ops[o]), WEFT_BASIC_DOUBLE, in, inout, 5);
        for (int i = 0; i < 5; i++)
            assert_true(i & 1 ? isnan(inout[i]) : inout[i] == 1.0);
    }
}

static void a_logical_of_any_bit_is_true_and_comes_out_as_one(void **state)
{
    int16_t in[3] = {0x100, -1, 0}, inout[3] = {INT16_MIN, 0, 0};
    int16_t land[3], lor[3], lxor[3];

    (void)state;
    memcpy(land, inout, sizeof inout);
    memcpy(lor, inout, sizeof inout);
    memcpy(lxor, inout, sizeof inout);
    weft_op_apply(op_of(MPI_LAND), WEFT_BASIC_LOGICAL2, in, land, 3);
    weft_op_apply(op_of(MPI_LOR), WEFT_BASIC_LOGICAL2, in, lor, 3);
    weft_op_apply(op_of(MPI_LXOR), WEFT_BASIC_LOGICAL2, in, lxor, 3);
    assert_true(land[0] == 1 && land[1] == 0 && land[2] == 0);
    assert_true(lor[0] == 1 && lor[1] == 1 && lor[2] == 0);
    assert_true(lxor[0] == 0 && lxor[1] == 1 && lxor[2] == 0);
}

static unsigned vector_bytes; /* the longest vectors of the loops */

static int predefine(void **state)
{
    (void)state;
    weft_op_init();
    weft_op_limit_vectors(vector_bytes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_handle_names_its_operation),
        cmocka_unit_test(only_what_the_standard_lists_is_allowed),
        cmocka_unit_test(every_allowed_pair_computes_what_the_reference_does),
        cmocka_unit_test(equal_values_keep_the_lower_index),
        cmocka_unit_test(a_nan_stays_in_inout_and_is_passed_over_in_in),
        cmocka_unit_test(a_logical_of_any_bit_is_true_and_comes_out_as_one),
    };

    int failed = 0;
    for (vector_bytes = 64; vector_bytes >= 16; vector_bytes /= 2) /* AVX-512, AVX2, none */
        failed += cmocka_run_group_tests(tests, predefine, NULL);
    return failed;
}
