// SPDX-License-Identifier: BSD-3-Clause
/*
 * The object of the net lane: see core/message/lane.h.
 */
#include "ofi/net.h"
#include "ofi/rma.h"

static bool provider_matches(void)
{
    return !weft_net_software_matching();
}

static void report_match(const struct weft_request *receive, const struct weft_arrival *message)
{
    if (message->mode == WEFT_SEND_SYNCHRONOUS)
        weft_net_acknowledge(receive->peer, receive->channel, message->tag);
    weft_net_matched(receive->channel, message->source, message->length);
}

/* Returns the credits of the message. If this process does not have the communicator any more,
 * weft_net_deliver has returned them, or the sender is not known. */
static void report_drop(const struct weft_arrival *message)
{
    const struct weft_channel *channel =
        weft_channel_of(message->context, message->source, message->tag);
    if (channel && (unsigned)message->source < (unsigned)channel->size)
        weft_net_matched(channel, message->source, message->length);
}

static const struct weft_lane_remote remote = {.flags = weft_net_rma,
                                               .expose = weft_net_region_open,
                                               .conceal = weft_net_region_close,
                                               .write = weft_net_rma_write,
                                               .read = weft_net_rma_read};

const struct weft_lane weft_net_lane = {.name = "net",
                                        .prepare = weft_net_free_signals,
                                        .open = weft_net_open,
                                        .compare_networks = weft_net_shared_network,
                                        .agree = weft_net_agree,
                                        .has_all_vcis = weft_net_has_all,
                                        .connects_all = weft_net_must_connect_all,
                                        .tag_ub = weft_net_tag_ub,
                                        .leave = weft_net_leave,
                                        .close = weft_net_close,
                                        .init_peer = weft_net_peer_init,
                                        .connect = weft_net_connect,
                                        .close_dead = weft_net_close_dead,
                                        .open_channel = weft_net_open_channel,
                                        .vci_numbers = weft_net_vci_numbers,
                                        .send = weft_net_isend,
                                        .cancel = weft_net_cancel,
                                        .revoke = weft_net_revoke,
                                        .matches = provider_matches,
                                        .post = weft_net_irecv,
                                        .withdraw = weft_net_withdraw,
                                        .collect = weft_net_collect,
                                        .collect_all = weft_net_collect_all,
                                        .fetch = weft_net_fetch,
                                        .matched = report_match,
                                        .dropped = report_drop,
                                        .init_request = weft_net_init_request,
                                        .waits_for_peer = weft_net_waits_for_peer,
                                        .abandon = weft_net_abandon,
                                        .describe = weft_net_describe,
                                        .remote = &remote,
                                        .progress = weft_net_progress,
                                        .wait_ended = weft_net_wait_ended,
                                        .is_idle = weft_net_idle,
                                        .wait_fds = weft_net_wait_fds,
                                        .check_hosts = weft_net_check_hosts,
                                        .sent_to = weft_net_sent_to,
                                        .fetching_from = weft_net_fetching_from,
                                        .level = weft_net_level,
                                        .network = weft_net_name};
