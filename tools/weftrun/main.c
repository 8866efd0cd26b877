// SPDX-License-Identifier: BSD-3-Clause
/*
 * weftrun: starts the ranks of an MPI program on this machine.
 *
 * Invariants:
 *  - On every path the ranks are ended first, then the scratch directory and the guard.
 *  - weftrun prints only errors, and what an option requests.
 */
#include "bind.h"
#include "debuggers.h"
#include "guard.h"
#include "job.h"
#include "launch.h"
#include "limits.h"
#include "lines.h"
#include "loop.h"
#include "options.h"
#include "phases.h"
#include "rank_parent.h"
#include "server.h"
#include "starter.h"
#include "tools.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The exit code of a wrong command line, or of a job beyond the machine's limits. */
#define EXIT_REFUSED 2

/* libpmix reads files below the home directory, and crashes if there is no HOME and no entry of the
 * user in the password database. */
static void find_home(void)
{
    if (!getenv("HOME") && !getpwuid(geteuid()))
        setenv("HOME", "/", 0);
}

/* Opens descriptors 0 to 2 if they are closed; else a pipe would get such a number. Writing to a
 * closed stdout fails as it would without that. */
static void fill_standard_fds(void)
{
    bool has_output = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    int unwritable = has_output ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (unwritable >= 0) {
        dup2(unwritable, STDOUT_FILENO);
        close(unwritable);
    }
    if (fd > 2)
        close(fd);
}

/* Starts all processes and threads, and ends them on every path. */
static int run(struct job *job, struct launch_context *ctx, char **argv)
{
    int wake;
    /* First, so that no signal ends weftrun between the scratch directory and the guard. */
    if (weft_loop_block_signals(&ctx->mask))
        return 1;
    if (weft_guard_start(job, argv))
        return EXIT_REFUSED;
    weft_tools_begin(job, &ctx->mask);
    int code =
        weft_phases_open(job) || weft_server_start(job, &wake) ? 1 : weft_loop_run(job, ctx, wake);
    weft_lines_stop();
    weft_tools_end(job, code);
    weft_guard_stop(job);
    return code;
}

int main(int argc, char **argv)
{
    struct job job = {0};
    struct launch_context ctx;
    bool done;
    int code = EXIT_REFUSED;
    if (argc > 2 && strcmp(argv[1], RANK_PARENT_OPTION) == 0)
        return weft_rank_parent_run(argv + 2);
    fill_standard_fds();
    if (weft_limits_check_stack())
        goto out;
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, the kernel reaps the ranks */
    ctx.on_pipe = signal(SIGPIPE, SIG_IGN);
    /* Reading the terminal from the background then fails with EIO. */
    ctx.on_ttin = signal(SIGTTIN, SIG_IGN);
    ctx.on_xfsz = signal(SIGXFSZ, SIG_IGN); /* writing then fails with EFBIG */
    if (weft_options_read(&job, argc, argv, &done))
        goto out;
    if (done) {
        code = fflush(stdout) ? 1 : 0;
        goto out;
    }
    gethostname(job.host, sizeof job.host - 1);
    if (job.elsewhere) {
        code = weft_starter_run(&job);
        goto out;
    }
    if (weft_job_begin(&job, 1))
        goto out;
    if (job.plans) {
        code = weft_bind_plan(&job) ? EXIT_REFUSED : 0;
        goto out;
    }
    code = weft_launch_resolve(&job);
    if (code)
        goto out;
    code = EXIT_REFUSED;
    job.answered = true;
    if (weft_limits_check(&job, 0, &ctx.nofile) || weft_bind_plan(&job) ||
        weft_debuggers_prepare(&job))
        goto out;
    weft_launch_forget_outer(&job);
    find_home();
    code = run(&job, &ctx, argv);
out:
    _exit(code); /* see server.h */
}
