// SPDX-License-Identifier: BSD-3-Clause
/*
 * Control messages that were forged, damaged or misdirected (src/ofi/control.c): whatever names no
 * operation of this rank with its sender, or one in another phase, or more bytes than the operation
 * has, is counted and dropped, and every request stays as it is.
 *
 * Rank 0 of three has contact with rank 1, and none with rank 2. There is no network.
 */
#include "core/message/count.h"
#include "core/message/process.h"
#include "lanes/lanes.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 3, BYTES = 5 << 20, SENDS = 2, RECEIVES = 3, REQUESTS = SENDS + RECEIVES + 1 };

static struct weft_peer peer = {.lane = WEFT_LANE_NET, .world = 1};
static struct weft_peer *peers[RANKS] = {&weft_peer_unknown, &peer, &weft_peer_unknown};
static struct weft_request *requests[REQUESTS];

static const enum weft_net_phase phases[REQUESTS] = {
    WEFT_NET_ANNOUNCED, WEFT_NET_PUSHING,         WEFT_NET_AWAITING_HEADER,
    WEFT_NET_READING,   WEFT_NET_AWAITING_PIECES, WEFT_NET_NO_RENDEZVOUS /* complete */
};

static const enum weft_net_control_kind about_requests[] = {
    WEFT_NET_FIN,       WEFT_NET_CTS,      WEFT_NET_DATA,
    WEFT_NET_CANCELLED, WEFT_NET_TOO_LATE, WEFT_NET_REQUEST_HEADER,
    WEFT_NET_HEADER,    WEFT_NET_FILLED,   WEFT_NET_EMPTY,
    WEFT_NET_RAILS,     WEFT_NET_RAIL,
};
enum { KINDS = sizeof about_requests / sizeof about_requests[0] };

/* The phase that a control message is for. */
static enum weft_net_phase wanted(enum weft_net_control_kind kind)
{
    switch (kind) {
    case WEFT_NET_DATA:
    case WEFT_NET_FILLED:
        return WEFT_NET_AWAITING_PIECES;
    case WEFT_NET_EMPTY:
        return WEFT_NET_PUSHING;
    case WEFT_NET_HEADER:
        return WEFT_NET_AWAITING_HEADER;
    case WEFT_NET_RAIL:
        return WEFT_NET_READING;
    default:
        return WEFT_NET_ANNOUNCED;
    }
}

static int set_up(void **state)
{
    (void)state;
    memcpy(weft_lanes, weft_lane_list, sizeof weft_lanes);
    weft_lane_opened(WEFT_LANE_NET);
    weft.job.size = weft.processes = RANKS;
    weft_net.nvcis = 1;
    weft_net.job_key = 0x5eedf00d;
    weft_net.vci_numbers = 2; /* of a rank without threads in a job with threads */
    weft.peers[0] = peers;
    weft_net_peer_init(&peer);
    for (int i = 0; i < REQUESTS; i++) {
        enum weft_request_kind op = i < SENDS ? WEFT_REQUEST_SEND : WEFT_REQUEST_RECV;
        requests[i] = weft_request_get(&weft.vcis[0], op, phases[i] != WEFT_NET_NO_RENDEZVOUS);
        assert_non_null(requests[i]);
        requests[i]->peer = &peer;
        requests[i]->bytes = requests[i]->capacity = BYTES;
        struct weft_net_request *part = weft_net_state(requests[i]);
        part->phase = (uint8_t)phases[i];
        part->moved = part->arrived = 0;
        part->reads_out = 0;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    weft_request_finalize();
    return 0;
}

static struct weft_net_control about(enum weft_net_control_kind kind, uint64_t number)
{
    return (struct weft_net_control){.version = WEFT_NET_WIRE_VERSION,
                                     .kind = (uint8_t)kind,
                                     .count = kind == WEFT_NET_FIN,
                                     .from = (int32_t)weft_net_mark(peer.world),
                                     .number = number,
                                     .length = kind == WEFT_NET_FILLED ? 8 : 0};
}

/* The bytes of data that follow a control message. */
static size_t data_of(const struct weft_net_control *control)
{
    return control->kind == WEFT_NET_DATA ? 8 : 0;
}

/* Gives a message to the lane: it is dropped, or ignored without a word, and changes nothing. */
static void expect_ignored(struct weft_net_control control, size_t data, bool counted)
{
    static char message[sizeof control + 100];
    static struct weft_request before[REQUESTS];
    uint64_t dropped = weft_counts.net_dropped;
    for (int i = 0; i < REQUESTS; i++)
        before[i] = *requests[i];
    memcpy(message, &control, sizeof control);
    weft_net_control_arrived(&weft_net.vcis[0], message, sizeof control + data);
    assert_int_equal(weft_counts.net_dropped - dropped, counted);
    for (int i = 0; i < REQUESTS; i++)
        assert_memory_equal(&before[i], requests[i], sizeof before[i]);
}

static void expect_dropped(struct weft_net_control control, size_t data)
{
    expect_ignored(control, data, true);
}

static void other_phases(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < REQUESTS; i++) {
            struct weft_net_control control = about(about_requests[kind], requests[i]->number);
            bool answers_cancel =
                control.kind == WEFT_NET_CANCELLED || control.kind == WEFT_NET_TOO_LATE;
            if (phases[i] != wanted(control.kind) || answers_cancel)
                expect_dropped(control, data_of(&control));
        }
}

/* Rails that this rank does not have, or has not asked for. */
static void other_rails(void **state)
{
    (void)state;
    struct weft_net_control control = about(WEFT_NET_RAILS, requests[0]->number);
    control.address = 1;
    expect_dropped(control, 0);
    control.address = UINT64_C(9) << 48;
    expect_dropped(control, 0);
    for (int rail = 0; rail < 9; rail++) {
        control = about(WEFT_NET_RAIL, requests[3]->number);
        control.count = (uint8_t)rail;
        expect_dropped(control, 0);
        control.length = 1;
        expect_dropped(control, 0);
        control.length = 2;
        expect_dropped(control, 0);
    }
}

static void other_ranks(void **state)
{
    static const int32_t others[] = {-1, 0, 2, RANKS, INT32_MIN, INT32_MAX};
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < REQUESTS; i++)
            for (size_t o = 0; o < sizeof others / sizeof others[0]; o++) {
                struct weft_net_control control = about(about_requests[kind], requests[i]->number);
                control.from = (int32_t)weft_net_mark(others[o]);
                expect_dropped(control, data_of(&control));
            }
}

/* The sender names the right rank, but does not have the job's key. */
static void other_keys(void **state)
{
    (void)state;
    for (int kind = 0; kind <= WEFT_NET_CONNECTED; kind++)
        for (int bit = 2; bit < 32; bit++) { /* the others choose among the ranks */
            struct weft_net_control control =
                about((enum weft_net_control_kind)kind, requests[0]->number);
            control.from = (int32_t)((uint32_t)control.from ^ UINT32_C(1) << bit);
            expect_dropped(control, data_of(&control));
        }
}

/* The peer of another VCI number, whom this rank has no contact with, and VCI numbers that there
 * are not. With several endpoints, a message of another VCI too. */
static void other_vci_numbers(void **state)
{
    static const uint8_t others[] = {1, 2, UINT8_MAX};
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < REQUESTS; i++)
            for (size_t o = 0; o < sizeof others / sizeof others[0]; o++) {
                struct weft_net_control control = about(about_requests[kind], requests[i]->number);
                control.vci_number = others[o];
                expect_dropped(control, data_of(&control));
            }
    struct weft_net_control misdirected = about(WEFT_NET_FLOW_CHECK, 0);
    weft_net.nvcis = 2;
    misdirected.vci_number = 1;
    expect_dropped(misdirected, 0);
    assert_null(weft_net.vcis[0].queries);
    weft_net.nvcis = 1;
}

static void no_requests(void **state)
{
    static const uint64_t numbers[] = {WEFT_REQUEST_SLAB - 1, WEFT_REQUEST_SLAB, UINT32_MAX,
                                       UINT64_C(1) << 48 | WEFT_REQUEST_SLAB, UINT64_MAX};
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
            struct weft_net_control control = about(about_requests[kind], numbers[n]);
            expect_dropped(control, data_of(&control));
        }
}

static void other_lengths(void **state)
{
    struct weft_net_control control = about(WEFT_NET_CTS, requests[0]->number);
    (void)state;
    control.length = BYTES + 1;
    expect_dropped(control, 0);
    control = about(WEFT_NET_DATA, requests[SENDS + 2]->number);
    control.other = BYTES - 7;
    expect_dropped(control, 8);
    control.other = UINT64_MAX - 7;
    expect_dropped(control, 8);
}

/* A piece of a pipeline: no bytes, more than a piece has, more than the receive has or may still
 * get, more pieces than a pipeline has, a rank that does not read; a piece that this rank has not
 * filled. */
static void other_pieces(void **state)
{
    static struct fi_ep_attr endpoint;
    static struct fi_info info = {.ep_attr = &endpoint};
    struct weft_request *receive = requests[SENDS + 2];
    struct weft_net_control control = about(WEFT_NET_FILLED, receive->number);
    (void)state;
    weft_net.choice.info = &info;
    expect_dropped(control, 0); /* it does not read */
    weft_net.can_read = true;
    control.length = 0;
    expect_dropped(control, 0);
    control.length = WEFT_NET_PIPELINE_PIECE + 1;
    expect_dropped(control, 0);
    control.length = UINT64_MAX;
    expect_dropped(control, 0);
    control.length = 8;
    control.other = BYTES - 7;
    expect_dropped(control, 0);
    control.other = UINT64_MAX - 7;
    expect_dropped(control, 0);
    control.other = 0;
    weft_net_state(receive)->moved = BYTES - 7;
    expect_dropped(control, 0);
    weft_net_state(receive)->moved = 0;
    weft_net_state(receive)->reads_out = WEFT_NET_PIPELINE_PIECES;
    expect_dropped(control, 0);
    weft_net_state(receive)->reads_out = 0;
    endpoint.max_msg_size = WEFT_NET_PIPELINE_PIECE - 1;
    expect_dropped(control, 0);
    weft_net.can_read = false;
    expect_dropped(about(WEFT_NET_EMPTY, requests[1]->number), 0);
}

/* Fields that depend on no operation: counts, data where none follow, numbers of more than 32 bits,
 * credits that the peer never got. */
static void other_fields(void **state)
{
    struct weft_net_control control;
    (void)state;
    for (int kind = 0; kind <= WEFT_NET_CONNECTED; kind++) {
        control = about((enum weft_net_control_kind)kind, requests[0]->number);
        control.count = UINT8_MAX;
        expect_dropped(control, data_of(&control));
        control.count = 0;
        expect_dropped(control, 8 - data_of(&control));
    }
    control = about(WEFT_NET_CTS, requests[0]->number);
    control.other = UINT64_C(1) << 32;
    expect_dropped(control, 0);
    control = about(WEFT_NET_FIN, requests[0]->number);
    control.count = 0;
    expect_dropped(control, 0);
    control = about(WEFT_NET_CREDITS, 0);
    control.length = 1;
    expect_dropped(control, 0);
    control.length = UINT64_MAX;
    expect_dropped(control, 0);
}

static void other_messages(void **state)
{
    struct weft_net_control control = about(WEFT_NET_ACK, 0);
    uint64_t dropped = weft_counts.net_dropped;
    (void)state;
    expect_dropped(control, 0);
    expect_dropped(about(WEFT_NET_FLOW_CHECKED, 0), 0);
    control = about(WEFT_NET_FIN, requests[1]->number);
    control.count = UINT8_MAX;
    expect_dropped(control, 0);
    control = about(WEFT_NET_CTS, requests[0]->number);
    control.version--;
    expect_dropped(control, 0);
    control.version++;
    control.kind = UINT8_MAX;
    expect_dropped(control, 0);
    weft_net_control_arrived(&weft_net.vcis[0], &control, sizeof control - 1);
    assert_int_equal(weft_counts.net_dropped - dropped, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_phases), cmocka_unit_test(other_rails),
        cmocka_unit_test(other_ranks),  cmocka_unit_test(other_vci_numbers),
        cmocka_unit_test(no_requests),  cmocka_unit_test(other_lengths),
        cmocka_unit_test(other_fields), cmocka_unit_test(other_messages),
        cmocka_unit_test(other_keys),   cmocka_unit_test(other_pieces),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
