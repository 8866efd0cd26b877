// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective calls: makes the schedule of a call and executes it, blocking, nonblocking, or by a
 * persistent request.
 *
 * Invariant: a blocking schedule is advanced by its call only. It is in the list coll.blocking of
 * its VCI meanwhile, for reports.
 */
#include "core/coll/engine.h"
#include "core/coll/refusal.h"
#include "core/coll/shared.h"
#include "core/coll/stage.h"
#include "core/base/error.h"
#include "core/message/count.h"
#include "core/progress/progress.h"

#include <stdio.h>

/* An empty schedule. Returns NULL if memory is short, recorded. */
static struct weft_schedule *get_schedule(const struct weft_coll_args *args, int tag,
                                          bool persistent)
{
    struct weft_schedule *s = weft_schedule_get(args);
    if (!s) {
        weft_error_set(MPI_ERR_NO_MEM, "no memory for another collective; complete some first");
        return NULL;
    }
    s->tag = tag;
    s->persistent = persistent;
    return s;
}

/* The other ranks may need this one for the last call, which has this tag. */
WEFT_COLD static int refuse_without_memory(struct weft_comm *comm, int tag)
{
    weft_coll_refuse_tag(comm, tag, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

/* Makes a schedule, which may be executed through an area if it is to have a request. Returns NULL
 * if memory is short, recorded. */
static struct weft_schedule *make_schedule(const struct weft_coll_args *args, int tag,
                                           bool blocking, bool persistent)
{
    struct weft_schedule *s = get_schedule(args, tag, persistent);
    if (!s)
        return NULL;
    struct weft_coll_args host;
    if (weft_unlikely(weft_gpu_enabled) && weft_stage_is_needed(args)) {
        host = *args;
        args = &host;
        s->stage = weft_schedule_memory(s, sizeof *s->stage);
        if (s->failed || weft_stage_open(s->stage, &host, s) != MPI_SUCCESS) {
            weft_schedule_put(s);
            return NULL;
        }
    }
    if (blocking || !weft_shared_prepare(s, args))
        weft_schedule_build(s, args);
    if (weft_unlikely(s->failed)) {
        weft_schedule_put(s);
        return NULL;
    }
    s->end = s->count;
    return s;
}

void weft_schedule_note_blocking(struct weft_schedule *s)
{
    s->next_active = s->vci->coll.blocking;
    s->vci->coll.blocking = s;
}

/* If several threads wait on one VCI, any of them may end first. */
void weft_schedule_end_blocking(struct weft_schedule *s)
{
    struct weft_schedule **link = &s->vci->coll.blocking;
    if (weft_unlikely(s->waits_since))
        weft_refusal_withdraw(s);
    weft_assert(s->vci->coll.blocking && !s->request);
    while (*link != s)
        link = &(*link)->next_active;
    *link = s->next_active;
}

/* After a poll for a schedule that has no request. */
static bool is_running(void *arg)
{
    struct weft_schedule *s = arg;
    if (s->waits_for->pending)
        weft_schedule_note_waiting(s);
    else
        weft_schedule_advance(s);
    return !weft_schedule_is_complete(s);
}

/* Executes a schedule that has no request. */
static void run(struct weft_schedule *s)
{
    struct weft_vci *vci = weft_unlikely(weft_entry_flags) ? weft_vci_scope(s->vci) : NULL;
    weft_count_add(&weft_counts.collectives, 1);
    weft_schedule_note_blocking(s);
    weft_vci_begin_wait(s->vci);
    weft_schedule_advance(s);
    if (weft_schedule_is_complete(s))
        weft_look_sometimes(s->vci);
    else
        weft_wait_while(vci, is_running, s, &s->waits_for);
    weft_vci_end_wait(s->vci);
    weft_schedule_end_blocking(s);
    weft_assert(s->next == s->done);
}

int weft_coll_run_schedule(const struct weft_coll_args *args, int tag, enum weft_fault *fault)
{
    *fault = WEFT_FAULT_NONE;
    tag = tag < 0 ? weft_coll_next_tag(args->comm, args->kind, false) : tag;
    struct weft_schedule *s = make_schedule(args, tag, true, false);
    if (weft_unlikely(!s))
        return refuse_without_memory(args->comm, tag);
    bool calls_user =
        args->op && args->op->id == WEFT_OP_USER; /* who may free type and operation */
    if (calls_user && weft_schedule_retain(s, args) != MPI_SUCCESS) {
        weft_schedule_put(s);
        return refuse_without_memory(args->comm, tag);
    }
    run(s);
    *fault = s->fault;
    if (weft_unlikely(s->error != MPI_SUCCESS))
        weft_schedule_record(s);
    int code = s->error;
    weft_schedule_put(s);
    return code;
}

int weft_coll_run(const struct weft_coll_args *args)
{
    enum weft_fault fault;
    int code;
    return weft_shared_run(args, &code) ? code : weft_coll_run_schedule(args, -1, &fault);
}

/* The request of a schedule, or NULL. */
static struct weft_request *request_for(struct weft_schedule *s)
{
    struct weft_request *request = weft_request_get(s->vci, WEFT_REQUEST_COLL, 0);
    if (weft_unlikely(!request))
        return NULL;
    request->channel = s->channel;
    request->peer = NULL;
    request->type = NULL; /* loops over all requests test both for NULL */
    request->schedule = s;
    s->request = request;
    return request;
}

/* Makes a schedule with a request. */
static int make_request(const struct weft_coll_args *args, bool persistent,
                        struct weft_request **out)
{
    int tag = weft_coll_next_tag(args->comm, args->kind, persistent);
    struct weft_schedule *s = make_schedule(args, tag, false, persistent);
    *out = s && weft_schedule_retain(s, args) == MPI_SUCCESS ? request_for(s) : NULL;
    if (weft_likely(*out != NULL))
        return MPI_SUCCESS;
    if (s)
        weft_schedule_put(s);
    return refuse_without_memory(args->comm, tag);
}

struct weft_request *weft_coll_begin(struct weft_schedule *s)
{
    struct weft_request *request = request_for(s);
    if (!request)
        return NULL;
    request->pending = 1;
    weft_schedule_begin(s);
    return request;
}

/* Starts a schedule that has its steps. */
static int start_built(struct weft_schedule *s, const struct weft_coll_args *args,
                       struct weft_request **request)
{
    if (!s->failed && weft_schedule_retain(s, args) == MPI_SUCCESS) {
        weft_schedule_keep_memory(s);
        *request = weft_coll_begin(s);
        if (*request)
            return MPI_SUCCESS;
    }
    weft_schedule_put(s);
    return MPI_ERR_NO_MEM;
}

int weft_coll_start_steps(const struct weft_coll_args *args,
                          void (*build)(struct weft_schedule *s, void *arg), void *arg,
                          struct weft_request **request)
{
    int tag = weft_coll_next_tag(args->comm, args->kind, false);
    struct weft_schedule *s = get_schedule(args, tag, false);
    if (s)
        build(s, arg);
    int code = s ? start_built(s, args, request) : MPI_ERR_NO_MEM;
    return code ? refuse_without_memory(args->comm, tag) : MPI_SUCCESS;
}

/* Its tag is that of a schedule that looks for no refusals, and is no number of a call. */
int weft_coll_start_call(struct weft_comm *comm, const struct weft_datatype *type,
                         enum weft_step_state (*call)(void *arg), void *arg,
                         struct weft_request **request)
{
    struct weft_coll_args args = {
        .kind = WEFT_COLL_BARRIER, .comm = comm, .in = {.type = type}, .out = {.type = type}};
    int tag = weft_coll_tag(comm, 0, WEFT_COLL_KIND_MASK, false);
    struct weft_schedule *s = get_schedule(&args, tag, false);
    if (!s)
        return MPI_ERR_NO_MEM;
    weft_schedule_call(s, call, arg);
    return start_built(s, &args, request);
}

int weft_coll_init(const struct weft_coll_args *args, struct weft_request **request)
{
    return make_request(args, true, request);
}

int weft_coll_start(const struct weft_coll_args *args, struct weft_request **request)
{
    int code = make_request(args, false, request);
    if (code == MPI_SUCCESS) {
        (*request)->pending = 1;
        weft_schedule_begin((*request)->schedule);
    }
    return code;
}

static struct weft_schedule *schedule_of(const struct weft_request *request)
{
    weft_assert(request->op == WEFT_REQUEST_COLL);
    return request->schedule;
}

static int restart(struct weft_request *request)
{
    weft_assert(schedule_of(request)->persistent && !request->pending);
    request->flags = WEFT_REQUEST_PERSISTENT;
    request->error = MPI_SUCCESS;
    request->pending = 1;
    weft_schedule_begin(schedule_of(request));
    return MPI_SUCCESS;
}

/* Frees the schedule of a persistent request. */
static int free_schedule(struct weft_request *request)
{
    if (request->flags & WEFT_REQUEST_PERSISTENT)
        weft_schedule_put(schedule_of(request));
    return MPI_SUCCESS;
}

const struct weft_request_ops weft_coll_request_ops = {.name = "collective",
                                                       .of_vci = true,
                                                       .no_data = true,
                                                       .start = restart,
                                                       .cancel = weft_request_refuse_cancel,
                                                       .may_free = weft_request_refuse_free,
                                                       .free = free_schedule,
                                                       .end_deferred = weft_schedule_end_deferred};

static void describe_schedule(const struct weft_schedule *s,
                              void (*see)(void *arg, const char *text), void *arg)
{
    static const char *const actions[] = {[WEFT_STEP_SEND] = "send to",
                                          [WEFT_STEP_RECEIVE] = "receive from",
                                          [WEFT_STEP_COPY] = "copy at",
                                          [WEFT_STEP_COMBINE] = "reduction at",
                                          [WEFT_STEP_CALL] = "work of"};
    char text[400];
    if (!s->count)
        return;
    const struct weft_step *step = &s->steps[s->done < s->count ? s->done : 0];
    snprintf(text, sizeof text, "%s%s on %.100s (%s): waits in step %u of %u, %s rank %d",
             s->request ? s->persistent ? "persistent " : "nonblocking " : "",
             weft_coll_name(s->kind), weft_comm_name(s->comm), weft_algorithm_name(s->algorithm),
             s->done + 1, s->count, actions[step->kind], step->peer);
    see(arg, text);
}

void weft_coll_each_active(void (*see)(void *arg, const char *text), void *arg)
{
    for (unsigned i = 0; i < weft.nvcis; i++) {
        for (const struct weft_schedule *s = weft.vcis[i].coll.blocking; s; s = s->next_active)
            describe_schedule(s, see, arg);
        for (const struct weft_schedule *s = weft.vcis[i].coll.active; s; s = s->next_active)
            describe_schedule(s, see, arg);
    }
}

void weft_coll_finalize(void)
{
    weft_schedule_finalize();
    weft_stage_finalize();
}
