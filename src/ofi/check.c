// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs the probes, each in a child, and draws the conclusion. The invariant is in the header.
 *
 * The report lies in memory shared with the children: a child notes what it is waiting for before
 * it waits, so that the note survives the child.
 */
#include "ofi/check.h"

#include "ofi/check_probes.h"
#include "ofi/provider.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared {
    struct weft_check_report report;
    struct weft_check_outcome choosing; /* of the child that chose the provider */
    char why[1024];                     /* why there is nothing to test */
};

static const struct {
    const char *name;
    bool matching; /* the net lane relies on it when the provider matches */
    bool always;   /* Weft relies on it either way, where it is not absent */
} probes[WEFT_CHECK_PROBES] = {
    [WEFT_CHECK_BASIC] = {"tagged message with CQ data", true, true},
    [WEFT_CHECK_INJECT] = {"inject, buffer reused at once", false, true},
    [WEFT_CHECK_ORDER] = {"order of messages with one tag", true, true},
    [WEFT_CHECK_REVERSE] = {"receive in another order than arrival", true, false},
    [WEFT_CHECK_IGNORE] = {"ignored tag bits", true, false},
    [WEFT_CHECK_DIRECTED] = {"receive from one source", true, false},
    [WEFT_CHECK_UNEXPECTED] = {"1500 unexpected messages", true, false},
    [WEFT_CHECK_PEEK_ABSENT] = {"peek where nothing is", true, false},
    [WEFT_CHECK_PEEK_PRESENT] = {"peek at a message", true, false},
    [WEFT_CHECK_CLAIM] = {"claim and receive", true, false},
    [WEFT_CHECK_DISCARD] = {"discard", false, false},
    [WEFT_CHECK_TRUNCATE_POSTED] = {"truncation of a posted receive", false, false},
    [WEFT_CHECK_TRUNCATE_LATE] = {"truncation of a late receive", true, false},
    [WEFT_CHECK_IOVEC] = {"receive in two pieces", false, false},
    [WEFT_CHECK_CANCEL] = {"cancel of a receive", true, false},
    [WEFT_CHECK_LARGE] = {"message of 8 MB", false, false},
    [WEFT_CHECK_READ] = {"remote reads, 8 of 1 MB in flight", false, false},
};

const char *weft_check_name(enum weft_check_probe probe)
{
    return probes[probe].name;
}

const char *weft_check_word(enum weft_check_result result)
{
    static const char *const words[] = {"works", "broken", "hangs", "crashes", "absent"};

    return words[result];
}

/* Leaves the child alone with its probe: no core files, no chatter of the provider, and an end. */
static void prepare_child(unsigned timeout)
{
    struct rlimit none = {0, 0};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    setrlimit(RLIMIT_CORE, &none);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    alarm(timeout);
}

/* Some providers' libraries catch the signals of a crash when they are loaded or opened, to leave a
 * trace in the working directory: here a crash shall be a crash. */
static void forget_handlers(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], SIG_DFL);
}

/* In the child: chooses the provider; with a probe, runs it. */
_Noreturn static void child(struct shared *shared, const struct weft_settings *settings, int probe)
{
    struct weft_job job = {.size = 1, .local_size = 1, .one_node = true};
    struct weft_check_report *report = &shared->report;
    struct weft_provider_choice choice;
    struct weft_bench bench;

    if (weft_provider_select(settings, &job, &choice, NULL, NULL, shared->why,
                             sizeof shared->why) != 0)
        _exit(1);
    if (probe < 0) {
        snprintf(report->provider, sizeof report->provider, "%s",
                 choice.info->fabric_attr->prov_name);
        memcpy(report->interface, choice.interface, sizeof report->interface);
        report->version = choice.info->fabric_attr->prov_version;
        report->row_software = choice.row->matching == WEFT_MATCHING_SOFTWARE;
        report->row_push = (choice.row->flags & WEFT_PROVIDER_NO_READ) != 0;
        report->row_spill = (choice.row->flags & WEFT_PROVIDER_SPILL) != 0;
        _exit(0);
    }
    forget_handlers();
    weft_bench_open(&bench, &choice, &report->outcomes[probe]);
    weft_check_probe_run(&bench, (enum weft_check_probe)probe);
    weft_bench_end(&bench, WEFT_CHECK_WORKS, "%s", "");
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A child that died: by what, and what it was about to do. */
static void describe_death(struct weft_check_outcome *outcome, int status)
{
    char step[sizeof outcome->detail];

    memcpy(step, outcome->detail, sizeof step);
    outcome->result = WEFT_CHECK_CRASHES;
    if (WIFSIGNALED(status))
        snprintf(outcome->detail, sizeof outcome->detail, "%s while %.100s",
                 strsignal(WTERMSIG(status)), step);
    else
        snprintf(outcome->detail, sizeof outcome->detail, "left by exit status %d while %.100s",
                 WEXITSTATUS(status), step);
}

/* Runs one child to its end and sets the outcome where the child could not. Returns its exit code,
 * or -1. */
static int run_child(struct shared *shared, const struct weft_settings *settings, int probe,
                     unsigned timeout, struct weft_check_outcome *outcome)
{
    double start = now();
    int status = 0;
    pid_t pid;

    outcome->result = WEFT_CHECK_CRASHES;
    outcome->detail[0] = '\0';
    pid = fork();
    if (pid == 0) {
        forget_handlers();
        prepare_child(timeout);
        child(shared, settings, probe);
    }
    if (pid < 0) {
        snprintf(outcome->detail, sizeof outcome->detail, "cannot fork: %s", strerror(errno));
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    outcome->seconds = now() - start;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        outcome->result = WEFT_CHECK_HANGS;
    else if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
        describe_death(outcome, status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void conclude(struct weft_check_report *report)
{
    const struct weft_check_outcome *o = report->outcomes;

    report->usable = true;
    report->software = false;
    for (int i = 0; i < WEFT_CHECK_PROBES; i++) {
        if (o[i].result == WEFT_CHECK_WORKS)
            continue;
        report->usable = report->usable && (!probes[i].always || o[i].result == WEFT_CHECK_ABSENT);
        report->software = report->software || probes[i].matching;
    }
    report->push = o[WEFT_CHECK_READ].result != WEFT_CHECK_WORKS;
    report->spill = o[WEFT_CHECK_TRUNCATE_POSTED].result != WEFT_CHECK_WORKS;
    /* Truncation that breaks things is harmless only where a receive can have spill room. */
    if (report->spill && o[WEFT_CHECK_IOVEC].result != WEFT_CHECK_WORKS)
        report->software = true;
}

int weft_check_run(const char *provider, unsigned timeout, struct weft_check_report *report,
                   void (*done)(void *arg, const struct weft_check_report *report,
                                enum weft_check_probe probe),
                   void *arg, char *why, size_t len)
{
    struct weft_settings settings = weft_settings;
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int result = -1;

    if (shared == MAP_FAILED) {
        snprintf(why, len, "Cannot share memory with the self-test: %s.", strerror(errno));
        return -1;
    }
    if (provider[0] != '\0')
        settings.provider = provider;
    settings.matching = WEFT_MATCHING_AUTO;
    if (run_child(shared, &settings, -1, timeout, &shared->choosing) != 0) {
        snprintf(why, len, "%s",
                 shared->why[0] != '\0'
                     ? shared->why
                     : "libfabric hangs or crashes while it lists its providers; "
                       "try fi_info, and narrow the list by FI_PROVIDER.");
        goto out;
    }
    for (int i = 0; i < WEFT_CHECK_PROBES; i++) {
        run_child(shared, &settings, i, timeout, &shared->report.outcomes[i]);
        if (done != NULL)
            done(arg, &shared->report, (enum weft_check_probe)i);
    }
    conclude(&shared->report);
    *report = shared->report;
    result = 0;
out:
    munmap(shared, sizeof *shared);
    return result;
}
