// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reductions of device memory: see stage.h.
 *
 * Invariant: the algorithm of a collective does not depend on where its buffers are.
 */
#include "core/coll/stage.h"

#include "core/coll/schedule.h"

#include "core/base/error.h"
#include "core/base/memory.h"

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

void weft_stage_classify(struct weft_coll_args *args)
{
    classify(&args->in);
    classify(&args->out);
}

static bool is_device(const struct weft_blocks *blocks)
{
    return blocks->type->flags & WEFT_TYPE_DEVICE;
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
    weft_stage_close(stage);
    return weft_error_set(MPI_ERR_NO_MEM, "no memory for a copy of a buffer in GPU memory");
}

void weft_stage_close(struct weft_stage *stage)
{
    free(stage->memory[0]);
    free(stage->memory[1]);
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
    weft_stage_close(&stage);
    return code;
}

int weft_stage_combine(const struct weft_op *op, const struct weft_datatype *type, const void *in,
                       void *inout, size_t count)
{
    struct weft_elements left = {(void *)in, count, weft_datatype_at(type, in)};
    struct weft_elements right = {inout, count, weft_datatype_at(type, inout)};
    struct weft_elements host_left = left, host_right = right;
    void *memory[2] = {NULL, NULL};
    if (weft_unlikely(left.type != type) && count)
        host_left = copy_of(left, NULL, &memory[0]);
    if (weft_unlikely(right.type != type) && count)
        host_right = copy_of(right, NULL, &memory[1]);
    bool lacks =
        (host_left.at != left.at && !memory[0]) || (host_right.at != right.at && !memory[1]);
    if (!lacks) {
        weft_elements_copy(left, host_left);
        weft_elements_copy(right, host_right);
        weft_op_combine(op, type, host_left.at, host_right.at, count);
        weft_elements_copy(host_right, right);
    }
    free(memory[0]);
    free(memory[1]);
    return lacks ? weft_error_set(MPI_ERR_NO_MEM, "no memory for a copy of a buffer in GPU memory")
                 : MPI_SUCCESS;
}
