// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations of the user's own (MPI 5.0 section 6.9.5) and MPI_Reduce_local.
 *
 * Invariant: an operation freed while collectives use it lives until they have ended (core/coll/op.h).
 */
#include "core/coll/op.h"
#include "core/mpi/api.h"
#include "core/mpi/coll_call.h"
#include "core/object/error.h"
#include "core/process/weft.h"

static int make(const char *function, MPI_User_function *user, MPI_User_function_c *user_large,
                int commute, MPI_Op *handle)
{
    int code = weft_enter(function);
    if (code)
        return code;
    struct weft_op *op = NULL;
    if (!user && !user_large)
        code = weft_error(NULL, MPI_ERR_ARG, function, "the pointer to the function is null");
    else if (!handle)
        code = weft_error(NULL, MPI_ERR_ARG, function, "the pointer to the operation is null");
    else if (!(op = weft_op_make(user, user_large, commute != 0)))
        code = weft_error(NULL, MPI_ERR_NO_MEM, function, "no memory for another operation");
    else
        *handle = op->handle;
    weft_leave();
    return code;
}

WEFT_EXPORT(Op_create);
int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    return make("MPI_Op_create", user_fn, NULL, commute, op);
}

WEFT_EXPORT(Op_create_c);
int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    return make("MPI_Op_create", NULL, user_fn, commute, op);
}

static int bad_op(const char *function, MPI_Op handle)
{
    return weft_error(NULL, MPI_ERR_OP, function, "%p is no operation; was it freed?",
                      (void *)handle);
}

WEFT_EXPORT(Op_free);
int PMPI_Op_free(MPI_Op *handle)
{
    int code = weft_enter("MPI_Op_free");
    if (code)
        return code;
    struct weft_op *op = handle ? weft_handle_resolve(*handle, WEFT_KIND_OP) : NULL;
    if (!handle) {
        code = weft_error(NULL, MPI_ERR_ARG, "MPI_Op_free", "the pointer to the operation is null");
    } else if (!op) {
        code = bad_op("MPI_Op_free", *handle);
    } else if (op->id != WEFT_OP_USER) {
        code =
            weft_error(NULL, MPI_ERR_OP, "MPI_Op_free",
                       "the predefined operation with handle %p cannot be freed", (void *)*handle);
    } else {
        weft_handle_retire(&op->object);
        weft_op_release(op);
        *handle = MPI_OP_NULL;
    }
    weft_leave();
    return code;
}

WEFT_EXPORT(Op_commutative);
int PMPI_Op_commutative(MPI_Op handle, int *commute)
{
    int code = weft_enter("MPI_Op_commutative");
    if (code)
        return code;
    const struct weft_op *op = weft_handle_resolve(handle, WEFT_KIND_OP);
    if (!op)
        code = bad_op("MPI_Op_commutative", handle);
    else if (!commute)
        code = weft_error(NULL, MPI_ERR_ARG, "MPI_Op_commutative",
                          "the pointer to the result is null");
    else
        *commute = op->commutative;
    weft_leave();
    return code;
}

static const char *const reduce_local = "MPI_Reduce_local";

static int check_local_buffers(const void *inbuf, const void *inoutbuf, MPI_Count count)
{
    if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
        return weft_error(NULL, MPI_ERR_BUFFER, reduce_local, "MPI_IN_PLACE is not allowed here");
    if (count && inbuf == inoutbuf)
        return weft_error(NULL, MPI_ERR_BUFFER, reduce_local,
                          "both buffers are the same memory; they may not overlap");
    if (count && (!inbuf || !inoutbuf))
        return weft_error(NULL, MPI_ERR_BUFFER, reduce_local,
                          "a buffer is a null pointer, but the count is %lld", (long long)count);
    return MPI_SUCCESS;
}

static int combine(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op handle)
{
    const struct weft_op *op = NULL;
    const struct weft_datatype *type = weft_handle_resolve(datatype, WEFT_KIND_DATATYPE);
    if (count < 0)
        return weft_error(NULL, MPI_ERR_COUNT, reduce_local, "the count %lld is negative",
                          (long long)count);
    if (!type)
        return weft_error(NULL, MPI_ERR_TYPE, reduce_local, "%p is no datatype; was it freed?",
                          (void *)datatype);
    if (!(type->flags & WEFT_TYPE_COMMITTED))
        return weft_error(NULL, MPI_ERR_TYPE, reduce_local,
                          "the datatype is not committed; call MPI_Type_commit first");
    int code = weft_coll_check_op(NULL, reduce_local, handle, type, &op);
    if (code == MPI_SUCCESS && type->size && type->true_lb == 0)
        code = check_local_buffers(inbuf, inoutbuf, count);
    if (code == MPI_SUCCESS)
        weft_op_combine(op, type, (void *)inbuf, inoutbuf, (size_t)count);
    return code;
}

WEFT_EXPORT(Reduce_local_c);
int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op)
{
    int code = weft_enter(reduce_local);
    if (code)
        return code;
    code = combine(inbuf, inoutbuf, count, datatype, op);
    weft_leave();
    return code;
}
