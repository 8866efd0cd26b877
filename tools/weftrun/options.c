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

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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
    OPT_DEBUG,
    OPT_CHECK,
    OPT_DIR,
    OPT_ENV,
    OPT_EXPORT,
    OPT_SET,
    OPT_VERBOSE,
    OPT_HELP,
    OPT_VERSION,
    OPT_ANYWAY,
    OPT_HERE,
    OPT_ABI,
    OPT_PER_NODE,
    OPT_MAP,
    OPT_GLOBAL_ENV,
    OPT_OUTPUT,
    OPT_HOSTS,
    OPT_HOST_FILE,
    OPT_ONE_PER_NODE,
    OPT_PATH,
    OPT_PARAMETER,
    /* Options that weftrun does not support */
    OPT_CONFIG_FILE,
    OPT_PMIX_MCA,
    OPT_NO_ENV,
    OPT_CPUS,
    OPT_FILES,
    OPT_STDIN,
    OPT_SOFT,
    OPT_HANDLER,
    OPTIONS
};

#define FILES_INSTEAD                                                                              \
    "give each rank a file by weftrun -n N sh -c 'exec program >out.$PMIX_RANK', or use --tag"

#define STDIN_INSTEAD                                                                              \
    "rank 0 reads stdin; give a file to the others by weftrun -n N sh -c 'exec program <file'"

/* The replacement of each option that weftrun does not support. */
static const char *const instead[OPTIONS] = {
    [OPT_CONFIG_FILE] = "it must be the first option and the only one",
    [OPT_PMIX_MCA] = "set the variable PMIX_MCA_NAME instead",
    [OPT_NO_ENV] = "remove variables by \"env -u NAME weftrun ...\"",
    [OPT_CPUS] = "use --bind, and taskset for the processors of the job",
    [OPT_FILES] = FILES_INSTEAD,
    [OPT_STDIN] = STDIN_INSTEAD,
    [OPT_SOFT] = "ask for the number of ranks by -n alone",
    [OPT_HANDLER] = "call MPI_Comm_set_errhandler in the program",
};

/* Names of one option: those of weftrun, then those of Open MPI and MPICH. Long names are also
 * accepted with a single dash, as by MPICH. */
static const struct option_row {
    const char *names;
    enum option_id id;
    bool takes_value;
} rows[] = {
    {"-n --n --np -c", OPT_COUNT, true},
    {"--tag --tag-output --prefix-output --prepend-rank --label -l", OPT_TAG, false},
    {"--keep-going", OPT_KEEP, false},
    {"--bind --bind-to", OPT_BIND, true},
    {"--debug", OPT_DEBUG, false}, /* and --debug=RANKS */
    {"--check", OPT_CHECK, false}, /* and --check=KINDS */
    {"--report-bindings --display-map --print-rank-map", OPT_REPORT, false},
    {"--timeout", OPT_TIMEOUT, true},
    {"--pset", OPT_SET, true},
    {"--wdir --wd", OPT_DIR, true},
    {"-x", OPT_EXPORT, true},
    {"--env", OPT_ENV, true},
    {"--genv", OPT_GLOBAL_ENV, true},
    {"--here", OPT_HERE, false},
    {"--abi", OPT_ABI, true},
    {"-v --verbose", OPT_VERBOSE, false},
    {"-h --help", OPT_HELP, false},
    {"-V --version", OPT_VERSION, false},
    {"--output", OPT_OUTPUT, true},
    /* Options with a meaning on one node */
    {"--ppn --perhost --npernode -N", OPT_PER_NODE, true},
    {"--map-by --rank-by", OPT_MAP, true},
    {"--pernode", OPT_ONE_PER_NODE, false},
    {"--path", OPT_PATH, true},
    {"--host -H --hosts", OPT_HOSTS, true},
    {"--hostfile --machinefile -f", OPT_HOST_FILE, true},
    /* Options for weftrun's default behaviour: ignored */
    {"--oversubscribe --allow-run-as-root --genvall --envall --quiet -q --use-hwthread-cpus",
     OPT_ANYWAY, false},
    /* The parameters of Open MPI: most are for its own tuning */
    {"--mca --gmca --prtemca", OPT_PARAMETER, true},
    {"--genvlist --envlist", OPT_ANYWAY, true},
    /* Options that weftrun does not support */
    {"--configfile --app", OPT_CONFIG_FILE, true},
    {"--stdin", OPT_STDIN, true},
    {"--soft", OPT_SOFT, true},
    {"--initial-errhandler", OPT_HANDLER, true},
    {"--pmixmca", OPT_PMIX_MCA, true},
    {"--genvnone --envnone", OPT_NO_ENV, false},
    {"--rankfile -rf --cpu-set --cpus-per-proc --cpus-per-rank", OPT_CPUS, true},
    {"--output-filename --outfile-pattern", OPT_FILES, true},
};

static const char help[] =
    "usage: weftrun [options] program [args] [: [options] program [args]]...\n"
    "\n"
    "Starts an MPI program on this machine.\n"
    "\n"
    "  -n N               number of ranks of this program (default 1; in an allocation of\n"
    "                     a batch system on one node: its tasks)\n"
    "  -x, --env VAR=VAL  set a variable for this program's ranks (repeatable)\n"
    "  --pset NAME        make this program's ranks a process set of MPI sessions\n"
    "  --wdir DIR         start this program's ranks in DIR\n"
    "  --tag              begin each line of output with the rank, as [3]\n"
    "  --bind WHAT        give each rank a core, hwthread, numa node or package; none\n"
    "                     (default)\n"
    "  --report-bindings  print the binding of each rank on stderr\n"
    "  --timeout SECS     stop the job after SECS seconds, exit code 124\n"
    "                     (as the variable MPIEXEC_TIMEOUT does)\n"
    "  --keep-going       a rank that fails does not stop the others\n"
    "  --debug[=RANKS]    open a debugger for all ranks, or for those of a list (0,4-7), in\n"
    "                     windows of tmux or xterm\n"
    "  --check[=KINDS]    find mistakes in the use of MPI: objects, collectives, all (default);\n"
    "                     with fail (--check=all,fail) the exit code is 1 after a finding\n"
    "  --here             start the ranks on this machine, though the allocation of the\n"
    "                     batch system has other nodes\n"
    "  --abi NAME         what scripts and interpreters load as another MPI, in every process:\n"
    "                     openmpi, mpich, or none (default: by the names of libraries)\n"
    "  -configfile FILE   read all options and programs from FILE, one program a line\n"
    "  -v, --verbose      print each step on stderr\n"
    "  -h, --help         this text\n"
    "  -V, --version      the version\n"
    "  --oversubscribe and other options that are common elsewhere: weftrun(1)\n"
    "\n"
    "Exit code: 0, or that of the first rank that failed (128 + S for signal S).\n"
    "More in weftrun(1).\n";

/* An option of the command line: "--opt", or "--opt=value". */
struct found {
    const struct option_row *row; /* NULL: there is none */
    const char *name;             /* in the row, not terminated */
    int len;
    const char *value; /* after the '=', or NULL */
};

static struct found find_option(const char *word)
{
    size_t len = strcspn(word, "=");
    bool one_dash = len > 2 && word[1] != '-';
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n;
        for (const char *name = rows[i].names; *name; name += n + (name[n] == ' ')) {
            n = strcspn(name, " ");
            if (n == len + one_dash && strncmp(name + one_dash, word, len) == 0)
                return (struct found){&rows[i], name, (int)n, word[len] ? word + len + 1 : NULL};
        }
    }
    return (struct found){0};
}

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

/* True if text is the word, with any of Open MPI's modifiers behind a ':'. */
static bool is_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && (!text[n] || text[n] == ':');
}

/* Reads the modifiers of a binding or a mapping: ":OVERSUBSCRIBE", ":PE=4". */
static int read_modifiers(struct job *job, const char *text)
{
    static const char *const known[] = {"overload-allowed", "oversubscribe", "if-supported",
                                        "nooversubscribe",  "hwtcpus",       "span"};
    for (const char *at = strpbrk(text, ":,"); at; at = strpbrk(at, ":,")) {
        size_t n = strcspn(++at, ":,"), i = 0;
        if (strncasecmp(at, "pe=", 3) == 0) {
            char number[16];
            snprintf(number, sizeof number, "%.*s", (int)n - 3, at + 3);
            if (read_count(&job->cores, "PE", number))
                return -1;
            continue;
        }
        while (i < sizeof known / sizeof *known &&
               (strlen(known[i]) != n || strncasecmp(at, known[i], n) != 0))
            i++;
        if (i == sizeof known / sizeof *known) {
            weft_lines_print("weftrun does not have \"%.*s\" of \"%s\"; leave it out.", (int)n, at,
                             text);
            return -1;
        }
        job->overload |= i < 2;
    }
    return 0;
}

static int read_bind(struct job *job, const char *text)
{
    static const struct {
        const char *name;
        enum bind_kind kind;
    } names[] = {{"none", BIND_NONE},    {"hwthread", BIND_HWTHREAD}, {"core", BIND_CORE},
                 {"numa", BIND_NUMA},    {"package", BIND_PACKAGE},   {"socket", BIND_PACKAGE},
                 {"machine", BIND_NONE}, {"board", BIND_NONE},        {"node", BIND_NONE}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (is_word(text, names[i].name)) {
            job->bind = names[i].kind;
            job->binds = true;
            return read_modifiers(job, text);
        }
    }
    weft_lines_print("--bind takes core, hwthread, numa, package or none, not \"%s\".", text);
    return -1;
}

/* All ranks are on this node, so a mapping matters only for the processors that ranks are bound to.
 */
static int read_map(struct job *job, struct app *app, const char *text)
{
    static const char *const near[] = {"slot", "node", "core", "hwthread"};
    static const char *const far[] = {"numa",    "socket",  "package", "l1cache",
                                      "l2cache", "l3cache", "board"};
    if (strncmp(text, "ppr:", 4) == 0) {
        size_t digits = strspn(text + 4, "0123456789");
        char number[16];
        if (digits < sizeof number && is_word(text + 4 + digits, ":node")) {
            snprintf(number, sizeof number, "%.*s", (int)digits, text + 4);
            return read_count(&app->per_node, "ppr", number) ||
                   read_modifiers(job, text + 4 + digits + 1);
        }
    }
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
        if (is_word(text, near[i]))
            return read_modifiers(job, text);
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        if (is_word(text, far[i])) {
            job->map = text;
            return read_modifiers(job, text);
        }
    }
    weft_lines_print(
        "weftrun has no mapping \"%s\": ranks are on this machine, in order, so use -n, "
        "and --bind for their processors.",
        text);
    return -1;
}

static int read_env(struct variables *env, const char *text)
{
    const char *eq = strchr(text, '=');
    if (!eq || eq == text) {
        weft_lines_print("-x needs VARIABLE=VALUE, not \"%s\" (variables that are already in the "
                         "environment reach every rank without it).",
                         text);
        return -1;
    }
    const char **more = realloc(env->list, (size_t)(env->n + 1) * sizeof *more);
    if (!more) {
        weft_lines_print("No memory for the option -x.");
        return -1;
    }
    env->list = more;
    env->list[env->n++] = text;
    return 0;
}

/* A parameter of Open MPI. Those that choose its networks and algorithms are ignored, with one line
 * for the job; others, such as those of its mapping, are refused. */
static int read_parameter(struct job *job, const char *name, const char *value)
{
    static const char *const tunes[] = {
        "btl",  "pml", "mtl", "coll", "osc",  "io",   "fs",  "fbtl", "ucx", "fcoll", "sharedfp",
        "opal", "oob", "plm", "orte", "prte", "pmix", "mpi", "ess",  "iof", "routed"};
    size_t n = strcspn(name, "_"), i = 0;
    while (i < sizeof tunes / sizeof *tunes &&
           (strlen(tunes[i]) != n || strncmp(name, tunes[i], n) != 0))
        i++;
    if (i == sizeof tunes / sizeof *tunes) {
        weft_lines_print(
            "The parameter \"%s %s\" of Open MPI has no counterpart in weftrun; for the "
            "placement of ranks use --bind and --map-by, and leave it out.",
            name, value);
        return -1;
    }
    if (!job->ignores)
        weft_lines_print(
            "\"--mca %s %s\" tunes Open MPI and is ignored, as are others like it; Weft "
            "has WEFT_PROVIDER and WEFT_IFACE for the network (weft_info --settings).",
            name, value);
    job->ignores = true;
    return 0;
}

/* The hosts of an option must be this one. */
static int read_hosts(struct job *job, bool file, const char *text)
{
    struct host_list list;
    int error = 0;
    if (file)
        error = weft_hosts_read_file(&list, text);
    else
        weft_hosts_read_words(&list, text);
    if (error) {
        weft_lines_print("The file of hosts %s cannot be read: %s.", text, strerror(error));
        return -1;
    }
    const char *elsewhere = weft_hosts_elsewhere(&list);
    if (elsewhere) {
        weft_lines_print("weftrun starts ranks on this machine only, and \"%s\" names the host "
                         "\"%s\"; on several machines use srun --mpi=pmix or PRRTE's prterun (Open "
                         "MPI's mpirun).",
                         text, elsewhere);
        return -1;
    }
    job->slots = list.slots;
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
        return read_count(&app->count, "-n", value);
    case OPT_PER_NODE:
        return read_count(&app->per_node, "--ppn", value);
    case OPT_TIMEOUT:
        return read_timeout(job, "--timeout", value);
    case OPT_BIND:
        return read_bind(job, value);
    case OPT_MAP:
        return read_map(job, app, value);
    case OPT_EXPORT: /* "-x VAR" of Open MPI: ranks inherit the environment anyway */
        if (strchr(value, '='))
            return read_env(&app->env, value);
        if (!getenv(value))
            weft_lines_print("-x %s has no effect: the variable is not set; use -x %s=VALUE.",
                             value, value);
        return 0;
    case OPT_ENV:
        return read_env(&app->env, value);
    case OPT_GLOBAL_ENV:
        return read_env(&job->env, value);
    case OPT_SET:
        return read_set(app, value);
    case OPT_DIR:
        app->dir = value;
        return 0;
    case OPT_OUTPUT:
        if (strcmp(value, "tag") != 0) {
            weft_lines_print("--output takes \"tag\", not \"%s\"; %s.", value, FILES_INSTEAD);
            return -1;
        }
        job->tag = true;
        return 0;
    case OPT_ONE_PER_NODE:
        app->per_node = 1;
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
    case OPT_DEBUG:
        job->debug = value;
        return 0;
    case OPT_CHECK:
        job->check = value;
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
    case OPT_VERBOSE:
        job->verbose = true;
        return 0;
    case OPT_HOSTS:
    case OPT_HOST_FILE:
        return read_hosts(job, id == OPT_HOST_FILE, value);
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
        struct found option = find_option(word);
        const struct option_row *row = option.row;
        const char *value = option.value;
        if (!row || (value && !row->takes_value && row->id != OPT_DEBUG && row->id != OPT_CHECK)) {
            weft_lines_print("Unknown option \"%s\"; weftrun --help lists all options.", word);
            return -1;
        }
        if (instead[row->id]) {
            weft_lines_print("The option %.*s is not supported here: %s.", option.len, option.name,
                             instead[row->id]);
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
            if (read_parameter(job, value, argv[(*at)++]))
                return -1;
            continue;
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

/* Reads one section of the line, from *at to the next lone ':' or the end, into *app. */
static int read_piece(struct job *job, struct app *app, int argc, char **argv, int *at, bool *done)
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
    return 0;
}

/* A job that seems to be meant for several nodes is not started on one of them. */
static int check_allocation(const struct job *job, const struct allocation *allocation)
{
    const struct app *app = &job->apps[0];
    char count[32] = "", host[256] = "";
    int n = 0;
    if (job->here || !allocation->nodes[0])
        return 0;
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

/* Numbers the ranks, with the default of -n, when all options are read. */
static int count_ranks(struct job *job)
{
    struct allocation allocation;
    weft_hosts_allocation(&allocation);
    if (check_allocation(job, &allocation))
        return -1;
    if (job->napps == 1 && job->apps[0].count == 0)
        job->apps[0].count = job->apps[0].per_node ? job->apps[0].per_node
                             : job->slots          ? job->slots
                                                   : allocation.tasks;
    for (int i = 0; i < job->napps; i++) {
        struct app *app = &job->apps[i];
        app->count = app->count ? app->count : app->per_node ? app->per_node : 1;
        if (app->per_node && app->count > app->per_node) {
            weft_lines_print("%d ranks with at most %d on each node need several machines, and "
                             "weftrun starts ranks on this one only; use srun --mpi=pmix -n %d "
                             "--ntasks-per-node=%d, or leave out the number per node.",
                             app->count, app->per_node, app->count, app->per_node);
            return -1;
        }
        app->first = job->size;
        job->size += app->count;
        if (job->size > RANKS_MAX) {
            weft_lines_print("%d ranks in all are more than weftrun's %d.", job->size, RANKS_MAX);
            return -1;
        }
    }
    if (job->cores && !job->binds)
        job->bind = BIND_CORE; /* as Open MPI: PE counts the cores of each rank */
    if (job->cores && job->bind != BIND_CORE && job->bind != BIND_HWTHREAD)
        job->cores = 0;
    if (job->map && (job->bind == BIND_CORE || job->bind == BIND_HWTHREAD)) {
        weft_lines_print("weftrun binds ranks to neighbouring processors in order, and has no "
                         "--map-by %s for them; leave it out, or use --bind numa or package.",
                         job->map);
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
    const char *first = argc == 3 ? argv[1] : "";
    struct found file = *first == '-' ? find_option(first) : (struct found){0};
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
        if (read_piece(job, &job->apps[job->napps++], argc, argv, &at, done))
            return -1;
    } while (!*done && at < argc);
    return *done ? 0 : count_ranks(job);
}
