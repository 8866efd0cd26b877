// SPDX-License-Identifier: BSD-3-Clause
/*
 * Hints of windows: their defaults, and those that the program gives. A hint that is not in the
 * table is kept only if it has a meaning for the flavor of the window. A value that the standard
 * does not have is ignored, so that MPI_Win_get_info does not return it.
 */
#include "core/rma/make.h"

#include "gpu/kinds.h"

#include <stdlib.h>
#include <string.h>

enum form { BOOLEAN, OPS, ORDERING, NUMBER };

static const struct hint {
    const char *key, *value; /* by default */
    enum form form;
} hints[] = {
    {"no_locks", "false", BOOLEAN},           {"accumulate_ordering", "rar,raw,war,waw", ORDERING},
    {"accumulate_ops", "same_op_no_op", OPS}, {"same_size", "false", BOOLEAN},
    {"same_disp_unit", "false", BOOLEAN},     {"mpi_accumulate_granularity", "0", NUMBER},
};

/* True for "none", and for pairs of operations like "rar" with commas between them. */
static bool is_ordering(const char *value)
{
    if (!strcmp(value, "none"))
        return true;
    for (;; value += 4) {
        bool pair = (value[0] == 'r' || value[0] == 'w') && value[1] == 'a' &&
                    (value[2] == 'r' || value[2] == 'w');
        if (!pair || value[3] != ',')
            return pair && !value[3];
    }
}

static bool is_valid(enum form form, const char *value)
{
    switch (form) {
    case BOOLEAN:
        return !strcmp(value, "true") || !strcmp(value, "false");
    case OPS:
        return !strcmp(value, "same_op") || !strcmp(value, "same_op_no_op");
    case ORDERING:
        return is_ordering(value);
    case NUMBER:
        break;
    }
    return *value && !value[strspn(value, "0123456789")];
}

int weft_win_take_hints(struct weft_win *win, const struct weft_info *info)
{
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < sizeof hints / sizeof *hints && !code; i++) {
        const char *value = weft_info_get(info, hints[i].key);
        if (value && is_valid(hints[i].form, value))
            code = weft_info_set(win->info, hints[i].key, value);
    }
    if (!code)
        code = weft_gpu_take_kinds(win->info, info, &win->host_only);
    win->no_locks = weft_info_is(win->info, "no_locks", "true");
    return code;
}

/* The alignment that the program asks for, if the memory of this window gets it, else NULL. */
static const char *usable_alignment(const struct weft_win *win, const struct weft_info *info)
{
    const char *text = weft_info_get(info, "mpi_minimum_memory_alignment");
    if (!text || !weft_win_allocates(win) || weft_win_is_contiguous(win))
        return NULL;
    char *end;
    unsigned long bytes = strtoul(text, &end, 10);
    bool power = bytes && !(bytes & (bytes - 1)) && !*end;
    return power && bytes <= WEFT_WIN_ALIGNMENT_MAX ? text : NULL;
}

int weft_win_set_hints(struct weft_win *win, const struct weft_win_arguments *arguments)
{
    int code = MPI_SUCCESS;
    win->info = weft_info_make();
    if (!win->info)
        return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < sizeof hints / sizeof *hints && !code; i++)
        code = weft_info_set(win->info, hints[i].key, hints[i].value);
    if (!code)
        code = weft_info_set(win->info, "mpi_memory_alloc_kinds", "mpi,system");
    if (!code)
        code = weft_win_take_hints(win, arguments->info);
    if (!code && arguments->flavor == MPI_WIN_FLAVOR_SHARED)
        code = weft_info_set(
            win->info, "alloc_shared_noncontig",
            weft_info_is(arguments->info, "alloc_shared_noncontig", "true") ? "true" : "false");
    const char *alignment = usable_alignment(win, arguments->info);
    if (!code && alignment)
        code = weft_info_set(win->info, "mpi_minimum_memory_alignment", alignment);
    return code;
}
