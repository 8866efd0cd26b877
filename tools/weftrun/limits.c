// SPDX-License-Identifier: BSD-3-Clause
/*
 * Limits of the machine.
 *
 * Invariant: a job that is refused here has started no process. The requirements are those of
 * weftrun and libpmix for each rank, rounded up; a limit that cannot be read counts as no limit.
 * Neither weftrun nor its libpmix uses /dev/shm or the disk.
 */
#include "limits.h"
#include "lines.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For each rank: the pipes of stdout and stderr (and files for their output), and PMIx's socket.
 * For the job: weftrun's (signals, wake, guard, lock, tie, /dev/null, the terminal's pipe, six ends
 * while a rank starts) and libpmix's (listener, event loops): about 28, and a reserve for files
 * that libpmix opens briefly. */
#define FILES_PER_RANK 3
#define FILES_BESIDES  44

/* A rank has its main thread, one of PMIx, and one or two of the provider; weftrun has its main
 * thread, two of PMIx, and the guard. */
#define TASKS_PER_RANK 4
#define TASKS_BESIDES  4

/* The stack that libpmix's threads, which have the size of this limit, take with a reserve. */
#define STACK_KIB 256

int weft_limits_check_stack(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_STACK, &r) || r.rlim_cur >= STACK_KIB * 1024)
        return 0;
    weft_lines_print("The limit of the stack (RLIMIT_STACK) is %lu KiB, too little for weftrun; "
                     "raise it to at least %d KiB (ulimit -s).",
                     (unsigned long)r.rlim_cur / 1024, STACK_KIB);
    return -1;
}

static int check_files(int size, int others, int each, struct rlimit *before)
{
    if (getrlimit(RLIMIT_NOFILE, before)) {
        *before = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
        return 0;
    }
    struct rlimit raised = {before->rlim_max, before->rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised))
        raised = *before;
    int besides = FILES_BESIDES + others * each;
    rlim_t need = (rlim_t)size * (rlim_t)each + (rlim_t)besides;
    if (raised.rlim_cur == RLIM_INFINITY || raised.rlim_cur >= need)
        return 0;
    long fit = ((long)raised.rlim_cur - besides) / each;
    weft_lines_print("%d ranks need %lu open files in weftrun, but the limit (RLIMIT_NOFILE) is "
                     "%lu; raise it (ulimit -Hn) or start at most %ld ranks.",
                     size, (unsigned long)need, (unsigned long)raised.rlim_cur, fit > 0 ? fit : 0);
    return -1;
}

/* Threads of all processes of this user, as RLIMIT_NPROC counts them. */
static long count_tasks(void)
{
    long tasks = 0;
    DIR *proc = opendir("/proc");
    struct dirent *e;
    while (proc && (e = readdir(proc))) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        char path[300], line[256];
        snprintf(path, sizeof path, "/proc/%s/status", e->d_name);
        FILE *f = fopen(path, "re");
        unsigned uid = 0;
        bool mine = false;
        long threads = 0;
        while (f && fgets(line, sizeof line, f)) {
            if (sscanf(line, "Uid: %u", &uid) == 1)
                mine = uid == getuid();
            else if (sscanf(line, "Threads: %ld", &threads) == 1)
                break;
        }
        if (f)
            fclose(f);
        if (mine)
            tasks += threads;
    }
    if (proc)
        closedir(proc);
    return tasks;
}

static int refuse_tasks(int size, const char *limit, long most, long used, long need,
                        const char *remedy)
{
    long fit = (most - used - TASKS_BESIDES) / TASKS_PER_RANK;
    weft_lines_print("%d ranks need %ld processes and threads, but of the %ld that %s allows %ld "
                     "are in use; %s or start at most %ld ranks.",
                     size, need, most, limit, used, remedy, fit > 0 ? fit : 0);
    return -1;
}

/* Reads the number in a file of this process's cgroup (version 2). Returns -1 if there is none or
 * its content is "max". */
static long read_cgroup(const char *name)
{
    char line[PATH_MAX], path[PATH_MAX + 64];
    long value = -1;
    FILE *f = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f))
        found = strncmp(line, "0::", 3) == 0;
    if (f)
        fclose(f);
    if (!found)
        return -1;
    line[strcspn(line, "\n")] = 0;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", line + 3, name);
    f = fopen(path, "re");
    if (f && fscanf(f, "%ld", &value) != 1)
        value = -1;
    if (f)
        fclose(f);
    return value;
}

static int check_tasks(int size)
{
    long need = (long)size * TASKS_PER_RANK + TASKS_BESIDES;
    long most = read_cgroup("pids.max"), used = read_cgroup("pids.current");
    if (most >= 0 && used >= 0 && used + need > most)
        return refuse_tasks(size, "the cgroup's pids.max", most, used, need, "raise it");
    struct rlimit r;
    /* RLIMIT_NPROC does not apply to root. */
    if (geteuid() == 0 || getrlimit(RLIMIT_NPROC, &r) || r.rlim_cur == RLIM_INFINITY)
        return 0;
    used = count_tasks();
    if (used + need <= (long)r.rlim_cur)
        return 0;
    return refuse_tasks(size, "RLIMIT_NPROC", (long)r.rlim_cur, used, need, "raise it (ulimit -u)");
}

int weft_limits_check(const struct job *job, int others, struct rlimit *before)
{
    bool files = job->output.out || job->output.err || job->output.dir;
    if (check_files(job->size, others, FILES_PER_RANK + (files ? 2 : 0), before) ||
        check_tasks(job->size))
        return -1;
    return 0;
}
