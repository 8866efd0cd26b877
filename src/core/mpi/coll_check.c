// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checking the arguments of collectives: see coll_call.h.
 *
 * Invariant: a check that fails returns an error class and has recorded its sentence.
 */
#include "core/mpi/coll_call.h"
#include "core/comm/topology.h"
#include "core/mpi/arg.h"
#include "core/base/error.h"

enum { FIRST_PAGE = 4096 /* bytes */ };

/* A call that is checked. */
struct weft_check {
    const struct weft_coll_call *call;
    struct weft_comm *comm;
};

static bool is_in_place(const struct weft_coll_side *side)
{
    return side->buffer == MPI_IN_PLACE;
}

static struct weft_elements one_of(const struct weft_blocks *one)
{
    return (struct weft_elements){one->at, one->count, one->type};
}

/* ---- Counts and datatypes */

static int check_type(MPI_Datatype handle, const struct weft_datatype **out)
{
    struct weft_datatype *type;
    int code = weft_arg_committed(handle, &type);
    *out = type;
    return code;
}

/* A count that has a buffer of so many times as much. */
static int check_count(MPI_Count count, const struct weft_datatype *type, size_t blocks)
{
    size_t extent = (size_t)(type->extent < 0 ? -type->extent : type->extent);
    size_t widest = type->size > extent ? type->size : extent, bytes;
    if (weft_unlikely(__builtin_mul_overflow((size_t)count, widest, &bytes) ||
                      __builtin_mul_overflow(bytes, blocks, &bytes) || bytes > WEFT_MEMORY_MAX))
        return weft_error_set(MPI_ERR_COUNT, "%lld elements of %zu bytes are too much",
                              (long long)count, widest);
    return MPI_SUCCESS;
}

/* A count and a datatype; blocks: how many times as much the buffer holds. */
static int check_elements(MPI_Count count, MPI_Datatype handle, size_t blocks,
                          struct weft_blocks *out)
{
    int code = weft_arg_count(count);
    if (weft_likely(code == MPI_SUCCESS))
        code = check_type(handle, &out->type);
    if (weft_unlikely(code != MPI_SUCCESS))
        return code;
    out->count = (size_t)count;
    return check_count(count, out->type, blocks);
}

/* n counts and, unless the datatype is that of all, n datatypes. MPI_DATATYPE_NULL is accepted
 * where the count is 0, as by other MPI libraries. */
static int check_vector(const struct weft_coll_side *side, int n, struct weft_blocks *out)
{
    const struct weft_arrays *arrays = side->arrays;
    int code = arrays->types || n == 0 ? MPI_SUCCESS : check_type(side->type, &out->type);
    if (code == MPI_SUCCESS && n > 0 && (!arrays->counts.at || !arrays->displs.at))
        code = weft_error_set(MPI_ERR_ARG, "the array of %s is a null pointer",
                              arrays->counts.at ? "displacements" : "counts");
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        const struct weft_datatype *type = out->type;
        int64_t count = weft_int_of(arrays->counts, i);
        if (count < 0)
            code = weft_error_set(MPI_ERR_COUNT, "the count of entry %d, %lld, is negative", i,
                                  (long long)count);
        else if (arrays->types && (count || arrays->types[i] != MPI_DATATYPE_NULL))
            code = check_type(arrays->types[i], &type);
        if (code == MPI_SUCCESS)
            code = check_count(count, type, 1);
    }
    out->arrays = arrays;
    out->n = n;
    return code;
}

/* ---- Operation and root */

int weft_coll_check_op(const struct weft_op *op, const struct weft_datatype *type)
{
    if (weft_unlikely(op->id == WEFT_OP_REPLACE || op->id == WEFT_OP_NO_OP))
        return weft_error_set(MPI_ERR_OP,
                              "MPI_REPLACE and MPI_NO_OP are for one-sided communication only");
    bool predefined = type->flags & WEFT_TYPE_PREDEFINED;
    if (weft_unlikely(op->id != WEFT_OP_USER &&
                      (!predefined || weft_op_check(op, type->basic_type) != MPI_SUCCESS)))
        return weft_error_set(
            MPI_ERR_OP,
            "%s does not apply to %s; MPI 5.0 section 6.9.2 lists what it takes, and "
            "MPI_Op_create makes operations for other types",
            op->name, predefined ? type->name : "a derived datatype");
    return MPI_SUCCESS;
}

static int check_op(const struct weft_check *c, struct weft_coll_args *args)
{
    struct weft_op *op;
    int code = weft_arg_op(c->call->op, &op);
    args->op = op;
    return code ? code : weft_coll_check_op(op, args->in.type);
}

static int check_root(const struct weft_check *c, struct weft_coll_args *args)
{
    args->root = c->call->root;
    if (weft_unlikely(args->root < 0 || args->root >= c->comm->size))
        return weft_error_set(MPI_ERR_ROOT,
                              "root %d is not in the communicator, which has ranks 0 to %d",
                              args->root, c->comm->size - 1);
    return MPI_SUCCESS;
}

/* ---- Buffers */

/* A buffer of n blocks, of which counts and types are checked, that is not in place. */
static int check_buffer(const struct weft_check *c, const struct weft_coll_side *side, int n,
                        struct weft_blocks *of, const char *which)
{
    of->at = (void *)side->buffer;
    if (weft_unlikely(is_in_place(side)))
        return weft_error_set(MPI_ERR_BUFFER, "MPI_IN_PLACE cannot be the %s buffer of rank %d",
                              which, c->comm->rank);
    if (weft_likely(of->at != NULL))
        return MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        struct weft_elements block = weft_block(of, i);
        /* The first page and the upper half of the address space are nobody's memory. */
        if (weft_elements_bytes(block) && (intptr_t)weft_elements_start(block) < FIRST_PAGE)
            return weft_error_set(MPI_ERR_BUFFER,
                                  "the %s buffer is a null pointer, but the count is %zu", which,
                                  block.count);
        if (!of->arrays)
            break; /* the others are behind it */
    }
    return MPI_SUCCESS;
}

static int same_memory(const struct weft_check *c)
{
    if (c->comm->local) /* where nothing is in place */
        return weft_error_set(MPI_ERR_BUFFER, "send and receive buffer share memory");
    return weft_error_set(MPI_ERR_BUFFER,
                          "send and receive buffer share memory; use two that do not, or pass "
                          "MPI_IN_PLACE as %s buffer",
                          c->call->kind == WEFT_COLL_SCATTER || c->call->kind == WEFT_COLL_SCATTERV
                              ? "receive"
                              : "send");
}

/* Data without holes overlap if one begins inside of the other, data with holes certainly if both
 * begin at the same address: they may be interleaved. */
static inline bool overlap(struct weft_elements a, struct weft_elements b)
{
    size_t a_bytes = weft_elements_bytes(a), b_bytes = weft_elements_bytes(b);
    uintptr_t ahead = weft_elements_start(b) - weft_elements_start(a); /* modulo 2^64 */
    if (weft_unlikely(!(a.type->flags & b.type->flags & WEFT_TYPE_CONTIGUOUS)))
        return !ahead && a_bytes && b_bytes;
    /* -b_bytes < ahead < a_bytes in one comparison */
    return weft_unlikely(ahead + b_bytes - 1 < a_bytes + b_bytes - 1) && a_bytes && b_bytes;
}

/* All n blocks without arrays as one. */
static inline struct weft_elements all_blocks(const struct weft_blocks *of, int n)
{
    return (struct weft_elements){of->at, of->count * (size_t)n, of->type};
}

enum {
    PAIRS_MAX = 4096
}; /* of blocks that are compared; more would take longer than a short call */

/* True if the buffers certainly share memory. */
static inline bool share_memory(const struct weft_blocks *in, int sent,
                                const struct weft_blocks *out, int received)
{
    if (weft_likely(!in->arrays && !out->arrays))
        return overlap(all_blocks(in, sent), all_blocks(out, received));
    if ((int64_t)sent * received > PAIRS_MAX)
        return false;
    for (int i = 0; i < sent; i++)
        for (int k = 0; k < received; k++)
            if (overlap(weft_block(in, i), weft_block(out, k)))
                return true;
    return false;
}

/* The block that a rank sends to itself and receives from itself has one length, and the buffers
 * share no memory. */
static int check_own(const struct weft_check *c, const struct weft_coll_args *args, int sent,
                     int received)
{
    const struct weft_blocks *in = &args->in, *out = &args->out;
    struct weft_elements gives = weft_block(in, sent > 1 ? c->comm->rank : 0);
    struct weft_elements gets = weft_block(out, received > 1 ? c->comm->rank : 0);
    size_t own = weft_elements_bytes(gives), taken = weft_elements_bytes(gets);
    if (weft_unlikely(own != taken))
        return weft_error_set(MPI_ERR_COUNT,
                              "rank %d sends itself %zu bytes, but is to receive %zu",
                              c->comm->rank, own, taken);
    if (weft_unlikely(overlap(gives, gets)) || weft_unlikely(share_memory(in, sent, out, received)))
        return same_memory(c);
    return MPI_SUCCESS;
}

static struct weft_blocks block_of(struct weft_elements one)
{
    return (struct weft_blocks){.at = one.at, .count = one.count, .type = one.type};
}

/* ---- Collectives */

static int check_bcast(const struct weft_check *c, struct weft_coll_args *args)
{
    const struct weft_coll_side *data = &c->call->send;
    int code = check_elements(data->count, data->type, 1, &args->in);
    if (code == MPI_SUCCESS)
        code = check_root(c, args);
    if (code == MPI_SUCCESS)
        code = check_buffer(c, data, 1, &args->in, "data");
    return code;
}

/* The buffers of a reduction at a rank that gets the result, of which `out` has the type and the
 * count. Nothing is in place on an inter-communicator. */
static int check_result(const struct weft_check *c, struct weft_coll_args *args)
{
    const struct weft_coll_call *call = c->call;
    int code = check_buffer(c, &call->receive, 1, &args->out, "receive");
    if (code != MPI_SUCCESS)
        return code;
    if (is_in_place(&call->send) && !c->comm->local) {
        args->in.at = args->out.at;
        return MPI_SUCCESS;
    }
    code = check_buffer(c, &call->send, 1, &args->in, "send");
    if (code == MPI_SUCCESS && overlap(one_of(&args->in), one_of(&args->out)))
        code = same_memory(c);
    return code;
}

static int check_reduction(const struct weft_check *c, struct weft_coll_args *args)
{
    const struct weft_coll_call *call = c->call;
    bool rooted = call->kind == WEFT_COLL_REDUCE, inter = c->comm->local != NULL;
    int code = check_elements(call->send.count, call->send.type, 1, &args->in);
    if (code == MPI_SUCCESS)
        code = check_op(c, args);
    if (code == MPI_SUCCESS && rooted && !inter)
        code = check_root(c, args);
    if (code != MPI_SUCCESS)
        return code;
    args->out.count = args->in.count;
    args->out.type = args->in.type;
    if (rooted && args->root != (inter ? MPI_ROOT : c->comm->rank))
        return check_buffer(c, &call->send, 1, &args->in, "send");
    if (rooted && inter) /* the root of the other group has no operand */
        return check_buffer(c, &call->receive, 1, &args->out, "receive");
    return check_result(c, args);
}

/* The result of rank 0 is not significant: its buffer is not written, and may hold the data. */
static int check_exscan(const struct weft_check *c, struct weft_coll_args *args)
{
    const struct weft_coll_side *data = &c->call->send;
    if (c->comm->rank != 0 || is_in_place(data))
        return check_reduction(c, args);
    int code = check_elements(data->count, data->type, 1, &args->in);
    if (code == MPI_SUCCESS)
        code = check_op(c, args);
    if (code == MPI_SUCCESS)
        code = check_buffer(c, data, 1, &args->in, "send");
    args->out = args->in;
    return code;
}

/* The counts of a reduce_scatter for so many ranks; args->in.count becomes their sum. */
static int check_split(const struct weft_check *c, int size, struct weft_coll_args *args)
{
    struct weft_ints counts = c->call->receive.arrays->counts;
    MPI_Count sum = 0;
    if (!counts.at)
        return weft_error_set(MPI_ERR_ARG, "the array of counts is a null pointer");
    for (int i = 0; i < size; i++) {
        int64_t count = weft_int_of(counts, i);
        if (count < 0)
            return weft_error_set(MPI_ERR_COUNT, "the count of entry %d, %lld, is negative", i,
                                  (long long)count);
        if (__builtin_add_overflow(sum, (MPI_Count)count, &sum))
            return weft_error_set(MPI_ERR_COUNT,
                                  "the counts add up to more than fits an MPI_Count");
    }
    return check_elements(sum, c->call->send.type, 1, &args->in);
}

/* On an inter-communicator the blocks are those of the own group. */
static int check_reduce_scatter(const struct weft_check *c, struct weft_coll_args *args)
{
    const struct weft_coll_call *call = c->call;
    const struct weft_comm *comm = c->comm;
    bool block = call->kind == WEFT_COLL_REDUCE_SCATTER_BLOCK;
    bool in_place = is_in_place(&call->send) && !comm->local;
    size_t size = (size_t)comm->group->size;
    int code = block ? check_elements(call->receive.count, call->send.type, size, &args->in)
                     : check_split(c, comm->group->size, args);
    if (code == MPI_SUCCESS)
        code = check_op(c, args);
    if (code != MPI_SUCCESS)
        return code;
    args->out = args->in; /* in place, all is in the receive buffer */
    if (block)
        args->in.count *= size;
    else if (!in_place)
        args->out.count = (size_t)weft_int_of(call->receive.arrays->counts, comm->rank);
    code = check_result(c, args);
    if (!block)
        args->out.arrays = call->receive.arrays;
    return code;
}

static int check_blocks(const struct weft_coll_side *side, bool vector, int n,
                        struct weft_blocks *out)
{
    return vector ? check_vector(side, n, out)
                  : check_elements(side->count, side->type, (size_t)n, out);
}

static int check_side(const struct weft_check *c, const struct weft_coll_side *side, bool vector,
                      int n, struct weft_blocks *out, const char *which)
{
    int code = check_blocks(side, vector, n, out);
    return code ? code : check_buffer(c, side, n, out, which);
}

/* A rank that sends or receives a block for each rank (all), and one block on the other side. What
 * a root of a scatter receives may be in place, and what all others send. */
static int check_exchange(const struct weft_check *c, bool send_all, bool receive_all, bool vector,
                          struct weft_coll_args *args)
{
    const struct weft_coll_call *call = c->call;
    bool in_place = is_in_place(receive_all ? &call->send : &call->receive);
    bool sends = !in_place || !receive_all, receives = !in_place || receive_all;
    int sent = send_all ? c->comm->size : 1, received = receive_all ? c->comm->size : 1;
    int code = MPI_SUCCESS;
    if (sends)
        code = check_blocks(&call->send, vector && send_all, sent, &args->in);
    if (code == MPI_SUCCESS && receives)
        code = check_blocks(&call->receive, vector && receive_all, received, &args->out);
    if (code == MPI_SUCCESS && receives)
        code = check_buffer(c, &call->receive, received, &args->out, "receive");
    if (code == MPI_SUCCESS && sends)
        code = check_buffer(c, &call->send, sent, &args->in, "send");
    if (code != MPI_SUCCESS)
        return code;
    if (!in_place)
        return check_own(c, args, sent, received);
    if (send_all && receive_all)
        args->in_place = true;
    else if (receive_all)
        args->in = block_of(weft_block(&args->out, c->comm->rank));
    else
        args->out = block_of(weft_block(&args->in, c->comm->rank));
    return MPI_SUCCESS;
}

static int check_gather(const struct weft_check *c, struct weft_coll_args *args)
{
    int code = check_root(c, args);
    if (c->comm->rank == args->root && code == MPI_SUCCESS)
        return check_exchange(c, false, true, c->call->kind == WEFT_COLL_GATHERV, args);
    return code ? code : check_side(c, &c->call->send, false, 1, &args->in, "send");
}

static int check_scatter(const struct weft_check *c, struct weft_coll_args *args)
{
    int code = check_root(c, args);
    if (c->comm->rank == args->root && code == MPI_SUCCESS)
        return check_exchange(c, true, false, c->call->kind == WEFT_COLL_SCATTERV, args);
    return code ? code : check_side(c, &c->call->receive, false, 1, &args->out, "receive");
}

/* Neighbourhood collectives (MPI 5.0 section 8.6): blocks are those of the neighbours, also of
 * those that are MPI_PROC_NULL; nothing is in place. */
static int check_neighbor(const struct weft_check *c, struct weft_coll_args *args)
{
    const struct weft_coll_call *call = c->call;
    enum weft_coll_kind kind = call->kind;
    bool gather = kind == WEFT_COLL_NEIGHBOR_ALLGATHER || kind == WEFT_COLL_NEIGHBOR_ALLGATHERV;
    bool vector = kind != WEFT_COLL_NEIGHBOR_ALLGATHER && kind != WEFT_COLL_NEIGHBOR_ALLTOALL;
    int in, out;
    if (!c->comm->topology)
        return weft_error_set(MPI_ERR_TOPOLOGY,
                              "the communicator has no topology; MPI_Cart_create, "
                              "MPI_Dist_graph_create and their like make one that "
                              "has");
    weft_topology_degrees(c->comm, &in, &out);
    int sent = gather ? 1 : out;
    int code = check_side(c, &call->send, vector && !gather, sent, &args->in, "send");
    if (code == MPI_SUCCESS)
        code = check_side(c, &call->receive, vector, in, &args->out, "receive");
    if (code == MPI_SUCCESS && share_memory(&args->in, sent, &args->out, in))
        code = weft_error_set(MPI_ERR_BUFFER, "send and receive buffer share memory");
    return code;
}

static inline void no_data(struct weft_blocks *blocks)
{
    blocks->at = NULL;
    blocks->count = 0;
    blocks->type = weft_handle_object(MPI_BYTE);
    blocks->arrays = NULL;
    blocks->n = 0;
}

/* ---- Inter-communicators: nothing is in place there, blocks are those of the other group, and a
 * root passes MPI_ROOT, the others of its group MPI_PROC_NULL. Nothing else of a rank that passes
 * MPI_PROC_NULL is read. */

static int check_inter_root(const struct weft_check *c, struct weft_coll_args *args)
{
    int root = args->root = c->call->root;
    if (root == MPI_ROOT || root == MPI_PROC_NULL || (root >= 0 && root < c->comm->size))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_ROOT,
                          "root %d is neither MPI_ROOT nor MPI_PROC_NULL nor in the "
                          "other group, which has ranks 0 to %d",
                          root, c->comm->size - 1);
}

/* A rank sends blocks for all of the other group, or one. */
static int check_send(const struct weft_check *c, struct weft_coll_args *args, bool blocks,
                      bool vector)
{
    return check_side(c, &c->call->send, vector, blocks ? c->comm->size : 1, &args->in, "send");
}

static int check_receive(const struct weft_check *c, struct weft_coll_args *args, bool blocks,
                         bool vector)
{
    return check_side(c, &c->call->receive, vector, blocks ? c->comm->size : 1, &args->out,
                      "receive");
}

/* Collectives with a root. */
static int check_rooted(const struct weft_check *c, struct weft_coll_args *args)
{
    int code = check_inter_root(c, args);
    if (code != MPI_SUCCESS || args->root == MPI_PROC_NULL)
        return code;
    bool is_root = args->root == MPI_ROOT;
    switch (c->call->kind) {
    case WEFT_COLL_BCAST:
        code = check_side(c, &c->call->send, false, 1, &args->in, "data");
        args->out = args->in;
        return code;
    case WEFT_COLL_REDUCE:
        return check_reduction(c, args);
    case WEFT_COLL_GATHER:
    case WEFT_COLL_GATHERV:
        return is_root ? check_receive(c, args, true, c->call->kind == WEFT_COLL_GATHERV)
                       : check_send(c, args, false, false);
    default:
        return is_root ? check_send(c, args, true, c->call->kind == WEFT_COLL_SCATTERV)
                       : check_receive(c, args, false, false);
    }
}

static int check_inter_exchange(const struct weft_check *c, struct weft_coll_args *args)
{
    enum weft_coll_kind kind = c->call->kind;
    bool gather = kind == WEFT_COLL_ALLGATHER || kind == WEFT_COLL_ALLGATHERV;
    bool vector = kind != WEFT_COLL_ALLGATHER && kind != WEFT_COLL_ALLTOALL;
    int code = check_send(c, args, !gather, vector && !gather);
    return code ? code : check_receive(c, args, true, vector);
}

static int check_inter(const struct weft_check *c, struct weft_coll_args *args)
{
    switch (c->call->kind) {
    case WEFT_COLL_BARRIER:
        return MPI_SUCCESS;
    case WEFT_COLL_BCAST:
    case WEFT_COLL_REDUCE:
    case WEFT_COLL_GATHER:
    case WEFT_COLL_GATHERV:
    case WEFT_COLL_SCATTER:
    case WEFT_COLL_SCATTERV:
        return check_rooted(c, args);
    case WEFT_COLL_ALLREDUCE:
        return check_reduction(c, args);
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
        return check_reduce_scatter(c, args);
    case WEFT_COLL_ALLGATHER:
    case WEFT_COLL_ALLGATHERV:
    case WEFT_COLL_ALLTOALL:
    case WEFT_COLL_ALLTOALLV:
    case WEFT_COLL_ALLTOALLW:
        return check_inter_exchange(c, args);
    default:
        return weft_error_set(MPI_ERR_COMM, "it is not defined on inter-communicators");
    }
}

/* ---- All communicators */

int weft_coll_check(const struct weft_coll_call *call, struct weft_comm *comm,
                    struct weft_coll_args *args)
{
    const struct weft_check c = {call, comm};
    args->kind = call->kind;
    args->comm = comm;
    no_data(&args->in);
    no_data(&args->out);
    args->op = NULL;
    args->root = 0;
    args->in_place = args->device = false;
    if (weft_unlikely(comm->local != NULL))
        return check_inter(&c, args);
    switch (call->kind) {
    case WEFT_COLL_BARRIER:
        return MPI_SUCCESS;
    case WEFT_COLL_BCAST:
        return check_bcast(&c, args);
    case WEFT_COLL_REDUCE:
    case WEFT_COLL_ALLREDUCE:
    case WEFT_COLL_SCAN:
        return check_reduction(&c, args);
    case WEFT_COLL_EXSCAN:
        return check_exscan(&c, args);
    case WEFT_COLL_REDUCE_SCATTER:
    case WEFT_COLL_REDUCE_SCATTER_BLOCK:
        return check_reduce_scatter(&c, args);
    case WEFT_COLL_GATHER:
    case WEFT_COLL_GATHERV:
        return check_gather(&c, args);
    case WEFT_COLL_SCATTER:
    case WEFT_COLL_SCATTERV:
        return check_scatter(&c, args);
    case WEFT_COLL_ALLGATHER:
    case WEFT_COLL_ALLGATHERV:
        return check_exchange(&c, false, true, call->kind == WEFT_COLL_ALLGATHERV, args);
    case WEFT_COLL_ALLTOALL:
    case WEFT_COLL_ALLTOALLV:
    case WEFT_COLL_ALLTOALLW:
        return check_exchange(&c, true, true, call->kind != WEFT_COLL_ALLTOALL, args);
    default:
        return check_neighbor(&c, args);
    }
}
