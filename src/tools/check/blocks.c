// SPDX-License-Identifier: BSD-3-Clause
/*
 * Blocks of the heap: see blocks.h.
 */
#include "tools/check/blocks.h"
#include "tools/check/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    ADDRESS_BITS = 48, /* of a process's own memory */
    REGION_BITS = 26,  /* 64 MiB */
    CHUNK_BITS = 16,
    UNIT_BITS = 4,       /* blocks start at multiples of 16 bytes */
    REGIONS_BACK = 1024, /* that a search looks at: 64 GiB */
    CHUNKS = 1 << (REGION_BITS - CHUNK_BITS),
    UNITS = 1 << (REGION_BITS - UNIT_BITS),
    UNITS_OF_CHUNK = UNITS / CHUNKS,
    SLACK_MAX = 254
};

struct region {
    unsigned char chunks[CHUNKS], units[UNITS], freed[UNITS]; /* 1: a block that started there */
};

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void (*free)(void *);
} next;

CHECK_THREAD bool check_is_in_call;

static struct region *_Atomic *regions; /* by the address; NULL: there is no memory for them */

/* Memory for what the loader allocates while it looks for the next definitions. It is never freed.
 */
static struct {
    _Alignas(16) char bytes[16384];
    size_t used;
} early;

static void *allocate_early(size_t size)
{
    char *at = early.bytes + early.used;
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof early.bytes - early.used)
        return NULL;
    early.used += size;
    return at;
}

static bool is_early(const void *block)
{
    return (const char *)block >= early.bytes &&
           (const char *)block < early.bytes + sizeof early.bytes;
}

static void *find(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Address space that has memory where it is written, NULL: there is none. */
static void *reserve(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* True if the next definitions are known. */
static bool resolve(void)
{
    static bool is_resolving;
    if (next.free)
        return true;
    if (is_resolving)
        return false;
    is_resolving = true;
    void *symbols[] = {find("malloc"), find("calloc"), find("realloc"), find("memalign"),
                       find("free")};
    if (!dlsym(RTLD_DEFAULT, "__asan_init")) /* which may not be asked for sizes at its own start */
        regions = reserve(sizeof *regions << (ADDRESS_BITS - REGION_BITS));
    memcpy(&next, symbols, sizeof next);
    is_resolving = false;
    return true;
}

/* The region of an address, NULL: there is none. */
static struct region *region_of(uintptr_t address)
{
    return regions && address >> ADDRESS_BITS == 0 ? regions[address >> REGION_BITS] : NULL;
}

static struct region *make_region(uintptr_t address)
{
    if (!regions || address >> ADDRESS_BITS)
        return NULL;
    struct region *made = reserve(sizeof *made), *none = NULL;
    if (made && !atomic_compare_exchange_strong(&regions[address >> REGION_BITS], &none, made))
        munmap(made, sizeof *made); /* another thread was faster */
    return region_of(address);
}

static size_t unit_of(uintptr_t address)
{
    return (address >> UNIT_BITS) % UNITS;
}

/* Returns the block. Blocks that share a unit with others are not known. */
static void *add(void *block, size_t size)
{
    const uintptr_t at = (uintptr_t)block;
    if (!block || at % (1 << UNIT_BITS))
        return block;
    struct region *region = region_of(at);
    if (!region)
        region = make_region(at);
    if (!region)
        return block;
    const size_t slack = malloc_usable_size(block) - size;
    region->units[unit_of(at)] = (unsigned char)(slack > SLACK_MAX ? 1 : 1 + slack);
    region->chunks[(at >> CHUNK_BITS) % CHUNKS] = 1;
    return block;
}

/* Returns what add has set, 0: nothing. */
static unsigned char drop(const void *block)
{
    const uintptr_t at = (uintptr_t)block;
    struct region *region = at % (1 << UNIT_BITS) ? NULL : region_of(at);
    if (!region)
        return 0;
    const unsigned char kept = region->units[unit_of(at)];
    region->units[unit_of(at)] = 0;
    return kept;
}

/* The last unit of a region, before `end`, at which a block starts; -1: there is none. */
static ptrdiff_t find_unit(const struct region *region, size_t end)
{
    size_t chunk = (end - 1) / UNITS_OF_CHUNK;
    for (;;) {
        const size_t first = chunk * UNITS_OF_CHUNK;
        while (region->chunks[chunk] && end > first)
            if (region->units[--end])
                return (ptrdiff_t)end;
        const unsigned char *before = memrchr(region->chunks, 1, chunk);
        if (!before)
            return -1;
        chunk = (size_t)(before - region->chunks);
        end = (chunk + 1) * UNITS_OF_CHUNK;
    }
}

bool check_block_find(uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    if (!regions || address >> ADDRESS_BITS)
        return false;
    const size_t last = address >> REGION_BITS;
    size_t end = unit_of(address) + 1;
    for (size_t i = 0; i < REGIONS_BACK && i <= last; i++, end = UNITS) {
        const struct region *region = regions[last - i];
        const ptrdiff_t unit = region ? find_unit(region, end) : -1;
        if (unit < 0)
            continue;
        *low = ((last - i) << REGION_BITS) + ((size_t)unit << UNIT_BITS);
        *high = *low + malloc_usable_size((void *)*low) - (region->units[unit] - 1U);
        return address < *high;
    }
    return false;
}

/* from: the code that has freed the block. */
static void note_freed(uintptr_t at, const void *from)
{
    if (check_is_in_call || (!check.began && !weft_site_is_in_program(from)))
        return;
    region_of(at)->freed[unit_of(at)] = 1;
}

bool check_block_was_freed(uintptr_t address)
{
    const struct region *region = address % (1 << UNIT_BITS) ? NULL : region_of(address);
    return region && region->freed[unit_of(address)];
}

/* ---- The definitions of the C library */

EXPORT void *malloc(size_t size)
{
    return resolve() ? add(next.malloc(size), size) : allocate_early(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
    return resolve() ? add(next.calloc(n, size), n * size) : allocate_early(n * size);
}

EXPORT void free(void *block)
{
    if (!block || is_early(block) || !resolve())
        return;
    if (drop(block))
        note_freed((uintptr_t)block, __builtin_return_address(0));
    next.free(block);
}

EXPORT void *realloc(void *block, size_t size)
{
    if (!block || !resolve())
        return malloc(size);
    if (is_early(block)) {
        void *copy = malloc(size);
        size_t bytes = (size_t)(early.bytes + sizeof early.bytes - (char *)block);
        return copy ? memcpy(copy, block, bytes < size ? bytes : size) : NULL;
    }
    const unsigned char kept = drop(block);
    void *moved = next.realloc(block, size);
    if (!moved && size && kept) /* the block is as it was */
        region_of((uintptr_t)block)->units[unit_of((uintptr_t)block)] = kept;
    if (moved && moved != block && kept)
        note_freed((uintptr_t)block, __builtin_return_address(0));
    return add(moved, size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    return resolve() ? add(next.memalign(alignment, size), size) : NULL;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
    const int before = errno;
    if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1)))
        return EINVAL;
    void *made = memalign(alignment, size);
    errno = before;
    if (!made)
        return ENOMEM;
    *block = made;
    return 0;
}
