// SPDX-License-Identifier: BSD-3-Clause
/*
 * Open MPI's own program that shows its parameters (ompi info) reads data of the library. Where a
 * front end comes first in the search path (a module, a job), the program executes itself again
 * without it, and then loads the library that it belongs to.
 */
#include "frontend/frontend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* Removes the entries of a list (with colons between them) that are this folder or in it. True if
 * there was one. */
static bool remove_entries(const char *variable, const char *folder)
{
    char *list = getenv(variable), *rest, *to;
    size_t length = strlen(folder);
    bool found = false;
    if (!list || !(list = strdup(list)))
        return false;
    rest = to = list;
    while (*rest) {
        size_t n = strcspn(rest, ":"), all = n + (rest[n] == ':');
        bool is_own = strncmp(rest, folder, length) == 0 && (n == length || rest[length] == '/');
        if (!is_own) {
            memmove(to, rest, all);
            to += all;
        }
        found |= is_own;
        rest += all;
        weft_assert(to <= rest);
    }
    *to = '\0';
    setenv(variable, list, 1);
    free(list);
    return found;
}

/* The arguments of this process, never freed; NULL: they cannot be read. */
static char **read_arguments(void)
{
    char **arguments = NULL, *text = NULL;
    size_t n = 0, size = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    while (file && getdelim(&text, &size, 0, file) > 0) {
        char **longer = realloc(arguments, (n + 2) * sizeof *arguments);
        if (!longer)
            break;
        arguments = longer;
        arguments[n++] = text;
        arguments[n] = text = NULL;
    }
    if (file)
        fclose(file);
    return arguments;
}

static void execute_without(void)
{
    Dl_info own;
    char **arguments = read_arguments();
    char *folder = dladdr((void *)execute_without, &own) ? strdup(own.dli_fname) : NULL;
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (arguments && slash) {
        *slash = '\0';
        bool found = remove_entries("LD_LIBRARY_PATH", folder);
        found |= remove_entries("LD_PRELOAD", folder);
        unsetenv("PMIX_NAMESPACE"); /* the tool is no rank of a job */
        if (found)
            execv("/proc/self/exe", arguments);
    }
    fprintf(stderr, "weft: this program looks into the library of Open MPI, and loads that of Weft "
                    "in its place; start it without Weft's folders in LD_LIBRARY_PATH.\n");
    _exit(1);
}

#define OF_TOOLS(name)                                                                             \
    FRONT_PUBLIC void name(void);                                                                  \
    void name(void)                                                                                \
    {                                                                                              \
        execute_without();                                                                         \
    }
OF_TOOLS(ompi_info_close_components)
OF_TOOLS(ompi_info_register_framework_params)
OF_TOOLS(ompi_info_register_types)
OF_TOOLS(ompi_info_show_ompi_version)
