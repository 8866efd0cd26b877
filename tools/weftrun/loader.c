// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lists the libraries of a program: see loader.h. The loader itself makes the list, so every RPATH,
 * RUNPATH and LD_LIBRARY_PATH has the meaning that it will have.
 */
#include "loader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

/* Executes the loader, in a new process. */
static void run(const char *program, const struct weft_loader_options *options, int output)
{
    const char *old = options->variable ? getenv(options->variable) : NULL;
    char text[4 * PATH_MAX];
    Dl_info loader;
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (options->variable) {
        snprintf(text, sizeof text, "%s%s%s", options->value, old && *old ? ":" : "",
                 old ? old : "");
        setenv(options->variable, text, 1);
    }
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    if (options->symbols) {
        setenv("LD_WARN", "1", 1);
        setenv("LD_BIND_NOW", "1", 1);
    }
    if (dladdr((void *)getauxval(AT_BASE), &loader))
        execl(loader.dli_fname, loader.dli_fname, program, (char *)NULL);
    _exit(127);
}

/* Lines are "NAME => PATH (ADDRESS)", "NAME => not found", "PATH (ADDRESS)" and "undefined symbol:
 * NAME (PATH)". */
static void see_line(char *line, weft_loader_see *see, void *arg)
{
    char *end = strstr(line, " (0x"), *arrow = strstr(line, " => "), *path = line;
    line += strspn(line, "\t ");
    if (strncmp(line, "undefined symbol: ", 18) == 0) {
        see(arg, NULL, line);
        return;
    }
    if (end)
        *end = '\0';
    if (arrow) {
        *arrow = '\0';
        path = arrow + strlen(" => ");
    } else if (end && *line == '/') {
        path = line;
    } else {
        return;
    }
    see(arg, strrchr(line, '/') ? strrchr(line, '/') + 1 : line,
        strcmp(path, "not found") == 0 ? NULL : path);
}

bool weft_loader_list(const char *program, const struct weft_loader_options *options,
                      weft_loader_see *see, void *arg)
{
    int ends[2], status = -1;
    char *line = NULL;
    size_t size = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        run(program, options, ends[1]);
    close(ends[1]);
    FILE *file = fdopen(ends[0], "r");
    while (file && pid > 0 && getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        see_line(line, see, arg);
    }
    free(line);
    if (file)
        fclose(file);
    else
        close(ends[0]);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}
