// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every external procedure of Fortran uses these names, and these conversions between Fortran's
 * arguments and C's. The files with procedures (one is generated, the others are
 * hand*.c) are compiled with the names below; the PMPI_ procedures are copies of these objects with
 * other names (local.mk):
 *
 *     mpi_send_   calls MPI_Send,  so that a profiling library for C sees the calls of Fortran
 *     pmpi_send_  calls PMPI_Send, so that one for Fortran counts no call twice
 *
 * Only the C functions of the standard ABI are called, so that this library works with every
 * libmpi_abi.so.1. Conversions call PMPI names: they are no calls of the program.
 *
 * Invariant: an INTEGER handle below 4096 is a predefined one, and its value is that of the C
 * constant (MPI 5.0, section 20.3.4).
 */
#ifndef WEFT_FORTRAN_GLUE_H
#define WEFT_FORTRAN_GLUE_H

#include "config.h"

#include "core/base/assert.h"

#include <mpi.h>

#include <ISO_Fortran_binding.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define weft_unlikely(x) __builtin_expect(!!(x), 0)
#define WEFT_COLD        __attribute__((cold, noinline))
#define WEFT_GENERAL     __attribute__((noinline))

typedef void(weft_fortran_procedure)(void);

/* ---- Names. A compiler calls mpi_send_, mpi_send__ or MPI_SEND; all are the same procedure. */
#define FORTRAN(name)        mpi_##name##_
#define FORTRAN_TS(name)     mpi_##name##_f08ts_
#define CALL(name)           MPI_##name
#define WEFT_FORTRAN_LINKAGE __attribute__((weak))

#define WEFT_STRING_(text) #text
#define WEFT_STRING(text)  WEFT_STRING_(text)
#define WEFT_JOIN_(a, b)   a##b
#define WEFT_JOIN(a, b)    WEFT_JOIN_(a, b)

/* A second name for the procedure `lower`: `second` is spelled as FORTRAN's argument is. */
#define WEFT_FORTRAN_ALIAS(lower, second)                                                          \
    extern __typeof(FORTRAN(lower)) FORTRAN(second)                                                \
        __attribute__((weak, alias(WEFT_STRING(FORTRAN(lower)))));

/* The other names of the procedure mpi_<name>_, which is `lower` or a second name for it. */
#define WEFT_FORTRAN_NAMES_OF(lower, name, NAME)                                                   \
    extern __typeof(FORTRAN(lower)) WEFT_JOIN(FORTRAN(name), _)                                    \
        __attribute__((weak, alias(WEFT_STRING(FORTRAN(lower)))));                                 \
    extern __typeof(FORTRAN(lower)) WEFT_JOIN(upper_, FORTRAN(name)) __asm__("MPI_" #NAME)         \
        __attribute__((weak, alias(WEFT_STRING(FORTRAN(lower)))));                                 \
    WEFT_FORTRAN_PLAIN_NAME(lower, name)
#define WEFT_FORTRAN_NAMES(lower, UPPER) WEFT_FORTRAN_NAMES_OF(lower, lower, UPPER)

/* The names of a procedure that mpi_f08 calls with the same arguments. */
#define BOTH(lower, UPPER)                                                                         \
    WEFT_FORTRAN_NAMES(lower, UPPER)                                                               \
    WEFT_FORTRAN_ALIAS(lower, lower##_f08)

/* An extension, whose names begin with mpix_; it has no choice buffers. */
#define FORTRAN_EXTENSION(name) mpix_##name##_
#define CALL_EXTENSION(name)    MPIX_##name
#define WEFT_FORTRAN_EXTENSION_NAME(lower, name, symbol)                                           \
    extern __typeof(FORTRAN_EXTENSION(lower)) WEFT_JOIN(name, FORTRAN_EXTENSION(lower)) __asm__(   \
        symbol) __attribute__((weak, alias(WEFT_STRING(FORTRAN_EXTENSION(lower)))));
#define WEFT_FORTRAN_EXTENSION_NAMES(lower, UPPER)                                                 \
    WEFT_FORTRAN_EXTENSION_NAME(lower, two_, "mpix_" #lower "__")                                  \
    WEFT_FORTRAN_EXTENSION_NAME(lower, upper_, "MPIX_" #UPPER)                                     \
    WEFT_FORTRAN_EXTENSION_NAME(lower, f08_, "mpix_" #lower "_f08_")                               \
    WEFT_FORTRAN_EXTENSION_PLAIN_NAME(lower)

#ifdef WEFT_FORTRAN_INTERFACE
#include WEFT_FORTRAN_INTERFACE
#else
#include "fortran/interface.h"
#endif

/* Another procedure with the same arguments, with all its names */
#define WEFT_FORTRAN_SECOND(lower, second, SECOND)                                                 \
    WEFT_FORTRAN_ALIAS(lower, second)                                                              \
    WEFT_FORTRAN_NAMES_OF(lower, second, SECOND)

/* Without an underscore, and procedures of MPI-1: in some interfaces. */
#ifdef WEFT_FORTRAN_PLAIN_NAMES
#define WEFT_FORTRAN_MPI_1 WEFT_FORTRAN_SECOND
#define WEFT_FORTRAN_PLAIN_NAME(lower, name)                                                       \
    extern __typeof(FORTRAN(lower)) WEFT_JOIN(plain_, FORTRAN(name)) __asm__("mpi_" #name)         \
        __attribute__((weak, alias(WEFT_STRING(FORTRAN(lower)))));
#define WEFT_FORTRAN_EXTENSION_PLAIN_NAME(lower)                                                   \
    WEFT_FORTRAN_EXTENSION_NAME(lower, plain_, "mpix_" #lower)
#else
#define WEFT_FORTRAN_EXTENSION_PLAIN_NAME(lower)
#define WEFT_FORTRAN_MPI_1(lower, second, SECOND)
#define WEFT_FORTRAN_PLAIN_NAME(lower, name)
#endif

/* A function, or a procedure with choice buffers, that mpi_f08 of some interfaces calls by a name
 * of its own, with the addresses of buffers. */
#ifndef WEFT_FORTRAN_CHOICE
#define WEFT_FORTRAN_CHOICE(lower)
#endif

/* True if an argument is the address that means NAME. */
#ifndef WEFT_FORTRAN_IS
#define WEFT_FORTRAN_IS(address, NAME)                                                             \
    ((const void *)(address) == (const void *)WEFT_FORTRAN_##NAME)
#endif

/* In mpi_f08, MPI_BUFFER_AUTOMATIC comes back as the address of Fortran's variable (MPI 5.0,
 * section 3.6), where there is one. */
#ifndef WEFT_FORTRAN_DETACHED
#define WEFT_FORTRAN_DETACHED WEFT_FORTRAN_BUFFER_AUTOMATIC
#endif

static inline void weft_fortran_detached(void **address)
{
    void *variable = WEFT_FORTRAN_DETACHED;
    if (variable && *address == MPI_BUFFER_AUTOMATIC)
        *address = variable;
}

/* ---- Handles */
#define WEFT_FORTRAN_HANDLE(Kind, Handle)                                                          \
    static inline Handle weft_##Kind##_of(int value)                                               \
    {                                                                                              \
        return weft_fortran_is_predefined(value) ? (Handle)(uintptr_t)(unsigned)value              \
                                                 : PMPI_##Kind##_fromint(value);                   \
    }                                                                                              \
    static inline int weft_##Kind##_integer(Handle handle)                                         \
    {                                                                                              \
        return weft_fortran_is_constant(handle) ? (int)(intptr_t)handle                            \
                                                : PMPI_##Kind##_toint(handle);                     \
    }

WEFT_FORTRAN_HANDLE(Comm, MPI_Comm)
WEFT_FORTRAN_HANDLE(Errhandler, MPI_Errhandler)
WEFT_FORTRAN_HANDLE(File, MPI_File)
WEFT_FORTRAN_HANDLE(Group, MPI_Group)
WEFT_FORTRAN_HANDLE(Info, MPI_Info)
WEFT_FORTRAN_HANDLE(Message, MPI_Message)
WEFT_FORTRAN_HANDLE(Op, MPI_Op)
WEFT_FORTRAN_HANDLE(Request, MPI_Request)
WEFT_FORTRAN_HANDLE(Session, MPI_Session)
WEFT_FORTRAN_HANDLE(Type, MPI_Datatype)
WEFT_FORTRAN_HANDLE(Win, MPI_Win)

/* ---- Addresses */
void *weft_fortran_special(void *address);

static inline void *weft_fortran_buffer(void *address)
{
    if (weft_unlikely(weft_fortran_is_special(address)))
        return weft_fortran_special(address);
    return address;
}

static inline MPI_Status *weft_fortran_status(int *status)
{
    return WEFT_FORTRAN_IS(status, STATUS_IGNORE) ? MPI_STATUS_IGNORE : (MPI_Status *)status;
}

static inline MPI_Status *weft_fortran_statuses(int *statuses)
{
    return WEFT_FORTRAN_IS(statuses, STATUSES_IGNORE) ? MPI_STATUSES_IGNORE
                                                      : (MPI_Status *)statuses;
}

static inline int *weft_fortran_weights(const int *weights)
{
    return weft_fortran_buffer((int *)weights);
}

/* ---- LOGICAL: what is not .FALSE. is .TRUE., whatever bits a compiler takes for it. */
static inline int weft_fortran_truth(int logical)
{
    return logical != WEFT_FORTRAN_FALSE;
}

static inline int weft_fortran_logical(int truth)
{
    return truth ? WEFT_FORTRAN_TRUE : WEFT_FORTRAN_FALSE;
}

/* ---- Arrays and strings that are converted: on the stack when they are short */
enum { WEFT_FORTRAN_FEW = 64, WEFT_FORTRAN_TEXT = 256 };

/* Memory for n members; ends the program with a sentence when there is no memory. */
void *weft_fortran_allocate(size_t n, size_t size);

static inline void *weft_fortran_array(int n, void *few, size_t size)
{
    return n <= WEFT_FORTRAN_FEW ? few : weft_fortran_allocate((size_t)n, size);
}

static inline void weft_fortran_release(void *space, void *few)
{
    if (space != few)
        free(space);
}

/* A string argument without the blanks around it, as C's, in few (WEFT_FORTRAN_TEXT bytes, or NULL)
 * if it is short, else in memory to be freed. */
char *weft_fortran_text(const char *text, size_t length, char *few);

/* The same with the blanks before it. */
char *weft_fortran_name(const char *text, size_t length, char *few);

/* A result, cut or padded with blanks. */
void weft_fortran_pad(char *result, size_t length, const char *text);

/* ---- Requests whose operations use copies of sections (kept.c): how many there are, what is
 * before and after a call that may complete them, and what starts them again. `before` has their
 * INTEGERs, `after` what the call left of them, or NULL if it left them as they were. */
struct weft_kept;
extern _Atomic int weft_fortran_kept;
struct weft_kept *weft_fortran_take_kept(int n, const int *requests);
void weft_fortran_settle_kept(struct weft_kept *taken, int n, const int *before,
                              const MPI_Request *after);
void weft_fortran_start_kept(int n, const int *requests);

static inline struct weft_kept *weft_fortran_take(int n, const int *requests)
{
    return weft_unlikely(weft_fortran_kept) ? weft_fortran_take_kept(n, requests) : NULL;
}

static inline void weft_fortran_settle(struct weft_kept *taken, int n, const int *before,
                                       const MPI_Request *after)
{
    if (weft_unlikely(taken))
        weft_fortran_settle_kept(taken, n, before, after);
}

static inline void weft_fortran_start(int n, const int *requests)
{
    if (weft_unlikely(weft_fortran_kept))
        weft_fortran_start_kept(n, requests);
}

/* The number of blocks that this rank sends and receives in an all-to-all exchange, each with a
 * datatype of its own. No block is sent from MPI_IN_PLACE. */
void weft_fortran_blocks(MPI_Comm comm, bool neighbors, void *sendbuf, int *sends, int *receives);

/* ---- Errors of this library itself */

/* A call, for its errors: they reach the error handler of its communicator, file, window or
 * session, or that of MPI_COMM_SELF. */
struct weft_fortran_call {
    const char *name;
    enum {
        WEFT_FORTRAN_NONE,
        WEFT_FORTRAN_COMM,
        WEFT_FORTRAN_FILE,
        WEFT_FORTRAN_WIN,
        WEFT_FORTRAN_SESSION
    } on;
    int handle;
    int *ierror;
    bool operation; /* it computes with the data */
    bool neighbors; /* its blocks are those of a topology's neighbors */
    int code;       /* of the error that was raised */
};

/* Passes one sentence to the error handler. Returns the code and stores it in the call's IERROR. */
int weft_fortran_raise(int error_class, struct weft_fortran_call *call, const char *sentence);

/* The code of a call. IERROR is optional in mpi_f08: NULL. */
static inline void finish(int *ierror, int code)
{
    if (ierror)
        *ierror = code;
}

#endif
