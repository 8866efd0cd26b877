// SPDX-License-Identifier: BSD-3-Clause
/*
 * Schedules: steps and memory. Freed schedules are reused with their array of steps, so that short
 * collectives do not call malloc, and long memory, so that long ones do not touch new pages.
 *
 * Invariant: a schedule that is kept for reuse has no active message, no references, and no memory
 * except its array of steps.
 */
#include "core/coll/schedule.h"

#include "core/base/error.h"
#include "core/message/process.h"

#include <stdlib.h>
#include <string.h>

/* Initial length of the array of steps; longest array, and number of schedules, that are kept. */
enum { FIRST_STEPS = 32, KEPT_STEPS_MAX = 1024, KEPT_MAX = 64 };

/* Long memory is kept, too: malloc would return them to the system, and 1 MiB of new
 * pages takes as long as its transfer. */
enum { LONG_MEMORY = 64 << 10, SPARE_MAX = 16 << 20 };

struct weft_memory {
    struct weft_memory *next;
    size_t space;
    _Alignas(16) unsigned char bytes[];
};

struct weft_schedule *weft_schedule_get(const struct weft_coll_args *args)
{
    struct weft_vci *vci = args->comm->vci;
    struct weft_schedule *s = vci->coll.kept;
    weft_assert(weft_vci_is_held(vci) && !s == !vci->coll.kept_count);
    if (weft_likely(s != NULL)) {
        vci->coll.kept = s->next_active;
        vci->coll.kept_count--;
    } else {
        s = aligned_alloc(16, sizeof *s);
        if (!s)
            return NULL;
        s->steps = NULL;
        s->space = 0;
    }
    s->count = s->after = s->next = s->done = 0;
    s->kind = args->kind;
    s->algorithm = WEFT_ALGORITHM_AUTO;
    s->comm = args->comm;
    s->vci = vci;
    s->op = args->op;
    s->failed = s->persistent = s->given_up = s->reported = false;
    s->device = args->device;
    s->channel = &args->comm->coll;
    s->size = args->comm->size;
    s->rank = args->comm->rank;
    s->ranks = NULL;
    s->error = MPI_SUCCESS;
    s->fault = WEFT_FAULT_NONE;
    s->request = NULL;
    s->shared = NULL;
    s->stage = NULL;
    s->polls = 0;
    s->waits_since = 0;
    memset(s->watches, 0, sizeof s->watches);
    s->memory = NULL;
    s->used = 0;
    s->retains = false;
    s->ntypes = 0;
    return s;
}

static int types_of(const struct weft_blocks *blocks)
{
    return blocks->arrays && blocks->arrays->types ? blocks->n : 0;
}

static void add_types(struct weft_schedule *s, const struct weft_blocks *blocks)
{
    s->types[s->ntypes++] = blocks->type;
    for (int i = 0; i < types_of(blocks); i++)
        s->types[s->ntypes++] = weft_block_type(blocks->arrays, i);
}

int weft_schedule_retain(struct weft_schedule *s, const struct weft_coll_args *args)
{
    size_t most = 2 + (size_t)types_of(&args->in) + (size_t)types_of(&args->out);
    s->types = weft_schedule_memory(s, most * sizeof(struct weft_datatype *));
    if (s->failed)
        return MPI_ERR_NO_MEM;
    add_types(s, &args->in);
    add_types(s, &args->out);
    for (size_t i = 0; i < s->ntypes; i++) {
        weft_datatype_retain(s->types[i]);
        s->retains |= !(s->types[i]->flags & WEFT_TYPE_PREDEFINED);
    }
    if (s->op) {
        weft_op_retain(s->op);
        s->retains |= s->op->id == WEFT_OP_USER;
    }
    return MPI_SUCCESS;
}

static void free_memory(struct weft_memory **list)
{
    while (*list) {
        struct weft_memory *memory = *list;
        *list = memory->next;
        free(memory);
    }
}

static void release_schedule(struct weft_schedule *s)
{
    for (size_t i = 0; i < s->ntypes; i++)
        weft_datatype_release(s->types[i]);
    if (s->op)
        weft_op_release(s->op);
}

/* The oldest memory is freed if there are too many bytes. */
static void give_back(struct weft_vci *vci, struct weft_memory *memory)
{
    struct weft_memory **at = &vci->coll.spare;
    size_t bytes = 0;
    if (memory->space < LONG_MEMORY || memory->space > SPARE_MAX) {
        free(memory);
        return;
    }
    memory->next = *at;
    *at = memory;
    while (*at && (bytes += (*at)->space) <= SPARE_MAX)
        at = &(*at)->next;
    free_memory(at);
}

static void give_back_until(struct weft_schedule *s, const struct weft_memory *end)
{
    while (s->memory != end) {
        struct weft_memory *memory = s->memory;
        s->memory = memory->next;
        give_back(s->vci, memory);
    }
}

void weft_schedule_keep_memory(struct weft_schedule *s)
{
    s->kept = s->memory;
    s->used_at_start = s->used;
}

void weft_schedule_restart(struct weft_schedule *s)
{
    weft_assert(s->done == s->next && s->steps[s->next].kind == WEFT_STEP_CALL);
    s->steps[0] = s->steps[s->next];
    s->next = s->done = 0;
    s->count = s->after = 1;
    give_back_until(s, s->kept);
    s->used = s->used_at_start;
}

void weft_schedule_put(struct weft_schedule *s)
{
    struct weft_vci *vci = s->vci;
    weft_assert(weft_vci_is_held(vci) && (s->shared || s->next == s->done));
    weft_assert(!s->watches[0].request && !s->watches[1].request);
    if (weft_unlikely(s->retains)) {
        if (!weft_vcis_hold_all()) {
            s->next_active = vci->coll.deferred;
            vci->coll.deferred = s;
            __atomic_fetch_or(&weft.others, WEFT_OTHERS_DEFERRED, __ATOMIC_RELAXED);
            return;
        }
        release_schedule(s);
    }
    if (s->shared)
        s->release(s);
    give_back_until(s, NULL);
    if (s->space > KEPT_STEPS_MAX) {
        free(s->steps);
        s->steps = NULL;
        s->space = 0;
    }
    if (vci->coll.kept_count >= KEPT_MAX) {
        free(s->steps);
        free(s);
        return;
    }
    s->next_active = vci->coll.kept;
    vci->coll.kept = s;
    vci->coll.kept_count++;
}

void weft_schedule_end_deferred(struct weft_vci *vci)
{
    weft_assert(weft_vcis_hold_all());
    for (struct weft_schedule *s; (s = vci->coll.deferred) != NULL;) {
        vci->coll.deferred = s->next_active;
        weft_schedule_put(s);
    }
}

void weft_schedule_finalize(void)
{
    for (unsigned i = 0; i < weft.nvcis; i++) {
        struct weft_vci *vci = &weft.vcis[i];
        while (vci->coll.kept) {
            struct weft_schedule *s = vci->coll.kept;
            vci->coll.kept = s->next_active;
            free(s->steps);
            free(s);
        }
        vci->coll.kept_count = 0;
        free_memory(&vci->coll.spare);
    }
}

void weft_schedule_enter(struct weft_schedule *s, bool local)
{
    struct weft_comm *comm = local && s->comm->local ? s->comm->local : s->comm;
    s->channel = &comm->coll;
    s->size = comm->size;
    s->rank = comm->rank;
    s->ranks = NULL;
}

void weft_schedule_among(struct weft_schedule *s, const int *ranks, int n, int mine)
{
    weft_assert(mine >= 0 && mine < n);
    s->ranks = ranks;
    s->size = n;
    s->rank = mine;
}

/* ---- Memory */

WEFT_COLD static void fail(struct weft_schedule *s, size_t bytes)
{
    if (!s->failed)
        weft_error_set(
            MPI_ERR_NO_MEM,
            "no memory for %zu bytes that the collective needs besides the buffers; pass "
            "fewer elements at a time",
            bytes);
    s->failed = true;
}

/* Takes kept memory that is long enough and not much longer. Returns NULL if there is none. */
static struct weft_memory *take_spare(struct weft_vci *vci, size_t bytes)
{
    struct weft_memory **at = &vci->coll.spare, *memory;
    while (*at && ((*at)->space < bytes || (*at)->space / 4 > bytes))
        at = &(*at)->next;
    memory = *at;
    if (memory)
        *at = memory->next;
    return memory;
}

static struct weft_memory *new_memory(struct weft_vci *vci, size_t bytes)
{
    struct weft_memory *memory = bytes < LONG_MEMORY ? NULL : take_spare(vci, bytes);
    if (memory)
        return memory;
    memory = bytes > SIZE_MAX / 2 ? NULL : malloc(sizeof *memory + (bytes ? bytes : 1));
    if (memory)
        memory->space = bytes;
    return memory;
}

void *weft_schedule_memory(struct weft_schedule *s, size_t bytes)
{
    size_t rounded = bytes / 16 * 16 + (bytes % 16 ? 16 : 0);
    weft_assert(s->used <= WEFT_SCHEDULE_SPACE && s->used % 16 == 0);
    if (weft_likely(rounded <= WEFT_SCHEDULE_SPACE - s->used)) {
        void *at = s->own + s->used;
        s->used += rounded;
        return at;
    }
    struct weft_memory *memory = new_memory(s->vci, bytes);
    if (weft_unlikely(!memory)) {
        fail(s, bytes);
        return NULL;
    }
    memory->next = s->memory;
    s->memory = memory;
    return memory->bytes;
}

struct weft_elements weft_schedule_elements(struct weft_schedule *s,
                                            const struct weft_datatype *type, size_t count)
{
    return weft_elements_in(weft_schedule_memory(s, weft_elements_span(type, count)), type, count);
}

struct weft_elements weft_schedule_buffer(struct weft_schedule *s, size_t bytes)
{
    return weft_elements_of_bytes(weft_schedule_memory(s, bytes), bytes);
}

struct weft_blocks weft_schedule_cut(struct weft_schedule *s, struct weft_elements all, int n)
{
    int64_t *counts = weft_schedule_memory(s, (size_t)n * sizeof *counts);
    int64_t *displs = weft_schedule_memory(s, (size_t)n * sizeof *displs);
    struct weft_arrays *arrays = weft_schedule_memory(s, sizeof *arrays);
    struct weft_blocks blocks = {.at = all.at, .type = all.type, .arrays = arrays};
    size_t each = all.count / (size_t)n, more = all.count % (size_t)n, at = 0;
    if (s->failed)
        return blocks;
    *arrays = (struct weft_arrays){.counts = {counts, true}, .displs = {displs, true}};
    for (int i = 0; i < n; i++) {
        counts[i] = (int64_t)(each + ((size_t)i < more));
        displs[i] = (int64_t)at;
        at += (size_t)counts[i];
    }
    return blocks;
}

/* ---- Steps */

WEFT_COLD static void grow(struct weft_schedule *s)
{
    uint32_t space = s->space ? 2 * s->space : FIRST_STEPS;
    struct weft_step *steps = realloc(s->steps, space * sizeof *steps);
    if (!steps) {
        fail(s, space * sizeof *steps);
        return;
    }
    s->steps = steps;
    s->space = space;
}

/* Appends a step. Returns NULL if memory is short. */
static struct weft_step *add(struct weft_schedule *s, enum weft_step_kind kind, int peer)
{
    weft_assert(s->after <= s->count);
    weft_assert(kind > WEFT_STEP_RECEIVE || (peer >= 0 && peer < s->size));
    if (weft_unlikely(s->count == s->space))
        grow(s);
    if (weft_unlikely(s->failed))
        return NULL;
    struct weft_step *step = &s->steps[s->count++];
    step->kind = kind;
    step->after = s->after;
    step->peer = weft_unlikely(s->ranks != NULL) ? s->ranks[peer] : peer;
    step->channel = s->channel;
    step->request = NULL;
    return step;
}

/* Elements with the type of the memory that they are in. */
static inline struct weft_elements classify(const struct weft_schedule *s,
                                            struct weft_elements data)
{
    if (weft_unlikely(s->device) && data.count)
        data.type = weft_datatype_at(data.type, data.at);
    return data;
}

void weft_schedule_send(struct weft_schedule *s, int to, struct weft_elements what)
{
    struct weft_step *step = add(s, WEFT_STEP_SEND, to);
    if (weft_likely(step != NULL))
        step->from = classify(s, what);
}

void weft_schedule_receive(struct weft_schedule *s, int from, struct weft_elements where)
{
    struct weft_step *step = add(s, WEFT_STEP_RECEIVE, from);
    if (weft_likely(step != NULL))
        step->to = classify(s, where);
}

void weft_schedule_copy(struct weft_schedule *s, struct weft_elements from, struct weft_elements to)
{
    if (!weft_elements_bytes(from) || weft_elements_start(from) == weft_elements_start(to))
        return;
    struct weft_step *step = add(s, WEFT_STEP_COPY, s->rank);
    if (weft_likely(step != NULL)) {
        step->from = classify(s, from);
        step->to = classify(s, to);
    }
}

void weft_schedule_combine(struct weft_schedule *s, struct weft_elements in, void *inout)
{
    if (!in.count)
        return;
    struct weft_step *step = add(s, WEFT_STEP_COMBINE, s->rank);
    if (weft_likely(step != NULL)) {
        step->from = classify(s, in);
        step->to = classify(s, (struct weft_elements){inout, in.count, in.type});
    }
}

void weft_schedule_call(struct weft_schedule *s, enum weft_step_state (*call)(void *arg), void *arg)
{
    struct weft_step *step = add(s, WEFT_STEP_CALL, s->rank);
    if (weft_likely(step != NULL)) {
        step->call = call;
        step->arg = arg;
    }
}
