// SPDX-License-Identifier: BSD-3-Clause
/*
 * The shared-memory lane (src/shm) without the modules above it: linked with base, datatype,
 * message and progress alone. Messages of each protocol both ways, a full ring, and a dead peer.
 */
#include "lane_test.h"

#include "core/base/clock.h"
#include "shm/shm_internal.h"

enum { MANY = 2000, FIRST = 1000, LINES = 200 };

static void open_lane(int rank)
{
    open_process(rank, WEFT_LANE_SHM, &weft_shm_lane);
    CHECK(!weft_shm_lane.open(&weft.job, 1, 0, NULL, 0) && weft_shm_lane.join(&weft.job));
    weft_lane_opened(WEFT_LANE_SHM);
    fence(NULL);
    CHECK(weft_shm_has_all() && weft_lane_to(!rank) == WEFT_LANE_SHM);
    weft_shm_begin();
    open_channel(WEFT_HELD_ALWAYS);
}

static void close_lane(void)
{
    while (!weft_shm_is_idle())
        weft_progress();
    fence(weft_progress);
    weft_shm_close();
}

static struct weft_request *start_send(const void *data, size_t bytes, int tag,
                                       enum weft_send_mode mode)
{
    struct weft_request *send = describe(WEFT_REQUEST_SEND, data, bytes, tag, mode);
    CHECK(weft_shm_isend(send) == MPI_SUCCESS);
    return send;
}

static struct weft_request *start_receive(void *data, size_t bytes, int tag)
{
    struct weft_request *receive =
        describe(WEFT_REQUEST_RECV, data, bytes, tag, WEFT_SEND_STANDARD);
    weft_sw_receive(receive);
    return receive;
}

static void run_messages(int rank)
{
    static const size_t sizes[] = {0, 1, 8, 32, 33, 4000, 32768, 32769, LONG};
    open_lane(rank);
    exchange_sizes(rank, sizes, sizeof sizes / sizeof *sizes);
    struct weft_peer *peer = weft_peer_find(0, !rank);
    CHECK(weft_shm_sent_to(peer) == 18 && weft_shm_arrived_from(peer) == 18);
    close_lane();
}

/* Rank 1 reads nothing before rank 0 has filled the ring, and then the first lines, so that the
 * ring has space again when rank 0 sends the rest behind its backlog. */
static void run_full_ring(int rank)
{
    static struct weft_request *requests[MANY];
    static int values[MANY];
    open_lane(rank);
    for (int i = 0; i < MANY; i++) {
        if (i == FIRST && rank == 0)
            CHECK(weft_peer_find(0, 1)->backlog.first && !weft_peer_find(0, 1)->send_limit);
        if (i == FIRST)
            fence(NULL);
        for (int j = 0; i == FIRST && rank == 1 && j < LINES; j++)
            CHECK(finish_request(requests[j]) == MPI_SUCCESS && values[j] == j);
        if (i == FIRST)
            fence(NULL);
        values[i] = rank == 0 ? i : -1;
        requests[i] = rank == 0 ? start_send(&values[i], sizeof values[i], 1, WEFT_SEND_STANDARD)
                                : start_receive(&values[i], sizeof values[i], 1);
    }
    for (int i = rank == 0 ? 0 : LINES; i < MANY; i++)
        CHECK(finish_request(requests[i]) == MPI_SUCCESS && values[i] == i);
    if (rank == 0)
        CHECK(!weft_peer_find(0, 1)->backlog.first && weft_peer_find(0, 1)->send_limit);
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
        finish_request(start_send(&value, sizeof value, 1, WEFT_SEND_STANDARD));
        atomic_store(&board->dead[1], 1);
        _exit(0);
    }
    struct weft_request *received = start_receive(&value, sizeof value, 1);
    struct weft_request *waiting = start_receive(&never, sizeof never, 2);
    struct weft_request *announced = start_send(out, LONG, 3, WEFT_SEND_STANDARD);
    CHECK(finish_request(received) == MPI_SUCCESS && value == 42);
    CHECK(finish_request(waiting) == MPIX_ERR_PROC_FAILED);
    CHECK(finish_request(announced) == MPIX_ERR_PROC_FAILED);
    CHECK(weft_peer_find(0, 1)->dead && !weft_peer_find(0, 1)->send_limit);
    weft_shm_close();
}

/* Rank 1 counts as dead while its process is there: a loop that waits for it ends. */
static void run_counted_as_dead(int rank)
{
    enum { LOOKS = 1 << 20 };
    unsigned looks = 0;
    open_lane(rank);
    exchange(rank, 8, WEFT_SEND_STANDARD);
    if (rank == 0) {
        const struct weft_shm_link *link = weft_shm_link(weft_peer_find(0, 1));
        while (looks < LOOKS)
            CHECK(!weft_shm_is_gone(link, &looks));
        atomic_store(&board->dead[1], 1);
        while (looks < 2 * LOOKS && !weft_shm_is_gone(link, &looks))
            ;
        CHECK(looks < 2 * LOOKS);
        fence(NULL);
        weft_shm_close();
        return;
    }
    fence(NULL);
    weft_shm_close();
}

/* Sleeps as the progress thread does; true if it was woken. */
static bool sleeps_until_woken(void)
{
    enum { LONG_US = 20 * 1000000 };
    double begin = weft_seconds();
    weft_shm_await_doorbell(LONG_US);
    return weft_seconds() - begin < 10;
}

static void run_doorbell(int rank)
{
    unsigned char byte = 7;
    open_lane(rank);
    exchange(rank, 8, WEFT_SEND_STANDARD);
    if (rank == 0) {
        usleep(100000);
        CHECK(finish_request(start_send(&byte, 1, 6, WEFT_SEND_STANDARD)) == MPI_SUCCESS);
    } else {
        struct weft_request *receive = start_receive(&byte, 1, 6);
        weft_shm_set_doorbell();
        CHECK(sleeps_until_woken());
        CHECK(finish_request(receive) == MPI_SUCCESS);
        weft_shm_set_doorbell();
        weft_shm_wake_self();
        CHECK(sleeps_until_woken());
    }
    close_lane();
}

static void pushed_messages_arrive_both_ways(void **state)
{
    (void)state;
    setenv("WEFT_SHM_COPY", "staged", 1);
    assert_int_equal(fork_ranks(run_messages), 0);
    unsetenv("WEFT_SHM_COPY");
}

static void messages_wait_in_order_for_a_full_ring(void **state)
{
    (void)state;
    assert_int_equal(fork_ranks(run_full_ring), 0);
}

static void a_wait_for_a_stopped_peer_that_counts_as_dead_ends(void **state)
{
    (void)state;
    assert_int_equal(fork_ranks(run_counted_as_dead), 0);
}

static void a_writer_wakes_a_sleeping_thread(void **state)
{
    (void)state;
    assert_int_equal(fork_ranks(run_doorbell), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_each_protocol_arrive_both_ways),
        cmocka_unit_test(pushed_messages_arrive_both_ways),
        cmocka_unit_test(messages_wait_in_order_for_a_full_ring),
        cmocka_unit_test(operations_with_a_dead_peer_fail),
        cmocka_unit_test(a_wait_for_a_stopped_peer_that_counts_as_dead_ends),
        cmocka_unit_test(a_writer_wakes_a_sleeping_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
