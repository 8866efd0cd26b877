// SPDX-License-Identifier: BSD-3-Clause
/*
 * The common functions of partitioned sends and receives: their life, their messages, the queue of
 * those that progress must advance, and their description for reports.
 *
 * Invariants:
 *  - Every operation is on the list `all` from its making to its end, and in the queue at most
 *    once.
 *  - The queue is empty exactly when weft.partitioned is NULL.
 */
#include "core/pt2pt/partitioned.h"
#include "core/base/error.h"
#include "core/pt2pt/p2p.h"
#include "core/pt2pt/partitioned_internal.h"
#include "core/message/process.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct weft_partitioned *all;
static struct weft_partitioned **queue_end = &weft.partitioned;
struct weft_request weft_announcements = {.op = WEFT_REQUEST_ANNOUNCEMENT};

/* ---- Life */

WEFT_COLD int weft_partitioned_no_memory(const struct weft_partition_arguments *arguments,
                                         const char *what)
{
    return weft_error_set(MPI_ERR_NO_MEM,
                          "no memory for a partitioned %s of %u partitions %s rank %d with tag %d; "
                          "make it fewer partitions",
                          what, arguments->partitions, what[0] == 's' ? "to" : "from",
                          arguments->rank, arguments->tag);
}

bool weft_partitioned_open(struct weft_partitioned *base,
                           const struct weft_partition_arguments *arguments,
                           enum weft_request_kind op)
{
    weft_assert(weft_vcis_hold_all());
    struct weft_request *request = weft_request_get(&weft.vcis[0], op, 0);
    if (!request)
        return false;
    request->flags = WEFT_REQUEST_PERSISTENT | WEFT_REQUEST_INACTIVE;
    request->source = MPI_ANY_SOURCE; /* with tag and bytes: the status of a send */
    request->tag = MPI_ANY_TAG;
    request->bytes = 0;
    request->channel = arguments->channel;
    request->peer = NULL;
    request->type = arguments->type; /* so it lives as long as the request */
    request->partitioned = base;
    base->is = *arguments;
    base->request = request;
    base->bytes = arguments->count * arguments->type->size;
    base->next = all;
    base->link = &all;
    if (all)
        all->link = &base->next;
    all = base;
    return true;
}

static void leave_queue(struct weft_partitioned *base)
{
    struct weft_partitioned **link = &weft.partitioned;
    weft_assert(base->queued && weft.partitioned);
    while (*link != base)
        link = &(*link)->next_queued;
    *link = base->next_queued;
    if (!*link)
        queue_end = link;
    base->queued = false;
}

void weft_partitioned_drop(struct weft_partitioned *base)
{
    if (base->queued)
        leave_queue(base);
    weft_assert(*base->link == base && (!base->next || base->next->link == &base->next));
    *base->link = base->next;
    if (base->next)
        base->next->link = base->link;
}

bool weft_partitioned_has_id(uint32_t id)
{
    for (const struct weft_partitioned *base = all; base; base = base->next)
        if (base->id == id && base->request && base->sends)
            return true;
    return false;
}

uint32_t weft_partitioned_count(const struct weft_request *request)
{
    return weft_partitioned_of(request)->is.partitions;
}

static int start(struct weft_request *request)
{
    weft_assert(request->flags & WEFT_REQUEST_INACTIVE && !request->pending);
    weft_partitioned_of(request)->error = MPI_SUCCESS;
    request->flags = WEFT_REQUEST_PERSISTENT;
    request->error = MPI_SUCCESS;
    request->pending = 1;
    if (weft_partitioned_of(request)->sends)
        weft_psend_start(weft_psend_of(request));
    else
        weft_precv_start(weft_precv_of(request));
    return MPI_SUCCESS;
}

static int refuse_cancel(struct weft_request *request)
{
    (void)request;
    return weft_error_set(MPI_ERR_REQUEST,
                          "partitioned communication cannot be cancelled; mark the partitions "
                          "that are missing, and wait for it");
}

static int refuse_free(const struct weft_request *request)
{
    (void)request;
    return weft_error_set(MPI_ERR_REQUEST, "partitioned communication cannot be freed while it "
                                           "is active; wait for it first");
}

/* Before an inactive or complete request of either kind goes back to the pool. Returns MPI_SUCCESS.
 */
static int free_partitioned(struct weft_request *request)
{
    if (weft_partitioned_of(request)->sends)
        weft_psend_delete(weft_psend_of(request));
    else
        weft_precv_abandon(weft_precv_of(request));
    request->partitioned = NULL;
    return MPI_SUCCESS;
}

static void delete_one(struct weft_partitioned *base)
{
    if (base->request && base->sends)
        weft_psend_delete((struct weft_psend *)base);
    else
        weft_precv_delete((struct weft_precv *)base);
}

void weft_partitioned_close(void)
{
    while (all)
        delete_one(all);
}

/* ---- Messages */

int weft_partitioned_send(int rank, struct weft_channel *channel, int tag, const void *data,
                          size_t bytes, const struct weft_datatype *type,
                          struct weft_request *parent, void *copy)
{
    struct weft_request *sub;
    int code = weft_p2p_isend(channel, data, bytes, type, rank, tag, WEFT_SEND_STANDARD, &sub);
    if (code != MPI_SUCCESS)
        return code;
    sub->copy = copy;
    weft_request_set_parent(sub, parent);
    return MPI_SUCCESS;
}

int weft_partitioned_receive(int rank, struct weft_channel *channel, int tag, void *data,
                             size_t bytes, const struct weft_datatype *type,
                             struct weft_request *parent, uint32_t index)
{
    struct weft_request *sub;
    int code = weft_p2p_irecv(channel, data, bytes, type, rank, tag, &sub);
    if (code != MPI_SUCCESS)
        return code;
    weft_assert(rank >= 0);
    sub->index = index;
    weft_request_set_parent(sub, parent);
    return MPI_SUCCESS;
}

static void announcement_ended(struct weft_request *sub)
{
    if (weft_request_row(sub)->receives) {
        weft_precv_matched(sub);
        return;
    }
    free(sub->copy);
    weft_request_put(sub);
}

void weft_partitioned_init(void)
{
    struct weft_request_ops row = {.name = "partitioned send",
                                   .needs_all = true,
                                   .subs_need_all = true,
                                   .start = start,
                                   .cancel = refuse_cancel,
                                   .may_free = refuse_free,
                                   .sub_ended = weft_psend_sub_ended,
                                   .free = free_partitioned};
    weft_request_ops[WEFT_REQUEST_PSEND] = row;
    row.name = "partitioned receive";
    row.sub_ended = weft_precv_sub_ended;
    weft_request_ops[WEFT_REQUEST_PRECV] = row;
    weft_request_ops[WEFT_REQUEST_ANNOUNCEMENT] = (struct weft_request_ops){
        .needs_all = true, .subs_need_all = true, .sub_ended = announcement_ended};
}

/* ---- Progress */

void weft_partitioned_queue(struct weft_partitioned *base)
{
    if (base->queued)
        return;
    base->queued = true;
    base->next_queued = NULL;
    weft_assert(!*queue_end);
    *queue_end = base;
    queue_end = &base->next_queued;
}

int weft_partitioned_progress(void)
{
    weft_assert(weft_vcis_hold_all());
    int seen = 0;
    while (weft.partitioned) {
        struct weft_partitioned *base = weft.partitioned;
        leave_queue(base);
        if (base->request && base->sends)
            weft_psend_advance((struct weft_psend *)base);
        else
            weft_precv_advance((struct weft_precv *)base);
        seen++;
    }
    return seen;
}

/* ---- Reports */

struct text {
    char *buf;
    size_t len, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list args;
    if (text->used >= text->len)
        return;
    va_start(args, format);
    int n = vsnprintf(text->buf + text->used, text->len - text->used, format, args);
    va_end(args);
    text->used += n > 0 ? (size_t)n : 0;
}

static bool lacks(const struct weft_request *request, uint32_t partition)
{
    return weft_partitioned_of(request)->sends ? !weft_psend_has(request, partition)
                                               : !weft_precv_has(request, partition);
}

enum { RANGES_SHOWN = 8 };

/* "1, 3 to 5 and 2 more": the partitions that are not marked, or have not arrived. Returns how
 * many. */
static uint32_t add_lacking(struct text *text, const struct weft_request *request)
{
    uint32_t n = weft_partitioned_count(request), lacking = 0, shown = 0, end;
    int ranges = 0;
    for (uint32_t i = 0; i < n; i = end) {
        end = i + 1;
        if (!lacks(request, i))
            continue;
        while (end < n && lacks(request, end))
            end++;
        lacking += end - i;
        if (ranges == RANGES_SHOWN)
            continue;
        shown += end - i;
        add(text, ranges++ ? ", %u" : " %u", i);
        if (end - i > 1)
            add(text, end - i == 2 ? ", %u" : " to %u", end - 1);
    }
    if (shown < lacking)
        add(text, " and %u more", lacking - shown);
    return lacking;
}

static void describe_send(struct text *text, const struct weft_request *request)
{
    const struct weft_psend *send = weft_psend_of(request);
    if (send->unflushed) {
        add(text, "not marked ready yet:");
        add_lacking(text, request);
    } else {
        add(text, "all partitions are ready, %u messages are still under way", send->in_flight);
    }
}

static void describe_receive(struct text *text, const struct weft_request *request)
{
    const struct weft_precv *recv = weft_precv_of(request);
    if (!recv->base.id) {
        add(text, "no MPI_Psend_init with that tag has arrived");
        return;
    }
    add(text, "not arrived yet:");
    if (!add_lacking(text, request))
        add(text, " the end of the sender's round");
    add(text, " (the sender has sent %u of its %u)", recv->announced, recv->sender.partitions);
}

char *weft_partitioned_describe(const struct weft_request *request, int *rank, int *tag, char *buf,
                                size_t len)
{
    struct text text = {buf, len, 0};
    const struct weft_partitioned *base = weft_partitioned_of(request);
    *rank = base->is.rank;
    *tag = base->is.tag;
    add(&text, "%u partitions of %zu bytes, ", base->is.partitions, base->bytes);
    if (weft_partitioned_of(request)->sends)
        describe_send(&text, request);
    else
        describe_receive(&text, request);
    return buf;
}
