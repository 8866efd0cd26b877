// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tables of all ranks, added up at rank 0.
 *
 * Each rank adds up its threads, and sends one message of at most 160 KiB. Rank 0 receives them in
 * the order of ranks; a rank sends when rank 0 has received that of AHEAD ranks before, so that
 * rank 0 keeps few messages. Then rank 0 looks up files and lines of the call sites that cost most:
 * those of its own program itself, others by a request to the first rank that has the site. A
 * request without a site ends the job's messages.
 *
 * A rank that died before MPI_Finalize is left out: the communicator's errors are returned.
 */
#include "tools/profile/messages.h"
#include "core/base/assert.h"
#include "core/base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AHEAD = 16, LOOKED_UP = 64, TAG_TABLE = 1, TAG_NEXT, TAG_REQUEST, TAG_TEXT };

struct record {
    struct weft_portable_site where;
    uint32_t function;
    struct profile_figures figures;
    double wait, late[PROFILE_LATES];
    struct profile_vote late_most[PROFILE_LATES];
};

struct report {
    struct profile_rank rank;
    struct profile_count sizes[2][PROFILE_SIZES],
        rendezvous[PROFILE_RENDEZVOUS_LANES][PROFILE_SIZES];
    struct profile_count peers[PROFILE_BINS], targets[PROFILE_BINS];
    double late[PROFILE_BINS];
    struct profile_algorithm algorithms[PROFILE_ALGORITHMS];
    int32_t n_algorithms;
    struct record
        records[PROFILE_RECORDS + WEFT_CALLS]; /* at most; as many as there are are sent */
};

struct request {
    struct weft_portable_site where; /* offset 0: the end */
};

/* ---- This rank */

static double seconds_of(uint64_t ticks)
{
    return (double)ticks * profile.clock->seconds_a_tick;
}

/* Splits the time of collectives of all ranks: see profile.h. Collective. Returns true, and how
 * many calls it is known of, if all ranks made the same calls. */
static bool split_waits(int *calls)
{
    int64_t own[3] = {profile.collectives.n, (int64_t)(profile.collectives.hash >> 1),
                      profile.one_thread};
    int64_t least[3], most[3];
    int n = profile.collectives.n < PROFILE_DURATIONS ? profile.collectives.n : PROFILE_DURATIONS;
    *calls = n;
    if (weft_next.Allreduce(own, least, 3, MPI_INT64_T, MPI_MIN, profile.channel) ||
        weft_next.Allreduce(own, most, 3, MPI_INT64_T, MPI_MAX, profile.channel))
        return false;
    if (least[0] != most[0] || least[1] != most[1] || !least[2])
        return false;
    float *shortest = weft_interpose_allocate((size_t)n, sizeof *shortest);
    for (int i = 0; i < n; i++) /* ticks of nodes may differ in length */
        profile.collectives.ticks[i] *= (float)profile.clock->seconds_a_tick;
    bool ok = weft_next.Allreduce(profile.collectives.ticks, shortest, n, MPI_FLOAT, MPI_MIN,
                                  profile.channel) == MPI_SUCCESS;
    for (int i = 0; ok && i < n; i++)
        profile.collectives.slots[i]->wait +=
            (double)profile.collectives.ticks[i] - (double)shortest[i];
    free(shortest);
    return ok;
}

/* The record of a call site, or the one behind the last; NULL: there is none, and for sites that
 * are known no space. */
static struct record *find_record(struct report *report, struct weft_portable_site where,
                                  uint32_t function)
{
    struct record *record = report->records;
    const struct record *end = report->records + report->rank.records;
    while (record < end && (record->where.offset != where.offset ||
                            record->where.module != where.module || record->function != function))
        record++;
    return record == end && where.offset && report->rank.records >= PROFILE_RECORDS ? NULL : record;
}

static void add_figures(struct profile_figures *to, const struct profile_figures *from)
{
    to->least = !to->calls || from->least < to->least ? from->least : to->least;
    to->most = from->most > to->most ? from->most : to->most;
    to->calls += from->calls;
    to->seconds += from->seconds;
    if (from->bytes && (!to->bytes || from->least_bytes < to->least_bytes))
        to->least_bytes = from->least_bytes;
    to->most_bytes = from->most_bytes > to->most_bytes ? from->most_bytes : to->most_bytes;
    to->bytes += from->bytes;
}

/* Adds what is known of a call site to its record; if there is no space for one, to that of the
 * function without a site. */
static void put_record(struct report *report, const struct record *from)
{
    struct record *record = find_record(report, from->where, from->function);
    struct weft_portable_site where = from->where;
    if (!record) {
        where = (struct weft_portable_site){0};
        record = find_record(report, where, from->function);
    }
    if (record == report->records + report->rank.records) {
        report->rank.records++;
        *record = (struct record){.where = where, .function = from->function};
    }
    add_figures(&record->figures, &from->figures);
    record->wait += from->wait;
    for (int i = 0; i < PROFILE_LATES; i++) {
        record->late[i] += from->late[i];
        profile_vote(&record->late_most[i], from->late_most[i].rank, from->late_most[i].weight);
    }
}

static void add_slot(struct report *report, const struct profile_slot *slot)
{
    struct record record = {.where = weft_site_pack(slot->site),
                            .function = slot->function,
                            .figures = {.calls = slot->calls,
                                        .bytes = slot->bytes,
                                        .least_bytes = slot->least_bytes,
                                        .most_bytes = slot->most_bytes,
                                        .seconds = seconds_of(slot->ticks),
                                        .least = seconds_of(slot->least),
                                        .most = seconds_of(slot->most)},
                            .wait = slot->wait};
    memcpy(record.late, slot->late, sizeof record.late);
    memcpy(record.late_most, slot->late_most, sizeof record.late_most);
    put_record(report, &record);
}

static void add_counts(struct profile_count *to, const struct profile_count *from, int n)
{
    for (int i = 0; i < n; i++) {
        to[i].n += from[i].n;
        to[i].bytes += from[i].bytes;
    }
}

static void add_access(struct profile_access *to, const struct profile_access *from)
{
    to->calls += from->calls;
    to->small += from->small;
    to->bytes += from->bytes;
    to->ticks += from->ticks;
    to->located += from->located;
    to->aligned += from->aligned;
}

static void add_open(struct profile_open *to, const struct profile_open *from)
{
    to->n += from->n;
    to->ticks += from->ticks;
    to->inside += from->inside;
}

static void add_thread(struct report *report, const struct profile_thread *thread)
{
    bool called = false;
    for (int i = 0; i < profile_slots_of(thread); i++) {
        const struct profile_slot *slot = &thread->slots[i];
        if (!slot->calls)
            continue;
        called = true;
        add_slot(report, slot);
        report->rank.classes[profile_class_of(slot->function)] += seconds_of(slot->ticks);
        report->rank.mpi += seconds_of(slot->ticks);
        report->rank.wait += slot->wait;
        for (int cause = 0; cause < PROFILE_LATES; cause++) {
            report->rank.late[cause] += slot->late[cause];
            if (profile_class_of(slot->function) == PROFILE_P2P)
                report->rank.late_in_messages += slot->late[cause];
        }
    }
    report->rank.threads += called;
    report->rank.rma += thread->rma;
    add_counts(report->rank.distances, thread->distances, PROFILE_DISTANCES);
    add_access(&report->rank.reads, &thread->reads);
    add_access(&report->rank.writes, &thread->writes);
    for (int i = 0; i < PROFILE_OPENS; i++)
        add_open(&report->rank.open[i], &thread->open[i]);
    add_counts(report->sizes[0], thread->sizes[0], PROFILE_SIZES);
    add_counts(report->sizes[1], thread->sizes[1], PROFILE_SIZES);
    add_counts(report->peers, thread->peers, PROFILE_BINS);
    add_counts(report->targets, thread->targets, PROFILE_BINS);
}

static uint64_t hash_of_program(void)
{
    char path[4096] = "";
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return n > 0 ? weft_hash_bytes(WEFT_HASH_BEGIN, path, (size_t)n) : 0;
}

static void fill_report(struct report *report)
{
    report->rank = (struct profile_rank){.program = hash_of_program(),
                                         .cores = (int32_t)sysconf(_SC_NPROCESSORS_ONLN)};
    profile_binding_find(&report->rank.binding);
    report->rank.wall = seconds_of(profile.clock->end - profile.clock->begin);
    memcpy(report->rank.counters, profile.counters, sizeof profile.counters);
    memcpy(report->rendezvous, profile.rendezvous, sizeof profile.rendezvous);
    memcpy(report->algorithms, profile.algorithms, sizeof profile.algorithms);
    report->n_algorithms = profile.n_algorithms;
    for (int i = 0; i < profile_threads_of(profile.shared); i++)
        add_thread(report, &profile.threads[i]);
    report->rank.threads += report->rank.threads == 0; /* 0: a rank that did not report */
    report->rank.read_seconds = seconds_of(report->rank.reads.ticks);
    report->rank.write_seconds = seconds_of(report->rank.writes.ticks);
    for (int i = 0; i < PROFILE_OPENS; i++) {
        report->rank.open_seconds[i] = seconds_of(report->rank.open[i].ticks);
        report->rank.inside_seconds[i] = seconds_of(report->rank.open[i].inside);
    }
}

static int size_of(const struct report *report)
{
    return (int)(offsetof(struct report, records) +
                 (size_t)report->rank.records * sizeof *report->records);
}

/* ---- Ranks other than 0 */

static void answer_requests(void)
{
    struct request request;
    while (weft_next.Recv(&request, sizeof request, MPI_BYTE, 0, TAG_REQUEST, profile.channel,
                          MPI_STATUS_IGNORE) == MPI_SUCCESS &&
           request.where.offset) {
        struct weft_site text;
        weft_site_lookup(weft_site_unpack(request.where), &text);
        weft_next.Send(&text, sizeof text, MPI_BYTE, 0, TAG_TEXT, profile.channel);
    }
}

static void send_report(const struct report *report)
{
    int failed = 0;
    if (profile.rank > AHEAD)
        failed = weft_next.Recv(NULL, 0, MPI_BYTE, 0, TAG_NEXT, profile.channel, MPI_STATUS_IGNORE);
    if (!failed)
        failed = weft_next.Send(report, size_of(report), MPI_BYTE, 0, TAG_TABLE, profile.channel);
    if (!failed)
        answer_requests();
}

/* ---- Rank 0 */

/* NULL: there is no space for sites that are known. Those that are not are of no program, so that
 * each function has one. */
static struct profile_site *site_of(struct profile_job *job, const struct record *record,
                                    uint64_t program)
{
    for (int i = 0; i < job->n; i++) {
        struct profile_site *site = &job->sites[i];
        if (site->where.offset == record->where.offset &&
            site->where.module == record->where.module && site->function == record->function &&
            site->program == program)
            return site;
    }
    if (record->where.offset && job->n >= PROFILE_SITES)
        return NULL;
    weft_assert(job->n < PROFILE_SITES + WEFT_CALLS);
    struct profile_site *site = &job->sites[job->n++];
    *site = (struct profile_site){.id = job->n - 1,
                                  .where = record->where,
                                  .program = program,
                                  .function = record->function,
                                  .first = -1,
                                  .last = -1};
    return site;
}

/* A list that is full leaves out what is new. */
static void add_row(struct profile_job *job, const struct profile_site *site, int rank,
                    const struct profile_figures *figures)
{
    enum { STEP = 4096 };
    struct profile_row *rows = job->rows;
    if (job->n_rows < PROFILE_ROWS && job->n_rows % STEP == 0)
        rows = realloc(job->rows, ((size_t)job->n_rows + STEP) * sizeof *rows);
    if (job->n_rows >= PROFILE_ROWS || !rows) {
        job->rows_left_out++;
        return;
    }
    job->rows = rows;
    job->rows[job->n_rows++] =
        (struct profile_row){.site = site->id, .rank = rank, .figures = *figures};
}

/* Joins the records of a rank whose sites have no space in the job, by function, so that the rank
 * counts once in each site. */
static void join_records(struct profile_job *job, struct report *report)
{
    for (int i = 0; i < report->rank.records;) {
        struct record record = report->records[i];
        if (!record.where.offset || site_of(job, &record, report->rank.program)) {
            i++;
            continue;
        }
        report->records[i] = report->records[--report->rank.records];
        record.where = (struct weft_portable_site){0};
        put_record(report, &record);
    }
}

static void add_record(struct profile_job *job, int rank, const struct record *record,
                       uint64_t program)
{
    struct profile_site *site = site_of(job, record, record->where.offset ? program : 0);
    const struct profile_figures *figures = &record->figures;
    weft_assert(site && site->last < rank);
    site->last = rank;
    add_row(job, site, rank, figures);
    if (site->first < 0)
        site->first = rank;
    if (site->ranks == 0 || figures->seconds < site->least) {
        site->least = figures->seconds;
        site->least_rank = rank;
    }
    if (site->ranks == 0 || figures->seconds > site->most) {
        site->most = figures->seconds;
        site->most_rank = rank;
    }
    if (site->ranks == 0 || figures->least < site->shortest)
        site->shortest = figures->least;
    if (figures->bytes && (!site->bytes || figures->least_bytes < site->least_bytes))
        site->least_bytes = figures->least_bytes;
    if (figures->most_bytes > site->most_bytes)
        site->most_bytes = figures->most_bytes;
    site->ranks++;
    site->calls += figures->calls;
    site->bytes += figures->bytes;
    site->sum += figures->seconds;
    site->squares += figures->seconds * figures->seconds;
    site->longest = figures->most > site->longest ? figures->most : site->longest;
    site->wait += record->wait;
    for (int i = 0; i < PROFILE_LATES; i++) {
        site->late[i] += record->late[i];
        profile_vote(&site->late_most[i], record->late_most[i].rank, record->late_most[i].weight);
    }
}

/* Adds the time of a rank by function. */
static void add_functions(struct profile_job *job, const struct report *report)
{
    for (int i = 0; i < report->rank.records; i++) {
        const struct record *record = &report->records[i];
        struct profile_function *f = &job->functions[record->function];
        bool first = true;
        for (int j = 0; j < i && first; j++)
            first = report->records[j].function != record->function;
        if (!first)
            continue;
        double sum = 0;
        for (int j = i; j < report->rank.records; j++) {
            if (report->records[j].function != record->function)
                continue;
            sum += report->records[j].figures.seconds;
            f->calls += report->records[j].figures.calls;
        }
        f->sum += sum;
        f->least = f->ranks == 0 || sum < f->least ? sum : f->least;
        f->most = sum > f->most ? sum : f->most;
        f->ranks++;
    }
}

static void add_report(struct profile_job *job, int rank, struct report *report)
{
    int same = 0;
    while (same < rank && (!job->ranks[same].threads ||
                           strcmp(job->ranks[same].binding.host, report->rank.binding.host) != 0))
        same++;
    job->ranks[rank] = report->rank;
    job->ranks[rank].node = same < rank ? job->ranks[same].node : job->nodes++;
    job->neighbors += job->ranks[rank].node == 0;
    job->reported++;
    job->threads = report->rank.threads > job->threads ? report->rank.threads : job->threads;
    add_counts(job->sizes[0], report->sizes[0], PROFILE_SIZES);
    add_counts(job->sizes[1], report->sizes[1], PROFILE_SIZES);
    for (int i = 0; i < PROFILE_RENDEZVOUS_LANES; i++)
        add_counts(job->rendezvous[i], report->rendezvous[i], PROFILE_SIZES);
    add_counts(job->matrix[rank / job->fold], report->peers, PROFILE_BINS);
    add_counts(job->accesses[rank / job->fold], report->targets, PROFILE_BINS);
    for (int i = 0; i < job->bins; i++)
        job->late[rank / job->fold][i] += report->late[i];
    add_functions(job, report);
    join_records(job, report);
    for (int i = 0; i < report->n_algorithms && i < PROFILE_ALGORITHMS; i++)
        profile_algorithm_add(job->algorithms, &job->n_algorithms, PROFILE_ALGORITHMS * 4,
                              &report->algorithms[i]);
    for (int i = 0; i < report->rank.records; i++)
        add_record(job, rank, &report->records[i], report->rank.program);
}

static void receive_reports(struct profile_job *job, struct report *report)
{
    add_report(job, 0, report);
    for (int rank = 1; rank < job->size; rank++) {
        int failed = weft_next.Recv(report, sizeof *report, MPI_BYTE, rank, TAG_TABLE,
                                    profile.channel, MPI_STATUS_IGNORE);
        if (rank + AHEAD < job->size)
            weft_next.Send(NULL, 0, MPI_BYTE, rank + AHEAD, TAG_NEXT, profile.channel);
        if (!failed)
            add_report(job, rank, report);
    }
}

static void look_up(struct profile_job *job, struct profile_site *site)
{
    struct request request = {site->where};
    const void *here = weft_site_unpack(site->where);
    if (site->program == job->ranks[0].program && here)
        weft_site_lookup(here, &site->text);
    else if (site->first > 0 && site->where.offset &&
             weft_next.Send(&request, sizeof request, MPI_BYTE, site->first, TAG_REQUEST,
                            profile.channel) == MPI_SUCCESS)
        weft_next.Recv(&site->text, sizeof site->text, MPI_BYTE, site->first, TAG_TEXT,
                       profile.channel, MPI_STATUS_IGNORE);
}

static int by_time(const void *a, const void *b)
{
    const struct profile_site *x = a, *y = b;
    return (x->sum < y->sum) - (x->sum > y->sum);
}

static void look_up_all(struct profile_job *job)
{
    struct request end = {{0}};
    qsort(job->sites, (size_t)job->n, sizeof *job->sites, by_time);
    for (int i = 0; i < job->n && i < LOOKED_UP; i++)
        look_up(job, &job->sites[i]);
    for (int rank = 1; rank < job->size; rank++)
        if (job->ranks[rank].threads)
            weft_next.Send(&end, sizeof end, MPI_BYTE, rank, TAG_REQUEST, profile.channel);
}

struct profile_job *profile_gather(void)
{
    static struct report report;
    int waits_of;
    bool waits = split_waits(&waits_of), lates = profile_late_split(report.late);
    fill_report(&report);
    if (profile.rank) {
        send_report(&report);
        return NULL;
    }
    struct profile_job *job = weft_interpose_allocate(1, sizeof *job);
    job->ranks = weft_interpose_allocate((size_t)profile.size, sizeof *job->ranks);
    job->size = profile.size;
    job->fold = profile.fold;
    job->bins = (profile.size + profile.fold - 1) / profile.fold;
    job->waits = waits;
    job->waits_of = waits_of;
    job->lates = lates;
    receive_reports(job, &report);
    look_up_all(job);
    return job;
}
