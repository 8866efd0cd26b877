// SPDX-License-Identifier: BSD-3-Clause
/*
 * Exclusion of writers that have opened the file another time, for merging writes: those that read
 * bytes that the program did not give, and write them back.
 *
 * A file that was opened for writing has a lock of its own on one byte of a range far behind its
 * data, from the open to the close. A rank that merges holds a shared lock on the byte before this
 * range, the gate, and merges only if no other byte of the range is locked; if one is, the rank
 * writes each run by itself. MPI_File_open takes its byte, and then waits until it has had the gate
 * exclusively: merging writes that have not seen its byte have ended. So a write without holes
 * takes no lock.
 *
 * The locks are those of open file descriptions (F_OFD_SETLK). They exclude other processes, other
 * opens of this process, and other nodes if the file system has locks for all nodes. A program that
 * takes no such locks is not excluded.
 *
 * Invariants:
 *  - Nothing waits for a lock that a rank holds while it waits for this one: a rank that merges
 *    does not wait for the gate, and MPI_File_open makes progress while it waits.
 *  - Rank 0 holds the byte by a descriptor of its own, which weft_file_reopen() does not close. The
 *    descriptor is closed after all ranks have ended their writes.
 *  - The writers of this open are excluded by other means: the file's lock, `in_rounds` (no other
 *    write merges) and `may_be_merging` (no other write).
 */
#include "core/base/assert.h"
#include "core/base/hash.h"
#include "core/base/info.h"
#include "core/file/file.h"
#include "core/message/process.h"
#include "core/progress/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Offsets of data are below 2^62 (weft_file_byte_offset). */
#define GATE       (INT64_C(1) << 62)
#define FIRST_BYTE (GATE + 1)
#define END_BYTE   (FIRST_BYTE + (INT64_C(1) << 31))

enum { TRIES = 100 };

/* True if the lock was taken, or released. */
static bool set_lock(int fd, short type, int64_t at)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    int rc;
    do
        rc = fcntl(fd, F_OFD_SETLK, &lock);
    while (rc && errno == EINTR);
    return rc == 0;
}

/* True if another description has no lock on a byte of [from, to). */
static bool is_free(int fd, int64_t from, int64_t to)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = to - from};
    return from == to || (fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK);
}

/* A byte that another open is unlikely to have. */
static int64_t pick_byte(void)
{
    struct timespec now = {0};
    char text[160];
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof text, "%ld %ld %ld %.64s", (long)now.tv_nsec, (long)now.tv_sec,
             (long)getpid(), weft.job.host);
    uint64_t hash = weft_hash_text(text);
    return FIRST_BYTE + (int64_t)((hash ^ hash >> 31) % (uint64_t)(END_BYTE - FIRST_BYTE));
}

static bool take_byte(struct weft_file *file)
{
    for (int i = 0; i < TRIES; i++) {
        file->own_byte = pick_byte();
        weft_assert(file->own_byte >= FIRST_BYTE && file->own_byte < END_BYTE);
        if (set_lock(file->presence, F_WRLCK, file->own_byte))
            return true;
        if (errno != EAGAIN && errno != EACCES) /* the file system has no locks */
            return false;
    }
    return false;
}

/* Takes the gate, unless another merges. */
static bool gate_is_closed(void *arg)
{
    const struct weft_file *file = arg;
    return !set_lock(file->presence, F_WRLCK, GATE) && (errno == EAGAIN || errno == EACCES);
}

/* Waits for the merging writes that began before this open took its byte. */
static void pass_gate(struct weft_file *file)
{
    weft_wait_while(weft_vci_scope(file->comm->vci), gate_is_closed, file, NULL);
    set_lock(file->presence, F_UNLCK, GATE);
}

void weft_file_register(struct weft_file *file)
{
    char path[64];
    weft_assert(file->fd >= 0 && file->presence < 0);
    if (file->amode & MPI_MODE_RDONLY || file->is_pipe)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file->fd);
    file->presence = open(path, O_WRONLY | O_CLOEXEC);
    if (file->presence < 0) /* there is no /proc */
        file->presence = open(file->name, O_WRONLY | O_CLOEXEC);
    if (file->presence >= 0 && take_byte(file))
        pass_gate(file);
    else
        file->own_byte = 0;
}

bool weft_file_is_registered(const struct weft_file *file)
{
    return file->own_byte && !is_free(file->fd, file->own_byte, file->own_byte + 1);
}

bool weft_file_may_merge(const struct weft_file *file)
{
    return file->merges && !file->unreadable &&
           !weft_info_is(file->info, "romio_ds_write", "disable");
}

bool weft_file_begin_merge(const struct weft_file *file)
{
    weft_assert(file->comm->rank || !file->own_byte || file->presence >= 0);
    if (!file->merges || !set_lock(file->fd, F_RDLCK, GATE))
        return false;
    if (is_free(file->fd, FIRST_BYTE, file->own_byte) &&
        is_free(file->fd, file->own_byte + 1, END_BYTE))
        return true;
    weft_file_end_merge(file);
    return false;
}

void weft_file_end_merge(const struct weft_file *file)
{
    set_lock(file->fd, F_UNLCK, GATE);
}
