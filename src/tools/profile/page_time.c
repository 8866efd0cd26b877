// SPDX-License-Identifier: BSD-3-Clause
/*
 * The page: time of ranks, by call, by line of the program.
 */
#include "tools/profile/sections.h"
#include "tools/interpose/xml.h"
#include "tools/profile/picture.h"

#include <stdlib.h>

/* Segments of the bar of a rank. */
enum {
    COMPUTE,
    MESSAGES,
    COMPLETION,
    LATE_SENDER,
    LATE_RECEIVER,
    LATE_PROGRESS,
    WAITING,
    OPERATION,
    WINDOWS,
    FILES,
    OTHER,
    SEGMENTS
};
static const char *const segment_names[SEGMENTS] = {"outside of MPI",
                                                    "messages",
                                                    "requests",
                                                    "late senders",
                                                    "late receivers",
                                                    "late progress",
                                                    "waiting in collectives",
                                                    "collectives",
                                                    "windows",
                                                    "files",
                                                    "other calls"};
static const char *const segment_colours[SEGMENTS] = {"#bcc3ca", "#0072b2", "#56b4e9", "#a3262a",
                                                      "#e58a8a", "#7b52ab", "#d55e00", "#e6a817",
                                                      "#009e73", "#cc79a7", "#777777"};

/* ---- Ranks */

static void add_rank(struct picture_bar *bar, const struct profile_rank *r, double weight)
{
    double *segments = bar->segments;
    double late = -r->late_in_messages;
    segments[COMPUTE] += (r->wall * r->threads - r->mpi) * weight;
    for (int cause = 0; cause < PROFILE_LATES; cause++) {
        segments[LATE_SENDER + cause] += r->late[cause] * weight;
        late += r->late[cause];
    }
    segments[MESSAGES] += (r->classes[PROFILE_P2P] - r->late_in_messages) * weight;
    segments[COMPLETION] += (r->classes[PROFILE_COMPLETE] - late) * weight;
    segments[WAITING] += r->wait * weight;
    segments[OPERATION] += (r->classes[PROFILE_COLLECTIVE] - r->wait) * weight;
    segments[WINDOWS] += r->classes[PROFILE_RMA] * weight;
    segments[FILES] += r->classes[PROFILE_FILE] * weight;
    segments[OTHER] += r->classes[PROFILE_OTHER] * weight;
}

/* The mean of some ranks; of one or several. */
static void fill_bar(struct picture_bar *bar, const struct profile_job *job, int first, int end)
{
    int reported = 0;
    double all = 0;
    for (int r = first; r < end; r++)
        reported += job->ranks[r].threads > 0;
    for (int r = first; r < end; r++)
        if (job->ranks[r].threads)
            add_rank(bar, &job->ranks[r], 1.0 / reported);
    for (int j = 0; j < SEGMENTS; j++)
        all += bar->segments[j];
    if (end - first == job->size && job->size > 1)
        snprintf(bar->label, sizeof bar->label, "mean");
    else if (end - first > 1)
        snprintf(bar->label, sizeof bar->label, "ranks %d-%d", first, end - 1);
    else
        snprintf(bar->label, sizeof bar->label, "rank %d", first);
    snprintf(bar->note, sizeof bar->note, "%.0f %% MPI", share(all - bar->segments[COMPUTE], all));
}

void page_put_ranks(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char a[PROFILE_TEXT], b[PROFILE_TEXT];
    struct picture_bar *bars = weft_interpose_allocate((size_t)job->bins + 1, sizeof *bars);
    int n = 0;
    if (job->bins > 1)
        fill_bar(&bars[n++], job, 0, job->size);
    for (int first = 0; first < job->size; first += job->fold)
        fill_bar(&bars[n++], job, first,
                 first + job->fold < job->size ? first + job->fold : job->size);
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
    struct picture_bars picture = {.n = n,
                                   .segments = SEGMENTS,
                                   .names = segment_names,
                                   .colours = segment_colours,
                                   .left = 100,
                                   .height = n > 17 ? 9 : 16};
    picture_put_bars(file, &picture, bars);
    free(bars);
}

/* ---- Calls */

static const char *const one_colour[] = {"#0072b2"};

void page_put_calls(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    struct picture_bar bars[CALLS_SHOWN] = {0};
    int order[CALLS_SHOWN] = {0}, n = 0;
    for (int i = 0; i < WEFT_CALLS; i++) {
        int at = n;
        if (!job->functions[i].calls || (n && job->functions[i].sum < LEAST_SHOWN * sums->all_wall))
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
            "</section><section><h2>Time by call</h2><p>%s takes %.1f %% of the time. A bar is the "
            "mean of the ranks; "
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
    fprintf(file, "<div class=\"wide\"><table class=\"sites\"><tr><th>call site</th><th>time "
                  "%%</th><th>mean</th><th>least (rank)</th>"
                  "<th>most (rank)</th><th>variation</th><th>calls</th><th>bytes</th>"
                  "<th>shortest call</th><th>longest call</th></tr>\n");
    for (int i = 0; i < job->n && i < ROWS_SHOWN; i++) {
        const struct profile_site *site = &job->sites[i];
        profile_text_site(site, text, sizeof text);
        fprintf(file, "<tr><td>");
        weft_xml_put_text(file, text);
        fprintf(file, "</td><td>%.1f</td><td>%s</td>", share(site->sum, sums->all_wall),
                profile_text_seconds(site->sum / site->ranks, number));
        fprintf(file, "<td>%s (%d)</td>", profile_text_seconds(site->least, number),
                site->least_rank);
        fprintf(file, "<td>%s (%d)</td><td>%.2f</td><td>%llu</td>",
                profile_text_seconds(site->most, number), site->most_rank, profile_variation(site),
                (unsigned long long)site->calls);
        fprintf(file, "<td>%s</td>",
                site->bytes ? profile_text_bytes((double)site->bytes, number) : "");
        fprintf(file, "<td>%s</td>", profile_text_seconds(site->shortest, number));
        fprintf(file, "<td>%s</td></tr>\n", profile_text_seconds(site->longest, number));
    }
    fprintf(file, "</table></div>\n");
}

void page_put_sites(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    struct picture_bar bars[SITES_SHOWN] = {0};
    int n = job->n < SITES_SHOWN ? job->n : SITES_SHOWN;
    double shown = 0;
    while (n > 1 && job->sites[n - 1].sum < LEAST_SHOWN * sums->all_wall)
        n--;
    if (n == 0)
        return;
    for (int i = 0; i < n; i++) {
        const struct profile_site *site = &job->sites[i];
        profile_text_label(site, bars[i].label);
        snprintf(bars[i].note, sizeof bars[i].note, "%.1f %%", share(site->sum, sums->all_wall));
        bars[i].segments[0] = site->sum / job->reported;
        bars[i].from = site->ranks < job->reported ? 0 : site->least;
        bars[i].to = site->most;
        shown += i < 3 ? site->sum : 0;
    }
    fprintf(file,
            "</section><section><h2>Time by line of the program</h2><p>The first three call sites "
            "have %.0f %% of the "
            "time in MPI; begin with these lines.</p>\n",
            share(shown, sums->mpi));
    struct picture_bars picture = {
        .n = n, .segments = 1, .colours = one_colour, .left = 400, .height = 16};
    picture_put_bars(file, &picture, bars);
    put_site_rows(file, job, sums);
}
