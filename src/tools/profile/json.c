// SPDX-License-Identifier: BSD-3-Clause
/*
 * The figures as JSON. Times are seconds, sizes bytes.
 */
#include "tools/profile/profile.h"
#include "tools/interpose/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

static void put_ranks(FILE *file, const struct profile_job *job)
{
    for (int i = 0; i < job->size; i++) {
        const struct profile_rank *r = &job->ranks[i];
        if (!r->threads) {
            fprintf(file, "%s\n    null", i ? "," : "");
            continue;
        }
        fprintf(file,
                "%s\n    {\"wall\": %.9g, \"mpi\": %.9g, \"messages\": %.9g, \"completion\": %.9g, "
                "\"collectives\": %.9g, \"windows\": %.9g, \"files\": %.9g, \"other\": %.9g, "
                "\"wait\": %.9g, \"late_sender\": %.9g, \"late_receiver\": %.9g, "
                "\"late_progress\": %.9g, \"threads\": %d, \"node\": %d, \"resident\": %llu, "
                "\"cpus\": \"%s\", "
                "\"network\": ",
                i ? "," : "", r->wall, r->mpi, r->classes[PROFILE_P2P],
                r->classes[PROFILE_COMPLETE], r->classes[PROFILE_COLLECTIVE],
                r->classes[PROFILE_RMA], r->classes[PROFILE_FILE], r->classes[PROFILE_OTHER],
                r->wait, r->late[PROFILE_LATE_SENDER], r->late[PROFILE_LATE_RECEIVER],
                r->late[PROFILE_LATE_PROGRESS], r->threads, r->node,
                (unsigned long long)r->binding.resident, r->binding.cpus);
        weft_json_put_string(file, r->binding.network);
        fputs("}", file);
    }
}

static void put_site(FILE *file, const struct profile_site *site)
{
    fprintf(file, "{\"call\": \"%s\", \"file\": ", weft_functions[site->function].name);
    weft_json_put_string(file, site->text.file);
    fprintf(file, ", \"line\": %d, \"function\": ", site->text.line);
    weft_json_put_string(file, site->text.function);
    fprintf(file,
            ", \"ranks\": %d, \"calls\": %llu, \"bytes\": %llu, \"time\": %.9g, \"least\": %.9g, "
            "\"least_rank\": %d, \"most\": %.9g, \"most_rank\": %d, \"variation\": %.4g, "
            "\"shortest\": %.9g, \"longest\": %.9g, \"least_bytes\": %llu, \"most_bytes\": "
            "%llu, \"wait\": %.9g, \"late_sender\": %.9g, \"late_receiver\": %.9g, "
            "\"late_progress\": %.9g",
            site->ranks, (unsigned long long)site->calls, (unsigned long long)site->bytes,
            site->sum, site->least, site->least_rank, site->most, site->most_rank,
            profile_variation(site), site->shortest, site->longest,
            (unsigned long long)site->least_bytes, (unsigned long long)site->most_bytes, site->wait,
            site->late[PROFILE_LATE_SENDER], site->late[PROFILE_LATE_RECEIVER],
            site->late[PROFILE_LATE_PROGRESS]);
    enum profile_late cause = profile_late_main(site);
    if (site->late[cause] > 0)
        fprintf(file, ", \"late_rank\": %d", site->late_most[cause].rank);
    fputs("}", file);
}

static void put_sizes(FILE *file, const struct profile_count *sizes)
{
    const char *comma = "";
    for (int i = 0; i < PROFILE_SIZES; i++) {
        if (!sizes[i].n)
            continue;
        fprintf(file, "%s{\"from\": %llu, \"calls\": %llu, \"bytes\": %llu}", comma,
                i ? 1ULL << (i - 1) : 0ULL, (unsigned long long)sizes[i].n,
                (unsigned long long)sizes[i].bytes);
        comma = ", ";
    }
}

/* [source or origin, target, number, bytes] */
static void put_matrix(FILE *file, const struct profile_job *job,
                       const struct profile_count matrix[PROFILE_BINS][PROFILE_BINS])
{
    const char *comma = "";
    for (int i = 0; i < job->bins; i++)
        for (int j = 0; j < job->bins; j++) {
            const struct profile_count *count = &matrix[i][j];
            if (!count->n)
                continue;
            fprintf(file, "%s\n    [%d, %d, %llu, %llu]", comma, i, j, (unsigned long long)count->n,
                    (unsigned long long)count->bytes);
            comma = ",";
        }
}

static void put_hosts(FILE *file, const struct profile_job *job)
{
    int n = 0;
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].threads && job->ranks[i].node == n) {
            fputs(n++ ? ", " : "", file);
            weft_json_put_string(file, job->ranks[i].binding.host);
        }
}

static void put_algorithms(FILE *file, const struct profile_job *job)
{
    for (int i = 0; i < job->n_algorithms; i++) {
        const struct profile_algorithm *a = &job->algorithms[i];
        fprintf(file,
                "%s\n    {\"call\": \"%s\", \"algorithm\": \"%s\", \"calls\": %llu, "
                "\"bytes\": %llu}",
                i ? "," : "", weft_functions[a->function].name, profile_algorithm_name(a->number),
                (unsigned long long)a->n, (unsigned long long)a->bytes);
    }
}

static void put_open(FILE *file, const struct profile_sums *sums)
{
    static const char *const names[PROFILE_OPENS] = {"messages", "others"};
    for (int i = 0; i < PROFILE_OPENS; i++)
        fprintf(file, "%s\"%s\": {\"operations\": %llu, \"time\": %.9g, \"inside\": %.9g}",
                i ? ", " : "", names[i], (unsigned long long)sums->open[i], sums->open_seconds[i],
                sums->inside_seconds[i]);
}

/* Bytes of the rank with the most. */
static void put_memory(FILE *file, const struct profile_sums *sums)
{
    static const char *const names[] = {"requests", "unexpected", "collectives", "bounce",
                                        "segment"};
    for (int i = PROFILE_MEMORY_REQUESTS; i < PROFILE_COUNTERS; i++)
        fprintf(file, "%s\"%s\": %llu", i > PROFILE_MEMORY_REQUESTS ? ", " : "",
                names[i - PROFILE_MEMORY_REQUESTS], (unsigned long long)sums->most[i]);
}

/* [rank that waits, rank that is late, seconds] */
static void put_late(FILE *file, const struct profile_job *job)
{
    const char *comma = "";
    for (int i = 0; i < job->bins; i++)
        for (int j = 0; j < job->bins; j++) {
            if (job->late[i][j] <= 0)
                continue;
            fprintf(file, "%s\n    [%d, %d, %.9g]", comma, i, j, job->late[i][j]);
            comma = ",";
        }
}

static void put_access(FILE *file, const char *name, const struct profile_job *job, bool writes)
{
    struct profile_access sum = {0};
    double seconds = 0;
    for (int i = 0; i < job->size; i++) {
        const struct profile_rank *r = &job->ranks[i];
        const struct profile_access *access = writes ? &r->writes : &r->reads;
        sum.calls += access->calls;
        sum.small += access->small;
        sum.bytes += access->bytes;
        sum.located += access->located;
        sum.aligned += access->aligned;
        seconds += writes ? r->write_seconds : r->read_seconds;
    }
    fprintf(file,
            "\"%s\": {\"calls\": %llu, \"small\": %llu, \"located\": %llu, \"aligned\": %llu, "
            "\"bytes\": %llu, \"time\": %.9g}",
            name, (unsigned long long)sum.calls, (unsigned long long)sum.small,
            (unsigned long long)sum.located, (unsigned long long)sum.aligned,
            (unsigned long long)sum.bytes, seconds);
}

static void put_lane(FILE *file, const struct profile_lane *lane)
{
    fprintf(file,
            "\"%s\": {\"messages\": %llu, \"rendezvous\": %llu, \"rendezvous_bytes\": %llu, "
            "\"credit_waits\": %llu}, ",
            lane->name, (unsigned long long)lane->messages, (unsigned long long)lane->rendezvous,
            (unsigned long long)lane->rendezvous_bytes, (unsigned long long)lane->credit_waits);
}

static void put_lanes(FILE *file, const struct profile_sums *sums)
{
    struct profile_lane lanes[PROFILE_LANES];
    const uint64_t *c = sums->counters;
    profile_lanes_of(c, lanes);
    fprintf(file, "{");
    for (int i = 0; i < PROFILE_LANES; i++)
        put_lane(file, &lanes[i]);
    fprintf(file, "\"shm_pieces\": %llu, \"unexpected\": %llu},\n  ",
            (unsigned long long)c[PROFILE_SHM_PIECES], (unsigned long long)c[PROFILE_UNEXPECTED]);
    fprintf(file, "\"message_bytes\": {\"self\": %llu, \"node\": %llu, \"other_nodes\": %llu}",
            (unsigned long long)sums->distances[PROFILE_ITSELF].bytes,
            (unsigned long long)sums->distances[PROFILE_NODE].bytes,
            (unsigned long long)sums->distances[PROFILE_FAR].bytes);
}

/* [index in sites, rank, calls, time, shortest, longest, bytes, least bytes, most bytes] */
static void put_rows(FILE *file, const struct profile_job *job)
{
    int *index = weft_interpose_allocate((size_t)job->n, sizeof *index);
    for (int i = 0; i < job->n; i++)
        index[job->sites[i].id] = i;
    for (int i = 0; i < job->n_rows; i++) {
        const struct profile_row *row = &job->rows[i];
        const struct profile_figures *f = &row->figures;
        fprintf(file, "%s\n    [%d, %d, %llu, %.9g, %.9g, %.9g, %llu, %llu, %llu]", i ? "," : "",
                index[row->site], row->rank, (unsigned long long)f->calls, f->seconds, f->least,
                f->most, (unsigned long long)f->bytes,
                (unsigned long long)(f->bytes ? f->least_bytes : 0),
                (unsigned long long)f->most_bytes);
    }
    free(index);
}

static void put_job(FILE *file, const struct profile_job *job)
{
    struct profile_sums sums;
    profile_sums_make(job, &sums);
    fprintf(file,
            "{\n  \"weft\": \"" PACKAGE_VERSION
            "\", \"size\": %d, \"reported\": %d, \"nodes\": %d,\n  \"waits\": %s, \"lates\": %s, "
            "\"ranks\": [",
            job->size, job->reported, job->nodes, job->waits ? "true" : "false",
            job->lates ? "true" : "false");
    put_ranks(file, job);
    fprintf(file, "\n  ],\n  \"hosts\": [");
    put_hosts(file, job);
    fprintf(file, "],\n  \"sites\": [");
    for (int i = 0; i < job->n; i++) {
        fprintf(file, "%s\n    ", i ? "," : "");
        put_site(file, &job->sites[i]);
    }
    fprintf(file, "\n  ],\n  \"by_rank\": [");
    put_rows(file, job);
    fprintf(file, "],\n  \"by_rank_left_out\": %d,\n  \"message_sizes\": [", job->rows_left_out);
    put_sizes(file, job->sizes[0]);
    fprintf(file, "],\n  \"collective_sizes\": [");
    put_sizes(file, job->sizes[1]);
    fprintf(file, "],\n  \"rendezvous_sizes\": {\"shm\": [");
    put_sizes(file, job->rendezvous[0]);
    fprintf(file, "], \"net\": [");
    put_sizes(file, job->rendezvous[1]);
    fprintf(file, "]},\n  \"ranks_a_bin\": %d, \"matrix\": [", job->fold);
    put_matrix(file, job, job->matrix);
    fprintf(file, "],\n  \"accesses\": [");
    put_matrix(file, job, job->accesses);
    fprintf(file, "],\n  \"late\": [");
    put_late(file, job);
    fprintf(file, "],\n  \"algorithms\": [");
    put_algorithms(file, job);
    fprintf(file, "],\n  \"nonblocking\": {");
    put_open(file, &sums);
    fprintf(file, "},\n  \"memory\": {");
    put_memory(file, &sums);
    fprintf(file, "},\n  \"lanes\": ");
    put_lanes(file, &sums);
    fprintf(file, ",\n  ");
    put_access(file, "reads", job, false);
    fprintf(file, ",\n  ");
    put_access(file, "writes", job, true);
    fprintf(file, "\n}\n");
}

void profile_json_write(const struct profile_job *job)
{
    FILE *file = fopen(profile_json, "w");
    if (file)
        put_job(file, job);
    if (!file || fclose(file))
        fprintf(stderr, "weft profile: %s cannot be written: %s\n", profile_json, strerror(errno));
}
