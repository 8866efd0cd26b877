// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the benchmarks print, and the test pattern they send; see table.h.
 */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_WIDTH = 10, FIGURE_WIDTH = 18 };

void bench_table_header(const struct bench_options *o, const char *title, const char *note,
                        const char *first, const char *second)
{
    printf("# %s\n", title);
    if (note)
        printf("# %s\n", note);
    printf("%-*s%*s", SIZE_WIDTH, "# Size", FIGURE_WIDTH, first);
    if (second)
        printf("%*s", FIGURE_WIDTH, second);
    if (o->validate)
        printf("%*s", FIGURE_WIDTH, "Validation");
    printf("\n");
    fflush(stdout);
}

void bench_table_row(const struct bench_options *o, size_t size, double first, double second,
                     bool good)
{
    printf("%-*zu%*.2f", SIZE_WIDTH, size, FIGURE_WIDTH, first);
    if (second >= 0)
        printf("%*.2f", FIGURE_WIDTH, second);
    if (o->validate)
        printf("%*s", FIGURE_WIDTH, good ? "Pass" : "Fail");
    printf("\n");
    fflush(stdout);
}

char *bench_buffer(size_t bytes)
{
    enum { PAGE = 4096 };
    size_t rounded = (bytes + PAGE) / PAGE * PAGE;
    char *buffer = aligned_alloc(PAGE, rounded);
    if (buffer)
        memset(buffer, 0, rounded);
    return buffer;
}

/* The size is part of the pattern so that data left over from the last size does not pass. */
static char pattern(size_t i, size_t size)
{
    return (char)(i * 7 + i / 251 + size * 31 + 1);
}

void bench_fill(char *buffer, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer[i] = pattern(i, size);
}

bool bench_check(const char *buffer, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (buffer[i] != pattern(i, size))
            return false;
    return true;
}
