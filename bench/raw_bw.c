// SPDX-License-Identifier: BSD-3-Clause
/*
 * raw_bw: bandwidth of tagged messages straight on the provider, windows answered by four bytes;
 * the twin of weft_bw for eager sizes. The receiver posts its next window before it answers.
 */
#include "raw_ofi.h"

#include <string.h>

enum { TAG_DATA = 100, TAG_ACK = 101, ACK = 4 };

static const struct bench_program program = {
    .name = "raw_bw",
    .title = "Raw libfabric Tagged Bandwidth Test",
    .kind = BENCH_BANDWIDTH,
    .features = BENCH_RAW | BENCH_TAGGED | BENCH_WINDOW,
};

static void send_window(struct raw *r, size_t size)
{
    int open = 1;
    raw_recv(r, ACK, TAG_ACK);
    for (int i = 0; i < r->options.window; i++)
        open += raw_send(r, size, TAG_DATA);
    raw_complete(r, open);
}

static void post_window(struct raw *r, size_t size)
{
    for (int i = 0; i < r->options.window; i++)
        raw_recv(r, size, TAG_DATA);
}

/* Returns the seconds of the timed windows. */
static double one_way(struct raw *r, size_t size)
{
    int timed = bench_iterations(&r->options, BENCH_BANDWIDTH, size);
    int warmup = bench_warmup(&r->options, BENCH_BANDWIDTH, size);
    double start = 0;

    if (r->side == 1)
        post_window(r, size);
    raw_barrier(r);
    for (int i = 0; i < warmup + timed; i++) {
        if (i == warmup)
            start = raw_seconds();
        if (r->side == 0) {
            send_window(r, size);
            continue;
        }
        raw_complete(r, r->options.window);
        if (i < warmup + timed - 1)
            post_window(r, size);
        raw_complete(r, raw_send(r, ACK, TAG_ACK));
    }
    double seconds = raw_seconds() - start;
    raw_barrier(r);
    return seconds;
}

int main(int argc, char **argv)
{
    struct raw r;
    raw_start(&r, &program, FI_TAGGED | FI_SEND | FI_RECV, argc, argv);
    raw_header(&r, "Bandwidth (MB/s)");
    for (size_t size = r.options.min; size <= r.options.max; size = bench_next_size(size)) {
        bench_fill(r.send, size);
        memset(r.recv, 0, size);
        double seconds = one_way(&r, size);
        bool good = !r.options.validate || r.side == 0 || bench_check(r.recv, size);
        r.good = r.good && good;
        double bytes =
            (double)size * r.options.window * bench_iterations(&r.options, BENCH_BANDWIDTH, size);
        if (r.side == 0)
            bench_table_row(&r.options, size, bytes / 1e6 / seconds, -1, good);
    }
    return raw_end(&r);
}
