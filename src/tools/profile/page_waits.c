// SPDX-License-Identifier: BSD-3-Clause
/*
 * The page: waiting in collectives and messages, algorithms, overlap.
 */
#include "tools/profile/sections.h"
#include "tools/profile/picture.h"

/* ---- Collectives */

void page_put_waits(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    static const char *const names[] = {"waiting for other ranks", "operation"};
    static const char *const colours[] = {"#d55e00", "#e6a817"};
    struct picture_bar bars[SITES_SHOWN] = {0};
    char a[PROFILE_TEXT];
    int n = 0;
    for (int i = 0; i < job->n && n < SITES_SHOWN; i++) {
        const struct profile_site *site = &job->sites[i];
        if (site->wait <= 0)
            continue;
        profile_text_label(site, bars[n].label);
        snprintf(bars[n].note, sizeof bars[n].note, "%.0f %%", share(site->wait, site->sum));
        bars[n].segments[0] = site->wait / job->reported;
        bars[n].segments[1] = (site->sum - site->wait) / job->reported;
        n++;
    }
    fprintf(file, "</section><section><h2>Collectives: waiting and operation</h2><p>");
    if (!job->waits)
        fprintf(file,
                "The split is not known: ranks made different collective calls, or several threads "
                "call MPI.</p>\n");
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

void page_put_algorithms(FILE *file, const struct profile_job *job)
{
    char bytes[PROFILE_TEXT];
    if (!job->n_algorithms)
        return;
    fprintf(file, "</section><section><h2>Collectives: algorithms</h2><p>Calls that took messages, "
                  "and how the library "
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

static double late_of(const struct profile_site *site)
{
    double late = 0;
    for (int cause = 0; cause < PROFILE_LATES; cause++)
        late += site->late[cause];
    return late;
}

/* Picks the sites with the most waiting, in its order. Returns how many. */
static int pick_late(const struct profile_job *job, const struct profile_sums *sums,
                     const struct profile_site **picked)
{
    int n = 0;
    for (int i = 0; i < job->n; i++) {
        const struct profile_site *site = &job->sites[i];
        int at = n;
        if (late_of(site) <= LEAST_SHOWN * sums->all_wall)
            continue;
        for (; at > 0 && late_of(picked[at - 1]) < late_of(site); at--)
            if (at < SITES_SHOWN)
                picked[at] = picked[at - 1];
        if (at < SITES_SHOWN)
            picked[at] = site;
        n += n < SITES_SHOWN;
    }
    return n;
}

static void put_late_bars(FILE *file, const struct profile_job *job,
                          const struct profile_sums *sums)
{
    static const char *const names[] = {"for late senders", "for late receivers",
                                        "for late progress", "rest"};
    static const char *const colours[] = {"#a3262a", "#e58a8a", "#7b52ab", "#56b4e9"};
    struct picture_bar bars[SITES_SHOWN] = {0};
    const struct profile_site *sites[SITES_SHOWN];
    int n = pick_late(job, sums, sites);
    for (int i = 0; i < n; i++) {
        const struct profile_site *site = sites[i];
        profile_text_label(site, bars[i].label);
        snprintf(bars[i].note, sizeof bars[i].note, "%.0f %%, rank %d",
                 share(late_of(site), site->sum), site->late_most[profile_late_main(site)].rank);
        for (int cause = 0; cause < PROFILE_LATES; cause++)
            bars[i].segments[cause] = site->late[cause] / job->reported;
        bars[i].segments[PROFILE_LATES] = (site->sum - late_of(site)) / job->reported;
    }
    struct picture_bars picture = {.n = n,
                                   .segments = PROFILE_LATES + 1,
                                   .names = names,
                                   .colours = colours,
                                   .left = 400,
                                   .height = 16};
    picture_put_bars(file, &picture, bars);
}

/* States the waiting of each cause. Returns false if it is too short for a bar. */
static bool put_causes(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    static const char *const causes[PROFILE_LATES] = {
        "%s in receives for messages whose send began later; the latest sender is rank %d",
        "%s in sends for receives that were posted later; the latest receiver is rank %d",
        "%s for ranks that were outside of MPI when send and receive had begun, so that the "
        "message did not go on (WEFT_PROGRESS_THREAD=on or MPI_Test during the work changes that); "
        "most for rank %d"};
    char a[PROFILE_TEXT];
    const char *before = "<p>The mean of the ranks waits ";
    for (int cause = 0; cause < PROFILE_LATES; cause++) {
        if (sums->late[cause] <= LEAST_SHOWN * sums->all_wall)
            continue;
        fputs(before, file);
        fprintf(file, causes[cause], profile_text_seconds(sums->late[cause] / job->reported, a),
                sums->late_most[cause].rank);
        before = "; ";
    }
    return *before != '<';
}

void page_put_late(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    if (!sums->messages.n)
        return;
    fprintf(file, "</section><section><h2>Waiting in messages</h2>");
    if (!job->lates) {
        fprintf(file, "<p>It is not known which ranks were late, because several threads call "
                      "MPI.</p>\n");
        return;
    }
    if (!put_causes(file, job, sums)) {
        fprintf(file, "<p>No call waited noticeably for a send or a receive that another rank "
                      "began later, or for its progress.</p>\n");
        return;
    }
    fprintf(file, ". A faster network would not shorten this. Behind a bar is the rank that is "
                  "late most.</p>\n");
    put_late_bars(file, job, sums);
    fprintf(
        file,
        "<p>Who waits for whom: a row is a rank that waits, a column one that is late. A column "
        "with many strong cells is a rank that delays many others.</p>\n");
    struct picture_matrix picture = {.bins = job->bins,
                                     .fold = job->fold,
                                     .value = late_of_entry,
                                     .note = note_of_late,
                                     .row = "rank",
                                     .column = "waits for rank",
                                     .colour = "#a3262a",
                                     .of = job};
    picture_put_matrix(file, &picture);
}

/* ---- Nonblocking operations */

void page_put_open(FILE *file, const struct profile_sums *sums)
{
    static const char *const kinds[PROFILE_OPENS] = {"sends and receives",
                                                     "collectives, windows, files"};
    static const char *const names[] = {"between start and completion",
                                        "in the call that completes it"};
    static const char *const colours[] = {"#bcc3ca", "#56b4e9"};
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
            "</section><section><h2>Nonblocking operations: overlap</h2><p>%llu operations; the "
            "ranks were outside of "
            "the calls that complete them for %.0f %% of the time between start and completion: "
            "as much of it may overlap with other work. A bar is the mean of an operation.</p>\n",
            (unsigned long long)operations, share(all - inside, all));
    struct picture_bars picture = {
        .n = n, .segments = 2, .names = names, .colours = colours, .left = 210, .height = 16};
    picture_put_bars(file, &picture, bars);
}
