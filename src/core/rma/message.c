// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sending and receiving packets, and waiting for them: see message.h.
 *
 * Invariant: slots are posted and handled round-robin from `head` on, so packets are handled in the
 * order in which they matched.
 */
#include "core/rma/message.h"
#include "core/base/error.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"
#include "core/pt2pt/cancel.h"
#include "core/pt2pt/p2p.h"
#include "core/message/count.h"

#include <stdio.h>
#include <stdlib.h>

struct weft_rma_slot {
    struct weft_request *request;
    struct weft_rma_packet *packet;
};

enum { TAG = 0 };

/* ---- Sending */

struct weft_rma_packet *weft_rma_packet_make(enum weft_rma_packet_kind kind, size_t runs,
                                             size_t bytes)
{
    weft_assert(runs <= WEFT_RMA_RUNS);
    struct weft_rma_packet *packet =
        malloc(sizeof *packet + runs * sizeof(struct weft_run) + bytes); /* 16-byte aligned */
    if (!packet)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a packet of %zu bytes to another rank's window",
                   bytes);
    *packet = (struct weft_rma_packet){
        .kind = (uint8_t)kind, .runs = (uint16_t)runs, .bytes = (uint64_t)bytes};
    return packet;
}

size_t weft_rma_packet_carries(const struct weft_rma_packet *packet)
{
    switch (packet->kind) {
    case WEFT_RMA_COMPARE_AND_SWAP:
        return 2 * (size_t)packet->bytes;
    case WEFT_RMA_PUT:
    case WEFT_RMA_RESULT:
        return (size_t)packet->bytes;
    case WEFT_RMA_ACCUMULATE:
    case WEFT_RMA_GET_ACCUMULATE:
        return packet->op == (uintptr_t)MPI_NO_OP ? 0 : (size_t)packet->bytes;
    default:
        return 0;
    }
}

int weft_rma_packet_send(struct weft_win *win, int rank, struct weft_rma_packet *packet)
{
    struct weft_request *request;
    weft_count_add(&weft_counts.rma_packets, 1);
    size_t length =
        (size_t)(weft_rma_packet_data(packet) - (char *)packet) + weft_rma_packet_carries(packet);
    weft_assert(length <= WEFT_RMA_PACKET_BYTES && weft_vci_is_held(win->comm->vci));
    int code = weft_p2p_isend(&win->comm->partitioned, packet, length, weft_datatype_byte(), rank,
                              TAG, WEFT_SEND_STANDARD, &request);
    if (code != MPI_SUCCESS || !request->pending) {
        if (code == MPI_SUCCESS)
            weft_request_put(request);
        free(packet);
        return code;
    }
    request->copy = packet;
    request->parent = &win->parent;
    request->flags |= WEFT_REQUEST_SUB;
    win->sends_pending++;
    return MPI_SUCCESS;
}

/* A message of a window is complete. */
static void sub_ended(struct weft_request *sub)
{
    struct weft_win *win =
        (struct weft_win *)((char *)sub->parent - offsetof(struct weft_win, parent));
    if (weft_request_row(sub)->receives) {
        sub->vci->windows.arrived = true; /* in a slot */
        return;
    }
    weft_assert(win->sends_pending > 0);
    win->sends_pending--;
    if (!weft_request_row(sub)->sends)
        weft_rma_moved(win, sub->copy, sub->error);
    else
        free(sub->copy);
    weft_request_put(sub);
}

static void describe(const struct weft_request *request, char *text, size_t len)
{
    (void)request;
    snprintf(text, len, "operation on a window: its target has not answered yet");
}

const struct weft_request_ops weft_rma_request_ops = {.name = "operation on a window",
                                                      .buffer = "origin",
                                                      .cancel = weft_request_refuse_cancel,
                                                      .may_free = weft_request_refuse_free,
                                                      .describe = describe,
                                                      .needs_all = true,
                                                      .sub_ended = sub_ended,
                                                      .end_deferred = weft_rma_free_spent};

int weft_rma_notify(struct weft_win *win, int rank, enum weft_rma_packet_kind kind, int op)
{
    struct weft_rma_packet *packet = weft_rma_packet_make(kind, 0, 0);
    packet->op = (uint16_t)op;
    return weft_rma_packet_send(win, rank, packet);
}

/* ---- Receiving */

static const char *name_of(const struct weft_win *win)
{
    return win->name[0] ? win->name : "without a name";
}

static int post_slot(struct weft_win *win, struct weft_rma_slot *slot)
{
    int code = weft_p2p_irecv(&win->comm->partitioned, slot->packet, win->packet,
                              weft_datatype_byte(), MPI_ANY_SOURCE, TAG, &slot->request);
    if (code != MPI_SUCCESS) {
        slot->request = NULL;
        return code;
    }
    slot->request->parent = &win->parent;
    slot->request->flags |= WEFT_REQUEST_SUB;
    if (!slot->request->pending)
        win->comm->vci->windows.arrived = true;
    return MPI_SUCCESS;
}

/* Handles a packet that is complete, and posts its slot again. */
static void take_packet(struct weft_win *win, struct weft_rma_slot *slot)
{
    struct weft_request *request = slot->request;
    weft_assert(!request->pending && slot == &win->slots[win->head]);
    if (request->error && !weft_failure_is_death(request->error)) /* else it is dropped */
        win->fault = request->error;
    else if (!request->error)
        weft_rma_handle(win, request->source, slot->packet, request->bytes);
    weft_request_put(request);
    if (post_slot(win, slot) != MPI_SUCCESS)
        weft_fatal(MPI_ERR_OTHER, "a receive for the window %s cannot be posted again",
                   name_of(win));
}

static int open_slots(struct weft_win *win)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < WEFT_RMA_SLOTS && code == MPI_SUCCESS; i++) {
        win->slots[i].packet = malloc(win->packet);
        code = win->slots[i].packet
                   ? post_slot(win, &win->slots[i])
                   : weft_error_set(MPI_ERR_NO_MEM, "no memory for the packets of a window");
    }
    return code;
}

int weft_rma_open(struct weft_win *win)
{
    weft_assert(weft_vcis_hold_all() && !win->slots && !win->ops);
    win->parent.op = WEFT_REQUEST_RMA;
    win->next = win->comm->vci->windows.first;
    win->comm->vci->windows.first = win;
    weft.others |= WEFT_OTHERS_WINDOWS;
    if (win->comm->size == 1)
        return MPI_SUCCESS;
    win->slots = calloc(WEFT_RMA_SLOTS, sizeof *win->slots);
    return win->slots ? open_slots(win)
                      : weft_error_set(MPI_ERR_NO_MEM, "no memory for the packets of a window");
}

static void close_slots(struct weft_win *win)
{
    for (int i = 0; i < WEFT_RMA_SLOTS; i++) {
        struct weft_request *request = win->slots[i].request;
        if (request) {
            weft_cancel(request);
            weft_request_wait(request);
            weft_request_put(request);
        }
        free(win->slots[i].packet);
    }
    free(win->slots);
    win->slots = NULL;
}

static bool sends_pending(void *arg)
{
    const struct weft_win *win = arg;
    return win->sends_pending > 0;
}

void weft_rma_close(struct weft_win *win)
{
    struct weft_win **link = &win->comm->vci->windows.first;
    while (*link && *link != win)
        link = &(*link)->next;
    if (*link)
        *link = win->next;
    bool any = false;
    for (unsigned i = 0; i < weft.nvcis; i++)
        any |= weft.vcis[i].windows.first != NULL;
    if (!any)
        weft.others &= (uint8_t)~WEFT_OTHERS_WINDOWS;
    if (win->slots)
        close_slots(win);
    weft_wait_while(NULL, sends_pending, win, NULL);
}

/* ---- Progress */

static int advance_window(struct weft_win *win)
{
    int events = 0;
    weft_assert(weft_vci_is_held(win->comm->vci) && win->head >= 0 && win->head < WEFT_RMA_SLOTS);
    while (win->slots && !win->slots[win->head].request->pending) {
        take_packet(win, &win->slots[win->head]);
        win->head = (win->head + 1) % WEFT_RMA_SLOTS;
        events++;
    }
    if (win->waiters)
        events += weft_rma_grant(win);
    if (win->unsent)
        events += weft_rma_issue(win);
    return events;
}

/* Ranks have died: ends what they hold and what waits for them. */
WEFT_COLD static void end_dead(struct weft_win *win)
{
    weft_rma_release_dead(win);
    for (int rank = 0; rank < win->comm->size && win->ops; rank++)
        if (win->targets[rank].unfinished && weft_rma_is_dead(win, rank))
            weft_rma_fail_operations(win, rank);
}

int weft_rma_progress(struct weft_vci *vci)
{
    int events = 0;
    bool any_died = weft_counts.deaths != vci->windows.deaths;
    if (!vci->windows.arrived && !vci->windows.busy && !any_died)
        return 0;
    vci->windows.deaths = weft_counts.deaths;
    vci->windows.arrived = vci->windows.busy = false;
    for (struct weft_win *win = vci->windows.first; win; win = win->next) {
        if (any_died)
            end_dead(win);
        events += advance_window(win);
        if (win->unsent || win->waiters)
            vci->windows.busy = true;
    }
    return events;
}

/* ---- Waiting */

bool weft_rma_is_dead(const struct weft_win *win, int rank)
{
    return rank >= 0 && rank < win->comm->size && weft_channel_is_dead(&win->comm->coll, rank);
}

int weft_rma_report_dead(const struct weft_win *win, int rank)
{
    return weft_failure_report_process(weft_comm_world_of(win->comm, rank));
}

static bool goes_on(void *arg)
{
    struct weft_rma_wait *wait = arg;
    struct weft_win *win = wait->win;
    if (wait->polled && weft_counts.deaths && weft_rma_is_dead(win, wait->rank)) {
        wait->code = weft_rma_report_dead(win, wait->rank);
        return false;
    }
    wait->polled = true;
    win->waits_for = wait->what; /* another thread may wait for this window, too */
    win->waits_at = wait->rank;
    return wait->waits(wait);
}

int weft_rma_wait_while(struct weft_rma_wait *wait)
{
    struct weft_win *win = wait->win;
    struct weft_vci *vci = win->comm->vci;
    weft_assert(weft_vci_is_held(vci) && !wait->polled);
    if (!wait->waits(wait))
        return wait->code;
    vci->windows.waits++;
    weft_wait_while(weft_win_scope(win), goes_on, wait, NULL);
    vci->windows.waits--;
    win->waits_for = NULL;
    return wait->code;
}

/* ---- The hang report */

/* The rank that holds the lock that this rank waits for, or that others request from it. */
static int lock_holder(const struct weft_win *win)
{
    const struct weft_win_target *at =
        win->waits_for && win->waits_at >= 0 ? &win->targets[win->waits_at] : NULL;
    if (at && !at->control)
        return at->holder - 1;
    const struct weft_win_control *control = at ? at->control : win->waiters ? win->control : NULL;
    return control ? weft_win_lock_holder(control) : -1;
}

static void see_waits(const struct weft_win *first, void (*see)(void *arg, const char *text),
                      void *arg)
{
    for (const struct weft_win *win = first; win; win = win->next) {
        char text[512], access[80] = "", wait[128] = "", holder[64] = "";
        if (!win->waits_for && !win->access && !win->posted && !win->waiters)
            continue;
        if (win->access)
            snprintf(access, sizeof access, ", %s", weft_win_epoch(win->access));
        if (win->waits_for && win->waits_at >= 0)
            snprintf(wait, sizeof wait, ", waits for %s of rank %d", win->waits_for, win->waits_at);
        if (lock_holder(win) >= 0)
            snprintf(holder, sizeof holder, "; rank %d holds the exclusive lock", lock_holder(win));
        snprintf(text, sizeof text, "window %s%s%s%s%s%s", name_of(win), access,
                 win->posted ? ", between MPI_Win_post and MPI_Win_wait" : "",
                 win->waiters ? ", other ranks wait for its lock" : "", wait, holder);
        see(arg, text);
    }
}

void weft_rma_each_wait(void (*see)(void *arg, const char *text), void *arg)
{
    for (unsigned i = 0; i < weft.nvcis; i++)
        see_waits(weft.vcis[i].windows.first, see, arg);
}
