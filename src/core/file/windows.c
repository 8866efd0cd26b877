// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective access by windows in shared memory, for ranks whose data interleave.
 *
 * Each rank has memory for two windows of the file, which all ranks of its node map. In a round,
 * each rank scatters its data into one window of each rank, and then writes its own by one system
 * call; or reads its own, and then gathers its data from all. No offsets are exchanged. The next
 * round uses the other windows, so one barrier a round is enough. Between nodes the lowest rank of
 * each owns windows, and data to and from other nodes are exchanged by messages (exchange.c).
 *
 * Invariants:
 *  - The path and the number of rounds follow from gathered values, so they are the same at all
 *    ranks. Rounds go on after an error, so that no rank waits for ever.
 *  - A window is written at once if each byte of a range was given once (blocks.c).
 *  - Else its rank reads the file into the window, and all ranks scatter their data again. With few
 *    or long runs, or if the file is open another time (exclude.c), each rank writes its own data.
 *    Both happen after the barrier of the next round, when all ranks see the method of the window.
 *  - From the gathering of the ranges to the agreement at the end no other thread writes to this
 *    open file, at any rank (`in_collective`).
 *  - Between two barriers a word or byte of a window has one writer.
 *  - A rank uses a window again after two more barriers: that of the round, and that of the next,
 *    which the window's rank enters after it has written, and all others after they have read.
 */
#include "core/coll/coll.h"
#include "core/datatype/copy.h"
#include "core/datatype/position.h"
#include "core/file/system.h"
#include "core/file/windows_internal.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/info.h"
#include "core/message/count.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALL_WINDOW = 256 << 10, /* larger ones cost page faults at the first use */
    LARGE_WINDOW = 1 << 20,   /* if there are many rounds: a barrier is dear on busy cores */
    MANY_ROUNDS = 16,
    PAGE = 4096,
    PIECE_BYTES = 256 << 10
};

/* The access of a rank, gathered by all. */
struct range {
    int64_t first, end; /* offsets in the file */
    int64_t bytes;      /* 0: none, also after an error */
    int64_t runs;       /* about; -1: no rank uses windows */
};

enum method { AT_ONCE, MERGED, SEPARATELY };

/* The state of a window, behind the bytes of all windows of its rank. */
struct control {
    uint64_t got;                 /* reads: bytes before the end of the file */
    uint64_t method;              /* writes: enum method */
    struct weft_file_sums sums[]; /* by rank */
};

static const struct weft_layout *layout_of(const struct weft_file_access *access)
{
    return access->file->view.filetype->layout;
}

/* ---- The choice of the path */

/* By the hints of ROMIO. */
static bool may_use_windows(const struct weft_file *file, bool write)
{
    const char *hint = weft_info_get(file->info, write ? "romio_cb_write" : "romio_cb_read");
    return !hint || strcmp(hint, "disable") != 0;
}

static struct range range_of(const struct weft_file *file, bool write,
                             const struct weft_file_data *data)
{
    const struct weft_datatype *filetype = file->view.filetype;
    struct range range = {.runs = may_use_windows(file, write) ? 0 : -1};
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
    range.runs = !weft_file_ascends(&file->view, to) || range.runs ? -1
                 : file->view.contiguous || runs < 1               ? 1
                 : runs < 1e18                                     ? (int64_t)runs
                                                                   : INT64_MAX / 4;
    return range;
}

/* True if windows are faster than a system call for each run. */
static bool interleaves(struct weft_file_access *access, const struct range *ranges, int n)
{
    double bytes = 0, runs = 0, spans = 0;
    access->low = INT64_MAX;
    access->high = 0;
    for (int i = 0; i < n; i++) {
        if (ranges[i].runs < 0)
            return false;
        if (!ranges[i].bytes)
            continue;
        access->low = ranges[i].first < access->low ? ranges[i].first : access->low;
        access->high = ranges[i].end > access->high ? ranges[i].end : access->high;
        bytes += (double)ranges[i].bytes;
        runs += (double)ranges[i].runs;
        spans += (double)(ranges[i].end - ranges[i].first);
    }
    const struct weft_file_system *system = access->file->system;
    double span = (double)access->high - (double)access->low;
    if (access->write && bytes < span && !access->file->merges)
        return false; /* each rank would write its runs itself */
    bool tiny = access->write && bytes / runs <= (double)system->short_run;
    /* short blocks of ranks side by side: one call instead of one of each rank */
    bool joined = tiny && runs > 1 && bytes == span && system->network;
    return (joined || (runs > n && (spans > span || tiny))) &&
           bytes / runs < (double)system->long_run &&
           (span - bytes) / runs <= (double)system->short_hole / 2;
}

bool weft_file_maps_all(const struct weft_win *win)
{
    for (int rank = 0; rank < win->comm->size; rank++)
        if (!win->targets[rank].base)
            return false;
    return true;
}

static size_t control_bytes(const struct weft_file *file)
{
    return sizeof(struct control) + (size_t)file->comm->size * sizeof(struct weft_file_sums);
}

/* Windows go round the owners as stripes go round the servers of the file. If one number is a
 * multiple of the other, each server is written by the fewest owners, so fewer owners may be
 * faster; not less than half of them. */
static void keep_owners(struct weft_file *file)
{
    int n = file->nowners, count = file->stripes.count < n ? (int)file->stripes.count : n;
    if (count < 1 || file->stripes.count % n == 0)
        return;
    if (count < n)
        n -= n % count;
    else
        while (n > file->nowners / 2 && file->stripes.count % n)
            n--;
    if (file->stripes.count % n && n % count)
        return;
    file->nowners = n;
    file->own = file->own < n ? file->own : -1;
}

/* The hint cb_nodes. */
static void limit_owners(struct weft_file *file)
{
    if (file->writers < 1 || file->writers >= file->nowners)
        return;
    file->nowners = (int)file->writers;
    file->own = file->own < file->nowners ? file->own : -1;
}

/* On one node all ranks own windows, else the lowest of each node. */
static int find_owners(struct weft_file *file)
{
    int n = file->comm->size, lowest = 0;
    int *owners = file->owners ? file->owners : malloc((size_t)n * sizeof *owners);
    if (!owners)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the windows of %d ranks", n);
    file->owners = owners;
    while (!file->win->targets[lowest].base)
        lowest++;
    int failed = weft_coll_allgather(file->comm, weft_elements_of_bytes(&lowest, sizeof lowest),
                                     weft_elements_of_bytes(owners, sizeof lowest));
    bool on_node = weft_file_maps_all(file->win);
    file->nowners = 0;
    file->own = -1;
    for (int rank = 0; rank < n; rank++) {
        if (!on_node && owners[rank] != rank)
            continue;
        if (rank == file->comm->rank)
            file->own = file->nowners;
        owners[file->nowners++] = rank;
    }
    limit_owners(file);
    if (!on_node)
        keep_owners(file);
    return failed;
}

/* Windows are aligned to their size. So no stripe or block of the file system is in two of them,
 * and no page of a network file system is written by two nodes. */
static int64_t window_bytes(const struct weft_file *file, int64_t span)
{
    int64_t unit = file->stripes.unit, rounds = span / ((int64_t)SMALL_WINDOW * file->comm->size);
    int64_t window = rounds < MANY_ROUNDS && !file->system->network ? SMALL_WINDOW : LARGE_WINDOW;
    int64_t most = file->buffer_bytes / WEFT_FILE_WINDOWS / PAGE * PAGE;
    most = most < PAGE ? PAGE : most < WEFT_FILE_WINDOW_MOST ? most : WEFT_FILE_WINDOW_MOST;
    if (unit > most) /* a divisor, if both are powers of 2 */
        return most;
    if (unit > 1)
        window = (window + unit - 1) / unit * unit;
    return window <= most ? window : unit > 1 ? most / unit * unit : most;
}

/* Makes the memory at the first need, and larger memory at the first access with many rounds.
 * Collective. False: there is none, at any rank. */
static bool has_windows(struct weft_file_access *access)
{
    struct weft_file *file = access->file;
    access->window = window_bytes(file, access->high - access->low);
    struct weft_win_arguments arguments = {
        .flavor = MPI_WIN_FLAVOR_ALLOCATE,
        .bytes = WEFT_FILE_WINDOWS * (access->window + (MPI_Aint)control_bytes(file)),
        .unit = 1};
    if (file->no_windows)
        return false;
    if (file->win && file->win->bytes >= arguments.bytes)
        return true;
    if (file->win) /* all ranks have ended the last access: the ranges were gathered since */
        weft_win_free(file->win);
    if (weft_win_make(file->comm, &arguments, &file->win) != MPI_SUCCESS)
        file->win = NULL;
    file->no_windows = !file->win || find_owners(file) != MPI_SUCCESS;
    return !file->no_windows;
}

/* ---- Windows of a round: that of a rank, and the offsets of the span in it */

static struct control *control_of(const struct weft_file_access *access,
                                  struct weft_file_round round, int rank)
{
    char *controls = access->file->win->targets[rank].base + WEFT_FILE_WINDOWS * access->window;
    size_t index = (size_t)(round.number % WEFT_FILE_WINDOWS);
    return (struct control *)(controls + index * control_bytes(access->file));
}

static struct weft_file_round next_round(const struct weft_file_access *access,
                                         struct weft_file_round round)
{
    return (struct weft_file_round){round.at + access->file->nowners * access->window,
                                    round.number + 1};
}

struct clip {
    int64_t low, high; /* high <= low: nothing */
};

static struct clip clip_of(const struct weft_file_access *access, struct weft_file_round round,
                           int index)
{
    int64_t begin = weft_file_window_begin(access, round, index), end = begin + access->window;
    return (struct clip){begin > access->low ? begin : access->low,
                         end < access->high ? end : access->high};
}

/* This rank's positions in [low, high) of the file. */
static struct weft_file_positions positions_in(const struct weft_file_access *access, int64_t low,
                                               int64_t high)
{
    const struct weft_file_view *view = &access->file->view;
    struct weft_file_positions p = {access->from, access->from};
    if (!access->data || high <= low || access->to == access->from)
        return p;
    p.from = weft_layout_position(layout_of(access), view->repeat, low - view->disp);
    p.to = weft_layout_position(layout_of(access), view->repeat, high - view->disp);
    p.from = p.from > access->from ? p.from : access->from;
    p.to = p.to < access->to ? p.to : access->to;
    return p;
}

struct weft_file_positions weft_file_positions_in(const struct weft_file_access *access,
                                                  struct weft_file_round round, int index)
{
    struct clip clip = clip_of(access, round, index);
    return positions_in(access, clip.low, clip.high);
}

/* Copies [from, to) between the buffer and a window, with the layouts of the buffer and the view.
 */
static void copy(const struct weft_file_access *access, struct weft_file_round round, int index,
                 struct weft_file_positions p)
{
    const struct weft_file_view *view = &access->file->view;
    const struct weft_file_data *data = access->data;
    void *origin = (void *)((uintptr_t)weft_file_window(access, round, index) -
                            (uintptr_t)(weft_file_window_begin(access, round, index) - view->disp));
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

static struct weft_file_sums sums_of(const struct weft_file_access *access,
                                     struct weft_file_round round, int index,
                                     struct weft_file_positions p)
{
    struct weft_file_sums sums = {0};
    struct weft_file_blocks blocks;
    struct weft_file_block block;
    weft_file_begin_blocks(&blocks, access, round, index, p);
    while (weft_file_next_block(&blocks, &block))
        weft_file_add_block(&sums, block);
    return sums;
}

struct weft_file_sums *weft_file_sums_for(const struct weft_file_access *access,
                                          struct weft_file_round round, int rank)
{
    return &control_of(access, round, access->file->comm->rank)->sums[rank];
}

/* The data of all ranks in this rank's window. */
static struct weft_file_sums sums_of_all(const struct weft_file_access *access,
                                         struct weft_file_round round)
{
    const struct control *control = control_of(access, round, access->file->comm->rank);
    struct weft_file_sums all = {.first = access->window};
    for (int i = 0; i < access->file->comm->size; i++) {
        const struct weft_file_sums *sums = &control->sums[i];
        all.bytes += sums->bytes;
        all.hash = weft_file_add_hash(all.hash, sums->hash);
        all.runs += sums->runs;
        all.first = sums->runs && sums->first < all.first ? sums->first : all.first;
        all.end = sums->end > all.end ? sums->end : all.end;
    }
    return all;
}

/* Excludes other opens of the file until the end of the access. */
static bool excludes_others(struct weft_file_access *access)
{
    if (access->others == UNTRIED)
        access->others = weft_file_may_merge(access->file) && weft_file_begin_merge(access->file)
                             ? EXCLUDED
                             : REFUSED;
    return access->others == EXCLUDED;
}

static enum method method_of(struct weft_file_access *access, const struct weft_file_sums *all)
{
    struct weft_file_sums full = {0};
    if (!all->bytes)
        return AT_ONCE;
    weft_file_add_block(&full, (struct weft_file_block){.at = all->first,
                                                        .bytes = (uint64_t)(all->end - all->first),
                                                        .count = 1});
    if (all->bytes == full.bytes && all->hash == full.hash)
        return AT_ONCE;
    uint64_t holes = full.bytes > all->bytes ? full.bytes - all->bytes : 0;
    const struct weft_file_system *system = access->file->system;
    bool few =
        all->bytes / all->runs > system->short_run || holes / all->runs > system->short_hole / 2;
    return few || !excludes_others(access) ? SEPARATELY : MERGED;
}

/* Reads or writes the bytes of this rank's window from the first to the last that was given. */
static void move_window(const struct weft_file_access *access, struct weft_file_round round,
                        bool write, const struct weft_file_sums *all, int *code)
{
    const struct weft_file *file = access->file;
    char *bytes = weft_file_window(access, round, file->own) + all->first;
    size_t length = (size_t)(all->end - all->first), moved = 0;
    if (!all->bytes || *code != MPI_SUCCESS)
        return;
    *code = weft_file_transfer(file->name, file->fd, write,
                               weft_file_window_begin(access, round, file->own) + all->first, bytes,
                               length, &moved);
    if (!write) /* bytes of holes behind the end of the file are 0 */
        memset(bytes + moved, 0, length - moved);
}

/* Scatters this rank's data into the windows that it has mapped. */
static void scatter(const struct weft_file_access *access, struct weft_file_round round)
{
    const struct weft_file *file = access->file;
    int rank = file->comm->rank, first = file->own < 0 ? 0 : file->own;
    weft_count_add(&weft_counts.file_rounds, 1);
    for (int i = 0; i < file->nowners; i++) { /* begins at its own window */
        int index = (first + i) % file->nowners, owner = file->owners[index];
        if (!weft_file_maps(access, owner))
            continue;
        struct weft_file_positions p = weft_file_positions_in(access, round, index);
        copy(access, round, index, p);
        control_of(access, round, owner)->sums[rank] = sums_of(access, round, index, p);
    }
}

/* Writes this rank's window, or reads it if the data leave holes. */
static void use_window(struct weft_file_access *access, struct weft_file_round round, int *code)
{
    struct control *control = control_of(access, round, access->file->comm->rank);
    if (access->file->own < 0)
        return;
    struct weft_file_sums all = sums_of_all(access, round);
    enum method method = method_of(access, &all);
    control->method = method;
    if (method == MERGED)
        weft_count_add(&weft_counts.file_merged, 1);
    if (method != SEPARATELY)
        move_window(access, round, method == AT_ONCE, &all, code);
}

/* Waits for all ranks. Between nodes it also gathers the methods of the windows of the round
 * before; on one node they are in the control blocks. */
static int synchronize(const struct weft_file_access *access, struct weft_file_round before)
{
    const struct weft_file *file = access->file;
    if (!access->exchange)
        return weft_coll_barrier(file->comm);
    uint64_t method = control_of(access, before, file->comm->rank)->method;
    return weft_coll_allgather(file->comm, weft_elements_of_bytes(&method, sizeof method),
                               weft_elements_of_bytes(access->methods, sizeof method));
}

static enum method method_at(const struct weft_file_access *access, struct weft_file_round round,
                             int index)
{
    int owner = access->file->owners[index];
    return (enum method)(access->methods ? access->methods[owner]
                                         : control_of(access, round, owner)->method);
}

/* This rank's data in windows of this method: MERGED scatters them again, SEPARATELY writes them.
 * The owner of a window does that for ranks of other nodes. *any: there are such windows. */
static int put(struct weft_file_access *access, struct weft_file_round round, enum method method,
               bool *any)
{
    const struct weft_file *file = access->file;
    int code = MPI_SUCCESS;
    *any = false;
    for (int index = 0; index < file->nowners && code == MPI_SUCCESS; index++) {
        if (method_at(access, round, index) != method)
            continue;
        *any = true;
        struct weft_file_positions p = weft_file_positions_in(access, round, index);
        if (!weft_file_maps(access, file->owners[index]) || p.from >= p.to)
            continue;
        if (method == MERGED)
            copy(access, round, index, p);
        else
            code = weft_file_write_runs(access->file, access->data, p.from - access->from,
                                        p.to - access->from);
    }
    if (access->exchange && file->own >= 0 && method_at(access, round, file->own) == method)
        weft_file_put_again(access, round, method == SEPARATELY, &code);
    return code;
}

/* After all ranks have used their windows: writes what windows with holes leave to do. */
static int finish_round(struct weft_file_access *access, struct weft_file_round round, int *code)
{
    const struct weft_file *file = access->file;
    bool any;
    if (*code == MPI_SUCCESS)
        *code = put(access, round, SEPARATELY, &any);
    put(access, round, MERGED, &any);
    if (!any)
        return MPI_SUCCESS;
    int failed = weft_coll_barrier(file->comm);
    if (failed == MPI_SUCCESS && file->own >= 0 && method_at(access, round, file->own) == MERGED) {
        struct weft_file_sums all = sums_of_all(access, round);
        move_window(access, round, true, &all, code);
    }
    return failed == MPI_SUCCESS ? weft_coll_barrier(file->comm) : failed;
}

static int write_rounds(struct weft_file_access *access, struct weft_file_round round, int *code)
{
    struct weft_file_round before = round;
    int failed = MPI_SUCCESS;
    for (bool more = true; more && failed == MPI_SUCCESS; round = next_round(access, round)) {
        more = round.at < access->high;
        if (more)
            scatter(access, round);
        if (more && access->exchange)
            failed = weft_file_send_data(access, round, code);
        if (failed == MPI_SUCCESS)
            failed = synchronize(access, before);
        if (failed == MPI_SUCCESS && before.number < round.number)
            failed = finish_round(access, before, code);
        if (failed == MPI_SUCCESS && more)
            use_window(access, round, code);
        before = round;
    }
    if (access->others == EXCLUDED)
        weft_file_end_merge(access->file);
    if (*code == MPI_SUCCESS)
        access->moved = access->to - access->from;
    return failed;
}

/* ---- Reading */

static uint64_t read_window(const struct weft_file_access *access, struct weft_file_round round,
                            int *code)
{
    const struct weft_file *file = access->file;
    size_t got = 0;
    weft_count_add(&weft_counts.file_rounds, 1);
    if (file->own < 0)
        return 0;
    struct clip mine = clip_of(access, round, file->own);
    int64_t begin = weft_file_window_begin(access, round, file->own);
    char *bytes = weft_file_window(access, round, file->own) + (mine.low - begin);
    if (mine.high > mine.low && *code == MPI_SUCCESS)
        *code = weft_file_transfer(file->name, file->fd, false, mine.low, bytes,
                                   (size_t)(mine.high - mine.low), &got);
    control_of(access, round, file->comm->rank)->got = got;
    return got;
}

/* Takes [from, to) from the data that another node has sent. */
static void take(const struct weft_file_access *access, const char *packed,
                 struct weft_file_positions p)
{
    size_t done = p.from - access->from, n = p.to > p.from ? p.to - p.from : 0;
    if (access->memory)
        memcpy(access->memory + done, packed, n);
    else
        weft_datatype_unpack(access->data->type, access->data->buffer, done, packed, n);
}

/* Copies this rank's data from all windows. */
static void gather(struct weft_file_access *access, struct weft_file_round round)
{
    for (int index = 0; index < access->file->nowners && !access->ended; index++) {
        int owner = access->file->owners[index];
        struct clip clip = clip_of(access, round, index);
        struct weft_file_positions p = positions_in(access, clip.low, clip.high);
        const char *packed = NULL;
        uint64_t got = 0;
        if (p.from >= p.to)
            continue;
        if (weft_file_maps(access, owner))
            got = control_of(access, round, owner)->got;
        else
            packed = weft_file_fetched(access, index, &got);
        if (got < (uint64_t)(clip.high - clip.low)) {
            access->ended = true;
            p = positions_in(access, clip.low, clip.low + (int64_t)got);
        }
        if (packed && p.from < p.to)
            take(access, packed, p);
        else
            copy(access, round, index, p);
        access->moved += p.to > p.from ? p.to - p.from : 0;
    }
}

static int read_rounds(struct weft_file_access *access, struct weft_file_round round, int *code)
{
    int failed = MPI_SUCCESS;
    for (; round.at < access->high && failed == MPI_SUCCESS; round = next_round(access, round)) {
        uint64_t got = read_window(access, round, code);
        if (access->exchange)
            failed = weft_file_fetch_data(access, round, got, code);
        if (failed == MPI_SUCCESS)
            failed = weft_coll_barrier(access->file->comm);
        if (failed == MPI_SUCCESS)
            gather(access, round);
    }
    return failed;
}

/* ---- The access */

static void begin_exchange(struct weft_file_access *access)
{
    weft_file_exchange_begin(access);
    access->methods = calloc((size_t)access->file->comm->size, sizeof *access->methods);
    if (!access->methods)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for windows of %d ranks", access->file->comm->size);
    /* of ranks that own no window, too */
    for (int i = 0; i < WEFT_FILE_WINDOWS; i++)
        control_of(access, (struct weft_file_round){0, i}, access->file->comm->rank)->method =
            AT_ONCE;
}

/* *used: the ranks have chosen windows. Returns an error of the communication. */
static int try_windows(struct weft_file_access *access, bool *used, int *code)
{
    struct weft_comm *comm = access->file->comm;
    const struct weft_file_data *data = access->data;
    struct range mine = range_of(access->file, access->write, data), *ranges;
    ranges = malloc((size_t)comm->size * sizeof *ranges);
    if (!ranges)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the ranges of %d ranks", comm->size);
    int failed = weft_coll_allgather(comm, weft_elements_of_bytes(&mine, sizeof mine),
                                     weft_elements_of_bytes(ranges, sizeof mine));
    *used = failed == MPI_SUCCESS && interleaves(access, ranges, comm->size) && has_windows(access);
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
    if (!weft_file_maps_all(access->file->win))
        begin_exchange(access);
    access->file->in_collective = access->write;
    struct weft_file_round first = {.at = access->low / access->window * access->window};
    failed = access->write ? write_rounds(access, first, code) : read_rounds(access, first, code);
    weft_file_exchange_end(access);
    free(access->piece);
    free(access->methods);
    return failed;
}

/* A pipe gets the data of all ranks in the order of ranks. */
static int move_in_turn(struct weft_file *file, bool write, int *code,
                        const struct weft_file_data *data, size_t *moved)
{
    int failed = MPI_SUCCESS;
    for (int rank = 0; rank < file->comm->size && failed == MPI_SUCCESS; rank++) {
        if (rank == file->comm->rank && *code == MPI_SUCCESS)
            *code = weft_file_move(file, write, data, 0, data->bytes, moved);
        failed = weft_coll_barrier(file->comm);
    }
    return failed;
}

int weft_file_move_all(struct weft_file *file, bool write, int code,
                       const struct weft_file_data *data, size_t *moved)
{
    struct weft_file_access access = {
        .file = file, .write = write, .data = code == MPI_SUCCESS ? data : NULL};
    bool used = false;
    int failed = MPI_SUCCESS;
    *moved = 0;
    weft_file_finish_moves(file); /* accesses of a rank are in the order of their calls */
    bool may_join = !file->stream && (file->strided || (write && file->system->network));
    if (file->comm->size > 1 && may_join && !file->atomic)
        failed = try_windows(&access, &used, &code);
    if (file->stream)
        failed = move_in_turn(file, write, &code, data, moved);
    else if (failed == MPI_SUCCESS && used)
        *moved = access.moved;
    else if (failed == MPI_SUCCESS && code == MPI_SUCCESS)
        code = weft_file_move(file, write, data, 0, data->bytes, moved);
    if (failed == MPI_SUCCESS)
        code = weft_file_agree(file, code);
    file->in_collective = false;
    if (failed != MPI_SUCCESS)
        return failed;
    if (code != MPI_SUCCESS && used && write)
        *moved = 0; /* other ranks wrote this rank's data */
    return code;
}
