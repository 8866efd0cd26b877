// SPDX-License-Identifier: BSD-3-Clause
/*
 * The whole plate on rank 0, and its way out to the blocks and back.
 *
 * Invariant: blocks travel as packed rows without borders, one message a block.
 */
#ifndef HEAT2D_PLATE_H
#define HEAT2D_PLATE_H

#include "grid.h"

#include <stdint.h>

/* Hands the plate on rank 0 (row by row, width * height values; not looked at elsewhere) out to
 * every rank's block. Returns false when this rank has no memory for the message. */
bool plate_scatter(const struct layout *l, int rank, const double *plate, struct block *mine);

/* Collects every rank's old field into plate on rank 0. Returns false without memory. */
bool plate_gather(const struct layout *l, int rank, double *plate, const struct block *mine);

/* FNV-1a over the bits of n values, lowest byte first: the same on every machine. */
uint64_t plate_checksum(const double *plate, size_t n);

#endif
