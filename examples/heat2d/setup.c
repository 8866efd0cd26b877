// SPDX-License-Identifier: BSD-3-Clause
/*
 * The options of heat2d; see setup.h.
 */
#include "setup.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option long_options[] = {
    {"steps", required_argument, NULL, 'n'},
    {"rate", required_argument, NULL, 'r'},
    {"output", required_argument, NULL, 'o'},
    {"frames", required_argument, NULL, 'f'},
    {"type", required_argument, NULL, 't'},
    {"report", required_argument, NULL, 'p'},
    {"save", required_argument, NULL, 's'},
    {"start", required_argument, NULL, 'b'},
    {"check", no_argument, NULL, 'c'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

void setup_usage(void)
{
    printf("usage: heat2d [options] PICTURE.pgm\n"
           "       heat2d [options] --start CHECKPOINT\n"
           "Lets the grey values of a picture spread like heat on an insulated plate.\n"
           "  -n, --steps N       time steps (500)\n"
           "  -r, --rate R        share that flows to each neighbour in a step, up to 0.25 (0.2)\n"
           "  -o, --output NAME   write frames as NAME-000500.pgm and so on (none)\n"
           "  -f, --frames N      a frame every N steps, beside the last (the last only)\n"
           "  -t, --type TYPE     pgm or png (pgm)\n"
           "  -p, --report N      a line of progress every N steps (a tenth of all)\n"
           "  -s, --save FILE     write the last field to a checkpoint (none)\n"
           "  -b, --start FILE    begin with the field of a checkpoint, in place of a picture\n"
           "  -c, --check         compare with the serial result, bit for bit\n"
           "  -h, --help          this text\n");
}

static bool count(const char *text, int min, int *value)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    *value = (int)n;
    return !errno && end != text && !*end && n >= min && n <= INT_MAX;
}

/* Takes one option. Returns NULL, or what is wrong with it. */
static const char *take(struct setup *s, int option, const char *value)
{
    char *end;
    switch (option) {
    case 'n':
        return count(value, 0, &s->steps) ? NULL : "-n takes a number of steps, 0 or more";
    case 'f':
        return count(value, 1, &s->frame_every) ? NULL : "-f takes a number of steps, 1 or more";
    case 'p':
        return count(value, 1, &s->report_every) ? NULL : "-p takes a number of steps, 1 or more";
    case 'r':
        s->rate = strtod(value, &end);
        /* Above a quarter the explicit method is not stable. Written so that NaN fails. */
        return end != value && !*end && s->rate > 0 && s->rate <= 0.25
                   ? NULL
                   : "-r takes a rate above 0 and at most 0.25";
    case 'o':
        s->prefix = value;
        return NULL;
    case 't':
        s->png = strcmp(value, "png") == 0;
        return s->png || strcmp(value, "pgm") == 0 ? NULL : "-t takes pgm or png";
    case 's':
        s->save = value;
        return NULL;
    case 'b':
        s->start = value;
        return NULL;
    case 'c':
        s->check = true;
        return NULL;
    case ':':
        return "the last option needs a value";
    default:
        return "unknown option";
    }
}

enum setup_outcome setup_parse(struct setup *s, int argc, char **argv, char *why, size_t len)
{
    const char *wrong = NULL;
    int option;
    *s = (struct setup){.steps = 500, .rate = 0.2};
    opterr = 0;
    while (!wrong &&
           (option = getopt_long(argc, argv, ":n:r:o:f:t:p:s:b:ch", long_options, NULL)) != -1) {
        if (option == 'h')
            return SETUP_HELP;
        wrong = take(s, option, optarg);
    }
    if (!wrong && argc - optind != (s->start ? 0 : 1))
        wrong = s->start         ? "it takes a picture or a checkpoint, not both"
                : argc == optind ? "it needs a picture to start from"
                                 : "it takes one picture";
    if (wrong) {
        snprintf(why, len, "heat2d: %s; see heat2d -h", wrong);
        return SETUP_WRONG;
    }
    s->picture = s->start ? NULL : argv[optind];
    if (s->frame_every && !s->prefix)
        s->prefix = "heat2d";
    if (!s->report_every)
        s->report_every = s->steps >= 10 ? s->steps / 10 : 1;
    return SETUP_RUN;
}
