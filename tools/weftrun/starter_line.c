// SPDX-License-Identifier: BSD-3-Clause
/*
 * The line of another launcher: see starter_line.h. Variables of ranks (-x, front ends, --check)
 * are set by env(1) in front of the program, so that the launcher itself runs without them.
 *
 * Invariant: every option of weftrun is translated or refused.
 */
#include "starter_line.h"
#include "front_end.h"
#include "installed.h"
#include "launch.h"
#include "lines.h"
#include "rank_parent.h"
#include "pmix/job_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Words of a program above which Hydra gets a script: it has space for 1000, with its own. */
#define HYDRA_WORDS 900

/* Bytes of the host names of all ranks, which srun gets in one word: Linux allows 128 KiB. */
#define LISTED_MOST (120 << 10)

/* ---- Options that only ranks of one host can have */

/* Slurm has a name of its own for this host. */
static const char *slurm_name(const struct host *host)
{
    const char *name = getenv("SLURMD_NODENAME");
    return name && weft_hosts_is_here(host->name) ? name : host->name;
}

/* True if no host may have more ranks than slots. */
static bool has_limits(const struct job *job)
{
    return job->one_each || weft_hosts_have_limits(&job->hosts);
}

/* Objects that srun has no --cpu-bind for. */
static bool is_cache(enum object object)
{
    return object == OBJECT_L1CACHE || object == OBJECT_L2CACHE || object == OBJECT_L3CACHE;
}

/* No less than the bytes of add_hosts_of_ranks. */
static size_t bytes_of_hosts(const struct job *job)
{
    size_t longest = 0;
    for (int i = 0; i < job->hosts.n; i++) {
        size_t len = strlen(slurm_name(&job->hosts.hosts[i])) + 1;
        longest = len > longest ? len : longest;
    }
    return longest * (size_t)job->size;
}

static const char *find_untranslated(const struct job *job, enum starter_kind kind)
{
    const struct placement *p = &job->placement;
    const struct output *output = &job->output;
    bool per_node = false, differs = false;
    for (int i = 0; i < job->napps; i++) {
        per_node |= job->apps[i].per_node > 0;
        differs |= job->apps[i].per_node && job->apps[i].per_node != job->apps[0].per_node;
        if (job->apps[i].set)
            return "--pset";
    }
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
           : job->by_node && kind == HYDRA && has_limits(job) ? "--map-by node with limits of hosts"
           : kind == SLURM && weft_hosts_have_limits(&job->hosts) ? "max_slots"
           : job->remote_shell && kind == SLURM                   ? "--launcher-exec"
           : kind == SLURM && bytes_of_hosts(job) > LISTED_MOST   ? "-H of so many ranks"
           : kind == SLURM && is_cache(p->bind)                   ? "--bind to a cache"
           : differs ? "--ppn that differs between programs"
           : kind == SLURM && job->napps > 1 && job->hosts.n == 0 && per_node
               ? "--ppn of several programs"
               : NULL;
}

int weft_starter_check(const struct job *job, const char *name, enum starter_kind kind)
{
    const char *option = find_untranslated(job, kind);
    if (option) {
        weft_lines_print("weftrun does not translate %s for %s, which starts ranks on other hosts: "
                         "leave it out, or add %s's own option to the line that weftrun "
                         "--do-not-launch prints.",
                         option, name, name);
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
static void add_hosts(struct line *line, const struct job *job, enum starter_kind kind)
{
    char *text = NULL;
    size_t size;
    FILE *list = open_memstream(&text, &size);
    bool in_turn = kind == HYDRA && job->by_node;
    for (int i = 0; list && i < job->hosts.n; i++) {
        const struct host *host = &job->hosts.hosts[i];
        int slots = in_turn ? 1 : weft_hosts_slots_of(host, job->apps[0].per_node);
        fprintf(list, "%s%s:%d", i ? "," : "", host->name, slots);
    }
    if (!list || fclose(list))
        line->failed = true;
    else
        add_option(line, kind == HYDRA ? "-hosts" : "--host", text);
    free(text);
}

static const char *object_name(enum object object, enum starter_kind kind)
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
    bool shares = !has_limits(job) && (job->napps == 1 || !has_slots(job));
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
    add(line, "%s", has_limits(job) ? "--nooversubscribe" : "--oversubscribe");
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

/* Adds the host of each rank: srun sorts the nodes of a list and distributes ranks by a rule of
 * its own, unless the distribution is "arbitrary". Ranks take all slots of a host, or one of each
 * host in turn; when all are taken, the ranks begin again. Returns the most ranks of a host. */
static int add_hosts_of_ranks(struct line *line, const struct job *job)
{
    const struct host_list *hosts = &job->hosts;
    int per_node = job->apps[0].per_node, all = weft_hosts_slots(hosts, per_node), most = 0;
    int *ranks = calloc((size_t)hosts->n, sizeof *ranks); /* of each host */
    char *text = NULL;
    size_t size;
    FILE *list = open_memstream(&text, &size);
    for (int rank = 0, i = 0; list && ranks && rank < job->size; i = (i + 1) % hosts->n) {
        int slots = weft_hosts_slots_of(&hosts->hosts[i], per_node);
        int n = !job->by_node ? slots : rank >= all || ranks[i] < slots;
        for (; n > 0 && rank < job->size; n--, ranks[i]++)
            fprintf(list, "%s%s", rank++ ? "," : "", slurm_name(&hosts->hosts[i]));
        most = ranks[i] > most ? ranks[i] : most;
    }
    line->failed |= !list || fclose(list) || !ranks;
    if (!line->failed)
        add_option(line, "--nodelist", text);
    add(line, "--distribution=arbitrary");
    free(ranks);
    free(text);
    return most;
}

/* The processors of the allocation, and the fewest of a node: "4(x2),3" is 11 and 3. */
static int count_processors(int *fewest)
{
    const char *at = getenv("SLURM_JOB_CPUS_PER_NODE");
    int n = 0;
    *fewest = 0;
    for (char *end; at && *at; at = end + (*end == ',')) {
        long number = strtol(at, &end, 10), times = 1;
        if (end == at)
            return 0;
        if (strncmp(end, "(x", 2) == 0)
            times = strtol(end + 2, &end, 10);
        end += *end == ')';
        n += (int)(number * times);
        *fewest = *fewest == 0 || number < *fewest ? (int)number : *fewest;
    }
    return n;
}

static void add_slurm(struct line *line, const struct job *job)
{
    int fewest, processors = count_processors(&fewest);
    int most = job->slurm_step ? processors : job->slurm_tasks;
    bool crowded = most > 0 && job->size > most;
    if (job->hosts.n > 0)
        crowded |= add_hosts_of_ranks(line, job) > fewest;
    add(line, "--mpi=%s", job->slurm_step ? job->slurm_step : "pmix");
    if (job->slurm_step)
        add(line, "--overlap");
    add(line, "--kill-on-bad-exit=%d", !job->keep_going);
    if (job->keep_going)
        add(line, "--no-kill");
    add(line, "--input=0");
    if (crowded && !job->one_each)
        add(line, "--overcommit");
    if (job->by_node && job->hosts.n == 0)
        add(line, "--distribution=cyclic");
    if (job->tag)
        add(line, "--label");
    if (job->placement.bind)
        add(line, "--cpu-bind=%s%s", job->report_bindings && !job->plans ? "verbose," : "",
            object_name(job->placement.bind, SLURM));
}

/* The options of the job. */
static void add_job(struct line *line, const struct job *job, enum starter_kind kind)
{
    if (kind == SLURM) {
        add_slurm(line, job);
        return;
    }
    if (job->hosts.n > 0)
        add_hosts(line, job, kind);
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

/* True if -x names a variable. */
static bool is_exported(const struct app *app, const char *setting)
{
    size_t len = strcspn(setting, "=");
    for (int i = 0; i < app->exports.n; i++)
        if (strlen(app->exports.list[i]) == len && !strncmp(app->exports.list[i], setting, len))
            return true;
    return false;
}

/* True if a variable of this process is one of the ranks of an application. */
static bool is_passed(const struct app *app, const char *setting)
{
    size_t len = strcspn(setting, "=");
    return is_exported(app, setting) || (len > 0 && !is_local(setting, len));
}

/* The launchers of PRRTE and Open MPI join the variables that are named to one text, by ';'. */
static bool is_named(const char *setting)
{
    return !strpbrk(setting, "\n;");
}

/* These launchers pass the variables only that are named. */
static void add_environment(struct line *line, const struct app *app)
{
    for (char **e = environ; *e; e++) {
        if (!is_named(*e) || !is_passed(app, *e))
            continue;
        add(line, "-x");
        add(line, "%.*s", (int)strcspn(*e, "="), *e);
    }
}

/* Variables that cannot be named, with their values, which all users of the host can see in the
 * launcher's line: so only those of -x, and Weft's. */
static void add_values(struct line *line, const struct app *app)
{
    for (char **e = environ; *e; e++)
        if (!is_named(*e) && (is_exported(app, *e) || !strncmp(*e, "WEFT_", 5)))
            add(line, "%s", *e);
}

static void add_variables(struct line *line, const struct variables *variables)
{
    for (int i = 0; i < variables->n; i++)
        add(line, "%s", variables->list[i]);
}

static int add_variable(void *line, const char *variable, const char *value)
{
    add(line, "%s=%s", variable, value);
    return 0;
}

/* The variables of an application and its program. */
static void add_program(struct line *line, const struct job *job, const struct app *app,
                        enum starter_kind kind)
{
    char *settings[2];
    int env = line->n;
    add(line, "env");
    if (kind == PRRTE || kind == OPEN_MPI)
        add_values(line, app);
    weft_launch_tools(job, add_variable, line);
    add_variables(line, &job->env);
    add_variables(line, &app->env);
    if (!weft_front_end_settings(job, app, settings))
        line->failed = true;
    for (int i = 0; i < 2; i++) {
        if (settings[i])
            add(line, "%s", settings[i]);
        free(settings[i]);
    }
    if (line->n == env + 1 && !line->failed) {
        free(line->words[env]); /* no variable needs it */
        line->n = env;
    } else if (strchr(app->path, '=')) { /* which env would take for a variable */
        add_option(line, "/bin/sh", "-c");
        add_option(line, SHELL_OF_WORDS, app->path);
    }
    add(line, "%s", app->path);
    for (int i = 1; app->argv[i]; i++)
        add(line, "%s", app->argv[i]);
}

void weft_starter_print(char **words, FILE *out)
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

/* True if srun's line cannot express the step: it takes a word ":" for the end of a program, and
 * starts each program on nodes of its own. */
static bool needs_shell(const struct job *job)
{
    bool colon = false;
    for (int i = 1; job->apps[0].argv[i]; i++)
        colon |= strcmp(job->apps[0].argv[i], ":") == 0;
    return colon || job->napps > 1;
}

/* Adds a script that a shell of each rank reads. */
static void add_script(struct line *line, const char *script)
{
    line->failed |= !script;
    add_option(line, "/bin/sh", "-c");
    add(line, "%s", script ? script : "");
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
        add_program(&program, job, &job->apps[i], SLURM);
        line->failed |= program.failed;
        fprintf(out, "if [ $SLURM_PROCID -lt %d ]; then export %s=%d; CDPATH= cd -- ", below,
                WEFT_APPNUM_VARIABLE, i);
        weft_starter_print(folder, out);
        fputs(" || exit 1; exec ", out);
        weft_starter_print(program.words, out);
        fputs("; fi\n", out);
    }
    line->failed |= !out || fclose(out);
    add(line, "-n");
    add(line, "%d", below);
    add_script(line, script);
    free(script);
}

/* Hydra crashes if a program has too many words (HYDRA_WORDS), so a shell gets them in few
 * arguments of at most WORD_MOST bytes: Linux allows 128 KiB in one. */
static void add_program_of_hydra(struct line *line, const struct job *job, const struct app *app)
{
    enum { WORD_MOST = 64 << 10 };
    struct line program = {0};
    int words = 1;
    while (app->argv[words])
        words++;
    if (words < HYDRA_WORDS) {
        add_program(line, job, app, HYDRA);
        return;
    }
    add_program(&program, job, app, HYDRA);
    line->failed |= program.failed;
    add_script(line, SHELL_OF_TEXT);
    add(line, "%s", app->path);
    for (char **word = program.words; !line->failed && *word;) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        for (size = 0; out && *word && (!size || size + strlen(*word) < WORD_MOST); word++) {
            weft_starter_print((char *[]){*word, NULL}, out);
            fputc(' ', out);
            fflush(out);
        }
        line->failed |= !out || fclose(out);
        if (!line->failed)
            add(line, "%s", text);
        free(text);
    }
}

/* A relative directory is one of this process's, not of the home directory, where ssh begins. */
static void add_directory(struct line *line, const char *option, const char *dir)
{
    char *here = *dir == '/' ? NULL : get_current_dir_name();
    line->failed |= *dir != '/' && !here;
    add(line, "%s", option);
    add(line, "%s%s%s", here ? here : "", here ? "/" : "", dir);
    free(here);
}

static void add_apps(struct line *line, const struct job *job, enum starter_kind kind)
{
    for (int i = 0; i < job->napps; i++) {
        const struct app *app = &job->apps[i];
        if (i > 0)
            add(line, ":");
        if (kind == PRRTE || kind == OPEN_MPI)
            add_environment(line, app);
        if (app->count) {
            add(line, "-n");
            add(line, "%d", app->count);
        }
        if (kind == SLURM && app->per_node && job->hosts.n == 0)
            add(line, "--ntasks-per-node=%d", app->per_node);
        if (app->dir)
            add_directory(line,
                          kind == HYDRA   ? "-wdir"
                          : kind == SLURM ? "--chdir"
                                          : "--wdir",
                          app->dir);
        if (kind == HYDRA) {
            char self[4096];
            weft_installed_self(self, sizeof self);
            add_option(line, self, RANK_PARENT_OPTION);
            if (job->keep_going)
                add(line, RANK_PARENT_KEEPS_GOING);
            add_program_of_hydra(line, job, app);
        } else {
            add_program(line, job, app, kind);
        }
    }
}

char **weft_starter_line(const struct job *job, const char *path, enum starter_kind kind)
{
    struct line line = {0};
    add(&line, "%s", path);
    add_job(&line, job, kind);
    if (kind == SLURM && needs_shell(job))
        add_shell(&line, job);
    else
        add_apps(&line, job, kind);
    return line.failed ? NULL : line.words;
}
