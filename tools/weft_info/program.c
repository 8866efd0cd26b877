// SPDX-License-Identifier: BSD-3-Clause
/*
 * The view of a program: the dynamic loader itself lists the libraries that it would load, in an
 * environment as weftrun makes it, without running the program. So every RPATH, RUNPATH and
 * LD_LIBRARY_PATH has the meaning that it will have. The invariant is in views.h.
 */
#include "views.h"

#include "core/base/program_path.h"
#include "tools/weftrun/loader.h"
#include "tools/weftrun/mpi_library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SYMBOLS_SHOWN = 20 };

struct program {
    const char *path;
    char own[PATH_MAX];         /* the folder of Weft's library; those of front ends are below it */
    char lacking[256];          /* one that Weft has not */
    char preload[4 * PATH_MAX]; /* the libraries of a front end that the program needs */
    char libraries[2][256];     /* the first library of another MPI, and of another interface */
    bool is_standard;           /* a library of the standard ABI is needed */
    bool is_foreign;            /* a library of an MPI that is not Weft's is loaded */
    int absent;                 /* libraries that are not found */
    int symbols;                /* undefined ones */
    bool prints;                /* what is found is printed, too */
};

/* The folder of Weft's library: in the build tree, or where make install put it. */
static bool find_own(char *own)
{
    char program[PATH_MAX], path[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = n > 0 ? memrchr(program, '/', (size_t)n) : program;
    *slash = '\0';
    snprintf(path, sizeof path, "%s/../../lib/weft/openmpi/../..", program);
    return realpath(path, own) || realpath(WEFT_LIBDIR, own);
}

/* The program as a shell finds it: in PATH, if the name has no slash. */
static const char *find_program(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    char *found = strchr(name, '/') || !folders ? NULL : weft_program_find(folders, name);
    if (!found)
        return name;
    snprintf(path, size, "%s", found);
    free(found);
    return path;
}

/* ---- The loader's list */

/* Records a library of another MPI, for the front end or as one that Weft lacks. */
static void see_other_mpi(struct program *program, const char *interface, const char *name)
{
    char path[2 * PATH_MAX];
    const char *first = program->libraries[0];
    int i = *first && strcmp(weft_mpi_library_interface(first), interface) != 0;
    size_t used = strlen(program->preload);
    if (!*program->libraries[i])
        snprintf(program->libraries[i], sizeof program->libraries[i], "%s", name);
    snprintf(path, sizeof path, "%s/weft/%s/%s", program->own, interface, name);
    if (access(path, R_OK) != 0)
        snprintf(program->lacking, sizeof program->lacking, "%s", name);
    else if (!strstr(program->preload, path))
        snprintf(program->preload + used, sizeof program->preload - used, "%s%s", used ? ":" : "",
                 path);
}

static void see(void *arg, const char *name, const char *path)
{
    struct program *program = arg;
    const char *interface = name ? weft_mpi_library_interface(name) : NULL;
    if (!name) {
        if (program->prints && !program->absent && !program->is_foreign &&
            program->symbols < SYMBOLS_SHOWN)
            printf("  %s\n", path);
        program->symbols++;
        return;
    }
    program->absent += !path;
    if (interface)
        see_other_mpi(program, interface, name);
    else if (strncmp(name, "libmpi_abi.so.", 14) == 0)
        program->is_standard = true;
    else if (path)
        return;
    char real[PATH_MAX], begins[2 * PATH_MAX];
    snprintf(begins, sizeof begins, "%s/%s", program->own, interface ? "weft/" : "libmpi_abi.so.");
    bool is_own = path && realpath(path, real) && strncmp(real, begins, strlen(begins)) == 0;
    program->is_foreign |= path && !is_own;
    if (program->prints)
        printf("  %-28s %s%s\n", name, path ? path : "not found",
               path && !is_own ? "  (not Weft's)" : "");
}

/* Lists what the program loads, with a setting of the environment or none (NULL). */
static bool list(struct program *program, const char *variable, const char *value)
{
    struct weft_loader_options options = {variable, value, program->prints};
    program->absent = program->symbols = 0;
    program->is_foreign = false;
    return weft_loader_list(program->path, &options, see, program);
}

/* ---- The view */

static int refuse(const char *name, const char *why)
{
    printf("%s does not run on Weft: %s.\n", name, why);
    return 1;
}

/* Prints the libraries and symbols, and a refusal or the command that starts the program. */
static int conclude(struct program *program, const char *name, const char *variable,
                    const char *value)
{
    char why[320];
    program->prints = true;
    list(program, variable, value);
    if (*program->lacking) {
        snprintf(why, sizeof why, "Weft has no %s; compile it with Weft's mpicc or mpifort",
                 program->lacking);
        return refuse(name, why);
    }
    if (program->absent)
        return refuse(name, "a library is not found");
    if (program->is_foreign)
        return refuse(name, "the loader finds the library of another MPI first, by a RUNPATH, an "
                            "RPATH or LD_LIBRARY_PATH; readelf -d shows those of a file");
    if (program->symbols) {
        if (program->symbols > SYMBOLS_SHOWN)
            printf("  and %d more undefined symbols\n", program->symbols - SYMBOLS_SHOWN);
        return refuse(name, "it ends when it needs an undefined symbol");
    }
    if (variable && strcmp(variable, "LD_PRELOAD") == 0)
        printf("%s runs on Weft, with its libraries before those of an RPATH:\n"
               "  LD_PRELOAD=%s weftrun %s\n",
               name, value, name);
    else
        printf("%s runs on Weft:\n  weftrun %s\n", name, name);
    return 0;
}

int weft_view_program(const char *name)
{
    struct program program = {.path = NULL};
    char found[PATH_MAX], folder[2 * PATH_MAX];
    program.path = find_program(name, found, sizeof found);
    if (!find_own(program.own) || !list(&program, NULL, NULL)) {
        fprintf(
            stderr,
            "weft_info: %s is not a program or library for this machine that the dynamic loader "
            "reads; of a script, pass the extension module or library that it loads.\n",
            name);
        return 1;
    }
    if (!*program.libraries[0]) {
        printf("%s needs %s\n", name,
               program.is_standard ? "the standard ABI (libmpi_abi.so)" : "no MPI library");
        return program.is_standard ? conclude(&program, name, NULL, NULL) : 0;
    }
    const char *interface = weft_mpi_library_interface(program.libraries[0]);
    printf("%s needs %s (%s)\n", name,
           strcmp(interface, "openmpi") == 0 ? "the interface of Open MPI"
           : strcmp(interface, "mpich") == 0 ? "the interface of MPICH"
                                             : "another MPI",
           program.libraries[0]);
    if (*program.libraries[1])
        return refuse(name, "it needs libraries of two MPIs");
    snprintf(folder, sizeof folder, "%s/weft/%s", program.own, interface);
    list(&program, "LD_LIBRARY_PATH", folder);
    if (!program.is_foreign)
        return conclude(&program, name, "LD_LIBRARY_PATH", folder);
    return conclude(&program, name, "LD_PRELOAD", program.preload);
}
