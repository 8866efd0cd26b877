// SPDX-License-Identifier: BSD-3-Clause
/*
 * The number of ranks of a job, by the options and the allocation of a batch system, and limits of
 * hosts and cores.
 */
#include "rank_count.h"
#include "bind.h"
#include "hosts.h"
#include "lines.h"
#include "rank_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A job in an allocation of several nodes has ranks on all of them: by srun, or on the hosts of the
 * list. The other systems have no list, so the job is not started on one node. A line that names
 * this host alone means it. */
static int check_allocation(struct job *job, const struct allocation *allocation)
{
    const struct app *app = &job->apps[0];
    char count[32] = "", host[256] = "";
    int n = 0;
    if (job->slurm_step)
        job->elsewhere = ELSEWHERE_SLURM;
    if (job->here)
        job->elsewhere = ELSEWHERE_NOT;
    bool local = job->here || (job->hosts.n > 0 && !job->elsewhere);
    if (job->slurm_step || local || !allocation->nodes[0] || (job->elsewhere && job->starter))
        return 0;
    if (strcmp(allocation->system, "Slurm") == 0) {
        job->elsewhere = ELSEWHERE_SLURM;
        job->slurm_tasks = allocation->all_tasks;
        return 0;
    }
    if (job->elsewhere)
        return 0;
    if (allocation->list.n > 0) {
        job->elsewhere = ELSEWHERE_HOSTS;
        job->hosts = allocation->list;
        return 0;
    }
    for (int i = 0; i < job->napps; i++)
        n += job->apps[i].count;
    if (n > 0)
        snprintf(count, sizeof count, " -n %d", n);
    gethostname(host, sizeof host - 1);
    bool prterun = strncmp(allocation->command, "prterun", 7) == 0;
    weft_lines_print(
        "The allocation of %s has other nodes (%s), and weftrun starts ranks on %s only: "
        "use \"%s%s %s%s\"%s, or add --here.",
        allocation->system, allocation->nodes, host, allocation->command, count, app->argv[0],
        app->argv[1] || job->napps > 1 ? " ..." : "",
        prterun ? " of PRRTE or Open MPI" : " or PRRTE's prterun");
    return -1;
}

/* The default of -n for a line with one program. -1 after printing why there is none. */
static int default_count(const struct job *job, int tasks)
{
    const struct placement *p = &job->placement;
    if (job->elsewhere == ELSEWHERE_SLURM && job->hosts.n == 0)
        return job->apps[0].count; /* srun's default */
    if (job->elsewhere)
        return weft_hosts_slots(&job->hosts, job->apps[0].per_node);
    if (p->rank_file)
        return weft_rank_file_count(p->rank_file);
    if (p->per_object) {
        int objects = weft_bind_count(job, p->map);
        return objects < 0 ? -1 : objects * p->per_object;
    }
    return job->apps[0].per_node ? job->apps[0].per_node : job->slots ? job->slots : tasks;
}

/* The limits of a list of hosts: max_slots, and with --nooversubscribe the slots. A launcher that
 * puts more ranks on hosts than they have slots does not see max_slots, so the slots are raised. */
static int check_slots(struct job *job)
{
    struct host_list *list = &job->hosts;
    int per_node = job->apps[0].per_node;
    if (job->elsewhere == ELSEWHERE_SLURM || (!job->one_each && !weft_hosts_have_limits(list)))
        return 0;
    int limit = job->elsewhere ? 0 : weft_hosts_limit_here(list);
    int most = job->one_each ? weft_hosts_slots(list, per_node)
               : limit > 0   ? limit
                             : weft_hosts_raise_slots(list, job->size, per_node);
    if (job->size <= most)
        return 0;
    weft_lines_print("%d ranks are more than the %d slots of the hosts, and the %s: leave it out, "
                     "or start fewer.",
                     job->size, most,
                     job->one_each ? "line has --nooversubscribe" : "file of hosts has max_slots");
    return -1;
}

/* The limits that --nooversubscribe and ppr:N:OBJECT set on this machine. */
static int check_cores(const struct job *job)
{
    const struct placement *p = &job->placement;
    int most = RANKS_MAX;
    if (p->per_object && !p->overload) {
        int objects = weft_bind_count(job, p->map);
        if (objects < 0)
            return -1;
        most = objects * p->per_object;
        if (job->size > most)
            weft_lines_print("%d ranks are more than %d on each %s, of which %s has %d: start at "
                             "most %d, or leave out --map-by.",
                             job->size, p->per_object, weft_placement_name(p->map), "this machine",
                             objects, most);
    } else if (job->one_each && job->hosts.n == 0) {
        most = weft_bind_count(job, OBJECT_CORE);
        if (most < 0)
            return -1;
        if (job->size > most)
            weft_lines_print("%d ranks are more than this machine's %d cores, and the line has "
                             "--nooversubscribe: leave it out, or start fewer.",
                             job->size, most);
    }
    return job->size > most ? -1 : 0;
}

int weft_ranks_count(struct job *job)
{
    struct allocation allocation;
    weft_hosts_allocation(&allocation);
    if (check_allocation(job, &allocation) || weft_placement_finish(&job->placement))
        return -1;
    if (job->napps == 1 && job->apps[0].count == 0)
        job->apps[0].count = default_count(job, allocation.tasks);
    if (job->apps[0].count < 0)
        return -1;
    for (int i = 0; i < job->napps; i++) {
        struct app *app = &job->apps[i];
        if (job->elsewhere != ELSEWHERE_SLURM || job->napps > 1)
            app->count = app->count ? app->count : app->per_node ? app->per_node : 1;
        if (!job->elsewhere && app->per_node && app->count > app->per_node) {
            weft_lines_print("%d ranks with at most %d on each node need several machines, and "
                             "the line names this one only; name the hosts by -H or --hostfile, or "
                             "leave out the number per node.",
                             app->count, app->per_node);
            return -1;
        }
        app->first = job->size;
        job->size += app->count;
        if (job->size > RANKS_MAX) {
            weft_lines_print("%d ranks in all are more than weftrun's %d.", job->size, RANKS_MAX);
            return -1;
        }
    }
    if (job->joined_fd && job->elsewhere && !job->slurm_step) {
        weft_lines_print("Processes cannot be spawned on other hosts by a program without a "
                         "launcher: start it by prterun or srun, or leave out the info key host.");
        return -1;
    }
    if (job->hosts.n > 0 && check_slots(job))
        return -1;
    return job->elsewhere ? 0 : check_cores(job);
}
