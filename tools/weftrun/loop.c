// SPDX-License-Identifier: BSD-3-Clause
/*
 * The event loop of weftrun: starts ranks, forwards output, handles signals, reaps.
 *
 * Invariants:
 *  - Only poll blocks, so no rank, reader or user delays the others.
 *  - Only this file reaps. Before it reaps a rank it kills the rank's process group and removes the
 *    pid from the guard's list, because the kernel cannot reuse the pid before that.
 */
#include "loop.h"
#include "debuggers.h"
#include "guard.h"
#include "input.h"
#include "job.h"
#include "lines.h"
#include "phases.h"
#include "policy.h"
#include "server.h"
#include "spawn.h"
#include "core/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* A reaped rank whose status is not evaluated yet. */
struct ended {
    struct rank *rank;
    int status;
};

static struct {
    struct job *job; /* the first one */
    const struct launch_context *ctx;
    sigset_t handled; /* the signals that are read from the descriptor */
    int signals, wake;
    int running;
    bool joined;    /* the process that spawns the ranks has the report */
    bool abandoned; /* it has closed the pipe for it */
    int ranks;      /* space for so many in the following */
    struct ended *ended;
    struct pollfd *fds;
    struct stream **polled; /* the stream of each entry of fds, or NULL */
} loop;

/* A signal that is ignored when weftrun starts (nohup, background jobs of a script) stays ignored:
 * it is not blocked, because the kernel queues a blocked signal even if it is ignored. */
static void choose_signals(void)
{
    static const int list[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP};
    sigemptyset(&loop.handled);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct sigaction action;
        if (sigaction(list[i], NULL, &action) || action.sa_handler != SIG_IGN)
            sigaddset(&loop.handled, list[i]);
    }
}

int weft_loop_block_signals(sigset_t *before)
{
    choose_signals();
    if (sigprocmask(SIG_BLOCK, &loop.handled, before) == 0)
        return 0;
    weft_lines_print("Signals cannot be blocked: %s.", strerror(errno));
    return -1;
}

static struct rank *find_rank(pid_t pid)
{
    struct rank *r = NULL;
    while ((r = weft_job_next_rank(loop.job, r)) && (!r->running || r->pid != pid))
        ;
    return r;
}

/* Kills the process group of a dead rank, and reaps the rank. */
static int reap(struct rank *rank)
{
    int status = 0;
    kill(-rank->pid, SIGKILL);
    weft_guard_note(weft_guard_fd(), -rank->pid);
    while (waitpid(rank->pid, &status, 0) < 0 && errno == EINTR)
        ;
    rank->running = false;
    rank->status = status;
    loop.running--;
    weft_server_forget_names(rank);
    weft_lines_finish(&rank->out);
    weft_lines_finish(&rank->err);
    if (rank->job == loop.job)
        weft_input_ended(rank->rank);
    if (loop.job->verbose)
        weft_lines_print("rank %d%s (pid %d) ended with wait status 0x%x.", rank->rank,
                         rank->job->words, (int)rank->pid, (unsigned)status);
    return status;
}

static int reap_all(void)
{
    int n = 0;
    while (true) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
            return n;
        struct rank *rank = find_rank(info.si_pid);
        if (!rank) {
            int status = 0;
            waitpid(info.si_pid, &status, 0); /* a debugger, or the guard was killed */
            weft_debuggers_ended(loop.job, info.si_pid, status);
            continue;
        }
        loop.ended[n].rank = rank;
        loop.ended[n++].status = reap(rank);
    }
}

/* Evaluates the ends of ranks since the last call: crashes before aborts, aborts before exit codes,
 * because a crash can cause the others' aborts, and an abort their exits. */
static void check_ended(void)
{
    struct abort_call call;
    int n = reap_all();
    for (int i = 0; i < n; i++)
        if (WIFSIGNALED(loop.ended[i].status))
            weft_policy_ended(loop.ended[i].rank, loop.ended[i].status);
    if (weft_server_aborted(&call))
        weft_policy_aborted(&call);
    for (int i = 0; i < n; i++)
        if (!WIFSIGNALED(loop.ended[i].status))
            weft_policy_ended(loop.ended[i].rank, loop.ended[i].status);
}

/* Ctrl-Z: the ranks stop and continue together with weftrun. Where no shell can continue it (the
 * process group is orphaned) the kernel drops SIGTSTP, as it would not drop SIGSTOP. */
static void pause_all(void)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    for (struct rank *r = NULL; (r = weft_job_next_rank(loop.job, r));)
        if (r->running)
            kill(-r->pid, SIGSTOP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL); /* stops here */
    sigprocmask(SIG_BLOCK, &stop, NULL);
    for (struct rank *r = NULL; (r = weft_job_next_rank(loop.job, r));)
        if (r->running)
            kill(-r->pid, SIGCONT);
}

/* Handles the pending signals. True if one of them ends the job. */
static bool take_signals(void)
{
    struct signalfd_siginfo info;
    bool ending = false;
    while (read(loop.signals, &info, sizeof info) == sizeof info) {
        int sig = (int)info.ssi_signo;
        if (sig == SIGTSTP)
            pause_all();
        else if (sig != SIGCHLD)
            weft_policy_signal(sig);
        ending = ending || sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
    }
    return ending;
}

/* A job with ranks that are to be launched, or NULL. */
static struct job *find_launching(void)
{
    struct job *job = loop.job;
    while (job && (job->launched == job->size || job->failed))
        job = job->next;
    return weft_policy_stopping() ? NULL : job;
}

static void launch_next(struct job *job)
{
    struct rank *rank = &job->ranks[job->launched];
    bool first = job == loop.job;
    int in = first ? weft_input_of(rank->rank) : weft_input_none();
    int code = weft_launch_rank(job, rank, in, loop.ctx);
    if (code && first)
        weft_policy_stop(code);
    else if (code)
        weft_policy_fail_spawn(job, NULL);
    if (code)
        return;
    job->launched++;
    loop.running++;
    if (first)
        weft_input_started(rank->rank);
    if (job->verbose)
        weft_lines_print("rank %d%s is pid %d on %s: %s.", rank->rank, job->words, (int)rank->pid,
                         job->host, rank->app->path);
    if (first && job->launched == job->size)
        weft_debuggers_open(job);
}

static int add_stream(int n, struct stream *s)
{
    if (!weft_lines_wants(s))
        return n;
    loop.fds[n] = (struct pollfd){.fd = s->fd, .events = POLLIN};
    loop.polled[n] = s;
    return n + 1;
}

/* Fills loop.fds; returns how many. *again: see weft_input_poll. */
static int gather(bool *again)
{
    int n = 0;
    loop.fds[n++] = (struct pollfd){.fd = loop.signals, .events = POLLIN};
    loop.fds[n++] = (struct pollfd){.fd = loop.wake, .events = POLLIN};
    n += weft_lines_poll(&loop.fds[n]);
    n += weft_input_poll(&loop.fds[n], again);
    if (loop.job->joined_fd && !loop.joined)
        loop.fds[n++] = (struct pollfd){.fd = loop.job->joined_fd}; /* POLLERR */
    for (int i = 0; i < n; i++)
        loop.polled[i] = NULL;
    for (struct rank *r = NULL; (r = weft_job_next_rank(loop.job, r));) {
        n = add_stream(n, &r->out);
        n = add_stream(n, &r->err);
    }
    return n;
}

static void write_lines(void)
{
    int error = weft_lines_write();
    if (error)
        weft_policy_stop(error == EPIPE ? 128 + SIGPIPE : 1);
}

/* The smaller of two times of waiting, of which -1 is for ever. */
static int sooner(int a, int b)
{
    return b < 0 || (a >= 0 && a < b) ? a : b;
}

/* The milliseconds until a time of weft_seconds(), -1 for INFINITY. */
static int until(double at, double now)
{
    double ms = ceil((at - now) * 1000);
    return isinf(at) ? -1 : ms < 0 ? 0 : (int)fmin(ms, INT_MAX);
}

/* Shows the unfinished lines that are due. Returns the milliseconds until the next one, or -1. */
static int show_unfinished(void)
{
    double next = INFINITY, now;
    if (!weft_lines_has_unfinished())
        return -1;
    now = weft_seconds();
    for (struct rank *r = NULL; (r = weft_job_next_rank(loop.job, r));)
        next = fmin(next, fmin(weft_lines_show(&r->out, now), weft_lines_show(&r->err, now)));
    return until(next, now);
}

/* Makes space for the ranks of all jobs. 0, or -1 after printing why. */
static int make_space(void)
{
    int ranks = 0;
    for (const struct job *job = loop.job; job; job = job->next)
        ranks += job->size;
    if (ranks <= loop.ranks)
        return 0;
    size_t n = (size_t)ranks, space = 2 * n + 8;
    struct ended *ended = realloc(loop.ended, n * sizeof *ended);
    loop.ended = ended ? ended : loop.ended;
    struct pollfd *fds = realloc(loop.fds, space * sizeof *fds);
    loop.fds = fds ? fds : loop.fds;
    struct stream **polled = realloc(loop.polled, space * sizeof(struct stream *));
    loop.polled = polled ? polled : loop.polled;
    if (!ended || !fds || !polled) {
        weft_lines_print("No memory for %d ranks.", ranks);
        return -1;
    }
    loop.ranks = ranks;
    return 0;
}

static void print_codes(const struct job *job)
{
    if (job->prints_codes)
        weft_policy_print_codes(job);
}

/* Reports to the process that has started weftrun for its spawn. If that has closed the pipe
 * before, it has ended, and nobody waits for the ranks. The pipe remains open to weftrun's end,
 * which ends a spawn whose processes do not connect. */
static void report_joined(struct job *job)
{
    bool all = job->launched == job->size;
    for (int i = 0; i < job->launched && all; i++)
        all = weft_phases_update(&job->ranks[i]) != PHASE_STARTED;
    if (all)
        loop.joined = write(job->joined_fd, "j", 1) == 1 || errno == EPIPE;
    if (all || !loop.abandoned || weft_policy_stopping())
        return;
    weft_lines_print("The process that spawns the ranks has ended before they joined MPI; they are "
                     "stopped.");
    weft_policy_stop(1);
}

/* Begins the jobs that ranks spawn, and answers and removes those that have got so far. */
static void serve_spawns(void)
{
    struct spawn_call *call;
    if (loop.job->joined_fd && !loop.joined)
        report_joined(loop.job);
    while ((call = weft_server_next_spawn())) {
        struct job *job = weft_spawn_make(loop.job, call);
        if (job && make_space())
            weft_policy_fail_spawn(job, NULL);
    }
    for (struct job *job = loop.job->next; job; job = job->next) {
        weft_spawn_check_caller(loop.job, job);
        weft_spawn_settle(job);
    }
    weft_spawn_remove_ended(loop.job, print_codes);
}

static void turn(bool launching)
{
    bool again;
    int show = show_unfinished(), n = gather(&again), wait = weft_policy_tick();
    if (launching)
        wait = 0;
    else
        wait = sooner(sooner(sooner(wait, show), again ? 500 : -1), weft_debuggers_tick(loop.job));
    if (poll(loop.fds, (nfds_t)n, wait) < 0)
        return;
    for (int i = 0; i < n; i++) {
        if (!loop.fds[i].revents)
            continue;
        if (loop.polled[i])
            weft_lines_read(loop.polled[i]);
        else if (loop.job->joined_fd && loop.fds[i].fd == loop.job->joined_fd)
            loop.abandoned = true;
        else if (loop.fds[i].fd != loop.signals && loop.fds[i].fd != loop.wake &&
                 loop.fds[i].fd != 1 && loop.fds[i].fd != 2)
            weft_input_move();
    }
    take_signals();
    check_ended();
    serve_spawns();
    write_lines();
}

/* After the end of all ranks: writes the queued output, until a signal ends weftrun. */
static void drain(void)
{
    while (!weft_lines_empty()) {
        struct pollfd fds[3] = {{.fd = loop.signals, .events = POLLIN}};
        int n = 1 + weft_lines_poll(&fds[1]);
        if (poll(fds, (nfds_t)n, -1) < 0)
            continue;
        if (take_signals())
            return;
        write_lines();
    }
}

static int prepare(struct job *job)
{
    loop.signals = signalfd(-1, &loop.handled, SFD_NONBLOCK | SFD_CLOEXEC);
    if (make_space())
        return -1;
    if (loop.signals >= 0)
        return weft_input_start(job->reader);
    weft_lines_print("The launcher's loop cannot be set up: %s.", strerror(errno));
    return -1;
}

int weft_loop_run(struct job *job, const struct launch_context *ctx, int wake)
{
    loop.job = job;
    loop.ctx = ctx;
    loop.wake = wake;
    int code = 1;
    if (prepare(job) == 0) {
        weft_lines_start(job);
        weft_policy_start(job);
        struct job *launching;
        while ((launching = find_launching()) || loop.running > 0) {
            if (launching)
                launch_next(launching);
            turn(launching != NULL);
        }
        for (const struct job *j = job; j; j = j->next)
            print_codes(j);
        drain();
        code = weft_policy_exit_code();
    }
    weft_input_stop();
    if (loop.signals >= 0)
        close(loop.signals);
    free(loop.ended);
    free(loop.fds);
    free(loop.polled);
    return code;
}
