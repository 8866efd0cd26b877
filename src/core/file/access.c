// SPDX-License-Identifier: BSD-3-Clause
/*
 * Independent access to the bytes of a view.
 *
 * One run of the file is one system call, from or to the user's buffer if its data are contiguous,
 * else 256 KiB at a time through a bounce buffer. Many short runs, by the table of file systems,
 * are moved by the sieve: one call reads their span, up to 512 KiB on local disks; a read gathers
 * its data from it, a write scatters its data into it and writes it back.
 *
 * Invariants:
 *  - Positions below *moved have been moved, and none at or behind it when a read ends at the end
 * of the file.
 *  - The bytes of holes may be those of another writer. So a write sieves only while it holds the
 *    file's lock exclusively, and every other write to a file that is `guarded` holds it shared;
 *    and while no other open of the file exists (exclude.c). Else each run is one call.
 *  - While a collective write of the same file uses domains, a write does not sieve. It waits only
 *    for one that may write bytes of holes back itself, a blocking one of another thread.
 */
#include "core/datatype/copy.h"
#include "core/datatype/iov.h"
#include "core/datatype/position.h"
#include "core/file/file.h"
#include "core/file/system.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/info.h"
#include "core/message/count.h"
#include "core/message/process.h"
#include "core/progress/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUNS = 256,
    BOUNCE_BYTES = 256 << 10,
    SHORT_BOUNCE = 64 << 10, /* with a call for each int 10 ms */
    FEW_RUNS = 8             /* as many calls as a sieve with its locks makes, or little more */
};

struct access {
    struct weft_file *file;
    bool write;
    bool by_runs; /* within a collective access: no lock, no sieve */
    bool at_once; /* does not wait: sets `later` instead; one run, some calls, or one sieve */
    bool later;
    bool ended;   /* a read is at the end of the file */
    bool bounces; /* the memory is a bounce buffer, all of which is moved */
    char *sieve;  /* NULL until it is needed */
    size_t sieve_bytes;
};

static int no_memory(const struct weft_file *file, size_t bytes)
{
    return weft_error_set(MPI_ERR_NO_MEM, "%.200s: no memory for a buffer of %zu bytes", file->name,
                          bytes);
}

/* Writes the sieve back with the data of [from, to), whose span begins at the offset `at`. *done:
 * the bytes of data that were written. */
static int write_sieve(struct access *access, size_t from, size_t to, MPI_Offset at, size_t span,
                       char *memory, size_t *done)
{
    const struct weft_file *file = access->file;
    const struct weft_layout *layout = file->view.filetype->layout;
    MPI_Aint extent = file->view.filetype->extent, before = at - file->view.disp;
    size_t put;
    weft_layout_copy(WEFT_UNPACK, layout, extent,
                     (void *)((uintptr_t)access->sieve - (uintptr_t)before), from, to, memory);
    int code = weft_file_transfer(file->name, file->fd, true, at, access->sieve, span, &put);
    if (code != MPI_SUCCESS)
        to = weft_layout_position(layout, file->view.repeat, before + (MPI_Aint)put);
    *done = to > from ? to - from : 0;
    weft_count_add(&weft_counts.file_sieved, span);
    return code;
}

/* Moves the data of [from, to) by calls for their span, or as much of it as the sieve holds.
 * *done: the bytes of data that were moved; *ended: a read is at the end of the file. */
static int sieve(struct access *access, size_t from, size_t to, char *memory, size_t *done,
                 bool *ended)
{
    const struct weft_file *file = access->file;
    const struct weft_layout *layout = file->view.filetype->layout;
    MPI_Aint extent = file->view.filetype->extent, disp = file->view.disp;
    struct weft_run first, last;
    size_t got, limit, most = access->sieve_bytes;
    if (!access->sieve && !(access->sieve = malloc(most)))
        return no_memory(file, most);
    weft_layout_list_runs(layout, extent, disp, from, from + 1, &first, 1);
    limit = weft_layout_position(layout, file->view.repeat, first.at - disp + (MPI_Aint)most);
    to = limit < to ? limit : to;
    weft_assert(to > from);
    weft_layout_list_runs(layout, extent, disp, to - 1, to, &last, 1);
    size_t span = (size_t)(last.at + 1 - first.at);
    int code = weft_file_transfer(file->name, file->fd, false, first.at, access->sieve, span, &got);
    if (code != MPI_SUCCESS)
        return code;
    if (access->write) {
        memset(access->sieve + got, 0, span - got); /* holes behind the end of the file */
        return write_sieve(access, from, to, first.at, span, memory, done);
    }
    weft_count_add(&weft_counts.file_sieved, got);
    *ended = got < span;
    if (*ended)
        to = weft_layout_position(layout, file->view.repeat, first.at - disp + (MPI_Aint)got);
    *done = to > from ? to - from : 0;
    if (*done) /* elements begin at `disp`, which may be before the bytes in the sieve */
        weft_layout_copy(WEFT_PACK, layout, extent,
                         (void *)((uintptr_t)access->sieve - (uintptr_t)(first.at - disp)), from,
                         to, memory);
    return MPI_SUCCESS;
}

/* True if the sieve may be used. A write needs an exclusive lock for that, which ranks of several
 * nodes do not have, because their other writes take no lock. */
static bool may_sieve(const struct access *access)
{
    const struct weft_file *file = access->file;
    if (access->write)
        return !access->by_runs && !file->in_rounds && (file->on_node || file->comm->size == 1) &&
               weft_file_may_merge(file);
    return !file->unreadable && !weft_info_is(file->info, "romio_ds_read", "disable");
}

/* True if these runs are moved faster with their holes. to: the end of the access. */
static bool sieves(const struct access *access, const struct weft_run *runs, size_t n, size_t to)
{
    const struct weft_file_system *system = access->file->system;
    size_t bytes = 0, hole = access->write ? system->short_hole / 2 : system->short_hole;
    if (!weft_file_ascends(&access->file->view, to) || n < (access->write ? FEW_RUNS : 2))
        return false;
    for (size_t i = 0; i < n; i++)
        bytes += runs[i].bytes;
    size_t span = (size_t)(runs[n - 1].at - runs[0].at) + runs[n - 1].bytes;
    return bytes / n <= system->short_run && (span - bytes) / n <= hole && may_sieve(access);
}

/* In atomic mode the access holds the lock already. */
static bool guards(const struct access *access)
{
    return access->write && access->file->guarded && !access->file->atomic && !access->by_runs;
}

static bool may_be_merging(void *arg)
{
    const struct weft_file *file = arg;
    return file->may_be_merging;
}

/* Begins a write if that needs no wait; else sets `later`. */
static int try_write(struct access *access, bool exclusive)
{
    bool taken = true;
    access->later = access->write && access->file->may_be_merging;
    if (access->later || !guards(access))
        return MPI_SUCCESS;
    int code = weft_file_lock_try(access->file, exclusive, &taken);
    access->later = !taken;
    return code;
}

/* The wait for another thread's collective write is repeated, because the lock may be waited for.
 */
static int begin_write(struct access *access, bool exclusive)
{
    struct weft_file *file = access->file;
    int code = MPI_SUCCESS;
    bool others = access->write && !access->by_runs;
    if (access->at_once)
        return try_write(access, exclusive);
    while (code == MPI_SUCCESS) {
        if (others)
            weft_wait_while(weft_vci_scope(file->comm->vci), may_be_merging, file, NULL);
        code = guards(access) ? weft_file_lock(file, exclusive) : MPI_SUCCESS;
        if (code != MPI_SUCCESS || !others || !file->may_be_merging)
            break;
        code = guards(access) ? weft_file_unlock(file) : MPI_SUCCESS;
    }
    return code;
}

static int end_write(const struct access *access, bool exclusive, int code)
{
    int failed = MPI_SUCCESS;
    if (guards(access) && access->at_once)
        weft_file_unlock_try(access->file, exclusive);
    else if (guards(access))
        failed = weft_file_unlock(access->file);
    return code == MPI_SUCCESS ? failed : code;
}

/* One call for each of n runs. */
static int move_each(const struct access *access, const struct weft_run *runs, size_t n,
                     char *memory, size_t *done, bool *ended)
{
    const struct weft_file *file = access->file;
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < n && !*ended && code == MPI_SUCCESS; i++) {
        size_t moved;
        code = weft_file_transfer(file->name, file->fd, access->write, runs[i].at, memory + *done,
                                  runs[i].bytes, &moved);
        *done += moved;
        *ended = moved < runs[i].bytes;
    }
    return code;
}

/* The runs at the beginning of [from, to), one call each, or more of them by the sieve. */
static int move_runs(struct access *access, size_t from, size_t to, char *memory, size_t *done,
                     bool *ended)
{
    const struct weft_file *file = access->file;
    struct weft_run runs[RUNS];
    size_t n = weft_layout_list_runs(file->view.filetype->layout, file->view.filetype->extent,
                                     file->view.disp, from, to, runs, RUNS);
    bool with_holes = sieves(access, runs, n, to);
    int code = begin_write(access, with_holes);
    if (code != MPI_SUCCESS || access->later)
        return code;
    /* rounds may have begun in the wait */
    bool merges = with_holes && access->write && !file->in_rounds && weft_file_begin_merge(file);
    if (with_holes && (merges || !access->write))
        code = sieve(access, from, to, memory, done, ended);
    else
        code = move_each(access, runs, n, memory, done, ended);
    if (merges)
        weft_file_end_merge(file);
    return end_write(access, with_holes, code);
}

/* One run. */
static int move_run(struct access *access, size_t from, size_t bytes, char *memory, size_t *moved)
{
    const struct weft_file *file = access->file;
    int code = begin_write(access, false);
    if (code == MPI_SUCCESS && !access->later)
        code =
            end_write(access, false,
                      weft_file_transfer(file->name, file->fd, access->write,
                                         file->view.disp + (MPI_Offset)from, memory, bytes, moved));
    return code;
}

/* Positions [from, to), from or to contiguous memory. */
static int move_packed(struct access *access, size_t from, size_t to, char *memory, size_t *moved)
{
    const struct weft_file *file = access->file;
    int code = MPI_SUCCESS;
    *moved = 0;
    if (file->view.contiguous) {
        code = move_run(access, from, to - from, memory, moved);
        access->ended = *moved < to - from && !access->later;
        return code;
    }
    while (from + *moved < to && !access->ended && !access->later && code == MPI_SUCCESS) {
        size_t done = 0;
        code = move_runs(access, from + *moved, to, memory + *moved, &done, &access->ended);
        *moved += done;
        if (access->at_once && !access->bounces)
            break;
    }
    return code;
}

/* Through a bounce buffer. */
static int move_by_bounce(struct access *access, const struct weft_file_data *data, size_t position,
                          size_t from, size_t to, size_t *moved)
{
    size_t most = access->at_once && !access->file->view.contiguous ? SHORT_BOUNCE : BOUNCE_BYTES;
    size_t each = to - from < most ? to - from : most, n = 0, done = 0;
    char *bounce = malloc(each);
    int code = MPI_SUCCESS;
    access->bounces = true;
    if (!bounce)
        return no_memory(access->file, each);
    for (; from < to && done == n && code == MPI_SUCCESS; from += done) {
        n = to - from < each ? to - from : each;
        if (access->write)
            weft_datatype_pack(data->type, data->buffer, from, bounce, n);
        code = move_packed(access, position + from, position + from + n, bounce, &done);
        if (!access->write)
            weft_datatype_unpack(data->type, data->buffer, from, bounce, done);
        *moved += done;
        if (access->at_once)
            break;
    }
    free(bounce);
    return code;
}

/* Bytes [from, to) of an access. */
static int move_data(struct access *access, const struct weft_file_data *data, size_t from,
                     size_t to, size_t *moved)
{
    size_t position = (size_t)data->offset * access->file->view.etype->size;
    char *memory = weft_datatype_run(data->type, data->buffer, to);
    if (memory)
        return move_packed(access, position + from, position + to, memory + from, moved);
    return move_by_bounce(access, data, position, from, to, moved);
}

int weft_file_write_runs(struct weft_file *file, const struct weft_file_data *data, size_t from,
                         size_t to)
{
    struct access access = {.file = file, .write = true, .by_runs = true};
    size_t moved = 0;
    weft_assert(file->in_rounds && from < to);
    return move_data(&access, data, from, to, &moved);
}

static struct access new_access(struct weft_file *file, bool write)
{
    size_t hint = file->sieve[write];
    return (struct access){
        .file = file, .write = write, .sieve_bytes = hint ? hint : file->system->sieve};
}

int weft_file_move(struct weft_file *file, bool write, const struct weft_file_data *data,
                   size_t *moved)
{
    struct access access = new_access(file, write);
    *moved = 0;
    if (!data->bytes || !file->view.filetype->layout)
        return MPI_SUCCESS;
    int code = file->atomic ? weft_file_lock(file, write) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    /* on NFS: what other nodes have written, each with O_DSYNC */
    if (file->atomic && file->several_caches && weft_file_reopen(file->fd, 0))
        code = weft_file_failed(file->name, errno, "to open the file again");
    if (code == MPI_SUCCESS)
        code = move_data(&access, data, 0, data->bytes, moved);
    free(access.sieve);
    int failed = file->atomic ? weft_file_unlock(file) : MPI_SUCCESS;
    return code == MPI_SUCCESS ? failed : code;
}

int weft_file_move_at_once(struct weft_file *file, bool write, const struct weft_file_data *data,
                           size_t from, size_t to, size_t *moved, bool *ended)
{
    struct access access = new_access(file, write);
    weft_assert(from < to && file->view.filetype->layout && !file->atomic && !file->is_pipe);
    access.at_once = true;
    *moved = 0;
    int code = move_data(&access, data, from, to, moved);
    free(access.sieve);
    *ended = access.ended;
    return code;
}
