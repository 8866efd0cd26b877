// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective access by windows in shared memory, for ranks of one node whose data interleave.
 *
 * Each rank has memory for one window of the file, which all map. In a round, each rank scatters
 * its data into the windows of all, and then writes its own window by one system call; or reads its
 * own, and then gathers its data from all. No offsets are exchanged.
 *
 * Invariants:
 *  - The path and the number of rounds follow from gathered values, so they are the same at all
 *    ranks. Rounds go on after an error, so that no rank waits for ever.
 *  - A window is written at once if each byte was given once. The sum of
 *    hash(end) - hash(begin) over all runs is that of one run of the window exactly if every end
 *    but the last is the begin of another run: sums of offsets or of their squares can be equal for
 *    runs that overlap and leave holes, such as two times the bytes 0, 3, 5 and 6 of 8.
 *  - Else its rank reads the file into the window, and all ranks scatter their data again: no other
 *    rank of the file writes meanwhile. With few or long runs each rank writes its own data.
 *  - Between two barriers a word or byte of a window has one writer.
 */
#include "core/coll/coll.h"
#include "core/datatype/copy.h"
#include "core/datatype/iov.h"
#include "core/datatype/position.h"
#include "core/file/file.h"
#include "core/file/system.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/rma/win.h"

#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_BYTES = 256 << 10, /* larger ones gain nothing, and cost page faults at the first use */
    PIECE_BYTES = 256 << 10,
    RUNS = 256,
    LONG_RUN = 64 << 10, /* a system call for each run costs little */
    SHORT_RUN = 4096,    /* a system call costs as much as the copy of 4 KiB */
    SPARSE = 16          /* a window with fewer data than one byte in so many costs more */
};

/* The access of a rank, gathered by all. */
struct range {
    int64_t first, end; /* offsets in the file */
    int64_t bytes;      /* 0: none, also after an error */
    int64_t runs;       /* about; 0: its view has no positions, so no rank uses windows */
};

/* Of the data of one rank in one window. */
struct sums {
    uint64_t bytes, hash, runs;
    int64_t first, end; /* offsets in the window */
};

enum method { AT_ONCE, MERGED, SEPARATELY };

/* Behind the bytes of a window. */
struct control {
    uint64_t got;       /* reads: bytes before the end of the file */
    uint64_t method;    /* writes: enum method */
    struct sums sums[]; /* by rank */
};

struct access {
    struct weft_file *file;
    bool write;
    const struct weft_file_data *data;
    size_t from, to;   /* positions */
    int64_t low, high; /* offsets: the span of all ranks */
    int64_t at;        /* offset of the first window of the round */
    char *piece;       /* PIECE_BYTES, or NULL if the buffer is contiguous */
    char *memory;      /* else the buffer */
    size_t moved;
    bool ended; /* a read is at the end of the file */
};

static const struct weft_layout *layout_of(const struct access *access)
{
    return access->file->view.filetype->layout;
}

/* ---- The choice of the path */

static struct range range_of(const struct weft_file *file, const struct weft_file_data *data)
{
    const struct weft_datatype *filetype = file->view.filetype;
    struct range range = {0};
    struct weft_run run;
    if (!data || !data->bytes || !filetype->layout)
        return range;
    size_t from = (size_t)data->offset * file->view.etype->size, to = from + data->bytes;
    weft_layout_list_runs(filetype->layout, filetype->extent, file->view.disp, from, from + 1, &run,
                          1);
    range.first = run.at;
    weft_layout_list_runs(filetype->layout, filetype->extent, file->view.disp, to - 1, to, &run, 1);
    range.end = run.at + 1;
    range.bytes = (int64_t)data->bytes;
    double runs = (double)filetype->layout->runs * (double)data->bytes / (double)filetype->size;
    range.runs = !file->view.ascends                 ? 0
                 : file->view.contiguous || runs < 1 ? 1
                 : runs < 1e18                       ? (int64_t)runs
                                                     : INT64_MAX / 4;
    return range;
}

/* Whether windows are faster than a system call for each run. */
static bool interleaves(struct access *access, const struct range *ranges, int n)
{
    double bytes = 0, runs = 0, spans = 0;
    access->low = INT64_MAX;
    access->high = 0;
    for (int i = 0; i < n; i++) {
        if (!ranges[i].bytes)
            continue;
        if (!ranges[i].runs)
            return false;
        access->low = ranges[i].first < access->low ? ranges[i].first : access->low;
        access->high = ranges[i].end > access->high ? ranges[i].end : access->high;
        bytes += (double)ranges[i].bytes;
        runs += (double)ranges[i].runs;
        spans += (double)(ranges[i].end - ranges[i].first);
    }
    double span = (double)access->high - (double)access->low;
    bool tiny = access->write && bytes / runs < SHORT_RUN;
    return runs > n && (spans > span || tiny) && bytes / runs < LONG_RUN && bytes * SPARSE >= span;
}

static bool maps_all(const struct weft_win *win)
{
    for (int rank = 0; rank < win->comm->size; rank++)
        if (!win->targets[rank].base)
            return false;
    return true;
}

/* Makes the memory at the first need. Collective. False: there is none, at any rank. */
static bool has_windows(struct weft_file *file)
{
    size_t bytes =
        WINDOW_BYTES + sizeof(struct control) + (size_t)file->comm->size * sizeof(struct sums);
    struct weft_win_arguments arguments = {
        .flavor = MPI_WIN_FLAVOR_ALLOCATE, .bytes = (MPI_Aint)bytes, .unit = 1};
    if (file->win || file->no_windows)
        return !file->no_windows;
    if (weft_win_make(file->comm, &arguments, &file->win) != MPI_SUCCESS)
        file->win = NULL;
    file->no_windows = !file->win || !maps_all(file->win); /* freed with the file */
    return !file->no_windows;
}

/* ---- Windows of a round: that of a rank, and the offsets of the span in it */

static char *bytes_of(const struct access *access, int rank)
{
    return access->file->win->targets[rank].base;
}

static struct control *control_of(const struct access *access, int rank)
{
    return (struct control *)(bytes_of(access, rank) + WINDOW_BYTES);
}

static int64_t window_begin(const struct access *access, int rank)
{
    return access->at + (int64_t)rank * WINDOW_BYTES;
}

struct clip {
    int64_t low, high; /* high <= low: nothing */
};

static struct clip clip_of(const struct access *access, int rank)
{
    int64_t begin = window_begin(access, rank), end = begin + WINDOW_BYTES;
    return (struct clip){begin > access->low ? begin : access->low,
                         end < access->high ? end : access->high};
}

/* This rank's positions in [low, high) of the file. */
struct positions {
    size_t from, to;
};

static struct positions positions_in(const struct access *access, int64_t low, int64_t high)
{
    const struct weft_file_view *view = &access->file->view;
    struct positions p = {access->from, access->from};
    if (!access->data || high <= low || access->to == access->from)
        return p;
    p.from = weft_layout_position(layout_of(access), view->filetype->extent, low - view->disp);
    p.to = weft_layout_position(layout_of(access), view->filetype->extent, high - view->disp);
    p.from = p.from > access->from ? p.from : access->from;
    p.to = p.to < access->to ? p.to : access->to;
    return p;
}

/* Copies [from, to) between the buffer and a window, with the layouts of the buffer and the view.
 */
static void copy(const struct access *access, int rank, struct positions p)
{
    const struct weft_file_view *view = &access->file->view;
    const struct weft_file_data *data = access->data;
    void *origin = (void *)((uintptr_t)bytes_of(access, rank) -
                            (uintptr_t)(window_begin(access, rank) - view->disp));
    while (p.from < p.to) {
        size_t n = p.to - p.from, done = p.from - access->from;
        char *memory = access->memory ? access->memory + done : access->piece;
        n = access->piece && n > PIECE_BYTES ? PIECE_BYTES : n;
        if (access->write && access->piece)
            weft_datatype_pack(data->type, data->buffer, done, access->piece, n);
        weft_layout_copy(access->write ? WEFT_UNPACK : WEFT_PACK, layout_of(access),
                         view->filetype->extent, origin, p.from, p.from + n, memory);
        if (!access->write && access->piece)
            weft_datatype_unpack(data->type, data->buffer, done, access->piece, n);
        p.from += n;
    }
}

/* ---- Writing */

static uint64_t hash_of(uint64_t offset)
{
    offset = (offset + 1) * 0x9e3779b97f4a7c15;
    offset = (offset ^ offset >> 30) * 0xbf58476d1ce4e5b9;
    offset = (offset ^ offset >> 27) * 0x94d049bb133111eb;
    return offset ^ offset >> 31;
}

static void add_run(struct sums *sums, int64_t at, int64_t n)
{
    sums->bytes += (uint64_t)n;
    sums->hash += hash_of((uint64_t)(at + n)) - hash_of((uint64_t)at);
    sums->first = !sums->runs || at < sums->first ? at : sums->first;
    sums->end = at + n > sums->end ? at + n : sums->end;
    sums->runs++;
}

static struct sums sums_of(const struct access *access, int rank, struct positions p)
{
    const struct weft_file_view *view = &access->file->view;
    int64_t base = view->disp - window_begin(access, rank);
    struct sums sums = {0};
    struct weft_run runs[RUNS];
    while (p.from < p.to) {
        size_t n = weft_layout_list_runs(layout_of(access), view->filetype->extent, base, p.from,
                                         p.to, runs, RUNS);
        for (size_t i = 0; i < n; i++) {
            weft_assert(runs[i].at >= 0 && runs[i].at + (int64_t)runs[i].bytes <= WINDOW_BYTES);
            add_run(&sums, runs[i].at, (int64_t)runs[i].bytes);
            p.from += runs[i].bytes;
        }
    }
    return sums;
}

/* The data of all ranks in this rank's window. */
static struct sums sums_of_all(const struct access *access)
{
    const struct control *control = control_of(access, access->file->comm->rank);
    struct sums all = {.first = WINDOW_BYTES};
    for (int i = 0; i < access->file->comm->size; i++) {
        const struct sums *sums = &control->sums[i];
        all.bytes += sums->bytes;
        all.hash += sums->hash;
        all.runs += sums->runs;
        all.first = sums->runs && sums->first < all.first ? sums->first : all.first;
        all.end = sums->end > all.end ? sums->end : all.end;
    }
    return all;
}

static enum method method_of(const struct access *access, const struct sums *all)
{
    struct sums full = {0};
    if (!all->bytes)
        return AT_ONCE;
    add_run(&full, all->first, all->end - all->first);
    if (all->bytes == full.bytes && all->hash == full.hash)
        return AT_ONCE;
    bool few = all->bytes / all->runs >= SHORT_RUN || all->bytes * SPARSE < full.bytes;
    return few || access->file->unreadable ? SEPARATELY : MERGED;
}

/* Reads or writes the bytes of this rank's window from the first to the last that was given. */
static void move_window(const struct access *access, bool write, const struct sums *all, int *code)
{
    const struct weft_file *file = access->file;
    char *bytes = bytes_of(access, file->comm->rank) + all->first;
    size_t length = (size_t)(all->end - all->first), moved = 0;
    if (!all->bytes || *code != MPI_SUCCESS)
        return;
    *code = weft_file_transfer(file->name, file->fd, write,
                               window_begin(access, file->comm->rank) + all->first, bytes, length,
                               &moved);
    if (!write) /* bytes of holes behind the end of the file are 0 */
        memset(bytes + moved, 0, length - moved);
}

/* Scatters this rank's data into the windows that are written by this method; SEPARATELY: writes
 * them. *any: there are some. */
static int put(struct access *access, enum method method, bool *any)
{
    size_t moved;
    *any = false;
    for (int rank = 0; rank < access->file->comm->size; rank++) {
        struct clip clip = clip_of(access, rank);
        struct positions p = positions_in(access, clip.low, clip.high);
        if (control_of(access, rank)->method != method)
            continue;
        *any = true;
        if (method == MERGED)
            copy(access, rank, p);
        else if (p.from < p.to) {
            int code = weft_file_move(access->file, true, access->data, p.from - access->from,
                                      p.to - access->from, &moved);
            if (code != MPI_SUCCESS)
                return code;
        }
    }
    return MPI_SUCCESS;
}

static int write_round(struct access *access, int *code)
{
    struct weft_file *file = access->file;
    bool any;
    for (int i = 0; i < file->comm->size; i++) { /* begins at its own window */
        int rank = (file->comm->rank + i) % file->comm->size;
        struct clip clip = clip_of(access, rank);
        struct positions p = positions_in(access, clip.low, clip.high);
        copy(access, rank, p);
        control_of(access, rank)->sums[file->comm->rank] = sums_of(access, rank, p);
    }
    int failed = weft_coll_barrier(file->comm);
    if (failed != MPI_SUCCESS)
        return failed;
    struct sums all = sums_of_all(access);
    enum method method = method_of(access, &all);
    control_of(access, file->comm->rank)->method = method;
    if (method != SEPARATELY)
        move_window(access, method == AT_ONCE, &all, code);
    failed = weft_coll_barrier(file->comm);
    if (failed == MPI_SUCCESS && *code == MPI_SUCCESS)
        *code = put(access, SEPARATELY, &any);
    if (failed == MPI_SUCCESS && put(access, MERGED, &any) == MPI_SUCCESS && any) {
        failed = weft_coll_barrier(file->comm);
        if (failed == MPI_SUCCESS && method == MERGED)
            move_window(access, true, &all, code);
        if (failed == MPI_SUCCESS)
            failed = weft_coll_barrier(file->comm);
    }
    return failed;
}

/* ---- Reading */

static int read_round(struct access *access, int *code)
{
    struct weft_file *file = access->file;
    struct clip mine = clip_of(access, file->comm->rank);
    size_t got = 0;
    if (mine.high > mine.low && *code == MPI_SUCCESS)
        *code = weft_file_transfer(file->name, file->fd, false, mine.low,
                                   bytes_of(access, file->comm->rank) +
                                       (mine.low - window_begin(access, file->comm->rank)),
                                   (size_t)(mine.high - mine.low), &got);
    control_of(access, file->comm->rank)->got = got;
    int failed = weft_coll_barrier(file->comm);
    if (failed != MPI_SUCCESS)
        return failed;
    for (int rank = 0; rank < file->comm->size && !access->ended; rank++) {
        struct clip clip = clip_of(access, rank);
        int64_t end = clip.low + (int64_t)control_of(access, rank)->got;
        struct positions p = positions_in(access, clip.low, end < clip.high ? end : clip.high);
        copy(access, rank, p);
        access->moved += p.to > p.from ? p.to - p.from : 0;
        access->ended = clip.high > clip.low && end < clip.high;
    }
    return weft_coll_barrier(file->comm);
}

/* ---- The access */

static int run_rounds(struct access *access, int *code)
{
    int64_t each = (int64_t)access->file->comm->size * WINDOW_BYTES;
    int failed = MPI_SUCCESS;
    access->at = access->low / WINDOW_BYTES * WINDOW_BYTES;
    for (; access->at < access->high && failed == MPI_SUCCESS; access->at += each)
        failed = access->write ? write_round(access, code) : read_round(access, code);
    if (access->write && *code == MPI_SUCCESS)
        access->moved = access->to - access->from;
    return failed;
}

/* *used: the ranks have chosen windows. Returns an error of the communication. */
static int try_windows(struct access *access, bool *used, int *code)
{
    struct weft_comm *comm = access->file->comm;
    const struct weft_file_data *data = access->data;
    struct range mine = range_of(access->file, data), *ranges;
    ranges = malloc((size_t)comm->size * sizeof *ranges);
    if (!ranges)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the ranges of %d ranks", comm->size);
    int failed = weft_coll_allgather(comm, weft_elements_of_bytes(&mine, sizeof mine),
                                     weft_elements_of_bytes(ranges, sizeof mine));
    *used = failed == MPI_SUCCESS && interleaves(access, ranges, comm->size) &&
            has_windows(access->file);
    free(ranges);
    if (!*used)
        return failed;
    if (mine.bytes) {
        access->from = (size_t)data->offset * access->file->view.etype->size;
        access->to = access->from + data->bytes;
        access->memory = weft_datatype_run(data->type, data->buffer, data->bytes);
        if (!access->memory && !(access->piece = malloc(PIECE_BYTES)))
            weft_fatal(MPI_ERR_NO_MEM, "no memory for a buffer of %d bytes", PIECE_BYTES);
    }
    failed = run_rounds(access, code);
    free(access->piece);
    return failed;
}

int weft_file_move_all(struct weft_file *file, bool write, int code,
                       const struct weft_file_data *data, size_t *moved)
{
    struct access access = {
        .file = file, .write = write, .data = code == MPI_SUCCESS ? data : NULL};
    bool used = false;
    int failed = MPI_SUCCESS;
    *moved = 0;
    if (file->comm->size > 1 && file->strided && !file->atomic)
        failed = try_windows(&access, &used, &code);
    if (failed != MPI_SUCCESS)
        return failed;
    if (used)
        *moved = access.moved;
    else if (code == MPI_SUCCESS)
        code = weft_file_move(file, write, data, 0, data->bytes, moved);
    return weft_file_agree(file, code);
}
