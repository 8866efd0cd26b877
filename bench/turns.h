// SPDX-License-Identifier: BSD-3-Clause
/*
 * Batches of iterations, and where they come from: from the command line, one batch for each size,
 * or, with --turns PREFIX, from bench/side_by_side, which lets two jobs measure in turns.
 *
 * With --turns rank R of the benchmark reads its orders from the fifo PREFIX.R.orders and answers
 * in PREFIX.R.replies. It measures when told to run, then drives its transport until told to rest
 * (what it sent last may still need that), answers, and sleeps in a read until its next order.
 *
 * Invariant: a rank that has answered that it rests takes no CPU until its next order, so the other
 * job has the machine for itself. A controller that is gone ends the job, as its fifos are closed.
 */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include "options.h"

#include <stdint.h>

/* What a benchmark does between two looks at the clock. */
struct bench_batch {
    size_t size;       /* bytes of a message */
    int timed;         /* iterations that count */
    int warmup;        /* iterations before them that do not */
    int warmup_window; /* messages of a window in those */
};

enum bench_order_kind { BENCH_ORDER_RUN = 1, BENCH_ORDER_REST, BENCH_ORDER_END };

/* What goes through the fifos: shorter than PIPE_BUF, hence written and read in one piece. */
struct bench_order {
    uint32_t kind; /* enum bench_order_kind */
    int32_t timed, warmup;
    uint64_t size;
};

struct bench_reply {
    uint32_t rests;     /* 0: the answer to RUN; 1: to REST, and when the rank is ready at first */
    uint32_t good;      /* nothing has failed the validation */
    uint32_t disturbed; /* others took this rank's core so many times */
    double seconds;     /* of the timed iterations; of rank 0 only, as is the next */
    double figure;      /* what the benchmark's own table would have said, in its unit */
};

struct bench_turns {
    const struct bench_program *program;
    const struct bench_options *options;
    int orders, replies; /* -1 without --turns */
    size_t next;         /* the next size, without --turns */
    long switches;       /* of this thread against its will, before the batch */
    bool lost;           /* the controller is gone or asks for what cannot be */
};

/* Opens the fifos of this rank if the options name any, and says that it is ready. program and
 * options are kept by address. Returns false, with a sentence in why, when they cannot be had. */
bool bench_turns_open(struct bench_turns *t, const struct bench_program *program,
                      const struct bench_options *o, int rank, char *why, size_t len);

/* The next batch, waiting for the order if there are --turns. Returns false at the end, and when
 * the controller is lost. */
bool bench_turns_next(struct bench_turns *t, struct bench_batch *batch);

/* Answers with what a batch took. Then the caller drives its transport until it is told to rest.
 * Neither is for a job without --turns. */
void bench_turns_reply(struct bench_turns *t, double seconds, double figure, bool good);
bool bench_turns_told_to_rest(struct bench_turns *t);

/* Says that this rank rests: the last thing before bench_turns_next. */
void bench_turns_rest(struct bench_turns *t);

/* The sentence of a job that lost its controller, or NULL. */
const char *bench_turns_lost(const struct bench_turns *t);

#endif
