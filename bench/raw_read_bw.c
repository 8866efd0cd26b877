// SPDX-License-Identifier: BSD-3-Clause
/*
 * raw_read_bw: bandwidth of windows of fi_read straight on the provider; the twin of weft_bw for
 * rendezvous sizes, where the receiver of a message fetches it. Nothing but data moves: no request
 * to send, no answer at the end. Side 0 reads; side 1 only drives its provider.
 */
#include "raw_ofi.h"

static const struct bench_program program = {
    .name = "raw_read_bw",
    .title = "Raw libfabric Read Bandwidth Test",
    .kind = BENCH_BANDWIDTH,
    .features = BENCH_RAW | BENCH_WINDOW,
};

/* Where the other side's buffer is. */
struct remote {
    uint64_t address, key;
};

static void read_limit(struct raw *r, int window, size_t size, const struct remote *from)
{
    for (int i = 0; i < window; i++) {
        void *context = raw_context(r);
        ssize_t status;
        while ((status = fi_read(r->ep, r->recv, size, r->recv_desc, r->peer, from->address,
                                 from->key, context)) != 0)
            raw_again(r, "fi_read", status);
    }
    raw_complete(r, window);
}

/* Returns the seconds of the timed windows. */
static double read_all(struct raw *r, const struct bench_batch *batch, const struct remote *from)
{
    for (int i = 0; i < batch->warmup; i++)
        read_limit(r, batch->warmup_window, batch->size, from);
    double start = bench_seconds();
    for (int i = 0; i < batch->timed; i++)
        read_limit(r, r->options.window, batch->size, from);
    return bench_seconds() - start;
}

int main(int argc, char **argv)
{
    struct raw r;
    struct bench_batch batch;
    struct remote from;
    raw_start(&r, &program, FI_RMA | FI_READ | FI_REMOTE_READ, argc, argv);
    raw_header(&r, "Bandwidth (MB/s)");
    raw_exchange_key(&r, &from.address, &from.key);
    while (raw_next(&r, &batch)) {
        double seconds = 0, bytes = (double)batch.size * r.options.window * batch.timed;
        raw_barrier(&r);
        if (r.side == 0) {
            seconds = read_all(&r, &batch, &from);
            raw_release(&r);
        } else {
            raw_serve(&r);
        }
        raw_barrier(&r);
        raw_report(&r, &batch, seconds, bytes / 1e6 / seconds, r.side == 0);
    }
    return raw_end(&r);
}
