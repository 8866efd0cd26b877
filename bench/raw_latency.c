// SPDX-License-Identifier: BSD-3-Clause
/*
 * raw_latency: half the time of a ping-pong of tagged messages straight on the provider; the twin
 * of weft_latency. Two receives are always posted ahead, so that no message waits for one and an
 * answer leaves before the next receive is posted.
 */
#include "raw_ofi.h"

enum { TAG = 1 };

static const struct bench_program program = {
    .name = "raw_latency",
    .title = "Raw libfabric Tagged Latency Test",
    .kind = BENCH_LATENCY,
    .features = BENCH_RAW | BENCH_TAGGED,
};

/* Returns the seconds of the timed round trips. */
static double ping_pong(struct raw *r, const struct bench_batch *batch)
{
    size_t size = batch->size;
    int total = batch->warmup + batch->timed;
    double start = 0;

    raw_recv(r, size, TAG);
    if (total > 1)
        raw_recv(r, size, TAG);
    raw_barrier(r);
    for (int i = 0; i < total; i++) {
        if (r->side == 0) {
            if (i == batch->warmup)
                start = bench_seconds();
            int sent = raw_send(r, size, TAG);
            raw_complete(r, sent + 1);
        } else {
            raw_complete(r, 1);
            raw_complete(r, raw_send(r, size, TAG));
        }
        if (i < total - 2)
            raw_recv(r, size, TAG);
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
    raw_header(&r, "Latency (us)");
    while (raw_next(&r, &batch)) {
        double seconds = ping_pong(&r, &batch);
        raw_report(&r, &batch, seconds, seconds * 1e6 / (2.0 * batch.timed), true);
    }
    return raw_end(&r);
}
