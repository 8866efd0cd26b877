// SPDX-License-Identifier: BSD-3-Clause
/*
 * raw_shm: half the time of a ping-pong through shared memory without any protocol; the twin of
 * weft_latency on one node. Up to 48 bytes are sent in the cache line whose turn the reader polls.
 * More are written by the sender before the measurement, and copied once by the receiver out of the
 * sender's memory. There is no matching, queue or length, so it is a lower bound for any library.
 *
 * Invariant: each line has one writer, which writes the turn last, by a release; the reader reads
 * the turn first, by an acquire.
 */
#include "figures.h"
#include "options.h"
#include "raw_pair.h"
#include "table.h"
#include "turns.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, IN_LINE = 48 };

static const struct bench_program program = {
    .name = "raw_shm",
    .title = "Shared Memory Latency Test, no MPI",
    .kind = BENCH_LATENCY,
    .features = BENCH_RAW,
};

struct line {
    _Alignas(2 * LINE) _Atomic uint64_t turn; /* two lines apart: they are fetched in pairs */
    char data[IN_LINE];
};

struct twin {
    struct bench_options options;
    struct bench_turns turns;
    struct raw_shared *shared;
    struct line *lines; /* lines[side] is written by that side */
    char *send[2];      /* what each side sends, seen by both */
    char *recv;
    uint64_t turn; /* of the last message each way */
    int side;
    bool good;
};

static void *shared_memory(size_t bytes)
{
    void *there =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (there == MAP_FAILED) {
        fprintf(stderr, "raw_shm: no memory for %zu bytes that both processes share; lower -m\n",
                bytes);
        exit(1);
    }
    return there;
}

static void start(struct twin *t, int argc, char **argv)
{
    char why[256];
    *t = (struct twin){.good = true};
    bench_options_or_exit(&t->options, &program, argc, argv);
    t->lines = shared_memory(2 * sizeof *t->lines);
    t->send[0] = shared_memory(t->options.max + LINE);
    t->send[1] = shared_memory(t->options.max + LINE);
    t->recv = bench_buffer(t->options.max);
    if (!t->recv) {
        fprintf(stderr, "raw_shm: no memory for a buffer of %zu bytes; lower -m\n", t->options.max);
        exit(1);
    }
    t->shared = raw_pair_split(program.name, t->options.bind, &t->side);
    if (!bench_turns_open(&t->turns, &program, &t->options, t->side, why, sizeof why)) {
        fprintf(stderr, "raw_shm: side %d: %s\n", t->side, why);
        exit(1);
    }
}

static inline void give(struct twin *t, size_t size)
{
    struct line *line = &t->lines[t->side];
    if (size <= IN_LINE)
        memcpy(line->data, t->send[t->side], size);
    atomic_store_explicit(&line->turn, t->turn, memory_order_release);
}

static inline void take(struct twin *t, size_t size)
{
    struct line *line = &t->lines[1 - t->side];
    while (atomic_load_explicit(&line->turn, memory_order_acquire) != t->turn)
        ;
    memcpy(t->recv, size <= IN_LINE ? line->data : t->send[1 - t->side], size);
}

/* Returns the seconds of the timed round trips. */
static double ping_pong(struct twin *t, const struct bench_batch *batch)
{
    double begin = 0;
    raw_pair_barrier(t->shared, NULL, NULL);
    for (int i = 0; i < batch->warmup + batch->timed; i++) {
        t->turn++;
        if (t->side == 0) {
            if (i == batch->warmup)
                begin = bench_seconds();
            give(t, batch->size);
            take(t, batch->size);
        } else {
            take(t, batch->size);
            give(t, batch->size);
        }
    }
    double seconds = bench_seconds() - begin;
    raw_pair_barrier(t->shared, NULL, NULL);
    return seconds;
}

static void report(struct twin *t, const struct bench_batch *batch, double seconds)
{
    double figure = seconds * 1e6 / (2.0 * batch->timed);
    bool good = !t->options.validate || bench_check(t->recv, batch->size);
    t->good = t->good && good;
    if (t->options.turns) {
        bench_turns_reply(&t->turns, seconds, figure, good);
        while (!bench_turns_told_to_rest(&t->turns))
            ;
        bench_turns_rest(&t->turns);
    } else if (t->side == 0) {
        bench_table_row(&t->options, batch->size, figure, -1, good);
    }
}

int main(int argc, char **argv)
{
    struct twin t;
    struct bench_batch batch;
    start(&t, argc, argv);
    if (t.side == 0 && !t.options.turns)
        bench_table_header(&t.options, program.title, NULL, "Latency (us)", NULL);
    while (bench_turns_next(&t.turns, &batch)) {
        bench_fill(t.send[t.side], batch.size);
        memset(t.recv, 0, batch.size);
        report(&t, &batch, ping_pong(&t, &batch));
    }
    const char *lost = bench_turns_lost(&t.turns);
    if (lost && t.side == 0)
        fprintf(stderr, "%s: %s\n", program.name, lost);
    if (!t.good)
        fprintf(stderr, "%s: side %d: data arrived changed\n", program.name, t.side);
    free(t.recv);
    return raw_pair_join(t.shared, t.side, t.good && !lost ? 0 : 1);
}
