// SPDX-License-Identifier: BSD-3-Clause
/*
 * The probes of the self-test: each tests one feature that Weft uses.
 *
 * Invariant: a probe returns only when the feature works; otherwise it ends the process by
 * weft_bench_end, hangs, or crashes, and the process that started the sides detects which.
 */
#ifndef WEFT_CHECK_PROBES_H
#define WEFT_CHECK_PROBES_H

#include "bench.h"

/* message.c: messages whose receives match in the order of sending */
void weft_probe_basic(struct weft_bench *bench);
void weft_probe_inject(struct weft_bench *bench);
void weft_probe_order(struct weft_bench *bench);
void weft_probe_load_match(struct weft_bench *bench);
void weft_probe_load_complete(struct weft_bench *bench);
void weft_probe_unexpected(struct weft_bench *bench);
void weft_probe_truncate_posted(struct weft_bench *bench);
void weft_probe_truncate_late(struct weft_bench *bench);
void weft_probe_iovec(struct weft_bench *bench);
void weft_probe_large(struct weft_bench *bench);

/* match.c: matching by tag, mask and source, and what takes messages out of turn */
void weft_probe_reverse(struct weft_bench *bench);
void weft_probe_ignore(struct weft_bench *bench);
void weft_probe_directed(struct weft_bench *bench);
void weft_probe_peek_absent(struct weft_bench *bench);
void weft_probe_peek_present(struct weft_bench *bench);
void weft_probe_claim(struct weft_bench *bench);
void weft_probe_discard(struct weft_bench *bench);
void weft_probe_cancel(struct weft_bench *bench);

/* memory.c: registration, remote reads and writes */
void weft_probe_register(struct weft_bench *bench);
void weft_probe_read(struct weft_bench *bench);
void weft_probe_write(struct weft_bench *bench);

#endif
