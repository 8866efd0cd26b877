// SPDX-License-Identifier: BSD-3-Clause
/*
 * The line of another launcher for a job with ranks on several hosts, and its run.
 *
 * The launcher is PRRTE's, MPICH's or Open MPI's on hosts of a list, which they reach by ssh, and
 * srun in an allocation of Slurm. Variables of ranks (-x, front ends, --check) are set by env(1) in
 * front of the program, so that the launcher itself runs without them.
 *
 * Invariants:
 *  - Every option of weftrun is translated or refused.
 *  - The launcher ends with weftrun, also if weftrun is killed; it ends the ranks.
 */
#include "starter.h"
#include "front_end.h"
#include "installed.h"
#include "launch.h"
#include "lines.h"
#include "rank_parent.h"
#include "core/base/clock.h"
#include "core/base/program_path.h"
#include "pmix/job_file.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_REFUSED 2
#define EXIT_TIMEOUT 124

/* Seconds that the launcher has to end the ranks after a signal, before it is killed. */
#define GRACE 10

extern char **environ;

enum kind { PRRTE, OPEN_MPI, HYDRA, SLURM };

/* The first one in PATH is used. Open MPI's comes last: it passes no variables by itself, and takes
 * three seconds longer to end the ranks of a job. */
static const struct starter {
    const char *name;
    enum kind kind;
} starters[] = {{"prterun", PRRTE},           {"mpiexec.hydra", HYDRA}, {"mpiexec.mpich", HYDRA},
                {"mpirun.openmpi", OPEN_MPI}, {"orterun", OPEN_MPI},    {"srun", SLURM}};

enum { STARTERS = sizeof starters / sizeof starters[0] };

/* ---- The launcher */

/* NULL with errno: there is none, or it is a link to weftrun. */
static char *find_in_path(const char *name)
{
    const char *dirs = getenv("PATH");
    char *path = weft_program_find(dirs ? dirs : "/usr/local/bin:/usr/bin:/bin", name);
    struct stat self, file;
    if (!path || stat("/proc/self/exe", &self) || stat(path, &file) || self.st_ino != file.st_ino ||
        self.st_dev != file.st_dev)
        return path;
    free(path);
    errno = ENOENT;
    return NULL;
}

/* The launcher that the user names, by its path or name. */
static const struct starter *find_named(const char *name, char **path)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    for (int i = 0; i < STARTERS; i++) {
        if (strcmp(starters[i].name, base) != 0)
            continue;
        *path = slash ? strdup(name) : find_in_path(name);
        if (*path && access(*path, X_OK) == 0)
            return &starters[i];
        weft_lines_print("The launcher %s of --starter cannot be executed: %s.", name,
                         strerror(errno));
        return NULL;
    }
    weft_lines_print(
        "--starter takes prterun, mpiexec.hydra, mpirun.openmpi, orterun or srun, or a "
        "path that ends in one of these, not \"%s\".",
        name);
    return NULL;
}

/* Removes the variables of the outer step, which srun would take for options of the new one. */
static void forget_outer_step(void)
{
    static const char *const kept[] = {
        "SLURM_CONF=", "SLURM_JOB_ID=", "SLURM_JWT=", "SLURM_CLUSTERS="};
    static const char *const removed[] = {"SLURM_", "PMIX_", "PMI_", "PMI2_"};
    for (char **e = environ; *e;) {
        bool is_kept = false, is_removed = false;
        for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
            is_kept |= strncmp(*e, kept[i], strlen(kept[i])) == 0;
        for (size_t i = 0; i < sizeof removed / sizeof removed[0]; i++)
            is_removed |= strncmp(*e, removed[i], strlen(removed[i])) == 0;
        char *name = is_kept || !is_removed ? NULL : strndup(*e, strcspn(*e, "="));
        if (!name || unsetenv(name)) /* which moves the rest of environ down */
            e++;
        free(name);
    }
}

/* The launcher of the job and its path. NULL after printing why there is none. */
static const struct starter *find_starter(const struct job *job, char **path)
{
    const char *name = job->starter ? job->starter : getenv("WEFT_STARTER");
    bool slurm = job->elsewhere == ELSEWHERE_SLURM;
    if (name && *name)
        return find_named(name, path);
    for (int i = 0; i < STARTERS; i++) {
        *path = (starters[i].kind == SLURM) == slurm ? find_in_path(starters[i].name) : NULL;
        if (*path)
            return &starters[i];
    }
    if (slurm)
        weft_lines_print("The allocation of Slurm has other nodes, and srun is not in PATH.");
    else
        weft_lines_print("Ranks on %s need the launcher of PRRTE, MPICH or Open MPI, and none is "
                         "in PATH: install "
                         "prterun, mpiexec.hydra (Debian: mpich) or mpirun.openmpi (Debian: "
                         "openmpi-bin), or name "
                         "one by --starter.",
                         weft_hosts_elsewhere(&job->hosts));
    return NULL;
}

/* ---- Options that only ranks of one host can have */

static const char *find_untranslated(const struct job *job, enum kind kind)
{
    const struct placement *p = &job->placement;
    const struct output *output = &job->output;
    for (int i = 0; i < job->napps; i++)
        if (job->apps[i].set)
            return "--pset";
    return job->debug                                               ? "--debug"
           : job->top                                               ? "--top"
           : p->rank_file                                           ? "--rankfile"
           : p->cpus                                                ? "--cpu-set"
           : p->elements > 1 || p->objects > 1                      ? "a number of cores"
           : p->map || p->per_object                                ? "--map-by"
           : p->rank_by || p->fills                                 ? "--rank-by"
           : output->out || output->err || output->dir              ? "--output-filename"
           : job->reader != 0                                       ? "--stdin"
           : job->stamp && kind != OPEN_MPI                         ? "--timestamp-output"
           : job->prints_codes && kind != HYDRA                     ? "--print-all-exitcodes"
           : job->universe && kind != HYDRA                         ? "--usize"
           : job->report_bindings && !job->plans && kind == HYDRA   ? "--report-bindings"
           : job->by_node && kind == HYDRA && job->apps[0].per_node ? "--map-by node with --ppn"
           : job->remote_shell && kind == SLURM                     ? "--launcher-exec"
                                                                    : NULL;
}

/* 0, or -1 after printing what the hosts cannot have. */
static int check(const struct job *job, const struct starter *starter)
{
    const char *option = find_untranslated(job, starter->kind);
    if (option) {
        weft_lines_print("weftrun does not translate %s for %s, which starts ranks on other hosts: "
                         "leave it out, or add %s's own option to the line that weftrun "
                         "--do-not-launch prints.",
                         option, starter->name, starter->name);
        return -1;
    }
    for (int i = 0; job->hosts.n > 0 && i < job->napps; i++) {
        const struct app *app = &job->apps[i];
        if (!app->per_node || app->count <= app->per_node * job->hosts.n)
            continue;
        weft_lines_print(
            "%d ranks with at most %d on each host need %d hosts, and the line has %d.", app->count,
            app->per_node, (app->count - 1) / app->per_node + 1, job->hosts.n);
        return -1;
    }
    return 0;
}

/* ---- The line */

struct line {
    char **words; /* NULL-terminated */
    int n;
    bool failed; /* no memory */
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    char **more = realloc(line->words, (size_t)(line->n + 2) * sizeof *more);
    va_list args;
    va_start(args, format);
    if (more)
        line->words = more;
    if (!more || vasprintf(&line->words[line->n], format, args) < 0)
        line->failed = true;
    else
        line->words[++line->n] = NULL;
    va_end(args);
}

static void add_option(struct line *line, const char *option, const char *value)
{
    add(line, "%s", option);
    add(line, "%s", value);
}

/* "a:4,b:4". Hydra goes round the hosts if each has one slot. */
static void add_hosts(struct line *line, const struct job *job, enum kind kind)
{
    char *text = NULL;
    size_t size;
    FILE *list = open_memstream(&text, &size);
    bool in_turn = kind == HYDRA && job->by_node;
    for (int i = 0; list && i < job->hosts.n; i++) {
        const struct host *host = &job->hosts.hosts[i];
        int slots = in_turn ? 1 : weft_hosts_slots_of(host, job->apps[0].per_node);
        fprintf(list, kind == SLURM ? "%s%s" : "%s%s:%d", i ? "," : "", host->name, slots);
    }
    if (!list || fclose(list))
        line->failed = true;
    else
        add_option(line, kind == HYDRA ? "-hosts" : kind == SLURM ? "--nodelist" : "--host", text);
    free(text);
}

static const char *object_name(enum object object, enum kind kind)
{
    switch (object) {
    case OBJECT_NONE:
        return "none";
    case OBJECT_HWTHREAD:
        return kind == SLURM ? "threads" : "hwthread";
    case OBJECT_CORE:
        return kind == SLURM ? "cores" : "core";
    case OBJECT_PACKAGE:
        return kind == SLURM ? "sockets" : kind == PRRTE ? "package" : "socket";
    case OBJECT_NUMA:
        return kind == SLURM ? "ldoms" : "numa";
    default:
        return weft_placement_name(object);
    }
}

/* True if all ranks have slots on the hosts of the line. */
static bool has_slots(const struct job *job)
{
    int slots = 0;
    for (int i = 0; i < job->hosts.n; i++)
        slots += weft_hosts_slots_of(&job->hosts.hosts[i], job->apps[0].per_node);
    return job->size <= slots;
}

/* prterun begins again at the first host with each program if ranks may share slots. */
static void add_prrte(struct line *line, const struct job *job)
{
    bool shares = job->napps == 1 || !has_slots(job);
    add(line, "--map-by");
    add(line, "%s%s", job->by_node ? "node" : "slot", shares ? ":OVERSUBSCRIBE" : "");
    if (job->remote_shell) {
        add_option(line, "--prtemca", "plm_ssh_agent");
        add(line, "%s", job->remote_shell);
    }
    if (job->tag)
        add_option(line, "--output", "tag");
    if (job->keep_going)
        add_option(line, "--runtime-options", "recoverable");
    if (job->report_bindings && !job->plans)
        add_option(line, "--display", "bind");
}

static void add_open_mpi(struct line *line, const struct job *job)
{
    add(line, "%s", job->one_each ? "--nooversubscribe" : "--oversubscribe");
    if (job->by_node)
        add_option(line, "--map-by", "node");
    if (job->remote_shell) {
        add_option(line, "--mca", "plm_rsh_agent");
        add(line, "%s", job->remote_shell);
    }
    if (job->tag)
        add(line, "--tag-output");
    if (job->stamp)
        add(line, "--timestamp-output");
    if (job->keep_going)
        add(line, "--enable-recovery");
    if (job->report_bindings && !job->plans)
        add(line, "--report-bindings");
}

static void add_hydra(struct line *line, const struct job *job)
{
    if (job->remote_shell)
        add_option(line, "-launcher-exec", job->remote_shell);
    if (job->tag)
        add(line, "-prepend-rank");
    if (job->keep_going)
        add(line, "-disable-auto-cleanup");
    if (job->prints_codes)
        add(line, "-print-all-exitcodes");
    if (job->universe)
        add(line, "-usize=%d", job->universe);
}

/* The slots of each host if all have as many, else 0. */
static int common_slots(const struct job *job)
{
    const struct host_list *list = &job->hosts;
    int slots = list->n > 0 ? weft_hosts_slots_of(&list->hosts[0], job->apps[0].per_node) : 0;
    for (int i = 1; i < list->n; i++)
        if (weft_hosts_slots_of(&list->hosts[i], job->apps[0].per_node) != slots)
            return 0;
    return job->size == slots * list->n ? slots : 0;
}

/* The processors of the allocation: "4(x2),3" is 11. */
static int count_processors(void)
{
    const char *at = getenv("SLURM_JOB_CPUS_PER_NODE");
    int n = 0;
    for (char *end; at && *at; at = end + (*end == ',')) {
        long number = strtol(at, &end, 10), times = 1;
        if (end == at)
            return 0;
        if (strncmp(end, "(x", 2) == 0)
            times = strtol(end + 2, &end, 10);
        end += *end == ')';
        n += (int)(number * times);
    }
    return n;
}

static void add_slurm(struct line *line, const struct job *job)
{
    add(line, "--mpi=%s", job->slurm_step ? job->slurm_step : "pmix");
    if (job->slurm_step)
        add(line, "--overlap");
    add(line, "--kill-on-bad-exit=%d", !job->keep_going);
    if (job->keep_going)
        add(line, "--no-kill");
    add(line, "--input=0");
    if (job->hosts.n > 0)
        add(line, "--nodes=%d", job->hosts.n);
    int most = job->slurm_step ? count_processors() : job->slurm_tasks;
    if (most > 0 && job->size > most)
        add(line, "--overcommit");
    if (job->by_node)
        add(line, "--distribution=cyclic");
    if (job->tag)
        add(line, "--label");
    if (job->placement.bind)
        add(line, "--cpu-bind=%s%s", job->report_bindings && !job->plans ? "verbose," : "",
            object_name(job->placement.bind, SLURM));
}

/* The options of the job. */
static void add_job(struct line *line, const struct job *job, enum kind kind)
{
    if (job->hosts.n > 0)
        add_hosts(line, job, kind);
    if (kind == SLURM) {
        add_slurm(line, job);
        return;
    }
    add_option(line, kind == HYDRA ? "-bind-to" : "--bind-to",
               object_name(job->placement.bind, kind));
    if (kind == HYDRA) {
        add_hydra(line, job);
        return;
    }
    if (geteuid() == 0)
        add(line, "--allow-run-as-root");
    if (kind == PRRTE)
        add_prrte(line, job);
    else
        add_open_mpi(line, job);
}

/* Variables that describe this host, this shell or an outer job. */
static bool is_local(const char *name, size_t len)
{
    static const char *const names[] = {
        "_",    "HOME",   "HOSTNAME", "LOGNAME",  "OLDPWD",   "PWD",    "SHELL",   "SHLVL",
        "USER", "TMPDIR", "MAIL",     "PMI_RANK", "PMI_SIZE", "PMI_FD", "DISPLAY", "XAUTHORITY"};
    static const char *const groups[] = {"SSH_", "BASH_FUNC_", "XDG_",  "DBUS_",
                                         "PMIX", "OMPI_",      "PRTE_", "SLURM"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
            return true;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (strncmp(groups[i], name, strlen(groups[i])) == 0)
            return true;
    return false;
}

/* The launchers of PRRTE and Open MPI pass the variables only that are named. */
static void add_environment(struct line *line)
{
    for (char **e = environ; *e; e++) {
        size_t len = strcspn(*e, "=");
        if (is_local(*e, len) || len == 0 || strpbrk(*e, "\n;"))
            continue;
        add(line, "-x");
        add(line, "%.*s", (int)len, *e);
    }
}

static void add_variables(struct line *line, const struct variables *variables)
{
    for (int i = 0; i < variables->n; i++)
        add(line, "%s", variables->list[i]);
}

/* The variables of an application and its program. */
static void add_program(struct line *line, const struct job *job, const struct app *app)
{
    char *settings[2];
    int env = line->n;
    add(line, "env");
    if (!weft_front_end_settings(app, settings))
        line->failed = true;
    for (int i = 0; i < 2; i++) {
        if (settings[i])
            add(line, "%s", settings[i]);
        free(settings[i]);
    }
    if (job->check)
        add(line, "WEFT_CHECK=%s", *job->check ? job->check : "all");
    if (job->record)
        add(line, "WEFT_CHECK_RECORD=%s", job->record);
    if (job->replay)
        add(line, "WEFT_CHECK_REPLAY=%s", job->replay);
    if (job->profile)
        add(line, "WEFT_PROFILE=%s", *job->profile ? job->profile : "1");
    if (job->trace)
        add(line, "WEFT_TRACE=%s", *job->trace ? job->trace : "1");
    if (job->trace_last)
        add(line, "WEFT_TRACE_LAST=%s", job->trace_last);
    if (job->keep_going)
        add(line, "WEFT_KEEP_GOING=1");
    add_variables(line, &job->env);
    add_variables(line, &app->env);
    if (line->n == env + 1 && !line->failed) {
        free(line->words[env]); /* no variable needs it */
        line->n = env;
    } else if (strchr(app->path, '=')) { /* which env would take for a variable */
        add_option(line, "/bin/sh", "-c");
        add_option(line, "exec \"$@\"", "sh");
    }
    add(line, "%s", app->path);
    for (int i = 1; app->argv[i]; i++)
        add(line, "%s", app->argv[i]);
}

/* Prints words as a shell reads them. */
static void print_words(char **words, FILE *out)
{
    for (int i = 0; words[i]; i++) {
        const char *word = words[i];
        fputs(i ? " " : "", out);
        if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_-+./:,=@%")]) {
            fputs(word, out);
            continue;
        }
        fputc('\'', out);
        for (; *word; word++)
            fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, out);
        fputc('\'', out);
    }
}

/* True if srun's line cannot express a step: it takes a word ":" for the end of a program, and a
 * step has one program. */
static bool needs_shell(const struct job *job)
{
    bool colon = false;
    for (int i = 1; job->apps[0].argv[i]; i++)
        colon |= strcmp(job->apps[0].argv[i], ":") == 0;
    return job->slurm_step && (colon || job->napps > 1);
}

/* The shell of each task executes the program of that task. */
static void add_shell(struct line *line, const struct job *job)
{
    char *script = NULL;
    size_t size;
    int below = 0;
    FILE *out = open_memstream(&script, &size);
    for (int i = 0; out && i < job->napps; i++) {
        struct line program = {0};
        char *folder[] = {job->apps[i].dir ? (char *)job->apps[i].dir : (char *)".", NULL};
        below += job->apps[i].count;
        add_program(&program, job, &job->apps[i]);
        line->failed |= program.failed;
        fprintf(out, "if [ $SLURM_PROCID -lt %d ]; then export %s=%d; CDPATH= cd -- ", below,
                WEFT_APPNUM_VARIABLE, i);
        print_words(folder, out);
        fputs(" || exit 1; exec ", out);
        print_words(program.words, out);
        fputs("; fi\n", out);
    }
    line->failed |= !out || fclose(out);
    add(line, "-n");
    add(line, "%d", below);
    add(line, "/bin/sh");
    add(line, "-c");
    add(line, "%s", script ? script : "");
    free(script);
}

static void add_apps(struct line *line, const struct job *job, enum kind kind)
{
    for (int i = 0; i < job->napps; i++) {
        const struct app *app = &job->apps[i];
        if (i > 0)
            add(line, ":");
        if (kind == PRRTE || kind == OPEN_MPI)
            add_environment(line);
        if (app->count) {
            add(line, "-n");
            add(line, "%d", app->count);
        }
        int per_node = app->per_node ? app->per_node : common_slots(job);
        if (kind == SLURM && per_node > 0)
            add(line, "--ntasks-per-node=%d", per_node);
        if (app->dir)
            add_option(line,
                       kind == HYDRA   ? "-wdir"
                       : kind == SLURM ? "--chdir"
                                       : "--wdir",
                       app->dir);
        if (kind == HYDRA) {
            char self[4096];
            weft_installed_self(self, sizeof self);
            add_option(line, self, RANK_PARENT_OPTION);
        }
        add_program(line, job, app);
    }
}

/* ---- The run */

static pid_t start(char **words, const sigset_t *mask)
{
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    /* SIGTERM, because a launcher that is killed may leave its processes on other hosts. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTTIN, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(words[0], words);
    weft_lines_print("%s cannot be executed: %s.", words[0], strerror(errno));
    _exit(LAUNCH_NOT_USABLE);
}

/* The reason to end the launcher, and when it is killed. */
struct ending {
    int code;        /* weftrun's exit code then, or 0 */
    double deadline; /* 0: none */
    int tries;
};

static void end(struct ending *ending, pid_t pid, int code, bool has_got_it)
{
    if (!has_got_it)
        kill(pid, ending->tries++ > 0 ? SIGKILL : SIGTERM);
    if (!ending->code)
        ending->code = code;
    ending->deadline = weft_seconds() + GRACE;
}

/* A signal of weftrun. The launcher has got one of the terminal as weftrun has; srun ends its tasks
 * at a second SIGINT only. */
static void pass_on(struct ending *ending, pid_t pid, const siginfo_t *info, enum kind kind)
{
    int number = info->si_signo;
    if (number == SIGUSR1 || number == SIGUSR2)
        kill(pid, number);
    else
        end(ending, pid, 128 + number, info->si_code == SI_KERNEL && kind != SLURM);
}

/* Waits for the launcher. Returns the exit code of the job. */
static int wait_for(const struct job *job, pid_t pid, const sigset_t *signals, enum kind kind)
{
    struct ending ending = {.deadline = job->timeout > 0 ? weft_seconds() + job->timeout : 0};
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        double left = ending.deadline > 0 ? ending.deadline - weft_seconds() : 1;
        left = left > 1 ? 1 : left < 0 ? 0 : left;
        struct timespec time = {(time_t)left, (long)(1e9 * (left - (double)(time_t)left))};
        siginfo_t info;
        if (sigtimedwait(signals, &info, &time) > 0) {
            if (info.si_signo != SIGCHLD)
                pass_on(&ending, pid, &info, kind);
        } else if (ending.deadline > 0 && weft_seconds() >= ending.deadline) {
            if (!ending.code)
                weft_lines_print("The job is stopped after %g seconds, the limit of %s.",
                                 job->timeout, job->timeout_from);
            end(&ending, pid, EXIT_TIMEOUT, false);
        }
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ending.code && (code != 0 || ending.code == EXIT_TIMEOUT) ? ending.code : code;
}

static int run(const struct job *job, char **words, enum kind kind)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
    sigset_t signals, mask;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&signals, numbers[i]);
    sigprocmask(SIG_BLOCK, &signals, &mask);
    pid_t pid = start(words, &mask);
    if (pid > 0)
        return wait_for(job, pid, &signals, kind);
    weft_lines_print("%s cannot be started: %s.", words[0], strerror(errno));
    return 1;
}

int weft_starter_run(struct job *job)
{
    struct line line = {0};
    char *path;
    const struct starter *starter = find_starter(job, &path);
    if (!starter || check(job, starter))
        return EXIT_REFUSED;
    int code = weft_launch_resolve(job);
    if (code)
        return code;
    add(&line, "%s", path);
    add_job(&line, job, starter->kind);
    if (needs_shell(job))
        add_shell(&line, job);
    else
        add_apps(&line, job, starter->kind);
    if (line.failed) {
        weft_lines_print("No memory for the line of %s.", starter->name);
        return EXIT_REFUSED;
    }
    if (job->plans || job->verbose) {
        FILE *out = job->plans ? stdout : stderr;
        print_words(line.words, out);
        fputc('\n', out);
        fflush(out);
    }
    if (job->slurm_step)
        forget_outer_step();
    return job->plans ? 0 : run(job, line.words, starter->kind);
}
