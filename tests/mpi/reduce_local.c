// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * MPI_Reduce_local with every predefined operation and type: what MPI 5.0 section 6.9.2 allows,
 * and characters, as other libraries accept them, give the right element and leave its neighbours
 * alone; all else is MPI_ERR_OP.
 */
#include "check.h"

#include <stddef.h>

enum group {
    C_INTEGER,
    FORTRAN_INTEGER,
    ADDRESS,
    FLOATING,
    COMPLEX,
    LOGICAL,
    BYTES,
    TEXT,
    PAIR,
    NONE
};

/* Groups of operations: which groups of types they take. */
#define TAKES(g) (1U << (g))
enum {
    INTEGER = TAKES(C_INTEGER) | TAKES(FORTRAN_INTEGER) | TAKES(ADDRESS) | TAKES(TEXT),
    ARITHMETIC = INTEGER | TAKES(FLOATING),
    BITWISE = INTEGER | TAKES(BYTES),
    BOOLEAN = INTEGER | TAKES(LOGICAL)
};

static const struct operation {
    MPI_Op op;
    const char *name;
    unsigned takes;
    int result; /* of 6 and 3; of true and false; of (6, 1) and (3, 2) the first of the pair */
} operations[] = {{MPI_MIN, "MPI_MIN", ARITHMETIC, 3},
                  {MPI_MAX, "MPI_MAX", ARITHMETIC, 6},
                  {MPI_SUM, "MPI_SUM", ARITHMETIC | TAKES(COMPLEX), 9},
                  {MPI_PROD, "MPI_PROD", ARITHMETIC | TAKES(COMPLEX), 18},
                  {MPI_BAND, "MPI_BAND", BITWISE, 2},
                  {MPI_BOR, "MPI_BOR", BITWISE, 7},
                  {MPI_BXOR, "MPI_BXOR", BITWISE, 5},
                  {MPI_LAND, "MPI_LAND", BOOLEAN, 1},
                  {MPI_LOR, "MPI_LOR", BOOLEAN, 1},
                  {MPI_LXOR, "MPI_LXOR", BOOLEAN, 0},
                  {MPI_MINLOC, "MPI_MINLOC", TAKES(PAIR), 3},
                  {MPI_MAXLOC, "MPI_MAXLOC", TAKES(PAIR), 6}};

/* Where a type's numbers are: one, or the two of a complex number or a pair. */
static const struct type {
    MPI_Datatype type;
    const char *name;
    enum group group;
    char first, second; /* 'i' integer, 'f' floating point, 0: none */
    size_t bytes, at, bytes2;
} types[] = {
#define ONE(type, group, form, bytes)                                                              \
    {                                                                                              \
        type, #type, group, form, 0, bytes, 0, 0                                                   \
    }
#define TWO(type, group, form, one, form2, two)                                                    \
    {                                                                                              \
        type, #type, group, form, form2, sizeof(one),                                              \
            offsetof(                                                                              \
                struct {                                                                           \
                    one a;                                                                         \
                    two b;                                                                         \
                },                                                                                 \
                b),                                                                                \
            sizeof(two)                                                                            \
    }
    ONE(MPI_SHORT, C_INTEGER, 'i', sizeof(short)),
    ONE(MPI_INT, C_INTEGER, 'i', sizeof(int)),
    ONE(MPI_LONG, C_INTEGER, 'i', sizeof(long)),
    ONE(MPI_LONG_LONG, C_INTEGER, 'i', sizeof(long long)),
    ONE(MPI_UNSIGNED_SHORT, C_INTEGER, 'i', sizeof(short)),
    ONE(MPI_UNSIGNED, C_INTEGER, 'i', sizeof(int)),
    ONE(MPI_UNSIGNED_LONG, C_INTEGER, 'i', sizeof(long)),
    ONE(MPI_UNSIGNED_LONG_LONG, C_INTEGER, 'i', sizeof(long long)),
    ONE(MPI_SIGNED_CHAR, C_INTEGER, 'i', 1),
    ONE(MPI_UNSIGNED_CHAR, C_INTEGER, 'i', 1),
    ONE(MPI_INT8_T, C_INTEGER, 'i', 1),
    ONE(MPI_INT16_T, C_INTEGER, 'i', 2),
    ONE(MPI_INT32_T, C_INTEGER, 'i', 4),
    ONE(MPI_INT64_T, C_INTEGER, 'i', 8),
    ONE(MPI_UINT8_T, C_INTEGER, 'i', 1),
    ONE(MPI_UINT16_T, C_INTEGER, 'i', 2),
    ONE(MPI_UINT32_T, C_INTEGER, 'i', 4),
    ONE(MPI_UINT64_T, C_INTEGER, 'i', 8),
    ONE(MPI_INTEGER, FORTRAN_INTEGER, 'i', 4),
    ONE(MPI_INTEGER1, FORTRAN_INTEGER, 'i', 1),
    ONE(MPI_INTEGER2, FORTRAN_INTEGER, 'i', 2),
    ONE(MPI_INTEGER4, FORTRAN_INTEGER, 'i', 4),
    ONE(MPI_INTEGER8, FORTRAN_INTEGER, 'i', 8),
    ONE(MPI_AINT, ADDRESS, 'i', sizeof(MPI_Aint)),
    ONE(MPI_COUNT, ADDRESS, 'i', sizeof(MPI_Count)),
    ONE(MPI_OFFSET, ADDRESS, 'i', sizeof(MPI_Offset)),
    ONE(MPI_FLOAT, FLOATING, 'f', sizeof(float)),
    ONE(MPI_DOUBLE, FLOATING, 'f', sizeof(double)),
    ONE(MPI_LONG_DOUBLE, FLOATING, 'f', sizeof(long double)),
    ONE(MPI_REAL, FLOATING, 'f', 4),
    ONE(MPI_DOUBLE_PRECISION, FLOATING, 'f', 8),
    ONE(MPI_REAL4, FLOATING, 'f', 4),
    ONE(MPI_REAL8, FLOATING, 'f', 8),
    TWO(MPI_C_FLOAT_COMPLEX, COMPLEX, 'f', float, 'f', float),
    TWO(MPI_C_DOUBLE_COMPLEX, COMPLEX, 'f', double, 'f', double),
    TWO(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, 'f', long double, 'f', long double),
    TWO(MPI_CXX_FLOAT_COMPLEX, COMPLEX, 'f', float, 'f', float),
    TWO(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, 'f', double, 'f', double),
    TWO(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, 'f', long double, 'f', long double),
    TWO(MPI_COMPLEX, COMPLEX, 'f', float, 'f', float),
    TWO(MPI_DOUBLE_COMPLEX, COMPLEX, 'f', double, 'f', double),
    TWO(MPI_COMPLEX8, COMPLEX, 'f', float, 'f', float),
    TWO(MPI_COMPLEX16, COMPLEX, 'f', double, 'f', double),
    ONE(MPI_C_BOOL, LOGICAL, 'i', sizeof(_Bool)),
    ONE(MPI_CXX_BOOL, LOGICAL, 'i', 1),
    ONE(MPI_LOGICAL, LOGICAL, 'i', 4),
    ONE(MPI_LOGICAL1, LOGICAL, 'i', 1),
    ONE(MPI_LOGICAL2, LOGICAL, 'i', 2),
    ONE(MPI_LOGICAL4, LOGICAL, 'i', 4),
    ONE(MPI_LOGICAL8, LOGICAL, 'i', 8),
    ONE(MPI_BYTE, BYTES, 'i', 1),
    TWO(MPI_FLOAT_INT, PAIR, 'f', float, 'i', int),
    TWO(MPI_DOUBLE_INT, PAIR, 'f', double, 'i', int),
    TWO(MPI_LONG_INT, PAIR, 'i', long, 'i', int),
    TWO(MPI_2INT, PAIR, 'i', int, 'i', int),
    TWO(MPI_SHORT_INT, PAIR, 'i', short, 'i', int),
    TWO(MPI_LONG_DOUBLE_INT, PAIR, 'f', long double, 'i', int),
    TWO(MPI_2REAL, PAIR, 'f', float, 'f', float),
    TWO(MPI_2DOUBLE_PRECISION, PAIR, 'f', double, 'f', double),
    TWO(MPI_2INTEGER, PAIR, 'i', int, 'i', int),
    ONE(MPI_CHAR, TEXT, 'i', 1),
    ONE(MPI_CHARACTER, TEXT, 'i', 1),
    ONE(MPI_WCHAR, NONE, 'i', 4),
    ONE(MPI_PACKED, NONE, 'i', 1)};

static void put(char form, void *at, size_t bytes, int value)
{
    long long whole = value;
    float single = (float)value;
    double twice = value;
    long double most = value;
    const void *from = form == 'i'  ? (void *)&whole
                       : bytes == 4 ? (void *)&single
                       : bytes == 8 ? (void *)&twice
                                    : (void *)&most;
    memcpy(at, from, bytes < sizeof most ? bytes : sizeof most);
}

static int get(char form, const void *at, size_t bytes)
{
    long long whole = 0;
    float single;
    double twice;
    long double most;
    if (form == 'i')
        return (int)*(long long *)memcpy(&whole, at, bytes);
    if (bytes == 4)
        return (int)*(float *)memcpy(&single, at, bytes);
    if (bytes == 8)
        return (int)*(double *)memcpy(&twice, at, bytes);
    return (int)*(long double *)memcpy(&most, at, sizeof most);
}

static void put_both(const struct type *t, char *at, int first, int second)
{
    put(t->first, at, t->bytes, first);
    if (t->second)
        put(t->second, at + t->at, t->bytes2, second);
}

static void reduce(const struct type *t, const struct operation *o)
{
    enum { MOST = 64 };
    char in[3 * MOST] = {0}, inout[3 * MOST] = {0}, before[3 * MOST];
    MPI_Aint lb, extent;
    MPI_Type_get_extent(t->type, &lb, &extent);
    bool logical = t->group == LOGICAL, complex_one = t->group == COMPLEX;
    for (int i = 0; i < 3; i++) {
        put_both(t, in + i * extent, logical ? 1 : 6, complex_one ? 0 : 1);
        put_both(t, inout + i * extent, logical ? 0 : 3, complex_one ? 0 : 2);
    }
    memcpy(before, inout, sizeof before);
    int code = MPI_Reduce_local(in + extent, inout + extent, 1, t->type, o->op);
    bool taken = o->takes & TAKES(t->group);
    CHECK(check_class(code) == (taken ? MPI_SUCCESS : MPI_ERR_OP), "%s of %s gave class %d",
          o->name, t->name, check_class(code));
    if (taken) {
        const char *at = inout + extent;
        int want = !logical ? o->result : o->op != MPI_LAND, got = get(t->first, at, t->bytes);
        CHECK(got == want, "%s of %s gave %d, not %d", o->name, t->name, got, want);
        if (t->group == PAIR)
            CHECK(get(t->second, at + t->at, t->bytes2) == (want == 6 ? 1 : 2),
                  "%s of %s has the wrong index", o->name, t->name);
    }
    for (int i = 0; i < 3; i += taken ? 2 : 1)
        CHECK(!memcmp(inout + i * extent, before + i * extent, (size_t)extent),
              "%s of %s changed element %d", o->name, t->name, i);
}

/* Of equal values the lower index wins, whichever side it is on. */
static void ties(void)
{
    struct {
        int value, index;
    } low = {4, 1}, high = {4, 9};
    MPI_Reduce_local(&low, &high, 1, MPI_2INT, MPI_MAXLOC);
    CHECK(high.value == 4 && high.index == 1, "MPI_MAXLOC of a tie gave index %d", high.index);
    high.index = 9;
    MPI_Reduce_local(&high, &low, 1, MPI_2INT, MPI_MINLOC);
    CHECK(low.value == 4 && low.index == 1, "MPI_MINLOC of a tie gave index %d", low.index);
}

/* Characters compare as the compiler's char does. */
static void signs(void)
{
    char in = (char)200, less = 3, more = 3;
    MPI_Reduce_local(&in, &less, 1, MPI_CHAR, MPI_MIN);
    MPI_Reduce_local(&in, &more, 1, MPI_CHAR, MPI_MAX);
    CHECK(less == (in < 3 ? in : 3) && more == (in < 3 ? 3 : in), "MPI_MIN gave %d, MPI_MAX %d",
          less, more);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (size_t o = 0; o < sizeof operations / sizeof operations[0]; o++)
            reduce(&types[t], &operations[o]);
    ties();
    signs();
    return check_done();
}
