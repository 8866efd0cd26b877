// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory for recipes: see recipe.h. One piece for everything.
 */
#include "core/datatype/recipe.h"

#include <stdint.h>
#include <stdlib.h>

_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "displacements are read as counts");

struct weft_recipe *weft_recipe_new(int combiner, size_t integers, size_t addresses, size_t large,
                                    size_t types)
{
    size_t words = addresses + large + types;
    struct weft_recipe *recipe =
        calloc(1, sizeof *recipe + words * sizeof(uint64_t) + integers * sizeof(int));
    if (!recipe)
        return NULL;
    *recipe =
        (struct weft_recipe){combiner, integers, addresses, large, types, NULL, NULL, NULL, NULL};
    recipe->addresses = (MPI_Aint *)(recipe + 1);
    recipe->large = (MPI_Count *)(recipe->addresses + addresses);
    recipe->types = (struct weft_datatype **)(recipe->large + large);
    recipe->integers = (int *)(recipe->types + types);
    return recipe;
}

void weft_recipe_free(struct weft_recipe *recipe)
{
    free(recipe);
}
