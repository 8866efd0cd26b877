// SPDX-License-Identifier: BSD-3-Clause
/*
 * The options of heat2d; see setup.h.
 */
#include "setup.h"

#include "../options.h"

#include <limits.h>
#include <string.h>

/* Reads a rate. Above a quarter the explicit method is not stable. The condition is false for NaN.
 */
static bool read_rate(const char *text, void *value)
{
    char *end;
    double rate = strtod(text, &end);
    *(double *)value = rate;
    return end != text && !*end && rate > 0 && rate <= 0.25;
}

static bool read_type(const char *text, void *png)
{
    *(bool *)png = strcmp(text, "png") == 0;
    return *(bool *)png || strcmp(text, "pgm") == 0;
}

int setup_read(struct setup *s, int rank, int argc, char **argv)
{
    *s = (struct setup){.steps = 500, .rate = 0.2};
    const struct options_row rows[] = {
        {'n', "steps", "a number of steps, 0 or more", .number = &s->steps, .most = INT_MAX},
        {'r', "rate", "a rate above 0 and at most 0.25", .value = &s->rate, .read = read_rate},
        {'o', "output", "the beginning of the names of frames", .text = &s->prefix},
        {'f', "frames", "a number of steps, 1 or more", .number = &s->frame_every, .least = 1,
         .most = INT_MAX},
        {'t', "type", "pgm or png", .value = &s->png, .read = read_type},
        {'p', "report", "a number of steps, 1 or more", .number = &s->report_every, .least = 1,
         .most = INT_MAX},
        {'s', "save", "a file for the last field", .text = &s->save},
        {'b', "start", "the file of a checkpoint", .text = &s->start},
        {'c', "check", .flag = &s->check},
        {0},
    };
    const struct options options = {
        .program = "heat2d",
        .usage =
            "usage: heat2d [options] PICTURE.pgm\n"
            "       heat2d [options] --start CHECKPOINT\n"
            "Lets the grey values of a picture spread like heat on an insulated plate.\n"
            "  -n, --steps N       time steps (500)\n"
            "  -r, --rate R        share that flows to each neighbour in a step, up to 0.25 "
            "(0.2)\n"
            "  -o, --output NAME   write frames as NAME-000500.pgm and so on (none)\n"
            "  -f, --frames N      a frame every N steps, beside the last (the last only)\n"
            "  -t, --type TYPE     pgm or png (pgm)\n"
            "  -p, --report N      a line of progress every N steps (a tenth of all)\n"
            "  -s, --save FILE     write the last field to a checkpoint (none)\n"
            "  -b, --start FILE    begin with the field of a checkpoint, in place of a picture\n"
            "  -c, --check         compare with the serial result, bit for bit\n"
            "  -h, --help          this text\n",
        .rows = rows,
        .path = &s->picture,
        .file = "one picture to start from, unless it starts from a checkpoint",
        .instead = &s->start,
    };
    int code = options_read(&options, rank, argc, argv);
    if (s->frame_every && !s->prefix)
        s->prefix = "heat2d";
    if (!s->report_every)
        s->report_every = s->steps >= 10 ? s->steps / 10 : 1;
    return code;
}
