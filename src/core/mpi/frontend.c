// SPDX-License-Identifier: BSD-3-Clause
/*
 * Callbacks of front ends: see frontend.h.
 */
#include "core/mpi/frontend.h"
#include "core/base/attribute.h"
#include "core/message/request.h"
#include "core/mpi/api.h"

void weft_abi_op_caller(MPI_Op op, weft_op_caller *caller, weft_op_caller_c *caller_large)
{
    struct weft_op *user = weft_handle_resolve(op, WEFT_KIND_OP);
    weft_assert(user && user->id == WEFT_OP_USER);
    user->caller = caller;
    user->caller_large = caller_large;
}

void weft_abi_errhandler_caller(MPI_Errhandler errhandler, weft_errhandler_caller *caller)
{
    struct weft_errhandler *user = weft_handle_resolve(errhandler, WEFT_KIND_ERRHANDLER);
    weft_assert(user && user->kind != WEFT_KIND_NONE);
    user->caller = caller;
}

enum weft_kind weft_abi_errhandler_kind(MPI_Errhandler errhandler)
{
    const struct weft_errhandler *user = weft_handle_resolve(errhandler, WEFT_KIND_ERRHANDLER);
    weft_assert(user);
    return user->kind;
}

void *weft_abi_keyval_extra(int number)
{
    static const enum weft_kind kinds[] = {WEFT_KIND_COMM, WEFT_KIND_DATATYPE, WEFT_KIND_WIN};
    const struct weft_keyval *keyval = NULL;
    for (size_t i = 0; !keyval && i < sizeof kinds / sizeof kinds[0]; i++)
        keyval = weft_keyval_find(kinds[i], number);
    weft_assert(keyval);
    return keyval->extra;
}

MPI_Request weft_abi_request_numbered(int value)
{
    return (MPI_Request)weft_request_numbered((unsigned)(value - WEFT_REQUEST_INTEGERS));
}

int weft_abi_unsupported(const char *function, MPI_Comm comm)
{
    return weft_api_unsupported(function, comm);
}
