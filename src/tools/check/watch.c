// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that the library alone may change: see watch.h.
 */
#include "tools/check/watch.h"
#include "tools/check/windows.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WATCHES_MAX = 16, WATCHED_BYTES = CHECK_WATCHED };

struct watch {
    uint64_t serial; /* of the operation */
    uint64_t low, bytes;
    const char *name; /* of the buffer */
    struct check_location where;
    bool is_rma;
    bool is_window;  /* of this process: its stores are shown to windows.c */
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
static uint64_t eager;             /* bytes of a message that is copied inside of a call */

static bool is_set(const char *name, const char *off)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, off) != 0;
}

/* Longer messages may be moved by their sender at any time. 0: the limit is unknown. */
static uint64_t eager_limit(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long long limit = 0;
    int provided, index, count;
    if (weft_next.T_init_thread(MPI_THREAD_SINGLE, &provided))
        return 0;
    if (weft_next.T_pvar_session_create(&session) == MPI_SUCCESS) {
        if (weft_next.T_pvar_get_index("weft_shm_eager_limit", MPI_T_PVAR_CLASS_SIZE, &index) ==
                MPI_SUCCESS &&
            weft_next.T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS)
            weft_next.T_pvar_read(session, handle, &limit);
        weft_next.T_pvar_session_free(&session);
    }
    weft_next.T_finalize();
    return limit;
}

void check_watch_begin_job(void)
{
    MPI_Comm node;
    int size = 0;
    eager = eager_limit();
    weft_next.Comm_split_type(check.channel, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    weft_next.Comm_size(node, &size);
    weft_next.Comm_free(&node);
    is_on = size == check.size && !check.is_spawned && !check.several_threads &&
            !is_set("WEFT_PROGRESS_THREAD", "off") && !is_set("WEFT_SHM", "1");
}

void check_watch_stop(void)
{
    is_on = false;
}

static struct watch *add(uint64_t serial, uint64_t low, uint64_t high)
{
    weft_assert(check_watches < WATCHES_MAX && high - low <= WATCHED_BYTES);
    struct watch *watch = &watches[check_watches++];
    watch->serial = serial;
    watch->low = low;
    watch->bytes = high - low;
    watch->is_window = watch->is_rma = watch->is_kept = watch->is_changed = false;
    return watch;
}

static void add_operation(uint64_t serial, uint64_t low, uint64_t high, const char *name,
                          const struct check_location *where, bool is_rma)
{
    if (check_watches == WATCHES_MAX)
        return;
    struct watch *watch = add(serial, low, high);
    watch->name = name;
    watch->where = *where;
    watch->is_rma = is_rma;
}

void check_watch_add(uint64_t serial, uint64_t low, uint64_t high, const char *name,
                     const struct check_location *where, bool is_rma)
{
    const uint64_t end = WATCHED_BYTES / 2;
    if (!is_on || high - low > (eager ? eager : WATCHED_BYTES))
        return;
    if (high - low <= WATCHED_BYTES) {
        add_operation(serial, low, high, name, where, is_rma);
    } else {
        add_operation(serial, low, low + end, name, where, is_rma);
        add_operation(serial, high - end, high, name, where, is_rma);
    }
}

void check_watch_add_window(uint64_t serial, uint64_t low, uint64_t high)
{
    if (is_on && check_watches < WATCHES_MAX && high - low <= WATCHED_BYTES && low < high)
        add(serial, low, high)->is_window = true;
}

static void drop(uint64_t serial, bool is_window)
{
    for (int i = check_watches - 1; i >= 0; i--)
        if (watches[i].serial == serial && watches[i].is_window == is_window)
            watches[i] = watches[--check_watches];
}

void check_watch_remove(uint64_t serial)
{
    drop(serial, false);
}

void check_watch_remove_window(uint64_t serial)
{
    drop(serial, true);
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

/* The process has stored between its last call and this one. */
static void show_stores(const struct watch *watch, const unsigned char *bytes,
                        const struct weft_call *call)
{
    const struct check_location here = check_location_of(call);
    for (uint64_t low = 0, high; low < watch->bytes; low = high + 1) {
        while (low < watch->bytes && watch->kept[low] == bytes[low])
            low++;
        for (high = low; high < watch->bytes && watch->kept[high] != bytes[high];)
            high++;
        if (high > low)
            check_windows_stored(watch->serial, low, high, &last, &here);
    }
}

void check_watch_compare(const struct weft_call *call)
{
    if (!read_all())
        return;
    for (int i = 0; i < check_watches; i++) {
        struct watch *watch = &watches[i];
        if (watch->is_changed || !watch->is_kept || memcmp(watch->kept, now[i], watch->bytes) == 0)
            continue;
        if (watch->is_window) {
            show_stores(watch, now[i], call);
            continue;
        }
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
    bool is_reported = false;
    for (int i = 0; i < check_watches; i++)
        if (watches[i].serial == serial && watches[i].is_changed && !is_reported) {
            report(&watches[i]);
            is_reported = true;
        }
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
