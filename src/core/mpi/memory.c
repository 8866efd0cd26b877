// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory from the library (MPI 5.0 section 9.2): ordinary memory, aligned to a cache line or as
 * the info object requests.
 *
 * Invariant: `allocated` holds the address of every block that was given out and not freed, so that
 * MPI_Free_mem detects any other address.
 */
#include "core/mpi/entry.h"
#include "core/base/info.h"

#include <search.h>
#include <stdlib.h>

enum { CACHE_LINE = 64 };

static void *allocated; /* a tree, see tsearch(3) */

static int compare_addresses(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

/* The alignment that the info object requests, at least a cache line; 0 if it is no power of two.
 */
static size_t alignment_of(const struct weft_info *info)
{
    const char *text = weft_info_get(info, "mpi_minimum_memory_alignment");
    size_t alignment = text ? strtoul(text, NULL, 10) : CACHE_LINE;
    if (alignment & (alignment - 1))
        return 0;
    return alignment > CACHE_LINE ? alignment : CACHE_LINE;
}

int weft_mpi_alloc_mem(MPI_Aint size, struct weft_info *info, void *baseptr)
{
    if (size < 0)
        return weft_error_set(MPI_ERR_ARG, "the size %lld is negative", (long long)size);
    size_t alignment = alignment_of(info);
    if (!alignment)
        return weft_error_set(MPI_ERR_INFO_VALUE,
                              "mpi_minimum_memory_alignment is not a power of two");
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, size ? (size_t)size : 1))
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for %lld bytes", (long long)size);
    if (!tsearch(memory, &allocated, compare_addresses)) {
        free(memory);
        return weft_error_set(MPI_ERR_NO_MEM, "no memory to note the address of a block");
    }
    *(void **)baseptr = memory;
    return MPI_SUCCESS;
}

int weft_mpi_free_mem(void *base)
{
    if (base && !tdelete(base, &allocated, compare_addresses))
        return weft_error_set(MPI_ERR_BASE,
                              "%p does not come from MPI_Alloc_mem, or was freed before", base);
    free(base);
    return MPI_SUCCESS;
}
