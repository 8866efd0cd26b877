// SPDX-License-Identifier: BSD-3-Clause
/*
 * Spawned processes: see spawn.h.
 *
 * Invariants:
 *  - All members of the parents' communicator take the same steps in the same order: agree that
 *    none has an error, receive the error codes from the root, accept. An error of the root is
 *    passed on by the next of these.
 *  - A child removes the port from its environment, so that programs that it starts are not
 *    children of its parents.
 *  - If a program has the info key mpi_initial_errhandler, the port in the environment is followed
 *    by '#' and one character for each program: the index of its error handler, or '-'.
 */
#include "core/comm/spawn.h"
#include "core/base/error.h"
#include "core/base/clock.h"
#include "core/base/program_path.h"
#include "core/base/settings.h"
#include "core/comm/comm_make.h"
#include "core/comm/connect.h"
#include "core/message/process.h"
#include "core/message/vci.h"
#include "pmix/boot.h"
#include "pmix/job_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than any launcher starts: a limit for the memory of the error codes. */
enum { PROCESSES_MAX = 1 << 20 };

static struct weft_comm *parent;

/* The state of the root. */
struct root {
    struct weft_boot_app *apps;
    char **owned; /* program and directory of each app */
    int n;
    char port[MPI_MAX_PORT_NAME];
    bool port_open;
    struct weft_boot_spawn *spawn;
    double joined_at; /* seconds: the launcher has reported that; 0: not yet */
};

/* ---- Arguments */

/* The largest number of first, first + step, ... up to last that is not above most; -1: none. */
static long largest_of(long first, long last, long step, long most)
{
    if (step > 0) {
        long top = last < most ? last : most;
        return first <= top ? first + (top - first) / step * step : -1;
    }
    long skip = first > most ? (first - most - step - 1) / -step : 0;
    long found = first + skip * step;
    return found >= last ? found : -1;
}

/* The same of a list "a:b:c,d": from a to b in steps of c, and d; also -1 if it is none. */
static int largest_allowed(const char *soft, int most)
{
    long best = -1;
    while (*soft) {
        char *end;
        long first = strtol(soft, &end, 10), last = first, step = 1;
        bool number = end > soft;
        if (*end == ':')
            last = strtol(end + 1, &end, 10);
        if (*end == ':')
            step = strtol(end + 1, &end, 10);
        if (!number || step == 0 || labs(step) > INT_MAX || labs(first) > INT_MAX ||
            labs(last) > INT_MAX || (*end && *end != ','))
            return -1;
        long found = largest_of(first, last, step, most);
        best = found > best ? found : best;
        soft = *end ? end + 1 : end;
    }
    return (int)best;
}

/* The number of processes of a program to start. Returns an error class. */
static int count_processes(const struct weft_spawn_program *program, int *count)
{
    const char *soft = weft_info_get(program->info, "soft");
    *count = soft ? largest_allowed(soft, program->count) : program->count;
    if (*count > 0)
        return MPI_SUCCESS;
    if (soft)
        return weft_error_set(MPI_ERR_SPAWN,
                              "the info key soft, \"%.64s\", allows no number of processes from 1 "
                              "to maxprocs, which is %d",
                              soft, program->count);
    return weft_error_set(MPI_ERR_ARG, "maxprocs is %d, and must be at least 1", program->count);
}

/* The path of a program: a name with a slash is relative to the directory of this process, or to
 * wdir; other names are looked for in the folders of the info key path. A name that is not found is
 * left to the launcher. A new string, or NULL without memory. */
static char *find_program(const char *command, const char *here, const char *wdir,
                          const char *folders)
{
    char *found = NULL;
    if (command[0] == '/')
        return strdup(command);
    if (strchr(command, '/')) {
        found = weft_program_below(here, strlen(here), command);
        found = found || !wdir ? found : weft_program_below(wdir, strlen(wdir), command);
    } else if (folders) {
        found = weft_program_find(folders, command);
    }
    return found ? found : strdup(command);
}

/* "here/name", to be freed; NULL: no memory. */
static char *below(const char *here, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", here, name) < 0 ? NULL : path;
}

/* Fills one app. The info key wdir is relative to the directory of this process. */
static int fill_app(struct root *root, int i, const struct weft_spawn_program *from)
{
    struct weft_boot_app *app = &root->apps[i];
    char here[PATH_MAX] = "";
    const char *wdir = weft_info_get(from->info, "wdir");
    if (!from->command || !*from->command)
        return weft_error_set(MPI_ERR_ARG, "the command of a program to spawn is empty");
    int code = count_processes(from, &app->count);
    if (code != MPI_SUCCESS)
        return code;
    if (!getcwd(here, sizeof here))
        snprintf(here, sizeof here, "/");
    app->dir = root->owned[2 * i + 1] =
        wdir && *wdir != '/' ? below(here, wdir) : strdup(wdir ? wdir : here);
    app->program = root->owned[2 * i] = find_program(from->command, here, wdir ? app->dir : NULL,
                                                     weft_info_get(from->info, "path"));
    app->args = from->args;
    app->hosts = weft_info_get(from->info, "host");
    app->host_file = weft_info_get(from->info, "hostfile");
    return app->program && app->dir
               ? MPI_SUCCESS
               : weft_error_set(MPI_ERR_NO_MEM, "no memory for %d programs to spawn", root->n);
}

static int prepare(struct root *root, const struct weft_spawn_program *programs, int n)
{
    if (n < 1)
        return weft_error_set(MPI_ERR_COUNT, "the number of programs to spawn is %d", n);
    root->apps = calloc((size_t)n, sizeof *root->apps);
    root->owned = calloc(2 * (size_t)n, sizeof *root->owned);
    if (!root->apps || !root->owned)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for %d programs to spawn", n);
    root->n = n;
    int code = MPI_SUCCESS;
    long total = 0;
    for (int i = 0; i < n && code == MPI_SUCCESS; i++) {
        code = fill_app(root, i, &programs[i]);
        total += programs[i].count;
        if (code == MPI_SUCCESS && total > PROCESSES_MAX)
            code = weft_error_set(MPI_ERR_SPAWN,
                                  "maxprocs of the programs to spawn is %ld together, and at most "
                                  "%d",
                                  total, PROCESSES_MAX);
    }
    return code;
}

static void release(struct root *root)
{
    if (root->spawn)
        weft_boot_spawn_end(root->spawn);
    if (root->port_open)
        weft_port_close(root->port);
    for (int i = 0; i < 2 * root->n; i++)
        free(root->owned[i]);
    free(root->apps);
    free(root->owned);
}

/* ---- The start */

static int total_of(const struct root *root)
{
    int total = 0;
    for (int i = 0; i < root->n; i++)
        total += root->apps[i].count;
    return total;
}

static int fail(const struct root *root, enum weft_boot_spawned result, const char *why)
{
    return weft_error_set(
        result == WEFT_BOOT_SPAWN_UNSUPPORTED ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_ERR_SPAWN,
        "rank %d on %s cannot spawn %d processes of %.128s%s: %s", weft.job.rank, weft.job.host,
        total_of(root), root->apps[0].program, root->n > 1 ? " and other programs" : "", why);
}

/* The index of an initial error handler; -1: another value, or none. */
static int find_errhandler(const struct weft_info *info)
{
    const char *name = weft_info_get(info, "mpi_initial_errhandler");
    for (int i = 0; name && i < WEFT_ERRHANDLERS_INITIAL; i++)
        if (!strcmp(name, weft_errhandlers_initial[i].name))
            return i;
    return -1;
}

/* The port, with the error handlers of the programs. To be freed; NULL without memory. */
static char *port_text(const struct root *root, const struct weft_spawn_program *programs)
{
    size_t length = strlen(root->port);
    char *text = malloc(length + (size_t)root->n + 2), *at;
    bool any = false;
    if (!text)
        return NULL;
    memcpy(text, root->port, length);
    at = text + length;
    *at++ = '#';
    for (int i = 0; i < root->n; i++) {
        int index = find_errhandler(programs[i].info);
        *at++ = (char)(index < 0 ? '-' : '0' + index);
        any |= index >= 0;
    }
    *at = 0;
    if (!any)
        text[length] = 0;
    return text;
}

static int start(struct root *root, const struct weft_spawn_program *programs)
{
    char why[768];
    enum weft_boot_spawned result;
    int code = weft_port_open(root->port);
    if (code != MPI_SUCCESS)
        return code;
    root->port_open = true;
    char *port = port_text(root, programs);
    if (!port)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory to spawn %d programs", root->n);
    root->spawn = weft_boot_spawn_start(root->apps, root->n, port, &result, why, sizeof why);
    free(port);
    return root->spawn ? MPI_SUCCESS : fail(root, result, why);
}

/* While the root waits for the children's connection. */
static int check(void *arg)
{
    struct root *root = arg;
    char why[768];
    enum weft_boot_spawned result = weft_boot_spawn_test(root->spawn, why, sizeof why);
    double limit = (double)weft_settings.spawn_timeout;
    if (result == WEFT_BOOT_SPAWN_PENDING)
        return MPI_SUCCESS;
    if (result != WEFT_BOOT_SPAWN_DONE)
        return fail(root, result, why);
    if (root->joined_at <= 0)
        root->joined_at = weft_seconds();
    if (limit <= 0 || weft_seconds() - root->joined_at < limit)
        return MPI_SUCCESS;
    snprintf(why, sizeof why,
             "they have not connected to their parents for %.0f seconds (WEFT_SPAWN_TIMEOUT); see "
             "whether they have ended, are programs of Weft and call MPI_Init",
             limit);
    return fail(root, WEFT_BOOT_SPAWN_FAILED, why);
}

/* ---- Error codes */

/* The number of processes that are asked for; 0 if a number is wrong. */
static int count_codes(const struct weft_spawn_program *programs, int n)
{
    long total = 0;
    for (int i = 0; i < n; i++) {
        if (programs[i].count < 0)
            return 0;
        total += programs[i].count;
    }
    return total <= PROCESSES_MAX ? (int)total : 0;
}

/* The codes of the processes that are asked for, if all start: those that soft leaves out have
 * MPI_ERR_SPAWN. */
static int *make_codes(const struct weft_spawn_program *programs, const struct root *root, int n)
{
    int *codes = malloc(((size_t)n + 1) * sizeof *codes), at = 0;
    for (int i = 0; codes && i < root->n; i++)
        for (int k = 0; k < programs[i].count; k++)
            codes[at++] = k < root->apps[i].count ? MPI_SUCCESS : MPI_ERR_SPAWN;
    return codes;
}

/* Gives all members the codes of the root. Returns an error class of this member. */
static int share_codes(struct weft_comm *comm, int root, int **codes, int *n)
{
    int code = weft_comm_collectives.bcast(comm, weft_elements_of_bytes(n, sizeof *n), root);
    if (code != MPI_SUCCESS)
        return code;
    if (comm->rank != root)
        *codes = malloc(((size_t)*n + 1) * sizeof **codes);
    if (!*codes) /* the others are in the broadcast */
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the error codes of %d processes", *n);
    return weft_comm_collectives.bcast(
        comm, weft_elements_of_bytes(*codes, (size_t)*n * sizeof **codes), root);
}

int weft_comm_spawn(const struct weft_spawn_program *programs, int n, int rank,
                    struct weft_comm *comm, int failed, int *errcodes, struct weft_comm **out)
{
    struct root root = {0};
    int *codes = NULL, ncodes = 0;
    bool is_root = comm->rank == rank;
    *out = NULL;
    int code = is_root && failed == MPI_SUCCESS ? prepare(&root, programs, n) : failed;
    if (is_root && programs)
        ncodes = count_codes(programs, n);
    if (is_root && code == MPI_SUCCESS && !(codes = make_codes(programs, &root, ncodes)))
        code = weft_error_set(MPI_ERR_NO_MEM, "no memory for the error codes of processes");
    code = weft_comm_begin(comm, code);
    if (code == MPI_SUCCESS)
        code = share_codes(comm, rank, &codes, &ncodes);
    if (code == MPI_SUCCESS) {
        struct weft_connect_wait wait = {check, &root};
        code = is_root ? start(&root, programs) : MPI_SUCCESS;
        code = weft_port_accept(root.port, rank, comm, code, &wait, out);
    }
    for (int i = 0; errcodes && i < ncodes; i++)
        errcodes[i] = code == MPI_SUCCESS ? codes[i] : code;
    free(codes);
    release(&root);
    return code;
}

/* ---- Children */

int weft_spawn_errhandler(int otherwise)
{
    const char *variable = getenv(WEFT_PARENT_PORT_VARIABLE);
    const char *list = variable && !weft_boot_is_alone() ? strchr(variable, '#') : NULL;
    int program = weft.job.appnum;
    if (!list || program < 0 || (size_t)program >= strlen(list + 1))
        return otherwise;
    int index = list[1 + program] - '0';
    return index >= 0 && index < WEFT_ERRHANDLERS_INITIAL ? index : otherwise;
}

int weft_spawn_connect(void)
{
    const char *variable = getenv(WEFT_PARENT_PORT_VARIABLE);
    if (!variable)
        return MPI_SUCCESS;
    /* A program that no launcher has joined was started by a child. */
    bool is_child = *variable && !weft_boot_is_alone();
    char *port = is_child ? strndup(variable, strcspn(variable, "#")) : NULL;
    unsetenv(WEFT_PARENT_PORT_VARIABLE);
    unsetenv(WEFT_APPNUM_VARIABLE);
    if (!is_child)
        return MPI_SUCCESS;
    if (!port)
        return weft_error_set(MPI_ERR_NO_MEM, "no memory for the name of the parents' port");
    weft_vcis_enter(); /* MPI_Init was entered before there were VCIs */
    int code = weft_port_connect(port, 0, &weft_comm_world, MPI_SUCCESS, NULL, &parent);
    weft_vcis_leave();
    free(port);
    return code == MPI_SUCCESS ? weft_comm_set_name(parent, "MPI_COMM_PARENT") : code;
}

struct weft_comm *weft_spawn_parent(void)
{
    return parent;
}

void weft_spawn_forget(const struct weft_comm *comm)
{
    if (comm == parent)
        parent = NULL;
}
