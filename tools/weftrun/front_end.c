// SPDX-License-Identifier: BSD-3-Clause
/*
 * Front ends: see front_end.h. The loader searches the folder of a front end first
 * (LD_LIBRARY_PATH), before the directories of a RUNPATH; before those of an RPATH it takes
 * LD_PRELOAD.
 */
#include "front_end.h"
#include "launch.h"
#include "lines.h"
#include "mpi_library.h"
#include "other_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The interfaces: the name of each folder, its library for C, and the variables of ranks that
 * scripts of that MPI read; all ranks are on this machine. */
static const struct interface {
    const char *name, *library;
    const char *ranks[4], *sizes[3];
} interfaces[] = {
    {"openmpi",
     "libmpi.so.40",
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK"},
     {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"}},
    {"mpich", "libmpi.so.12", {"PMI_RANK", "MPI_LOCALRANKID"}, {"PMI_SIZE", "MPI_LOCALNRANKS"}},
};

static const struct interface *find_interface(const char *name)
{
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++)
        if (strcmp(interfaces[i].name, name) == 0)
            return &interfaces[i];
    return NULL;
}

/* The folder of an interface, in the build tree or where make install put it. NULL: there is
 * none. */
static char *find_folder(const struct interface *interface)
{
    char program[4096], *path = NULL;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = n > 0 ? memrchr(program, '/', (size_t)n) : NULL;
    int length = slash ? (int)(slash - program) : 0;
    for (int installed = 0; installed < 2; installed++) {
        int code = installed ? asprintf(&path, WEFT_LIBDIR "/weft/%s/%s", interface->name,
                                        interface->library)
                             : asprintf(&path, "%.*s/lib/weft/%s/%s", length, program,
                                        interface->name, interface->library);
        if (code < 0)
            return NULL;
        if (access(path, R_OK) == 0) {
            *strrchr(path, '/') = 0;
            return path;
        }
        free(path);
    }
    return NULL;
}

int weft_front_end_choose(const struct job *job, struct app *app)
{
    char library[256];
    const char *needed = weft_other_mpi_needed(app->path, library, sizeof library);
    const char *preload = getenv("LD_PRELOAD"); /* may have the library that the program needs */
    const char *name = job->abi ? job->abi : needed ? weft_mpi_library_interface(needed) : "";
    const struct interface *interface = find_interface(name);
    char *folder = interface ? find_folder(interface) : NULL;
    if (interface && !folder && job->abi) {
        weft_lines_print("--abi %s needs %s in %s/weft/%s, which is not there; install Weft again.",
                         name, interface->library, WEFT_LIBDIR, name);
        return LAUNCH_NOT_USABLE;
    }
    if (folder && weft_other_mpi_has_rpath(app->path))
        app->preload = weft_other_mpi_preload(app->path, folder, interface->library);
    app->interface = interface;
    app->front_end = folder;
    if (folder && !job->abi)
        needed = weft_other_mpi_missing(app->path, folder, library, sizeof library);
    if (!needed || (folder && job->abi) || (preload && *preload))
        return 0;
    weft_lines_print(
        "The program %s on %s was linked with %s, another MPI than Weft, and each of "
        "its ranks would run alone: compile it with Weft's mpicc, or start it with the "
        "%s.",
        app->argv[0], job->host, needed, weft_mpi_library_launcher(needed));
    return LAUNCH_NOT_USABLE;
}

/* ---- The environment of ranks */

/* "NAME=FIRST:OLD" with the value that the environment has. */
static char *in_front(const char *name, const char *first)
{
    const char *old = getenv(name);
    char *text;
    int n = asprintf(&text, "%s=%s%s%s", name, first, old && *old ? ":" : "", old ? old : "");
    return n < 0 ? NULL : text;
}

static char *number(const char *name, int value)
{
    char *text;
    return asprintf(&text, "%s=%d", name, value) < 0 ? NULL : text;
}

char **weft_front_end_settings(const struct job *job, const struct rank *rank)
{
    const struct app *app = rank->app;
    const struct interface *interface = app->interface;
    char **list = calloc(WEFT_FRONT_END_SETTINGS + 1, sizeof *list);
    if (!list)
        return NULL;
    int n = 0;
    list[n++] = app->preload ? in_front("LD_PRELOAD", app->preload)
                             : in_front("LD_LIBRARY_PATH", app->front_end);
    for (const char *const *name = interface->ranks; *name; name++)
        list[n++] = number(*name, rank->rank);
    for (const char *const *name = interface->sizes; *name; name++)
        list[n++] = number(*name, job->size);
    for (int i = 0; i < n; i++) {
        if (!list[i]) {
            for (int k = 0; k < n; k++)
                free(list[k]);
            free(list);
            return NULL;
        }
    }
    return list;
}
