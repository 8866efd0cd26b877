// SPDX-License-Identifier: BSD-3-Clause
/*
 * The summary on stderr.
 */
#include "tools/profile/profile.h"

#include <stdio.h>
#include <string.h>

enum { SITES_SHOWN = 3 };

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_site(const struct profile_job *job, const struct profile_sums *sums,
                       const struct profile_site *site)
{
    char where[512], least[PROFILE_TEXT], most[PROFILE_TEXT], each[PROFILE_TEXT];
    profile_text_site(site, where, sizeof where);
    fprintf(stderr, "weft profile: %s: %.1f %% of the time", where,
            site->sum / sums->all_wall * 100);
    if (site->ranks > 1)
        fprintf(stderr, " (%s on rank %d to %s on rank %d)",
                profile_text_seconds(site->least, least), site->least_rank,
                profile_text_seconds(site->most, most), site->most_rank);
    else
        fprintf(stderr, " (%s on rank %d)", profile_text_seconds(site->most, most),
                site->most_rank);
    fprintf(stderr, ", %llu call%s", (unsigned long long)site->calls, plural(site->calls));
    if (site->bytes)
        fprintf(stderr, " of %s",
                profile_text_bytes((double)site->bytes / (double)site->calls, each));
    if (job->waits && site->wait > 0.01 * site->sum)
        fprintf(stderr, ", %.0f %% of it waiting for other ranks", site->wait / site->sum * 100);
    for (int i = 0; i < PROFILE_LATES; i++)
        if (site->late[i] > 0.01 * site->sum)
            fprintf(stderr, ", %.0f %% of it waiting for %s, rank %d%s",
                    site->late[i] / site->sum * 100, profile_text_late[i], site->late_most[i].rank,
                    site->ranks > 1 ? " most" : "");
    fprintf(stderr, "\n");
}

static void print_bytes(const struct profile_sums *sums)
{
    char all[PROFILE_TEXT], each[PROFILE_TEXT], text[PROFILE_TEXT];
    const struct profile_count *messages = &sums->messages, *collectives = &sums->collectives;
    fprintf(stderr, "weft profile: %llu message%s with %s", (unsigned long long)messages->n,
            plural(messages->n), profile_text_bytes((double)messages->bytes, all));
    if (messages->n)
        fprintf(stderr, " (%s each)",
                profile_text_bytes((double)messages->bytes / (double)messages->n, each));
    fprintf(stderr, ", collectives with %s", profile_text_bytes((double)collectives->bytes, text));
    if (sums->rma)
        fprintf(stderr, ", windows %s", profile_text_bytes((double)sums->rma, text));
    if (sums->reads.calls)
        fprintf(stderr, ", %s read", profile_text_bytes((double)sums->reads.bytes, text));
    if (sums->writes.calls)
        fprintf(stderr, ", %s written", profile_text_bytes((double)sums->writes.bytes, text));
    fprintf(stderr, "\n");
}

static void print_lane(const struct profile_lane *lane, const char *how)
{
    char text[PROFILE_TEXT];
    fprintf(stderr, " %s %llu message%s", lane->title, (unsigned long long)lane->messages,
            plural(lane->messages));
    if (lane->rendezvous)
        fprintf(stderr, ", %llu of them by rendezvous with %s%s",
                (unsigned long long)lane->rendezvous,
                profile_text_bytes((double)lane->rendezvous_bytes, text), how);
}

/* Messages by lane and protocol, with those of collectives and windows. */
static void print_lanes(const struct profile_sums *sums)
{
    const uint64_t *counters = sums->counters;
    struct profile_lane lanes[PROFILE_LANES];
    if (!profile_lanes_of(counters, lanes))
        return;
    fprintf(stderr, "weft profile: lanes:");
    const char *before = "";
    for (int i = 0; i < PROFILE_LANES; i++) {
        const bool copies = strcmp(lanes[i].name, "shm") == 0;
        if (!lanes[i].messages)
            continue;
        fputs(before, stderr);
        print_lane(&lanes[i], !copies                        ? ""
                              : counters[PROFILE_SHM_PIECES] ? ", some pushed in pieces"
                                                             : ", single copy");
        before = ";";
    }
    fprintf(stderr, "; %llu unexpected\n", (unsigned long long)counters[PROFILE_UNEXPECTED]);
}

/* Waiting of all ranks by its causes, if it is more than 1 % of the time. */
static void print_waits(const struct profile_job *job, const struct profile_sums *sums)
{
    double all = sums->all_wall > 0 ? sums->all_wall : 1;
    const char *comma = "";
    double waiting = sums->wait;
    for (int i = 0; i < PROFILE_LATES; i++)
        waiting += sums->late[i];
    if (waiting < 0.01 * all)
        return;
    fprintf(stderr, "weft profile: waiting: ");
    if (job->waits && sums->wait > 0) {
        fprintf(stderr, "%.1f %% of the time in collectives for ranks that enter later",
                sums->wait / all * 100);
        comma = ", ";
    }
    for (int i = 0; i < PROFILE_LATES; i++) {
        if (sums->late[i] < 0.001 * all)
            continue;
        fprintf(stderr, "%s%.1f %%%s for %s (rank %d most)", comma, sums->late[i] / all * 100,
                *comma ? "" : " of the time", profile_text_lates[i], sums->late_most[i].rank);
        comma = ", ";
    }
    fprintf(stderr, "\n");
}

void profile_lines_print(const struct profile_job *job)
{
    char wall[PROFILE_TEXT], least[PROFILE_TEXT], most[PROFILE_TEXT], mean[PROFILE_TEXT];
    char advice[PROFILE_ADVICE][PROFILE_SENTENCE];
    struct profile_sums sums;
    profile_sums_make(job, &sums);
    double all = sums.all_wall > 0 ? sums.all_wall : 1;
    fprintf(stderr, "weft profile: %d rank%s on %d node%s, %s: %.1f %% of the time in MPI",
            job->size, plural((uint64_t)job->size), job->nodes, plural((uint64_t)job->nodes),
            profile_text_seconds(sums.wall, wall), sums.mpi / all * 100);
    if (job->reported > 1)
        fprintf(stderr, " (%s on rank %d to %s on rank %d)",
                profile_text_seconds(sums.least_mpi, least), sums.least_mpi_rank,
                profile_text_seconds(sums.most_mpi, most), sums.most_mpi_rank);
    if (job->threads > 1)
        fprintf(stderr, ", up to %d threads a rank", job->threads);
    fprintf(stderr, "\n");
    if (job->reported < job->size)
        fprintf(stderr, "weft profile: %d of the ranks did not report\n",
                job->size - job->reported);
    for (int i = 0; i < job->n && i < SITES_SHOWN; i++)
        print_site(job, &sums, &job->sites[i]);
    if (job->reported > 1)
        fprintf(stderr,
                "weft profile: outside of MPI: mean %s, the most %s on rank %d, %.0f %% above the "
                "mean\n",
                profile_text_seconds(sums.compute, mean),
                profile_text_seconds(sums.most_compute, most), sums.most_compute_rank,
                sums.compute > 0 ? (sums.most_compute / sums.compute - 1) * 100 : 0.0);
    print_waits(job, &sums);
    print_bytes(&sums);
    print_lanes(&sums);
    int n = profile_advice(job, &sums, advice);
    for (int i = 0; i < n; i++)
        fprintf(stderr, "weft profile: try: %s\n", advice[i]);
    fprintf(stderr, "weft profile: the page is %s, with its figures in %s\n", profile_page,
            profile_json);
}
