// SPDX-License-Identifier: BSD-3-Clause
/*
 * weft_ranks: reads the memory of ranks for weft-report, which calls it.
 */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A positive number; 0: it is none. */
static long number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *end || value < 1 || value > 1 << 30 ? 0 : value;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "trace") == 0)
        return ranks_trace(argv[2]);
    if (argc == 4 && strcmp(argv[1], "attach") == 0 && number(argv[2]))
        return ranks_attach(number(argv[2]), (int)number(argv[3]), false);
    if (argc == 3 && strcmp(argv[1], "top") == 0 && number(argv[2]))
        return ranks_attach(number(argv[2]), 0, true);
    fprintf(stderr, "weft_ranks: weft-report and weftrun call it: trace FILE, attach PID TABLES, "
                    "top PID\n");
    return 2;
}
