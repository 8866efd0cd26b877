// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pictures of the page: SVG elements that need no style sheet, script or font of their own. Text
 * and lines have the colour of the page's text.
 */
#ifndef WEFT_PROFILE_PICTURE_H
#define WEFT_PROFILE_PICTURE_H

#include <stdint.h>
#include <stdio.h>

enum { PICTURE_WIDTH = 880, PICTURE_SEGMENTS = 12 };

/* Horizontal bars, each of several segments, with a scale of seconds. A range is drawn as a line
 * with two ends. */
struct picture_bar {
    char label[96], note[96];
    double segments[PICTURE_SEGMENTS];
    double from, to; /* of the range; to 0: none */
};
struct picture_bars {
    int n, segments;
    const char *const *names;   /* of the segments, for the legend */
    const char *const *colours; /* of the segments */
    int left;                   /* width of the labels */
    int height;                 /* of a bar */
};
void picture_put_bars(FILE *file, const struct picture_bars *picture,
                      const struct picture_bar *bars);

/* Vertical bars at powers of two of a size: at most four sets beside each other. */
enum { PICTURE_SETS = 4 };
struct picture_sizes {
    int sets;
    const char *names[PICTURE_SETS], *colours[PICTURE_SETS];
    uint64_t (*value)(const void *of, int set, int i);
    const void *of;
    int sizes;
};
void picture_put_sizes(FILE *file, const struct picture_sizes *picture);

/* A square of cells, stronger for greater values (logarithmic). note writes what a cell has. */
struct picture_matrix {
    int bins, fold;
    const char *row, *column, *colour;
    double (*value)(const void *of, int row, int column);
    const char *(*note)(const void *of, int row, int column, char *text);
    const void *of;
};
enum { PICTURE_NOTE = 128 };
void picture_put_matrix(FILE *file, const struct picture_matrix *picture);

#endif
