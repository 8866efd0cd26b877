// SPDX-License-Identifier: BSD-3-Clause
/*
 * Front ends: see front_end.h. The loader searches the folder of a front end first
 * (LD_LIBRARY_PATH), before the directories of a RUNPATH; before those of an RPATH it takes
 * LD_PRELOAD.
 */
#include "front_end.h"
#include "launch.h"
#include "lines.h"
#include "other_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The interfaces, and the library that each folder has. */
static const struct interface {
    const char *name, *library;
} interfaces[] = {{"openmpi", "libmpi.so.40"}};

/* The folder of an interface if it has the library: in the build tree, or where make install put
 * it. NULL: there is none. */
static char *find_folder(const struct interface *interface, const char *library)
{
    char program[4096], *path = NULL;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = n > 0 ? memrchr(program, '/', (size_t)n) : NULL;
    int length = slash ? (int)(slash - program) : 0;
    for (int installed = 0; installed < 2; installed++) {
        int code = installed ? asprintf(&path, WEFT_LIBDIR "/weft/%s/%s", interface->name, library)
                             : asprintf(&path, "%.*s/lib/weft/%s/%s", length, program,
                                        interface->name, library);
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
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++) {
        const struct interface *interface = &interfaces[i];
        bool chosen =
            job->abi ? strcmp(job->abi, interface->name) == 0
                     : needed && strcmp(weft_other_mpi_interface(needed), interface->name) == 0;
        if (!chosen)
            continue;
        app->front_end = find_folder(interface, needed && !job->abi ? needed : interface->library);
        if (!app->front_end && job->abi) {
            weft_lines_print("--abi %s needs %s in %s/weft/%s, which is not there; install Weft "
                             "again.",
                             job->abi, interface->library, WEFT_LIBDIR, interface->name);
            return LAUNCH_NOT_USABLE;
        }
    }
    if (app->front_end)
        app->preload = weft_other_mpi_has_rpath(app->path);
    if (app->front_end || !needed || (preload && *preload))
        return 0;
    weft_lines_print(
        "The program %s on %s was linked with %s, another MPI than Weft, and each of "
        "its ranks would run alone: compile it with Weft's mpicc, or start it with the "
        "%s.",
        app->argv[0], job->host, needed, weft_other_mpi_launcher(needed));
    return LAUNCH_NOT_USABLE;
}

/* "NAME=FOLDER[/FILE]:OLD" with the value that the environment has. */
static char *in_front(const char *name, const char *folder, const char *file)
{
    const char *old = getenv(name);
    char *text;
    int n =
        asprintf(&text, "%s=%s%s%s%s", name, folder, file, old && *old ? ":" : "", old ? old : "");
    return n < 0 ? NULL : text;
}

static char *number(const char *name, int value)
{
    char *text;
    return asprintf(&text, "%s=%d", name, value) < 0 ? NULL : text;
}

char **weft_front_end_settings(const struct job *job, const struct rank *rank)
{
    enum { SETTINGS = 6 };
    const struct app *app = rank->app;
    char **list = calloc(SETTINGS + 1, sizeof *list);
    if (!list)
        return NULL;
    int n = 0;
    list[n++] = app->preload ? in_front("LD_PRELOAD", app->front_end, "/libmpi.so.40")
                             : in_front("LD_LIBRARY_PATH", app->front_end, "");
    /* The variables that scripts of that MPI read; all ranks are on this machine. */
    list[n++] = number("OMPI_COMM_WORLD_RANK", rank->rank);
    list[n++] = number("OMPI_COMM_WORLD_SIZE", job->size);
    list[n++] = number("OMPI_COMM_WORLD_LOCAL_RANK", rank->rank);
    list[n++] = number("OMPI_COMM_WORLD_LOCAL_SIZE", job->size);
    list[n++] = number("OMPI_COMM_WORLD_NODE_RANK", rank->rank);
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
