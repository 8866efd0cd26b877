// SPDX-License-Identifier: BSD-3-Clause
/*
 * Hints of windows: their defaults, and those that the program gives. A hint that is not in the
 * table is kept only if it has a meaning for the flavor of the window.
 */
#include "core/rma/make.h"

#include "gpu/kinds.h"

#include <string.h>

static const char *const hint_default[][2] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"mpi_accumulate_granularity", "0"},
};

bool weft_win_hint_is_true(const struct weft_info *info, const char *key)
{
    const char *value = weft_info_get(info, key);
    return value && !strcmp(value, "true");
}

int weft_win_take_hints(struct weft_win *win, const struct weft_info *info)
{
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < sizeof hint_default / sizeof *hint_default && !code; i++) {
        const char *key = hint_default[i][0], *value = weft_info_get(info, key);
        if (value)
            code = weft_info_set(win->info, key, value);
    }
    if (!code)
        code = weft_gpu_take_kinds(win->info, info, &win->host_only);
    win->no_locks = weft_win_hint_is_true(win->info, "no_locks");
    return code;
}

int weft_win_set_hints(struct weft_win *win, const struct weft_win_arguments *arguments)
{
    int code = MPI_SUCCESS;
    win->info = weft_info_make();
    if (!win->info)
        return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < sizeof hint_default / sizeof *hint_default && !code; i++)
        code = weft_info_set(win->info, hint_default[i][0], hint_default[i][1]);
    if (!code)
        code = weft_info_set(win->info, "mpi_memory_alloc_kinds", "mpi,system");
    if (!code)
        code = weft_win_take_hints(win, arguments->info);
    if (!code && arguments->flavor == MPI_WIN_FLAVOR_SHARED)
        code = weft_info_set(
            win->info, "alloc_shared_noncontig",
            weft_win_hint_is_true(arguments->info, "alloc_shared_noncontig") ? "true" : "false");
    const char *alignment = weft_info_get(arguments->info, "mpi_minimum_memory_alignment");
    if (!code && alignment)
        code = weft_info_set(win->info, "mpi_minimum_memory_alignment", alignment);
    return code;
}
