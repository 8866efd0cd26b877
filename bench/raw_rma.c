// SPDX-License-Identifier: BSD-3-Clause
/*
 * raw_put, raw_get: one fi_write that completes in the target's memory, or one fi_read, straight on
 * the provider; raw_puts, raw_gets: windows of them, as the time of one. The twins of weft_put,
 * weft_get, weft_puts and weft_gets. Side 0 writes and reads; side 1 only drives its provider.
 */
#include "raw_ofi.h"

enum operation { PUT, GET, PUTS, GETS, OPERATIONS };

static const struct bench_program programs[OPERATIONS] = {
    {"raw_put", "Raw libfabric Write Latency Test", BENCH_LATENCY, BENCH_RAW},
    {"raw_get", "Raw libfabric Read Latency Test", BENCH_LATENCY, BENCH_RAW},
    {"raw_puts", "Raw libfabric Write Rate Test", BENCH_BANDWIDTH, BENCH_RAW | BENCH_WINDOW},
    {"raw_gets", "Raw libfabric Read Rate Test", BENCH_BANDWIDTH, BENCH_RAW | BENCH_WINDOW},
};

/* Where the other side's buffer is. */
struct remote {
    uint64_t address, key;
};

static ssize_t start_one(struct raw *r, bool put, size_t size, const struct remote *at,
                         void *context)
{
    struct iovec iov = {r->send, size};
    struct fi_rma_iov there = {at->address, size, at->key};
    struct fi_msg_rma message = {.msg_iov = &iov,
                                 .desc = &r->send_desc,
                                 .iov_count = 1,
                                 .addr = r->peer,
                                 .rma_iov = &there,
                                 .rma_iov_count = 1,
                                 .context = context};
    return put ? fi_writemsg(r->ep, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION)
               : fi_read(r->ep, r->recv, size, r->recv_desc, r->peer, at->address, at->key,
                         context);
}

static void run(struct raw *r, bool put, int times, int window, size_t size,
                const struct remote *at)
{
    for (int i = 0; i < times; i++) {
        for (int k = 0; k < window; k++) {
            void *context = raw_context(r);
            ssize_t status;
            while ((status = start_one(r, put, size, at, context)) != 0)
                raw_again(r, put ? "fi_writemsg" : "fi_read", status);
        }
        raw_complete(r, window);
    }
}

int main(int argc, char **argv)
{
    enum operation operation = (enum operation)bench_program_of(argv[0], programs, OPERATIONS);
    bool put = operation == PUT || operation == PUTS;
    struct raw r;
    struct bench_batch batch;
    struct remote at;
    raw_start(&r, &programs[operation],
              FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, argc, argv);
    int window = operation >= PUTS ? r.options.window : 1;
    raw_header(&r, "Time of one (us)");
    raw_exchange_key(&r, &at.address, &at.key);
    while (raw_next(&r, &batch)) {
        double seconds = 0;
        raw_barrier(&r);
        if (r.side == 0) {
            run(&r, put, batch.warmup, operation >= PUTS ? batch.warmup_window : 1, batch.size,
                &at);
            double start = bench_seconds();
            run(&r, put, batch.timed, window, batch.size, &at);
            seconds = bench_seconds() - start;
            raw_release(&r);
        } else {
            raw_serve(&r);
        }
        raw_barrier(&r);
        raw_report(&r, &batch, seconds, seconds * 1e6 / batch.timed / window, false);
    }
    return raw_end(&r);
}
