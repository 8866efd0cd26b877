// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of ranks: see rank_memory.h.
 *
 * Invariant: a mapped file has the size of the struct, so that no access is behind its end unless
 * somebody truncates it.
 */
#include "rank_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

enum { SIZE_MOST = 1 << 22 };

/* Times are finite. */
static bool is_clock(const struct profile_clock *clock)
{
    const double a_tick = clock->seconds_a_tick;
    return a_tick > 0 && a_tick < 1 && fabs(clock->seconds_begin) < 1e12 &&
           fabs(clock->difference_begin) < 1e12 && fabs(clock->difference_end) < 1e12;
}

static const char *check(const struct profile_shared *rank, size_t size)
{
    if (memcmp(rank->magic, PROFILE_MAGIC, sizeof PROFILE_MAGIC) != 0)
        return "it is no file of a rank";
    if (strncmp(rank->version, PACKAGE_VERSION, sizeof rank->version) != 0 ||
        size != sizeof *rank || rank->bytes != sizeof *rank || rank->calls != WEFT_CALLS)
        return "it is of another version of Weft; use its weft-report";
    if (rank->size <= 0 || rank->rank < 0 || rank->rank >= rank->size || rank->size > SIZE_MOST ||
        !is_clock(&rank->clock) || !memchr(rank->host, 0, sizeof rank->host) ||
        !memchr(rank->program, 0, sizeof rank->program))
        return "it is damaged";
    return NULL;
}

const struct profile_shared *rank_memory_map(const char *name, const char **why)
{
    struct stat status;
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &status)) {
        *why = strerror(errno);
        if (file >= 0)
            close(file);
        return NULL;
    }
    size_t size = (size_t)status.st_size;
    const struct profile_shared *rank = MAP_FAILED;
    *why = "it is no file of a rank";
    if (S_ISREG(status.st_mode) && size >= sizeof rank->magic + sizeof rank->version)
        rank = mmap(NULL, sizeof *rank, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (rank == MAP_FAILED)
        return NULL;
    /* Pages behind the end of a shorter file are not touched: its size differs. */
    *why = memcmp(rank->magic, PROFILE_MAGIC, sizeof PROFILE_MAGIC) == 0 && size < sizeof *rank
               ? "it is of another version of Weft; use its weft-report"
               : check(rank, size);
    if (!*why)
        return rank;
    rank_memory_unmap(rank);
    return NULL;
}

void rank_memory_unmap(const struct profile_shared *rank)
{
    munmap((void *)(uintptr_t)rank, sizeof *rank);
}
