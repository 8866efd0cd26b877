// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective entry points (MPI 5.0 chapter 6): check arguments, resolve handles and MPI_IN_PLACE,
 * call the core.
 *
 * Invariant: arguments are checked in the order communicator, count, datatype, operation, root,
 * buffers, and all of them before anything is sent. What the standard calls significant only at
 * the root is not looked at elsewhere.
 */
#include "core/api/api.h"
#include "core/coll/coll.h"
#include "core/error.h"
#include "core/weft.h"

/* Whom to tell what is wrong. */
struct call {
    const char *function;
    struct weft_comm *comm;
};

/* Enters the library and resolves the communicator. When this fails, nothing is to be left. */
static int begin(struct call *call, const char *function, MPI_Comm handle)
{
    int code = weft_enter(function);
    if (code)
        return code;
    call->function = function;
    call->comm = weft_comm_resolve(handle);
    if (weft_likely(call->comm != NULL && !call->comm->local))
        return MPI_SUCCESS;
    if (call->comm)
        code = weft_error(call->comm, MPI_ERR_UNSUPPORTED_OPERATION, function,
                          "collectives on inter-communicators are not supported by this version of "
                          "Weft; docs/STATUS.md lists what is");
    else
        code = weft_error(NULL, MPI_ERR_COMM, function, "%p is no communicator; was it freed?",
                          (void *)handle);
    weft_leave();
    return code;
}

/* Raises what the core returned, leaves the library. */
static int end(const struct call *call, int code)
{
    if (weft_unlikely(code != MPI_SUCCESS))
        code = weft_error_raise(call->comm, code, call->function);
    weft_leave();
    return code;
}

/* The same for errors that a check has already raised. */
static int refuse(int code)
{
    weft_leave();
    return code;
}

/* What weft_error returns, an error class and so never MPI_SUCCESS: callers rely on it, and who
 * checks this file alone cannot see it. */
static int raised(int errclass)
{
    if (errclass == MPI_SUCCESS)
        __builtin_unreachable();
    return errclass;
}

/* A count and a datatype; blocks: how many times as much the buffer holds. */
static int check_elements(const struct call *call, MPI_Count count, MPI_Datatype handle,
                          size_t blocks, struct weft_elements *out)
{
    if (weft_unlikely(count < 0))
        return raised(weft_error(call->comm, MPI_ERR_COUNT, call->function,
                                 "the count %lld is negative", (long long)count));
    const struct weft_datatype *type = weft_handle_resolve(handle, WEFT_KIND_DATATYPE);
    if (weft_unlikely(!type))
        return raised(weft_error(call->comm, MPI_ERR_TYPE, call->function,
                                 "%p is no datatype; was it freed?", (void *)handle));
    if (weft_unlikely(!(type->flags & WEFT_TYPE_COMMITTED)))
        return raised(weft_error(call->comm, MPI_ERR_TYPE, call->function,
                                 "the datatype is not committed; call MPI_Type_commit first"));
    size_t extent = (size_t)(type->extent < 0 ? -type->extent : type->extent);
    size_t widest = type->size > extent ? type->size : extent, bytes;
    if (weft_unlikely(__builtin_mul_overflow((size_t)count, widest, &bytes) ||
                      __builtin_mul_overflow(bytes, blocks, &bytes) || (MPI_Count)bytes < 0))
        return raised(weft_error(call->comm, MPI_ERR_COUNT, call->function,
                                 "%lld elements of %zu bytes are too much", (long long)count,
                                 widest));
    out->count = (size_t)count;
    out->type = type;
    return MPI_SUCCESS;
}

/* A reduction operation, for elements whose type was checked. */
static int check_op(const struct call *call, MPI_Op handle, const struct weft_datatype *type,
                    const struct weft_op **out)
{
    const struct weft_op *op = weft_handle_resolve(handle, WEFT_KIND_OP);
    if (weft_unlikely(!op))
        return raised(weft_error(call->comm, MPI_ERR_OP, call->function,
                                 "%p is no operation; was it freed?", (void *)handle));
    if (weft_unlikely(op->id == WEFT_OP_REPLACE || op->id == WEFT_OP_NO_OP))
        return raised(weft_error(call->comm, MPI_ERR_OP, call->function,
                                 "MPI_REPLACE and MPI_NO_OP are for one-sided communication only"));
    bool predefined = type->flags & WEFT_TYPE_PREDEFINED;
    if (weft_unlikely(op->id != WEFT_OP_USER &&
                      (!predefined || weft_op_check(op, type->elem) != MPI_SUCCESS)))
        return raised(
            weft_error(call->comm, MPI_ERR_OP, call->function,
                       "this predefined operation (handle %p) does not apply to %s; MPI 5.0 "
                       "section 6.9.2 lists what it takes",
                       (void *)handle, predefined ? type->name : "a derived datatype"));
    *out = op;
    return MPI_SUCCESS;
}

static int check_root(const struct call *call, int root)
{
    if (weft_unlikely(root < 0 || root >= call->comm->size))
        return raised(weft_error(call->comm, MPI_ERR_ROOT, call->function,
                                 "root %d is not in the communicator, which has ranks 0 to %d",
                                 root, call->comm->size - 1));
    return MPI_SUCCESS;
}

/* A buffer that is not in place; which: "send", "receive" or "data". */
static int check_buffer(const struct call *call, const void *buffer, struct weft_elements *of,
                        const char *which)
{
    of->at = (void *)buffer;
    if (weft_unlikely(buffer == MPI_IN_PLACE))
        return raised(weft_error(call->comm, MPI_ERR_BUFFER, call->function,
                                 "MPI_IN_PLACE cannot be the %s buffer of rank %d", which,
                                 call->comm->rank));
    if (weft_unlikely(!buffer && weft_elements_bytes(*of) && of->type->true_lb == 0))
        return raised(weft_error(call->comm, MPI_ERR_BUFFER, call->function,
                                 "the %s buffer is a null pointer, but the count is %zu", which,
                                 of->count));
    return MPI_SUCCESS;
}

/* The send buffer of a rank that receives as well and is not in place. It must be neither `at`, the
 * receive buffer, nor `own`, the rank's own block of it. */
static int check_send_buffer(const struct call *call, const void *buffer, struct weft_elements *of,
                             const void *at, const void *own)
{
    int code = check_buffer(call, buffer, of, "send");
    if (weft_unlikely(!code && weft_elements_bytes(*of) && (buffer == at || buffer == own)))
        return raised(
            weft_error(call->comm, MPI_ERR_BUFFER, call->function,
                       "send and receive buffer are the same memory; pass MPI_IN_PLACE as send "
                       "buffer"));
    return code;
}

/* Send and receive side of a gather within one rank. */
static int check_same_amount(const struct call *call, struct weft_elements in,
                             struct weft_elements out)
{
    size_t sent = weft_elements_bytes(in), received = weft_elements_bytes(out);
    if (weft_unlikely(sent != received))
        return raised(weft_error(call->comm, MPI_ERR_COUNT, call->function,
                                 "%zu bytes are sent, but %zu are to be received from every rank",
                                 sent, received));
    return MPI_SUCCESS;
}

static struct weft_elements own_block(const struct call *call, struct weft_elements out)
{
    return weft_elements_slice(out, (size_t)call->comm->rank * out.count, out.count);
}

WEFT_EXPORT(Barrier);
int PMPI_Barrier(MPI_Comm comm)
{
    struct call call;
    int code = begin(&call, "MPI_Barrier", comm);
    return code ? code : end(&call, weft_coll_barrier(call.comm));
}

WEFT_EXPORT(Bcast_c);
int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct call call;
    struct weft_elements data;
    int code = begin(&call, "MPI_Bcast", comm);
    if (code)
        return code;
    if ((code = check_elements(&call, count, datatype, 1, &data)) ||
        (code = check_root(&call, root)) || (code = check_buffer(&call, buffer, &data, "data")))
        return refuse(code);
    return end(&call, weft_coll_bcast(call.comm, data, root));
}

/* Buffers of a reduction at a rank that gets the result. */
static int check_reduction(const struct call *call, const void *sendbuf, void *recvbuf,
                           struct weft_elements *in)
{
    int code = check_buffer(call, recvbuf, in, "receive");
    if (code || sendbuf == MPI_IN_PLACE)
        return code;
    return check_send_buffer(call, sendbuf, in, recvbuf, recvbuf);
}

WEFT_EXPORT(Reduce_c);
int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    struct call call;
    struct weft_elements in;
    const struct weft_op *operation;
    int code = begin(&call, "MPI_Reduce", comm);
    if (code)
        return code;
    if ((code = check_elements(&call, count, datatype, 1, &in)) ||
        (code = check_op(&call, op, in.type, &operation)) || (code = check_root(&call, root)))
        return refuse(code);
    code = call.comm->rank == root ? check_reduction(&call, sendbuf, recvbuf, &in)
                                   : check_buffer(&call, sendbuf, &in, "send");
    if (code)
        return refuse(code);
    return end(&call, weft_coll_reduce(call.comm, in, recvbuf, operation, root));
}

WEFT_EXPORT(Allreduce_c);
int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    struct call call;
    struct weft_elements in;
    const struct weft_op *operation;
    int code = begin(&call, "MPI_Allreduce", comm);
    if (code)
        return code;
    if ((code = check_elements(&call, count, datatype, 1, &in)) ||
        (code = check_op(&call, op, in.type, &operation)) ||
        (code = check_reduction(&call, sendbuf, recvbuf, &in)))
        return refuse(code);
    return end(&call, weft_coll_allreduce(call.comm, in, recvbuf, operation));
}

/* The arguments of MPI_Gather and MPI_Allgather. */
struct gather {
    const void *sendbuf;
    MPI_Count sendcount;
    MPI_Datatype sendtype;
    void *recvbuf;
    MPI_Count recvcount;
    MPI_Datatype recvtype;
};

/* A rank that gets all blocks. */
static int check_gather(const struct call *call, const struct gather *args,
                        struct weft_elements *in, struct weft_elements *out)
{
    bool in_place = args->sendbuf == MPI_IN_PLACE;
    int code = MPI_SUCCESS;
    if (!in_place)
        code = check_elements(call, args->sendcount, args->sendtype, 1, in);
    if (!code)
        code = check_elements(call, args->recvcount, args->recvtype, (size_t)call->comm->size, out);
    if (!code && !in_place)
        code = check_same_amount(call, *in, *out);
    if (!code)
        code = check_buffer(call, args->recvbuf, out, "receive");
    if (code)
        return code;
    struct weft_elements own = own_block(call, *out);
    if (!in_place)
        return check_send_buffer(call, args->sendbuf, in, out->at, own.at);
    *in = own;
    return MPI_SUCCESS;
}

WEFT_EXPORT(Gather_c);
int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct call call;
    struct gather args = {sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype};
    struct weft_elements in, out = {0};
    int code = begin(&call, "MPI_Gather", comm);
    if (code)
        return code;
    if (call.comm->rank == root)
        code = check_gather(&call, &args, &in, &out);
    else if (!(code = check_elements(&call, sendcount, sendtype, 1, &in)) &&
             !(code = check_root(&call, root)))
        code = check_buffer(&call, sendbuf, &in, "send");
    if (code)
        return refuse(code);
    return end(&call, weft_coll_gather(call.comm, in, out, root));
}

WEFT_EXPORT(Allgather_c);
int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct call call;
    struct gather args = {sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype};
    struct weft_elements in, out;
    int code = begin(&call, "MPI_Allgather", comm);
    if (code)
        return code;
    if ((code = check_gather(&call, &args, &in, &out)))
        return refuse(code);
    return end(&call, weft_coll_allgather(call.comm, in, out));
}
