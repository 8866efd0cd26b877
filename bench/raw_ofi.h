// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two processes that communicate through libfabric without MPI: the reference for Weft's overhead.
 *
 * The reference is as fast as possible. It requests only the features of its own test (one kind of
 * transfer, no message order, no data in completions, receives from any source), uses one
 * completion queue in the smallest format, injects up to the provider's limit, posts receives
 * ahead, and polls without yielding.
 *
 * Invariant: the two processes are parent (side 0) and child (side 1) of one fork and share one
 * page. Addresses and barriers use that page, so only the measured transfers use the provider. When
 * one process dies, the other ends too.
 */
#ifndef BENCH_RAW_OFI_H
#define BENCH_RAW_OFI_H

#include "figures.h"
#include "options.h"
#include "table.h"
#include "turns.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdint.h>

struct raw_shared;

struct raw {
    const struct bench_program *program;
    struct bench_options options;
    struct bench_turns turns;
    int side; /* 0 leads and prints, 1 answers */
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    fi_addr_t peer;    /* where to send */
    fi_addr_t from;    /* whom to receive from: anyone, unless --directed */
    size_t inject;     /* messages up to this many bytes leave no completion */
    char *send, *recv; /* options.max bytes each */
    void *send_desc, *recv_desc;
    struct fid_mr *send_mr, *recv_mr;
    struct fi_context2 *contexts; /* two windows of them */
    size_t next_context, context_count;
    struct raw_shared *shared;
    bool good;
};

/* Reads the command line, forks, and opens the same endpoint in both processes. caps: what the
 * test needs of the provider: FI_TAGGED or FI_RMA with their directions. Exits with a sentence
 * when that cannot be had. */
void raw_start(struct raw *r, const struct bench_program *program, uint64_t caps, int argc,
               char **argv);

/* Both sides meet; each drives the provider while it waits. */
void raw_barrier(struct raw *r);

/* The address and key of the other side's send buffer, for fi_read and fi_write. Both sides call
 * it. */
void raw_exchange_key(struct raw *r, uint64_t *address, uint64_t *key);

/* Drives the provider until the other side calls raw_release. */
void raw_serve(struct raw *r);
void raw_release(struct raw *r);

/* Prints the head of the table on side 0, unless there are --turns. */
void raw_header(struct raw *r, const char *column);

/* The next batch, or false at the end. Puts the pattern of its size into send and clears recv where
 * that is to be checked. */
bool raw_next(struct raw *r, struct bench_batch *batch);

/* Hands in the figure of a batch and the seconds that side 0 took for its timed part. receiver:
 * this side has received, and checks it if the options ask. Both sides call it. */
void raw_report(struct raw *r, const struct bench_batch *batch, double seconds, double figure,
                bool receiver);

/* Closes, waits for the child, and returns the exit code (side 1 does not return). */
int raw_end(struct raw *r);

/* Ends both processes with a sentence: what failed, and libfabric's text for error (0: none). */
_Noreturn void raw_fail(const struct raw *r, const char *what, int error);

/* Prints the entry of the error queue, and exits. */
_Noreturn void raw_fail_completion(const struct raw *r);

/* The next context; one is used again after two windows, when its operation is long done. */
static inline void *raw_context(struct raw *r)
{
    struct fi_context2 *context = &r->contexts[r->next_context];
    if (++r->next_context == r->context_count)
        r->next_context = 0;
    return context;
}

/* Takes count completions. */
static inline void raw_complete(struct raw *r, int count)
{
    struct fi_cq_tagged_entry entries[16]; /* room for whatever format the queue has */
    while (count > 0) {
        ssize_t n = fi_cq_read(r->cq, entries, (size_t)(count < 16 ? count : 16));
        if (__builtin_expect(n > 0, 1))
            count -= (int)n;
        else if (__builtin_expect(n != -FI_EAGAIN, 0))
            raw_fail_completion(r);
    }
}

/* -FI_EAGAIN: makes progress before the next attempt. */
static inline void raw_again(struct raw *r, const char *what, ssize_t status)
{
    if (status != -FI_EAGAIN)
        raw_fail(r, what, (int)-status);
    fi_cq_read(r->cq, NULL, 0);
}

/* Sends from the send buffer. Returns the number of completions to come: 0 or 1. */
static inline int raw_send(struct raw *r, size_t size, uint64_t tag)
{
    ssize_t status;
    if (size <= r->inject) {
        do {
            status = r->options.cq_data ? fi_tinjectdata(r->ep, r->send, size, 1, r->peer, tag)
                                        : fi_tinject(r->ep, r->send, size, r->peer, tag);
            if (__builtin_expect(status == 0, 1))
                return 0;
            raw_again(r, "fi_tinject", status);
        } while (true);
    }
    void *context = raw_context(r);
    do {
        status = r->options.cq_data
                     ? fi_tsenddata(r->ep, r->send, size, r->send_desc, 1, r->peer, tag, context)
                     : fi_tsend(r->ep, r->send, size, r->send_desc, r->peer, tag, context);
        if (__builtin_expect(status == 0, 1))
            return 1;
        raw_again(r, "fi_tsend", status);
    } while (true);
}

/* Posts a receive into the receive buffer; one completion is to come. */
static inline void raw_recv(struct raw *r, size_t size, uint64_t tag)
{
    void *context = raw_context(r);
    ssize_t status;
    while ((status = fi_trecv(r->ep, r->recv, size, r->recv_desc, r->from, tag, 0, context)) != 0)
        raw_again(r, "fi_trecv", status);
}

#endif
