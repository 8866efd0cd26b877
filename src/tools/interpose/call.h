// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls of a program, as a tool (check, profile, trace) sees them.
 *
 * A tool is a shared library that weftrun preloads. It has a wrapper for each function of
 * functions.tsv (abi/interpose.py writes them). A wrapper puts the arguments into a struct
 * weft_call, calls weft_call_begin of the tool, the next definition of the function, and
 * weft_call_end. Nothing in libmpi_abi refers to a tool: without the preload no instruction
 * differs.
 *
 * Names. A program of the standard ABI and libmpifort_abi call MPI_X. The front ends, and above
 * them the Fortran libraries of Open MPI and MPICH, call weft_abi_X, because MPI_X and PMPI_X are
 * their own names with other types. So each tool is linked twice from the same objects:
 * libweft_<tool>.so defines MPI_X, libweft_<tool>_front.so defines weft_abi_X; weftrun preloads the
 * one that fits the program. A wrapper calls the definition of the same name that follows in the
 * loader's order (RTLD_NEXT): that of another tool, of a profiler on PMPI, or of libmpi_abi, which
 * the tool is linked with, so that it is in the global scope also when an interpreter loads MPI for
 * itself. What a program calls as PMPI_X is not seen.
 *
 * The tables state what each parameter means, so that a tool handles most functions by their kinds
 * and few by their names.
 *
 * Callbacks of the program (attributes, error handlers, operations) run inside the next definition,
 * and the calls that they make are seen like all others. Between weft_call_begin and weft_call_end
 * a tool holds no lock.
 *
 * Invariant: values of parameters are read with the functions below, which use the widths of the
 * table, never by their C types.
 */
#ifndef WEFT_TOOLS_CALL_H
#define WEFT_TOOLS_CALL_H

#include "calls.h" /* made by abi/interpose.py */
#include "mpi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of the column `does` of functions.tsv. */
enum weft_does {
    WEFT_DOES_SEND = 1 << 0,
    WEFT_DOES_RECEIVE = 1 << 1,
    WEFT_DOES_EXCHANGE = 1 << 2,
    WEFT_DOES_PROBE = 1 << 3,
    WEFT_DOES_RMA = 1 << 4,
    WEFT_DOES_FILE = 1 << 5,
    WEFT_DOES_EPOCH = 1 << 6,
    WEFT_DOES_START = 1 << 7,
    WEFT_DOES_COMPLETE = 1 << 8,
    WEFT_DOES_COLLECTIVE = 1 << 9,
    WEFT_DOES_LOCAL = 1 << 10,
    WEFT_DOES_NONBLOCKING = 1 << 11,
    WEFT_DOES_PERSISTENT = 1 << 12,
    WEFT_DOES_BEGIN = 1 << 13,
    WEFT_DOES_END = 1 << 14,
};

/* Kinds of parameters; WEFT_PARAMETER_OTHER: those that no tool distinguishes. */
enum weft_parameter_kind {
    WEFT_PARAMETER_OTHER,
    WEFT_PARAMETER_HANDLE,
    WEFT_PARAMETER_DATA,
    WEFT_PARAMETER_TARGET,
    WEFT_PARAMETER_MEMORY,
    WEFT_PARAMETER_ALLOCATED,
    WEFT_PARAMETER_PACKED,
    WEFT_PARAMETER_RAW,
    WEFT_PARAMETER_VALUE,
    WEFT_PARAMETER_COUNT,
    WEFT_PARAMETER_LENGTH,
    WEFT_PARAMETER_RANK,
    WEFT_PARAMETER_SOURCE,
    WEFT_PARAMETER_MEMBER,
    WEFT_PARAMETER_TAG,
    WEFT_PARAMETER_DISPLACEMENT,
    WEFT_PARAMETER_INDEX,
    WEFT_PARAMETER_LOGICAL,
    WEFT_PARAMETER_STATUS,
    WEFT_PARAMETER_STRING,
    WEFT_PARAMETER_KINDS
};

enum weft_object_kind {
    WEFT_OBJECT_NONE,
    WEFT_OBJECT_COMM,
    WEFT_OBJECT_DATATYPE,
    WEFT_OBJECT_ERRHANDLER,
    WEFT_OBJECT_FILE,
    WEFT_OBJECT_GROUP,
    WEFT_OBJECT_INFO,
    WEFT_OBJECT_MESSAGE,
    WEFT_OBJECT_OP,
    WEFT_OBJECT_REQUEST,
    WEFT_OBJECT_SESSION,
    WEFT_OBJECT_WIN,
    WEFT_OBJECTS
};

enum weft_flow { WEFT_FLOW_IN, WEFT_FLOW_OUT, WEFT_FLOW_INOUT };

/* The length of an array, if it is no parameter: the blocks that a collective sends or receives, or
 * one that follows from other arguments or from a constant. */
enum {
    WEFT_LENGTH_ONE = -1,
    WEFT_LENGTH_SENDS = -2,
    WEFT_LENGTH_RECEIVES = -3,
    WEFT_LENGTH_OTHER = -4
};

/* Numbers of parameters count from 0; -1: none. */
struct weft_parameter {
    const char *name;
    enum weft_parameter_kind kind;
    enum weft_object_kind object; /* of a handle */
    enum weft_flow flow;
    bool pointer;   /* the argument points at the value or the array */
    uint8_t width;  /* bytes of an element */
    short length;   /* of an array: the parameter, or WEFT_LENGTH_* */
    short about[3]; /* the parameters ABOUT, as in functions.tsv */
    short flag;     /* the result is set if this parameter is true after the call */
    bool root;      /* significant at the root only */
};

struct weft_function {
    const char *name;            /* with MPI_ */
    int does;                    /* bits of enum weft_does */
    enum weft_call_number plain; /* of the form without _c */
    bool starts;                 /* it has a nonblocking form: weft_call_start */
    int parameters;
    const struct weft_parameter *parameter;
};

extern const struct weft_function weft_functions[WEFT_CALLS];

union weft_value {
    void *pointer; /* also a handle */
    int64_t number;
};

/* One call of the program, from weft_call_begin to weft_call_end. */
struct weft_call {
    const struct weft_function *function;
    union weft_value *values; /* in the order of the parameters; a status may be replaced */
    const void *site;         /* return address of the wrapper */
    const void *frame;        /* of the wrapper: the program's stack is above it */
    int result;
    void *state; /* of the tool: from its begin to its end */
};

/* The next definitions, which tools also call for themselves. */
extern struct weft_next weft_next;

/* ---- Parameters of a function: the number of the first one, or -1 */

enum weft_flows {
    WEFT_FLOWS_IN = 1 << WEFT_FLOW_IN,
    WEFT_FLOWS_OUT = 1 << WEFT_FLOW_OUT,
    WEFT_FLOWS_READ = WEFT_FLOWS_IN | 1 << WEFT_FLOW_INOUT,
    WEFT_FLOWS_ALL = WEFT_FLOWS_READ | WEFT_FLOWS_OUT
};

int16_t weft_function_find_name(const struct weft_function *function, const char *name);

/* The first one of a kind, or of a kind of objects, with one of the flows. from: the least number,
 * or -1. */
int16_t weft_function_find(const struct weft_function *function, enum weft_parameter_kind kind,
                           int flows, int from);
int16_t weft_function_find_object(const struct weft_function *function,
                                  enum weft_object_kind object, int flows);

bool weft_function_is_neighbor(const struct weft_function *function);

/* ---- The tool defines these two. False: the tool has made the call, and set call->result. */
bool weft_call_begin(struct weft_call *call);
void weft_call_end(struct weft_call *call);

/* ---- Values */

/* The first parameter of each kind, and the first one of each kind of objects that a call reads, of
 * all functions; -1: there is none. weft_next_resolve fills them. */
struct weft_first {
    signed char kind[WEFT_PARAMETER_KINDS], object[WEFT_OBJECTS];
};
extern struct weft_first weft_first[WEFT_CALLS];

/* The number of the first parameter of a kind, from `from` on; -1: there is none. */
int weft_call_find_from(const struct weft_call *call, enum weft_parameter_kind kind, int from);

static inline int weft_call_find(const struct weft_call *call, enum weft_parameter_kind kind,
                                 int from)
{
    return from == 0 ? weft_first[call->function - weft_functions].kind[kind]
                     : weft_call_find_from(call, kind, from);
}

/* The number of elements of a parameter: 1 if it is no array, 0 if that is not known here. */
int64_t weft_call_length(const struct weft_call *call, int parameter);

/* Element i of a parameter: a number, or a handle. */
int64_t weft_call_number(const struct weft_call *call, int parameter, int64_t i);
void *weft_call_element(const struct weft_call *call, int parameter, int64_t i);

/* The first handle of a kind of objects that the call reads; NULL if there is none. */
static inline void *weft_call_handle(const struct weft_call *call, enum weft_object_kind object)
{
    const int parameter = weft_first[call->function - weft_functions].object[object];
    return parameter < 0 ? NULL : weft_call_element(call, parameter, 0);
}

/* True if the call has no ?FLAG for the parameter or the flag is true after the call. */
bool weft_call_is_set(const struct weft_call *call, int parameter);

/* The index of the status of element i of the requests of a completing call; -1: it is not
 * complete. */
int64_t weft_call_status(const struct weft_call *call, int64_t element);

/* Makes the nonblocking form of a collective call, for the call itself. */
int weft_call_start(const struct weft_call *call, MPI_Request *request);

/* Fills weft_next; a tool's constructor calls this before all else. */
void weft_next_resolve(void);

/* The file name of the library that has the next MPI_Init, if that is another MPI or a front end,
 * whose handles a tool for the standard ABI cannot read; else NULL. */
const char *weft_next_other(void);

/* Memory for a table of the tool, zeroed; aborts with a sentence if there is none. */
void *weft_interpose_allocate(size_t n, size_t each);

/* Frees a datatype that MPI_Type_get_contents or MPI_File_get_view has returned, unless it is
 * predefined. Those of MPI_Type_create_f90_real and the like are, too (MPI 5.0, 19.1.9). */
void weft_interpose_free_type(MPI_Datatype *type);

/* "communicator", "request". */
const char *weft_object_name(enum weft_object_kind object);

/* True for handles of constants of the standard: MPI_COMM_WORLD, MPI_INT, MPI_REQUEST_NULL. */
static inline bool weft_object_is_predefined(const void *handle)
{
    return (uintptr_t)handle < 0x1000;
}

#endif
