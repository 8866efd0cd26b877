// SPDX-License-Identifier: BSD-3-Clause
/*
 * raw_read_bw: bandwidth of windows of fi_read straight on the provider; the twin of weft_bw for
 * rendezvous sizes, where the receiver of a message fetches it. Nothing but data moves: no request
 * to send, no answer at the end. Side 0 reads; side 1 only drives its provider.
 */
#include "raw_ofi.h"

#include <string.h>

static const struct bench_program program = {
    .name = "raw_read_bw",
    .title = "Raw libfabric Read Bandwidth Test",
    .kind = BENCH_BANDWIDTH,
    .features = BENCH_RAW | BENCH_WINDOW,
};

static void read_window(struct raw *r, size_t size, uint64_t address, uint64_t key)
{
    for (int i = 0; i < r->options.window; i++) {
        void *context = raw_context(r);
        ssize_t status;
        while ((status = fi_read(r->ep, r->recv, size, r->recv_desc, r->peer, address, key,
                                 context)) != 0)
            raw_again(r, "fi_read", status);
    }
    raw_complete(r, r->options.window);
}

/* Returns the seconds of the timed windows. */
static double read_all(struct raw *r, size_t size, uint64_t address, uint64_t key)
{
    int timed = bench_iterations(&r->options, BENCH_BANDWIDTH, size);
    int warmup = bench_warmup(&r->options, BENCH_BANDWIDTH, size);
    for (int i = 0; i < warmup; i++)
        read_window(r, size, address, key);
    double start = raw_seconds();
    for (int i = 0; i < timed; i++)
        read_window(r, size, address, key);
    return raw_seconds() - start;
}

static void measure(struct raw *r, size_t size, uint64_t address, uint64_t key)
{
    double seconds = read_all(r, size, address, key);
    bool good = !r->options.validate || bench_check(r->recv, size);
    r->good = r->good && good;
    double bytes =
        (double)size * r->options.window * bench_iterations(&r->options, BENCH_BANDWIDTH, size);
    bench_table_row(&r->options, size, bytes / 1e6 / seconds, -1, good);
}

int main(int argc, char **argv)
{
    struct raw r;
    uint64_t address, key;
    raw_start(&r, &program, FI_RMA | FI_READ | FI_REMOTE_READ, argc, argv);
    raw_header(&r, "Bandwidth (MB/s)");
    raw_exchange_key(&r, &address, &key);
    for (size_t size = r.options.min; size <= r.options.max; size = bench_next_size(size)) {
        bench_fill(r.send, size);
        memset(r.recv, 0, size);
        raw_barrier(&r);
        if (r.side == 0) {
            measure(&r, size, address, key);
            raw_release(&r);
        } else {
            raw_serve(&r);
        }
        raw_barrier(&r);
    }
    return raw_end(&r);
}
