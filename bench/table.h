// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the benchmarks print, and the test pattern they send.
 *
 * Invariant: the lines have the columns of the OSU micro-benchmarks (a size in 10 characters, then
 * figures in 18 with two decimals), so that what reads those reads these; every line that is not a
 * row begins with '#'. Lines are flushed one by one: a run cut short keeps what it measured.
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "options.h"

/* Prints "# title", an optional second line note, and the names of the columns: "Size", then one
 * or two (second may be NULL), then "Validation" if the options ask for it. */
void bench_table_header(const struct bench_options *o, const char *title, const char *note,
                        const char *first, const char *second);

/* Prints one row. With second < 0 the row has one figure. good is shown if the options ask. */
void bench_table_row(const struct bench_options *o, size_t size, double first, double second,
                     bool good);

/* A page-aligned buffer of at least bytes bytes, all of them touched; NULL when there is no
 * memory. Freed with free(). */
char *bench_buffer(size_t bytes);

/* Fills a buffer with the pattern of this size, and checks for it. */
void bench_fill(char *buffer, size_t size);
bool bench_check(const char *buffer, size_t size);

#endif
