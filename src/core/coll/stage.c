// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reductions of device memory: see stage.h.
 *
 * Invariant: the algorithm of a collective does not depend on where its buffers are.
 */
#include "core/coll/stage.h"

#include "core/coll/schedule.h"

#include "core/base/error.h"
#include "core/comm/nodes.h"
#include "core/message/process.h"

#include <stdlib.h>

static bool is_in_device(struct weft_elements data)
{
    return weft_elements_bytes(data) && weft_gpu_owns((const void *)weft_elements_start(data));
}

/* In a v- or w-form the first block with data decides: a copy in device memory takes addresses of
 * the host, too. */
static bool is_any_in_device(const struct weft_blocks *blocks)
{
    struct weft_elements data = {blocks->at, blocks->count, blocks->type};
    if (!blocks->at && !blocks->arrays)
        return false;
    if (!blocks->arrays || !blocks->arrays->displs.at)
        return is_in_device(data);
    for (int i = 0; i < blocks->n; i++) {
        data = weft_block(blocks, i);
        if (weft_elements_bytes(data))
            return is_in_device(data);
    }
    return false;
}

static void classify(struct weft_blocks *blocks)
{
    if (is_any_in_device(blocks))
        blocks->type = weft_datatype_in_device(blocks->type);
}

static bool is_device(const struct weft_blocks *blocks)
{
    return blocks->type->flags & WEFT_TYPE_DEVICE;
}

/* The operands of a reduction that is not staged are longer than this. */
enum { STAGED_MAX = 4 << 20 };

/* Other reductions copy less if they are staged: a scan combines all data at each level, a reduce
 * on several nodes goes in short segments, a reduce-scatter on one through an area on the host. */
static bool is_long(const struct weft_coll_args *args)
{
    return (args->kind == WEFT_COLL_ALLREDUCE ||
            (args->kind == WEFT_COLL_REDUCE && !weft_nodes_of(args->comm->group))) &&
           args->in.count * args->in.type->size > STAGED_MAX;
}

void weft_stage_classify(struct weft_coll_args *args)
{
    classify(&args->in);
    classify(&args->out);
    if (!weft_stage_is_needed(args) || !is_long(args))
        return;
    args->device = true;
    args->in.type = weft_datatype_in_host(args->in.type);
    args->out.type = weft_datatype_in_host(args->out.type);
}

bool weft_stage_is_needed(const struct weft_coll_args *args)
{
    return args->op && (is_device(&args->in) || is_device(&args->out));
}

/* A buffer on the host for elements. */
static struct weft_elements copy_of(struct weft_elements data, struct weft_schedule *s,
                                    void **memory)
{
    const struct weft_datatype *type = weft_datatype_in_host(data.type);
    if (s)
        return weft_schedule_elements(s, type, data.count);
    *memory = malloc(weft_elements_span(type, data.count));
    return weft_elements_in(*memory, type, data.count);
}

/* The elements of a rank's result. */
static size_t results(const struct weft_coll_args *args)
{
    const struct weft_arrays *arrays = args->out.arrays;
    return arrays ? (size_t)weft_int_of(arrays->counts, args->comm->rank) : args->out.count;
}

static void close_stage(struct weft_stage *stage)
{
    free(stage->memory[0]);
    free(stage->memory[1]);
}

int weft_stage_open(struct weft_stage *stage, struct weft_coll_args *args, struct weft_schedule *s)
{
    bool in_place = args->in.at == args->out.at;
    *stage = (struct weft_stage){.fills = args->kind == WEFT_COLL_EXSCAN && !in_place};
    if (is_device(&args->in)) {
        stage->in = (struct weft_elements){args->in.at, args->in.count, args->in.type};
        stage->host_in = copy_of(stage->in, s, &stage->memory[0]);
        args->in.at = stage->host_in.at;
    }
    if (is_device(&args->out) && results(args)) {
        stage->out = (struct weft_elements){args->out.at, results(args), args->out.type};
        if (in_place)
            stage->host_out = weft_elements_slice(stage->host_in, 0, stage->out.count);
        else
            stage->host_out = copy_of(stage->out, s, &stage->memory[1]);
        args->out.at = stage->host_out.at;
    }
    args->in.type = weft_datatype_in_host(args->in.type);
    args->out.type = weft_datatype_in_host(args->out.type);
    bool lacks = !s && ((stage->in.count && !stage->memory[0]) ||
                        (stage->out.count && !in_place && !stage->memory[1]));
    if (!lacks && !(s && s->failed))
        return MPI_SUCCESS;
    close_stage(stage);
    return weft_error_set(MPI_ERR_NO_MEM, "no memory for a copy of a buffer in GPU memory");
}

void weft_stage_begin(const struct weft_stage *stage)
{
    if (stage->in.count)
        weft_elements_copy(stage->in, stage->host_in);
    if (stage->out.count && stage->fills)
        weft_elements_copy(stage->out, stage->host_out);
}

void weft_stage_end(const struct weft_stage *stage)
{
    if (stage->out.count)
        weft_elements_copy(stage->host_out, stage->out);
}

int weft_stage_run(struct weft_coll_args *args)
{
    struct weft_stage stage;
    weft_stage_classify(args);
    if (!weft_stage_is_needed(args))
        return weft_coll_run(args);
    int code = weft_stage_open(&stage, args, NULL);
    if (code != MPI_SUCCESS) {
        weft_coll_refuse(args->comm, false, code);
        return code;
    }
    weft_stage_begin(&stage);
    code = weft_coll_run(args);
    weft_stage_end(&stage);
    close_stage(&stage);
    return code;
}

/* ---- Combining in segments */

enum { SEGMENT = 256 << 10, LEFT_SLOTS = 2, RIGHT_SLOTS = 3, PAGE = 4096 };
enum { SLOTS = LEFT_SLOTS + RIGHT_SLOTS };

/* An operand. If it is in device memory, segment i is combined in slot i % n on the host, from the
 * end of a copy to it until the start of the next one. */
struct operand {
    struct weft_elements data;
    size_t each; /* elements of a segment */
    unsigned n;  /* slots; 0: the data are on the host */
    char *slots;
    size_t slot;                               /* bytes of one */
    struct weft_gpu_event copies[RIGHT_SLOTS]; /* from or to each slot */
};

static struct weft_elements on_host(const struct operand *o, size_t i)
{
    struct weft_elements segment = weft_elements_segment(o->data, o->each, i);
    return o->n ? weft_elements_in(o->slots + i % o->n * o->slot,
                                   weft_datatype_in_host(segment.type), segment.count)
                : segment;
}

/* Starts a copy of a segment. Data with holes are copied at once. */
static void start_copy(struct operand *o, enum weft_copy direction, size_t i)
{
    struct weft_elements device = weft_elements_segment(o->data, o->each, i), host = on_host(o, i);
    if (!o->n)
        return;
    if (host.type->flags & WEFT_TYPE_CONTIGUOUS)
        o->copies[i % o->n] =
            weft_device_copy_start(direction, device.type, device.at, 0,
                                   (void *)weft_elements_start(host), weft_elements_bytes(host));
    else if (direction == WEFT_PACK)
        weft_elements_copy(device, host);
    else
        weft_elements_copy(host, device);
}

static void wait_for_copy(struct operand *o, size_t i)
{
    while (o->n && !weft_gpu_has_ended(&o->copies[i % o->n]))
        continue;
}

/* While segment i is combined, segment i + 1 is copied in and segment i - 1 is copied out. */
static void combine_segments(const struct weft_op *op, struct operand *left, struct operand *right)
{
    const struct weft_datatype *type = weft_datatype_in_host(left->data.type);
    size_t each = left->each, n = (left->data.count + each - 1) / each;
    start_copy(left, WEFT_PACK, 0);
    start_copy(right, WEFT_PACK, 0);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n) {
            wait_for_copy(right, i + 1); /* out of its slot */
            start_copy(left, WEFT_PACK, i + 1);
            start_copy(right, WEFT_PACK, i + 1);
        }
        wait_for_copy(left, i);
        wait_for_copy(right, i);
        struct weft_elements to = on_host(right, i);
        weft_op_combine(op, type, on_host(left, i).at, to.at, to.count);
        start_copy(right, WEFT_UNPACK, i);
    }
    for (size_t i = 0; i < RIGHT_SLOTS; i++)
        wait_for_copy(right, i);
}

/* The memory for segments: that of the VCI, unless it is in use (by a combination that has called a
 * user's function) or too short for one element. */
static char *get_segments(struct weft_vci *vci, size_t bytes, bool *pinned)
{
    char *at = vci->coll.segments.at;
    weft_assert(weft_vci_is_held(vci));
    *pinned = at && vci->coll.segments.pinned;
    if (bytes > SLOTS * SEGMENT)
        return malloc(bytes);
    vci->coll.segments.at = NULL;
    if (at)
        return at;
    at = aligned_alloc(PAGE, SLOTS * SEGMENT);
    *pinned = at && weft_gpu_pin(at, SLOTS * SEGMENT);
    return at;
}

static void free_segments(char *at, bool pinned)
{
    if (at && pinned)
        weft_gpu_unpin(at);
    free(at);
}

static void put_segments(struct weft_vci *vci, size_t bytes, char *at, bool pinned)
{
    if (bytes > SLOTS * SEGMENT) {
        free(at);
        return;
    }
    free_segments(vci->coll.segments.at, vci->coll.segments.pinned);
    vci->coll.segments.at = at;
    vci->coll.segments.pinned = pinned;
}

int weft_stage_combine(struct weft_vci *vci, const struct weft_op *op, struct weft_elements in,
                       struct weft_elements inout)
{
    struct operand left = {.data = in}, right = {.data = inout};
    const struct weft_datatype *type = weft_datatype_in_host(in.type);
    bool pinned;
    if (!((in.type->flags | inout.type->flags) & WEFT_TYPE_DEVICE) || !in.count) {
        weft_op_combine(op, type, in.at, inout.at, in.count);
        return MPI_SUCCESS;
    }
    size_t extent = weft_elements_span(type, 2) - weft_elements_span(type, 1);
    left.each = right.each = extent && extent < SEGMENT ? SEGMENT / extent : 1;
    left.slot = right.slot = (weft_elements_span(type, left.each) + 63) / 64 * 64;
    char *memory = get_segments(vci, SLOTS * left.slot, &pinned);
    if (!memory)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for copies of a buffer in GPU memory");
    left.n = in.type->flags & WEFT_TYPE_DEVICE ? LEFT_SLOTS : 0;
    right.n = inout.type->flags & WEFT_TYPE_DEVICE ? RIGHT_SLOTS : 0;
    left.slots = memory;
    right.slots = memory + LEFT_SLOTS * left.slot;
    combine_segments(op, &left, &right);
    put_segments(vci, SLOTS * left.slot, memory, pinned);
    return MPI_SUCCESS;
}

int weft_stage_reduce_local(const struct weft_op *op, const struct weft_datatype *type,
                            const void *in, void *inout, size_t count)
{
    weft_op_retain(op); /* a function of the user may free both */
    weft_datatype_retain(type);
    int code = weft_stage_combine(
        &weft.vcis[0], op, (struct weft_elements){(void *)in, count, weft_datatype_at(type, in)},
        (struct weft_elements){inout, count, weft_datatype_at(type, inout)});
    weft_datatype_release(type);
    weft_op_release(op);
    return code;
}

void weft_stage_finalize(void)
{
    for (unsigned i = 0; i < weft.nvcis; i++) {
        struct weft_vci *vci = &weft.vcis[i];
        free_segments(vci->coll.segments.at, vci->coll.segments.pinned);
        vci->coll.segments.at = NULL;
    }
}
