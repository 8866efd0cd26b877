// SPDX-License-Identifier: BSD-3-Clause
/*
 * The runs of bytes behind any part of a packed form, in order.
 */
#ifndef WEFT_DATATYPE_IOV_H
#define WEFT_DATATYPE_IOV_H

#include "core/datatype/layout.h"

struct weft_run {
    MPI_Aint at; /* the base plus the offset in the layout: an address when the base is one */
    size_t bytes;
};

/* Lists the runs behind bytes [from, to) of the packed form of a layout that is used at base, up to
 * room of them; runs that continue each other are one. Returns how many. When they end before `to`,
 * room was short: the caller goes on from there. */
size_t weft_layout_runs(const struct weft_layout *layout, MPI_Aint base, size_t from, size_t to,
                        struct weft_run *runs, size_t room);

/* The same for the packed form of element after element, extent bytes apart. */
size_t weft_layout_runs_of_many(const struct weft_layout *layout, MPI_Aint extent, MPI_Aint base,
                                size_t from, size_t to, struct weft_run *runs, size_t room);

#endif
