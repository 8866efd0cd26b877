// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of predefined datatypes.
 *
 * Invariant: sizes, alignments and offsets of C types come from the compiler. A type without a C
 * type takes its size from its handle value, which encodes it.
 */
#include "core/datatype/predefined_types.h"
#include "mpi.h"

#include <complex.h>
#include <stdbool.h>
#include <wchar.h>

/* The value of a handle constant. ISO C does not allow a cast from pointer to integer in a constant
 * expression; gcc and clang do. */
#define VALUE(name) ((uint16_t)(uintptr_t)(name))

/* Bytes of a fixed-size type: bits 3 to 5 of the handle are their binary logarithm. */
#define ENCODED(name) (UINT32_C(1) << ((VALUE(name) >> 3) & 7))

/* The integer kind of a C type, by its size. */
#define SIGNED(type)                                                                               \
    (sizeof(type) == 1   ? WEFT_BASIC_INT8                                                         \
     : sizeof(type) == 2 ? WEFT_BASIC_INT16                                                        \
     : sizeof(type) == 4 ? WEFT_BASIC_INT32                                                        \
                         : WEFT_BASIC_INT64)
#define UNSIGNED(type)                                                                             \
    (sizeof(type) == 1   ? WEFT_BASIC_UINT8                                                        \
     : sizeof(type) == 2 ? WEFT_BASIC_UINT16                                                       \
     : sizeof(type) == 4 ? WEFT_BASIC_UINT32                                                       \
                         : WEFT_BASIC_UINT64)

/* A row for a type that is one C type. */
#define PLAIN(name, type, basic_type)                                                              \
    {                                                                                              \
        VALUE(name), #name, sizeof(type), sizeof(type), _Alignof(type), basic_type, 0,             \
            sizeof(type), 0                                                                        \
    }

/* A row for a fixed-size type. A complex type is aligned as its components, at most to 16 bytes. */
#define SIZED(name, align, basic_type)                                                             \
    {                                                                                              \
        VALUE(name), #name, ENCODED(name), ENCODED(name), align, basic_type, 0, ENCODED(name), 0   \
    }

/* A row for a value and its index. */
#define PAIR(name, type, basic_type)                                                               \
    {                                                                                              \
        VALUE(name), #name, sizeof((type){0}.value) + sizeof((type){0}.index), sizeof(type),       \
            _Alignof(type), basic_type, offsetof(type, index), sizeof((type){0}.value),            \
            sizeof((type){0}.index)                                                                \
    }

_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8,
               "WEFT_BASIC_ADDRESS is int64_t");
_Static_assert(sizeof(bool) == 1, "WEFT_BASIC_BOOL is one byte");

const struct weft_predefined_type weft_predefined_types[] = {
    PLAIN(MPI_AINT, MPI_Aint, WEFT_BASIC_ADDRESS),
    PLAIN(MPI_COUNT, MPI_Count, WEFT_BASIC_ADDRESS),
    PLAIN(MPI_OFFSET, MPI_Offset, WEFT_BASIC_ADDRESS),
    PLAIN(MPI_PACKED, char, WEFT_BASIC_PACKED),
    PLAIN(MPI_SHORT, short, SIGNED(short)),
    PLAIN(MPI_INT, int, SIGNED(int)),
    PLAIN(MPI_LONG, long, SIGNED(long)),
    PLAIN(MPI_LONG_LONG_INT, long long, SIGNED(long long)),
    PLAIN(MPI_UNSIGNED_SHORT, unsigned short, UNSIGNED(unsigned short)),
    PLAIN(MPI_UNSIGNED, unsigned, UNSIGNED(unsigned)),
    PLAIN(MPI_UNSIGNED_LONG, unsigned long, UNSIGNED(unsigned long)),
    PLAIN(MPI_UNSIGNED_LONG_LONG, unsigned long long, UNSIGNED(unsigned long long)),
    PLAIN(MPI_FLOAT, float, WEFT_BASIC_FLOAT),
    PLAIN(MPI_C_COMPLEX, float complex, WEFT_BASIC_FLOAT_COMPLEX),
    PLAIN(MPI_CXX_FLOAT_COMPLEX, float complex, WEFT_BASIC_FLOAT_COMPLEX),
    PLAIN(MPI_DOUBLE, double, WEFT_BASIC_DOUBLE),
    PLAIN(MPI_C_DOUBLE_COMPLEX, double complex, WEFT_BASIC_DOUBLE_COMPLEX),
    PLAIN(MPI_CXX_DOUBLE_COMPLEX, double complex, WEFT_BASIC_DOUBLE_COMPLEX),
    PLAIN(MPI_LOGICAL, weft_fortran_logical, WEFT_BASIC_LOGICAL4),
    PLAIN(MPI_INTEGER, weft_fortran_integer, WEFT_BASIC_INTEGER4),
    PLAIN(MPI_REAL, weft_fortran_real, WEFT_BASIC_FLOAT),
    PLAIN(MPI_COMPLEX, float complex, WEFT_BASIC_FLOAT_COMPLEX),
    PLAIN(MPI_DOUBLE_PRECISION, weft_fortran_double, WEFT_BASIC_DOUBLE),
    PLAIN(MPI_DOUBLE_COMPLEX, double complex, WEFT_BASIC_DOUBLE_COMPLEX),
    PLAIN(MPI_CHARACTER, char, WEFT_BASIC_CHAR),
    PLAIN(MPI_LONG_DOUBLE, long double, WEFT_BASIC_LONG_DOUBLE),
    PLAIN(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, WEFT_BASIC_LONG_DOUBLE_COMPLEX),
    PLAIN(MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex, WEFT_BASIC_LONG_DOUBLE_COMPLEX),
    PAIR(MPI_FLOAT_INT, struct weft_float_int, WEFT_BASIC_FLOAT_INT),
    PAIR(MPI_DOUBLE_INT, struct weft_double_int, WEFT_BASIC_DOUBLE_INT),
    PAIR(MPI_LONG_INT, struct weft_long_int, WEFT_BASIC_LONG_INT),
    PAIR(MPI_2INT, struct weft_2int, WEFT_BASIC_2INT),
    PAIR(MPI_SHORT_INT, struct weft_short_int, WEFT_BASIC_SHORT_INT),
    PAIR(MPI_LONG_DOUBLE_INT, struct weft_long_double_int, WEFT_BASIC_LONG_DOUBLE_INT),
    PAIR(MPI_2REAL, struct weft_2real, WEFT_BASIC_2REAL),
    PAIR(MPI_2DOUBLE_PRECISION, struct weft_2double_precision, WEFT_BASIC_2DOUBLE_PRECISION),
    PAIR(MPI_2INTEGER, struct weft_2integer, WEFT_BASIC_2INTEGER),
    PLAIN(MPI_C_BOOL, bool, WEFT_BASIC_BOOL),
    PLAIN(MPI_CXX_BOOL, bool, WEFT_BASIC_BOOL),
    PLAIN(MPI_WCHAR, wchar_t, WEFT_BASIC_WCHAR),
    PLAIN(MPI_INT8_T, int8_t, WEFT_BASIC_INT8),
    PLAIN(MPI_UINT8_T, uint8_t, WEFT_BASIC_UINT8),
    PLAIN(MPI_CHAR, char, WEFT_BASIC_CHAR),
    PLAIN(MPI_SIGNED_CHAR, signed char, SIGNED(signed char)),
    PLAIN(MPI_UNSIGNED_CHAR, unsigned char, UNSIGNED(unsigned char)),
    PLAIN(MPI_BYTE, unsigned char, WEFT_BASIC_BYTE),
    PLAIN(MPI_INT16_T, int16_t, WEFT_BASIC_INT16),
    PLAIN(MPI_UINT16_T, uint16_t, WEFT_BASIC_UINT16),
    PLAIN(MPI_INT32_T, int32_t, WEFT_BASIC_INT32),
    PLAIN(MPI_UINT32_T, uint32_t, WEFT_BASIC_UINT32),
    PLAIN(MPI_INT64_T, int64_t, WEFT_BASIC_INT64),
    PLAIN(MPI_UINT64_T, uint64_t, WEFT_BASIC_UINT64),
    SIZED(MPI_LOGICAL1, 1, WEFT_BASIC_LOGICAL1),
    SIZED(MPI_INTEGER1, 1, WEFT_BASIC_INTEGER1),
    SIZED(MPI_LOGICAL2, 2, WEFT_BASIC_LOGICAL2),
    SIZED(MPI_INTEGER2, 2, WEFT_BASIC_INTEGER2),
    SIZED(MPI_REAL2, 2, WEFT_BASIC_NONE),
    SIZED(MPI_LOGICAL4, 4, WEFT_BASIC_LOGICAL4),
    SIZED(MPI_INTEGER4, 4, WEFT_BASIC_INTEGER4),
    SIZED(MPI_REAL4, 4, WEFT_BASIC_FLOAT),
    SIZED(MPI_COMPLEX4, 2, WEFT_BASIC_NONE),
    SIZED(MPI_LOGICAL8, 8, WEFT_BASIC_LOGICAL8),
    SIZED(MPI_INTEGER8, 8, WEFT_BASIC_INTEGER8),
    SIZED(MPI_REAL8, 8, WEFT_BASIC_DOUBLE),
    SIZED(MPI_COMPLEX8, 4, WEFT_BASIC_FLOAT_COMPLEX),
    SIZED(MPI_LOGICAL16, 16, WEFT_BASIC_LOGICAL16),
    SIZED(MPI_INTEGER16, 16, WEFT_BASIC_INTEGER16),
    SIZED(MPI_REAL16, 16, WEFT_BASIC_REAL16),
    SIZED(MPI_COMPLEX16, 8, WEFT_BASIC_DOUBLE_COMPLEX),
    SIZED(MPI_COMPLEX32, 16, WEFT_BASIC_COMPLEX32),
};

const size_t weft_predefined_types_count =
    sizeof weft_predefined_types / sizeof weft_predefined_types[0];
