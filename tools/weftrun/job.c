// SPDX-License-Identifier: BSD-3-Clause
/*
 * Jobs and their ranks.
 *
 * Invariant: the name of a job has 128 random bits, because libpmix accepts a process that has the
 * name.
 */
#include "job.h"
#include "lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static int make_ranks(struct job *job)
{
    job->ranks = calloc((size_t)job->size, sizeof *job->ranks);
    if (!job->ranks) {
        weft_lines_print("No memory for %d ranks.", job->size);
        return -1;
    }
    for (int a = 0; a < job->napps; a++) {
        for (int i = 0; i < job->apps[a].count; i++) {
            int n = job->apps[a].first + i;
            struct rank *r = &job->ranks[n];
            r->job = job;
            r->rank = n;
            r->index = i;
            r->app = &job->apps[a];
            r->out = (struct stream){.fd = -1, .rank = n, .job = job->number};
            r->err = (struct stream){.fd = -1, .rank = n, .job = job->number, .err = true};
        }
    }
    return 0;
}

int weft_job_begin(struct job *job, int number)
{
    uint64_t bits[2];
    if (getrandom(bits, sizeof bits, 0) != sizeof bits) {
        weft_lines_print("The system provides no random number: %s.", strerror(errno));
        return -1;
    }
    snprintf(job->nspace, sizeof job->nspace, "weftrun-%016" PRIx64 "%016" PRIx64, bits[0],
             bits[1]);
    job->number = number;
    job->file = -1;
    if (number > 1)
        snprintf(job->words, sizeof job->words, " of job %d", number);
    return make_ranks(job);
}

struct rank *weft_job_next_rank(struct job *first, const struct rank *rank)
{
    struct job *job = rank ? rank->job : first;
    int next = rank ? rank->rank + 1 : 0;
    for (; job && next >= job->launched; next = 0)
        job = job->next;
    return job ? &job->ranks[next] : NULL;
}

int weft_job_count_running(struct job *first)
{
    int n = 0;
    for (struct rank *r = NULL; (r = weft_job_next_rank(first, r));)
        n += r->running;
    return n;
}
