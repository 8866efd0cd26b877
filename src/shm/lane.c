// SPDX-License-Identifier: BSD-3-Clause
/*
 * The object of the shared-memory lane: see core/message/lane.h.
 */
#include "shm/shm_internal.h"

static int publish(const struct weft_job *job, unsigned vcis, uint64_t network, char *why,
                   size_t len)
{
    (void)network, (void)why, (void)len;
    weft_shm_publish(job, vcis);
    return 0;
}

/* The maker of the segment determines the VCI numbers, unless a network does. */
static int agree(const struct weft_job *job, unsigned *vci_numbers, char *why, size_t len)
{
    (void)job, (void)why, (void)len;
    *vci_numbers = weft_shm.vci_numbers;
    return 0;
}

static void report_match(const struct weft_request *receive, const struct weft_arrival *message)
{
    if (message->mode == WEFT_SEND_SYNCHRONOUS)
        weft_shm_acknowledge(receive->peer, message->cookie);
}

static uint64_t level(enum weft_lane_level which)
{
    return which == WEFT_LEVEL_EAGER_LIMIT ? weft_shm.eager_limit
           : which == WEFT_LEVEL_BYTES     ? weft_shm.segment.bytes
                                           : 0;
}

static bool can_copy(void)
{
    return weft_shm.single_copy;
}

static _Atomic uint32_t *doorbell_of(int world)
{
    return &weft_shm_member(weft_shm_index(world))->doorbell;
}

static void set_awaited(const _Atomic uint64_t *word, uint64_t value)
{
    weft_shm.awaited = word;
    weft_shm.awaited_value = value;
}

static const struct weft_lane_node node = {.can_copy = can_copy,
                                           .doorbell = doorbell_of,
                                           .wake = weft_shm_wake,
                                           .awake_at = set_awaited,
                                           .is_first = weft_shm_is_first,
                                           .hand_down = weft_shm_hand_down,
                                           .cores = weft_shm_cores};

static const struct weft_lane_sleep sleep_at_doorbell = {.sleep = weft_shm_sleep,
                                                         .begin = weft_shm_set_doorbell,
                                                         .end = weft_shm_await_doorbell,
                                                         .wake = weft_shm_wake_self};

static void send_revocation(struct weft_peer *peer, uint32_t context)
{
    weft_shm_control(weft_shm_link(peer),
                     &(struct weft_shm_body){.kind = WEFT_SHM_REVOKE, .context = context});
}

const struct weft_lane weft_shm_lane = {.name = "shm",
                                        .cheap = true,
                                        .expects_all = weft_shm_expects_all,
                                        .has_all = weft_shm_has_all,
                                        .open = publish,
                                        .join = weft_shm_join,
                                        .agree = agree,
                                        .begin = weft_shm_begin,
                                        .close = weft_shm_close,
                                        .reaches = weft_shm_reaches,
                                        .connect = weft_shm_connect,
                                        .close_dead = weft_shm_close_dead,
                                        .send = weft_shm_isend,
                                        .cancel = weft_shm_cancel,
                                        .revoke = send_revocation,
                                        .fetch = weft_shm_fetch,
                                        .matched = report_match,
                                        .kept = weft_shm_kept,
                                        .waits_for_peer = weft_shm_waits_for_peer,
                                        .abandon = weft_shm_matched,
                                        .describe = weft_shm_describe,
                                        .node = &node,
                                        .sleep = &sleep_at_doorbell,
                                        .progress = weft_shm_progress,
                                        .is_idle = weft_shm_is_idle,
                                        .sent_to = weft_shm_sent_to,
                                        .arrived_from = weft_shm_arrived_from,
                                        .level = level};
