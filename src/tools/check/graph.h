// SPDX-License-Identifier: BSD-3-Clause
/*
 * The picture of a deadlock, as SVG: who waits for whom. Ranks stand on a circle, with the call
 * that each waits in; an arrow goes to a rank that it waits for.
 */
#ifndef WEFT_CHECK_GRAPH_H
#define WEFT_CHECK_GRAPH_H

#include <stdbool.h>

/* Ranks beyond a number that a picture can show are left out, and arrows to them. cycle: the rank,
 * or the arrow, is of the cycle that is reported. */
void check_graph_add_rank(int rank, const char *call, const char *where, bool cycle);
void check_graph_add_arrow(int from, int to, bool cycle);

/* Prints a sentence if the file cannot be written. */
void check_graph_write(const char *path);

#endif
