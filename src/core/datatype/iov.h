// SPDX-License-Identifier: BSD-3-Clause
/*
 * The runs of bytes that a range of a packed form describes, in order.
 */
#ifndef WEFT_DATATYPE_IOV_H
#define WEFT_DATATYPE_IOV_H

#include "core/datatype/layout.h"

struct weft_run {
    MPI_Aint at; /* the base plus the offset in the layout: an address if the base is one */
    size_t bytes;
};

/* Lists the runs of bytes [from, to), from < to, of the packed form of elements extent bytes apart,
 * up to space of them; adjacent runs are merged. Returns how many. If they end before `to`, space
 * was short: call again from there. */
size_t weft_layout_list_runs(const struct weft_layout *layout, MPI_Aint extent, MPI_Aint base,
                             size_t from, size_t to, struct weft_run *runs, size_t space);

#endif
