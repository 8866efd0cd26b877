// SPDX-License-Identifier: BSD-3-Clause
/*
 * The page: messages between ranks, accesses to windows, lanes and protocols, sizes.
 */
#include "tools/profile/sections.h"
#include "tools/profile/picture.h"

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
            "</section><section><h2>%s</h2><p>%llu %s with %s; %d of %d %s have some. From %s %d "
            "to %s %d are the "
            "most, %s in %llu, %.0f %% of all bytes. A stronger colour is more bytes (each "
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

void page_put_matrices(FILE *file, const struct profile_job *job)
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

void page_put_lanes(FILE *file, const struct profile_sums *sums)
{
    const uint64_t *counters = sums->counters;
    char a[PROFILE_TEXT], b[PROFILE_TEXT], c[PROFILE_TEXT];
    struct profile_lane lanes[PROFILE_LANES];
    if (!profile_lanes_of(counters, lanes))
        return;
    fprintf(file,
            "</section><section><h2>Lanes and protocols</h2><p>Of the bytes of messages, %s go to "
            "ranks of the same "
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

void page_put_sizes(FILE *file, const struct profile_job *job, const struct profile_sums *sums)
{
    char a[PROFILE_TEXT], b[PROFILE_TEXT];
    if (!sums->messages.n && !sums->collectives.n)
        return;
    fprintf(file, "</section><section><h2>Sizes</h2><p>");
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
                                    .colours = {"#0072b2", "#e6a817", "#009e73", "#cc79a7"},
                                    .value = calls_of_size,
                                    .of = job,
                                    .sizes = PROFILE_SIZES};
    picture_put_sizes(file, &picture);
}
