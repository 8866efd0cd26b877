// SPDX-License-Identifier: BSD-3-Clause
/*
 * Basic types as reductions distinguish them: the machine type of an element, and its group in
 * MPI 5.0, section 6.9.2. A C int and a Fortran INTEGER have the same machine type and are two
 * basic types, because the standard permits different operations on them.
 *
 * Invariant: a buffer of one basic type is an array of its machine type; pairs have the padding of
 * the C structs below.
 */
#ifndef WEFT_BASIC_TYPE_H
#define WEFT_BASIC_TYPE_H

#include <stdint.h>

enum weft_basic_type {
    WEFT_BASIC_NONE, /* no reduction: types for which the compiler has no arithmetic,
                        and derived datatypes of several basic types */
    /* C integers, by size */
    WEFT_BASIC_INT8,
    WEFT_BASIC_INT16,
    WEFT_BASIC_INT32,
    WEFT_BASIC_INT64,
    WEFT_BASIC_UINT8,
    WEFT_BASIC_UINT16,
    WEFT_BASIC_UINT32,
    WEFT_BASIC_UINT64,
    /* Fortran integer, by size in bytes */
    WEFT_BASIC_INTEGER1,
    WEFT_BASIC_INTEGER2,
    WEFT_BASIC_INTEGER4,
    WEFT_BASIC_INTEGER8,
    WEFT_BASIC_INTEGER16,
    WEFT_BASIC_ADDRESS, /* multi-language: MPI_AINT, MPI_COUNT, MPI_OFFSET; int64_t */
    /* floating point */
    WEFT_BASIC_FLOAT,
    WEFT_BASIC_DOUBLE,
    WEFT_BASIC_LONG_DOUBLE,
    WEFT_BASIC_REAL16,
    /* complex */
    WEFT_BASIC_FLOAT_COMPLEX,
    WEFT_BASIC_DOUBLE_COMPLEX,
    WEFT_BASIC_LONG_DOUBLE_COMPLEX,
    WEFT_BASIC_COMPLEX32,
    /* logical: _Bool, and Fortran logicals by size in bytes; non-zero is true, results are 0 or
     * 1 */
    WEFT_BASIC_BOOL,
    WEFT_BASIC_LOGICAL1,
    WEFT_BASIC_LOGICAL2,
    WEFT_BASIC_LOGICAL4,
    WEFT_BASIC_LOGICAL8,
    WEFT_BASIC_LOGICAL16,
    WEFT_BASIC_BYTE,
    /* text: MPI_CHAR and MPI_CHARACTER are reduced as a C integer, MPI_WCHAR and MPI_PACKED only
     * take MPI_REPLACE and MPI_NO_OP */
    WEFT_BASIC_CHAR,
    WEFT_BASIC_WCHAR,
    WEFT_BASIC_PACKED,
    /* value and index, for MINLOC and MAXLOC */
    WEFT_BASIC_FLOAT_INT,
    WEFT_BASIC_DOUBLE_INT,
    WEFT_BASIC_LONG_INT,
    WEFT_BASIC_2INT,
    WEFT_BASIC_SHORT_INT,
    WEFT_BASIC_LONG_DOUBLE_INT,
    WEFT_BASIC_2REAL,
    WEFT_BASIC_2DOUBLE_PRECISION,
    WEFT_BASIC_2INTEGER,
    WEFT_BASIC_KINDS /* number of basic types */
};

/* Fortran's default kinds in this ABI (MPI 5.0, 20.3): INTEGER, LOGICAL and REAL have 4 bytes,
 * DOUBLE PRECISION has 8. */
typedef int32_t weft_fortran_integer;
typedef int32_t weft_fortran_logical;
typedef float weft_fortran_real;
typedef double weft_fortran_double;

/* INTEGER(16), and REAL(16) as IEEE binary128, in buffers that may have a smaller alignment. */
typedef __int128 weft_integer16 __attribute__((aligned(1)));
typedef unsigned __int128 weft_unsigned16 __attribute__((aligned(1)));
#ifdef __clang__
typedef __float128 weft_real16 __attribute__((aligned(1)));
typedef _Complex __float128 weft_complex32 __attribute__((aligned(1)));
#else
typedef _Float128 weft_real16 __attribute__((aligned(1)));
typedef _Complex _Float128 weft_complex32 __attribute__((aligned(1)));
#endif

/* A value and its index, for MINLOC and MAXLOC. */
#define WEFT_PAIR(name, value_type, index_type)                                                    \
    struct name {                                                                                  \
        value_type value;                                                                          \
        index_type index;                                                                          \
    }
WEFT_PAIR(weft_float_int, float, int);
WEFT_PAIR(weft_double_int, double, int);
WEFT_PAIR(weft_long_int, long, int);
WEFT_PAIR(weft_2int, int, int);
WEFT_PAIR(weft_short_int, short, int);
WEFT_PAIR(weft_long_double_int, long double, int);
WEFT_PAIR(weft_2real, weft_fortran_real, weft_fortran_real);
WEFT_PAIR(weft_2double_precision, weft_fortran_double, weft_fortran_double);
WEFT_PAIR(weft_2integer, weft_fortran_integer, weft_fortran_integer);

#endif
