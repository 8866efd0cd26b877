// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory for recipes: see recipe.h. One piece for everything.
 */
#include "core/datatype/envelope.h"

#include <stdint.h>
#include <stdlib.h>

_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "displacements are read as counts");

struct weft_envelope *weft_envelope_new(int combiner, size_t integers, size_t addresses,
                                        size_t large, size_t types)
{
    size_t words = addresses + large + types;
    struct weft_envelope *recipe =
        calloc(1, sizeof *recipe + words * sizeof(uint64_t) + integers * sizeof(int));
    if (!recipe)
        return NULL;
    *recipe =
        (struct weft_envelope){combiner, integers, addresses, large, types, NULL, NULL, NULL, NULL};
    recipe->addresses = (MPI_Aint *)(recipe + 1);
    recipe->large = (MPI_Count *)(recipe->addresses + addresses);
    recipe->types = (struct weft_datatype **)(recipe->large + large);
    recipe->integers = (int *)(recipe->types + types);
    return recipe;
}

void weft_envelope_free(struct weft_envelope *recipe)
{
    free(recipe);
}
