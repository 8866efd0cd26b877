// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations and error handlers written in Fortran.
 *
 * C calls them without a state argument, so each Fortran procedure has a C function of its own, a
 * trampoline, which contains its number. A procedure keeps its trampoline for ever: an operation
 * may be in use after it was freed, and a program has few procedures.
 *
 * Invariant: procedures[i] is set once, under the lock, before trampoline i is given to anyone.
 */
#include "fortran/callback.h"
#include "trampolines.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The number of the procedure in the table, or -1 when the table is full. */
static int number_of(weft_fortran_procedure *procedures[], weft_fortran_procedure *procedure)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < TRAMPOLINES && procedures[i] && procedures[i] != procedure)
        i++;
    if (i < TRAMPOLINES)
        procedures[i] = procedure;
    pthread_mutex_unlock(&lock);
    return i < TRAMPOLINES ? i : -1;
}

/* ---- Operations */
static weft_fortran_procedure *ops[TRAMPOLINES], *ops_c[TRAMPOLINES];

static void call_op(int number, void *in, void *inout, int *length, MPI_Datatype *type)
{
    int datatype = weft_Type_integer(*type);
    ((void (*)(void *, void *, int *, int *))ops[number])(in, inout, length, &datatype);
}

static void call_op_c(int number, void *in, void *inout, MPI_Count *length, MPI_Datatype *type)
{
    int datatype = weft_Type_integer(*type);
    ((void (*)(void *, void *, MPI_Count *, int *))ops_c[number])(in, inout, length, &datatype);
}

#define OP(n)                                                                                      \
    static void op_##n(void *in, void *inout, int *length, MPI_Datatype *type)                     \
    {                                                                                              \
        call_op(n, in, inout, length, type);                                                       \
    }                                                                                              \
    static void op_c_##n(void *in, void *inout, MPI_Count *length, MPI_Datatype *type)             \
    {                                                                                              \
        call_op_c(n, in, inout, length, type);                                                     \
    }
EACH(OP)

#define OP_NAME(n)   op_##n,
#define OP_C_NAME(n) op_c_##n,

MPI_User_function *weft_fortran_op(weft_fortran_procedure *procedure)
{
    static MPI_User_function *const trampolines[] = {EACH(OP_NAME)};
    int number = number_of(ops, procedure);
    return number < 0 ? NULL : trampolines[number];
}

MPI_User_function_c *weft_fortran_op_c(weft_fortran_procedure *procedure)
{
    static MPI_User_function_c *const trampolines[] = {EACH(OP_C_NAME)};
    int number = number_of(ops_c, procedure);
    return number < 0 ? NULL : trampolines[number];
}

/* ---- Error handlers: the same for each kind of object */
#define ERRHANDLER(kind, Kind, n)                                                                  \
    static void kind##_##n(MPI_##Kind *object, int *code, ...)                                     \
    {                                                                                              \
        int handle = weft_##Kind##_integer(*object);                                               \
        ((void (*)(int *, int *))kind##_procedures[n])(&handle, code);                             \
    }
#define ERRHANDLERS(kind, Kind)                                                                    \
    static weft_fortran_procedure *kind##_procedures[TRAMPOLINES];                                 \
    EACH(ERRHANDLER_##Kind)                                                                        \
    MPI_##Kind##_errhandler_function *weft_fortran_##kind##_errhandler(                            \
        weft_fortran_procedure *procedure)                                                         \
    {                                                                                              \
        static MPI_##Kind##_errhandler_function *const trampolines[] = {EACH(NAME_##Kind)};        \
        int number = number_of(kind##_procedures, procedure);                                      \
        return number < 0 ? NULL : trampolines[number];                                            \
    }

#define ERRHANDLER_Comm(n)    ERRHANDLER(comm, Comm, n)
#define ERRHANDLER_File(n)    ERRHANDLER(file, File, n)
#define ERRHANDLER_Win(n)     ERRHANDLER(win, Win, n)
#define ERRHANDLER_Session(n) ERRHANDLER(session, Session, n)
#define NAME_Comm(n)          comm_##n,
#define NAME_File(n)          file_##n,
#define NAME_Win(n)           win_##n,
#define NAME_Session(n)       session_##n,

ERRHANDLERS(comm, Comm)
ERRHANDLERS(file, File)
ERRHANDLERS(win, Win)
ERRHANDLERS(session, Session)
