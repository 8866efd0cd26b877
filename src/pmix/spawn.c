// SPDX-License-Identifier: BSD-3-Clause
/*
 * Starting further processes: by PMIx_Spawn, by PMI-1, or by a weftrun of its own: without a
 * launcher, and under srun, whose PMIx has no PMIx_Spawn; that weftrun starts a step of Slurm.
 *
 * Invariant: the reply of PMIx_Spawn_nb is freed once, by the callback if the caller has abandoned
 * it, else by the caller.
 */
#include "boot.h"
#include "core/base/program_path.h"
#include "pmix/job_file.h"
#include "pmix/pmix_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PARENT_FOLDERS = 5 }; /* from the library to the folder that has bin/weftrun */

struct weft_boot_spawn {
    struct weft_reply *reply; /* of PMIx_Spawn_nb, or NULL */
    int fd; /* of the weftrun that was started: a byte when its ranks have joined, and its end */
    bool joined;                /* the byte has come */
    struct weft_pmi_spawn *pmi; /* or NULL */
};

/* The weftrun of each spawn without a launcher, until it has ended. */
static struct {
    pid_t *pids;
    int n;
} starters;

static const char no_memory[] = "memory ran out: free memory on this host";

/* The setting of the environment that has the port. To be freed; NULL without memory. */
static char *variable_of(const char *port)
{
    char *text;
    return asprintf(&text, WEFT_PARENT_PORT_VARIABLE "=%s", port) < 0 ? NULL : text;
}

/* ---- By PMIx */

static void on_spawned(pmix_status_t status, char *nspace, void *reply)
{
    (void)nspace;
    weft_reply_done(status, reply);
}

static void add_text(pmix_app_t *app, const char *key, const char *value)
{
    if (value) {
        PMIX_INFO_LOAD(&app->info[app->ninfo], key, value, PMIX_STRING);
        app->ninfo++;
    }
}

static void fill_app(pmix_app_t *to, const struct weft_boot_app *from, const char *variable)
{
    pmix_status_t rc;
    PMIX_APP_CONSTRUCT(to);
    to->cmd = strdup(from->program);
    to->maxprocs = from->count;
    to->cwd = from->dir ? strdup(from->dir) : NULL;
    PMIX_ARGV_APPEND(rc, to->argv, from->program);
    for (int i = 0; from->args && from->args[i]; i++)
        PMIX_ARGV_APPEND(rc, to->argv, from->args[i]);
    PMIX_ARGV_APPEND(rc, to->env, variable);
    (void)rc;
    if (from->hosts || from->host_file)
        PMIX_INFO_CREATE(to->info, 2);
    add_text(to, PMIX_HOST, from->hosts);
    add_text(to, PMIX_HOSTFILE, from->host_file);
}

static int start_by_pmix(struct weft_boot_spawn *spawn, const struct weft_boot_app *apps, int n,
                         const char *port, char *why, size_t len)
{
    pmix_app_t *list;
    char *variable = variable_of(port);
    PMIX_APP_CREATE(list, (size_t)n);
    spawn->reply = weft_reply_new();
    if (!list || !spawn->reply || !variable) {
        snprintf(why, len, "%s", no_memory);
        free(variable);
        return -1;
    }
    for (int i = 0; i < n; i++)
        fill_app(&list[i], &apps[i], variable);
    free(variable);
    bool yes = true;
    PMIX_INFO_LOAD(&spawn->reply->how[0], WEFT_UNNAMED_KEY, &yes, PMIX_BOOL);
    spawn->reply->how_count = 1;
    /* mpirun prints a page about a key that it lacks; libpmix 5 refuses an array of no keys. */
    size_t nkeys = weft_launcher_is_weftrun();
    pmix_status_t rc = PMIx_Spawn_nb(nkeys ? spawn->reply->how : NULL, nkeys, list, (size_t)n,
                                     on_spawned, spawn->reply);
    PMIX_APP_FREE(list, (size_t)n);
    if (rc == PMIX_SUCCESS)
        return 0;
    weft_reply_free(spawn->reply); /* the callback is not called */
    spawn->reply = NULL;
    snprintf(why, len, "PMIx_Spawn cannot be called: %s", PMIx_Error_string(rc));
    return -1;
}

static enum weft_boot_spawned test_reply(struct weft_reply *reply, char *why, size_t len)
{
    pthread_mutex_lock(&reply->lock);
    bool done = reply->done;
    pmix_status_t status = reply->status;
    pthread_mutex_unlock(&reply->lock);
    if (!done)
        return WEFT_BOOT_SPAWN_PENDING;
    if (status == PMIX_SUCCESS)
        return WEFT_BOOT_SPAWN_DONE;
    snprintf(why, len, "the launcher reports %s: see its message, if it has printed one",
             PMIx_Error_string(status));
    return status == PMIX_ERR_NOT_SUPPORTED ? WEFT_BOOT_SPAWN_UNSUPPORTED : WEFT_BOOT_SPAWN_FAILED;
}

/* ---- By PMI-1 */

static const char port_key[] = "port";

enum { ARGS_MAX = 800 }; /* Hydra takes 1000 lines of a command, and aborts if there are more */

/* A launcher with PMI-1 ends the job if a program cannot be executed. True if it can be here. */
static bool is_executable(const char *program)
{
    const char *folders = getenv("PATH");
    if (strchr(program, '/'))
        return weft_program_is_executable(program);
    char *path = weft_program_find(folders ? folders : "", program);
    bool found = path != NULL;
    free(path);
    return found;
}

/* Returns the words for input that PMI-1 cannot express, or NULL. Hydra 4.2 ends the job if a value
 * is empty, and drops backslashes, which older ones pass. */
static const char *find_inexpressible(const struct weft_boot_app *app)
{
    if (app->host_file)
        return "the info key hostfile";
    if (strchr(app->program, '\n') || (app->dir && strchr(app->dir, '\n')) ||
        (app->hosts && strchr(app->hosts, '\n')))
        return "a name with a line break";
    for (int i = 0; app->args && app->args[i]; i++) {
        if (strpbrk(app->args[i], "\n\\"))
            return "an argument with a line break or a backslash";
        if (!app->args[i][0])
            return "an empty argument";
        if (i >= ARGS_MAX)
            return "a program with so many arguments";
    }
    return NULL;
}

/* The command for one of n programs. */
static void write_command(FILE *out, const struct weft_boot_app *app, int index, int n,
                          const char *port)
{
    int args = 0, keys = 0;
    fprintf(out, "mcmd=spawn\nnprocs=%d\nexecname=%s\ntotspawns=%d\nspawnssofar=%d\n", app->count,
            app->program, n, index + 1);
    for (; app->args && app->args[args]; args++)
        fprintf(out, "arg%d=%s\n", args + 1, app->args[args]);
    fprintf(out, "argcnt=%d\n", args);
    weft_pmi_spawn_values(out, port_key, port);
    const char *const infos[][2] = {{"wdir", app->dir}, {"host", app->hosts}};
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        if (infos[i][1]) {
            fprintf(out, "info_key_%d=%s\ninfo_val_%d=%s\n", keys, infos[i][0], keys, infos[i][1]);
            keys++;
        }
    fprintf(out, "info_num=%d\nendcmd\n", keys);
}

static int start_by_pmi(struct weft_boot_spawn *spawn, const struct weft_boot_app *apps, int n,
                        const char *port, char *why, size_t len)
{
    for (int i = 0; i < n; i++) {
        const char *what = find_inexpressible(&apps[i]);
        if (what)
            snprintf(why, len, "%s cannot be passed to the launcher by PMI-1", what);
        else if (!apps[i].hosts && !is_executable(apps[i].program))
            snprintf(why, len, "%s cannot be executed on this host", apps[i].program);
        else
            continue;
        return -1;
    }
    size_t size;
    struct weft_pmi_spawn *pmi = spawn->pmi = calloc(1, sizeof *pmi);
    FILE *out = pmi ? open_memstream(&pmi->commands, &size) : NULL;
    for (int i = 0; out && i < n; i++)
        write_command(out, &apps[i], i, n, port);
    if (!out || fclose(out)) {
        snprintf(why, len, "%s", no_memory);
        return -1;
    }
    weft_pmi_spawn_test(pmi);
    return 0;
}

static enum weft_boot_spawned test_pmi(struct weft_pmi_spawn *pmi, char *why, size_t len)
{
    weft_pmi_spawn_test(pmi);
    if (pmi->result < WEFT_PMI_SPAWNED)
        return WEFT_BOOT_SPAWN_PENDING;
    if (pmi->result == WEFT_PMI_SPAWNED)
        return WEFT_BOOT_SPAWN_DONE;
    snprintf(why, len, "the launcher %s",
             pmi->result == WEFT_PMI_SPAWN_LOST
                 ? "has closed its connection (PMI-1), or has sent an unexpected reply"
                 : "refuses it (PMI-1): see its message, if it has printed one");
    return WEFT_BOOT_SPAWN_FAILED;
}

static void free_pmi(struct weft_pmi_spawn *pmi)
{
    weft_pmi_spawn_abandon(pmi);
    free(pmi->commands);
    free(pmi);
}

/* ---- By weftrun */

/* The path of the weftrun that belongs to this library, else its name, for PATH. */
static void find_weftrun(char *path, size_t size)
{
    static const char *const names[] = {"bin/weftrun", "weftrun"};
    Dl_info library;
    char folder[4096] = "";
    if (dladdr(&starters, &library) && library.dli_fname) {
        char *real = realpath(library.dli_fname, NULL);
        snprintf(folder, sizeof folder, "%s", real ? real : "");
        free(real);
    }
    for (int i = 0; i < PARENT_FOLDERS; i++) {
        char *end = strrchr(folder, '/');
        if (!end)
            break;
        *end = 0;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if ((size_t)snprintf(path, size, "%s/%s", folder, names[k]) < size &&
                access(path, X_OK) == 0)
                return;
    }
    snprintf(path, size, "weftrun");
}

/* The words of weftrun's line. Those that are made are in *made, to be freed, with their list. */
struct words {
    char **list;
    int n, space;
    bool failed;
};

static void add_word(struct words *words, const char *word)
{
    if (words->n + 2 > words->space) {
        int space = words->space ? 2 * words->space : 32;
        char **more = realloc(words->list, (size_t)space * sizeof *more);
        words->failed |= !more;
        if (!more)
            return;
        words->list = more;
        words->space = space;
    }
    words->list[words->n] = strdup(word);
    words->failed |= !words->list[words->n];
    words->list[++words->n] = NULL;
}

static void add_pair(struct words *words, const char *option, const char *value)
{
    if (!value)
        return;
    add_word(words, option);
    add_word(words, value);
}

/* Adds a word of a program: see WEFT_COLON. */
static void add_program_word(struct words *words, const char *word)
{
    char *longer = NULL;
    bool colons = word[0] && !word[strspn(word, WEFT_COLON)];
    if (colons && asprintf(&longer, WEFT_COLON "%s", word) < 0) {
        words->failed = true;
        return;
    }
    add_word(words, colons ? longer : word);
    free(longer);
}

static void add_app(struct words *words, const struct weft_boot_app *app)
{
    char count[16];
    snprintf(count, sizeof count, "%d", app->count);
    add_pair(words, "-n", count);
    add_pair(words, "--wdir", app->dir);
    add_pair(words, "-H", app->hosts);
    add_pair(words, "--hostfile", app->host_file);
    add_word(words, "--");
    add_program_word(words, app->program);
    for (int i = 0; app->args && app->args[i]; i++)
        add_program_word(words, app->args[i]);
}

void weft_spawn_reap(void)
{
    for (int i = 0; i < starters.n; i++)
        if (waitpid(starters.pids[i], NULL, WNOHANG) != 0)
            starters.pids[i--] = starters.pids[--starters.n];
}

/* The environment with one more variable. To be freed, but not its strings. */
static char **environment(const char *variable)
{
    size_t n = 0;
    while (environ[n])
        n++;
    char **env = calloc(n + 2, sizeof *env);
    if (env) {
        memcpy(env, environ, n * sizeof *env);
        env[n] = (char *)(uintptr_t)variable;
    }
    return env;
}

/* Runs weftrun with the write end of a pipe. Returns 0 or errno. */
static int run_weftrun(const char *path, char **argv, char **env, int fd)
{
    posix_spawn_file_actions_t actions;
    pid_t pid, *more = realloc(starters.pids, ((size_t)starters.n + 1) * sizeof *more);
    if (!more)
        return ENOMEM;
    starters.pids = more;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, fd); /* clears FD_CLOEXEC */
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    int error = posix_spawnp(&pid, path, &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    if (!error)
        starters.pids[starters.n++] = pid;
    return error;
}

/* plugin: of Slurm, for a step of its own; NULL: on this host. */
static int start_weftrun(struct weft_boot_spawn *spawn, const struct weft_boot_app *apps, int n,
                         const char *port, const char *plugin, char *why, size_t len)
{
    char path[4200], number[16], *variable = variable_of(port);
    struct words words = {0};
    int fds[2], error = 0;
    find_weftrun(path, sizeof path);
    weft_spawn_reap();
    if (!variable || pipe2(fds, O_CLOEXEC)) {
        snprintf(why, len, "a pipe cannot be made: %s", strerror(variable ? errno : ENOMEM));
        free(variable);
        return -1;
    }
    snprintf(number, sizeof number, "%d", fds[1]);
    add_word(&words, path);
    add_pair(&words, "--joined-fd", number);
    if (!plugin)
        add_word(&words, "--here");
    add_pair(&words, "--slurm-step", plugin);
    for (int i = 0; i < n; i++) {
        if (i > 0)
            add_word(&words, ":");
        add_app(&words, &apps[i]);
    }
    char **env = environment(variable);
    error = words.failed || !env ? ENOMEM : run_weftrun(path, words.list, env, fds[1]);
    free(env);
    free(variable);
    for (int i = 0; i < words.n; i++)
        free(words.list[i]);
    free(words.list);
    close(fds[1]);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    spawn->fd = fds[0];
    if (error)
        snprintf(why, len,
                 "%s cannot be started: %s; put the bin folder of this Weft into PATH, or start "
                 "the program by weftrun -n 1",
                 path, strerror(error));
    return error ? -1 : 0;
}

static enum weft_boot_spawned test_weftrun(struct weft_boot_spawn *spawn, char *why, size_t len)
{
    char byte;
    ssize_t n = read(spawn->fd, &byte, 1);
    spawn->joined |= n == 1;
    if (n == 1 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return spawn->joined ? WEFT_BOOT_SPAWN_DONE : WEFT_BOOT_SPAWN_PENDING;
    snprintf(why, len,
             spawn->joined ? "they ended before they connected: a child has to call MPI_Init"
                           : "weftrun, which this process started for it, failed: see its message");
    return WEFT_BOOT_SPAWN_FAILED;
}

/* ---- The interface */

void weft_spawn_find_port(void)
{
    char port[4096];
    if (weft_pmi_parent_value(port_key, port, sizeof port))
        setenv(WEFT_PARENT_PORT_VARIABLE, port, 1);
}

struct weft_boot_spawn *weft_boot_spawn_start(const struct weft_boot_app *apps, int n,
                                              const char *port, enum weft_boot_spawned *result,
                                              char *why, size_t len)
{
    struct weft_boot_spawn *spawn = calloc(1, sizeof *spawn);
    int failed = -1;
    *result = WEFT_BOOT_SPAWN_FAILED;
    if (!spawn) {
        snprintf(why, len, "%s", no_memory);
        return NULL;
    }
    spawn->fd = -1;
    const char *plugin = weft_launcher_slurm_plugin();
    if (plugin || weft_boot_is_alone())
        failed = start_weftrun(spawn, apps, n, port, plugin, why, len);
    else if (weft_psets_nspace())
        failed = start_by_pmix(spawn, apps, n, port, why, len);
    else
        failed = start_by_pmi(spawn, apps, n, port, why, len);
    if (failed) {
        weft_boot_spawn_end(spawn);
        return NULL;
    }
    *result = WEFT_BOOT_SPAWN_PENDING;
    return spawn;
}

enum weft_boot_spawned weft_boot_spawn_test(struct weft_boot_spawn *spawn, char *why, size_t len)
{
    return spawn->reply ? test_reply(spawn->reply, why, len)
           : spawn->pmi ? test_pmi(spawn->pmi, why, len)
                        : test_weftrun(spawn, why, len);
}

void weft_boot_spawn_end(struct weft_boot_spawn *spawn)
{
    if (spawn->reply)
        weft_reply_abandon(spawn->reply);
    if (spawn->pmi)
        free_pmi(spawn->pmi);
    if (spawn->fd >= 0)
        close(spawn->fd);
    free(spawn);
}
