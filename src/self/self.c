// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lane self: messages of a process to itself go straight to the matcher. A message that waits
 * for its receive refers to its send, or is copied (core/message/sw_match.c).
 */
#include "self/self.h"

#include "core/base/assert.h"
#include "core/message/count.h"

static struct weft_arrival describe_message(struct weft_request *send)
{
    return (struct weft_arrival){.context = send->channel->context,
                                 .source = send->channel->rank,
                                 .tag = send->tag,
                                 .lane = send->peer->lane,
                                 .mode = send->mode,
                                 .location = WEFT_DATA_LOCAL,
                                 .peer = send->peer,
                                 .data = send,
                                 .bytes = send->bytes,
                                 .length = send->bytes,
                                 .id = send->sequence};
}

static int send_message(struct weft_request *send)
{
    weft_assert(send->peer->world == weft.job.rank && !send->peer->backlog.first);
    send->sequence = send->peer->sequence++;
    weft_count_add(&weft_counts.messages[send->peer->lane], 1);
    weft_count_add(&weft_counts.self_bytes, send->bytes);
    const struct weft_arrival message = describe_message(send);
    return weft_sw_arrive(&send->channel->vci->matcher, &message);
}

/* A send that was copied is complete, and can be cancelled until the copy has matched. */
static void cancel_send(struct weft_request *send)
{
    struct weft_arrival name = describe_message(send);
    if (!weft_sw_revoke(&send->channel->vci->matcher, &name))
        return;
    send->flags |= WEFT_REQUEST_CANCELLED;
    if (send->pending)
        weft_request_event(send);
}

static bool is_self(int world)
{
    return world == weft.job.rank;
}

static bool is_alone(const struct weft_job *job)
{
    return job->size == 1;
}

static int connect_peer(struct weft_peer *peer, char *why, size_t len)
{
    (void)peer, (void)why, (void)len;
    return 0;
}

static void close_dead(struct weft_peer *peer)
{
    (void)peer;
}

/* Sends look at the number of bytes themselves. */
static void kept(const struct weft_peer *peer)
{
    (void)peer;
}

static const char *describe(const struct weft_request *request)
{
    (void)request;
    return "in this process, no receive matches yet";
}

const struct weft_lane weft_self_lane = {.name = "self",
                                         .expects_all = is_alone,
                                         .reaches = is_self,
                                         .connect = connect_peer,
                                         .close_dead = close_dead,
                                         .send = send_message,
                                         .cancel = cancel_send,
                                         .kept = kept,
                                         .describe = describe};
