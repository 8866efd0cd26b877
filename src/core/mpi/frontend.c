// SPDX-License-Identifier: BSD-3-Clause
/*
 * Functions for front ends: see frontend.h.
 */
#include "core/mpi/frontend.h"
#include "core/base/attribute.h"
#include "core/comm/comm.h"
#include "core/comm/session.h"
#include "core/message/request.h"
#include "core/mpi/api.h"
#include "core/mpi/p2p_call.h"
#include "core/mpi/request_call.h"
#include "core/pt2pt/bsend.h"

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

bool weft_abi_is_root(MPI_Comm comm, int root)
{
    const struct weft_comm *over = weft_handle_resolve(comm, WEFT_KIND_COMM);
    return over && root == (over->local ? MPI_ROOT : over->rank);
}

bool weft_abi_is_leader(MPI_Group group, int leader)
{
    const struct weft_group *members = weft_handle_resolve(group, WEFT_KIND_GROUP);
    return members && members->rank == leader;
}

void weft_abi_set_detached(MPI_Comm comm, MPI_Session session, void *buffer, MPI_Count size)
{
    struct weft_bsend_owner owner = {NULL, NULL};
    if (comm != MPI_COMM_NULL)
        owner = weft_comm_bsend_owner(weft_handle_resolve(comm, WEFT_KIND_COMM));
    else if (session != MPI_SESSION_NULL)
        owner = weft_session_bsend_owner(weft_handle_resolve(session, WEFT_KIND_SESSION));
    weft_bsend_set_detached(owner, buffer, (size_t)size);
}

/* ---- Requests as integers */

MPI_Request weft_abi_request_of_integer(int value)
{
    return weft_request_of_integer(value);
}

struct weft_integers weft_integers;

void weft_abi_integers(int (*error)(int code), int null)
{
    weft_integers = (struct weft_integers){error, null};
}

/* The return value of a call, which has made the request if its code is MPI_SUCCESS. */
static inline int made(int code, MPI_Request request, int *integer)
{
    if (weft_unlikely(code != MPI_SUCCESS))
        return weft_integers.error(code);
    weft_assert(((struct weft_request *)request)->number <= INT32_MAX - WEFT_REQUEST_INTEGERS);
    *integer = WEFT_REQUEST_INTEGERS + (int)((struct weft_request *)request)->number;
    return MPI_SUCCESS;
}

int weft_abi_isend_integer(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                           MPI_Comm comm, int *integer)
{
    MPI_Request request;
    if (weft_unlikely(!integer))
        return weft_integers.error(weft_general_isend(buf, count, datatype, dest, tag, comm, NULL));
    int code = weft_entry_isend(buf, count, datatype, dest, tag, comm, &request);
    return made(code, request, integer);
}

int weft_abi_irecv_integer(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                           MPI_Comm comm, int *integer)
{
    MPI_Request request;
    if (weft_unlikely(!integer))
        return weft_integers.error(
            weft_general_irecv(buf, count, datatype, source, tag, comm, NULL));
    int code = weft_entry_irecv(buf, count, datatype, source, tag, comm, &request);
    return made(code, request, integer);
}

int weft_abi_unsupported(const char *function, MPI_Comm comm)
{
    return weft_api_unsupported(function, comm);
}
