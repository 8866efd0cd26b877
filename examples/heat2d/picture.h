// SPDX-License-Identifier: BSD-3-Clause
/*
 * Grey pictures in files: PGM in (P2 and P5, 8 and 16 bits), PGM and PNG out.
 *
 * Invariant: whatever a file holds, reading it ends in a picture with every value at most max, or
 * in one sentence that names the file and what is wrong with it.
 */
#ifndef HEAT2D_PICTURE_H
#define HEAT2D_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct picture {
    int width, height;
    int max;          /* the value of white, 1 to 65535 */
    uint16_t *values; /* row by row, from the top; freed by picture_free */
};

/* Reads a PGM file. Returns false with a sentence in why. */
bool picture_read(struct picture *p, const char *path, char *why, size_t len);

/* Writes a PGM file (P5) or a PNG file, with 8 bits a value, or 16 where max asks for them. Returns
 * false with a sentence in why. */
bool picture_write_pgm(const struct picture *p, const char *path, char *why, size_t len);
bool picture_write_png(const struct picture *p, const char *path, char *why, size_t len);

void picture_free(struct picture *p);

#endif
