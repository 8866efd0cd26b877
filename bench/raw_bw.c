// SPDX-License-Identifier: BSD-3-Clause
/*
 * raw_bw: bandwidth of tagged messages straight on the provider, windows answered by four bytes;
 * the twin of weft_bw for eager sizes. The receiver posts its next window before it answers.
 */
#include "raw_ofi.h"

enum { TAG_DATA = 100, TAG_ACK = 101, ACK = 4 };

static const struct bench_program program = {
    .name = "raw_bw",
    .title = "Raw libfabric Tagged Bandwidth Test",
    .kind = BENCH_BANDWIDTH,
    .features = BENCH_RAW | BENCH_TAGGED | BENCH_WINDOW,
};

/* The messages of the i-th window. */
static int window_of(const struct raw *r, const struct bench_batch *batch, int i)
{
    return i < batch->warmup ? batch->warmup_window : r->options.window;
}

static void send_window(struct raw *r, int window, size_t size)
{
    int open = 1;
    raw_recv(r, ACK, TAG_ACK);
    for (int i = 0; i < window; i++)
        open += raw_send(r, size, TAG_DATA);
    raw_complete(r, open);
}

static void post_window(struct raw *r, int window, size_t size)
{
    for (int i = 0; i < window; i++)
        raw_recv(r, size, TAG_DATA);
}

/* Returns the seconds of the timed windows. */
static double one_way(struct raw *r, const struct bench_batch *batch)
{
    int total = batch->warmup + batch->timed;
    double start = 0;

    if (r->side == 1)
        post_window(r, window_of(r, batch, 0), batch->size);
    raw_barrier(r);
    for (int i = 0; i < total; i++) {
        if (i == batch->warmup)
            start = bench_seconds();
        if (r->side == 0) {
            send_window(r, window_of(r, batch, i), batch->size);
            continue;
        }
        raw_complete(r, window_of(r, batch, i));
        if (i < total - 1)
            post_window(r, window_of(r, batch, i + 1), batch->size);
        raw_complete(r, raw_send(r, ACK, TAG_ACK));
    }
    double seconds = bench_seconds() - start;
    raw_barrier(r);
    return seconds;
}

int main(int argc, char **argv)
{
    struct raw r;
    struct bench_batch batch;
    raw_start(&r, &program, FI_TAGGED | FI_SEND | FI_RECV, argc, argv);
    raw_header(&r, "Bandwidth (MB/s)");
    while (raw_next(&r, &batch)) {
        double seconds = one_way(&r, &batch);
        double bytes = (double)batch.size * r.options.window * batch.timed;
        raw_report(&r, &batch, seconds, bytes / 1e6 / seconds, r.side == 1);
    }
    return raw_end(&r);
}
