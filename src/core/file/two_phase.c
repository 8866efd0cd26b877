// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collective access by domains in shared memory, for ranks whose data interleave.
 *
 * Each rank has memory for two domains of the file, which all ranks of its node map. In a round,
 * each rank scatters its data into one domain of each rank, and then writes its own by one system
 * call; or reads its own, and then gathers its data from all. No offsets are exchanged. The next
 * round uses the other domains, so one barrier a round is enough. Between nodes the lowest rank of
 * each owns domains, and data to and from other nodes are exchanged by messages (exchange.c).
 *
 * The rounds are steps of a schedule: each phase of a round is a call that moves data, and adds the
 * messages and the next call.
 *
 * Invariants:
 *  - The number of rounds follows from gathered values, so it is the same at all ranks. Rounds go
 *    on after an error, so that no rank waits for ever.
 *  - A domain is written at once if each byte of a range was given once (blocks.c).
 *  - Else its rank reads the file into the domain, and all ranks scatter their data again. With few
 *    or long runs, if the file is open another time (exclude.c), or in a nonblocking access, each
 *    rank writes its own data.
 *    Both happen after the barrier of the next round, when all ranks see the method of the domain.
 *  - From the first barrier to the agreement at the end no other access writes bytes of holes back
 *    to this open file, at any rank (`in_rounds`). While a blocking access is in its rounds, no
 *    other access writes to it at all (`may_be_merging`). Other writes do not wait for a
 * nonblocking one, whose next round may begin after other ranks have computed for long.
 *  - The accesses of a file use its domains one after the other, in the order of their calls, which
 *    is the same at all ranks.
 *  - Between two barriers a word or byte of a domain has one writer.
 *  - A rank uses a domain again after two more barriers: that of the round, and that of the next,
 *    which the domain's rank enters after it has written, and all others after they have read.
 */
#include "core/coll/coll.h"
#include "core/datatype/copy.h"
#include "core/datatype/position.h"
#include "core/file/system.h"
#include "core/file/two_phase_internal.h"
#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/message/count.h"

#include <stdlib.h>
#include <string.h>

enum { BOUNCE_BYTES = 256 << 10 };

enum method { AT_ONCE, MERGED, SEPARATELY };

static const struct weft_layout *layout_of(const struct weft_file_access *access)
{
    return access->file->view.filetype->layout;
}

/* ---- Domains of a round: that of a rank, and the offsets of the span in it */

static struct weft_file_control *control_of(const struct weft_file_access *access,
                                            struct weft_file_round round, int rank)
{
    char *controls = access->file->win->targets[rank].base + WEFT_FILE_DOMAINS * access->domain;
    size_t index = (size_t)(round.number % WEFT_FILE_DOMAINS);
    return (struct weft_file_control *)(controls + index * weft_file_control_bytes(access->file));
}

static struct weft_file_round next_round(const struct weft_file_access *access,
                                         struct weft_file_round round)
{
    return (struct weft_file_round){round.at + access->file->nowners * access->domain,
                                    round.number + 1};
}

struct clip {
    int64_t low, high; /* high <= low: nothing */
};

static struct clip clip_of(const struct weft_file_access *access, struct weft_file_round round,
                           int index)
{
    int64_t begin = weft_file_domain_begin(access, round, index), end = begin + access->domain;
    return (struct clip){begin > access->low ? begin : access->low,
                         end < access->high ? end : access->high};
}

/* This rank's positions in [low, high) of the file. */
static struct weft_file_positions positions_in(const struct weft_file_access *access, int64_t low,
                                               int64_t high)
{
    const struct weft_file_view *view = &access->file->view;
    struct weft_file_positions p = {access->from, access->from};
    if (high <= low || access->to == access->from)
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

/* Copies [from, to) between the buffer and a domain, with the layouts of the buffer and the view.
 */
static void copy(const struct weft_file_access *access, struct weft_file_round round, int index,
                 struct weft_file_positions p)
{
    weft_assert(p.from >= access->from && p.to <= access->to && index < access->file->nowners);
    const struct weft_file_view *view = &access->file->view;
    const struct weft_file_data *data = &access->data;
    void *origin = (void *)((uintptr_t)weft_file_domain(access, round, index) -
                            (uintptr_t)(weft_file_domain_begin(access, round, index) - view->disp));
    while (p.from < p.to) {
        size_t n = p.to - p.from, done = p.from - access->from;
        char *memory = access->memory ? access->memory + done : access->bounce;
        n = access->bounce && n > BOUNCE_BYTES ? BOUNCE_BYTES : n;
        if (access->write && access->bounce)
            weft_datatype_pack(data->type, data->buffer, done, access->bounce, n);
        weft_layout_copy(access->write ? WEFT_UNPACK : WEFT_PACK, layout_of(access),
                         view->filetype->extent, origin, p.from, p.from + n, memory);
        if (!access->write && access->bounce)
            weft_datatype_unpack(data->type, data->buffer, done, access->bounce, n);
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

/* The data of all ranks in this rank's domain. */
static struct weft_file_sums sums_of_all(const struct weft_file_access *access,
                                         struct weft_file_round round)
{
    const struct weft_file_control *control = control_of(access, round, access->file->comm->rank);
    struct weft_file_sums all = {.first = access->domain};
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

/* Excludes other opens of the file until the end of the access, which has excluded the writers of
 * this one. */
static bool excludes_others(struct weft_file_access *access)
{
    if (access->others == UNTRIED)
        access->others = access->blocking && weft_file_may_merge(access->file) &&
                                 weft_file_begin_merge(access->file)
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

/* Reads or writes the bytes of this rank's domain from the first to the last that was given. */
static void move_domain(struct weft_file_access *access, struct weft_file_round round, bool write,
                        const struct weft_file_sums *all)
{
    const struct weft_file *file = access->file;
    char *bytes = weft_file_domain(access, round, file->own) + all->first;
    size_t length = (size_t)(all->end - all->first), moved = 0;
    if (!all->bytes || weft_file_has_failed(access))
        return;
    weft_file_note_error(
        access, weft_file_transfer(file->name, file->fd, write,
                                   weft_file_domain_begin(access, round, file->own) + all->first,
                                   bytes, length, &moved));
    if (!write) /* bytes of holes behind the end of the file are 0 */
        memset(bytes + moved, 0, length - moved);
}

/* Scatters this rank's data into the domains that it has mapped. */
static void scatter(const struct weft_file_access *access, struct weft_file_round round)
{
    const struct weft_file *file = access->file;
    int rank = file->comm->rank, first = file->own < 0 ? 0 : file->own;
    weft_count_add(&weft_counts.file_rounds, 1);
    for (int i = 0; i < file->nowners; i++) { /* begins at its own domain */
        int index = (first + i) % file->nowners, owner = file->owners[index];
        if (!weft_file_maps(access, owner))
            continue;
        struct weft_file_positions p = weft_file_positions_in(access, round, index);
        copy(access, round, index, p);
        control_of(access, round, owner)->sums[rank] = sums_of(access, round, index, p);
    }
}

/* Writes this rank's domain, or reads it if the data leave holes. */
static void use_domain(struct weft_file_access *access, struct weft_file_round round)
{
    struct weft_file_control *control = control_of(access, round, access->file->comm->rank);
    if (access->file->own < 0)
        return;
    struct weft_file_sums all = sums_of_all(access, round);
    enum method method = method_of(access, &all);
    control->method = method;
    if (method == MERGED)
        weft_count_add(&weft_counts.file_merged, 1);
    if (method != SEPARATELY)
        move_domain(access, round, method == AT_ONCE, &all);
}

static enum method method_at(const struct weft_file_access *access, struct weft_file_round round,
                             int index)
{
    int owner = access->file->owners[index];
    return (enum method)(access->methods ? access->methods[owner]
                                         : control_of(access, round, owner)->method);
}

/* This rank's data in domains of this method: MERGED scatters them again, SEPARATELY writes them.
 * The owner of a domain does that for ranks of other nodes. *any: there are such domains. */
static void put(struct weft_file_access *access, struct weft_file_round round, enum method method,
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
            code = weft_file_write_runs(access->file, &access->data, p.from - access->from,
                                        p.to - access->from);
    }
    weft_file_note_error(access, code);
    if (access->exchange && file->own >= 0 && method_at(access, round, file->own) == method)
        weft_file_put_again(access, round, method == SEPARATELY);
}

/* Adds a barrier. */
static enum weft_step_state synchronize(struct weft_file_access *access,
                                        enum weft_step_state (*then)(void *arg))
{
    weft_file_add_collective(access, (struct weft_coll_args){.kind = WEFT_COLL_BARRIER});
    weft_file_then(access, then);
    return WEFT_STEP_DONE;
}

static bool is_behind(const struct weft_file_access *access)
{
    return access->round.at >= access->high;
}

static enum weft_step_state write_round(void *arg);

/* Adds the next round. */
static enum weft_step_state end_write_round(void *arg)
{
    struct weft_file_access *access = arg;
    bool last = is_behind(access);
    if (!last)
        use_domain(access, access->round);
    access->before = access->round;
    access->round = next_round(access, access->round);
    if (!last) {
        weft_file_then(access, write_round);
        return WEFT_STEP_DONE;
    }
    if (!weft_file_has_failed(access))
        access->moved = access->to - access->from;
    return weft_file_add_agreement(access);
}

/* All ranks have scattered into the merged domains again. */
static enum weft_step_state write_merged(void *arg)
{
    struct weft_file_access *access = arg;
    const struct weft_file *file = access->file;
    if (file->own >= 0 && method_at(access, access->before, file->own) == MERGED) {
        struct weft_file_sums all = sums_of_all(access, access->before);
        move_domain(access, access->before, true, &all);
    }
    return synchronize(access, end_write_round);
}

/* All ranks have used their domains of the round before: writes what domains with holes leave to
 * do. */
static enum weft_step_state finish_round(void *arg)
{
    struct weft_file_access *access = arg;
    bool any = false;
    if (access->before.number == access->round.number)
        return end_write_round(access);
    if (!weft_file_has_failed(access))
        put(access, access->before, SEPARATELY, &any);
    put(access, access->before, MERGED, &any);
    return any ? synchronize(access, write_merged) : end_write_round(access);
}

/* Waits for all ranks. Between nodes it also gathers the methods of the domains of the round
 * before; on one node they are in the control blocks. */
static enum weft_step_state end_scatter(void *arg)
{
    struct weft_file_access *access = arg;
    if (!access->exchange)
        return synchronize(access, finish_round);
    uint64_t *method = access->methods + access->file->comm->size;
    *method = control_of(access, access->before, access->file->comm->rank)->method;
    struct weft_blocks block = {.count = sizeof *method, .type = weft_datatype_byte()};
    struct weft_coll_args args = {.kind = WEFT_COLL_ALLGATHER, .in = block, .out = block};
    args.in.at = method;
    args.out.at = access->methods;
    weft_file_add_collective(access, args);
    weft_file_then(access, finish_round);
    return WEFT_STEP_DONE;
}

/* A round behind the last finishes the last. */
static enum weft_step_state write_round(void *arg)
{
    struct weft_file_access *access = arg;
    weft_schedule_restart(access->s);
    if (is_behind(access))
        return end_scatter(access);
    scatter(access, access->round);
    if (!access->exchange)
        return end_scatter(access);
    weft_file_send_data(access, end_scatter);
    return WEFT_STEP_DONE;
}

/* ---- Reading */

static uint64_t read_domain(struct weft_file_access *access, struct weft_file_round round)
{
    const struct weft_file *file = access->file;
    size_t got = 0;
    weft_count_add(&weft_counts.file_rounds, 1);
    if (file->own < 0)
        return 0;
    struct clip mine = clip_of(access, round, file->own);
    int64_t begin = weft_file_domain_begin(access, round, file->own);
    char *bytes = weft_file_domain(access, round, file->own) + (mine.low - begin);
    if (mine.high > mine.low && !weft_file_has_failed(access))
        weft_file_note_error(access,
                             weft_file_transfer(file->name, file->fd, false, mine.low, bytes,
                                                (size_t)(mine.high - mine.low), &got));
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
        weft_datatype_unpack(access->data.type, access->data.buffer, done, packed, n);
}

/* Copies this rank's data from all domains. */
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
        if (packed)
            take(access, packed, p);
        else
            copy(access, round, index, p);
        access->moved += p.to > p.from ? p.to - p.from : 0;
    }
}

static enum weft_step_state read_round(void *arg);

/* All ranks have read their domains. */
static enum weft_step_state end_read_round(void *arg)
{
    struct weft_file_access *access = arg;
    gather(access, access->round);
    access->round = next_round(access, access->round);
    if (is_behind(access))
        return weft_file_add_agreement(access);
    weft_file_then(access, read_round);
    return WEFT_STEP_DONE;
}

static enum weft_step_state end_read(void *arg)
{
    return synchronize(arg, end_read_round);
}

static enum weft_step_state read_round(void *arg)
{
    struct weft_file_access *access = arg;
    weft_schedule_restart(access->s);
    uint64_t got = read_domain(access, access->round);
    if (!access->exchange)
        return end_read(access);
    weft_file_fetch_data(access, got, end_read);
    return WEFT_STEP_DONE;
}

/* ---- The access */

void weft_file_then(struct weft_file_access *access, enum weft_step_state (*call)(void *arg))
{
    weft_schedule_fence(access->s);
    weft_schedule_call(access->s, call, access);
    weft_schedule_fence(access->s);
}

void weft_file_add_collective(struct weft_file_access *access, struct weft_coll_args args)
{
    args.comm = access->file->comm;
    weft_schedule_fence(access->s);
    weft_schedule_build(access->s, &args);
}

static void begin_exchange(struct weft_file_access *access)
{
    weft_file_exchange_begin(access);
    /* the last: this rank's, to send */
    access->methods = weft_memory_get((size_t)access->file->comm->size + 1, sizeof *access->methods,
                                      "the methods of domains");
    /* of ranks that own no domain, too */
    for (int i = 0; i < WEFT_FILE_DOMAINS; i++)
        control_of(access, (struct weft_file_round){0, i}, access->file->comm->rank)->method =
            AT_ONCE;
}

enum weft_step_state weft_file_begin_rounds(void *arg)
{
    struct weft_file_access *access = arg;
    struct weft_file *file = access->file;
    const struct weft_file_data *data = &access->data;
    int64_t domain;
    if (file->joint != access || file->moving)
        return WEFT_STEP_WAITS;
    weft_assert(access->joint && !file->in_rounds && !file->may_be_merging);
    domain = weft_file_domain_bytes(file, access->high - access->low);
    access->domain = domain < file->domain ? domain : file->domain;
    if (access->range.bytes) {
        access->from = (size_t)data->offset * file->view.etype->size;
        access->to = access->from + data->bytes;
        access->memory = weft_datatype_run(data->type, data->buffer, data->bytes);
        if (!access->memory && !(access->bounce = malloc(BOUNCE_BYTES)))
            weft_fatal(MPI_ERR_NO_MEM, "no memory for a buffer of %d bytes", BOUNCE_BYTES);
    }
    if (!weft_file_maps_all(file->win))
        begin_exchange(access);
    weft_assert(access->domain > 0 && access->domain <= WEFT_FILE_DOMAIN_MOST);
    weft_assert(access->low < access->high);
    access->in_rounds = access->deferred = true;
    file->in_rounds = access->write;
    file->may_be_merging = access->write && access->blocking;
    access->round.at = access->low / access->domain * access->domain;
    access->before = access->round;
    return access->write ? write_round(access) : read_round(access);
}

void weft_file_end_rounds(struct weft_file_access *access)
{
    free(access->ranges);
    if (!access->in_rounds)
        return;
    if (access->others == EXCLUDED)
        weft_file_end_merge(access->file);
    access->file->in_rounds = access->file->may_be_merging = false;
    weft_file_exchange_end(access);
    free(access->bounce);
    free(access->methods);
}
