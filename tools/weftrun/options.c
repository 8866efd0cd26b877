// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads `weftrun [options] program args [: [options] program args]...`.
 *
 * Invariant: options come before the program's name; from the name to a lone ':' every word is an
 * argument of the program. -n, -x, -ppn, --wdir and --pset apply to their section of the line, all
 * other options to the job. Options of other launchers are accepted if they mean the same
 * here.
 */
#include "options.h"
#include "config_file.h"
#include "hosts.h"
#include "lines.h"
#include "option_table.h"
#include "other_launchers.h"
#include "output_files.h"
#include "rank_count.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

#define SET_NAME_MAX 256 /* below the limits of libpmix and MPI */

static int read_count(int *count, const char *option, const char *text)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < 1 || n > RANKS_MAX) {
        weft_lines_print("%s needs a number of ranks from 1 to %d, not \"%s\".", option, RANKS_MAX,
                         text);
        return -1;
    }
    *count = (int)n;
    return 0;
}

static bool is_time(const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    return end != text && !*end && seconds > 0 && seconds < 1e8;
}

static int read_timeout(struct job *job, const char *from, const char *text)
{
    char *end;
    double secs = strtod(text, &end);
    if (end == text || *end || !isfinite(secs) || secs < 0 || secs > 1e8) {
        weft_lines_print("%s needs a time in seconds, 0 for no limit, not \"%s\".", from, text);
        return -1;
    }
    job->timeout = secs;
    job->timeout_from = from;
    return 0;
}

int weft_options_add_variable(struct variables *env, const char *text)
{
    const char **more = realloc(env->list, (size_t)(env->n + 1) * sizeof *more);
    if (!more) {
        weft_lines_print("No memory for the option -x.");
        return -1;
    }
    env->list = more;
    env->list[env->n++] = text;
    return 0;
}

static int read_env(struct variables *env, const char *text)
{
    const char *eq = strchr(text, '=');
    if (eq && eq != text)
        return weft_options_add_variable(env, text);
    weft_lines_print("-x needs VARIABLE=VALUE, not \"%s\" (variables that are already in the "
                     "environment reach every rank without it).",
                     text);
    return -1;
}

/* The hosts of -H, or of a file. -H chooses among those of a file, in either order. */
static int read_hosts(struct app *app, bool file, const char *text)
{
    struct host_list list;
    if (file ? weft_hosts_read_file(&list, text) : weft_hosts_read_words(&list, text))
        return -1;
    if (file && app->names_hosts)
        return 0;
    app->names_hosts = !file;
    app->hosts = list;
    return 0;
}

/* The file of hosts for a line that names none, or NULL: that of a parameter of Open MPI, or of a
 * variable of Hydra, Intel MPI, Open MPI or PRRTE. */
static const char *find_default_hosts(const struct job *job)
{
    static const char *const names[] = {"I_MPI_HYDRA_HOST_FILE", "HYDRA_HOST_FILE",
                                        "OMPI_MCA_orte_default_hostfile",
                                        "PRTE_MCA_prte_default_hostfile"};
    const char *file = job->default_hosts;
    bool looks = !job->here && !job->slurm_step && !weft_hosts_is_rank();
    for (size_t i = 0; looks && !file && i < sizeof names / sizeof *names; i++)
        file = getenv(names[i]);
    return file && *file && strcmp(file, "none") != 0 ? file : NULL;
}

/* The job has one list of hosts, which any of its programs may state. Lists that differ would give
 * each program hosts of its own, and are refused. */
static int choose_hosts(struct job *job)
{
    for (int i = 0; i < job->napps; i++) {
        const struct host_list *list = &job->apps[i].hosts;
        bool elsewhere = weft_hosts_elsewhere(list) || weft_hosts_elsewhere(&job->hosts);
        if (list->n == 0)
            continue;
        if (job->hosts.n > 0 && elsewhere && !job->here &&
            !weft_hosts_are_same(list, &job->hosts)) {
            weft_lines_print(
                "The programs of the line have different hosts, and -H and --hostfile apply to all "
                "of them: name all hosts once, with the ranks of each in their order, as -H "
                "node1:1,node2:4.");
            return -1;
        }
        job->hosts = *list;
    }
    const char *file = find_default_hosts(job);
    if (job->hosts.n == 0 && file && weft_hosts_read_file(&job->hosts, file))
        return -1;
    job->elsewhere = weft_hosts_elsewhere(&job->hosts) ? ELSEWHERE_HOSTS : ELSEWHERE_NOT;
    job->slots = weft_hosts_slots(&job->hosts, 0);
    return 0;
}

static int read_set(struct app *app, const char *text)
{
    if (!*text || strchr(text, ',') || strlen(text) >= SET_NAME_MAX) {
        weft_lines_print("--pset needs a name of 1 to %d characters without a comma, not \"%s\".",
                         SET_NAME_MAX - 1, text);
        return -1;
    }
    app->set = text;
    return 0;
}

/* "all", "none" or a rank. Only a file can be read by all, or /dev/null. */
static int read_reader(struct job *job, const char *text)
{
    struct stat st;
    char *end;
    long rank = strtol(text, &end, 10);
    job->reader = strcmp(text, "none") == 0  ? READER_NONE
                  : strcmp(text, "all") == 0 ? READER_ALL
                                             : (int)rank;
    if (job->reader == READER_ALL &&
        (fstat(0, &st) || isatty(0) || !(S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))) {
        weft_lines_print("--stdin all needs a file; write weftrun --stdin all ... <FILE.");
        return -1;
    }
    if (end == text ? job->reader < 0 : !*end && rank >= 0 && rank < RANKS_MAX)
        return 0;
    weft_lines_print("--stdin takes a rank, all or none, not \"%s\".", text);
    return -1;
}

static int check_reader(const struct job *job)
{
    if (job->reader < job->size || job->size < 1) /* or the batch system has the number */
        return 0;
    weft_lines_print("--stdin %d: the job has no such rank, but 0 to %d.", job->reader,
                     job->size - 1);
    return -1;
}

/* "--npersocket N" */
static int read_per_package(struct job *job, struct app *app, const char *text)
{
    char *map;
    return asprintf(&map, "ppr:%s:package", text) < 0
               ? -1
               : weft_placement_read_map(&job->placement, &app->per_node, map);
}

static int apply_placement(struct job *job, struct app *app, enum option_id id, const char *value)
{
    switch (id) {
    case OPT_BIND:
        return weft_placement_read_bind(&job->placement, value);
    case OPT_MAP:
        job->by_node = strncasecmp(value, "node", 4) == 0;
        return weft_placement_read_map(&job->placement, &app->per_node, value);
    case OPT_RANK_BY:
        return weft_placement_read_rank_by(&job->placement, value);
    case OPT_ELEMENTS:
        return weft_placement_read_elements(&job->placement, value);
    case OPT_PER_PACKAGE:
        return read_per_package(job, app, value);
    case OPT_CPU_SET:
        job->placement.cpus = value;
        return 0;
    default: /* OPT_RANK_FILE */
        job->placement.rank_file = value;
        return 0;
    }
}

static int apply_output(struct job *job, enum option_id id, const char *value)
{
    switch (id) {
    case OPT_OUTPUT:
        return weft_output_files_read(job, value);
    case OPT_OUTPUT_DIR:
        return weft_output_files_read_dir(&job->output, value);
    case OPT_OUT_FILES:
        return weft_output_files_read_pattern(&job->output, false, value);
    case OPT_ERR_FILES:
        return weft_output_files_read_pattern(&job->output, true, value);
    case OPT_READER:
        return read_reader(job, value);
    case OPT_STAMP:
        job->stamp = true;
        return 0;
    default: /* OPT_PRINT_CODES */
        job->prints_codes = true;
        return 0;
    }
}

/* A variable of -x, -env or -genv */
static int apply_variable(struct job *job, struct variables *env, const char *setting)
{
    weft_other_variable(job, setting);
    return read_env(env, setting);
}

/* --initial-errhandler of the standard (MPI 5.0, 11.5). */
static int read_errhandler(struct job *job, const char *value)
{
    static char setting[64];
    if (strcmp(value, "mpi_errors_are_fatal") && strcmp(value, "mpi_errors_abort") &&
        strcmp(value, "mpi_errors_return")) {
        weft_lines_print("--initial-errhandler takes mpi_errors_are_fatal, mpi_errors_abort or "
                         "mpi_errors_return, not \"%s\".",
                         value);
        return -1;
    }
    snprintf(setting, sizeof setting, "WEFT_INITIAL_ERRHANDLER=%s", value);
    return read_env(&job->env, setting);
}

/* --with-ft of Open MPI. */
static int read_with_ft(struct job *job, const char *value)
{
    job->keep_going = !strcmp(value, "ulfm") || !strcmp(value, "mpi") || !strcmp(value, "yes");
    if (job->keep_going || !strcmp(value, "no") || !strcmp(value, "none"))
        return 0;
    weft_lines_print("--with-ft takes ulfm, mpi, yes, no or none, not \"%s\".", value);
    return -1;
}

static int apply(struct job *job, struct app *app, enum option_id id, const char *value)
{
    switch (id) {
    case OPT_COUNT:
        return read_count(&app->count, "-n", value);
    case OPT_PER_NODE:
        return read_count(&app->per_node, "--ppn", value);
    case OPT_TIMEOUT:
        return read_timeout(job, "--timeout", value);
    case OPT_BIND:
    case OPT_MAP:
    case OPT_RANK_BY:
    case OPT_ELEMENTS:
    case OPT_PER_PACKAGE:
    case OPT_CPU_SET:
    case OPT_RANK_FILE:
        return apply_placement(job, app, id, value);
    case OPT_OUTPUT:
    case OPT_OUTPUT_DIR:
    case OPT_OUT_FILES:
    case OPT_ERR_FILES:
    case OPT_READER:
    case OPT_STAMP:
    case OPT_PRINT_CODES:
        return apply_output(job, id, value);
    case OPT_PLAN:
        job->plans = job->report_bindings = true;
        return 0;
    case OPT_ONE_EACH:
        job->one_each = true;
        return 0;
    case OPT_EXPORT: /* "-x VAR" of Open MPI: ranks on this host inherit the environment anyway */
        if (strchr(value, '='))
            return apply_variable(job, &app->env, value);
        if (getenv(value))
            return weft_options_add_variable(&app->exports, value);
        weft_lines_print("-x %s has no effect: the variable is not set; use -x %s=VALUE.", value,
                         value);
        return 0;
    case OPT_ENV:
        return apply_variable(job, &app->env, value);
    case OPT_GLOBAL_ENV:
        return apply_variable(job, &job->env, value);
    case OPT_SET:
        return read_set(app, value);
    case OPT_DIR:
        app->dir = value;
        return 0;
    case OPT_PATH:
        app->search = value;
        return 0;
    case OPT_TAG:
        job->tag = true;
        return 0;
    case OPT_REPORT:
        job->report_bindings = true;
        return 0;
    case OPT_KEEP:
        job->keep_going = true;
        return 0;
    case OPT_ERRHANDLER:
        return read_errhandler(job, value);
    case OPT_WITH_FT:
        return read_with_ft(job, value);
    case OPT_DEBUG:
        job->debug = value;
        return 0;
    case OPT_CHECK:
        job->check = value;
        return 0;
    case OPT_RECORD:
        job->record = value;
        job->check = job->check ? job->check : "";
        return 0;
    case OPT_REPLAY:
        job->replay = value;
        job->check = job->check ? job->check : "";
        return 0;
    case OPT_PROFILE:
        job->profile = value;
        return 0;
    case OPT_TRACE:
        job->trace = value;
        return 0;
    case OPT_TRACE_LAST:
        if (!is_time(value)) {
            weft_lines_print("--trace-last needs a time in seconds, not \"%s\".", value);
            return -1;
        }
        job->trace_last = value;
        job->trace = job->trace ? job->trace : "";
        return 0;
    case OPT_TOP:
        job->top = true;
        job->profile = job->profile ? job->profile : "";
        return 0;
    case OPT_HERE:
        job->here = true;
        return 0;
    case OPT_ABI:
        job->abi = value;
        if (strcmp(value, "openmpi") == 0 || strcmp(value, "mpich") == 0 ||
            strcmp(value, "none") == 0)
            return 0;
        weft_lines_print("--abi takes openmpi, mpich or none, not \"%s\".", value);
        return -1;
    case OPT_UNIVERSE: /* MPICH's SYSTEM and Intel MPI's INFINITE and 0 set no number */
        return strcmp(value, "SYSTEM") == 0 || strcmp(value, "INFINITE") == 0 ||
                       strcmp(value, "0") == 0
                   ? 0
                   : read_count(&job->universe, "--usize", value);
    case OPT_JOINED:
        job->joined_fd = atoi(value);
        return fcntl(job->joined_fd, F_SETFD, FD_CLOEXEC);
    case OPT_SLURM_STEP:
        job->slurm_step = value;
        return 0;
    case OPT_VERBOSE:
        job->verbose = true;
        return 0;
    case OPT_HOSTS:
    case OPT_HOST_FILE:
        return read_hosts(app, id == OPT_HOST_FILE, value);
    case OPT_STARTER:
        job->starter = value;
        return 0;
    case OPT_REMOTE_SHELL:
        job->remote_shell = value;
        return 0;
    case OPT_BY_NODE:
        job->by_node = true;
        return 0;
    default: /* OPT_ANYWAY: ranks may outnumber cores, and root may start them */
        return 0;
    }
}

/* MPICH's "-env NAME VALUE": joins the two words. NULL after printing the error. */
static const char *join_variable(const char *name, const char *value)
{
    char *text;
    if (asprintf(&text, "%s=%s", name, value) >= 0)
        return text;
    weft_lines_print("No memory for the option -env.");
    return NULL;
}

/* Reads the options of one section of the line, from *at to the program's name. */
static int read_options(struct job *job, struct app *app, int argc, char **argv, int *at,
                        bool *done)
{
    while (*at < argc && argv[*at][0] == '-') {
        const char *word = argv[(*at)++];
        if (strcmp(word, "--") == 0)
            return 0;
        struct found option = weft_option_find(word);
        const struct option_row *row = option.row;
        const char *value = option.value;
        if (!row || (value && !row->takes_value && row->id != OPT_DEBUG && row->id != OPT_CHECK &&
                     row->id != OPT_PROFILE && row->id != OPT_TRACE)) {
            weft_lines_print("Unknown option \"%s\"; weftrun --help lists all options.", word);
            return -1;
        }
        if (weft_option_instead(row->id)) {
            weft_lines_print("The option %.*s is not supported here: %s.", option.len, option.name,
                             weft_option_instead(row->id));
            return -1;
        }
        if (row->takes_value && !value) {
            if (*at == argc) {
                weft_lines_print("The option %s needs a value; see weftrun --help.", word);
                return -1;
            }
            value = argv[(*at)++];
            bool sets = row->id == OPT_ENV || row->id == OPT_GLOBAL_ENV;
            if (sets && word[1] != '-' && !strchr(value, '=') && *at < argc) {
                value = join_variable(value, argv[(*at)++]);
                if (!value)
                    return -1;
            }
        }
        if (row->id == OPT_PARAMETER) {
            if (*at == argc) {
                weft_lines_print("The option %s needs a name and a value.", word);
                return -1;
            }
            if (weft_other_parameter(job, &app->per_node, value, argv[(*at)++]))
                return -1;
            continue;
        }
        if (row->id == OPT_HELP || row->id == OPT_VERSION) {
            fputs(row->id == OPT_HELP ? weft_option_help : "weftrun (Weft) " PACKAGE_VERSION "\n",
                  stdout);
            *done = true;
            return 0;
        }
        value = value ? value : row->value ? row->value : "";
        if (row->id == OPT_TUNES)
            weft_other_option(job, word, value);
        else if (apply(job, app, row->id, value))
            return -1;
    }
    return 0;
}

/* Reads one section of the line, from *at to the next lone ':' or the end, into *app. */
static int read_app(struct job *job, struct app *app, int argc, char **argv, int *at, bool *done)
{
    *app = (struct app){0};
    if (read_options(job, app, argc, argv, at, done))
        return -1;
    if (*done)
        return 0;
    int begin = *at;
    while (*at < argc && strcmp(argv[*at], ":") != 0)
        (*at)++;
    if (*at == begin) {
        weft_lines_print(
            "No program was given; use weftrun -n N program args, see weftrun --help.");
        return -1;
    }
    int words = *at - begin;
    app->argv = calloc((size_t)words + 1, sizeof *app->argv);
    if (!app->argv) {
        weft_lines_print("No memory for the command line.");
        return -1;
    }
    memcpy(app->argv, argv + begin, (size_t)words * sizeof *app->argv);
    for (int i = 0; job->joined_fd && i < words; i++) /* see WEFT_COLON */
        if (app->argv[i][0] == ':' && !app->argv[i][strspn(app->argv[i], ":")])
            app->argv[i]++;
    return 0;
}

int weft_options_read(struct job *job, int argc, char **argv, bool *done)
{
    *done = false;
    const char *limit = getenv("MPIEXEC_TIMEOUT");
    if (limit && *limit && read_timeout(job, "MPIEXEC_TIMEOUT", limit))
        return -1;
    const char *first = argc == 3 ? argv[1] : "";
    struct found file = *first == '-' ? weft_option_find(first) : (struct found){0};
    if (file.row && file.row->id == OPT_CONFIG_FILE && !file.value &&
        weft_config_file_read(argv[2], &argc, &argv))
        return -1;
    int at = 1;
    do {
        struct app *more = realloc(job->apps, (size_t)(job->napps + 1) * sizeof *more);
        if (!more) {
            weft_lines_print("No memory for the command line.");
            return -1;
        }
        job->apps = more;
        if (job->napps > 0)
            at++; /* the ':' */
        if (read_app(job, &job->apps[job->napps++], argc, argv, &at, done))
            return -1;
    } while (!*done && at < argc);
    if (*done)
        return 0;
    weft_other_environment(job);
    return choose_hosts(job) || weft_ranks_count(job) ? -1 : check_reader(job);
}
