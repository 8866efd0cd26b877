// SPDX-License-Identifier: BSD-3-Clause
/*
 * Input and expected result of reductions, for the reduce and allreduce tests: small values whose
 * result is exact in every type, computed here one rank after the other.
 */
#ifndef WEFT_TESTS_REDUCE_H
#define WEFT_TESTS_REDUCE_H

#include "check.h"

enum { REDUCE_OPS = 10 };

static const char *const reduce_names[REDUCE_OPS] = {"MPI_SUM",  "MPI_PROD", "MPI_MAX",  "MPI_MIN",
                                                     "MPI_LAND", "MPI_LOR",  "MPI_LXOR", "MPI_BAND",
                                                     "MPI_BOR",  "MPI_BXOR"};

static MPI_Op reduce_op(int op)
{
    const MPI_Op ops[REDUCE_OPS] = {MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN, MPI_LAND,
                                    MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    return ops[op];
}

/* What rank contributes to element i: 0 to 3, for products 1 to 2 with few twos. */
static int reduce_input(int op, int rank, int i)
{
    uint64_t r = check_mix((uint64_t)rank * 1000003u + (uint64_t)i * 31u + (uint64_t)op);
    if (op == 1) {
        return rank < 5 ? 1 + (int)(r % 2) : 1;
    }
    return (int)(r % 4);
}

static int reduce_expected(int op, int size, int i)
{
    int a = reduce_input(op, 0, i);
    if (op >= 4 && op <= 6 && size == 1) {
        return a; /* nothing is combined: the value stays what it is */
    }
    for (int r = 1; r < size; r++) {
        int b = reduce_input(op, r, i);
        switch (op) {
        case 0:
            a += b;
            break;
        case 1:
            a *= b;
            break;
        case 2:
            a = a > b ? a : b;
            break;
        case 3:
            a = a < b ? a : b;
            break;
        case 4:
            a = a && b;
            break;
        case 5:
            a = a || b;
            break;
        case 6:
            a = !a != !b;
            break;
        case 7:
            a &= b;
            break;
        case 8:
            a |= b;
            break;
        default:
            a ^= b;
        }
    }
    return a;
}

struct reduce_type {
    const char *name;
    MPI_Datatype type;
    int size;
    int kind; /* 0 signed or unsigned integer, 1 floating point */
};

enum { REDUCE_TYPES = 14 };

static struct reduce_type reduce_type(int t)
{
    const struct reduce_type types[REDUCE_TYPES] = {
        {"MPI_INT", MPI_INT, sizeof(int), 0},
        {"MPI_SIGNED_CHAR", MPI_SIGNED_CHAR, 1, 0},
        {"MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, 1, 0},
        {"MPI_SHORT", MPI_SHORT, sizeof(short), 0},
        {"MPI_UNSIGNED", MPI_UNSIGNED, sizeof(unsigned), 0},
        {"MPI_LONG", MPI_LONG, sizeof(long), 0},
        {"MPI_LONG_LONG", MPI_LONG_LONG, sizeof(long long), 0},
        {"MPI_INT8_T", MPI_INT8_T, 1, 0},
        {"MPI_UINT16_T", MPI_UINT16_T, 2, 0},
        {"MPI_INT64_T", MPI_INT64_T, 8, 0},
        {"MPI_UINT64_T", MPI_UINT64_T, 8, 0},
        {"MPI_FLOAT", MPI_FLOAT, sizeof(float), 1},
        {"MPI_DOUBLE", MPI_DOUBLE, sizeof(double), 1},
        {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, sizeof(long double), 1}};
    return types[t];
}

/* Bitwise operations are for integers only. */
static bool reduce_allowed(int op, const struct reduce_type *t)
{
    return t->kind == 0 || op < 4;
}

static void reduce_put(void *buf, const struct reduce_type *t, int i, int value)
{
    char *at = (char *)buf + (size_t)i * (size_t)t->size;
    if (t->kind == 0) {
        int64_t wide = value; /* little endian: the low bytes come first */
        memcpy(at, &wide, (size_t)t->size);
    } else if (t->type == MPI_FLOAT) {
        *(float *)(void *)at = (float)value;
    } else if (t->type == MPI_DOUBLE) {
        *(double *)(void *)at = value;
    } else {
        *(long double *)(void *)at = value;
    }
}

static int reduce_get(const void *buf, const struct reduce_type *t, int i)
{
    const char *at = (const char *)buf + (size_t)i * (size_t)t->size;
    if (t->kind == 0) {
        int64_t wide = 0;
        memcpy(&wide, at, (size_t)t->size);
        return (int)wide;
    }
    if (t->type == MPI_FLOAT) {
        return (int)*(const float *)(const void *)at;
    }
    if (t->type == MPI_DOUBLE) {
        return (int)*(const double *)(const void *)at;
    }
    return (int)*(const long double *)(const void *)at;
}

/* Checks count results; the first wrong one is reported. */
static void reduce_verify(const void *buf, const struct reduce_type *t, int op, int count)
{
    for (int i = 0; i < count; i++) {
        int got = reduce_get(buf, t, i), expected = reduce_expected(op, check.size, i);
        CHECK(got == expected, "%s of %d %s: element %d is %d, expected %d", reduce_names[op],
              count, t->name, i, got, expected);
        if (got != expected) {
            return;
        }
    }
}

#endif
