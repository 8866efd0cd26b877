// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs the probes, each in processes of its own, and draws the conclusion. The invariant is in the
 * header.
 *
 * The report and what the sides of a probe share lie in memory that all these processes map. The
 * first side that ends with a result, or dies, decides; the others are ended.
 */
#include "run.h"

#include "facts.h"
#include "probes.h"

#include "core/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CHOOSING = -1,         /* no probe: the process that only chooses the provider */
    SETTLE_MS = 50,        /* in which a message over loopback arrives */
    SETTLE_PER_SECOND = 5, /* of it for each second of the time limit, on slow machines */
    OPENING_SHARE = 4      /* time limits for opening: libfabric lists all its providers first */
};

static const double GRACE =
    0.2; /* seconds in which a side that crashed still counts as the cause */

/* Shared by the processes of one probe, or of the one that chooses. */
struct shared {
    struct weft_check_report report;
    struct weft_bench_shared bench;
    char why[1024]; /* why there is nothing to test */
};

/* Shared by all probes of one run. */
struct run {
    struct shared *shared;
    struct weft_settings settings;
    unsigned timeout;
};

static const struct probe {
    const char *name;
    void (*run)(struct weft_bench *bench);
    int sides;
    bool matching; /* the net lane relies on it when the provider matches */
    bool always;   /* Weft relies on it in both modes, where it is not absent */
} probes[WEFT_CHECK_PROBES] = {
    [WEFT_CHECK_BASIC] = {"tagged message with CQ data", weft_probe_basic, 2, true, true},
    [WEFT_CHECK_INJECT] = {"inject, buffer reused at once", weft_probe_inject, 2, false, true},
    [WEFT_CHECK_ORDER] = {"order of messages with one tag", weft_probe_order, 2, true, true},
    [WEFT_CHECK_LOAD_MATCH] = {"order under load: matching", weft_probe_load_match, 3, true, true},
    [WEFT_CHECK_LOAD_COMPLETE] = {"order under load: completions", weft_probe_load_complete, 3,
                                  false, false},
    [WEFT_CHECK_REVERSE] = {"receive in another order than arrival", weft_probe_reverse, 2, true,
                            false},
    [WEFT_CHECK_IGNORE] = {"ignored tag bits", weft_probe_ignore, 2, true, false},
    [WEFT_CHECK_DIRECTED] = {"receive from one source", weft_probe_directed, 3, true, false},
    [WEFT_CHECK_UNEXPECTED] = {"1500 unexpected messages", weft_probe_unexpected, 2, true, false},
    [WEFT_CHECK_PEEK_ABSENT] = {"peek where nothing is", weft_probe_peek_absent, 2, true, false},
    [WEFT_CHECK_PEEK_PRESENT] = {"peek at a message", weft_probe_peek_present, 2, true, false},
    [WEFT_CHECK_CLAIM] = {"claim and receive", weft_probe_claim, 2, true, false},
    [WEFT_CHECK_DISCARD] = {"discard", weft_probe_discard, 2, false, false},
    [WEFT_CHECK_TRUNCATE_POSTED] = {"truncation of a posted receive", weft_probe_truncate_posted, 2,
                                    false, false},
    [WEFT_CHECK_TRUNCATE_LATE] = {"truncation of a late receive", weft_probe_truncate_late, 2, true,
                                  false},
    [WEFT_CHECK_IOVEC] = {"receive in two buffers", weft_probe_iovec, 2, false, false},
    [WEFT_CHECK_CANCEL] = {"cancel of a receive", weft_probe_cancel, 2, true, false},
    [WEFT_CHECK_LARGE] = {"message of 8 MB", weft_probe_large, 2, false, false},
    [WEFT_CHECK_REGISTER] = {"registration of memory", weft_probe_register, 1, false, false},
    [WEFT_CHECK_READ] = {"remote reads, 8 of 1 MB in flight", weft_probe_read, 2, false, false},
    [WEFT_CHECK_WRITE] = {"remote writes, a message behind them", weft_probe_write, 2, false,
                          false},
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

/* ---- In a process of a probe ---- */

/* No core files, no chatter of the provider, and an end together with the process that waits. */
static void prepare_process(pid_t parent)
{
    struct rlimit none = {0, 0};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    setrlimit(RLIMIT_CORE, &none);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

/* Some providers' libraries catch the signals of a crash when they are loaded or opened, to leave a
 * trace in the working directory: here a crash shall be a crash. */
static void forget_handlers(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], SIG_DFL);
}

static void report_choice(struct weft_check_report *report,
                          const struct weft_provider_choice *choice)
{
    bool read = !(choice->row->flags & WEFT_PROVIDER_NO_READ) && !choice->push;

    snprintf(report->provider, sizeof report->provider, "%s", choice->info->fabric_attr->prov_name);
    memcpy(report->interface, choice->interface, sizeof report->interface);
    report->version = choice->info->fabric_attr->prov_version;
    report->row.software = choice->row->matching == WEFT_MATCHING_SOFTWARE;
    report->row.push = !read;
    report->row.overflow = (choice->row->flags & WEFT_PROVIDER_OVERFLOW) != 0;
    report->row.write = read && (choice->info->tx_attr->msg_order & FI_ORDER_SAW) != 0;
    weft_check_facts(choice, report->facts, sizeof report->facts);
}

/* Chooses the provider and runs one side of a probe. */
_Noreturn static void run_side(const struct run *run, int probe, int side, int sides)
{
    struct weft_job job = {.size = sides, .local_size = sides, .one_node = true};
    struct shared *shared = run->shared;
    int settle_ms = SETTLE_PER_SECOND * (int)run->timeout;
    struct weft_bench bench = {.shared = &shared->bench, .me = side, .sides = sides};
    struct weft_provider_choice choice;

    bench.settle_ms = settle_ms > SETTLE_MS ? settle_ms : SETTLE_MS;
    weft_bench_step(&bench, "asking libfabric for its providers");
    if (weft_provider_open(&run->settings, &job, 0, &choice, NULL, NULL, NULL, shared->why,
                           sizeof shared->why) != 0)
        _exit(1);
    if (probe == CHOOSING) {
        report_choice(&shared->report, &choice);
        _exit(0);
    }
    forget_handlers();
    weft_bench_open(&bench, &choice);
    forget_handlers();
    probes[probe].run(&bench);
    weft_bench_finish(&bench);
}

/* ---- In the process that waits ---- */

static const char *side_name(int side)
{
    static const char *const names[] = {"receiver", "sender", "other sender"};

    return names[side];
}

/* Writes the step of each side that did not only wait for the others. */
static void describe_steps(struct weft_bench_shared *bench, int sides)
{
    struct weft_check_outcome *outcome = &bench->outcome;
    size_t at = 0;

    outcome->detail[0] = '\0';
    for (int i = 0; i < sides; i++) {
        if (bench->sides[i].step[0] == '\0' || at >= sizeof outcome->detail)
            continue;
        at += (size_t)snprintf(outcome->detail + at, sizeof outcome->detail - at, "%s%s: %.150s",
                               at > 0 ? "; " : "", side_name(i), bench->sides[i].step);
    }
}

/* A side that died by itself: by what, and during which step. */
static void describe_death(struct weft_bench_shared *bench, int side, int status)
{
    struct weft_check_outcome *outcome = &bench->outcome;
    char how[64];

    if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "%s", strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "exit status %d", WEXITSTATUS(status));
    outcome->result = WEFT_CHECK_CRASHES;
    snprintf(outcome->detail, sizeof outcome->detail, "%s of the %s: %.150s", how, side_name(side),
             bench->sides[side].step);
}

/* Looks which processes have ended. Returns how many still run; notes the first that died before
 * the probe was decided. */
static int reap(const struct weft_bench_shared *bench, pid_t *processes, int sides, int *dead,
                int *dead_status)
{
    int running = 0;

    for (int i = 0; i < sides; i++) {
        int status = 0;
        pid_t pid = processes[i] > 0 ? waitpid(processes[i], &status, WNOHANG) : 0;

        if (pid > 0) {
            processes[i] = 0;
            if (*dead < 0 && !__atomic_load_n(&bench->ended, __ATOMIC_ACQUIRE) &&
                (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
                *dead = i;
                *dead_status = status;
            }
        }
        running += processes[i] > 0;
    }
    return running;
}

/* On SIGTERM shm removes its file in /dev/shm. */
static void end_processes(const pid_t *processes, int sides)
{
    bool signalled = false;

    for (int i = 0; i < sides; i++)
        signalled |= processes[i] > 0 && kill(processes[i], SIGTERM) == 0;
    if (signalled)
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    for (int i = 0; i < sides; i++) {
        if (processes[i] <= 0)
            continue;
        kill(processes[i], SIGKILL);
        while (waitpid(processes[i], NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

/* Waits for the sides and sets the outcome where they could not. */
static void watch(const struct run *run, pid_t *processes, int sides)
{
    struct weft_bench_shared *bench = &run->shared->bench;
    double deadline = weft_seconds() + OPENING_SHARE * run->timeout, decided = 0;
    bool opened = false, hung = false;
    int dead = -1, status = 0;

    while (reap(bench, processes, sides, &dead, &status) > 0) {
        if (!opened && __atomic_load_n(&bench->opened, __ATOMIC_ACQUIRE)) {
            opened = true;
            deadline = weft_seconds() + run->timeout;
        }
        if (decided == 0 && (dead >= 0 || __atomic_load_n(&bench->ended, __ATOMIC_ACQUIRE)))
            decided = weft_seconds();
        hung = decided == 0 && weft_seconds() > deadline;
        if (hung || (decided != 0 && weft_seconds() > decided + GRACE))
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    }
    end_processes(processes, sides);
    if (dead >= 0) {
        describe_death(bench, dead, status);
    } else if (hung) {
        bench->outcome.result = WEFT_CHECK_HANGS;
        describe_steps(bench, sides);
    }
}

/* Runs the processes of one probe to their end. */
static struct weft_check_outcome run_probe(const struct run *run, int probe)
{
    struct weft_bench_shared *bench = &run->shared->bench;
    int sides = probe == CHOOSING ? 1 : probes[probe].sides;
    pid_t processes[WEFT_BENCH_SIDES] = {0}, parent = getpid();
    double start = weft_seconds();

    memset(bench, 0, sizeof *bench);
    for (int side = 0; side < sides; side++) {
        processes[side] = fork();
        if (processes[side] == 0) {
            forget_handlers();
            prepare_process(parent);
            run_side(run, probe, side, sides);
        }
        if (processes[side] < 0) {
            bench->outcome.result = WEFT_CHECK_CRASHES;
            snprintf(bench->outcome.detail, sizeof bench->outcome.detail, "cannot fork: %s",
                     strerror(errno));
            end_processes(processes, side);
            return bench->outcome;
        }
    }
    watch(run, processes, sides);
    bench->outcome.seconds = weft_seconds() - start;
    return bench->outcome;
}

static void conclude(struct weft_check_report *report)
{
    const struct weft_check_outcome *o = report->outcomes;
    struct weft_check_use *use = &report->use;

    report->usable = true;
    *use = (struct weft_check_use){0};
    for (int i = 0; i < WEFT_CHECK_PROBES; i++) {
        if (o[i].result == WEFT_CHECK_WORKS)
            continue;
        report->usable = report->usable && (!probes[i].always || o[i].result == WEFT_CHECK_ABSENT);
        use->software = use->software || probes[i].matching;
    }
    use->push = o[WEFT_CHECK_READ].result != WEFT_CHECK_WORKS;
    use->write = !use->push && o[WEFT_CHECK_WRITE].result == WEFT_CHECK_WORKS;
    use->overflow = o[WEFT_CHECK_TRUNCATE_POSTED].result != WEFT_CHECK_WORKS;
    /* Truncation that breaks things is harmless only where a receive can have an overflow buffer.
     */
    if (use->overflow && o[WEFT_CHECK_IOVEC].result != WEFT_CHECK_WORKS)
        use->software = true;
}

int weft_check_run(const char *provider, unsigned timeout, struct weft_check_report *report,
                   void (*done)(void *arg, const struct weft_check_report *report,
                                enum weft_check_probe probe),
                   void *arg, char *why, size_t len)
{
    struct run run = {.settings = weft_settings, .timeout = timeout};
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int result = -1;

    if (shared == MAP_FAILED) {
        snprintf(why, len, "Cannot share memory with the self-test: %s.", strerror(errno));
        return -1;
    }
    run.shared = shared;
    if (provider[0] != '\0')
        run.settings.provider = provider;
    run.settings.matching = WEFT_MATCHING_AUTO;
    if (run_probe(&run, CHOOSING).result != WEFT_CHECK_WORKS) {
        snprintf(why, len, "%s",
                 shared->why[0] != '\0'
                     ? shared->why
                     : "libfabric hangs or crashes while it lists its providers; "
                       "try fi_info, and narrow the list by FI_PROVIDER.");
        goto out;
    }
    for (int i = 0; i < WEFT_CHECK_PROBES; i++) {
        shared->report.outcomes[i] = run_probe(&run, i);
        if (done)
            done(arg, &shared->report, (enum weft_check_probe)i);
    }
    conclude(&shared->report);
    *report = shared->report;
    result = 0;
out:
    munmap(shared, sizeof *shared);
    return result;
}
