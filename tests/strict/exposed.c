// SPDX-License-Identifier: BSD-3-Clause
/*
 * What peers may read and write, known on both sides: a table in a file for each domain, in the
 * folder STRICT_DIR, and a link to it for each endpoint, named after its address. A process that
 * accesses a peer's memory looks there what the key means at this moment. Reads are counted, so
 * that the owner sees that the region is in use; of a write the owner may hear (FI_ORDER_SAW)
 * before the writer does.
 *
 * Invariant: an entry that was closed keeps its key until another region takes it.
 */
#include "strict.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ENTRIES = 1 << 15, NEAR = 8 };
enum state { FREE, OPEN, CLOSED };

struct strict_remote {
    uint64_t key, base, view, bytes, access;
    uint32_t state;
    uint32_t users; /* accesses under way */
    int32_t last;   /* the process that began the last one */
};

struct strict_exposed {
    struct strict_remote entries[ENTRIES];
    char path[256]; /* of the owner's file */
};

static const char *folder(void)
{
    const char *path = getenv("STRICT_DIR");

    if (!path)
        strict_die(
            "STRICT_DIR must name a folder that all ranks share; tests/strict/run makes one");
    return path;
}

/* Maps the file and closes it. */
static struct strict_exposed *map(int file)
{
    void *memory =
        mmap(NULL, sizeof(struct strict_exposed), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The name is new: a process of another node may have the same process id. */
struct strict_exposed *strict_exposed_open(void)
{
    struct strict_exposed *exposed = NULL;
    char path[200];

    snprintf(path, sizeof path, "%s/domain.XXXXXX", folder());
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0 && !ftruncate(file, sizeof *exposed))
        exposed = map(file);
    if (!exposed)
        strict_die("cannot make %s: %s", path, strerror(errno));
    snprintf(exposed->path, sizeof exposed->path, "%s", path);
    return exposed;
}

/* The file stays: peers may come late. Whoever made the folder removes it. */
void strict_exposed_close(struct strict_exposed *exposed)
{
    munmap(exposed, sizeof *exposed);
}

static void link_path(const void *name, size_t bytes, char *path, size_t len)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)name)[i]) * UINT64_C(0x100000001b3);
    snprintf(path, len, "%s/endpoint.%016llx", folder(), (unsigned long long)hash);
}

void strict_exposed_name(struct strict_exposed *exposed, const void *name, size_t bytes)
{
    char path[256];

    link_path(name, bytes, path, sizeof path);
    unlink(path); /* an older process may have had the address */
    if (link(exposed->path, path))
        strict_die("cannot make %s: %s", path, strerror(errno));
}

struct strict_exposed *strict_exposed_of(const void *name, size_t bytes)
{
    char path[256];

    link_path(name, bytes, path, sizeof path);
    int file = open(path, O_RDWR | O_CLOEXEC);
    struct strict_exposed *exposed = file < 0 ? NULL : map(file);
    if (!exposed)
        strict_die("no %s: the peer does not run under the checker with the same STRICT_DIR", path);
    return exposed;
}

static size_t first_of(uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % ENTRIES;
}

/* The entry of a key, or one that was closed, or NULL. */
static struct strict_remote *find(struct strict_exposed *exposed, uint64_t key)
{
    struct strict_remote *closed = NULL;
    size_t at = first_of(key);

    for (size_t i = 0; i < ENTRIES; i++, at = (at + 1) % ENTRIES) {
        struct strict_remote *entry = &exposed->entries[at];
        uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
        if (state == FREE)
            break;
        if (entry->key == key && state == OPEN)
            return entry;
        if (entry->key == key)
            closed = entry;
    }
    return closed;
}

void strict_expose(struct strict_exposed *exposed, const struct strict_mr *mr)
{
    size_t at = first_of(mr->key);

    for (size_t i = 0; i < ENTRIES; i++, at = (at + 1) % ENTRIES) {
        struct strict_remote *entry = &exposed->entries[at];
        if (entry->state == OPEN || (entry->state == CLOSED && i < NEAR && entry->key != mr->key))
            continue;
        entry->key = mr->key;
        entry->base = (uintptr_t)mr->base;
        entry->view = (uintptr_t)mr->view;
        entry->bytes = mr->bytes;
        entry->access = mr->access;
        __atomic_store_n(&entry->users, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->state, OPEN, __ATOMIC_RELEASE);
        return;
    }
    strict_die("more than %d regions are open", (int)ENTRIES);
}

unsigned strict_remote_users(struct strict_exposed *exposed, const struct strict_mr *mr)
{
    const struct strict_remote *entry =
        mr->fid.key == FI_KEY_NOTAVAIL ? NULL : find(exposed, mr->key);

    return entry && entry->state == OPEN ? __atomic_load_n(&entry->users, __ATOMIC_ACQUIRE) : 0;
}

void strict_conceal(struct strict_exposed *exposed, const struct strict_mr *mr)
{
    struct strict_remote *entry = find(exposed, mr->key);

    if (mr->fid.key == FI_KEY_NOTAVAIL || !entry)
        return;
    uint32_t users = __atomic_load_n(&entry->users, __ATOMIC_ACQUIRE);
    if (users && !(kill(entry->last, 0) && errno == ESRCH))
        strict_breach(STRICT_REGION_READ_REMOTELY, "%u accesses to %zu bytes at %p", users,
                      mr->bytes, (void *)mr->base);
    __atomic_store_n(&entry->state, CLOSED, __ATOMIC_RELEASE);
}

struct strict_remote *strict_remote_begin(struct strict_exposed *exposed, uint64_t key,
                                          uint64_t address, size_t bytes, uint64_t access,
                                          uint64_t *real_address)
{
    struct strict_remote *entry = find(exposed, key);

    if (!entry)
        strict_breach(STRICT_KEY_UNKNOWN, "0x%llx", (unsigned long long)key);
    if (entry->state == CLOSED)
        strict_breach(STRICT_KEY_CLOSED, "0x%llx", (unsigned long long)key);
    uint64_t offset = address;
    if (strict_profile()->mr_mode & FI_MR_VIRT_ADDR)
        offset -= entry->base;
    if (offset > entry->bytes || bytes > entry->bytes - offset)
        strict_breach(STRICT_KEY_RANGE, "%zu bytes at 0x%llx, region of %llu bytes at 0x%llx",
                      bytes, (unsigned long long)address, (unsigned long long)entry->bytes,
                      (unsigned long long)entry->base);
    if (!(entry->access & access))
        strict_breach(STRICT_KEY_ACCESS, "needs 0x%llx, the region has 0x%llx",
                      (unsigned long long)access, (unsigned long long)entry->access);
    *real_address = strict_base_virtual() ? entry->view + offset : offset;
    if (access != FI_REMOTE_READ)
        return NULL;
    entry->last = (int32_t)getpid();
    __atomic_fetch_add(&entry->users, 1, __ATOMIC_ACQ_REL);
    return entry;
}

void strict_remote_end(struct strict_remote *remote)
{
    __atomic_fetch_sub(&remote->users, 1, __ATOMIC_ACQ_REL);
}
