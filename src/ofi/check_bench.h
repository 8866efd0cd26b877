// SPDX-License-Identifier: BSD-3-Clause
/*
 * The bench on which a provider is tested: a receiver and two senders, endpoints of this process,
 * each with a domain of its own as separate processes would have.
 *
 * Invariant: a step that cannot go on because the provider refused something ends the process with
 * the outcome written down (weft_bench_end does not return); a step that waits says what for first.
 */
#ifndef WEFT_CHECK_BENCH_H
#define WEFT_CHECK_BENCH_H

#include "ofi/check.h"
#include "ofi/provider.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

enum { WEFT_BENCH_RECEIVER, WEFT_BENCH_SENDER, WEFT_BENCH_OTHER, WEFT_BENCH_SIDES };

/* One operation; the provider may use the context until done. */
struct weft_bench_op {
    struct fi_context2 context;
    bool done;
    int error;     /* FI_E..., 0 when it succeeded */
    size_t length; /* bytes received */
    uint64_t tag, data, flags;
};

struct weft_bench_side {
    struct fid_domain *domain;
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    fi_addr_t peers[WEFT_BENCH_SIDES]; /* address of each side in this side's av */
};

struct weft_bench {
    struct fi_info *info;
    size_t eager; /* bytes of the longest message that Weft sends without an RTS */
    struct fid_fabric *fabric;
    struct weft_bench_side sides[WEFT_BENCH_SIDES];
    struct weft_check_outcome *outcome;
};

/* Opens the bench. Ends the process when it cannot. */
void weft_bench_open(struct weft_bench *bench, const struct weft_provider_choice *choice,
                     struct weft_check_outcome *outcome);

/* Writes the outcome down and ends the process. */
_Noreturn void weft_bench_end(struct weft_bench *bench, enum weft_check_result result,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Names the step that follows, for the report should it never end. */
void weft_bench_step(struct weft_bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads what has completed on every side. */
void weft_bench_progress(struct weft_bench *bench);

/* Progress for some milliseconds: what is under way arrives, what must not happen would. */
void weft_bench_settle(struct weft_bench *bench, int milliseconds);

/* Progress until op is done. */
void weft_bench_await(struct weft_bench *bench, struct weft_bench_op *op);

/* The same, and ends the process unless it succeeded. */
void weft_bench_succeed(struct weft_bench *bench, struct weft_bench_op *op, const char *what);

/* Starts a send to the receiver, with progress while the provider says EAGAIN. The CQ data is the
 * low half of the tag. */
void weft_bench_send(struct weft_bench *bench, int from, uint64_t tag, const void *buffer,
                     size_t length, struct weft_bench_op *op);

/* Sends and waits until the provider has no more use for the buffer: it may keep a message that
 * nobody receives, so no probe waits for a send of more than an eager message. */
void weft_bench_send_wait(struct weft_bench *bench, int from, uint64_t tag, const void *buffer,
                          size_t length);

/* Starts a receive, with progress while the provider says EAGAIN; from is a side or -1 for any. */
void weft_bench_receive(struct weft_bench *bench, int from, uint64_t tag, uint64_t ignore,
                        void *buffer, size_t length, struct weft_bench_op *op);

/* fi_trecvmsg on the receiver with flags (FI_PEEK, FI_CLAIM, FI_DISCARD), from any source. Returns
 * the provider's answer, never -FI_EAGAIN. */
ssize_t weft_bench_special(struct weft_bench *bench, uint64_t flags, uint64_t tag, void *buffer,
                           size_t length, struct weft_bench_op *op);

/* A pattern that depends on seed, and the test whether a buffer still has it. */
void weft_bench_fill(void *buffer, size_t length, unsigned seed);
bool weft_bench_filled(const void *buffer, size_t length, unsigned seed);

#endif
