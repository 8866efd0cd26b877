// SPDX-License-Identifier: BSD-3-Clause
/*
 * The basic element kinds that reductions know: what one element is in memory, and which group of
 * MPI 5.0 section 6.9.2 it belongs to. Two kinds may be the same bytes (a C int and a Fortran
 * INTEGER) and still differ, because the standard allows different operations on them.
 *
 * Invariant: a kind fixes the machine type, so buffers of one kind are arrays of that type: pair
 * kinds lie in them with the padding of the C structs below.
 */
#ifndef WEFT_BASIC_TYPE_H
#define WEFT_BASIC_TYPE_H

#include <stddef.h>
#include <stdint.h>

enum weft_basic_type {
    WEFT_BASIC_NONE, /* no reduction: MPI_PACKED, what this compiler has no arithmetic for, and
                       derived datatypes of more than one kind */
    /* C integer, by size: int, long and so on are the one of their size */
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
    /* logical: _Bool, and Fortran logicals by size in bytes; any non-zero value is true, the
       result of an operation is 0 or 1 */
    WEFT_BASIC_BOOL,
    WEFT_BASIC_LOGICAL1,
    WEFT_BASIC_LOGICAL2,
    WEFT_BASIC_LOGICAL4,
    WEFT_BASIC_LOGICAL8,
    WEFT_BASIC_LOGICAL16,
    WEFT_BASIC_BYTE,
    /* text: can be replaced, not computed with */
    WEFT_BASIC_CHAR,
    WEFT_BASIC_WCHAR,
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
    WEFT_BASIC_KINDS /* how many there are */
};

/* Fortran's default kinds as this ABI build fixes them (MPI 5.0, 20.3): INTEGER, LOGICAL and REAL
 * have 4 bytes, DOUBLE PRECISION has 8. */
typedef int32_t weft_fortran_integer;
typedef int32_t weft_fortran_logical;
typedef float weft_fortran_real;
typedef double weft_fortran_double;

/* Numbers of 16 bytes: an INTEGER(16) and the IEEE format binary128 of a REAL(16), in buffers that may
 * be aligned to less. */
typedef __int128 weft_integer16 __attribute__((aligned(1)));
typedef unsigned __int128 weft_unsigned16 __attribute__((aligned(1)));
#ifdef __clang__
typedef __float128 weft_real16 __attribute__((aligned(1)));
typedef _Complex __float128 weft_complex32 __attribute__((aligned(1)));
#else
typedef _Float128 weft_real16 __attribute__((aligned(1)));
typedef _Complex _Float128 weft_complex32 __attribute__((aligned(1)));
#endif

struct weft_float_int {
    float value;
    int index;
};
struct weft_double_int {
    double value;
    int index;
};
struct weft_long_int {
    long value;
    int index;
};
struct weft_2int {
    int value, index;
};
struct weft_short_int {
    short value;
    int index;
};
struct weft_long_double_int {
    long double value;
    int index;
};
struct weft_2real {
    weft_fortran_real value, index;
};
struct weft_2double_precision {
    weft_fortran_double value, index;
};
struct weft_2integer {
    weft_fortran_integer value, index;
};

#endif
