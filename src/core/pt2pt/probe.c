// SPDX-License-Identifier: BSD-3-Clause
/*
 * Probes: see probe.h.
 *
 * A probe looks into the software matcher only. Where the provider matches, it first takes what the
 * provider holds unexpected of the channel into software, in order: those messages are older than
 * all that follow, and receives look at them first.
 *
 * Invariant: a probe and the receive after it agree, because both call weft_match_find, and nothing
 * that a probe has seen can be matched by a receive that was posted before it: the matcher would
 * have delivered it at its arrival.
 */
#include "core/pt2pt/probe.h"
#include "core/message/lane.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"

struct weft_message weft_message_no_proc = {.object = {WEFT_KIND_MESSAGE, 0}};

void weft_probe_init(void)
{
    weft_handle_predefine((uintptr_t)MPI_MESSAGE_NO_PROC, &weft_message_no_proc.object);
}

static struct weft_message *find_message(const struct weft_channel *channel, int source, int tag)
{
    struct weft_match_message *match =
        weft_match_find(&channel->vci->matcher, channel->context, source, tag);
    return match ? weft_message_of(match) : NULL;
}

/* Looks also into what the lane that matches holds. */
static struct weft_message *collect_message(struct weft_channel *channel, int source, int tag)
{
    bool lane_matches = channel->held < WEFT_HELD_ALWAYS;
    struct weft_message *message;
    while (!(message = find_message(channel, source, tag)) && lane_matches &&
           weft_lanes[weft.posts]->collect(channel))
        ;
    return message;
}

struct weft_message *weft_probe_look(struct weft_channel *channel, int source, int tag)
{
    struct weft_message *message = find_message(channel, source, tag);
    if (message)
        return message;
    weft_look(weft_vci_scope(channel->vci));
    return collect_message(channel, source, tag);
}

int weft_probe_source(const struct weft_channel *channel, int source)
{
    int code = weft_unlikely(weft_entry_flags & WEFT_ENTRY_REVOKED)
                   ? weft_channel_ops.check(channel)
                   : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    if (source < 0)
        return weft_failure_report_unacknowledged(channel);
    return weft_channel_is_dead(channel, source)
               ? weft_failure_report_process(weft_channel_world(channel, source))
               : MPI_SUCCESS;
}

struct probe {
    struct weft_request waiting; /* for reports */
    struct weft_message *message;
    int code;
};

static bool finds_none(void *arg)
{
    struct probe *probe = arg;
    struct weft_channel *channel = probe->waiting.channel;
    int source = probe->waiting.match.source;
    probe->message = collect_message(channel, source, probe->waiting.match.tag);
    if (!probe->message)
        probe->code = weft_probe_source(channel, source);
    return !probe->message && probe->code == MPI_SUCCESS;
}

int weft_probe_wait(struct weft_channel *channel, int source, int tag, struct weft_message **out)
{
    struct probe probe = {.waiting = {.op = WEFT_REQUEST_PROBE, .pending = 1, .channel = channel}};
    struct weft_request *waiting = &probe.waiting;
    waiting->match.source = source;
    waiting->match.tag = tag;
    weft_wait_while(weft_vci_scope(channel->vci), finds_none, &probe, &waiting);
    *out = probe.message;
    return probe.code;
}

void weft_probe_take(struct weft_channel *channel, struct weft_message *message)
{
    weft_assert(message->match.queued && !message->channel && weft_vci_is_held(channel->vci));
    weft_sw_take(&channel->vci->matcher, message);
    message->channel = channel;
    channel->uses++; /* until its receive */
}

void weft_probe_status(const struct weft_message *message, MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = message->match.source;
    status->MPI_TAG = message->match.tag;
    weft_status_set_bytes(status, message->arrival.length);
    weft_status_set_cancelled(status, false);
}
