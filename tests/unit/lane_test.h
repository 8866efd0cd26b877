// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two ranks for the tests of a lane without the modules above it: a bootstrap of one shared page
 * instead of PMIx, one channel instead of communicators, and sends and receives as requests.
 *
 * A test forks both ranks, so that each has a library of its own. A rank that finds a condition
 * false prints it and exits with 1, and the test fails.
 */
#ifndef LANE_TEST_H
#define LANE_TEST_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/datatype/datatype.h"
#include "core/message/lane.h"
#include "core/message/lane_fast.h"
#include "core/message/sw_match.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d, line %d: %s\n", weft.job.rank, __LINE__, #condition);        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

enum { RANKS = 2, VALUES = 4, VALUE_BYTES = 8192, CONTEXT = 3 * WEFT_CONTEXTS, SECONDS = 60 };

/* ---- The bootstrap: values and deaths in memory that both ranks share */

static struct board {
    struct {
        _Atomic size_t bytes;
        char key[32], value[VALUE_BYTES];
    } values[RANKS][VALUES];
    _Atomic int fences, dead[RANKS];
} * board;

int weft_boot_publish(const char *key, const void *bytes, size_t size, char *why, size_t len)
{
    (void)why, (void)len;
    for (int i = 0; i < VALUES; i++) {
        if (atomic_load(&board->values[weft.job.rank][i].bytes))
            continue;
        CHECK(size <= VALUE_BYTES);
        memcpy(board->values[weft.job.rank][i].value, bytes, size);
        snprintf(board->values[weft.job.rank][i].key, 32, "%s", key);
        atomic_store(&board->values[weft.job.rank][i].bytes, size);
        return 0;
    }
    return -1;
}

int weft_boot_put(const char *key, const void *bytes, size_t size, char *why, size_t len)
{
    return weft_boot_publish(key, bytes, size, why, len);
}

int weft_boot_fetch(int rank, const char *key, void *value, size_t *bytes, int timeout_s, char *why,
                    size_t len)
{
    (void)why, (void)len;
    for (int ms = 0; ms < timeout_s * 1000; ms++) {
        for (int i = 0; i < VALUES; i++) {
            size_t size = atomic_load(&board->values[rank][i].bytes);
            if (!size || strcmp(board->values[rank][i].key, key) != 0)
                continue;
            CHECK(size <= *bytes);
            memcpy(value, board->values[rank][i].value, size);
            *bytes = size;
            return 0;
        }
        usleep(1000);
    }
    return -1;
}

bool weft_boot_key(uint32_t *key)
{
    *key = 0;
    return false;
}

char *weft_boot_host(int rank, char *buf, size_t len)
{
    (void)rank;
    snprintf(buf, len, "here");
    return buf;
}

const int32_t *weft_boot_nodes(void)
{
    return NULL;
}

void weft_boot_abort(int code, const char *message)
{
    (void)message;
    _exit(code);
}

bool weft_boot_has_failed(int rank)
{
    return rank == WEFT_BOOT_ANYBODY ? board->dead[0] || board->dead[1] : board->dead[rank];
}

void weft_boot_report_failure(int rank)
{
    atomic_store(&board->dead[rank], 1);
}

bool weft_boot_next_failure(int *rank)
{
    static bool reported;
    *rank = !weft.job.rank;
    bool fresh = !reported && board->dead[*rank];
    reported |= fresh;
    return fresh;
}

/* All ranks wait until each has called it that often, and call progress meanwhile. */
static inline void fence(int (*progress)(void))
{
    static int calls;
    atomic_fetch_add(&board->fences, 1);
    for (calls++; atomic_load(&board->fences) < RANKS * calls;)
        if (!progress || !progress())
            usleep(100);
}

/* ---- The process and its one channel */

static struct weft_channel channel;

static struct weft_channel *channel_with(uint32_t context, int source, int tag)
{
    (void)source;
    (void)tag;
    return context == CONTEXT ? &channel : NULL;
}

static int world_rank(const struct weft_channel *of, int rank)
{
    (void)of;
    return rank;
}

static const char *channel_name(const struct weft_channel *of)
{
    (void)of;
    return "a channel";
}

/* As if each of them could become a communicator. */
static bool is_expected(uint32_t context)
{
    (void)context;
    return true;
}

static int no_events(void)
{
    return 0;
}

/* Before the lane opens. */
static inline void open_process(int rank, unsigned number, const struct weft_lane *lane)
{
    static const int local[RANKS] = {0, 1};
    static char why[512];
    weft.job = (struct weft_job){.rank = rank,
                                 .size = RANKS,
                                 .local_rank = rank,
                                 .local_size = RANKS,
                                 .one_node = true,
                                 .local_peers = local,
                                 .host = "here"};
    weft.processes = RANKS;
    weft_lanes[number] = lane;
    weft_channel_ops = (struct weft_channel_ops){
        .of = channel_with, .world = world_rank, .name = channel_name, .expects = is_expected};
    weft_pollers = (struct weft_pollers){.agreements = no_events, .partitioned = no_events};
    CHECK(!weft_settings_load(why, sizeof why));
    weft_request_init();
    weft_datatype_init();
    weft_vcis_open(1);
    weft.eager_credits = 512 << 10;
    weft_entry_flags = 0;
    alarm(SECONDS);
}

/* After the lane has opened. */
static inline void open_channel(int32_t held)
{
    CHECK(weft_peers_open(0));
    channel = (struct weft_channel){.context = CONTEXT,
                                    .held = held,
                                    .sources = held ? 0 : RANKS,
                                    .wildcards_held = held != 0,
                                    .vci = &weft.vcis[0],
                                    .peers = weft.peers[0],
                                    .rank = weft.job.rank,
                                    .size = RANKS};
    weft_progress_open();
    fence(NULL);
}

/* ---- Messages with the other rank */

static inline struct weft_request *describe(enum weft_request_kind kind, const void *data,
                                            size_t bytes, int tag, enum weft_send_mode mode)
{
    struct weft_request *request = weft_request_get(&weft.vcis[0], kind, 1);
    CHECK(request);
    request->mode = (uint8_t)mode;
    request->source = request->match.source = !weft.job.rank;
    request->tag = request->match.tag = tag;
    request->match.context = CONTEXT;
    request->match.queued = false;
    request->bytes = request->capacity = bytes;
    request->channel = &channel;
    request->peer = weft_channel_connect(&channel, !weft.job.rank);
    request->type = weft_datatype_byte();
    request->buffer = (void *)(uintptr_t)data;
    CHECK(request->peer);
    return request;
}

/* Waits for a request. Returns its error. */
static inline int finish_request(struct weft_request *request)
{
    weft_vci_begin_wait(&weft.vcis[0]);
    weft_request_wait(request);
    weft_vci_end_wait(&weft.vcis[0]);
    int error = request->error;
    weft_request_put(request);
    return error;
}

/* ---- The ranks of a test */

static inline int fork_ranks(void (*run)(int rank))
{
    pid_t pids[RANKS];
    int failed = 0, status;
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(board, MAP_FAILED);
    for (int rank = 0; rank < RANKS; rank++)
        if ((pids[rank] = fork()) == 0) {
            run(rank);
            _exit(0);
        }
    for (int ended = 0; ended < RANKS; ended++) {
        pid_t pid = wait(&status);
        for (int rank = 0; rank < RANKS; rank++) {
            if (pids[rank] == pid)
                pids[rank] = 0;
            else if (status && pids[rank])
                kill(pids[rank], SIGKILL); /* it would wait for the other rank */
        }
        failed += status != 0;
    }
    munmap(board, sizeof *board);
    return failed;
}

/* ---- The tests of each lane. The test of the lane has these functions. */

enum { LONG = 300000 }; /* bytes of a message that no lane sends eagerly */

static struct weft_request *start_send(const void *data, size_t bytes, int tag,
                                       enum weft_send_mode mode);
static struct weft_request *start_receive(void *data, size_t bytes, int tag);
static void run_messages(int rank);
static void run_dead_peer(int rank);

static inline void exchange(int rank, size_t bytes, enum weft_send_mode mode)
{
    static unsigned char out[LONG], in[LONG];
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)((size_t)rank + i * 7 + bytes);
    memset(in, 0, bytes);
    struct weft_request *receive = start_receive(in, bytes, 5);
    struct weft_request *send = start_send(out, bytes, 5, mode);
    CHECK(finish_request(send) == MPI_SUCCESS);
    CHECK(finish_request(receive) == MPI_SUCCESS);
    for (size_t i = 0; i < bytes; i++)
        CHECK(in[i] == (unsigned char)((size_t)!rank + i * 7 + bytes));
}

static inline void exchange_sizes(int rank, const size_t *sizes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        exchange(rank, sizes[i], WEFT_SEND_STANDARD);
        exchange(rank, sizes[i], WEFT_SEND_SYNCHRONOUS);
    }
}

static void messages_of_each_protocol_arrive_both_ways(void **state)
{
    (void)state;
    assert_int_equal(fork_ranks(run_messages), 0);
}

static void operations_with_a_dead_peer_fail(void **state)
{
    (void)state;
    assert_int_equal(fork_ranks(run_dead_peer), 0);
}

#endif
