// SPDX-License-Identifier: BSD-3-Clause
/*
 * The rules by which a job ends.
 *
 * Invariant: the first cause (a rank's failure, an abort, the timeout, a user's signal) sets the
 * exit code. If a job goes on after deaths within MPI, and those are the only causes, the code is 0
 * if a rank of the first job has outlived them: it has finalized MPI with status 0. Ends of ranks
 * that follow from stopping the job change nothing and are not reported. To stop the job, ranks get
 * SIGTERM, and SIGKILL after the grace period. After a user's signal the code is that of the
 * signal, unless each rank ends with status 0 and has finalized MPI or never joined it.
 */
#include "policy.h"
#include "debuggers.h"
#include "job.h"
#include "launch.h"
#include "lines.h"
#include "other_mpi.h"
#include "phases.h"
#include "spawn.h"
#include "suspects.h"
#include "core/base/clock.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define FAILURE_GRACE 2.0 /* seconds between SIGTERM and SIGKILL after a failure */
#define SIGNAL_GRACE  5.0 /* seconds ranks have to end after a user's signal */
#define CODES_A_LINE  64  /* of --print-all-exitcodes */
#define CODE_TIMEOUT  124 /* as timeout(1) */
/* After the end of a rank with status 0 and without MPI_Finalize: seconds until the other ranks
 * receive the event of its death, so that they first receive its last messages, and seconds that
 * they have to end. */
#define LEFT_TELL    1.0
#define LEFT_GRACE   5.0
#define ABSENT_PAUSE 0.5 /* seconds until a rank is missed that ended before it joined MPI */
/* Looks for libraries of another MPI, in seconds: a program that is a job of one rank may end
 * within 0.05 s. The frequent looks read the maps of few ranks only. */
#define LOOK_EARLY 0.02 /* the pause between looks at LOOK_RANKS ranks */
#define LOOK_FIRST 0.5  /* when the looks at all ranks begin; their pauses double */
#define LOOK_LAST  60.0 /* no more looks when the pause between them exceeds this */
#define LOOK_RANKS 2

static struct {
    struct job *job; /* the first one */
    int code;
    bool code_set;
    bool failed;       /* there is another cause than deaths within MPI while the job goes on */
    bool outlived;     /* a rank of it has finalized MPI and ended with status 0 */
    bool stopping;     /* weftrun has sent SIGTERM or SIGKILL */
    int user_signal;   /* the first INT, TERM or HUP, 0: none */
    double timeout_at; /* seconds of the monotonic clock; INFINITY: never */
    double kill_at;    /* likewise */
    double tell_at;    /* likewise: LEFT_TELL */
    double left_at;    /* likewise: LEFT_GRACE */
    double absent_at;  /* likewise: ABSENT_PAUSE */
    double look_at;    /* likewise: for libraries of another MPI */
    double look_pause; /* seconds from that to the next */
    int early_looks;   /* those that have yet to come */
} policy;

void weft_policy_start(struct job *job)
{
    memset(&policy, 0, sizeof policy);
    policy.job = job;
    policy.timeout_at = job->timeout > 0 ? weft_seconds() + job->timeout : INFINITY;
    policy.kill_at = policy.tell_at = policy.left_at = policy.absent_at = INFINITY;
    weft_policy_look();
}

void weft_policy_look(void)
{
    policy.look_pause = LOOK_EARLY;
    policy.look_at = weft_seconds() + LOOK_EARLY;
    policy.early_looks = (int)(LOOK_FIRST / LOOK_EARLY);
}

bool weft_policy_stopping(void)
{
    return policy.stopping || policy.user_signal;
}

int weft_policy_exit_code(void)
{
    return policy.outlived && !policy.failed ? 0 : policy.code;
}

void weft_policy_print_codes(const struct job *job)
{
    char text[CODES_A_LINE * 8];
    for (int first = 0, n; first < job->size; first += n) {
        size_t len = 0;
        for (n = 0; n < CODES_A_LINE && first + n < job->size; n++) {
            int status = job->ranks[first + n].status;
            int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", n ? "," : "", code);
        }
        weft_lines_print("exit codes of the ranks from %d to %d%s: %s.", first, first + n - 1,
                         job->words, text);
    }
}

static void note_code(int code)
{
    if (!policy.code_set)
        policy.code = code;
    policy.code_set = true;
}

static void set_code(int code)
{
    note_code(code);
    policy.failed = true;
}

static int count_running(void)
{
    return weft_job_count_running(policy.job);
}

/* The ranks of all jobs, one after the other. */
static struct rank *next_rank(const struct rank *r)
{
    return weft_job_next_rank(policy.job, r);
}

/* The ranks of all jobs, also those that have not been started. */
static int count_all(void)
{
    int n = 0;
    for (const struct job *job = policy.job; job; job = job->next)
        n += job->size;
    return n;
}

/* Signals the process groups of all running ranks but one (NULL: of all). */
static void signal_ranks(int sig, const struct rank *except)
{
    pid_t spared = except ? except->pid : 0;
    for (const struct rank *r = NULL; (r = next_rank(r));)
        if (r->running && r->pid != spared)
            kill(-r->pid, sig);
}

static void stop(int code, const struct rank *except)
{
    set_code(code);
    if (policy.stopping)
        return;
    policy.stopping = true;
    double at = weft_seconds() + FAILURE_GRACE;
    if (at < policy.kill_at)
        policy.kill_at = at;
    signal_ranks(SIGTERM, except);
    signal_ranks(SIGCONT, NULL);
}

void weft_policy_stop(int code)
{
    stop(code, NULL);
}

static const char *phase_words(const struct rank *r)
{
    switch (atomic_load(&r->phase)) {
    case PHASE_STARTED:
        return "before it joined MPI";
    case PHASE_JOINED:
        return "after it joined MPI and before it finalized";
    default:
        return "after it finalized MPI";
    }
}

/* The end of an error sentence: what happens to the other ranks. */
static const char *others_words(bool go_on, char *buf, size_t len)
{
    int n = count_running();
    if (n == 0)
        snprintf(buf, len, "no other rank was running");
    else if (go_on)
        snprintf(buf, len, n == 1 ? "the other rank goes on" : "the other %d ranks go on", n);
    else
        snprintf(buf, len, n == 1 ? "the other rank is stopped" : "the other %d ranks are stopped",
                 n);
    return buf;
}

static void report_ended(const struct rank *r, int status, bool go_on)
{
    char how[160], others[80];
    if (WIFSIGNALED(status)) {
        int sig = WTERMSIG(status);
        snprintf(how, sizeof how, "was killed by signal %d (%s%s)", sig, strsignal(sig),
                 sig == SIGKILL      ? "; if nobody sent it, see dmesg for memory run out"
                 : sig == SIGBUS     ? "; look for a full /dev/shm or scratch disk"
                 : WCOREDUMP(status) ? ", core dumped"
                                     : "");
    } else {
        snprintf(how, sizeof how, "exited with code %d", WEXITSTATUS(status));
    }
    if (r->job->answered)
        others_words(go_on, others, sizeof others);
    else
        snprintf(others, sizeof others, "the spawn of job %d fails", r->job->number);
    weft_lines_print("rank %d%s (pid %d on %s, program %s) %s %s; %s.", r->rank, r->job->words,
                     (int)r->pid, policy.job->host, r->app->argv[0], how, phase_words(r), others);
}

/* The end of a rank while the job is being stopped: only a crash is reported. */
static void ended_while_stopping(struct rank *r, int status, bool good)
{
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool ours = sig == 0 || sig == SIGTERM || sig == SIGKILL || sig == policy.user_signal;
    if (!policy.stopping && !ours)
        report_ended(r, status, false);
    if (!good && policy.user_signal)
        set_code(128 + policy.user_signal);
}

static bool has_deserted(const struct rank *r)
{
    return r->pid > 0 && !r->running && atomic_load(&r->phase) == PHASE_JOINED;
}

/* A rank ended with status 0 and without MPI_Finalize. Programs that all ranks leave so are common
 * enough to run to their end; the first rank is reported. */
static void deserted_job(const struct rank *r)
{
    char others[80];
    /* A quick rank may end before the last ones have been started. */
    int n = count_running();
    for (const struct job *job = policy.job; job; job = job->next)
        n += job->size - job->launched;
    if (n == 0)
        snprintf(others, sizeof others, "no other rank was running");
    else if (n == 1)
        snprintf(others, sizeof others, "the other rank has %g s to end", LEFT_GRACE);
    else
        snprintf(others, sizeof others, "the other %d ranks have %g s to end", n, LEFT_GRACE);
    policy.tell_at = weft_seconds() + LEFT_TELL;
    if (isinf(policy.left_at)) {
        policy.left_at = weft_seconds() + LEFT_GRACE;
        weft_lines_print(
            "rank %d%s (pid %d on %s, program %s) exited with code 0 after it joined MPI "
            "and left out MPI_Finalize; %s.",
            r->rank, r->job->words, (int)r->pid, policy.job->host, r->app->argv[0], others);
    }
}

/* The other ranks need a rank that has ended so, or have not ended in time. */
static void check_deserters(double t)
{
    if (t >= policy.tell_at) {
        policy.tell_at = INFINITY;
        for (const struct rank *r = NULL; (r = next_rank(r));)
            if (has_deserted(r))
                weft_server_tell_death(r);
    }
    if (t >= policy.left_at && !policy.stopping) {
        policy.left_at = INFINITY;
        weft_lines_print("%d of %d ranks did not end within %g s of a rank that left out "
                         "MPI_Finalize, and are stopped, exit code 1.",
                         count_running(), count_all(), LEFT_GRACE);
        stop(1, NULL);
    }
}

/* The first rank of the first job that is running and needs all others, or NULL. */
static const struct rank *find_waiting(void)
{
    for (int i = 0; i < policy.job->size; i++)
        if (policy.job->ranks[i].running && weft_phases_needs_all(&policy.job->ranks[i]))
            return &policy.job->ranks[i];
    return NULL;
}

/* Ranks have ended with status 0 before they joined MPI: a program that does not use MPI, unless
 * another rank joins it. */
static void check_absent(double t)
{
    if (t < policy.absent_at)
        return;
    policy.absent_at = INFINITY;
    if (weft_policy_stopping() || count_running() == 0)
        return;
    const struct rank *waiting = find_waiting();
    if (!waiting) {
        policy.absent_at = t + ABSENT_PAUSE;
        return;
    }
    for (int i = 0; i < policy.job->size; i++) {
        const struct rank *r = &policy.job->ranks[i];
        char others[80];
        if (r->pid <= 0 || r->running || atomic_load(&r->phase) != PHASE_STARTED)
            continue;
        weft_lines_print("rank %d (pid %d on %s, program %s) exited with code 0 before it joined "
                         "MPI, where rank %d waits for it; %s.",
                         r->rank, (int)r->pid, policy.job->host, r->app->argv[0], waiting->rank,
                         others_words(policy.job->keep_going, others, sizeof others));
        set_code(1);
        if (!policy.job->keep_going)
            stop(1, NULL);
        else
            weft_server_tell_death(r);
        return;
    }
}

void weft_policy_fail_spawn(struct job *job, const struct rank *because)
{
    if (job->failed)
        return;
    job->failed = true;
    if (because)
        report_ended(because, because->status, false);
    for (int i = 0; i < job->launched; i++)
        if (job->ranks[i].running)
            kill(-job->ranks[i].pid, SIGKILL);
}

void weft_policy_ended(struct rank *r, int status)
{
    int phase = weft_phases_update(r);
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    bool deserted = code == 0 && phase == PHASE_JOINED;
    if (r->job->failed)
        return;
    policy.outlived |= code == 0 && phase == PHASE_LEFT && r->job == policy.job;
    if (weft_policy_stopping()) {
        ended_while_stopping(r, status, code == 0 && !deserted);
        return;
    }
    weft_spawn_settle(r->job);
    if (!r->job->answered) {
        weft_policy_fail_spawn(r->job, r);
        return;
    }
    if (code == 0 && phase == PHASE_STARTED && isinf(policy.absent_at))
        policy.absent_at = weft_seconds() + ABSENT_PAUSE;
    if (code == 0 && !deserted)
        return;
    if (deserted && !policy.job->keep_going) {
        deserted_job(r);
        return;
    }
    /* No rank waits for one that has finalized: the others may finish their work. */
    bool go_on = policy.job->keep_going || phase == PHASE_LEFT;
    bool quiet = WIFEXITED(status) && !deserted && (phase == PHASE_LEFT || count_running() == 0);
    if (!quiet)
        report_ended(r, status, go_on);
    code = deserted ? 1 : code;
    if (policy.job->keep_going && phase == PHASE_JOINED)
        note_code(code);
    else
        set_code(code);
    if (!go_on)
        stop(code, NULL);
    else if (policy.job->keep_going && phase != PHASE_LEFT)
        weft_server_tell_death(r);
}

/* NULL: there is no such rank, or its job has ended. */
static const struct rank *find_rank(int job, int rank)
{
    const struct rank *r = NULL;
    while ((r = next_rank(r)) && (r->job->number != job || r->rank != rank))
        ;
    return r;
}

void weft_policy_aborted(const struct abort_call *call)
{
    if (policy.stopping)
        return;
    int code = call->code & 0xff;
    if (code == 0 && call->code != 0)
        code = 1; /* a shell would take 256 for success */
    const struct rank *r = find_rank(call->job, call->rank);
    if (r)
        weft_lines_print("rank %d%s (pid %d on %s, program %s) aborted the job with code %d%s%s%s.",
                         r->rank, r->job->words, (int)r->pid, policy.job->host, r->app->argv[0],
                         call->code, call->text[0] ? " (" : "", call->text,
                         call->text[0] ? ")" : "");
    weft_debuggers_abort(call->text);
    stop(code, r); /* the caller exits by itself, and may be printing its reason */
}

static void kill_all(void)
{
    policy.kill_at = INFINITY;
    signal_ranks(SIGKILL, NULL);
}

static void report_suspects(void)
{
    for (const struct job *job = policy.job; job; job = job->next)
        weft_suspects_report(job);
}

void weft_policy_signal(int sig)
{
    bool ending = sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
    if (!ending) {
        if (sig == SIGUSR1)
            report_suspects();
        signal_ranks(sig, NULL);
        return;
    }
    if (weft_policy_stopping()) {
        set_code(128 + sig);
        kill_all();
        return;
    }
    policy.user_signal = sig;
    policy.kill_at = weft_seconds() + SIGNAL_GRACE;
    if (count_running() == 0)
        set_code(128 + sig);
    signal_ranks(sig, NULL);
}

static void report_stubborn(void)
{
    char list[256] = "";
    size_t len = 0;
    int n = 0;
    for (const struct rank *r = NULL; (r = next_rank(r));) {
        if (!r->running)
            continue;
        n++;
        if (len < sizeof list - 48)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%d%s", len ? ", " : "",
                                    r->rank, r->job->words);
        else if (list[len - 1] != '.')
            len += (size_t)snprintf(list + len, sizeof list - len, "...");
    }
    weft_lines_print("%d of %d ranks did not end within %g s of signal %d (%s) and were killed: "
                     "%s.",
                     n, count_all(), SIGNAL_GRACE, policy.user_signal,
                     strsignal(policy.user_signal), list);
}

/* The result for all jobs; the first rank that is found ends the search. */
static enum weft_other_mpi_look look_at_jobs(int ranks)
{
    enum weft_other_mpi_look all = WEFT_OTHER_MPI_ALL_JOINED;
    for (struct job *job = policy.job; job; job = job->next) {
        enum weft_other_mpi_look seen = weft_other_mpi_look(job, ranks);
        if (seen == WEFT_OTHER_MPI_FOUND)
            return seen;
        all = seen == WEFT_OTHER_MPI_NONE_YET ? seen : all;
    }
    return all;
}

/* Looks for ranks that have loaded another MPI: each would be a job of one. */
static void look_for_other_mpi(double t)
{
    bool early = policy.early_looks > 0;
    enum weft_other_mpi_look seen =
        policy.stopping ? WEFT_OTHER_MPI_ALL_JOINED : look_at_jobs(early ? LOOK_RANKS : INT_MAX);
    if (early && --policy.early_looks == 0)
        policy.look_pause = LOOK_FIRST;
    bool last = seen != WEFT_OTHER_MPI_NONE_YET || policy.look_pause > LOOK_LAST;
    policy.look_at = last ? INFINITY : t + policy.look_pause;
    if (!early)
        policy.look_pause *= 2;
    if (seen == WEFT_OTHER_MPI_FOUND && !weft_other_mpi_is_allowed(policy.job))
        stop(LAUNCH_NOT_USABLE, NULL);
}

int weft_policy_tick(void)
{
    double t = weft_seconds();
    if (t >= policy.timeout_at) {
        policy.timeout_at = INFINITY;
        if (!policy.stopping) {
            weft_lines_print("the job ran longer than the %g s of %s and is stopped, exit code %d.",
                             policy.job->timeout, policy.job->timeout_from, CODE_TIMEOUT);
            report_suspects();
            stop(CODE_TIMEOUT, NULL);
        }
    }
    if (t >= policy.kill_at) {
        if (policy.user_signal && !policy.stopping) {
            report_stubborn();
            set_code(128 + policy.user_signal);
        }
        kill_all();
    }
    check_deserters(t);
    check_absent(t);
    if (t >= policy.look_at)
        look_for_other_mpi(t);
    double next =
        fmin(fmin(policy.timeout_at, policy.kill_at), fmin(policy.tell_at, policy.left_at));
    next = fmin(fmin(next, policy.look_at), policy.absent_at);
    if (isinf(next))
        return -1;
    double ms = ceil((next - t) * 1000);
    return ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms;
}
