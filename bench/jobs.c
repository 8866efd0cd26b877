// SPDX-License-Identifier: BSD-3-Clause
/*
 * The jobs of bench/side_by_side; see jobs.h.
 */
#include "figures.h"
#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 5 }; /* seconds between SIGTERM and SIGKILL of a job */

struct job {
    char *const *command;
    pid_t pid; /* 0 when it does not run */
    int orders[JOBS_MAX_RANKS], replies[JOBS_MAX_RANKS];
};

static struct job jobs[JOBS_MAX];
static char directory[PATH_MAX - 64];
static int job_count, ranks, limit, signals = -1;
static sigset_t old_mask;
static bool ending; /* a job may end now */

static char letter(int job)
{
    return "ABCDEFGH"[job];
}

static void fifo_path(char path[PATH_MAX], int job, int rank, const char *what)
{
    snprintf(path, PATH_MAX, "%s/%c.%d.%s", directory, "abcdefgh"[job], rank, what);
}

/* Opens a fifo for reading and writing, so that opening does not block, and jobs that start and end
 * cause no end-of-file here. */
static int make_fifo(int job, int rank, const char *what)
{
    char path[PATH_MAX];
    fifo_path(path, job, rank, what);
    int fd = mkfifo(path, 0600) == 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        jobs_fail("cannot make the fifo %s: %s", path, strerror(errno));
    return fd;
}

static void remove_directory(void)
{
    char path[PATH_MAX];
    if (!directory[0])
        return;
    for (int job = 0; job < job_count; job++)
        for (int rank = 0; rank < ranks; rank++) {
            fifo_path(path, job, rank, "orders");
            unlink(path);
            fifo_path(path, job, rank, "replies");
            unlink(path);
        }
    rmdir(directory);
    directory[0] = '\0';
}

/* Kills orphans of jobs, which are children of this process now. */
static void kill_adopted(void)
{
    char path[64];
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%d", &pid) == 1)
        kill(pid, SIGKILL);
    if (f)
        fclose(f);
}

/* Waits for all children, and kills them after PATIENCE. True if it killed one. */
static bool reap_everything(void)
{
    double end = bench_seconds() + PATIENCE;
    bool killed = false;
    for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) >= 0 || errno == EINTR;) {
        for (int job = 0; job < job_count; job++)
            if (jobs[job].pid == pid)
                jobs[job].pid = 0;
        if (pid > 0)
            continue;
        if (bench_seconds() > end) {
            killed = true;
            for (int job = 0; job < job_count; job++)
                if (jobs[job].pid > 0)
                    kill(-jobs[job].pid, SIGKILL);
            kill_adopted();
        }
        usleep(2000);
    }
    return killed;
}

/* Ends all processes and removes all files. Idle ranks end when the fifos are closed. */
static void end_everything(void)
{
    for (int job = 0; job < job_count; job++) {
        for (int rank = 0; rank < ranks && jobs[job].orders[rank] > 0; rank++) {
            close(jobs[job].orders[rank]);
            close(jobs[job].replies[rank]);
        }
        if (jobs[job].pid > 0) {
            kill(-jobs[job].pid, SIGTERM);
            kill(-jobs[job].pid, SIGCONT); /* a stopped process takes no other signal */
        }
    }
    reap_everything();
    remove_directory();
}

void jobs_fail(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    end_everything();
    fprintf(stderr, "side_by_side: %s\n", text);
    exit(1);
}

void jobs_open(int count, int of_each, int seconds)
{
    const char *tmp = getenv("TMPDIR");
    sigset_t mask;
    job_count = count;
    ranks = of_each;
    limit = seconds;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGHUP);
    sigprocmask(SIG_BLOCK, &mask, &old_mask);
    signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    snprintf(directory, sizeof directory, "%s/turns.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(directory)) {
        int error = errno;
        char path[sizeof directory];
        memcpy(path, directory, sizeof path);
        directory[0] = '\0';
        jobs_fail("cannot make the directory %s: %s; set TMPDIR to one that can be written to",
                  path, strerror(error));
    }
    for (int job = 0; job < job_count; job++)
        for (int rank = 0; rank < ranks; rank++) {
            jobs[job].orders[rank] = make_fifo(job, rank, "orders");
            jobs[job].replies[rank] = make_fifo(job, rank, "replies");
        }
}

/* The child between fork and exec. */
_Noreturn static void become(char **arguments, pid_t parent)
{
    int null = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    dup2(null, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* standard output is the controller's table */
    sigprocmask(SIG_SETMASK, &old_mask, NULL);
    execvp(arguments[0], arguments);
    dprintf(STDERR_FILENO, "side_by_side: cannot run %s: %s\n", arguments[0], strerror(errno));
    _exit(127);
}

void jobs_start(int job, char *const command[])
{
    size_t n = 0;
    char prefix[PATH_MAX];
    pid_t parent = getpid();
    while (command[n])
        n++;
    char **arguments = calloc(n + 3, sizeof *arguments);
    if (!arguments)
        jobs_fail("no memory to start job %c", letter(job));
    memcpy(arguments, command, n * sizeof *arguments);
    snprintf(prefix, sizeof prefix, "%s/%c", directory, "abcdefgh"[job]);
    arguments[n] = "--turns";
    arguments[n + 1] = prefix;
    jobs[job].command = command;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become(arguments, parent);
    free(arguments);
    if (pid < 0)
        jobs_fail("cannot start job %c: %s", letter(job), strerror(errno));
    setpgid(pid, pid); /* in parent and child, because either can run first */
    jobs[job].pid = pid;
}

/* A job has ended: an error unless jobs are being ended. */
static void judge(int job, int status)
{
    const char *when = ending ? "ended" : "ended in the midst of the measurement";
    jobs[job].pid = 0;
    if (ending && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (WIFSIGNALED(status))
        jobs_fail("job %c (%s) %s, by signal %d (%s); what it said is above", letter(job),
                  jobs[job].command[0], when, WTERMSIG(status), strsignal(WTERMSIG(status)));
    jobs_fail("job %c (%s) %s, with exit code %d; what it said is above", letter(job),
              jobs[job].command[0], when, WEXITSTATUS(status));
}

static void take_signals(void)
{
    struct signalfd_siginfo info;
    int status;
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD)
            jobs_fail("ended by signal %d (%s), and all jobs with it", (int)info.ssi_signo,
                      strsignal((int)info.ssi_signo));
    for (int job = 0; job < job_count; job++)
        if (jobs[job].pid > 0 && waitpid(jobs[job].pid, &status, WNOHANG) == jobs[job].pid)
            judge(job, status);
}

/* Waits for data from fd (-1: only for a signal) until a time. False if the time has passed. */
static bool await(int fd, double until)
{
    struct pollfd fds[2] = {{.fd = signals, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    while (!(fds[1].revents & POLLIN)) {
        double left = until - bench_seconds();
        if (left <= 0)
            return false;
        poll(fds, 2, (int)(left * 1000) + 1);
        if (!(fds[0].revents & POLLIN))
            continue;
        take_signals();
        if (fd < 0)
            break;
    }
    return true;
}

static struct bench_reply await_reply(int job, int rank, bool rests)
{
    struct bench_reply reply;
    int fd = jobs[job].replies[rank];
    if (!await(fd, bench_seconds() + limit))
        jobs_fail("rank %d of job %c (%s) has not answered for %d s; --timeout gives it longer",
                  rank, letter(job), jobs[job].command[0], limit);
    if (read(fd, &reply, sizeof reply) != (ssize_t)sizeof reply || reply.rests != rests)
        jobs_fail("rank %d of job %c (%s) answers what was not asked; is it of this build?", rank,
                  letter(job), jobs[job].command[0]);
    if (!reply.good)
        jobs_fail("job %c (%s): data arrived changed at rank %d", letter(job), jobs[job].command[0],
                  rank);
    return reply;
}

static void order_all(int job, const struct bench_order *order)
{
    for (int rank = 0; rank < ranks; rank++)
        if (write(jobs[job].orders[rank], order, sizeof *order) != (ssize_t)sizeof *order)
            jobs_fail("cannot write to the fifo of rank %d of job %c: %s", rank, letter(job),
                      strerror(errno));
}

static void await_rest(int job)
{
    for (int rank = 0; rank < ranks; rank++)
        await_reply(job, rank, true);
}

void jobs_await_all(void)
{
    for (int job = 0; job < job_count; job++)
        await_rest(job);
}

struct bench_reply jobs_run(int job, const struct bench_order *order)
{
    const struct bench_order rest = {.kind = BENCH_ORDER_REST};
    order_all(job, order);
    /* Rank 0 measures the time: no other rank wakes this process before it stops the clock. */
    struct bench_reply reply = await_reply(job, 0, false);
    for (int rank = 1; rank < ranks; rank++)
        reply.disturbed += await_reply(job, rank, false).disturbed;
    order_all(job, &rest);
    await_rest(job);
    if (!(reply.seconds > 0 && reply.figure > 0))
        jobs_fail("job %c (%s) reports a figure of %g in %g s for %llu bytes", letter(job),
                  jobs[job].command[0], reply.figure, reply.seconds,
                  (unsigned long long)order->size);
    return reply;
}

/* The first job that has not ended, or -1. */
static int still_running(void)
{
    for (int job = 0; job < job_count; job++)
        if (jobs[job].pid > 0)
            return job;
    return -1;
}

void jobs_close(void)
{
    const struct bench_order end = {.kind = BENCH_ORDER_END};
    double until = bench_seconds() + limit;
    ending = true;
    for (int job = 0; job < job_count; job++)
        order_all(job, &end);
    for (int job; (job = still_running()) >= 0;)
        if (!await(-1, until))
            jobs_fail("job %c (%s) has measured all but not ended for %d s", letter(job),
                      jobs[job].command[0], limit);
    if (reap_everything())
        jobs_fail("the jobs have left processes behind; they are killed");
    remove_directory();
}
