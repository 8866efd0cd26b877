// SPDX-License-Identifier: BSD-3-Clause
/*
 * The probes of the self-test: each tries one thing that Weft would like to rely on.
 *
 * Invariant: a probe returns only when what it tries works; otherwise it ends the process by
 * weft_bench_end, hangs, or crashes, and whoever started the process tells which.
 */
#ifndef WEFT_CHECK_PROBES_H
#define WEFT_CHECK_PROBES_H

#include "ofi/check_bench.h"

/* Runs one probe on a bench that was just opened. */
void weft_check_probe_run(struct weft_bench *bench, enum weft_check_probe probe);

#endif
