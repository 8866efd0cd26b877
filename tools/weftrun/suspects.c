// SPDX-License-Identifier: BSD-3-Clause
/*
 * Ranks that the others may be waiting for: stopped ranks, and ranks that never called MPI_Init.
 * Only weftrun can report them, because such ranks print nothing, and ranks in MPI_Init have no
 * contact with each other yet.
 *
 * Invariant: this file only reads state and prints.
 */
#include "suspects.h"
#include "lines.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 8 };

/* The state letter of a process in /proc: 'T' stopped by a signal, 't' by a debugger; 0 if it
 * cannot be read. */
static char state_of(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    const char *name_ends = strrchr(text, ')'); /* the name may contain spaces and brackets */
    return name_ends && name_ends[1] == ' ' ? name_ends[2] : 0;
}

static bool any_joined(const struct job *job)
{
    for (int i = 0; i < job->size; i++)
        if (atomic_load(&job->ranks[i].phase) != PHASE_STARTED)
            return true;
    return false;
}

void weft_suspects_report(const struct job *job)
{
    bool joined = any_joined(job);
    int found = 0;
    for (int i = 0; i < job->size; i++) {
        const struct rank *rank = &job->ranks[i];
        char state = rank->running ? state_of(rank->pid) : 0;
        bool stopped = state == 'T' || state == 't';
        bool outside = joined && atomic_load(&rank->phase) == PHASE_STARTED;
        if (!rank->running || (!stopped && !outside) || found++ >= SHOWN)
            continue;
        weft_lines_print("rank %d%s (pid %d on %s, program %s) %s%s%s.", rank->rank, job->words,
                         (int)rank->pid, job->host, rank->app->argv[0],
                         outside ? "has not joined MPI, and the others wait in MPI_Init for it"
                                 : "",
                         outside && stopped ? "; it " : "",
                         state == 'T'   ? "is stopped by a signal (kill -CONT lets it go on)"
                         : state == 't' ? "is stopped by a debugger"
                                        : "");
    }
    if (found > SHOWN)
        weft_lines_print("The same applies to %d more ranks.", found - SHOWN);
}
