// SPDX-License-Identifier: BSD-3-Clause
/*
 * The net lane (src/ofi) without the modules above it: linked with base, datatype, message and
 * progress alone, over the checker of the contract with libfabric (tests/strict), which plays the
 * provider. Messages of each protocol both ways, a provider that returns -FI_EAGAIN, a dead peer;
 * the same with long messages from device memory (tests/gpu).
 */
#include "lane_test.h"

#include "core/datatype/device.h"
#include "core/message/count.h"
#include "ofi/ofi_internal.h"
#include "ofi/rendezvous.h"

#include <dlfcn.h>

enum { MANY = 400 };

static void open_lane(int rank)
{
    static char why[512];
    unsigned vci_numbers;
    open_process(rank, WEFT_LANE_NET, &weft_net_lane);
    if (weft_net_open(&weft.job, 1, 0, why, sizeof why) ||
        weft_net_agree(&weft.job, &vci_numbers, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        _exit(1);
    }
    weft_lane_opened(WEFT_LANE_NET);
    weft.tag_ub = weft_net_tag_ub();
    open_channel(weft_net_software_matching() ? WEFT_HELD_ALWAYS : 0);
    weft_net_open_channel(&channel);
}

static void close_lane(void)
{
    while (!weft_lane_is_idle())
        weft_progress();
    fence(weft_progress);
    weft_net_leave();
    weft_net_close();
}

static struct weft_request *start_send(const void *data, size_t bytes, int tag,
                                       enum weft_send_mode mode)
{
    struct weft_request *send = describe(WEFT_REQUEST_SEND, data, bytes, tag, mode);
    send->owner = WEFT_LANE_NET;
    CHECK(weft_net_isend(send) == MPI_SUCCESS);
    return send;
}

static struct weft_request *start_receive(void *data, size_t bytes, int tag)
{
    struct weft_request *receive =
        describe(WEFT_REQUEST_RECV, data, bytes, tag, WEFT_SEND_STANDARD);
    if (channel.held || weft.vcis[0].matcher.unexpected)
        weft_sw_receive(receive);
    else
        CHECK(weft_net_irecv(receive) == MPI_SUCCESS);
    return receive;
}

static void run_messages(int rank)
{
    static const size_t sizes[] = {0, 1, 8, 64, 65, 4000, 32768, LONG};
    open_lane(rank);
    exchange_sizes(rank, sizes, sizeof sizes / sizeof *sizes);
    CHECK(weft_net_sent_to(weft_peer_find(0, !rank)) == 16);
    close_lane();
}

/* Every second call of the provider returns -FI_EAGAIN, so that messages wait in the backlog. */
static void run_eagain(int rank)
{
    static struct weft_request *sends[MANY], *receives[MANY];
    static int out[MANY], in[MANY];
    open_lane(rank);
    for (int i = 0; i < MANY; i++) {
        out[i] = i;
        receives[i] = start_receive(&in[i], sizeof in[i], 1);
        sends[i] = start_send(&out[i], sizeof out[i], 1, WEFT_SEND_STANDARD);
    }
    CHECK(weft_peer_find(0, !rank)->counts.backlogged > 0);
    for (int i = 0; i < MANY; i++) {
        CHECK(finish_request(sends[i]) == MPI_SUCCESS);
        CHECK(finish_request(receives[i]) == MPI_SUCCESS);
        CHECK(in[i] == i);
    }
    close_lane();
}

/* The provider cancels receives that Weft has not cancelled: the buffers of the pool are posted
 * again, and the user's receive ends with an error. */
static void run_cancelled(int rank)
{
    char data[8];
    open_lane(rank);
    struct weft_net_vci *net = &weft_net.vcis[0];
    for (size_t i = 0; i < weft_net.nbuffers; i++)
        if (net->buffers[i].op.in_flight)
            fi_cancel(&net->objects.ep->fid, &net->buffers[i].op);
    struct weft_request *receive = start_receive(data, sizeof data, 9);
    fi_cancel(&net->objects.ep->fid, &weft_net_state(receive)->op);
    CHECK(finish_request(receive) != MPI_SUCCESS);
    exchange(rank, LONG, WEFT_SEND_SYNCHRONOUS);
    for (int i = 0; i < 1000 && net->posted < net->wanted; i++)
        weft_progress();
    CHECK(net->posted == net->wanted);
    close_lane();
}

/* Rank 1 sends one message and ends: it is received, and all that waits for another one fails. */
static void run_dead_peer(int rank)
{
    static unsigned char out[LONG];
    int value = 0, never = 0;
    open_lane(rank);
    if (rank == 1) {
        value = 42;
        CHECK(finish_request(start_send(&value, sizeof value, 1, WEFT_SEND_SYNCHRONOUS)) ==
              MPI_SUCCESS);
        fence(weft_progress);
        atomic_store(&board->dead[1], 1);
        _exit(0);
    }
    struct weft_request *received = start_receive(&value, sizeof value, 1);
    struct weft_request *waiting = start_receive(&never, sizeof never, 2);
    CHECK(finish_request(received) == MPI_SUCCESS && value == 42);
    struct weft_request *announced = start_send(out, LONG, 3, WEFT_SEND_STANDARD);
    fence(weft_progress);
    CHECK(finish_request(waiting) == MPIX_ERR_PROC_FAILED);
    CHECK(finish_request(announced) == MPIX_ERR_PROC_FAILED);
    CHECK(weft_peer_find(0, 1)->dead && !weft_peer_find(0, 1)->send_limit);
}

/* Refuses the third piece of a pushed message, and all that follow. */
static ssize_t refuse_pieces(struct fid_ep *ep, const void *data, size_t bytes, void *desc,
                             uint64_t cq_data, fi_addr_t to, uint64_t tag, void *context)
{
    static int pieces;
    const struct fi_msg_tagged message = {.msg_iov =
                                              &(struct iovec){(void *)(uintptr_t)data, bytes},
                                          .desc = &desc,
                                          .iov_count = 1,
                                          .addr = to,
                                          .tag = tag,
                                          .context = context,
                                          .data = cq_data};
    if (tag == weft_net.space_bit && bytes > sizeof(struct weft_net_control) && ++pieces > 2)
        return -FI_EIO;
    return fi_tsendmsg(ep, &message, FI_REMOTE_CQ_DATA);
}

/* The receiver of a message would wait for a piece that cannot be sent: it counts as dead, as if a
 * control message could not be sent. */
static void run_lost_piece(int rank)
{
    static unsigned char data[LONG];
    open_lane(rank);
    struct fid_ep *ep = weft_net.vcis[0].objects.ep;
    struct fi_ops_tagged ops = *ep->tagged;
    if (rank == 1) {
        start_receive(data, LONG, 1);
        while (!board->dead[1])
            weft_progress();
        _exit(0);
    }
    ops.senddata = refuse_pieces;
    ep->tagged = &ops;
    weft_settings.keep_going = true;
    CHECK(finish_request(start_send(data, LONG, 1, WEFT_SEND_STANDARD)) == MPIX_ERR_PROC_FAILED);
    CHECK(weft_failure_check() + weft_peer_find(0, 1)->dead > 0);
}

/* ---- Device memory */

enum { DEVICE_LONG = 9 * WEFT_NET_PIPELINE_PIECE / 2 + 13, DYING = 32 * WEFT_NET_PIPELINE_PIECE };

static struct {
    int (*retain)(void **context, int device);
    int (*push)(void *context);
    int (*alloc)(uint64_t *at, size_t bytes);
    int (*release)(uint64_t at);
    int (*copy)(uint64_t to, uint64_t from, size_t bytes);
} driver;

static void find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);
    CHECK(found);
    memcpy(function, &found, sizeof found);
}

/* Loads the stand-in; its only context is current until the process ends. */
static void open_gpu(void)
{
    void *handle = dlopen(DRIVER "/libcuda.so.1", RTLD_NOW), *context;
    CHECK(handle);
    find(handle, "cuDevicePrimaryCtxRetain", &driver.retain);
    find(handle, "cuCtxPushCurrent_v2", &driver.push);
    find(handle, "cuMemAlloc_v2", &driver.alloc);
    find(handle, "cuMemFree_v2", &driver.release);
    find(handle, "cuMemcpy", &driver.copy);
    CHECK(!driver.retain(&context, 0) && !driver.push(context));
    weft_gpu_open();
    CHECK(weft_gpu_enabled);
}

static unsigned char *new_device_memory(const void *data, size_t bytes)
{
    uint64_t at;
    CHECK(!driver.alloc(&at, bytes));
    CHECK(!driver.copy(at, (uintptr_t)data, bytes));
    return (unsigned char *)(uintptr_t)at;
}

static struct weft_request *start_device_send(const void *data, size_t bytes, int tag)
{
    struct weft_request *send = describe(WEFT_REQUEST_SEND, data, bytes, tag, WEFT_SEND_STANDARD);
    send->type = weft_datatype_at(send->type, data);
    send->owner = WEFT_LANE_NET;
    CHECK(weft_net_isend(send) == MPI_SUCCESS);
    return send;
}

static struct weft_request *start_device_receive(void *data, size_t bytes, int tag)
{
    struct weft_request *receive =
        describe(WEFT_REQUEST_RECV, data, bytes, tag, WEFT_SEND_STANDARD);
    receive->type = weft_datatype_at(receive->type, data);
    if (channel.held || weft.vcis[0].matcher.unexpected)
        weft_sw_receive(receive);
    else
        CHECK(weft_net_irecv(receive) == MPI_SUCCESS);
    return receive;
}

/* The peer names pieces that this rank has not filled: each is dropped. */
static void forge_empty(const struct weft_request *send)
{
    static const uint64_t offsets[] = {1, WEFT_NET_PIPELINE_PIECE - 1, UINT64_MAX,
                                       (uint64_t)DEVICE_LONG / WEFT_NET_PIPELINE_PIECE *
                                           WEFT_NET_PIPELINE_PIECE};
    uint64_t dropped = weft_counts.net_dropped;
    struct weft_net_control control = {.version = WEFT_NET_WIRE_VERSION,
                                       .kind = WEFT_NET_EMPTY,
                                       .from = (int32_t)weft_net_mark(!weft.job.rank),
                                       .number = send->number};
    while (weft_net_state((struct weft_request *)send)->phase != WEFT_NET_PUSHING)
        weft_progress();
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        control.other = offsets[i];
        weft_net_control_arrived(&weft_net.vcis[0], &control, sizeof control);
        weft_net_peer(send->peer)->taken--;
    }
    CHECK(weft_counts.net_dropped - dropped == sizeof offsets / sizeof *offsets);
    weft_counts.net_dropped = dropped;
}

/* From device memory to device memory at one rank, to the host at the other; part of a message. */
static void run_ring(int rank)
{
    static unsigned char host[DEVICE_LONG], in[DEVICE_LONG];
    open_lane(rank);
    open_gpu();
    for (size_t i = 0; i < DEVICE_LONG; i++)
        host[i] = (unsigned char)(i * 7 + i / 4096);
    unsigned char *out = new_device_memory(host, DEVICE_LONG),
                  *to = new_device_memory(in, DEVICE_LONG);
    for (size_t bytes = DEVICE_LONG; bytes > WEFT_NET_PIPELINE_BYTES / 2; bytes /= 2) {
        memset(in, 0, DEVICE_LONG);
        CHECK(!driver.copy((uintptr_t)to, (uintptr_t)in, DEVICE_LONG));
        struct weft_request *receive = start_device_receive(rank ? in : to, bytes, 5);
        struct weft_request *send = start_device_send(out, DEVICE_LONG, 5);
        if (bytes == DEVICE_LONG)
            forge_empty(send);
        CHECK(finish_request(send) == MPI_SUCCESS);
        CHECK(finish_request(receive) == (bytes < DEVICE_LONG ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
        if (!rank)
            CHECK(!driver.copy((uintptr_t)in, (uintptr_t)to, DEVICE_LONG));
        CHECK(!memcmp(in, host, bytes) && (bytes == DEVICE_LONG || !in[bytes]));
    }
    CHECK(!weft_counts.net_dropped);
    close_lane();
    CHECK(!driver.release((uintptr_t)out) && !driver.release((uintptr_t)to));
}

/* Rank 1 ends while it reads a message, and while its own is read. */
static void run_dead_in_ring(int rank)
{
    static unsigned char host[DYING];
    open_lane(rank);
    open_gpu();
    unsigned char *out = new_device_memory(host, DYING), *in = new_device_memory(host, DYING);
    struct weft_request *receive = start_device_receive(in, DYING, 1);
    struct weft_request *send = start_device_send(out, DYING, 1);
    if (rank == 1) {
        while (weft_net_state(send)->moved <= WEFT_NET_PIPELINE_BYTES ||
               weft_net_state(receive)->arrived < WEFT_NET_PIPELINE_PIECE)
            weft_progress();
        CHECK(send->pending && receive->pending);
        atomic_store(&board->dead[1], 1);
        _exit(0);
    }
    int sent = finish_request(send), received = finish_request(receive);
    CHECK(sent == MPIX_ERR_PROC_FAILED && received == MPIX_ERR_PROC_FAILED);
    CHECK(!weft_net.vcis[0].stalled);
}

static void messages_matched_in_software_arrive_both_ways(void **state)
{
    (void)state;
    setenv("WEFT_MATCHING", "software", 1);
    assert_int_equal(fork_ranks(run_messages), 0);
    unsetenv("WEFT_MATCHING");
}

static void messages_wait_in_order_for_a_busy_provider(void **state)
{
    (void)state;
    setenv("STRICT_EAGAIN", "500", 1);
    assert_int_equal(fork_ranks(run_eagain), 0);
    unsetenv("STRICT_EAGAIN");
}

static void receives_that_the_provider_cancels_end(void **state)
{
    (void)state;
    assert_int_equal(fork_ranks(run_cancelled), 0);
}

static void a_piece_that_cannot_be_sent_ends_the_peer(void **state)
{
    (void)state;
    setenv("WEFT_RENDEZVOUS", "push", 1);
    assert_int_equal(fork_ranks(run_lost_piece), 0);
    unsetenv("WEFT_RENDEZVOUS");
}

static void messages_of_device_memory_pass_through_pipelines(void **state)
{
    (void)state;
    assert_int_equal(fork_ranks(run_ring), 0);
}

static void pipelines_wait_for_a_busy_provider(void **state)
{
    (void)state;
    setenv("STRICT_EAGAIN", "500", 1);
    assert_int_equal(fork_ranks(run_ring), 0);
    unsetenv("STRICT_EAGAIN");
}

static void pipelines_of_a_dead_peer_end(void **state)
{
    (void)state;
    assert_int_equal(fork_ranks(run_dead_in_ring), 0);
}

/* The loader of the lane finds the checker by LD_LIBRARY_PATH, which is read as a process starts.
 */
static void find_checker(char **argv)
{
    static char folder[] = "/tmp/weft-lane.XXXXXX";
    if (getenv("STRICT_DIR"))
        return;
    if (!mkdtemp(folder))
        exit(1);
    setenv("STRICT_DIR", folder, 1);
    setenv("STRICT_PROFILE", "verbs", 1);
    setenv("WEFT_PROVIDER", "verbs;ofi_rxm", 1);
    setenv("WEFT_IFACE", "lo", 1);
    setenv("LD_LIBRARY_PATH", CHECKER, 1);
    execv("/proc/self/exe", argv);
    exit(1);
}

int main(int argc, char **argv)
{
    (void)argc;
    find_checker(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_each_protocol_arrive_both_ways),
        cmocka_unit_test(messages_matched_in_software_arrive_both_ways),
        cmocka_unit_test(messages_wait_in_order_for_a_busy_provider),
        cmocka_unit_test(receives_that_the_provider_cancels_end),
        cmocka_unit_test(operations_with_a_dead_peer_fail),
        cmocka_unit_test(a_piece_that_cannot_be_sent_ends_the_peer),
        cmocka_unit_test(messages_of_device_memory_pass_through_pipelines),
        cmocka_unit_test(pipelines_wait_for_a_busy_provider),
        cmocka_unit_test(pipelines_of_a_dead_peer_end),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (system("rm -rf \"$STRICT_DIR\"")) /* ranks that died leave files */
        failed++;
    return failed;
}
