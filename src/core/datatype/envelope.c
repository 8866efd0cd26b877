// SPDX-License-Identifier: BSD-3-Clause
/*
 * Allocates envelopes: see envelope.h.
 */
#include "core/datatype/envelope.h"

#include <stdint.h>
#include <stdlib.h>

_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "displacements are read as counts");

struct weft_envelope *weft_envelope_new(int combiner, size_t integers, size_t addresses,
                                        size_t large, size_t types)
{
    size_t words = addresses + large + types;
    struct weft_envelope *envelope =
        calloc(1, sizeof *envelope + words * sizeof(uint64_t) + integers * sizeof(int));
    if (!envelope)
        return NULL;
    *envelope =
        (struct weft_envelope){combiner, integers, addresses, large, types, NULL, NULL, NULL, NULL};
    envelope->addresses = (MPI_Aint *)(envelope + 1);
    envelope->large = (MPI_Count *)(envelope->addresses + addresses);
    envelope->types = (struct weft_datatype **)(envelope->large + large);
    envelope->integers = (int *)(envelope->types + types);
    return envelope;
}
