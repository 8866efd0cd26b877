// SPDX-License-Identifier: BSD-3-Clause
/* Rank files of Open MPI: "rank 0=host slot=1:0-2". */
#ifndef WEFTRUN_RANK_FILE_H
#define WEFTRUN_RANK_FILE_H

#include <hwloc.h>

/* The number of ranks in the file, which are 0 to that number - 1. -1 after printing why
 * it cannot be used. */
int weft_rank_file_count(const char *path);

/* The processors of each of n ranks, by a topology: sets has space for them. Returns 0, or -1
 * after printing why. */
int weft_rank_file_bind(const char *path, hwloc_topology_t topo, int n, hwloc_bitmap_t *sets);

#endif
