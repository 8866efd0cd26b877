// SPDX-License-Identifier: BSD-3-Clause
/*
 * Jobs that ranks start by PMIx_Spawn: they have the options of the first job, and their ranks are
 * treated as all others.
 *
 * Invariants:
 *  - A call is answered when all ranks of its job have joined, or one has ended before, so that a
 *    caller never waits for a rank that has died. Ranks that have not joined end with a caller that
 *    dies.
 *  - A job is freed after libpmix has forgotten it, because upcalls refer to its ranks.
 */
#include "spawn.h"
#include "bind.h"
#include "job.h"
#include "launch.h"
#include "limits.h"
#include "lines.h"
#include "phases.h"
#include "policy.h"
#include "rank_count.h"

#include <stdlib.h>
#include <string.h>

/* All hosts must be this one. 0, or -1 after printing why. */
static int check_hosts(const struct job *job, const struct spawn_app *app)
{
    struct host_list list = {0};
    int failed = app->hosts ? weft_hosts_read_words(&list, app->hosts) : 0;
    if (!failed && app->host_file)
        failed = weft_hosts_read_file(&list, app->host_file);
    const char *other = failed ? NULL : weft_hosts_elsewhere(&list);
    if (other)
        weft_lines_print("Program %s cannot be spawned on %s: weftrun spawns on its own host, %s; "
                         "start the parents by prterun or srun, or leave out the info key host.",
                         app->argv[0], other, job->host);
    free(list.hosts);
    return failed || other ? -1 : 0;
}

static int count_env(char *const *env)
{
    int n = 0;
    while (env[n])
        n++;
    return n;
}

/* Fills the applications of a job from its call. */
static enum spawn_result make_apps(struct job *job, const struct spawn_call *call)
{
    if (call->napps < 1) {
        weft_lines_print("A PMIx_Spawn of no program is refused.");
        return SPAWN_NOT_SUPPORTED;
    }
    job->apps = calloc((size_t)call->napps + 1, sizeof *job->apps);
    if (!job->apps)
        return SPAWN_NO_SPACE;
    job->napps = call->napps;
    for (int i = 0; i < call->napps; i++) {
        const struct spawn_app *from = &call->apps[i];
        if (!from->argv[0] || from->count < 1 || from->count > RANKS_MAX - job->size) {
            weft_lines_print("%d processes of %s cannot be spawned: a program and 1 to %d "
                             "processes are needed.",
                             from->count, from->argv[0] ? from->argv[0] : "no program", RANKS_MAX);
            return SPAWN_NOT_SUPPORTED;
        }
        if (check_hosts(job, from))
            return SPAWN_NOT_SUPPORTED;
        struct app *app = &job->apps[i];
        app->argv = from->argv;
        app->dir = from->dir;
        app->env.list = (const char **)from->env;
        app->env.n = count_env(from->env);
        app->first = job->size;
        app->count = from->count;
        job->size += from->count;
    }
    return SPAWN_DONE;
}

/* Everything of a job before its ranks are started. */
static enum spawn_result prepare(struct job *first, struct job *job, int number)
{
    struct rlimit unused;
    if (job->call->refused_key) {
        weft_lines_print("The key %s of PMIx_Spawn, which the caller requires, is not supported by "
                         "weftrun.",
                         job->call->refused_key);
        return SPAWN_NOT_SUPPORTED;
    }
    enum spawn_result result = make_apps(job, job->call);
    if (result != SPAWN_DONE)
        return result;
    int code = weft_launch_resolve(job);
    if (code)
        return code == LAUNCH_NOT_FOUND ? SPAWN_NOT_FOUND : SPAWN_NOT_USABLE;
    if (weft_job_begin(job, number) ||
        weft_limits_check(job, weft_job_count_running(first), &unused) ||
        weft_bind_plan_beside(job, first) || weft_phases_open(job))
        return SPAWN_NO_SPACE;
    if (weft_server_add(job) == 0)
        return SPAWN_DONE;
    weft_server_remove(job); /* libpmix may refer to ranks of it */
    return SPAWN_FAILED;
}

static void free_job(struct job *job)
{
    weft_phases_close(job);
    for (int i = 0; job->apps && i < job->napps; i++) {
        free(job->apps[i].path);
        free(job->apps[i].front_end);
        free(job->apps[i].front_library);
        free(job->apps[i].preload);
    }
    weft_server_free_spawn(job->call);
    free(job->apps);
    free(job->ranks);
    free(job);
}

/* A job with the options of the first one, and nothing that belongs to that alone. */
static struct job *copy_options(const struct job *first, struct spawn_call *call)
{
    struct job *job = malloc(sizeof *job);
    if (!job)
        return NULL;
    *job = *first;
    job->record = job->replay = NULL; /* of one job each; the checker starts anew in each */
    job->profile = job->trace = job->trace_last = NULL;
    job->apps = NULL;
    job->ranks = NULL;
    job->next = NULL;
    job->file_name = NULL;
    job->file = -1;
    job->napps = job->size = job->launched = job->joined_fd = 0;
    job->answered = job->failed = false;
    job->call = call;
    return job;
}

struct job *weft_spawn_make(struct job *first, struct spawn_call *call)
{
    static int last_number = 1;
    struct job *job = copy_options(first, call), *last = first;
    enum spawn_result result = !job                     ? SPAWN_NO_SPACE
                               : weft_policy_stopping() ? SPAWN_FAILED
                                                        : prepare(first, job, last_number + 1);
    if (result != SPAWN_DONE) {
        weft_server_answer_spawn(call, result, "");
        if (job)
            free_job(job);
        else
            weft_server_free_spawn(call);
        return NULL;
    }
    last_number++;
    while (last->next)
        last = last->next;
    last->next = job;
    weft_lines_share();
    weft_policy_look();
    return job;
}

/* True if the rank that has called is dead: it ended before it finalized. */
static bool is_caller_dead(struct job *first, const struct spawn_call *call)
{
    for (struct rank *r = NULL; (r = weft_job_next_rank(first, r));)
        if ((uint32_t)r->rank == call->parent_rank && strcmp(r->job->nspace, call->parent) == 0)
            return !r->running && weft_phases_update(r) != PHASE_LEFT;
    return true; /* its job has been removed */
}

void weft_spawn_check_caller(struct job *first, struct job *job)
{
    if (job->answered || job->failed || weft_policy_stopping() || !is_caller_dead(first, job->call))
        return;
    weft_lines_print("The rank that spawns job %d has ended before all its ranks joined MPI; they "
                     "are stopped.",
                     job->number);
    weft_policy_fail_spawn(job, NULL);
}

void weft_spawn_settle(struct job *job)
{
    if (job->answered)
        return;
    for (int i = 0; i < job->size && !job->failed; i++)
        if (i >= job->launched || weft_phases_update(&job->ranks[i]) == PHASE_STARTED)
            return;
    job->answered = true;
    weft_server_answer_spawn(job->call, job->failed ? SPAWN_FAILED : SPAWN_DONE,
                             job->failed ? "" : job->nspace);
}

/* A rank that left out PMIx_Finalize is reported later, unless its death was reported at once. */
static bool is_needed(const struct job *job)
{
    if (!job->answered || (job->launched < job->size && !job->failed))
        return true;
    for (int i = 0; i < job->launched; i++) {
        const struct rank *r = &job->ranks[i];
        bool waits = !job->keep_going && !job->failed && atomic_load(&r->phase) == PHASE_JOINED;
        if (r->running || waits)
            return true;
    }
    return false;
}

void weft_spawn_remove_ended(struct job *first, void (*done)(const struct job *))
{
    for (struct job *before = first, *job; (job = before->next);) {
        if (is_needed(job)) {
            before = job;
            continue;
        }
        done(job);
        before->next = job->next;
        if (weft_server_remove(job))
            free_job(job);
        else
            weft_phases_close(job);
    }
}
