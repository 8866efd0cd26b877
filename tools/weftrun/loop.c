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
#include "lines.h"
#include "policy.h"
#include "server.h"

#include <errno.h>
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
    struct job *job;
    const struct launch_context *ctx;
    sigset_t handled; /* the signals that are read from the descriptor */
    int signals, wake;
    int launched, running;
    struct ended *ended; /* space for all ranks */
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
    for (int i = 0; i < loop.launched; i++)
        if (loop.job->ranks[i].running && loop.job->ranks[i].pid == pid)
            return &loop.job->ranks[i];
    return NULL;
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
    weft_lines_finish(&rank->out);
    weft_lines_finish(&rank->err);
    weft_input_ended(rank->rank);
    if (loop.job->verbose)
        weft_lines_print("rank %d (pid %d) ended with wait status 0x%x.", rank->rank,
                         (int)rank->pid, (unsigned)status);
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

/* Ctrl-Z: the ranks stop and continue together with weftrun. */
static void pause_all(void)
{
    for (int i = 0; i < loop.launched; i++)
        if (loop.job->ranks[i].running)
            kill(-loop.job->ranks[i].pid, SIGSTOP);
    raise(SIGSTOP);
    for (int i = 0; i < loop.launched; i++)
        if (loop.job->ranks[i].running)
            kill(-loop.job->ranks[i].pid, SIGCONT);
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

static void launch_next(void)
{
    struct rank *rank = &loop.job->ranks[loop.launched];
    int code = weft_launch_rank(loop.job, rank, weft_input_of(rank->rank), loop.ctx);
    if (code) {
        weft_policy_stop(code);
        return;
    }
    loop.launched++;
    loop.running++;
    weft_input_started(rank->rank);
    if (loop.job->verbose)
        weft_lines_print("rank %d is pid %d on %s: %s.", rank->rank, (int)rank->pid, loop.job->host,
                         rank->app->path);
    if (loop.launched == loop.job->size)
        weft_debuggers_open(loop.job);
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
    for (int i = 0; i < n; i++)
        loop.polled[i] = NULL;
    for (int i = 0; i < loop.launched; i++) {
        n = add_stream(n, &loop.job->ranks[i].out);
        n = add_stream(n, &loop.job->ranks[i].err);
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

static void turn(bool launching)
{
    bool again;
    int n = gather(&again), wait = weft_policy_tick();
    if (launching)
        wait = 0;
    else
        wait = sooner(sooner(wait, again ? 500 : -1), weft_debuggers_tick(loop.job));
    if (poll(loop.fds, (nfds_t)n, wait) < 0)
        return;
    for (int i = 0; i < n; i++) {
        if (!loop.fds[i].revents)
            continue;
        if (loop.polled[i])
            weft_lines_read(loop.polled[i]);
        else if (loop.fds[i].fd != loop.signals && loop.fds[i].fd != loop.wake &&
                 loop.fds[i].fd != 1 && loop.fds[i].fd != 2)
            weft_input_move();
    }
    take_signals();
    check_ended();
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
    size_t space = 2 * (size_t)job->size + 8;
    loop.ended = calloc((size_t)job->size, sizeof *loop.ended);
    loop.fds = calloc(space, sizeof *loop.fds);
    loop.polled = calloc(space, sizeof *loop.polled);
    loop.signals = signalfd(-1, &loop.handled, SFD_NONBLOCK | SFD_CLOEXEC);
    if (loop.ended && loop.fds && loop.polled && loop.signals >= 0)
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
        while (loop.running > 0 || (loop.launched < job->size && !weft_policy_stopping())) {
            bool launching = loop.launched < job->size && !weft_policy_stopping();
            if (launching)
                launch_next();
            turn(launching);
        }
        if (job->prints_codes)
            weft_policy_print_codes();
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
