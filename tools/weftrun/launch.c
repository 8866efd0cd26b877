// SPDX-License-Identifier: BSD-3-Clause
/*
 * Starting ranks: environment, pipes, fork, exec.
 *
 * Invariants:
 *  - Memory is allocated before fork, because PMIx's threads may hold malloc's lock; between fork
 *    and exec there are system calls only.
 *  - Each rank leads its own process group, and is killed with it at weftrun's end. It is in the
 *    guard's list before exec.
 */
#include "launch.h"
#include "core/base/program_path.h"
#include "front_end.h"
#include "guard.h"
#include "lines.h"
#include "output_files.h"
#include "pmix/job_file.h"
#include "server.h"
#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/close_range.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

extern char **environ;

/* The report of a child that could not execute its program. */
struct complaint {
    int error;
    bool in_chdir;
};

/* A name with a slash is relative to weftrun's directory, also with --wdir. */
static char *location(const struct app *app)
{
    const char *name = app->argv[0];
    if (!strchr(name, '/')) {
        const char *dirs = getenv("PATH");
        char *path = app->search ? weft_program_find(app->search, name) : NULL;
        return path ? path : weft_program_find(dirs ? dirs : "/usr/local/bin:/usr/bin:/bin", name);
    }
    if (!weft_program_is_executable(name))
        return NULL;
    if (name[0] == '/' || !app->dir)
        return strdup(name);
    char *path, *here = get_current_dir_name();
    int n = here ? asprintf(&path, "%s/%s", here, name) : -1;
    free(here);
    return n < 0 ? NULL : path;
}

int weft_launch_resolve(struct job *job)
{
    for (int i = 0; i < job->napps; i++) {
        struct app *app = &job->apps[i];
        struct stat st;
        if (app->dir && (stat(app->dir, &st) || access(app->dir, X_OK))) {
            weft_lines_print("The working directory %s cannot be entered: %s.", app->dir,
                             strerror(errno));
            return LAUNCH_NOT_USABLE;
        }
        app->path = location(app);
        if (app->path) {
            int code = weft_front_end_choose(job, app);
            code = code ? code : weft_tools_choose(job, app);
            if (code)
                return code;
            continue;
        }
        int error = errno;
        bool here = error == ENOENT && !strchr(app->argv[0], '/') &&
                    weft_program_is_executable(app->argv[0]);
        weft_lines_print("The program %s cannot be executed on %s: %s%s%s%s.", app->argv[0],
                         job->host, strerror(error),
                         here ? "; it is not in PATH but in this directory, so write ./" : "",
                         here ? app->argv[0] : "",
                         error == ENOENT && !here && !strchr(app->argv[0], '/') ? " in PATH" : "");
        return error == ENOENT || error == ENOTDIR ? LAUNCH_NOT_FOUND : LAUNCH_NOT_USABLE;
    }
    return 0;
}

void weft_launch_forget_outer(const struct job *job)
{
    if (!job->joined_fd)
        unsetenv(WEFT_PARENT_PORT_VARIABLE);
    static const char *const names[] = {
        "PMIX_NAMESPACE",     "PMIX_RANK", "PMIX_HOSTNAME",  "PMIX_VERSION", "PMIX_SERVER_",
        "PMIX_DSTORE_",       "PMIX_GDS_", "PMIX_SECURITY_", "PMIX_PTL_",    "PMIX_BFROP_",
        "PMIX_SYSTEM_TMPDIR", "PMI_RANK",  "PMI_SIZE",       "PMI_FD"};
    size_t i = 0;
    while (environ[i]) {
        bool foreign = false;
        size_t len = strcspn(environ[i], "=");
        for (size_t k = 0; !foreign && k < sizeof names / sizeof names[0]; k++)
            foreign = strncmp(environ[i], names[k], strlen(names[k])) == 0;
        char name[256];
        if (!foreign || len >= sizeof name) {
            i++;
            continue;
        }
        memcpy(name, environ[i], len);
        name[len] = 0;
        unsetenv(name); /* moves the rest of environ down */
    }
}

static void free_env(char **env)
{
    for (char **e = env; e && *e; e++)
        free(*e);
    free(env);
}

/* Sets "VAR=VAL" in env, which has space for one more entry. 0, or -1: no memory. */
static int set_env(char **env, const char *setting)
{
    size_t name = strcspn(setting, "=") + 1;
    while (*env && strncmp(*env, setting, name) != 0)
        env++;
    char *copy = strdup(setting);
    if (!copy)
        return -1;
    free(*env);
    *env = copy;
    return 0;
}

/* Sets what programs of other MPIs need, for the loader; 0, or -1: no memory. env has space. */
static int set_front_end(const struct job *job, const struct rank *rank, char **env)
{
    char *settings[2];
    bool ok = weft_front_end_settings(job, rank->app, settings);
    for (int i = 0; i < 2; i++) {
        ok = ok && (!settings[i] || set_env(env, settings[i]) == 0);
        free(settings[i]);
    }
    return ok ? 0 : -1;
}

/* Sets the variables by which scripts and libraries find the rank, as the launchers of Open MPI and
 * MPICH do: wrappers choose a GPU by them. All ranks are on this machine. Weft itself reads
 * PMIX_NAMESPACE first. OMPI_UNIVERSE_SIZE is not set, because with it Open MPI's mpirun refuses to
 * start in a script of a rank. 0, or -1: no memory. env has space. */
static int set_rank_variables(const struct job *job, const struct rank *rank, char **env)
{
    const struct {
        const char *name;
        int value;
    } variables[] = {
        {"OMPI_COMM_WORLD_RANK", rank->rank},
        {"OMPI_COMM_WORLD_LOCAL_RANK", rank->rank},
        {"OMPI_COMM_WORLD_NODE_RANK", rank->rank},
        {"OMPI_COMM_WORLD_SIZE", job->size},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", job->size},
        {"PMI_RANK", rank->rank},
        {"PMI_SIZE", job->size},
        {"MPI_LOCALRANKID", rank->rank},
        {"MPI_LOCALNRANKS", job->size},
    };
    char setting[64];
    int failed = 0;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        snprintf(setting, sizeof setting, "%s=%d", variables[i].name, variables[i].value);
        failed |= set_env(env, setting);
    }
    return failed;
}

/* 0, or -1: no memory. env (char **) has space. */
static int set_variable(void *env, const char *variable, const char *value)
{
    char *setting;
    if (asprintf(&setting, "%s=%s", variable, value) < 0)
        return -1;
    int failed = set_env(env, setting);
    free(setting);
    return failed;
}

int weft_launch_tools(const struct job *job, weft_launch_put *put, void *arg)
{
    const struct {
        const char *variable, *value, *usual;
    } tools[] = {
        {"WEFT_CHECK", job->check, "all"},
        {"WEFT_CHECK_RECORD", job->record, ""},
        {"WEFT_CHECK_REPLAY", job->replay, ""},
        {"WEFT_PROFILE", job->profile, "1"},
        {"WEFT_TRACE", job->trace, "1"},
        {"WEFT_TRACE_LAST", job->trace_last, "0"},
        {"WEFT_KEEP_GOING", job->keep_going ? "1" : NULL, "1"},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof tools / sizeof tools[0] && !failed; i++)
        if (tools[i].value)
            failed = put(arg, tools[i].variable, *tools[i].value ? tools[i].value : tools[i].usual);
    return failed;
}

/* Sets PWD to the directory of --wdir, because programs use it if it names the working directory.
 * 0, or -1: no memory. env has space. */
static int set_directory(const struct rank *rank, char **env)
{
    char *path = rank->app->dir ? realpath(rank->app->dir, NULL) : NULL;
    int failed = path ? set_variable(env, "PWD", path) : 0;
    free(path);
    return failed;
}

/* A new environment for rank, to be freed by free_env; NULL after printing why. */
static char **make_env(const struct job *job, const struct rank *rank)
{
    size_t n = 0;
    while (environ[n])
        n++;
    char **env = calloc(n + (size_t)(job->env.n + rank->app->env.n) + 24, sizeof *env);
    bool ok = env != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = (env[i] = strdup(environ[i])) != NULL;
    if (ok)
        ok = set_rank_variables(job, rank, env) == 0 && set_directory(rank, env) == 0;
    for (int i = 0; ok && i < job->env.n; i++)
        ok = set_env(env, job->env.list[i]) == 0;
    for (int i = 0; ok && i < rank->app->env.n; i++)
        ok = set_env(env, rank->app->env.list[i]) == 0;
    if (ok)
        ok = set_front_end(job, rank, env) == 0 && weft_launch_tools(job, set_variable, env) == 0 &&
             set_variable(env, "WEFTRUN_VERSION", PACKAGE_VERSION) == 0 &&
             set_variable(env, WEFT_JOB_FILE_VARIABLE, job->file_name) == 0;
    if (!ok)
        weft_lines_print("No memory for the environment of rank %d%s.", rank->rank, job->words);
    else if (weft_server_env(rank, &env))
        ok = false;
    if (ok)
        return env;
    free_env(env);
    return NULL;
}

struct pipes {
    int out[2], err[2], exec[2];
};

static void close_pipes(struct pipes *p)
{
    int *fds = (int *)p;
    for (size_t i = 0; i < sizeof *p / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static int open_pipes(struct pipes *p)
{
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe2(p->out, O_CLOEXEC) || pipe2(p->err, O_CLOEXEC) || pipe2(p->exec, O_CLOEXEC))
        return -1;
    return fcntl(p->out[0], F_SETFL, O_NONBLOCK) || fcntl(p->err[0], F_SETFL, O_NONBLOCK);
}

/* The child between fork and exec: system calls only. */
_Noreturn static void child(const struct rank *rank, char **env, int in, struct pipes *p,
                            const struct launch_context *ctx, pid_t parent, int guard, bool traced)
{
    struct complaint why = {0, false};
    setpgid(0, 0);
    weft_guard_note(guard, getpid());
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (traced)
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* else Yama allows its ancestors only */
    if (dup2(in, 0) < 0 || dup2(p->out[1], 1) < 0 || dup2(p->err[1], 2) < 0)
        goto fail;
    if (rank->bound && sched_setaffinity(0, sizeof rank->cpus, &rank->cpus))
        goto fail;
    if (rank->app->dir && chdir(rank->app->dir)) {
        why.in_chdir = true;
        goto fail;
    }
    setrlimit(RLIMIT_NOFILE, &ctx->nofile);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    weft_guard_tie(p->exec[1]);
    signal(SIGPIPE, ctx->on_pipe);
    signal(SIGTTIN, ctx->on_ttin);
    signal(SIGXFSZ, ctx->on_xfsz);
    sigprocmask(SIG_SETMASK, &ctx->mask, NULL);
    execve(rank->app->path, rank->app->argv, env);
fail:
    why.error = errno;
    if (write(p->exec[1], &why, sizeof why) < 0)
        _exit(LAUNCH_NOT_USABLE);
    _exit(LAUNCH_NOT_USABLE);
}

/* Prints why a child could not execute its program. Returns the exit code. */
static int explain(const struct job *job, const struct rank *rank, struct complaint why)
{
    const char *program = rank->app->argv[0];
    if (why.in_chdir)
        weft_lines_print("The working directory %s cannot be entered on %s: %s.", rank->app->dir,
                         job->host, strerror(why.error));
    else
        weft_lines_print("The program %s of rank %d%s cannot be executed on %s: %s%s.", program,
                         rank->rank, job->words, job->host, strerror(why.error),
                         why.error == ENOENT    ? "; its interpreter (the #! line, or the dynamic "
                                                  "loader) is missing"
                         : why.error == ENOEXEC ? "; a script needs a #! line, a binary must be "
                                                  "built for this machine"
                                                : "");
    return LAUNCH_NOT_USABLE;
}

int weft_launch_rank(struct job *job, struct rank *rank, int in, const struct launch_context *ctx)
{
    int code = 1;
    pid_t parent = getpid(), pid = -1;
    struct complaint why;
    struct pipes p;
    char **env = NULL;
    if (open_pipes(&p)) {
        weft_lines_print("No pipes for rank %d%s: %s; raise the limit of open files (ulimit -n).",
                         rank->rank, job->words, strerror(errno));
        goto out;
    }
    env = make_env(job, rank);
    if (!env || weft_output_files_open(job, rank))
        goto out;
    pid = fork();
    if (pid == 0)
        child(rank, env, in, &p, ctx, parent, weft_guard_fd(), job->traced);
    if (pid < 0) {
        weft_lines_print(
            "Rank %d of %d%s cannot be started: fork: %s; start fewer ranks or raise the "
            "limit of processes (ulimit -u, or the cgroup's pids.max).",
            rank->rank, job->size, job->words, strerror(errno));
        goto out;
    }
    close(p.exec[1]);
    p.exec[1] = -1;
    ssize_t n;
    do
        n = read(p.exec[0], &why, sizeof why);
    while (n < 0 && errno == EINTR);
    if (n == sizeof why) {
        code = explain(job, rank, why);
        weft_guard_note(weft_guard_fd(), -pid);
        waitpid(pid, NULL, 0);
        goto out;
    }
    rank->pid = pid;
    rank->running = true;
    rank->out.fd = p.out[0];
    rank->err.fd = p.err[0];
    p.out[0] = p.err[0] = -1;
    code = 0;
out:
    free_env(env);
    close_pipes(&p);
    return code;
}
