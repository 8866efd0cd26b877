// SPDX-License-Identifier: BSD-3-Clause
/*
 * The options of heat2d, from its command line.
 *
 * Invariant: if the program is to run, every value is one the solver can work with.
 */
#ifndef HEAT2D_SETUP_H
#define HEAT2D_SETUP_H

#include <stdbool.h>

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

/* Reads the command line. Returns the exit code of the program, or a negative value to run it. */
int setup_read(struct setup *s, int rank, int argc, char **argv);

#endif
