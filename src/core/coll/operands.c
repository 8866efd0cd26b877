// SPDX-License-Identifier: BSD-3-Clause
/*
 * Combining operands: see operands.h.
 */
#include "core/coll/operands.h"

#include "core/coll/choose.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are combined at a time: those of CHUNK fit the first-level cache; chunks of SMALL
 * bytes for all levels are on the stack, which has 16 KiB in some threads. */
enum { CHUNK = 4096, SMALL = 256, LEVELS_MAX = 6 };
_Static_assert(1 << LEVELS_MAX == WEFT_OPERANDS_MAX, "a level for each bit of a rank");

void weft_operands_describe(struct weft_operands *o, const struct weft_coll_args *args)
{
    const struct weft_choice choice = {.kind = args->kind,
                                       .size = args->comm->size,
                                       .bytes = args->in.count * args->in.type->size,
                                       .gives = WEFT_NEED_COMMUTATIVE};
    bool tree = args->kind == WEFT_COLL_REDUCE, all = args->kind == WEFT_COLL_ALLREDUCE;
    o->op = args->op;
    o->type = args->in.type->basic_type;
    o->size = args->in.type->size;
    o->in_place = args->in.at == args->out.at;
    o->one_by_one = !tree && !all && weft_coll_choose(&choice) == WEFT_ALGORITHM_PAIRWISE;
    o->n = args->comm->size;
    o->rank = args->comm->rank;
    o->top = tree ? args->root : 0;
    o->levels = 0;
    while (2 << o->levels <= o->n)
        o->levels++;
    o->extra = tree ? 0 : o->n - (1 << o->levels);
    o->vranks = o->n - o->extra;
    o->levels += tree; /* the last level may be incomplete */
    weft_assert(o->n <= WEFT_OPERANDS_MAX && o->levels <= LEVELS_MAX);
}

static inline const unsigned char *operand(const struct weft_operands *o, int i)
{
    int rank = i + o->top;
    weft_assert(i >= 0 && i < o->n);
    return o->at[rank < o->n ? rank : rank - o->n] + o->from;
}

static const unsigned char *combine(const struct weft_operands *o, const unsigned char *left,
                                    const unsigned char *right, unsigned char *result)
{
    weft_assert(o->bytes <= o->chunk && o->bytes % o->size == 0);
    if (right != result)
        memcpy(result, right, o->bytes);
    weft_op_apply(o->op, o->type, left, result, o->bytes / o->size);
    return result;
}

/* Combines the vranks from `vrank`, 1 << levels of them or as many as there are. Returns where the
 * result is: in `result`, or the only operand. */
static const unsigned char *combine_vranks(const struct weft_operands *o, int vrank, int levels,
                                           unsigned char *result)
{
    while (levels > 0 && vrank + (1 << (levels - 1)) >= o->vranks)
        levels--;
    if (levels > 0) {
        unsigned char *half = o->scratch + (size_t)levels * o->chunk;
        const unsigned char *right =
            combine_vranks(o, vrank + (1 << (levels - 1)), levels - 1, result);
        return combine(o, combine_vranks(o, vrank, levels - 1, half), right, result);
    }
    if (vrank < o->extra)
        return combine(o, operand(o, 2 * vrank), operand(o, 2 * vrank + 1), result);
    return operand(o, vrank + o->extra);
}

static void combine_one_by_one(const struct weft_operands *o, unsigned char *result)
{
    const unsigned char *sum = operand(o, o->rank);
    for (int i = 1; i < o->n; i++)
        sum = combine(o, operand(o, (o->rank + o->n - i) % o->n), sum, result);
}

void weft_operands_reduce(struct weft_operands *o, unsigned char *result, size_t bytes)
{
    _Alignas(64) unsigned char small[(LEVELS_MAX + 1) * SMALL];
    bool needs_scratch = bytes > SMALL && (o->in_place || o->n > 2);
    unsigned char *scratch = needs_scratch ? malloc(((size_t)o->levels + 1) * CHUNK) : NULL;
    o->scratch = scratch ? scratch : small;
    o->chunk = scratch || (!needs_scratch && bytes > SMALL) ? CHUNK : SMALL;
    for (o->from = 0; o->from < bytes; o->from += o->chunk) {
        unsigned char *to = o->in_place ? o->scratch : result + o->from;
        o->bytes = bytes - o->from < o->chunk ? bytes - o->from : o->chunk;
        if (o->one_by_one)
            combine_one_by_one(o, to);
        else if (o->n == 2)
            combine(o, operand(o, 0), operand(o, 1), to);
        else
            combine_vranks(o, 0, o->levels, to);
        if (o->in_place)
            memcpy(result + o->from, o->scratch, o->bytes);
    }
    free(scratch);
}
