// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads `weftrun [options] program args [: [options] program args]...`.
 *
 * Invariant: options come before the program's name; from the name to a lone ':' every word is an
 * argument of the program. -n, -x, --wdir and --pset apply to their part of the line, all other
 * options to the whole job. Options of other launchers are accepted if they mean the same here.
 */
#include "options.h"
#include "lines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unconfigured"
#endif

#define RANKS_MAX    100000 /* more than one machine runs; products of it do not overflow */
#define SET_NAME_MAX 256    /* below the limits of libpmix and MPI */

enum option_id {
    OPT_COUNT,
    OPT_TAG,
    OPT_BIND,
    OPT_REPORT,
    OPT_TIMEOUT,
    OPT_KEEP,
    OPT_DIR,
    OPT_ENV,
    OPT_EXPORT,
    OPT_SET,
    OPT_VERBOSE,
    OPT_HELP,
    OPT_VERSION,
    OPT_ANYWAY,
    OPT_NODES,
};

/* Long names are also accepted with a single dash, as by MPICH. */
static const struct option_row {
    const char *name;
    enum option_id id;
    bool takes_value;
} rows[] = {
    {"-n", OPT_COUNT, true},
    {"--np", OPT_COUNT, true},
    {"--tag", OPT_TAG, false},
    {"--keep-going", OPT_KEEP, false},
    {"--bind", OPT_BIND, true},
    {"--report-bindings", OPT_REPORT, false},
    {"--timeout", OPT_TIMEOUT, true},
    {"--pset", OPT_SET, true},
    {"--wdir", OPT_DIR, true},
    {"-x", OPT_EXPORT, true},
    {"--env", OPT_ENV, true},
    {"-v", OPT_VERBOSE, false},
    {"--verbose", OPT_VERBOSE, false},
    {"-h", OPT_HELP, false},
    {"--help", OPT_HELP, false},
    {"-V", OPT_VERSION, false},
    {"--version", OPT_VERSION, false},
    /* Open MPI's and MPICH's names of the same options */
    {"--bind-to", OPT_BIND, true},
    {"--wd", OPT_DIR, true},
    {"--tag-output", OPT_TAG, false},
    {"--prepend-rank", OPT_TAG, false},
    {"-l", OPT_TAG, false},
    /* Options for weftrun's default behaviour: ignored */
    {"--oversubscribe", OPT_ANYWAY, false},
    {"--allow-run-as-root", OPT_ANYWAY, false},
    /* Options that weftrun does not support */
    {"--host", OPT_NODES, true},
    {"-H", OPT_NODES, true},
    {"--hosts", OPT_NODES, true},
    {"--hostfile", OPT_NODES, true},
    {"--machinefile", OPT_NODES, true},
    {"-f", OPT_NODES, true},
};

static const char help[] =
    "usage: weftrun [options] program [args] [: [options] program [args]]...\n"
    "\n"
    "Starts an MPI program on this machine.\n"
    "\n"
    "  -n N               number of ranks of this program (default 1)\n"
    "  -x, --env VAR=VAL  set a variable for this program's ranks (repeatable)\n"
    "  --pset NAME        make this program's ranks a process set of MPI sessions\n"
    "  --wdir DIR         start this program's ranks in DIR\n"
    "  --tag              begin each line of output with the rank, as [3]\n"
    "  --bind WHAT        give each rank a core, hwthread or numa node; none (default)\n"
    "  --report-bindings  print the binding of each rank on stderr\n"
    "  --timeout SECS     stop the job after SECS seconds, exit code 124\n"
    "                     (as the variable MPIEXEC_TIMEOUT does)\n"
    "  --keep-going       a rank that fails does not stop the others\n"
    "  -v, --verbose      print each step on stderr\n"
    "  -h, --help         this text\n"
    "  -V, --version      the version\n"
    "  --oversubscribe and other options that are common elsewhere: weftrun(1)\n"
    "\n"
    "Exit code: 0, or that of the first rank that failed (128 + S for signal S).\n"
    "More in weftrun(1).\n";

/* The row of "--opt" or "--opt=value"; *value points behind the '=', or is NULL. */
static const struct option_row *find_row(const char *word, const char **value)
{
    size_t len = strcspn(word, "=");
    bool one_dash = len > 2 && word[1] != '-';
    *value = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *name = rows[i].name + one_dash;
        if (strlen(name) != len || strncmp(name, word, len) != 0)
            continue;
        if (word[len] == '=')
            *value = word + len + 1;
        return &rows[i];
    }
    return NULL;
}

static int read_count(struct app *app, const char *text)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < 1 || n > RANKS_MAX) {
        weft_lines_print("-n needs a number of ranks from 1 to %d, not \"%s\".", RANKS_MAX, text);
        return -1;
    }
    app->count = (int)n;
    return 0;
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

static int read_bind(struct job *job, const char *text)
{
    static const char *const names[] = {[BIND_NONE] = "none",
                                        [BIND_HWTHREAD] = "hwthread",
                                        [BIND_CORE] = "core",
                                        [BIND_NUMA] = "numa"};
    for (int i = 0; i <= BIND_NUMA; i++) {
        if (strcmp(text, names[i]) == 0) {
            job->bind = (enum bind_kind)i;
            return 0;
        }
    }
    weft_lines_print("--bind takes core, hwthread, numa or none, not \"%s\".", text);
    return -1;
}

static int read_env(struct app *app, const char *text)
{
    const char *eq = strchr(text, '=');
    if (!eq || eq == text) {
        weft_lines_print("-x needs VARIABLE=VALUE, not \"%s\" (variables that are already in the "
                         "environment reach every rank without it).",
                         text);
        return -1;
    }
    const char **more = realloc(app->env, (size_t)(app->nenv + 1) * sizeof *more);
    if (!more) {
        weft_lines_print("No memory for the option -x.");
        return -1;
    }
    app->env = more;
    app->env[app->nenv++] = text;
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

static int apply(struct job *job, struct app *app, enum option_id id, const char *value)
{
    switch (id) {
    case OPT_COUNT:
        return read_count(app, value);
    case OPT_TIMEOUT:
        return read_timeout(job, "--timeout", value);
    case OPT_BIND:
        return read_bind(job, value);
    case OPT_EXPORT: /* "-x VAR" of Open MPI: ranks inherit the environment anyway */
        if (!strchr(value, '=') && getenv(value))
            return 0;
        return read_env(app, value);
    case OPT_ENV:
        return read_env(app, value);
    case OPT_SET:
        return read_set(app, value);
    case OPT_DIR:
        app->dir = value;
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
    case OPT_VERBOSE:
        job->verbose = true;
        return 0;
    case OPT_NODES:
        weft_lines_print("weftrun starts ranks on this machine only, and has no list of hosts to "
                         "read (\"%s\"); on several machines use srun --mpi=pmix or Open MPI's "
                         "mpirun.",
                         value);
        return -1;
    case OPT_ANYWAY: /* ranks may outnumber cores, and root may start them */
    case OPT_HELP:
    case OPT_VERSION: /* handled by read_options */
        return 0;
    }
    return 0;
}

/* Reads the options of one part of the line, from *at to the program's name. */
static int read_options(struct job *job, struct app *app, int argc, char **argv, int *at,
                        bool *done)
{
    while (*at < argc && argv[*at][0] == '-') {
        const char *value, *word = argv[(*at)++];
        if (strcmp(word, "--") == 0)
            return 0;
        const struct option_row *row = find_row(word, &value);
        if (!row || (value && !row->takes_value)) {
            weft_lines_print("Unknown option \"%s\"; weftrun --help lists all options.", word);
            return -1;
        }
        if (row->takes_value && !value) {
            if (*at == argc) {
                weft_lines_print("The option %s needs a value; see weftrun --help.", word);
                return -1;
            }
            value = argv[(*at)++];
        }
        if (row->id == OPT_HELP || row->id == OPT_VERSION) {
            fputs(row->id == OPT_HELP ? help : "weftrun (Weft) " PACKAGE_VERSION "\n", stdout);
            *done = true;
            return 0;
        }
        if (apply(job, app, row->id, value ? value : ""))
            return -1;
    }
    return 0;
}

/* Reads one part of the line, from *at to the next lone ':' or the end, into *app. */
static int read_part(struct job *job, struct app *app, int argc, char **argv, int *at, bool *done)
{
    *app = (struct app){.count = 1, .first = job->size};
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
    job->size += app->count;
    if (job->size > RANKS_MAX) {
        weft_lines_print("%d ranks in all are more than weftrun's %d.", job->size, RANKS_MAX);
        return -1;
    }
    return 0;
}

int weft_options_read(struct job *job, int argc, char **argv, bool *done)
{
    *done = false;
    const char *limit = getenv("MPIEXEC_TIMEOUT");
    if (limit && *limit && read_timeout(job, "MPIEXEC_TIMEOUT", limit))
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
        if (read_part(job, &job->apps[job->napps++], argc, argv, &at, done))
            return -1;
    } while (!*done && at < argc);
    return 0;
}
