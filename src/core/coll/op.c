// SPDX-License-Identifier: BSD-3-Clause
/*
 * The loops of the predefined reduction operations, and the table that says which exist.
 *
 * A loop is a function stamped out per operation and machine type by the macros below. There is one
 * per machine type, not one per element kind: where two's complement gives the same bits (sums,
 * products, bits, truth) the signed kinds use the unsigned loop, which also makes overflow wrap
 * around instead of being undefined.
 *
 * Invariant: loops[op][elem] is NULL exactly where the standard forbids the combination.
 */
#include "core/coll/op.h"
#include "core/object/error.h"

#include <complex.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* gcc 12 at -O2 leaves loops of unknown length scalar; clang does not. */
#if defined(__clang__)
#define VECTORISED
#else
#define VECTORISED __attribute__((optimize("O3")))
#endif

typedef void loop_function(const void *in, void *inout, size_t count);

/* One loop: x is the element of in, y that of inout. */
#define LOOP(name, type, expression)                                                               \
    VECTORISED static void name(const void *in, void *inout, size_t count)                         \
    {                                                                                              \
        const type *restrict a = in;                                                               \
        type *restrict b = inout;                                                                  \
                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            const type x = a[i], y = b[i];                                                         \
            b[i] = (type)(expression);                                                             \
        }                                                                                          \
    }

/* One loop over pairs: the value of in wins where `x better y`. */
#define PAIR_LOOP(name, type, better)                                                              \
    static void name(const void *in, void *inout, size_t count)                                    \
    {                                                                                              \
        const type *restrict a = in;                                                               \
        type *restrict b = inout;                                                                  \
                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            if (a[i].value better b[i].value) {                                                    \
                b[i].value = a[i].value;                                                           \
                b[i].index = a[i].index;                                                           \
            } else if (a[i].value == b[i].value && a[i].index < b[i].index) {                      \
                b[i].index = a[i].index;                                                           \
            }                                                                                      \
        }                                                                                          \
    }

/* The machine types of each class, with the suffix of their loops: the one list of each. */
#define UNSIGNED_LOOPS(op, expression)                                                             \
    LOOP(op##_u8, uint8_t, expression)                                                             \
    LOOP(op##_u16, uint16_t, expression)                                                           \
    LOOP(op##_u32, uint32_t, expression)                                                           \
    LOOP(op##_u64, uint64_t, expression)
#define WRAPPING_LOOPS(op, expression)                                                             \
    UNSIGNED_LOOPS(op, expression)                                                                 \
    LOOP(op##_u128, weft_unsigned16, expression)
#define SIGNED_LOOPS(op, expression)                                                               \
    LOOP(op##_s8, int8_t, expression)                                                              \
    LOOP(op##_s16, int16_t, expression)                                                            \
    LOOP(op##_s32, int32_t, expression)                                                            \
    LOOP(op##_s64, int64_t, expression)                                                            \
    LOOP(op##_s128, weft_integer16, expression)
#define FLOATING_LOOPS(op, expression)                                                             \
    LOOP(op##_float, float, expression)                                                            \
    LOOP(op##_double, double, expression)                                                          \
    LOOP(op##_long_double, long double, expression)                                                \
    LOOP(op##_real16, weft_real16, expression)
#define COMPLEX_LOOPS(op, expression)                                                              \
    LOOP(op##_float_complex, float complex, expression)                                            \
    LOOP(op##_double_complex, double complex, expression)                                          \
    LOOP(op##_long_double_complex, long double complex, expression)                                \
    LOOP(op##_complex32, weft_complex32, expression)
#define PAIR_LOOPS(op, better)                                                                     \
    PAIR_LOOP(op##_float_int, struct weft_float_int, better)                                       \
    PAIR_LOOP(op##_double_int, struct weft_double_int, better)                                     \
    PAIR_LOOP(op##_long_int, struct weft_long_int, better)                                         \
    PAIR_LOOP(op##_2int, struct weft_2int, better)                                                 \
    PAIR_LOOP(op##_short_int, struct weft_short_int, better)                                       \
    PAIR_LOOP(op##_long_double_int, struct weft_long_double_int, better)                           \
    PAIR_LOOP(op##_2real, struct weft_2real, better)                                               \
    PAIR_LOOP(op##_2double_precision, struct weft_2double_precision, better)                       \
    PAIR_LOOP(op##_2integer, struct weft_2integer, better)

/* clang-format off */
/* 1u: narrow operands would be promoted to int, where the product of two uint16_t overflows. */
WRAPPING_LOOPS(sum, 1u * x + y)
WRAPPING_LOOPS(prod, 1u * x * y)
FLOATING_LOOPS(sum, x + y)
FLOATING_LOOPS(prod, x * y)
COMPLEX_LOOPS(sum, x + y)
COMPLEX_LOOPS(prod, x * y)
UNSIGNED_LOOPS(min, x < y ? x : y)
UNSIGNED_LOOPS(max, x > y ? x : y)
SIGNED_LOOPS(min, x < y ? x : y)
SIGNED_LOOPS(max, x > y ? x : y)
FLOATING_LOOPS(min, x < y ? x : y)
FLOATING_LOOPS(max, x > y ? x : y)
/* No && and ||: what branches does not become vector code. */
WRAPPING_LOOPS(land, (x != 0) & (y != 0))
WRAPPING_LOOPS(lor, (x != 0) | (y != 0))
WRAPPING_LOOPS(lxor, (x != 0) ^ (y != 0))
WRAPPING_LOOPS(band, x & y)
WRAPPING_LOOPS(bor, x | y)
WRAPPING_LOOPS(bxor, x ^ y)
PAIR_LOOPS(minloc, <)
PAIR_LOOPS(maxloc, >)
/* clang-format on */

/* The standard's groups of types as columns of the table. C and Fortran integers take the sign (u
 * or s) of the loops that their signed members use. */
#define C_INTEGER(op, sign)                                                                        \
    [WEFT_BASIC_INT8] = op##_##sign##8, [WEFT_BASIC_INT16] = op##_##sign##16,                      \
    [WEFT_BASIC_INT32] = op##_##sign##32, [WEFT_BASIC_INT64] = op##_##sign##64,                    \
    [WEFT_BASIC_UINT8] = op##_u8, [WEFT_BASIC_UINT16] = op##_u16, [WEFT_BASIC_UINT32] = op##_u32,  \
    [WEFT_BASIC_UINT64] = op##_u64
#define FORTRAN_INTEGER(op, sign)                                                                  \
    [WEFT_BASIC_INTEGER1] = op##_##sign##8, [WEFT_BASIC_INTEGER2] = op##_##sign##16,               \
    [WEFT_BASIC_INTEGER4] = op##_##sign##32, [WEFT_BASIC_INTEGER8] = op##_##sign##64,              \
    [WEFT_BASIC_INTEGER16] = op##_##sign##128
#define MULTI_LANGUAGE(op, sign) [WEFT_BASIC_ADDRESS] = op##_##sign##64
#define FLOATING(op)                                                                               \
    [WEFT_BASIC_FLOAT] = op##_float, [WEFT_BASIC_DOUBLE] = op##_double,                            \
    [WEFT_BASIC_LONG_DOUBLE] = op##_long_double, [WEFT_BASIC_REAL16] = op##_real16
#define COMPLEX(op)                                                                                \
    [WEFT_BASIC_FLOAT_COMPLEX] = op##_float_complex,                                               \
    [WEFT_BASIC_DOUBLE_COMPLEX] = op##_double_complex,                                             \
    [WEFT_BASIC_LONG_DOUBLE_COMPLEX] = op##_long_double_complex,                                   \
    [WEFT_BASIC_COMPLEX32] = op##_complex32
#define LOGICAL(op)                                                                                \
    [WEFT_BASIC_BOOL] = op##_u8, [WEFT_BASIC_LOGICAL1] = op##_u8,                                  \
    [WEFT_BASIC_LOGICAL2] = op##_u16, [WEFT_BASIC_LOGICAL4] = op##_u32,                            \
    [WEFT_BASIC_LOGICAL8] = op##_u64, [WEFT_BASIC_LOGICAL16] = op##_u128
#define BYTE(op) [WEFT_BASIC_BYTE] = op##_u8
#define VALUE_AND_INDEX(op)                                                                        \
    [WEFT_BASIC_FLOAT_INT] = op##_float_int, [WEFT_BASIC_DOUBLE_INT] = op##_double_int,            \
    [WEFT_BASIC_LONG_INT] = op##_long_int, [WEFT_BASIC_2INT] = op##_2int,                          \
    [WEFT_BASIC_SHORT_INT] = op##_short_int, [WEFT_BASIC_LONG_DOUBLE_INT] = op##_long_double_int,  \
    [WEFT_BASIC_2REAL] = op##_2real, [WEFT_BASIC_2DOUBLE_PRECISION] = op##_2double_precision,      \
    [WEFT_BASIC_2INTEGER] = op##_2integer

/* Rows as the standard prints them; the logical operations take addresses, counts and offsets too, as
 * other MPIs let them. */
static loop_function *const loops[WEFT_OP_REPLACE][WEFT_BASIC_KINDS] = {
    [WEFT_OP_SUM] = {C_INTEGER(sum, u), FORTRAN_INTEGER(sum, u), MULTI_LANGUAGE(sum, u),
                     FLOATING(sum), COMPLEX(sum)},
    [WEFT_OP_PROD] = {C_INTEGER(prod, u), FORTRAN_INTEGER(prod, u), MULTI_LANGUAGE(prod, u),
                      FLOATING(prod), COMPLEX(prod)},
    [WEFT_OP_MIN] = {C_INTEGER(min, s), FORTRAN_INTEGER(min, s), MULTI_LANGUAGE(min, s),
                     FLOATING(min)},
    [WEFT_OP_MAX] = {C_INTEGER(max, s), FORTRAN_INTEGER(max, s), MULTI_LANGUAGE(max, s),
                     FLOATING(max)},
    [WEFT_OP_LAND] = {C_INTEGER(land, u), MULTI_LANGUAGE(land, u), LOGICAL(land)},
    [WEFT_OP_LOR] = {C_INTEGER(lor, u), MULTI_LANGUAGE(lor, u), LOGICAL(lor)},
    [WEFT_OP_LXOR] = {C_INTEGER(lxor, u), MULTI_LANGUAGE(lxor, u), LOGICAL(lxor)},
    [WEFT_OP_BAND] = {C_INTEGER(band, u), FORTRAN_INTEGER(band, u), MULTI_LANGUAGE(band, u),
                      BYTE(band)},
    [WEFT_OP_BOR] = {C_INTEGER(bor, u), FORTRAN_INTEGER(bor, u), MULTI_LANGUAGE(bor, u), BYTE(bor)},
    [WEFT_OP_BXOR] = {C_INTEGER(bxor, u), FORTRAN_INTEGER(bxor, u), MULTI_LANGUAGE(bxor, u),
                      BYTE(bxor)},
    [WEFT_OP_MINLOC] = {VALUE_AND_INDEX(minloc)},
    [WEFT_OP_MAXLOC] = {VALUE_AND_INDEX(maxloc)},
};

static const uint8_t sizes[WEFT_BASIC_KINDS] = {
    [WEFT_BASIC_INT8] = sizeof(int8_t),
    [WEFT_BASIC_INT16] = sizeof(int16_t),
    [WEFT_BASIC_INT32] = sizeof(int32_t),
    [WEFT_BASIC_INT64] = sizeof(int64_t),
    [WEFT_BASIC_UINT8] = sizeof(uint8_t),
    [WEFT_BASIC_UINT16] = sizeof(uint16_t),
    [WEFT_BASIC_UINT32] = sizeof(uint32_t),
    [WEFT_BASIC_UINT64] = sizeof(uint64_t),
    [WEFT_BASIC_INTEGER1] = sizeof(int8_t),
    [WEFT_BASIC_INTEGER2] = sizeof(int16_t),
    [WEFT_BASIC_INTEGER4] = sizeof(int32_t),
    [WEFT_BASIC_INTEGER8] = sizeof(int64_t),
    [WEFT_BASIC_INTEGER16] = sizeof(weft_integer16),
    [WEFT_BASIC_ADDRESS] = sizeof(int64_t),
    [WEFT_BASIC_FLOAT] = sizeof(float),
    [WEFT_BASIC_DOUBLE] = sizeof(double),
    [WEFT_BASIC_LONG_DOUBLE] = sizeof(long double),
    [WEFT_BASIC_REAL16] = sizeof(weft_real16),
    [WEFT_BASIC_FLOAT_COMPLEX] = sizeof(float complex),
    [WEFT_BASIC_DOUBLE_COMPLEX] = sizeof(double complex),
    [WEFT_BASIC_LONG_DOUBLE_COMPLEX] = sizeof(long double complex),
    [WEFT_BASIC_COMPLEX32] = sizeof(weft_complex32),
    [WEFT_BASIC_BOOL] = sizeof(bool),
    [WEFT_BASIC_LOGICAL1] = sizeof(int8_t),
    [WEFT_BASIC_LOGICAL2] = sizeof(int16_t),
    [WEFT_BASIC_LOGICAL4] = sizeof(int32_t),
    [WEFT_BASIC_LOGICAL8] = sizeof(int64_t),
    [WEFT_BASIC_LOGICAL16] = sizeof(weft_integer16),
    [WEFT_BASIC_BYTE] = sizeof(unsigned char),
    [WEFT_BASIC_CHAR] = sizeof(char),
    [WEFT_BASIC_WCHAR] = sizeof(wchar_t),
    [WEFT_BASIC_FLOAT_INT] = sizeof(struct weft_float_int),
    [WEFT_BASIC_DOUBLE_INT] = sizeof(struct weft_double_int),
    [WEFT_BASIC_LONG_INT] = sizeof(struct weft_long_int),
    [WEFT_BASIC_2INT] = sizeof(struct weft_2int),
    [WEFT_BASIC_SHORT_INT] = sizeof(struct weft_short_int),
    [WEFT_BASIC_LONG_DOUBLE_INT] = sizeof(struct weft_long_double_int),
    [WEFT_BASIC_2REAL] = sizeof(struct weft_2real),
    [WEFT_BASIC_2DOUBLE_PRECISION] = sizeof(struct weft_2double_precision),
    [WEFT_BASIC_2INTEGER] = sizeof(struct weft_2integer),
};

static struct weft_op predefined[] = {
    {.id = WEFT_OP_SUM, .commutative = true, .handle = MPI_SUM, .name = "MPI_SUM"},
    {.id = WEFT_OP_PROD, .commutative = true, .handle = MPI_PROD, .name = "MPI_PROD"},
    {.id = WEFT_OP_MIN, .commutative = true, .handle = MPI_MIN, .name = "MPI_MIN"},
    {.id = WEFT_OP_MAX, .commutative = true, .handle = MPI_MAX, .name = "MPI_MAX"},
    {.id = WEFT_OP_LAND, .commutative = true, .handle = MPI_LAND, .name = "MPI_LAND"},
    {.id = WEFT_OP_LOR, .commutative = true, .handle = MPI_LOR, .name = "MPI_LOR"},
    {.id = WEFT_OP_LXOR, .commutative = true, .handle = MPI_LXOR, .name = "MPI_LXOR"},
    {.id = WEFT_OP_BAND, .commutative = true, .handle = MPI_BAND, .name = "MPI_BAND"},
    {.id = WEFT_OP_BOR, .commutative = true, .handle = MPI_BOR, .name = "MPI_BOR"},
    {.id = WEFT_OP_BXOR, .commutative = true, .handle = MPI_BXOR, .name = "MPI_BXOR"},
    {.id = WEFT_OP_MINLOC, .commutative = true, .handle = MPI_MINLOC, .name = "MPI_MINLOC"},
    {.id = WEFT_OP_MAXLOC, .commutative = true, .handle = MPI_MAXLOC, .name = "MPI_MAXLOC"},
    {.id = WEFT_OP_REPLACE, .commutative = false, .handle = MPI_REPLACE, .name = "MPI_REPLACE"},
    {.id = WEFT_OP_NO_OP, .commutative = false, .handle = MPI_NO_OP, .name = "MPI_NO_OP"},
};

void weft_op_init(void)
{
    for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++) {
        predefined[i].object.kind = WEFT_KIND_OP;
        weft_handle_predefine((uintptr_t)predefined[i].handle, &predefined[i].object);
    }
}

size_t weft_elem_size(enum weft_basic_type elem)
{
    return sizes[elem];
}

int weft_op_check(const struct weft_op *op, enum weft_basic_type elem)
{
    bool allowed;

    if (op->id == WEFT_OP_USER)
        allowed = true;
    else if (op->id == WEFT_OP_REPLACE || op->id == WEFT_OP_NO_OP)
        allowed = elem != WEFT_BASIC_NONE;
    else
        allowed = loops[op->id][elem] != NULL;
    return allowed ? MPI_SUCCESS : MPI_ERR_OP;
}

void weft_op_apply(const struct weft_op *op, enum weft_basic_type elem, const void *in, void *inout,
                   size_t count)
{
    if (op->id == WEFT_OP_NO_OP)
        return;
    if (op->id == WEFT_OP_REPLACE)
        memcpy(inout, in, count * sizes[elem]);
    else
        loops[op->id][elem](in, inout, count);
}

/* A user's function may count in int: then more elements are given to it in parts. */
static void combine_by_user(const struct weft_op *op, const struct weft_datatype *type, void *in,
                            void *inout, size_t count)
{
    MPI_Datatype handle = type->handle;
    if (op->user_large) {
        MPI_Count large = (MPI_Count)count;
        op->user_large(in, inout, &large, &handle);
        return;
    }
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < INT_MAX ? count - done : INT_MAX;
        int now = (int)n;
        uintptr_t ahead = done * (uintptr_t)type->extent;
        op->user((void *)((uintptr_t)in + ahead), (void *)((uintptr_t)inout + ahead), &now,
                 &handle);
    }
}

void weft_op_combine(const struct weft_op *op, const struct weft_datatype *type, void *in,
                     void *inout, size_t count)
{
    if (!count)
        return;
    if (op->id == WEFT_OP_USER)
        combine_by_user(op, type, in, inout, count);
    else
        weft_op_apply(op, type->elem, in, inout, count);
}

struct weft_op *weft_op_make(MPI_User_function *user, MPI_User_function_c *user_large,
                             bool commutative)
{
    struct weft_op *op = calloc(1, sizeof *op);
    if (!op) {
        weft_error_say(MPI_ERR_NO_MEM, "no memory for another operation");
        return NULL;
    }
    op->object.kind = WEFT_KIND_OP;
    op->id = WEFT_OP_USER;
    op->commutative = commutative;
    op->refs = 1;
    op->user = user;
    op->user_large = user_large;
    op->handle = (MPI_Op)op;
    return op;
}

void weft_op_hold(const struct weft_op *op)
{
    if (op->id == WEFT_OP_USER)
        ((struct weft_op *)op)->refs++;
}

void weft_op_release(const struct weft_op *op)
{
    if (op->id == WEFT_OP_USER && --((struct weft_op *)op)->refs == 0)
        free((void *)op);
}
