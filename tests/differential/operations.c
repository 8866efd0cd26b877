// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every predefined operation on every predefined datatype, in each call that takes an operation:
 *
 *     operations FIRST COUNT
 *
 * Runs the numbered combinations of call, operation and datatype on two ranks, and prints for each
 * "seed N: result (name)": the result is "error", or a hash of the elements that came out. For
 * tests/differential/run, which compares the lines of the libraries.
 *
 * A window is only tried with what MPI_Reduce_local accepts, and logical operations on real numbers
 * not at all, because some libraries end the job there. Logical values are 0 and 1, since other
 * values have no defined result; numbers are small multiples of 1/4, or integers of both signs.
 * Unsigned integers, MPI_CHARACTER and MPI_OFFSET are small: some libraries compare unsigned ones
 * as signed, and the others as unsigned.
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Datatypes that a library may lack. */
#define NONE MPI_DATATYPE_NULL
#ifndef MPI_LOGICAL1
#define MPI_LOGICAL1 NONE
#endif
#ifndef MPI_LOGICAL2
#define MPI_LOGICAL2 NONE
#endif
#ifndef MPI_LOGICAL4
#define MPI_LOGICAL4 NONE
#endif
#ifndef MPI_LOGICAL8
#define MPI_LOGICAL8 NONE
#endif
#ifndef MPI_INTEGER16
#define MPI_INTEGER16 NONE
#endif
#ifndef MPI_REAL2
#define MPI_REAL2 NONE
#endif
#ifndef MPI_CXX_BOOL
#define MPI_CXX_BOOL NONE
#endif
#ifndef MPI_CXX_FLOAT_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX NONE
#endif
#ifndef MPI_CXX_DOUBLE_COMPLEX
#define MPI_CXX_DOUBLE_COMPLEX NONE
#endif
#ifndef MPI_CXX_LONG_DOUBLE_COMPLEX
#define MPI_CXX_LONG_DOUBLE_COMPLEX NONE
#endif

enum { ELEMENTS = 12, MOST = 32 * ELEMENTS };
enum class { INTEGER, NATURAL, LOGICAL, REAL, COMPLEX, PAIR };

static struct {
    MPI_Datatype type;
    const char *name;
    enum class class;
} types[96];
static int ntypes;

static void add_type(MPI_Datatype type, const char *name, enum class class)
{
    types[ntypes].type = type;
    types[ntypes].name = name;
    types[ntypes++].class = class;
}

#define ADD(class, name) add_type(MPI_##name, #name, class)

static void list_types(void)
{
    ADD(INTEGER, CHAR);
    ADD(INTEGER, WCHAR);
    ADD(NATURAL, CHARACTER);
    ADD(INTEGER, SIGNED_CHAR);
    ADD(NATURAL, UNSIGNED_CHAR);
    ADD(INTEGER, SHORT);
    ADD(NATURAL, UNSIGNED_SHORT);
    ADD(INTEGER, INT);
    ADD(NATURAL, UNSIGNED);
    ADD(INTEGER, LONG);
    ADD(NATURAL, UNSIGNED_LONG);
    ADD(INTEGER, LONG_LONG_INT);
    ADD(NATURAL, UNSIGNED_LONG_LONG);
    ADD(INTEGER, INT8_T);
    ADD(INTEGER, INT16_T);
    ADD(INTEGER, INT32_T);
    ADD(INTEGER, INT64_T);
    ADD(NATURAL, UINT8_T);
    ADD(NATURAL, UINT16_T);
    ADD(NATURAL, UINT32_T);
    ADD(NATURAL, UINT64_T);
    ADD(INTEGER, AINT);
    ADD(INTEGER, COUNT);
    ADD(NATURAL, OFFSET);
    ADD(INTEGER, BYTE);
    ADD(INTEGER, PACKED);
    ADD(INTEGER, INTEGER);
    ADD(INTEGER, INTEGER1);
    ADD(INTEGER, INTEGER2);
    ADD(INTEGER, INTEGER4);
    ADD(INTEGER, INTEGER8);
    ADD(INTEGER, INTEGER16);
    ADD(LOGICAL, C_BOOL);
    ADD(LOGICAL, CXX_BOOL);
    ADD(LOGICAL, LOGICAL);
    ADD(LOGICAL, LOGICAL1);
    ADD(LOGICAL, LOGICAL2);
    ADD(LOGICAL, LOGICAL4);
    ADD(LOGICAL, LOGICAL8);
    ADD(REAL, FLOAT);
    ADD(REAL, DOUBLE);
    ADD(REAL, LONG_DOUBLE);
    ADD(REAL, REAL);
    ADD(REAL, DOUBLE_PRECISION);
    ADD(REAL, REAL4);
    ADD(REAL, REAL8);
    ADD(COMPLEX, C_FLOAT_COMPLEX);
    ADD(COMPLEX, C_DOUBLE_COMPLEX);
    ADD(COMPLEX, C_LONG_DOUBLE_COMPLEX);
    ADD(COMPLEX, CXX_FLOAT_COMPLEX);
    ADD(COMPLEX, CXX_DOUBLE_COMPLEX);
    ADD(COMPLEX, CXX_LONG_DOUBLE_COMPLEX);
    ADD(COMPLEX, COMPLEX);
    ADD(COMPLEX, DOUBLE_COMPLEX);
    ADD(COMPLEX, COMPLEX8);
    ADD(COMPLEX, COMPLEX16);
    ADD(PAIR, FLOAT_INT);
    ADD(PAIR, DOUBLE_INT);
    ADD(PAIR, LONG_INT);
    ADD(PAIR, 2INT);
    ADD(PAIR, SHORT_INT);
    ADD(PAIR, LONG_DOUBLE_INT);
    ADD(PAIR, 2REAL);
    ADD(PAIR, 2DOUBLE_PRECISION);
    ADD(PAIR, 2INTEGER);
}

enum { OPS = 14, CALLS = 6 };
static const char *const op_names[OPS] = {"SUM",    "PROD",   "MIN",     "MAX",  "LAND",
                                          "LOR",    "LXOR",   "BAND",    "BOR",  "BXOR",
                                          "MINLOC", "MAXLOC", "REPLACE", "NO_OP"};
enum call { ALLREDUCE, REDUCE_LOCAL, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP };
static const char *const call_names[CALLS] = {"Allreduce",      "Reduce_local", "Accumulate",
                                              "Get_accumulate", "Fetch_and_op", "Compare_and_swap"};
static int rank;
static MPI_Win window;
static char *memory; /* of the window */

static void put_integer(char *at, size_t bytes, int value)
{
    memset(at, value < 0 ? 0xff : 0, bytes);
    memcpy(at, &value, bytes < sizeof value ? bytes : sizeof value);
}

static void put_real(char *at, size_t bytes, double value)
{
    float narrow = (float)value;
    long double wide = value;
    if (bytes == sizeof narrow)
        memcpy(at, &narrow, sizeof narrow);
    else if (bytes == sizeof value)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &wide, 10);
}

/* A value and its index, whose C struct the datatype describes. */
static void put_pair(char *at, const char *name, int value, int index)
{
    bool is_long = !strcmp(name, "LONG_INT"), is_short = !strcmp(name, "SHORT_INT");
    if (is_long || is_short || name[1] == 'I') {
        size_t bytes = is_long ? sizeof(long) : is_short ? sizeof(short) : sizeof(int);
        put_integer(at, bytes, value);
        put_integer(at + (is_long ? sizeof(long) : sizeof(int)), sizeof(int), index);
        return;
    }
    size_t bytes = !strncmp(name, "LONG", 4)             ? sizeof(long double)
                   : strchr(name, 'F') || name[1] == 'R' ? sizeof(float)
                                                         : sizeof(double);
    put_real(at, bytes, value);
    if (name[0] == '2')
        put_real(at + bytes, bytes, index);
    else
        put_integer(at + bytes, sizeof(int), index);
}

/* The elements of an operand: 0 or 1. Padding keeps its bytes. */
static void fill(char *at, int type, size_t extent, int operand)
{
    static const int values[2][ELEMENTS] = {{3, -5, 0, 1, 100, -128, 7, 0, 127, -1, 2, 6},
                                            {4, 2, 0, -1, 27, 1, 7, 9, 127, 5, -2, 6}};
    for (int i = 0; i < ELEMENTS; i++, at += extent) {
        int value = values[operand][i];
        switch (types[type].class) {
        case INTEGER:
            put_integer(at, extent, value);
            break;
        case NATURAL:
            put_integer(at, extent, abs(value) % 128);
            break;
        case LOGICAL:
            put_integer(at, extent, (i + operand * (i / 2)) % 2);
            break;
        case REAL:
            put_real(at, extent, value / 4.0);
            break;
        case COMPLEX:
            put_real(at, extent / 2, value / 4.0);
            put_real(at + extent / 2, extent / 2, value / 2.0 - 1);
            break;
        case PAIR:
            put_pair(at, types[type].name, value, (i + operand) % 3);
        }
    }
}

/* Rank 0 operates on its own window, which has the second operand: what an operation accepts does
 * not depend on the target, and two ranks that share a processor take turns slowly. */
static int operate(enum call call, MPI_Op op, int type, size_t extent, char *in, char *result)
{
    MPI_Datatype t = types[type].type;
    _Alignas(16) char compare[MOST] = {0};
    int code;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    memset(memory, 0, MOST);
    fill(memory, type, extent, 1);
    switch (call) {
    case ACCUMULATE:
        code = MPI_Accumulate(in, ELEMENTS, t, 0, 0, ELEMENTS, t, op, window);
        break;
    case GET_ACCUMULATE:
        code =
            MPI_Get_accumulate(in, ELEMENTS, t, result, ELEMENTS, t, 0, 0, ELEMENTS, t, op, window);
        break;
    case FETCH_AND_OP:
        code = MPI_Fetch_and_op(in, result, t, 0, 0, op, window);
        break;
    default:
        fill(compare, type, extent, 1);
        code = MPI_Compare_and_swap(in, compare, result, t, 0, 0, window);
    }
    MPI_Win_unlock(0, window);
    return code;
}

/* Clears the padding of elements, which is what fill() leaves alone. */
static void clear_padding(char *elements, int type, size_t extent)
{
    char zeros[MOST] = {0}, ones[MOST];
    memset(ones, 0xff, sizeof ones);
    fill(zeros, type, extent, 0);
    fill(ones, type, extent, 0);
    for (size_t i = 0; i < MOST; i++)
        elements[i] = (char)(zeros[i] == ones[i] ? elements[i] : 0);
}

static uint64_t hash(const char *bytes, uint64_t h)
{
    for (size_t i = 0; i < MOST; i++)
        h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
    return h;
}

static bool is_logical(MPI_Op op)
{
    return op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
}

/* Returns false for an error; else *result is the hash of the result buffer and the window. */
static bool run(enum call call, MPI_Op op, int type, uint64_t *result)
{
    MPI_Datatype t = types[type].type;
    MPI_Aint lower = 0, extent = 0;
    _Alignas(16) char in[MOST] = {0};
    _Alignas(16) char out[MOST] = {0};
    _Alignas(16) char target[MOST] = {0};
    int code = 1, size = 0;
    if (t == MPI_DATATYPE_NULL || (types[type].class == REAL && is_logical(op)))
        return false;
    MPI_Type_get_extent(t, &lower, &extent);
    MPI_Type_size(t, &size);
    if (size <= 0 || extent <= 0)
        return false;
    fill(in, type, (size_t)extent, rank);
    fill(out, type, (size_t)extent, 1);
    switch (call) {
    case ALLREDUCE:
        code = MPI_Allreduce(in, out, ELEMENTS, t, op, MPI_COMM_WORLD);
        break;
    case REDUCE_LOCAL:
        fill(in, type, (size_t)extent, 0);
        code = MPI_Reduce_local(in, out, ELEMENTS, t, op);
        break;
    default:
#ifdef OPEN_MPI /* Open MPI 4 crashes in MPI_Compare_and_swap of 8 bytes */
        if (call == COMPARE_AND_SWAP && (types[type].class > LOGICAL || extent == 8))
            return false;
#endif
        if (call != COMPARE_AND_SWAP && op != MPI_REPLACE && op != MPI_NO_OP &&
            MPI_Reduce_local(in, target, ELEMENTS, t, op) != MPI_SUCCESS)
            return false;
        code = operate(call, op, type, (size_t)extent, in, out);
        memcpy(target, memory, MOST);
    }
    clear_padding(out, type, (size_t)extent);
    clear_padding(target, type, (size_t)extent);
    *result = hash(target, hash(out, 14695981039346656037u));
    return code == MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const MPI_Op ops[OPS] = {MPI_SUM,    MPI_PROD,   MPI_MIN,     MPI_MAX,  MPI_LAND,
                             MPI_LOR,    MPI_LXOR,   MPI_BAND,    MPI_BOR,  MPI_BXOR,
                             MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    int first = argc > 1 ? atoi(argv[1]) : 0, count = argc > 2 ? atoi(argv[2]) : 1 << 20;
    list_types();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    for (int i = first; i < first + count && i < CALLS * OPS * ntypes; i++) {
        int call = i / OPS / ntypes, op = i / ntypes % OPS, type = i % ntypes;
        uint64_t result = 0;
        if (call == COMPARE_AND_SWAP && op)
            break; /* it takes no operation */
        if (rank && call > REDUCE_LOCAL)
            continue;
        bool good = run((enum call)call, ops[op], type, &result);
        if (rank == 0 && good)
            printf("seed %d: %016llx (%s %s %s)\n", i, (unsigned long long)result, call_names[call],
                   op_names[op], types[type].name);
        else if (rank == 0)
            printf("seed %d: error (%s %s %s)\n", i, call_names[call], op_names[op],
                   types[type].name);
        fflush(stdout);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
