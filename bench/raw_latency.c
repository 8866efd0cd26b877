// SPDX-License-Identifier: BSD-3-Clause
/*
 * raw_latency: half the time of a ping-pong of tagged messages straight on the provider; the twin
 * of weft_latency. Two receives are always posted ahead, so that no message waits for one and an
 * answer leaves before the next receive is posted.
 */
#include "raw_ofi.h"

#include <string.h>

enum { TAG = 1 };

static const struct bench_program program = {
    .name = "raw_latency",
    .title = "Raw libfabric Tagged Latency Test",
    .kind = BENCH_LATENCY,
    .features = BENCH_RAW | BENCH_TAGGED,
};

/* Returns half a round trip in seconds. */
static double ping_pong(struct raw *r, size_t size)
{
    int timed = bench_iterations(&r->options, BENCH_LATENCY, size);
    int warmup = bench_warmup(&r->options, BENCH_LATENCY, size);
    int total = warmup + timed;
    double start = 0;

    raw_recv(r, size, TAG);
    if (total > 1)
        raw_recv(r, size, TAG);
    raw_barrier(r);
    for (int i = 0; i < total; i++) {
        if (r->side == 0) {
            if (i == warmup)
                start = raw_seconds();
            int sent = raw_send(r, size, TAG);
            raw_complete(r, sent + 1);
        } else {
            raw_complete(r, 1);
            raw_complete(r, raw_send(r, size, TAG));
        }
        if (i < total - 2)
            raw_recv(r, size, TAG);
    }
    double seconds = raw_seconds() - start;
    raw_barrier(r);
    return seconds / (2.0 * timed);
}

int main(int argc, char **argv)
{
    struct raw r;
    raw_start(&r, &program, FI_TAGGED | FI_SEND | FI_RECV, argc, argv);
    raw_header(&r, "Latency (us)");
    for (size_t size = r.options.min; size <= r.options.max; size = bench_next_size(size)) {
        bench_fill(r.send, size);
        memset(r.recv, 0, size);
        double seconds = ping_pong(&r, size);
        bool good = !r.options.validate || bench_check(r.recv, size);
        r.good = r.good && good;
        if (r.side == 0)
            bench_table_row(&r.options, size, seconds * 1e6, -1, good);
    }
    return raw_end(&r);
}
