// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of the program in windows: what it attaches to a dynamic window, and which addresses of
 * this rank are inside a window.
 *
 * Invariant: the regions of a dynamic window do not overlap.
 */
#include "core/rma/make.h"

#include "core/base/error.h"
#include "core/base/memory.h"
#include "gpu/gpu.h"

#include <stdlib.h>

/* MPI_Win_create and MPI_Win_attach: other ranks would find out only when they use the memory. */
int weft_win_check_memory(const void *base, MPI_Aint bytes)
{
    if (bytes > 0 && weft_gpu_enabled && weft_gpu_owns(base))
        return weft_error_set(MPI_ERR_BUFFER,
                              "the memory of the window at %p (%lld bytes) is memory of a GPU; a "
                              "window needs host memory, origin buffers may be in GPU memory",
                              base, (long long)bytes);
    if (bytes <= 0 || weft_memory_is_accessible(base, (size_t)bytes, false))
        return MPI_SUCCESS;
    return weft_error_set(MPI_ERR_BUFFER,
                          "this process may not read the memory of the window at %p (%lld bytes); "
                          "see whether it was freed, is protected, or is memory of a device",
                          base, (long long)bytes);
}

/* A region without bytes may be inside of another one. */
static bool overlaps(const struct weft_win_region *region, const char *base, MPI_Aint bytes)
{
    return bytes && region->bytes &&
           (uintptr_t)base < (uintptr_t)region->base + (uintptr_t)region->bytes &&
           (uintptr_t)region->base < (uintptr_t)base + (uintptr_t)bytes;
}

static int check_dynamic(const struct weft_win *win)
{
    return win->flavor == MPI_WIN_FLAVOR_DYNAMIC
               ? MPI_SUCCESS
               : weft_error_set(MPI_ERR_RMA_FLAVOR, "the window is not dynamic");
}

int weft_win_attach(struct weft_win *win, void *base, MPI_Aint bytes)
{
    int code = check_dynamic(win);
    if (code == MPI_SUCCESS && bytes < 0)
        code = weft_error_set(MPI_ERR_SIZE, "the size %lld is negative", (long long)bytes);
    if (code == MPI_SUCCESS && bytes && !base)
        code = weft_error_set(MPI_ERR_BUFFER, "the base of %lld bytes is a null pointer",
                              (long long)bytes);
    if (code == MPI_SUCCESS)
        code = weft_win_check_memory(base, bytes);
    if (code != MPI_SUCCESS)
        return code;
    for (size_t i = 0; i < win->nregions; i++)
        if (overlaps(&win->regions[i], base, bytes))
            return weft_error_set(MPI_ERR_RMA_ATTACH,
                                  "the %lld bytes at %p overlap memory that is attached to the "
                                  "window (%lld bytes at %p)",
                                  (long long)bytes, base, (long long)win->regions[i].bytes,
                                  (void *)win->regions[i].base);
    struct weft_win_region *regions = realloc(win->regions, (win->nregions + 1) * sizeof *regions);
    if (!regions)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory to attach %lld bytes to a window",
                              (long long)bytes);
    regions[win->nregions++] = (struct weft_win_region){base, bytes};
    win->regions = regions;
    return MPI_SUCCESS;
}

int weft_win_detach(struct weft_win *win, const void *base)
{
    int code = check_dynamic(win);
    if (code != MPI_SUCCESS)
        return code;
    struct weft_win_region *found = NULL; /* with bytes, if two regions begin there */
    for (size_t i = 0; i < win->nregions; i++)
        if (win->regions[i].base == base && !(found && found->bytes))
            found = &win->regions[i];
    if (!found)
        return weft_error_set(MPI_ERR_RMA_ATTACH, "no memory at %p is attached to the window",
                              base);
    *found = win->regions[--win->nregions];
    return MPI_SUCCESS;
}

bool weft_win_contains(const struct weft_win *win, int64_t at, uint64_t bytes, char **where)
{
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        *where = (char *)((uintptr_t)win->base + (uintptr_t)at);
        return at >= 0 && at <= win->bytes && bytes <= (uint64_t)(win->bytes - at);
    }
    *where = (char *)(intptr_t)at;
    for (size_t i = 0; i < win->nregions && bytes;) {
        uint64_t offset = (uint64_t)at - (uint64_t)(uintptr_t)win->regions[i].base;
        uint64_t space = (uint64_t)win->regions[i].bytes;
        if (offset >= space) {
            i++;
            continue;
        }
        /* Bytes that are not in this region have to begin in another one. */
        uint64_t inside = bytes < space - offset ? bytes : space - offset;
        at += (int64_t)inside;
        bytes -= inside;
        i = 0;
    }
    return !bytes;
}
