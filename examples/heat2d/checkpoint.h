// SPDX-License-Identifier: BSD-3-Clause
/*
 * The field in a file, which all ranks write and read together, each its own block.
 *
 * The file has a header, then the cells of the plate row by row, as doubles of this machine. Its
 * bytes do not depend on the division into blocks, so any number of ranks can go on from it.
 */
#ifndef HEAT2D_CHECKPOINT_H
#define HEAT2D_CHECKPOINT_H

#include "grid.h"

/* Of the plate in a checkpoint: width, height, grey value of white. */
enum { CHECKPOINT_WIDTH, CHECKPOINT_HEIGHT, CHECKPOINT_MAX, CHECKPOINT_SIZES };

/* Each is collective, and returns false with a sentence in why. */
bool checkpoint_write(const char *path, const struct layout *l, const struct block *mine, int max,
                      char *why, size_t len);
bool checkpoint_sizes(const char *path, int sizes[CHECKPOINT_SIZES], char *why, size_t len);
bool checkpoint_read(const char *path, const struct layout *l, struct block *mine, char *why,
                     size_t len);

#endif
