// SPDX-License-Identifier: BSD-3-Clause
/*
 * The page: one file without script, font or address of another. Each picture has a sentence above
 * it that states what it shows, with its figures.
 */
#include "tools/profile/picture.h"
#include "tools/interpose/xml.h"
#include "tools/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

enum { CALLS_SHOWN = 12, SITES_SHOWN = 16, ROWS_SHOWN = 40 };

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:60rem;"
    "margin:2rem auto;padding:0 1rem}h1{font-size:1.8rem;margin-bottom:.2rem}"
    "h2{font-size:1.25rem;margin-top:2.5rem;margin-bottom:.3rem}svg{width:100%;min-width:38rem;"
    "height:auto}"
    ".job{color:#555}table{border-collapse:collapse;font-size:.85rem;"
    "font-variant-numeric:tabular-nums;margin:.7rem "
    "0}th,td{text-align:right;white-space:nowrap;padding:.15rem .6rem;"
    "border-bottom:1px solid #e4e4e4}td:first-child,th:first-child{text-align:left}"
    ".wide{overflow-x:auto}details{font-size:.95rem}summary{cursor:pointer;color:#555}";

/* Segments of the bar of a rank. */
enum {
    COMPUTE,
    MESSAGES,
    COMPLETION,
    LATE_SENDER,
    LATE_RECEIVER,
    WAITING,
    OPERATION,
    WINDOWS,
    FILES,
    OTHER,
    SEGMENTS
};
static const char *const segment_names[SEGMENTS] = {
    "outside of MPI",         "messages",    "requests", "late senders", "late receivers",
    "waiting in collectives", "collectives", "windows",  "files",        "other calls"};
static const char *const segment_colours[SEGMENTS] = {"#d9d9d9", "#0072b2", "#56b4e9", "#8b1a1a",
                                                      "#f2a3a3", "#d55e00", "#e69f00", "#009e73",
                                                      "#cc79a7", "#666666"};

static double share(double of, double all)
{
    return all > 0 ? of / all * 100 : 0;
}

/* ---- Ranks */

static void add_rank(struct picture_bar *bar, const struct profile_rank *r, double weight)
{
    double *segments = bar->segments;
    segments[COMPUTE] += (r->wall * r->threads - r->mpi) * weight;
    double late = r->late[PROFILE_SENDER] + r->late[PROFILE_RECEIVER] - r->late_in_messages;
    segments[MESSAGES] += (r->classes[PROFILE_P2P] - r->late_in_messages) * weight;
    segments[COMPLETION] += (r->classes[PROFILE_COMPLETE] - late) * weight;
    segments[LATE_SENDER] += r->late[PROFILE_SENDER] * weight;
    segments[LATE_RECEIVER] += r->late[PROFILE_RECEIVER] * weight;
    segments[WAITING] += r->wait * weight;
    segments[OPERATION] += (r->classes[PROFILE_COLLECTIVE] - r->wait) * weight;
    segments[WINDOWS] += r->classes[PROFILE_RMA] * weight;
    segments[FILES] += r->classes[PROFILE_FILE] * weight;
    segments[OTHER] += r->classes[PROFILE_OTHER] * weight;
}

static void put_ranks(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char a[PROFILE_TEXT], b[PROFILE_TEXT];
    struct picture_bar *bars = tool_allocate((size_t)job->bins, sizeof *bars);
    for (int i = 0; i < job->bins; i++) {
        int first = i * job->fold, end = first + job->fold, reported = 0;
        end = end < job->size ? end : job->size;
        for (int r = first; r < end; r++)
            reported += job->ranks[r].threads > 0;
        for (int r = first; r < end; r++)
            if (job->ranks[r].threads)
                add_rank(&bars[i], &job->ranks[r], 1.0 / reported);
        double all = 0;
        for (int j = 0; j < SEGMENTS; j++)
            all += bars[i].segments[j];
        snprintf(bars[i].label, sizeof bars[i].label, job->fold > 1 ? "ranks %d-%d" : "rank %d",
                 first, end - 1);
        snprintf(bars[i].note, sizeof bars[i].note, "%.0f %% MPI",
                 share(all - bars[i].segments[COMPUTE], all));
    }
    fprintf(file, "<h2>Time of each rank</h2><p>");
    if (job->reported > 1)
        fprintf(file,
                "Rank %d is outside of MPI longest, for %s; the mean is %s. Ranks with less wait "
                "for it in MPI.",
                sums->most_compute_rank, profile_text_seconds(sums->most_compute, a),
                profile_text_seconds(sums->compute, b));
    else
        fprintf(file, "The rank is outside of MPI for %s.", profile_text_seconds(sums->compute, a));
    if (job->fold > 1)
        fprintf(file, " A bar is the mean of %d ranks.", job->fold);
    fprintf(file, "</p>\n");
    struct picture_bars picture = {.n = job->bins,
                                   .segments = SEGMENTS,
                                   .names = segment_names,
                                   .colours = segment_colours,
                                   .left = 100,
                                   .height = job->bins > 16 ? 9 : 16};
    picture_put_bars(file, &picture, bars);
    free(bars);
}

/* ---- Calls */

static const char *const one_colour[] = {"#0072b2"};

static void put_calls(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    struct picture_bar bars[CALLS_SHOWN] = {0};
    int order[CALLS_SHOWN] = {0}, n = 0;
    for (int i = 0; i < WEFT_CALLS; i++) {
        int at = n;
        if (!job->functions[i].calls)
            continue;
        while (at > 0 && job->functions[order[at - 1]].sum < job->functions[i].sum) {
            if (at < CALLS_SHOWN)
                order[at] = order[at - 1];
            at--;
        }
        if (at < CALLS_SHOWN)
            order[at] = i;
        n += n < CALLS_SHOWN;
    }
    if (n == 0)
        return;
    for (int i = 0; i < n; i++) {
        const struct profile_function *f = &job->functions[order[i]];
        snprintf(bars[i].label, sizeof bars[i].label, "%s", weft_functions[order[i]].name);
        snprintf(bars[i].note, sizeof bars[i].note, "%.1f %%", share(f->sum, sums->all_wall));
        bars[i].segments[0] = f->sum / job->reported;
        bars[i].from = f->ranks < job->reported ? 0 : f->least;
        bars[i].to = f->most;
    }
    fprintf(file,
            "<h2>Time by call</h2><p>%s takes %.1f %% of the time. A bar is the mean of the ranks; "
            "the line goes from the rank with the least to that with the most.</p>\n",
            weft_functions[order[0]].name, share(job->functions[order[0]].sum, sums->all_wall));
    struct picture_bars picture = {
        .n = n, .segments = 1, .colours = one_colour, .left = 190, .height = 16};
    picture_put_bars(file, &picture, bars);
}

static void put_site_rows(FILE *file, const struct profile_job *job,
                          const struct profile_sums *sums)
{
    char text[512], number[PROFILE_TEXT];
    fprintf(file, "<div class=\"wide\"><table><tr><th>call site</th><th>time "
                  "%%</th><th>mean</th><th>least (rank)</th>"
                  "<th>most (rank)</th><th>calls</th><th>bytes</th><th>longest call</th></tr>\n");
    for (int i = 0; i < job->n && i < ROWS_SHOWN; i++) {
        const struct profile_site *site = &job->sites[i];
        profile_text_site(site, text, sizeof text);
        fprintf(file, "<tr><td>");
        weft_xml_put_text(file, text);
        fprintf(file, "</td><td>%.1f</td><td>%s</td>", share(site->sum, sums->all_wall),
                profile_text_seconds(site->sum / site->ranks, number));
        fprintf(file, "<td>%s (%d)</td>", profile_text_seconds(site->least, number),
                site->least_rank);
        fprintf(file, "<td>%s (%d)</td><td>%llu</td>", profile_text_seconds(site->most, number),
                site->most_rank, (unsigned long long)site->calls);
        fprintf(file, "<td>%s</td>",
                site->bytes ? profile_text_bytes((double)site->bytes, number) : "");
        fprintf(file, "<td>%s</td></tr>\n", profile_text_seconds(site->longest, number));
    }
    fprintf(file, "</table></div>\n");
}

static void put_sites(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    struct picture_bar bars[SITES_SHOWN] = {0};
    char text[512];
    int n = job->n < SITES_SHOWN ? job->n : SITES_SHOWN;
    double shown = 0;
    if (n == 0)
        return;
    for (int i = 0; i < n; i++) {
        const struct profile_site *site = &job->sites[i];
        profile_text_site(site, text, sizeof text);
        snprintf(bars[i].label, sizeof bars[i].label, "%.*s", 60, text);
        snprintf(bars[i].note, sizeof bars[i].note, "%.1f %%", share(site->sum, sums->all_wall));
        bars[i].segments[0] = site->sum / job->reported;
        bars[i].from = site->ranks < job->reported ? 0 : site->least;
        bars[i].to = site->most;
        shown += i < 3 ? site->sum : 0;
    }
    fprintf(file,
            "<h2>Time by line of the program</h2><p>The first three call sites have %.0f %% of the "
            "time in MPI; begin with these lines.</p>\n",
            share(shown, sums->mpi));
    struct picture_bars picture = {
        .n = n, .segments = 1, .colours = one_colour, .left = 400, .height = 16};
    picture_put_bars(file, &picture, bars);
    put_site_rows(file, job, sums);
}

/* ---- Collectives */

static void put_waits(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    static const char *const names[] = {"waiting for other ranks", "operation"};
    static const char *const colours[] = {"#d55e00", "#e69f00"};
    struct picture_bar bars[SITES_SHOWN] = {0};
    char text[512], a[PROFILE_TEXT];
    int n = 0;
    for (int i = 0; i < job->n && n < SITES_SHOWN; i++) {
        const struct profile_site *site = &job->sites[i];
        if (site->wait <= 0)
            continue;
        profile_text_site(site, text, sizeof text);
        snprintf(bars[n].label, sizeof bars[n].label, "%.*s", 60, text);
        snprintf(bars[n].note, sizeof bars[n].note, "%.0f %%", share(site->wait, site->sum));
        bars[n].segments[0] = site->wait / job->reported;
        bars[n].segments[1] = (site->sum - site->wait) / job->reported;
        n++;
    }
    fprintf(file, "<h2>Collectives: waiting and operation</h2><p>");
    if (!job->waits)
        fprintf(file,
                "The split is not known: ranks made different collective calls, or several threads "
                "may call MPI.</p>\n");
    else if (n == 0)
        fprintf(file,
                "No barrier, allreduce, allgather or alltoall of all ranks was called.</p>\n");
    else
        fprintf(
            file,
            "Ranks wait %s on average for others that enter the call later, %.0f %% of the time "
            "in collectives. Waiting is time above the shortest duration of the same call at "
            "any rank%s; a faster network would not shorten it, more even work would.</p>\n",
            profile_text_seconds(sums->wait / job->reported, a),
            share(sums->wait, sums->classes[PROFILE_COLLECTIVE]),
            job->waits_of == PROFILE_DURATIONS ? ", for the first 32768 calls" : "");
    struct picture_bars picture = {
        .n = n, .segments = 2, .names = names, .colours = colours, .left = 400, .height = 16};
    if (job->waits && n)
        picture_put_bars(file, &picture, bars);
}

static void put_algorithms(FILE *file, const struct profile_job *job)
{
    char bytes[PROFILE_TEXT];
    if (!job->n_algorithms)
        return;
    fprintf(file,
            "<h2>Collectives: algorithms</h2><p>Calls that took messages, and how the library "
            "arranged them; also those that it makes itself within a call. The rest of the "
            "calls went through memory that the ranks of a node share.</p>\n<div "
            "class=\"wide\"><table><tr><th>call</th><th>algorithm</th><th>calls</th>"
            "<th>bytes each</th></tr>\n");
    for (int i = 0; i < job->n_algorithms; i++) {
        const struct profile_algorithm *a = &job->algorithms[i];
        fprintf(file, "<tr><td>%s</td><td>%s</td><td>%llu</td><td>%s</td></tr>\n",
                weft_functions[a->function].name, profile_algorithm_name(a->number),
                (unsigned long long)a->n,
                profile_text_bytes((double)a->bytes / (double)a->n, bytes));
    }
    fprintf(file, "</table></div>\n");
}

/* ---- Late senders and receivers */

static double late_of_entry(const void *of, int row, int column)
{
    const struct profile_job *job = of;
    return job->late[row][column];
}

static const char *note_of_late(const void *of, int row, int column, char *text)
{
    const struct profile_job *job = of;
    char seconds[PROFILE_TEXT];
    snprintf(text, PICTURE_NOTE, "%d waits for %d: %s", row * job->fold, column * job->fold,
             profile_text_seconds(job->late[row][column], seconds));
    return text;
}

/* Picks the sites with the most waiting, in its order. Returns how many. */
static int pick_late(const struct profile_job *job, const struct profile_site **picked)
{
    int n = 0;
    for (int i = 0; i < job->n; i++) {
        const struct profile_site *site = &job->sites[i];
        double late = site->late[PROFILE_SENDER] + site->late[PROFILE_RECEIVER];
        int at = n;
        if (late <= 0)
            continue;
        for (; at > 0 &&
               picked[at - 1]->late[PROFILE_SENDER] + picked[at - 1]->late[PROFILE_RECEIVER] < late;
             at--)
            if (at < SITES_SHOWN)
                picked[at] = picked[at - 1];
        if (at < SITES_SHOWN)
            picked[at] = site;
        n += n < SITES_SHOWN;
    }
    return n;
}

static void put_late_bars(FILE *file, const struct profile_job *job)
{
    static const char *const names[] = {"for late senders", "for late receivers", "rest"};
    static const char *const colours[] = {"#8b1a1a", "#f2a3a3", "#56b4e9"};
    struct picture_bar bars[SITES_SHOWN] = {0};
    const struct profile_site *sites[SITES_SHOWN];
    int n = pick_late(job, sites);
    char text[512];
    for (int i = 0; i < n; i++) {
        const struct profile_site *site = sites[i];
        double late = site->late[PROFILE_SENDER] + site->late[PROFILE_RECEIVER];
        profile_text_site(site, text, sizeof text);
        snprintf(bars[i].label, sizeof bars[i].label, "%.*s", 60, text);
        snprintf(bars[i].note, sizeof bars[i].note, "%.0f %%, rank %d", share(late, site->sum),
                 site->late_most.rank);
        bars[i].segments[0] = site->late[PROFILE_SENDER] / job->reported;
        bars[i].segments[1] = site->late[PROFILE_RECEIVER] / job->reported;
        bars[i].segments[2] = (site->sum - late) / job->reported;
    }
    struct picture_bars picture = {
        .n = n, .segments = 3, .names = names, .colours = colours, .left = 400, .height = 16};
    picture_put_bars(file, &picture, bars);
}

static void put_late(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char a[PROFILE_TEXT], b[PROFILE_TEXT];
    double all = sums->late[PROFILE_SENDER] + sums->late[PROFILE_RECEIVER];
    if (!sums->messages.n)
        return;
    fprintf(file, "<h2>Messages: late senders and receivers</h2><p>");
    if (!job->lates) {
        fprintf(file, "It is not known which ranks were late, because several threads may call "
                      "MPI.</p>\n");
        return;
    }
    if (all <= 0) {
        fprintf(file, "No call waited noticeably for a send or a receive that another rank began "
                      "later.</p>\n");
        return;
    }
    fprintf(file,
            "Ranks wait %s on average in receives for messages whose send began later, and "
            "%s in sends for receives that were posted later. A faster network would not "
            "shorten this; sends and receives that start earlier would. ",
            profile_text_seconds(sums->late[PROFILE_SENDER] / job->reported, a),
            profile_text_seconds(sums->late[PROFILE_RECEIVER] / job->reported, b));
    for (int end = 0; end < PROFILE_ENDS; end++)
        if (sums->late[end] > 0.1 * all)
            fprintf(file, "The latest %s is rank %d. ",
                    end == PROFILE_SENDER ? "sender" : "receiver", sums->late_most[end].rank);
    fprintf(file, "Behind a bar stands the rank that is late most.</p>\n");
    put_late_bars(file, job);
    fprintf(
        file,
        "<p>Who waits for whom: a row is a rank that waits, a column one that is late. A column "
        "with many dark cells is a rank that delays many others.</p>\n");
    struct picture_matrix picture = {.bins = job->bins,
                                     .fold = job->fold,
                                     .value = late_of_entry,
                                     .note = note_of_late,
                                     .row = "rank",
                                     .column = "waits for rank",
                                     .colour = "#8b1a1a",
                                     .of = job};
    picture_put_matrix(file, &picture);
}

/* ---- Nonblocking operations */

static void put_open(FILE *file, const struct profile_sums *sums)
{
    static const char *const kinds[PROFILE_OPENS] = {"sends and receives",
                                                     "collectives, windows, files"};
    static const char *const names[] = {"between start and completion",
                                        "in the call that completes it"};
    static const char *const colours[] = {"#d9d9d9", "#56b4e9"};
    struct picture_bar bars[PROFILE_OPENS] = {0};
    double all = 0, inside = 0;
    uint64_t operations = 0;
    int n = 0;
    for (int i = 0; i < PROFILE_OPENS; i++) {
        operations += sums->open[i];
        all += sums->open_seconds[i];
        inside += sums->inside_seconds[i];
        if (!sums->open[i])
            continue;
        snprintf(bars[n].label, sizeof bars[n].label, "%s", kinds[i]);
        snprintf(bars[n].note, sizeof bars[n].note, "%.0f %%",
                 share(sums->open_seconds[i] - sums->inside_seconds[i], sums->open_seconds[i]));
        bars[n].segments[0] =
            (sums->open_seconds[i] - sums->inside_seconds[i]) / (double)sums->open[i];
        bars[n++].segments[1] = sums->inside_seconds[i] / (double)sums->open[i];
    }
    if (n == 0)
        return;
    fprintf(file,
            "<h2>Nonblocking operations: overlap</h2><p>%llu operations; the ranks were outside of "
            "the calls that complete them for %.0f %% of the time between start and completion: "
            "as much of it may overlap with other work. A bar is the mean of an operation.</p>\n",
            (unsigned long long)operations, share(all - inside, all));
    struct picture_bars picture = {
        .n = n, .segments = 2, .names = names, .colours = colours, .left = 210, .height = 16};
    picture_put_bars(file, &picture, bars);
}

/* ---- Messages */

/* Messages, or accesses to windows, between ranks. */
struct traffic {
    int bins, fold; /* ranks of a bin */
    const struct profile_count (*matrix)[PROFILE_BINS];
    const char *title, *what, *of, *row, *column;
};

static double bytes_of_entry(const void *of, int row, int column)
{
    const struct traffic *traffic = of;
    const struct profile_count *count = &traffic->matrix[row][column];
    return count->n ? (double)count->bytes + 0.5 : 0; /* those without data are drawn, too */
}

static const char *note_of_entry(const void *of, int row, int column, char *text)
{
    const struct traffic *traffic = of;
    const struct profile_count *count = &traffic->matrix[row][column];
    char bytes[PROFILE_TEXT];
    snprintf(text, PICTURE_NOTE, "%d to %d: %s in %llu %s", row * traffic->fold,
             column * traffic->fold, profile_text_bytes((double)count->bytes, bytes),
             (unsigned long long)count->n, traffic->what);
    return text;
}

static void put_traffic(FILE *file, const struct traffic *traffic)
{
    char bytes[PROFILE_TEXT], all_bytes[PROFILE_TEXT];
    int row = 0, column = 0, filled = 0;
    struct profile_count all = {0};
    for (int i = 0; i < traffic->bins; i++)
        for (int j = 0; j < traffic->bins; j++) {
            const struct profile_count *count = &traffic->matrix[i][j];
            filled += count->n > 0;
            all.n += count->n;
            all.bytes += count->bytes;
            if (count->bytes > traffic->matrix[row][column].bytes) {
                row = i;
                column = j;
            }
        }
    if (!all.n)
        return;
    const struct profile_count *most = &traffic->matrix[row][column];
    fprintf(file,
            "<h2>%s</h2><p>%llu %s with %s; %d of %d %s have some. From %s %d to %s %d are the "
            "most, %s in %llu, %.0f %% of all bytes. A darker cell has more bytes (each "
            "cell has its figures as a tip).",
            traffic->title, (unsigned long long)all.n, traffic->what,
            profile_text_bytes((double)all.bytes, all_bytes), filled, traffic->bins * traffic->bins,
            traffic->fold > 1 ? "groups of pairs" : "pairs", traffic->of, row * traffic->fold,
            traffic->of, column * traffic->fold, profile_text_bytes((double)most->bytes, bytes),
            (unsigned long long)most->n, share((double)most->bytes, (double)all.bytes));
    if (traffic->fold > 1)
        fprintf(file, " A row or column is %d ranks, from the one that is named.", traffic->fold);
    fprintf(file, "</p>\n");
    struct picture_matrix picture = {.bins = traffic->bins,
                                     .fold = traffic->fold,
                                     .value = bytes_of_entry,
                                     .note = note_of_entry,
                                     .row = traffic->row,
                                     .column = traffic->column,
                                     .colour = "#0072b2",
                                     .of = traffic};
    picture_put_matrix(file, &picture);
}

/* Messages between nodes, if each cell of the matrix has one sender and one receiver. */
static void put_nodes(FILE *file, const struct profile_job *job)
{
    static struct profile_count matrix[PROFILE_BINS][PROFILE_BINS];
    if (job->nodes < 2 || job->fold > 1)
        return;
    for (int i = 0; i < job->size; i++)
        for (int j = 0; j < job->size; j++) {
            struct profile_count *count = &matrix[job->ranks[i].node][job->ranks[j].node];
            count->n += job->matrix[i][j].n;
            count->bytes += job->matrix[i][j].bytes;
        }
    put_traffic(file, &(struct traffic){.bins = job->nodes,
                                        .fold = 1,
                                        .matrix = matrix,
                                        .title = "Which node sends to which",
                                        .what = "messages",
                                        .of = "node",
                                        .row = "from",
                                        .column = "to node"});
}

static void put_matrices(FILE *file, const struct profile_job *job)
{
    put_traffic(file, &(struct traffic){.bins = job->bins,
                                        .fold = job->fold,
                                        .matrix = job->matrix,
                                        .title = "Who sends to whom",
                                        .what = "messages",
                                        .of = "rank",
                                        .row = "from",
                                        .column = "to rank"});
    put_nodes(file, job);
    put_traffic(file, &(struct traffic){.bins = job->bins,
                                        .fold = job->fold,
                                        .matrix = job->accesses,
                                        .title = "Who accesses whose window",
                                        .what = "accesses",
                                        .of = "rank",
                                        .row = "origin",
                                        .column = "target"});
}

static void put_lane(FILE *file, const struct profile_lane *lane)
{
    char text[PROFILE_TEXT];
    uint64_t n = lane->messages, rendezvous = lane->rendezvous;
    if (n)
        fprintf(file, "<tr><td>%s</td><td>%llu</td><td>%llu</td><td>%llu</td><td>%s</td></tr>\n",
                lane->title, (unsigned long long)n,
                (unsigned long long)(n > rendezvous ? n - rendezvous : 0),
                (unsigned long long)rendezvous,
                rendezvous ? profile_text_bytes((double)lane->rendezvous_bytes, text) : "");
}

static void put_lanes(FILE *file, const struct profile_sums *sums)
{
    const uint64_t *counters = sums->counters;
    char a[PROFILE_TEXT], b[PROFILE_TEXT], c[PROFILE_TEXT];
    struct profile_lane lanes[PROFILE_LANES];
    if (!profile_lanes_of(counters, lanes))
        return;
    fprintf(file,
            "<h2>Lanes and protocols</h2><p>Of the bytes of messages, %s go to ranks of the same "
            "node, %s to other nodes, and %s to the rank itself. An eager message is sent at once; "
            "a rendezvous waits for its receive%s. %llu messages came before their receive was "
            "posted.</p>\n<div class=\"wide\"><table><tr><th>lane</th><th>messages</th>"
            "<th>eager</th><th>rendezvous</th><th>bytes by rendezvous</th></tr>\n",
            profile_text_bytes((double)sums->distances[PROFILE_NODE].bytes, a),
            profile_text_bytes((double)sums->distances[PROFILE_FAR].bytes, b),
            profile_text_bytes((double)sums->distances[PROFILE_ITSELF].bytes, c),
            counters[PROFILE_SHM_PIECES]       ? ", and some on the node were pushed in pieces"
            : counters[PROFILE_SHM_RENDEZVOUS] ? ", and on the node takes a single copy"
                                               : "",
            (unsigned long long)counters[PROFILE_UNEXPECTED]);
    for (int i = 0; i < PROFILE_LANES; i++)
        put_lane(file, &lanes[i]);
    fprintf(file, "</table></div><p>These are counters of the library, with the messages of "
                  "collectives and windows.</p>\n");
}

static uint64_t calls_of_size(const void *of, int set, int i)
{
    const struct profile_job *job = of;
    return set < 2 ? job->sizes[set][i].n : job->rendezvous[set - 2][i].n;
}

/* The lower end of the sizes from which on half of the calls (bytes) are. */
static double half_of(const struct profile_count *sizes, bool bytes)
{
    uint64_t all = 0, sum = 0;
    for (int i = 0; i < PROFILE_SIZES; i++)
        all += bytes ? sizes[i].bytes : sizes[i].n;
    for (int i = PROFILE_SIZES - 1; i > 0; i--) {
        sum += bytes ? sizes[i].bytes : sizes[i].n;
        if (sum * 2 >= all)
            return (double)(1ULL << (i - 1));
    }
    return 0;
}

static void put_sizes(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char a[PROFILE_TEXT], b[PROFILE_TEXT];
    if (!sums->messages.n && !sums->collectives.n)
        return;
    fprintf(file, "<h2>Sizes</h2><p>");
    if (sums->messages.n)
        fprintf(file,
                "Half of the messages have at least %s, and half of the bytes are in messages of "
                "at least %s. ",
                profile_text_bytes(half_of(job->sizes[0], false), a),
                profile_text_bytes(half_of(job->sizes[0], true), b));
    fprintf(file, "The heights are numbers of calls, on a logarithmic scale; of a collective the "
                  "size is that of the send buffer of a rank. Below the "
                  "sizes with a rendezvous, messages are eager; the library makes several "
                  "of a collective.</p>\n");
    struct picture_sizes picture = {.sets = 4,
                                    .names = {"messages", "collectives",
                                              "rendezvous through shared memory",
                                              "rendezvous over the network"},
                                    .colours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7"},
                                    .value = calls_of_size,
                                    .of = job,
                                    .sizes = PROFILE_SIZES};
    picture_put_sizes(file, &picture);
}

/* ---- Files and windows */

static void put_access(FILE *file, const char *name, const struct profile_access *access,
                       double seconds)
{
    char bytes[PROFILE_TEXT], each[PROFILE_TEXT], rate[PROFILE_TEXT];
    if (!access->calls)
        return;
    fprintf(file,
            "<tr><td>%s</td><td>%llu</td><td>%s</td><td>%s</td><td>%.0f %%</td><td>%.0f "
            "%%</td><td>%s/s</td></tr>\n",
            name, (unsigned long long)access->calls,
            profile_text_bytes((double)access->bytes, bytes),
            profile_text_bytes((double)access->bytes / (double)access->calls, each),
            share((double)access->small, (double)access->calls),
            share((double)access->aligned, (double)access->located),
            profile_text_bytes(seconds > 0 ? (double)access->bytes / seconds : 0, rate));
}

static void put_files(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char a[PROFILE_TEXT];
    if (sums->reads.calls || sums->writes.calls) {
        fprintf(file,
                "<h2>Files</h2><p>Files take %.1f %% of the time. The rate is that of one rank: "
                "bytes over the time in calls that read or write; nonblocking calls count with the "
                "time of their start alone. Aligned are those that begin in the file, and end, at "
                "multiples of 4 KiB, of those whose offset is known.</p>\n<div "
                "class=\"wide\"><table><tr><th></th><th>calls</th><th>bytes</th>"
                "<th>each</th><th>below 64 KiB</th><th>aligned</th><th>rate of a rank</th></tr>\n",
                share(sums->classes[PROFILE_FILE], sums->all_wall));
        put_access(file, "read", &sums->reads, sums->read_seconds);
        put_access(file, "write", &sums->writes, sums->write_seconds);
        fprintf(file, "</table></div>\n");
    }
    if (sums->rma)
        fprintf(
            file,
            "<h2>Windows</h2><p>%s by puts, gets and accumulates; calls on windows take %.1f %% "
            "of the time.</p>\n",
            profile_text_bytes((double)sums->rma, a),
            share(sums->classes[PROFILE_RMA], sums->all_wall));
    (void)job;
}

/* ---- Bindings and memory */

static bool is_same_binding(const struct profile_rank *a, const struct profile_rank *b)
{
    return a->threads && b->threads && a->node == b->node &&
           strcmp(a->binding.cpus, b->binding.cpus) == 0 &&
           strcmp(a->binding.network, b->binding.network) == 0;
}

/* Ranks of one node that may run on as many hardware threads as it has, with others beside them. */
static int unbound(const struct profile_job *job)
{
    int n = 0;
    for (int i = 0; i < job->size; i++)
        n += job->ranks[i].threads && job->ranks[i].binding.n_cpus >= job->ranks[i].cores;
    return n;
}

static void put_bindings(FILE *file, const struct profile_job *job)
{
    int rows = 0;
    fprintf(file,
            "<h2>Nodes, bindings, networks</h2><p>%d ranks on %d node%s; %d of them may run on all "
            "hardware threads of their node (weftrun --bind changes that).</p>\n<div "
            "class=\"wide\"><table><tr><th>ranks</th><th>node</th><th>host</th>"
            "<th>hardware threads</th><th>network</th></tr>\n",
            job->reported, job->nodes, job->nodes == 1 ? "" : "s", unbound(job));
    for (int i = 0, end; i < job->size && rows < ROWS_SHOWN; i = end, rows++) {
        const struct profile_rank *r = &job->ranks[i];
        for (end = i + 1; end < job->size && is_same_binding(r, &job->ranks[end]); end++)
            continue;
        if (!r->threads)
            continue;
        if (end - i > 1)
            fprintf(file, "<tr><td>%d-%d</td>", i, end - 1);
        else
            fprintf(file, "<tr><td>%d</td>", i);
        fprintf(file, "<td>%d</td><td>", r->node);
        weft_xml_put_text(file, r->binding.host);
        fprintf(file, "</td><td>%s of %d</td><td>", r->binding.cpus, r->cores);
        weft_xml_put_text(file, *r->binding.network ? r->binding.network : "none");
        fprintf(file, "</td></tr>\n");
    }
    fprintf(file, "</table></div>\n");
    if (rows == ROWS_SHOWN)
        fprintf(file, "<p>The first %d rows; the file of figures has all ranks.</p>\n", ROWS_SHOWN);
}

static void put_memory(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char text[7][PROFILE_TEXT];
    uint64_t resident = 0, library = 0;
    for (int i = 0; i < job->size; i++) {
        const struct profile_rank *r = &job->ranks[i];
        resident = r->binding.resident > resident ? r->binding.resident : resident;
    }
    for (int i = PROFILE_MEMORY_REQUESTS; i < PROFILE_MEMORY_SEGMENT; i++)
        library += sums->most[i];
    fprintf(
        file,
        "<h2>Memory</h2><p>A process had at most %s. Of that the library has at most %s for "
        "messages and collectives: %s for requests, %s for unexpected messages, %s shared for "
        "collectives, %s for bounce buffers. The segment for shared memory of a node has %s, of "
        "which pages that no message has used take no memory.</p>\n",
        profile_text_bytes((double)resident, text[0]), profile_text_bytes((double)library, text[1]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_REQUESTS], text[2]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_UNEXPECTED], text[3]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_COLLECTIVES], text[4]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_BOUNCE], text[5]),
        profile_text_bytes((double)sums->most[PROFILE_MEMORY_SEGMENT], text[6]));
}

/* ---- Beginning and end */

static void put_head(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char advice[PROFILE_ADVICE][PROFILE_SENTENCE], date[64], a[PROFILE_TEXT];
    time_t now = time(NULL);
    struct tm local;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M", localtime_r(&now, &local));
    fprintf(file, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>Profile of ");
    weft_xml_put_text(file, program_invocation_short_name);
    fprintf(file, "</title><style>%s</style></head><body>\n<h1>", style);
    weft_xml_put_text(file, program_invocation_short_name);
    fprintf(
        file,
        ": %.1f %% of the time in MPI</h1>\n<p class=\"job\">%d rank%s on %d node%s, %s between "
        "MPI_Init and MPI_Finalize, %s, Weft " PACKAGE_VERSION "</p>\n",
        share(sums->mpi, sums->all_wall), job->size, job->size == 1 ? "" : "s", job->nodes,
        job->nodes == 1 ? "" : "s", profile_text_seconds(sums->wall, a), date);
    if (job->reported < job->size)
        fprintf(file, "<p>%d of the ranks did not report.</p>\n", job->size - job->reported);
    int n = profile_advice(job, sums, advice);
    fprintf(file, "<p>What to try:</p><ul>\n");
    for (int i = 0; i < n; i++) {
        fprintf(file, "<li>");
        weft_xml_put_text(file, advice[i]);
        fprintf(file, "</li>\n");
    }
    fprintf(file, "</ul>\n");
}

static void put_foot(FILE *file)
{
    fprintf(file,
            "<details><summary>What the figures are</summary><p>Time is measured around each call "
            "that the program makes between MPI_Init and MPI_Finalize; with threads it is the sum "
            "of those that call MPI, and so is the time that the shares refer to. Bytes are those "
            "that a rank passes to MPI: of a collective those of its send buffer. Persistent and "
            "partitioned sends count when they are started; persistent "
            "collectives have time and no bytes.</p>"
            "</details>\n</body></html>\n");
}

static void put_page(FILE *file, const struct profile_job *job)
{
    struct profile_sums sums;
    profile_sums_make(job, &sums);
    put_head(file, job, &sums);
    put_ranks(file, job, &sums);
    put_calls(file, job, &sums);
    put_sites(file, job, &sums);
    put_waits(file, job, &sums);
    put_algorithms(file, job);
    put_late(file, job, &sums);
    put_open(file, &sums);
    put_matrices(file, job);
    put_lanes(file, &sums);
    put_sizes(file, job, &sums);
    put_files(file, job, &sums);
    put_bindings(file, job);
    put_memory(file, job, &sums);
    put_foot(file);
}

void profile_page_write(const struct profile_job *job)
{
    FILE *file = fopen(profile_page, "w");
    if (file)
        put_page(file, job);
    if (!file || fclose(file))
        fprintf(stderr, "weft profile: %s cannot be written: %s\n", profile_page, strerror(errno));
}
