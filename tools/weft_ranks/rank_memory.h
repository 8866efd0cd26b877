// SPDX-License-Identifier: BSD-3-Clause
/*
 * The memory of ranks (src/tools/profile/shared.h), mapped to be read.
 */
#ifndef WEFT_RANKS_RANK_MEMORY_H
#define WEFT_RANKS_RANK_MEMORY_H

#include "tools/profile/shared.h"

/* Maps a file. NULL, and `why`: it is not one of a rank, or of another version of Weft. */
const struct profile_shared *rank_memory_map(const char *name, const char **why);
void rank_memory_unmap(const struct profile_shared *rank);

#endif
