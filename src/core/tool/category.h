// SPDX-License-Identifier: BSD-3-Clause
/*
 * Categories of MPI_T (MPI 5.0 section 15.3.9): a root, which contains the other categories; each
 * variable and event belongs to one of these.
 */
#ifndef WEFT_CATEGORY_H
#define WEFT_CATEGORY_H

#include "core/tool/tool.h"

struct weft_category_row {
    const char *name, *help;
};

extern const struct weft_category_row weft_categories[WEFT_TOOL_CATEGORIES];

enum weft_category_kind {
    WEFT_CATEGORY_CVARS,
    WEFT_CATEGORY_PVARS,
    WEFT_CATEGORY_EVENTS,
    WEFT_CATEGORY_CATEGORIES
};

/* Writes the indices of the members of a kind in a category, at most space of them. Returns the
 * number of members. */
int weft_category_list(enum weft_category_kind kind, int category, int space, int *indices);

#endif
