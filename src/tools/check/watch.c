// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that the library alone may change: see watch.h.
 */
#include "tools/check/watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WATCHES_MAX = 8, WATCHED_BYTES = 1024 };

struct watch {
    uint64_t serial; /* of the operation */
    uint64_t low, bytes;
    const char *name; /* of the buffer */
    struct check_location where;
    bool is_rma;
    bool is_kept;    /* the bytes have been read */
    bool is_changed; /* between the two calls */
    struct check_location before, behind;
    unsigned char kept[WATCHED_BYTES];
};

int check_watches;

static struct watch watches[WATCHES_MAX];
static unsigned char now[WATCHES_MAX][WATCHED_BYTES];
static bool is_on;
static struct check_location last; /* the call whose end was the last one */

static bool is_set(const char *name, const char *off)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, off) != 0;
}

void check_watch_begin_job(void)
{
    MPI_Comm node;
    int size = 0;
    weft_next.Comm_split_type(check.channel, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    weft_next.Comm_size(node, &size);
    weft_next.Comm_free(&node);
    is_on = size == check.size && !check.several_threads &&
            !is_set("WEFT_PROGRESS_THREAD", "off") && !is_set("WEFT_SHM", "1");
}

void check_watch_add(uint64_t serial, uint64_t low, uint64_t high, const char *name,
                     const struct check_location *where, bool is_rma)
{
    if (!is_on || check_watches == WATCHES_MAX || high - low > WATCHED_BYTES)
        return;
    struct watch *watch = &watches[check_watches++];
    watch->serial = serial;
    watch->low = low;
    watch->bytes = high - low;
    watch->name = name;
    watch->where = *where;
    watch->is_rma = is_rma;
    watch->is_kept = watch->is_changed = false;
}

void check_watch_remove(uint64_t serial)
{
    for (int i = check_watches - 1; i >= 0; i--)
        if (watches[i].serial == serial)
            watches[i] = watches[--check_watches];
}

/* Reads the bytes of all; false: some cannot be read. */
static bool read_all(void)
{
    struct iovec from[WATCHES_MAX], to[WATCHES_MAX];
    size_t bytes = 0;
    for (int i = 0; i < check_watches; i++) {
        const struct watch *watch = &watches[i];
        const uintptr_t address = watch->low;
        void *at;
        memcpy(&at, &address, sizeof at);
        from[i] = (struct iovec){at, watch->bytes};
        to[i] = (struct iovec){now[i], watch->bytes};
        bytes += watch->bytes;
    }
    const unsigned long n = (unsigned long)check_watches;
    return process_vm_readv(getpid(), to, n, from, n, 0) == (ssize_t)bytes;
}

void check_watch_compare(const struct weft_call *call)
{
    if (!read_all())
        return;
    for (int i = 0; i < check_watches; i++) {
        struct watch *watch = &watches[i];
        if (watch->is_changed || !watch->is_kept || memcmp(watch->kept, now[i], watch->bytes) == 0)
            continue;
        watch->is_changed = true;
        watch->before = last;
        watch->behind = check_location_of(call);
    }
}

static void report(const struct watch *watch)
{
    char before[384], behind[384];
    check_location_print(&watch->before, before, sizeof before);
    check_location_print(&watch->behind, behind, sizeof behind);
    check_report(watch->is_rma ? CHECK_ORIGIN_CHANGED : CHECK_RECEIVE_CHANGED, &watch->where, false,
                 "the program has changed %s between %s and %s", watch->name, before, behind);
}

void check_watch_finish(uint64_t serial)
{
    for (int i = 0; i < check_watches; i++)
        if (watches[i].serial == serial && watches[i].is_changed)
            report(&watches[i]);
    check_watch_remove(serial);
}

void check_watch_keep(const struct weft_call *call)
{
    const bool is_read = read_all();
    last = check_location_of(call);
    for (int i = 0; i < check_watches; i++) {
        watches[i].is_kept = is_read;
        memcpy(watches[i].kept, now[i], watches[i].bytes);
    }
}
