// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operations: directly where the target's memory is in this process, else by messages.
 *
 * Invariant: a direct operation is complete when weft_rma_start returns; what orders it with those
 * of other ranks is the memory fence of the next synchronization.
 */
#include "core/datatype/iov.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/message/process.h"
#include "core/rma/message.h"
#include "core/message/count.h"

#include <string.h>

enum { CHUNK = 8192 };

static void *location(const void *base, int64_t offset)
{
    return (void *)((uintptr_t)base + (uintptr_t)offset);
}

size_t weft_rma_list_runs(const struct weft_rma_call *call, size_t done, size_t most,
                          struct weft_run *runs, size_t *nruns)
{
    const struct weft_datatype *type = call->type;
    size_t end = call->bytes - done < most ? call->bytes : done + most, bytes = 0;
    *nruns = weft_layout_list_runs(type->layout, type->extent, (MPI_Aint)call->at, done, end, runs,
                                   WEFT_RMA_RUNS);
    for (size_t i = 0; i < *nruns; i++)
        bytes += runs[i].bytes;
    weft_assert(*nruns <= WEFT_RMA_RUNS && bytes > 0 && bytes <= end - done);
    size_t surplus = call->op ? bytes % weft_rma_element_bytes(type->basic_type) : 0;
    for (bytes -= surplus; surplus;) { /* of the last element, which is incomplete */
        struct weft_run *last = &runs[*nruns - 1];
        size_t cut = surplus < last->bytes ? surplus : last->bytes;
        last->bytes -= cut;
        surplus -= cut;
        *nruns -= last->bytes == 0;
    }
    return bytes;
}

/* ---- Puts and gets that the kernel copies */

/* *copied is false if the kernel refused: this target is left to messages. */
static int copy_by_kernel(struct weft_win_target *target, const struct weft_rma_call *call,
                          bool *copied)
{
    enum { AT_ONCE = 64 << 20 };
    bool put = call->kind == WEFT_RMA_PUT;
    *copied = false;
    char chunk[CHUNK];
    const struct weft_rma_data *origin = &call->origin;
    char *run = weft_datatype_run(origin->type, origin->at, call->bytes);
    size_t most = run ? AT_ONCE : CHUNK;
    for (size_t done = 0, bytes; done < call->bytes; done += bytes) {
        struct weft_run runs[WEFT_RMA_RUNS];
        struct iovec there[WEFT_RMA_RUNS];
        size_t n;
        bytes = weft_rma_list_runs(call, done, most, runs, &n);
        for (size_t i = 0; i < n; i++)
            there[i] = (struct iovec){location((void *)target->remote, runs[i].at), runs[i].bytes};
        if (put && !run)
            weft_datatype_pack(origin->type, origin->at, done, chunk, bytes);
        if (weft_segment_copy(target->pid, put, run ? run + done : chunk, bytes, there, n)) {
            target->pid = 0;
            return run ? weft_memory_check_buffer("origin", run, call->bytes, !put, call->target)
                       : MPI_SUCCESS;
        }
        if (!put && !run)
            weft_datatype_unpack(origin->type, origin->at, done, chunk, bytes);
    }
    *copied = true;
    return MPI_SUCCESS;
}

/* ---- Accumulate operations */

/* Bytes [from, to) of the packed form, all of whose runs at the target fit into the list. */
static int apply_chunk(const struct weft_rma_apply *apply, const struct weft_rma_call *call,
                       char *base, size_t from, const struct weft_run *runs, size_t nruns,
                       size_t bytes)
{
    _Alignas(16) char in[CHUNK], out[CHUNK];
    bool reads = call->op->id != WEFT_OP_NO_OP;
    if (reads)
        weft_datatype_pack(call->origin.type, call->origin.at, from, in, bytes);
    int code =
        weft_rma_apply(apply, base, runs, nruns, reads ? in : NULL, call->result.type ? out : NULL);
    if (call->result.type)
        weft_datatype_unpack(call->result.type, call->result.at, from, out, bytes);
    return code;
}

/* All at once, when origin, result and target are one run each. */
static bool apply_all(const struct weft_rma_apply *apply, const struct weft_rma_call *call,
                      char *base, int *code)
{
    bool reads = call->op->id != WEFT_OP_NO_OP;
    char *in = reads ? weft_datatype_run(call->origin.type, call->origin.at, call->bytes) : NULL;
    char *out = call->result.type
                    ? weft_datatype_run(call->result.type, call->result.at, call->bytes)
                    : NULL;
    char *at = weft_datatype_run(call->type, location(base, call->at), call->bytes);
    if (!at || (reads && !in) || (call->result.type && !out))
        return false;
    *code = weft_rma_apply_run(apply, at, call->bytes, in, out);
    return true;
}

static int accumulate(const struct weft_rma_apply *apply, const struct weft_rma_call *call,
                      char *base)
{
    int code = MPI_SUCCESS;
    if (apply_all(apply, call, base, &code))
        return code;
    for (size_t done = 0, bytes; done < call->bytes; done += bytes) {
        struct weft_run runs[WEFT_RMA_RUNS];
        size_t n;
        bytes = weft_rma_list_runs(call, done, CHUNK, runs, &n);
        int failed = apply_chunk(apply, call, base, done, runs, n, bytes);
        code = failed ? failed : code;
    }
    return code;
}

/* ---- Compare and swap */

/* Through copies on the host: the buffers may be in GPU memory. */
static int swap(const struct weft_rma_apply *apply, const struct weft_rma_call *call, char *there)
{
    char value[WEFT_RMA_SWAP_BYTES], found[WEFT_RMA_SWAP_BYTES];
    weft_assert(call->bytes <= WEFT_RMA_SWAP_BYTES);
    weft_datatype_pack(call->origin.type, call->origin.at, 0, value, call->bytes);
    int code = weft_rma_compare_and_swap(apply, there, call->bytes, call->compare, value, found);
    weft_datatype_unpack(call->result.type, call->result.at, 0, found, call->bytes);
    return code;
}

/* ---- All mechanisms */

static int operate_directly(struct weft_win *win, const struct weft_rma_call *call)
{
    const struct weft_win_target *target = &win->targets[call->target];
    void *there = location(target->base, call->at);
    struct weft_rma_apply apply = {.op = call->op,
                                   .element = call->type->basic_type,
                                   .win = win,
                                   .target = call->target,
                                   .alone = weft_win_is_alone(win, target->lock)};
    switch (call->kind) {
    case WEFT_RMA_PUT:
        weft_datatype_copy(call->origin.type, call->origin.at, call->type, there, call->bytes);
        return MPI_SUCCESS;
    case WEFT_RMA_GET:
        weft_datatype_copy(call->type, there, call->origin.type, call->origin.at, call->bytes);
        return MPI_SUCCESS;
    case WEFT_RMA_COMPARE_AND_SWAP:
        return swap(&apply, call, there);
    case WEFT_RMA_ACCUMULATE:
    case WEFT_RMA_GET_ACCUMULATE:
        break;
    }
    return accumulate(&apply, call, target->base);
}

static struct weft_request *make_request(struct weft_win *win, int pending)
{
    struct weft_request *request = weft_request_get(win->comm->vci, WEFT_REQUEST_RMA, pending);
    if (!request)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for another request");
    request->channel = &win->comm->p2p;
    request->peer = NULL;
    request->source = MPI_ANY_SOURCE;
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    return request;
}

/* Checks that the data are in this rank's own window, for targets without a base. Holes of the type
 * are not accessed, so each run may be in another region. */
static int check_own(const struct weft_win *win, const struct weft_rma_call *call)
{
    char *where;
    for (size_t done = 0, bytes; done < call->bytes; done += bytes) {
        struct weft_run runs[WEFT_RMA_RUNS];
        size_t n;
        bytes = weft_rma_list_runs(call, done, SIZE_MAX, runs, &n);
        for (size_t i = 0; i < n; i++)
            if (!weft_win_contains(win, runs[i].at, runs[i].bytes, &where))
                return weft_error_set(
                    MPI_ERR_RMA_RANGE,
                    "the %zu bytes at %p are not attached to the window of rank %d", runs[i].bytes,
                    (void *)(intptr_t)runs[i].at, call->target);
    }
    return MPI_SUCCESS;
}

/* True if the kernel copies the data. Another process may have the pid of a dead rank. */
static bool goes_by_kernel(const struct weft_win *win, const struct weft_rma_call *call)
{
    return win->targets[call->target].pid && call->kind <= WEFT_RMA_GET &&
           !(weft_counts.deaths && weft_rma_is_dead(win, call->target));
}

int weft_rma_start(struct weft_win *win, const struct weft_rma_call *call,
                   struct weft_request **request)
{
    weft_assert(call->bytes > 0 && weft_vci_is_held(win->comm->vci));
    struct weft_win_target *target = &win->targets[call->target];
    bool own = call->target == win->comm->rank, direct = target->base || own;
    int code = weft_win_access(win, call->target);
    if (code == MPI_SUCCESS && own && !target->base)
        code = check_own(win, call);
    if (code == MPI_SUCCESS && direct)
        code = operate_directly(win, call);
    else if (code == MPI_SUCCESS && goes_by_kernel(win, call))
        code = copy_by_kernel(target, call, &direct);
    if (code != MPI_SUCCESS)
        return code;
    weft_count_add(&weft_counts.rma_direct, direct);
    if (request)
        *request = make_request(win, direct ? 0 : 1);
    return direct ? MPI_SUCCESS : weft_rma_send(win, call, request ? *request : NULL);
}
