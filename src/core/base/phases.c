// SPDX-License-Identifier: BSD-3-Clause
/*
 * The phases of MPI's start and end: two clocks are read at each mark, nothing is allocated.
 *
 * Invariant: the phases add up to the time from the beginning to the last mark; those that find no
 * free row extend the last one.
 */
#include "core/base/phases.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/settings.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PHASES_MAX = 16 };

struct times {
    double wall, cpu; /* seconds; cpu: of the process */
};

static struct {
    struct times begin, mark;
    struct {
        const char *name;
        struct times took;
    } rows[PHASES_MAX];
    int count;
} phases;

static struct times now(void)
{
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (struct times){weft_seconds(), (double)cpu.tv_sec + (double)cpu.tv_nsec * 1e-9};
}

void weft_phases_begin(void)
{
    phases.count = 0;
    phases.begin = phases.mark = now();
}

void weft_phase_end(const char *name)
{
    struct times end = now();
    int row = 0;
    while (row < phases.count && strcmp(phases.rows[row].name, name) != 0)
        row++;
    if (row == PHASES_MAX)
        row--;
    if (row == phases.count) {
        phases.rows[phases.count++].name = name;
        phases.rows[row].took = (struct times){0, 0};
    }
    phases.rows[row].took.wall += end.wall - phases.mark.wall;
    phases.rows[row].took.cpu += end.cpu - phases.mark.cpu;
    phases.mark = end;
}

void weft_phases_report(const char *of)
{
    char text[768];
    size_t at = 0;
    if (weft_settings.verbose < 2)
        return;
    for (int row = 0; row < phases.count && at < sizeof text; row++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %.1f (%.1f)", row ? ", " : "",
                               phases.rows[row].name, phases.rows[row].took.wall * 1e3,
                               phases.rows[row].took.cpu * 1e3);
    weft_warn("%s took %.1f ms, and %.1f ms of processor time (%.1f before it), by phase: %s", of,
              (phases.mark.wall - phases.begin.wall) * 1e3,
              (phases.mark.cpu - phases.begin.cpu) * 1e3, phases.begin.cpu * 1e3,
              phases.count ? text : "");
}
