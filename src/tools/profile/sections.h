// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sections of the page, in their order: page_time.c, page_waits.c, page_traffic.c, page_system.c.
 */
#ifndef WEFT_PROFILE_SECTIONS_H
#define WEFT_PROFILE_SECTIONS_H

#include "tools/profile/job.h"

enum { CALLS_SHOWN = 12, SITES_SHOWN = 16, ROWS_SHOWN = 40 };

/* Calls that take less than this share of the time have no bar. */
static const double LEAST_SHOWN = 0.0005;

/* Per cent. */
static inline double share(double of, double all)
{
    return all > 0 ? of / all * 100 : 0;
}

void page_put_ranks(FILE *file, const struct profile_job *job, const struct profile_sums *sums);
void page_put_calls(FILE *file, const struct profile_job *job, const struct profile_sums *sums);
void page_put_sites(FILE *file, const struct profile_job *job, const struct profile_sums *sums);

void page_put_waits(FILE *file, const struct profile_job *job, const struct profile_sums *sums);
void page_put_algorithms(FILE *file, const struct profile_job *job);
void page_put_late(FILE *file, const struct profile_job *job, const struct profile_sums *sums);
void page_put_open(FILE *file, const struct profile_sums *sums);

void page_put_matrices(FILE *file, const struct profile_job *job);
void page_put_lanes(FILE *file, const struct profile_sums *sums);
void page_put_sizes(FILE *file, const struct profile_job *job, const struct profile_sums *sums);

void page_put_files(FILE *file, const struct profile_job *job, const struct profile_sums *sums);
void page_put_bindings(FILE *file, const struct profile_job *job);
void page_put_memory(FILE *file, const struct profile_job *job, const struct profile_sums *sums);

#endif
