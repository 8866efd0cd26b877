// SPDX-License-Identifier: BSD-3-Clause
/*
 * Front ends: see front_end.h. The loader searches the folder of a front end first
 * (LD_LIBRARY_PATH), before the directories of a RUNPATH; before those of an RPATH it takes
 * LD_PRELOAD. Both folders are in the path of a program without an MPI of its own, because the
 * libraries in them have different names, but for those without a version.
 */
#include "front_end.h"
#include "installed.h"
#include "launch.h"
#include "lines.h"
#include "loader.h"
#include "mpi_library.h"
#include "other_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The interfaces: the name of each folder, and its library for C. */
static const struct interface {
    const char *name, *library;
} interfaces[] = {{"openmpi", "libmpi.so.40"}, {"mpich", "libmpi.so.12"}};

enum { INTERFACES = sizeof interfaces / sizeof interfaces[0] };

static const struct interface *find_interface(const char *name)
{
    for (size_t i = 0; i < INTERFACES; i++)
        if (strcmp(interfaces[i].name, name) == 0)
            return &interfaces[i];
    return NULL;
}

/* The folder of an interface. NULL: there is none. */
static char *find_folder(const struct interface *interface)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%s", interface->name, interface->library);
    char *path = weft_installed_find(name);
    if (path)
        *strrchr(path, '/') = 0;
    return path;
}

/* ---- The search path */

/* The libraries that the loader finds without a front end. */
struct found {
    const char *interface; /* of the library that is called libmpi.so */
    bool has_rte;          /* Open MPI's libopen-rte is there */
};

static void see_found(void *arg, const char *name, const char *path)
{
    struct found *found = arg;
    char *real = name && path ? realpath(path, NULL) : NULL;
    if (real && strcmp(name, "libmpi.so") == 0 && strrchr(real, '/'))
        found->interface = weft_mpi_library_interface(strrchr(real, '/') + 1);
    if (real && strcmp(name, "libopen-rte.so.40") == 0)
        found->has_rte = true;
    free(real);
}

static void append(char **list, const char *text)
{
    char *longer;
    if (!text || asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ":" : "", text) < 0)
        return;
    free(*list);
    *list = longer;
}

/* Appends the folder of an interface, if it is there. */
static void append_folder(char **list, const struct interface *interface)
{
    char *folder = find_folder(interface);
    append(list, folder);
    free(folder);
}

/* The folders that the loader searches first. `only`: the interface of the program; NULL: any
 * library of another MPI may be loaded later, and one without a version in its name is that of
 * --abi, or else of the MPI that the system has by that name. The stand-ins for the other libraries
 * of an Open MPI come last and only where there is none, because its tools need the real ones. */
static char *search_path(const struct job *job, const struct app *app, const struct interface *only)
{
    const struct weft_loader_options options = {"LD_PRELOAD", "libmpi.so:libopen-rte.so.40", false};
    char program[4096], *list = NULL, *stand_ins;
    struct found found = {NULL, false};
    weft_installed_self(program, sizeof program);
    weft_loader_list(only ? app->path : program, &options, see_found, &found);
    const char *first = only ? only->name : job->abi ? job->abi : found.interface;
    for (int wanted = 1; wanted >= 0; wanted--)
        for (size_t i = 0; i < INTERFACES; i++)
            if (wanted == (first && strcmp(interfaces[i].name, first) == 0) && (wanted || !only))
                append_folder(&list, &interfaces[i]);
    char *folder = found.has_rte ? NULL : find_folder(find_interface("openmpi"));
    if (folder && list && strstr(list, folder) && asprintf(&stand_ins, "%s/parts", folder) >= 0) {
        append(&list, stand_ins);
        free(stand_ins);
    }
    free(folder);
    return list;
}

/* ---- The choice */

static int refuse(const struct job *job, const struct app *app, const char *needed)
{
    weft_lines_print(
        "The program %s on %s was linked with %s, another MPI than Weft, and each of "
        "its ranks would run alone: compile it with Weft's mpicc, or start it with %sthe %s.",
        app->argv[0], job->host, needed,
        weft_other_mpi_is_allowed(job) ? "weftrun without --abi none, or with " : "",
        weft_mpi_library_launcher(needed));
    return LAUNCH_NOT_USABLE;
}

/* NULL: no memory. */
static char *path_of(const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

int weft_front_end_choose(const struct job *job, struct app *app)
{
    char library[256];
    bool standard;
    const char *needed = weft_other_mpi_needed(app->path, library, sizeof library, &standard);
    const char *preload = getenv("LD_PRELOAD"); /* may have the library that the program needs */
    bool may_refuse = !preload || !*preload;
    if (weft_other_mpi_is_allowed(job))
        return needed && may_refuse ? refuse(job, app, needed) : 0;
    const struct interface *interface = find_interface(needed ? weft_mpi_library_interface(needed)
                                                       : job->abi ? job->abi
                                                                  : "");
    char *folder = interface ? find_folder(interface) : NULL;
    int code = 0;
    if (!needed && job->abi && !folder) {
        weft_lines_print("--abi %s needs %s in %s/weft/%s, which is not there; install Weft again.",
                         job->abi, interface->library, WEFT_LIBDIR, job->abi);
        code = LAUNCH_NOT_USABLE;
    } else if (!needed && !standard) {
        app->front_end = search_path(job, app, NULL);
        /* Scripts such as R's put other folders first. The library for C alone, because those for
         * Fortran define names that an extension module may have, too. */
        app->front_library = folder ? path_of(folder, interface->library) : NULL;
        app->preload = folder ? path_of(folder, interface->library) : NULL;
    } else if (needed && folder) {
        app->front_end = search_path(job, app, interface);
        app->front_library = path_of(folder, interface->library);
        if (weft_other_mpi_has_rpath(app->path))
            app->preload = weft_other_mpi_preload(app->path, folder, interface->library);
        needed = weft_other_mpi_missing(app->path, folder, library, sizeof library);
    }
    if (code == 0 && needed && may_refuse)
        code = refuse(job, app, needed);
    free(folder);
    return code;
}

/* ---- The environment of ranks */

/* The value that a variable has for an application: of -x or -genv, or else of weftrun itself. */
static const char *value_of(const struct job *job, const struct app *app, const char *name)
{
    const struct variables *const of[] = {&app->env, &job->env};
    const size_t n = strlen(name);
    for (int k = 0; k < 2; k++)
        for (int i = of[k]->n; i-- > 0;)
            if (strncmp(of[k]->list[i], name, n) == 0 && of[k]->list[i][n] == '=')
                return of[k]->list[i] + n + 1;
    return getenv(name);
}

/* "NAME=FIRST:OLD", or "NAME=FIRST" without an old value; NULL: no memory. */
static char *in_front(const char *name, const char *first, const char *old)
{
    char *text;
    int n = asprintf(&text, "%s=%s%s%s", name, first, old && *old ? ":" : "", old ? old : "");
    return n < 0 ? NULL : text;
}

bool weft_front_end_settings(const struct job *job, const struct app *app, char *settings[2])
{
    static const char *const names[] = {"LD_LIBRARY_PATH", "LD_PRELOAD"};
    const char *const first[] = {app->front_end, app->preload};
    for (int i = 0; i < 2; i++)
        settings[i] = first[i] ? in_front(names[i], first[i], value_of(job, app, names[i])) : NULL;
    return (settings[0] || !app->front_end) && (settings[1] || !app->preload);
}
