// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tools: see tools.h. Each has two libraries: one for programs of the standard ABI, and one for
 * those that call a front end (src/tools/interpose/call.h).
 */
#include "tools.h"
#include "installed.h"
#include "launch.h"
#include "lines.h"
#include "other_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static time_t began; /* the job: files of an earlier one are older */

/* Puts a library in front of app->preload. */
static void put_in_front(struct app *app, const char *library)
{
    char *list;
    int n = asprintf(&list, "%s%s%s", library, app->preload ? ":" : "",
                     app->preload ? app->preload : "");
    free(app->preload);
    app->preload = n < 0 ? NULL : list;
}

/* Puts the library of a tool in front of app->preload, an exit code if it is not there. */
static int load(struct app *app, const char *tool)
{
    char name[64];
    const char *front = app->front_library ? "_front" : "";
    snprintf(name, sizeof name, "tools/libweft_%s%s.so", tool, front);
    char *library = weft_installed_find(name);
    if (!library) {
        weft_lines_print("--%s needs libweft_%s%s.so in %s/weft/tools, which is not there; install "
                         "Weft again.",
                         tool, tool, front, WEFT_LIBDIR);
        return LAUNCH_NOT_USABLE;
    }
    put_in_front(app, library);
    free(library);
    return 0;
}

/* A program without MPI runs as usual, and those that it starts have the tools. */
static void warn_without_mpi(const struct job *job, const struct app *app)
{
    char library[256];
    bool standard;
    if (!app->front_library &&
        !weft_other_mpi_needed(app->path, library, sizeof library, &standard) && !standard)
        weft_lines_print("%s is not linked with MPI: %s sees only the programs that it starts.",
                         app->argv[0],
                         job->check     ? "--check"
                         : job->profile ? "--profile"
                                        : "--trace");
}

int weft_tools_choose(const struct job *job, struct app *app)
{
    if (!job->check && !job->profile && !job->trace)
        return 0;
    began = time(NULL);
    warn_without_mpi(job, app);
    /* The front end stands behind the tools: the program may refer to it only by another library,
     * and MPI_X would be found in libmpi_abi, which the tools refer to. */
    if (app->front_library)
        put_in_front(app, app->front_library);
    int code = 0;
    if (job->profile || job->trace) /* one library for both */
        code = load(app, "profile");
    if (!code && job->check) /* in front: the profile does not count the checker's time */
        code = load(app, "check");
    return code;
}

void weft_tools_begin(const struct job *job, const sigset_t *mask)
{
    char pid[24], *program = job->top ? weft_installed_find("tools/weft_ranks") : NULL;
    if (!job->top)
        return;
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    pid_t child = program ? fork() : -1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigprocmask(SIG_SETMASK, mask, NULL);
        dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is the ranks' */
        execl(program, program, "top", pid, (char *)NULL);
        _exit(127);
    }
    if (child < 0)
        weft_lines_print("--top cannot start weft_ranks of %s/weft/tools.", WEFT_LIBDIR);
    free(program);
}

void weft_tools_end(const struct job *job, int code)
{
    const char *file = job->trace && *job->trace ? job->trace : "weft-trace.json";
    bool found = false;
    for (int i = 0; code && job->trace && i < job->size && !found; i++) {
        char *name;
        struct stat status;
        if (asprintf(&name, "%s.rank%d", file, i) < 0)
            return;
        found = stat(name, &status) == 0 && status.st_mtime >= began;
        free(name);
    }
    if (found)
        weft_lines_print("The last calls of the ranks are in %s.rank*; weft-report --trace %s "
                         "writes their time line.",
                         file, file);
}
