// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lists of memory allocation kinds: see kinds.h.
 */
#include "gpu/kinds.h"

#include "core/base/info.h"

#include <string.h>

/* The restrictors of each kind: MPI 5.0, 11.4.3, and its side document on kinds. */
static const struct {
    const char *kind, *restrictors;
    bool is_host;
} table[] = {{"mpi", "alloc_mem,win_allocate,win_allocate_shared", true},
             {"system", "", true},
             {"cuda", "host,device,managed", false},
             {"rocm", "host,device,managed", false}};

/* True if a word is in a list. */
static bool is_in(const char *list, const char *word, size_t length)
{
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (n == length && !strncmp(list, word, n))
            return true;
    }
    return false;
}

/* One kind with its restrictors, of which any may hold: it is on the host if all are. Managed
 * memory counts as host memory: gpu.h. */
static enum weft_gpu_kinds check_kind(const char *at, size_t length, const char *supported)
{
    size_t i = 0, n = strcspn(at, ":,");
    const char *end = at + length;
    while (i < sizeof table / sizeof *table && !is_in(table[i].kind, at, n))
        i++;
    if (i == sizeof table / sizeof *table || !is_in(supported, at, n))
        return WEFT_GPU_KINDS_UNSUPPORTED;
    bool is_host = table[i].is_host || at + n < end;
    for (at += n; at < end; at += n) {
        n = strcspn(++at, ":,");
        if (!is_in(table[i].restrictors, at, n))
            return WEFT_GPU_KINDS_UNSUPPORTED;
        is_host = is_host && (table[i].is_host || is_in("host,managed", at, n));
    }
    return is_host ? WEFT_GPU_KINDS_HOST : WEFT_GPU_KINDS_DEVICE;
}

enum weft_gpu_kinds weft_gpu_check_kinds(const char *list)
{
    enum weft_gpu_kinds all = WEFT_GPU_KINDS_HOST;
    const char *supported = weft_gpu_supported_kinds();
    if (!list)
        return WEFT_GPU_KINDS_UNSUPPORTED;
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        enum weft_gpu_kinds kind = check_kind(list, n, supported);
        if (kind > all)
            all = kind;
    }
    return all;
}

int weft_gpu_take_kinds(struct weft_info *hints, const struct weft_info *given, bool *host_only)
{
    const char *kinds = weft_info_get(given, WEFT_ASSERT_KINDS);
    enum weft_gpu_kinds memory = weft_gpu_check_kinds(kinds);
    if (memory == WEFT_GPU_KINDS_UNSUPPORTED)
        return MPI_SUCCESS;
    *host_only = memory == WEFT_GPU_KINDS_HOST;
    return weft_info_set(hints, WEFT_ASSERT_KINDS, kinds);
}
