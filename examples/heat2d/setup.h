// SPDX-License-Identifier: BSD-3-Clause
/*
 * The options of heat2d, from its command line.
 *
 * Invariant: after SETUP_RUN every value is one the solver can work with. The parser does not
 * print: all ranks read the same line, and only rank 0 speaks.
 */
#ifndef HEAT2D_SETUP_H
#define HEAT2D_SETUP_H

#include <stdbool.h>
#include <stddef.h>

struct setup {
    const char *picture; /* the initial field; NULL with `start` */
    const char *start;   /* the checkpoint that has it; NULL: the picture does */
    const char *save;    /* the checkpoint of the last field; NULL: none is written */
    const char *prefix;  /* of the frames' names; NULL: none are written */
    int steps;
    int frame_every;  /* steps from one frame to the next; 0: only the last one */
    int report_every; /* steps from one line of progress to the next */
    double rate;      /* diffusivity * time step / cell size squared, at most 0.25 */
    bool png, check;
};

enum setup_outcome { SETUP_RUN, SETUP_HELP, SETUP_WRONG };

/* Reads the command line. SETUP_WRONG leaves one sentence in why. */
enum setup_outcome setup_parse(struct setup *s, int argc, char **argv, char *why, size_t len);

/* Prints the usage text to standard output. */
void setup_usage(void);

#endif
