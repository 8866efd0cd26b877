// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_T's categories: see category.c.
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

/* Writes the indices of what a category has of a kind, as many as there is room for. Returns how
 * many it has. */
int weft_category_list(enum weft_category_kind kind, int category, int room, int *indices);

#endif
