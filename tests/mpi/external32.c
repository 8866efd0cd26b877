// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * MPI_Pack_external and MPI_Unpack_external: sizes and bytes of the standard's representation,
 * known values, and back again; of derived types too, and across the pieces in which it converts.
 */
#include "check.h"

#include <float.h>
#include <math.h>
#include <wchar.h>

static MPI_Aint size_of(MPI_Datatype type)
{
    MPI_Aint size = -1;
    MPI_Pack_external_size("external32", 1, type, &size);
    return size;
}

/* As in the tables "external32 sizes of predefined, optional and C++ datatypes" of MPI 5.0; pairs
 * are their members one after the other. */
static void sizes(void)
{
    const struct {
        MPI_Datatype type;
        MPI_Aint size;
    } known[] = {
        {MPI_PACKED, 1},
        {MPI_BYTE, 1},
        {MPI_CHAR, 1},
        {MPI_SIGNED_CHAR, 1},
        {MPI_UNSIGNED_CHAR, 1},
        {MPI_WCHAR, 2},
        {MPI_SHORT, 2},
        {MPI_UNSIGNED_SHORT, 2},
        {MPI_INT, 4},
        {MPI_UNSIGNED, 4},
        {MPI_LONG, 4},
        {MPI_UNSIGNED_LONG, 4},
        {MPI_LONG_LONG, 8},
        {MPI_LONG_LONG_INT, 8},
        {MPI_UNSIGNED_LONG_LONG, 8},
        {MPI_FLOAT, 4},
        {MPI_DOUBLE, 8},
        {MPI_LONG_DOUBLE, 16},
        {MPI_C_BOOL, 1},
        {MPI_INT8_T, 1},
        {MPI_INT16_T, 2},
        {MPI_INT32_T, 4},
        {MPI_INT64_T, 8},
        {MPI_UINT8_T, 1},
        {MPI_UINT16_T, 2},
        {MPI_UINT32_T, 4},
        {MPI_UINT64_T, 8},
        {MPI_AINT, 8},
        {MPI_COUNT, 8},
        {MPI_OFFSET, 8},
        {MPI_C_COMPLEX, 8},
        {MPI_C_FLOAT_COMPLEX, 8},
        {MPI_C_DOUBLE_COMPLEX, 16},
        {MPI_C_LONG_DOUBLE_COMPLEX, 32},
        {MPI_CXX_BOOL, 1},
        {MPI_CXX_FLOAT_COMPLEX, 8},
        {MPI_CXX_DOUBLE_COMPLEX, 16},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, 32},
        {MPI_CHARACTER, 1},
        {MPI_LOGICAL, 4},
        {MPI_INTEGER, 4},
        {MPI_REAL, 4},
        {MPI_DOUBLE_PRECISION, 8},
        {MPI_COMPLEX, 8},
        {MPI_DOUBLE_COMPLEX, 16},
        {MPI_LOGICAL1, 1},
        {MPI_LOGICAL2, 2},
        {MPI_LOGICAL4, 4},
        {MPI_LOGICAL8, 8},
        {MPI_INTEGER1, 1},
        {MPI_INTEGER2, 2},
        {MPI_INTEGER4, 4},
        {MPI_INTEGER8, 8},
        {MPI_REAL4, 4},
        {MPI_REAL8, 8},
        {MPI_COMPLEX8, 8},
        {MPI_COMPLEX16, 16},
        {MPI_FLOAT_INT, 8},
        {MPI_DOUBLE_INT, 12},
        {MPI_LONG_INT, 8},
        {MPI_2INT, 8},
        {MPI_SHORT_INT, 6},
        {MPI_LONG_DOUBLE_INT, 20},
        {MPI_2REAL, 8},
        {MPI_2DOUBLE_PRECISION, 16},
        {MPI_2INTEGER, 8},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK(size_of(known[i].type) == known[i].size, "type %zu has %ld bytes, not %ld", i,
              (long)size_of(known[i].type), (long)known[i].size);
}

/* Types that not every system has: no size at all, or the table's. */
static void optional_sizes(void)
{
    const struct {
        MPI_Datatype type;
        MPI_Aint size;
    } known[] = {{MPI_LOGICAL16, 16}, {MPI_INTEGER16, 16}, {MPI_REAL2, 2},
                 {MPI_REAL16, 16},    {MPI_COMPLEX4, 4},   {MPI_COMPLEX32, 32}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        int size = 0;
        check_errors_return();
        if (MPI_Type_size(known[i].type, &size) == MPI_SUCCESS && size != MPI_UNDEFINED && size > 0)
            CHECK(size_of(known[i].type) == known[i].size,
                  "optional type %zu has %ld bytes, not %ld", i, (long)size_of(known[i].type),
                  (long)known[i].size);
    }
}

static void check_kind(MPI_Datatype type, int bytes, int p, int r)
{
    CHECK(size_of(type) == bytes, "a kind of precision %d and range %d has %ld bytes, not %d", p, r,
          (long)size_of(type), bytes);
}

/* Fortran kinds: the standard derives their sizes from precision and range (MPI 5.0, 19.1.9). On
 * either side of each limit, and without one of the two. */
static void fortran_kinds(void)
{
    static const int ranges[] = {MPI_UNDEFINED, 0, 1, 36, 37, 38, 306, 307, 308, 4930, 4931};
    MPI_Datatype type;
    for (int r = 0; r <= 38; r++) {
        MPI_Type_create_f90_integer(r, &type);
        check_kind(type, r > 18 ? 16 : r > 9 ? 8 : r > 4 ? 4 : r > 2 ? 2 : 1, 0, r);
    }
    for (int precision = 0; precision <= 33; precision++)
        for (size_t i = precision ? 0 : 1; i < sizeof ranges / sizeof ranges[0]; i++) {
            int p = precision ? precision : MPI_UNDEFINED, r = ranges[i];
            int bytes = precision > 15 || (r != MPI_UNDEFINED && r > 307) ? 16
                        : precision > 6 || (r != MPI_UNDEFINED && r > 37) ? 8
                                                                          : 4;
            MPI_Type_create_f90_real(p, r, &type);
            check_kind(type, bytes, p, r);
            MPI_Type_create_f90_complex(p, r, &type);
            check_kind(type, 2 * bytes, p, r);
        }
}

/* Packs, compares with the bytes expected, unpacks, compares. */
static void both_ways(const char *what, const void *data, MPI_Datatype type, size_t bytes,
                      const char *expected, size_t n)
{
    char packed[64], back[64];
    MPI_Aint position = 0;
    memset(back, 0, sizeof back);
    MPI_Pack_external("external32", data, 1, type, packed, sizeof packed, &position);
    CHECK(position == (MPI_Aint)n && !memcmp(packed, expected, n), "%s is written wrongly", what);
    position = 0;
    MPI_Unpack_external("external32", packed, (MPI_Aint)n, &position, back, 1, type);
    CHECK(position == (MPI_Aint)n && !memcmp(back, data, bytes), "%s comes back wrongly", what);
}

static void values(void)
{
    int i = -2;
    long l = -3, most = 0x7fffffff;
    unsigned long u = 0xfedcba98;
    short s = 0x1234;
    double d = -1.5;
    float z[2] = {1, -2};
    wchar_t w = L'\u20ac';
    both_ways("an int", &i, MPI_INT, sizeof i, "\xff\xff\xff\xfe", 4);
    both_ways("a long", &l, MPI_LONG, sizeof l, "\xff\xff\xff\xfd", 4);
    both_ways("a long", &most, MPI_LONG, sizeof most, "\x7f\xff\xff\xff", 4);
    both_ways("an unsigned long", &u, MPI_UNSIGNED_LONG, sizeof u, "\xfe\xdc\xba\x98", 4);
    both_ways("a short", &s, MPI_SHORT, sizeof s, "\x12\x34", 2);
    both_ways("a double", &d, MPI_DOUBLE, sizeof d, "\xbf\xf8\0\0\0\0\0\0", 8);
    both_ways("a complex", z, MPI_C_FLOAT_COMPLEX, sizeof z, "\x3f\x80\0\0\xc0\0\0\0", 8);
    MPI_Aint place = -2;
    MPI_Count count = 0x0123456789abcdef;
    unsigned char truth = 1;
    long double three[2] = {3, -0.5L}; /* a significand of 1.1 in binary, exponents 1 and -1 */
    double numbers[2] = {0.15625, -2};
    struct {
        double value;
        int index;
    } pair = {1, 258};
    both_ways("an address", &place, MPI_AINT, sizeof place, "\xff\xff\xff\xff\xff\xff\xff\xfe", 8);
    both_ways("a count", &count, MPI_COUNT, sizeof count, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
    both_ways("a truth", &truth, MPI_C_BOOL, sizeof truth, "\x01", 1);
    both_ways("a Fortran integer", &i, MPI_INTEGER, sizeof i, "\xff\xff\xff\xfe", 4);
    both_ways("a Fortran complex", z, MPI_COMPLEX, sizeof z, "\x3f\x80\0\0\xc0\0\0\0", 8);
    both_ways("a double complex", numbers, MPI_C_DOUBLE_COMPLEX, sizeof numbers,
              "\x3f\xc4\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16);
    both_ways("a pair", &pair, MPI_DOUBLE_INT, sizeof(double) + sizeof(int),
              "\x3f\xf0\0\0\0\0\0\0\0\0\x01\x02", 12);
    char packed[32], expected[32] = "\x40\0\x80";
    memcpy(expected + 16, "\xbf\xfe", 2);
    MPI_Aint position = 0;
    MPI_Pack_external("external32", three, 1, MPI_C_LONG_DOUBLE_COMPLEX, packed, 32, &position);
    CHECK(position == 32 && !memcmp(packed, expected, 32), "a long double complex is wrong");
    both_ways("a wide character", &w, MPI_WCHAR, sizeof w, "\x20\xac", 2);
}

static void long_doubles(void)
{
    const long double numbers[] = {
        0.0L,  -0.0L, 1.0L, -2.5L, LDBL_MAX, LDBL_MIN, INFINITY, LDBL_MIN / 64, LDBL_EPSILON + 1,
        1e-30L};
    char packed[16];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        long double back = 7;
        MPI_Aint position = 0;
        MPI_Pack_external("external32", &numbers[i], 1, MPI_LONG_DOUBLE, packed, 16, &position);
        position = 0;
        MPI_Unpack_external("external32", packed, 16, &position, &back, 1, MPI_LONG_DOUBLE);
        CHECK(back == numbers[i] && signbit(back) == signbit(numbers[i]),
              "long double %zu comes back as %Lg", i, back);
    }
    long double nan = NAN, back = 0;
    MPI_Aint position = 0;
    MPI_Pack_external("external32", &nan, 1, MPI_LONG_DOUBLE, packed, 16, &position);
    position = 0;
    MPI_Unpack_external("external32", packed, 16, &position, &back, 1, MPI_LONG_DOUBLE);
    CHECK(isnan(back), "a NaN comes back as %Lg", back);
    static const char one_and_half[16] = "\x3f\xff\x80";
    long double x = 1.5L;
    position = 0;
    MPI_Pack_external("external32", &x, 1, MPI_LONG_DOUBLE, packed, 16, &position);
    CHECK(!memcmp(packed, one_and_half, 16), "1.5 is written wrongly");
}

/* A struct of everything with holes, many of them. */
static void derived(void)
{
    enum { N = 3000 };
    struct record {
        char c;
        long l;
        double d[2];
        short s;
    };
    int lengths[] = {1, 1, 2, 1};
    MPI_Aint places[] = {offsetof(struct record, c), offsetof(struct record, l),
                         offsetof(struct record, d), offsetof(struct record, s)};
    MPI_Datatype types[] = {MPI_CHAR, MPI_LONG, MPI_DOUBLE, MPI_SHORT}, type;
    struct record *out = check_alloc(N * sizeof *out), *in = check_alloc(N * sizeof *in);
    MPI_Count size = 0, position = 0;
    memset(out, CHECK_GUARD_BYTE, N * sizeof *out);
    memset(in, CHECK_GUARD_BYTE, N * sizeof *in);
    MPI_Type_create_struct(4, lengths, places, types, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < N; i++) {
        out[i].c = (char)i;
        out[i].l = 1000 - i;
        out[i].d[0] = i / 3.0;
        out[i].d[1] = -i;
        out[i].s = (short)(i * 7);
    }
    MPI_Pack_external_size_c("external32", N, type, &size);
    CHECK(size == N * (1 + 4 + 16 + 2), "the records take %lld bytes", (long long)size);
    char *packed = check_alloc((size_t)size);
    MPI_Pack_external_c("external32", out, N, type, packed, size, &position);
    CHECK(position == size, "the position is %lld", (long long)position);
    position = 0;
    MPI_Unpack_external_c("external32", packed, size, &position, in, N, type);
    CHECK(position == size, "the position is %lld", (long long)position);
    CHECK(!memcmp(in, out, N * sizeof *in), "the records come back wrongly");
    MPI_Type_free(&type);
    free(out);
    free(in);
    free(packed);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    sizes();
    optional_sizes();
    fortran_kinds();
    values();
    long_doubles();
    derived();
    return check_done();
}
