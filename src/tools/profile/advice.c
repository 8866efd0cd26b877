// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sums over ranks, and recommendations: each sentence has the figure that it follows from.
 */
#include "tools/profile/job.h"

#include <string.h>

static void add_access(struct profile_access *to, const struct profile_access *from)
{
    to->calls += from->calls;
    to->small += from->small;
    to->bytes += from->bytes;
    to->located += from->located;
    to->aligned += from->aligned;
}

static void add_rank(struct profile_sums *sums, int rank, const struct profile_rank *r)
{
    double compute = r->wall * r->threads - r->mpi;
    sums->wall = r->wall > sums->wall ? r->wall : sums->wall;
    sums->all_wall += r->wall * r->threads;
    sums->mpi += r->mpi;
    sums->compute += compute;
    sums->wait += r->wait;
    for (int i = 0; i < PROFILE_LATES; i++)
        sums->late[i] += r->late[i];
    if (compute > sums->most_compute) {
        sums->most_compute = compute;
        sums->most_compute_rank = rank;
    }
    if (r->mpi >= sums->most_mpi) {
        sums->most_mpi = r->mpi;
        sums->most_mpi_rank = rank;
    }
    if (sums->least_mpi_rank < 0 || r->mpi < sums->least_mpi) {
        sums->least_mpi = r->mpi;
        sums->least_mpi_rank = rank;
    }
    for (int i = 0; i < PROFILE_CLASSES; i++)
        sums->classes[i] += r->classes[i];
    add_access(&sums->reads, &r->reads);
    add_access(&sums->writes, &r->writes);
    sums->read_seconds += r->read_seconds;
    sums->write_seconds += r->write_seconds;
    sums->rma += r->rma;
    for (int i = 0; i < PROFILE_OPENS; i++) {
        sums->open[i] += r->open[i].n;
        sums->open_seconds[i] += r->open_seconds[i];
        sums->inside_seconds[i] += r->inside_seconds[i];
    }
    for (int i = 0; i < PROFILE_COUNTERS; i++) {
        sums->counters[i] += r->counters[i];
        sums->most[i] = r->counters[i] > sums->most[i] ? r->counters[i] : sums->most[i];
    }
    for (int i = 0; i < PROFILE_DISTANCES; i++) {
        sums->distances[i].n += r->distances[i].n;
        sums->distances[i].bytes += r->distances[i].bytes;
    }
}

void profile_sums_make(const struct profile_job *job, struct profile_sums *sums)
{
    *sums = (struct profile_sums){.least_mpi_rank = -1};
    for (int i = 0; i < job->size; i++)
        if (job->ranks[i].threads)
            add_rank(sums, i, &job->ranks[i]);
    sums->compute /= job->reported ? job->reported : 1;
    for (int i = 0; i < job->n; i++)
        for (int cause = 0; cause < PROFILE_LATES; cause++)
            profile_vote(&sums->late_most[cause], job->sites[i].late_most[cause].rank,
                         job->sites[i].late[cause]);
    for (int i = 0; i < PROFILE_SIZES; i++) {
        sums->messages.n += job->sizes[0][i].n;
        sums->messages.bytes += job->sizes[0][i].bytes;
        sums->collectives.n += job->sizes[1][i].n;
        sums->collectives.bytes += job->sizes[1][i].bytes;
    }
}

/* Seconds and calls of all ranks in calls whose names begin so. */
static double seconds_in(const struct profile_job *job, const char *name, uint64_t *calls)
{
    double sum = 0;
    *calls = 0;
    for (int i = 0; i < job->n; i++) {
        if (strncmp(weft_functions[job->sites[i].function].name, name, strlen(name)) != 0)
            continue;
        sum += job->sites[i].sum;
        *calls += job->sites[i].calls;
    }
    return sum;
}

/* The site with the most waiting of a cause; NULL: there is none. */
static const struct profile_site *latest(const struct profile_job *job, enum profile_late cause)
{
    const struct profile_site *found = NULL;
    for (int i = 0; i < job->n; i++)
        if (job->sites[i].late[cause] > (found ? found->late[cause] : 0))
            found = &job->sites[i];
    return found;
}

/* Sentences on waiting in messages. */
static int advise_late(const struct profile_job *job, const struct profile_sums *sums,
                       char list[PROFILE_ADVICE][PROFILE_SENTENCE], int n)
{
    static const char *const begins[PROFILE_LATES] = {
        "send earlier at rank %d: late senders take %.0f %% of the time, most in %s; start its "
        "sends (MPI_Isend) before work that they do not depend on, or give it less work",
        "post receives earlier at rank %d: late receivers take %.0f %% of the time, most in %s; "
        "post them (MPI_Irecv) before its work, or send with MPI_Isend",
        "let messages go on while rank %d works: ranks wait %.0f %% of the time for others to call "
        "MPI, most in %s, though send and receive have begun; set WEFT_PROGRESS_THREAD=on, or call "
        "MPI_Test during its work"};
    char where[160];
    double all = sums->all_wall > 0 ? sums->all_wall : 1;
    for (int cause = 0; cause < PROFILE_LATES; cause++) {
        const struct profile_site *site = latest(job, (enum profile_late)cause);
        if (n == PROFILE_ADVICE || !site || sums->late[cause] <= 0.05 * all)
            continue;
        profile_text_site(site, where, sizeof where);
        snprintf(list[n++], PROFILE_SENTENCE, begins[cause], site->late_most[cause].rank,
                 sums->late[cause] / all * 100, where);
    }
    return n;
}

int profile_advice(const struct profile_job *job, const struct profile_sums *sums,
                   char list[PROFILE_ADVICE][PROFILE_SENTENCE])
{
    char a[PROFILE_TEXT], b[PROFILE_TEXT];
    double all = sums->all_wall > 0 ? sums->all_wall : 1, share = sums->mpi / all;
    double excess = sums->most_compute - sums->compute;
    uint64_t calls;
    int n = 0;
    if (share < 0.05) {
        snprintf(list[n++], PROFILE_SENTENCE,
                 "MPI takes %.1f %% of the time: look for time in the program itself", share * 100);
        return n;
    }
    if (job->neighbors > job->ranks[0].cores)
        snprintf(
            list[n++], PROFILE_SENTENCE,
            "start fewer ranks on a node: that of rank 0 has %d hardware threads for %d ranks, "
            "which wait for each other to run",
            job->ranks[0].cores, job->neighbors);
    if (job->reported > 1 && excess > 0.05 * sums->wall)
        snprintf(list[n++], PROFILE_SENTENCE,
                 "divide the work more evenly: rank %d is outside of MPI for %s, the mean of the "
                 "ranks is %s; even work would save up to %.0f %% of the time",
                 sums->most_compute_rank, profile_text_seconds(sums->most_compute, a),
                 profile_text_seconds(sums->compute, b), excess / sums->wall * 100);
    double each = sums->messages.n ? (double)sums->messages.bytes / (double)sums->messages.n : 0;
    double in_messages = sums->classes[PROFILE_P2P] + sums->classes[PROFILE_COMPLETE];
    if (n < PROFILE_ADVICE && each < 1024 && in_messages > 0.1 * all &&
        (double)sums->messages.n > 10000.0 * sums->wall * job->reported)
        snprintf(list[n++], PROFILE_SENTENCE,
                 "join small messages: %llu messages have %s on average, and take %.0f %% of the "
                 "time",
                 (unsigned long long)sums->messages.n, profile_text_bytes(each, a),
                 in_messages / all * 100);
    n = advise_late(job, sums, list, n);
    double seconds = seconds_in(job, "MPI_Barrier", &calls);
    if (n < PROFILE_ADVICE && seconds > 0.05 * all)
        snprintf(list[n++], PROFILE_SENTENCE,
                 "remove barriers that no data depend on: MPI_Barrier takes %.0f %% of the time in "
                 "%llu calls a rank",
                 seconds / all * 100, (unsigned long long)calls / (unsigned)job->reported);
    double waited = seconds_in(job, "MPI_Recv", &calls);
    waited += seconds_in(job, "MPI_Sendrecv", &calls);
    if (n < PROFILE_ADVICE && !job->lates && waited > 0.1 * all)
        snprintf(list[n++], PROFILE_SENTENCE,
                 "post receives early (MPI_Irecv) and compute before MPI_Wait: blocking receives "
                 "take %.0f %% of the time",
                 waited / all * 100);
    uint64_t accesses = sums->reads.calls + sums->writes.calls;
    uint64_t small = sums->reads.small + sums->writes.small;
    if (n < PROFILE_ADVICE && sums->classes[PROFILE_FILE] > 0.05 * all && small * 2 > accesses)
        snprintf(
            list[n++], PROFILE_SENTENCE,
            "write and read more data in a call, or by collective calls: %llu of %llu accesses are "
            "below 64 KiB, and files take %.0f %% of the time",
            (unsigned long long)small, (unsigned long long)accesses,
            sums->classes[PROFILE_FILE] / all * 100);
    if (n == 0)
        snprintf(list[n++], PROFILE_SENTENCE,
                 "begin with the calls above: they take the most time, and no common fault stands "
                 "out");
    return n;
}
