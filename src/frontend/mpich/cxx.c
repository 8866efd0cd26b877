// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPICH's own library of C++ bindings (libmpicxx.so.12, libmpichcxx.so.12) imports these functions:
 * callbacks in C++ take objects, so that library passes one function that makes the objects and
 * calls the user's function, for operations, error handlers and attributes each.
 *
 * Invariant: a process has one library of C++ bindings, so there is one such function of each kind.
 */
#include "frontend/frontend.h"

/* ---- Operations */

typedef void op_proxy(const void *in, void *inout, int count, front_Datatype type,
                      MPI_User_function *user);
static op_proxy *call_in_cxx;

static void call_op(MPI_User_function *user, void *in, void *inout, int *count, MPI_Datatype type)
{
    call_in_cxx(in, inout, *count, front_Datatype_out(type), user);
}

FRONT_PUBLIC void MPII_Op_set_cxx(front_Op op, op_proxy *proxy);
void MPII_Op_set_cxx(front_Op op, op_proxy *proxy)
{
    call_in_cxx = proxy;
    weft_abi_op_caller(front_Op_in(op), call_op, NULL);
}

/* ---- Error handlers: `kind` is 0 for a communicator, 1 for a file and 2 for a window. The C++
 * function calls the handler itself if that of C returns an error, which is why it does not. */

typedef void errhandler_proxy(int kind, void *handle, int *code, front_function *user);
static errhandler_proxy *raise_in_cxx;

#define CALL(Kind, member, kind)                                                                   \
    static int call_##member(union weft_errhandler_call user, void *handle, int code)              \
    {                                                                                              \
        front_##Kind theirs = front_##Kind##_out(handle);                                          \
        int passed = front_code(code); /* the handler may change it */                             \
        raise_in_cxx(kind, &theirs, &passed, (front_function *)user.member);                       \
        return MPI_SUCCESS;                                                                        \
    }
CALL(Comm, comm, 0)
CALL(File, file, 1)
CALL(Win, win, 2)

FRONT_PUBLIC void MPII_Errhandler_set_cxx(front_Errhandler errhandler, errhandler_proxy *proxy);
void MPII_Errhandler_set_cxx(front_Errhandler errhandler, errhandler_proxy *proxy)
{
    MPI_Errhandler ours = front_Errhandler_in(errhandler);
    enum weft_kind kind = weft_abi_errhandler_kind(ours);
    raise_in_cxx = proxy;
    weft_abi_errhandler_caller(ours, kind == WEFT_KIND_FILE  ? call_file
                                     : kind == WEFT_KIND_WIN ? call_win
                                                             : call_comm);
}

/* ---- Attributes */

FRONT_PUBLIC void MPII_Keyval_set_proxy(int keyval, front_function *copy, front_function *delete);
void MPII_Keyval_set_proxy(int keyval, front_function *copy, front_function *delete)
{
    front_keyval_proxies(keyval, copy, delete);
}
