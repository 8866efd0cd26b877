// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks of the arguments of one-sided operations: see rma_call.h.
 */
#include "core/mpi/rma_call.h"
#include "core/datatype/device.h"
#include "core/message/count.h"

__extension__ typedef __int128 wide;

static bool is_accumulate(const struct weft_rma_arguments *a)
{
    return a->kind == WEFT_RMA_ACCUMULATE || a->kind == WEFT_RMA_GET_ACCUMULATE;
}

/* ---- One side */

static int check_side(const struct weft_win *win, const struct weft_rma_side *side,
                      const char *what, struct weft_rma_data *data, size_t *bytes)
{
    struct weft_datatype *type;
    int code = weft_arg_committed(side->type, &type);
    if (code == MPI_SUCCESS)
        code = weft_arg_bytes(side->count, type, bytes);
    if (code != MPI_SUCCESS)
        return code;
    *data = (struct weft_rma_data){
        (void *)side->at, *bytes ? weft_datatype_in(type, side->at, &win->host_only) : type};
    return weft_arg_buffer(side->at, *bytes, type, what);
}

/* ---- The target */

/* Checks where the data of the target begin and end, in bytes from the beginning of its window. */
static int check_range(const struct weft_win *win, const struct weft_rma_range *to,
                       struct weft_rma_call *call)
{
    const struct weft_win_target *target = &win->targets[to->rank];
    const struct weft_datatype *type = call->type;
    bool dynamic = win->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    if (weft_unlikely(!dynamic && to->disp < 0))
        return weft_error_set(MPI_ERR_DISP, "the displacement %lld is negative",
                              (long long)to->disp);
    wide at = (wide)to->disp * (dynamic ? 1 : target->unit);
    wide last = (wide)(to->count - 1) * type->extent;
    wide low = at + type->true_lb + (last < 0 ? last : 0);
    wide high = at + type->true_lb + type->true_extent + (last > 0 ? last : 0);
    wide most = dynamic ? INT64_MAX : (wide)target->bytes;
    if (weft_unlikely((!dynamic && low < 0) || high > most || low < INT64_MIN || high < low))
        return weft_error_set(MPI_ERR_RMA_RANGE,
                              "%lld elements at displacement %lld are not in the window of rank "
                              "%d, which has %lld bytes and the displacement unit %lld",
                              (long long)to->count, (long long)to->disp, to->rank,
                              (long long)target->bytes, (long long)target->unit);
    call->at = (int64_t)at;
    call->low = (int64_t)low;
    call->high = (int64_t)high;
    return MPI_SUCCESS;
}

/* ---- Accumulate operations */

static bool same_element(const struct weft_datatype *a, const struct weft_datatype *b)
{
    return a->basic_type == b->basic_type && a->basic_type != WEFT_BASIC_NONE;
}

static int check_op(const struct weft_rma_arguments *a, struct weft_rma_call *call)
{
    const struct weft_op *op = weft_handle_resolve(a->op, WEFT_KIND_OP);
    if (!op || op->id == WEFT_OP_USER)
        return weft_error_set(
            MPI_ERR_OP,
            "the operation %p is not predefined; MPI_Accumulate and the like take no other",
            (void *)a->op);
    if (op->id == WEFT_OP_NO_OP && a->kind == WEFT_RMA_ACCUMULATE)
        return weft_error_set(MPI_ERR_OP, "MPI_NO_OP is for operations that have a result");
    if (weft_op_check(op, call->type->basic_type) != MPI_SUCCESS)
        return weft_error_set(MPI_ERR_OP, "%s does not apply to the datatype at the target",
                              op->name);
    if ((op->id != WEFT_OP_NO_OP && !same_element(call->origin.type, call->type)) ||
        (call->result.type && !same_element(call->result.type, call->type)))
        return weft_error_set(MPI_ERR_TYPE,
                              "the datatypes of an accumulate operation are not made of the same "
                              "predefined type");
    call->op = op;
    return MPI_SUCCESS;
}

static int check_swap(const struct weft_win *win, const struct weft_rma_call *call)
{
    enum weft_basic_type elem = call->type->basic_type;
    if (!call->compare)
        return weft_error_set(MPI_ERR_BUFFER, "the value to compare with is a null pointer");
    if (weft_unlikely(weft_gpu_enabled) && !win->host_only && weft_gpu_owns(call->compare))
        return weft_error_set(MPI_ERR_BUFFER,
                              "the value to compare with, at %p, is in memory of a GPU; it has to "
                              "be in host memory, origin and result may be in GPU memory",
                              call->compare);
    bool takes = (elem >= WEFT_BASIC_INT8 && elem <= WEFT_BASIC_ADDRESS) ||
                 (elem >= WEFT_BASIC_BOOL && elem <= WEFT_BASIC_CHAR);
    if (takes && (call->type->flags & WEFT_TYPE_PREDEFINED))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_TYPE, "MPI_Compare_and_swap takes predefined integers, logicals, "
                                        "characters and bytes, no other datatype");
}

/* ---- */

static int mismatch(const char *what, size_t there, size_t here)
{
    return weft_error_set(MPI_ERR_TYPE,
                          "the %zu bytes at the target are not as many as the %zu "
                          "of the %s buffer",
                          there, here, what);
}

static int check_data(const struct weft_win *win, const struct weft_rma_arguments *a,
                      struct weft_rma_call *call)
{
    size_t origin = 0, result = 0, there = 0;
    struct weft_datatype *type = NULL;
    bool reads_origin = a->op != MPI_NO_OP || !is_accumulate(a);
    int code =
        reads_origin ? check_side(win, a->origin, "origin", &call->origin, &origin) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && a->result)
        code = check_side(win, a->result, "result", &call->result, &result);
    if (code == MPI_SUCCESS)
        code = weft_arg_committed(a->target->type, &type);
    if (code == MPI_SUCCESS)
        code = weft_arg_bytes(a->target->count, type, &there);
    if (code == MPI_SUCCESS && reads_origin && origin != there)
        code = mismatch("origin", there, origin);
    if (code == MPI_SUCCESS && a->result && result != there)
        code = mismatch("result", there, result);
    call->type = type;
    call->bytes = there;
    return code;
}

/* Checks all arguments. *call is what to start; its bytes are 0 when there is nothing to do. */
static int check_call(const struct weft_win *win, const struct weft_rma_arguments *a,
                      struct weft_rma_call *call)
{
    int code = check_data(win, a, call);
    if (code == MPI_SUCCESS && call->bytes && is_accumulate(a))
        code = check_op(a, call);
    if (code == MPI_SUCCESS && a->kind == WEFT_RMA_COMPARE_AND_SWAP)
        code = check_swap(win, call);
    if (code == MPI_SUCCESS && call->bytes)
        code = check_range(win, a->target, call);
    return code;
}

static int check_request_epoch(const struct weft_win *win)
{
    if (win->access == WEFT_WIN_LOCKED || win->access == WEFT_WIN_LOCKED_ALL)
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_RMA_SYNC, "operations with a request need a lock: call "
                                            "MPI_Win_lock or MPI_Win_lock_all first");
}

/* ---- The fast attempt: elements of one plain type on all sides, in memory that is mapped here, of
 * a target that is locked */

/* The address of the data at the target. NULL: a check is left to the general path. */
static char *locate_now(const struct weft_win *win, const struct weft_rma_range *to, size_t *bytes)
{
    const struct weft_win_target *target = &win->targets[to->rank];
    uint64_t at, count = (uint64_t)to->count;
    size_t size = weft_datatype_plain_size(to->type);
    if (!target->base || !target->lock || !size || !count || to->disp < 0 ||
        __builtin_mul_overflow((uint64_t)to->disp, (uint64_t)target->unit, &at) ||
        __builtin_mul_overflow(count, size, bytes) || at > (uint64_t)target->bytes ||
        *bytes > (uint64_t)target->bytes - at)
        return NULL;
    return target->base + at;
}

static bool is_alike(const struct weft_rma_side *side, const struct weft_rma_range *to)
{
    return weft_is_address(side->at) && side->type == to->type && side->count == to->count;
}

static bool accumulate_now(struct weft_win *win, const struct weft_rma_arguments *a, char *there,
                           size_t bytes, int *code)
{
    const struct weft_datatype *type = weft_handle_object(a->target->type);
    const struct weft_op *op = weft_handle_resolve(a->op, WEFT_KIND_OP);
    if (!op || op->id == WEFT_OP_USER || (op->id == WEFT_OP_NO_OP && !a->result) ||
        weft_op_check(op, type->basic_type) != MPI_SUCCESS)
        return false;
    int target = a->target->rank;
    struct weft_rma_apply apply = {
        op, type->basic_type, win, target,
        weft_win_is_alone(win, (enum weft_win_lock)win->targets[target].lock)};
    *code = weft_rma_apply_run(&apply, there, bytes, a->origin->at,
                               a->result ? (void *)a->result->at : NULL);
    return true;
}

/* False, and nothing was done, if a check is left to the general path. *code: the outcome of what
 * was done. */
static bool do_now(struct weft_win *win, const struct weft_rma_arguments *a, int *code)
{
    size_t bytes;
    char *there = locate_now(win, a->target, &bytes);
    if (!there || !is_alike(a->origin, a->target) || (a->result && !is_alike(a->result, a->target)))
        return false;
    switch (a->kind) {
    case WEFT_RMA_PUT:
        memmove(there, a->origin->at, bytes);
        break;
    case WEFT_RMA_GET:
        memmove((void *)a->origin->at, there, bytes);
        break;
    case WEFT_RMA_ACCUMULATE:
    case WEFT_RMA_GET_ACCUMULATE:
        if (!accumulate_now(win, a, there, bytes, code))
            return false;
        break;
    case WEFT_RMA_COMPARE_AND_SWAP:
        return false;
    }
    weft_count_add(&weft_counts.rma_direct, 1);
    return true;
}

/* ---- */

int weft_rma_call(struct weft_win *win, const struct weft_rma_arguments *a,
                  struct weft_request **request)
{
    int rank = a->target->rank, code = weft_arg_win_rank(win, rank);
    bool on_host = weft_likely(!(weft_entry_flags & WEFT_ENTRY_GPU));
    if (code == MPI_SUCCESS && rank != MPI_PROC_NULL && !request && on_host &&
        do_now(win, a, &code))
        return code;
    struct weft_rma_call call = {.kind = a->kind, .target = rank, .compare = a->compare};
    if (code == MPI_SUCCESS && rank != MPI_PROC_NULL) {
        code = request ? check_request_epoch(win) : MPI_SUCCESS;
        if (code == MPI_SUCCESS)
            code = check_call(win, a, &call);
        if (code == MPI_SUCCESS)
            code = call.bytes ? weft_rma_start(win, &call, request) : weft_win_access(win, rank);
    }
    if (request && !*request && code == MPI_SUCCESS)
        *request = weft_request_to_nowhere(win->comm->vci);
    return code;
}
