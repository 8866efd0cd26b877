// SPDX-License-Identifier: BSD-3-Clause
/*
 * Progress, and waiting for it: a waiting rank polls, then yields its core, then sleeps.
 *
 * A thread that holds all VCIs progresses everything. A thread that holds one VCI progresses that
 * one, and now and then what no other thread may be progressing (progress_others).
 *
 * Invariant: a thread that yields or sleeps here has released its VCIs, unless a call of the same
 * thread is around this one.
 */
#include "core/message/lane.h"
#include "core/base/settings.h"
#include "core/message/count.h"
#include "core/base/clock.h"
#include "core/progress/failure.h"
#include "core/progress/progress.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

/* Polls without an event before a waiting rank yields. */
enum {
    SPIN_ALONE = 20000, /* a rank that has a core of its own */
    SPIN_SHARED = 4,    /* ranks outnumber cores */
    SPIN_NET = 1,       /* the same without shared memory: each poll is a system call already */
    YIELDS_BEFORE_SLEEP = 4000,
    SLEEP_US = 50
};

/* In shared memory a writer wakes a sleeping reader, so a rank that shares its core can sleep
 * sooner, and longer each time: the sleeps end to look for deaths and the end of a fence. Not at
 * once: to wake takes longer than to copy 1 MiB (4 ranks on 2 cores gather that in 0.8 of the time
 * that they take with 32 yields, and 200 ranks on 2 cores are as fast). */
enum {
    YIELDS_BEFORE_DOORBELL = 256,
    YIELDS_IN_OWN_GROUP = 32, /* see leads_autogroup */
    SLEEPS_OF_A_LENGTH = 16,
    LONG_SLEEP_US = 1000,
    LONGEST_SLEEP_US = 16000
};

/* For weft_wait_asleep. accept and connect of two ranks beside 16 busy programs take 0.7 to 1.1 ms,
 * and 2.7 to 5 ms with 100 polls or without these sleeps. */
enum { POLLS_AWAKE = 10, ASLEEP_US = 200 };

enum { NET_TURN = 8 };

/* Calls of weft_progress, or of weft_look, without an event between two checks for dead ranks. */
enum { QUIET_TURN = 1024 };

/* Polls of one VCI between two calls of progress_others: rarely when only other VCIs are concerned,
 * whose threads may progress them, often when something that needs all VCIs is active. */
enum { POLLS_OF_ONE = 1024, POLLS_OF_ONE_WITH_OTHERS = 32 };

/* True while there is work for the pollers besides the lanes. */
static inline bool others_move(void)
{
    return __atomic_load_n(&weft.others, __ATOMIC_RELAXED) || weft.partitioned;
}

/* The same without what belongs to one VCI. */
static bool others_need_all(void)
{
    return __atomic_load_n(&weft.others, __ATOMIC_RELAXED) & ~WEFT_OTHERS_WINDOWS ||
           weft.partitioned;
}

static int move_others(int events)
{
    weft_assert(weft_vcis_hold_all());
    events += weft_pollers.agreements() + weft_pollers.partitioned();
    if (weft_count_all()) {
        weft_counts.polls++;
        weft_counts.polls_with_events += events > 0;
    }
    return events;
}

/* The lanes, collectives and windows of a VCI. */
static inline __attribute__((always_inline)) int progress_one(struct weft_vci *vci)
{
    weft_assert(weft_vci_is_held(vci));
    int events = 0;
    for (unsigned i = 0; weft.polls[i]; i++)
        events += weft.polls[i](vci->number);
    if (weft_unlikely(vci->coll.active != NULL))
        events += weft_pollers.collectives(vci);
    if (weft_unlikely(vci->windows.first != NULL))
        events += weft_pollers.windows(vci);
    return events;
}

WEFT_HOT int weft_progress(void)
{
    static unsigned quiet;
    int events = 0;
    weft_assert(weft_vcis_hold_all());
    for (unsigned i = 0; i < weft.nvcis; i++)
        events += progress_one(&weft.vcis[i]);
    if (weft_unlikely(others_move()))
        events = move_others(events);
    /* A program may wait by tests alone, and for a rank that is dead. */
    if (!events && ++quiet % QUIET_TURN == 0)
        events = weft_failure_check();
    return events;
}

/* Progresses what a thread that holds one VCI does not: everything if something needs all VCIs,
 * else the other VCIs that no thread holds. */
static __attribute__((noinline)) int progress_others(struct weft_vci *vci)
{
    int events = 0;
    unsigned held = others_need_all() ? weft_vcis_release() : 0;
    if (held) {
        weft_vcis_enter();
        events = weft_progress();
        weft_vcis_leave();
        weft_vcis_retake(held);
        return events;
    }
    for (unsigned i = 0; i < weft.nvcis; i++) {
        struct weft_vci *other = &weft.vcis[i];
        if (other == vci || !weft_lock_try(&other->lock))
            continue;
        progress_one(other);
        weft_lock_leave(&other->lock);
    }
    return events;
}

static inline __attribute__((always_inline)) int poll_one(struct weft_vci *vci)
{
    int events = progress_one(vci);
    if (weft_likely(++vci->polls < POLLS_OF_ONE) &&
        (vci->polls < POLLS_OF_ONE_WITH_OTHERS || !others_move()))
        return events;
    vci->polls = 0;
    return events + progress_others(vci);
}

WEFT_HOT int weft_poll(struct weft_vci *vci)
{
    static unsigned turn;
    if (weft_unlikely(vci != NULL))
        return poll_one(vci);
    weft_assert(weft_vcis_hold_all());
    if (!weft.cheap_polls || weft.nvcis > 1 || weft_unlikely(others_move()) ||
        weft_unlikely(weft.vcis[0].coll.active != NULL))
        return weft_progress();
    int events = weft.polls[0](0);
    if (weft_likely(!weft.polls[1]))
        return events;
    bool all = ++turn % NET_TURN == 0; /* of several lanes each gets its turns */
    for (unsigned i = 1; weft.polls[i]; i++)
        if (i < weft.cheap_polls || all)
            events += weft.polls[i](0);
    return events;
}

/* Other threads change it while this one waits. */
static inline unsigned yield_after(void)
{
    return (unsigned)__atomic_load_n(&weft.yield_after, __ATOMIC_RELAXED);
}

struct weft_pollers weft_pollers;
void (*weft_wait_report)(unsigned polls, const struct weft_request *on);

static void yield_core(void)
{
    __atomic_fetch_add(&weft_counts.yields, 1, __ATOMIC_RELAXED);
    sched_yield();
}

WEFT_COLD static void yield_between_looks(void)
{
    unsigned held = weft_entry_flags & WEFT_ENTRY_THREADS ? weft_vcis_release() : 0;
    yield_core();
    weft_vcis_retake(held);
}

bool weft_wait_check(unsigned polls, const struct weft_request *request)
{
    bool threads = weft_entry_flags & WEFT_ENTRY_THREADS;
    unsigned held = threads ? weft_vcis_release() : 0;
    if (threads)
        weft_vcis_enter();
    bool deaths = weft_failure_check() > 0;
    if (!deaths && polls && weft_wait_report)
        weft_wait_report(polls, request);
    if (threads)
        weft_vcis_leave();
    weft_vcis_retake(held);
    return deaths;
}

/* A rank with a core of its own may compute between two looks, and keeps the core: a yield takes
 * 1.5 us, a look 30 ns. Another thread may need it. */
static bool looks_yield(void)
{
    return yield_after() != SPIN_ALONE || weft_entry_flags & WEFT_ENTRY_THREADS;
}

void weft_look(struct weft_vci *vci)
{
    struct weft_vci *on = vci ? vci : &weft.vcis[0];
    if (vci ? poll_one(vci) : weft_progress()) {
        on->idle_looks = 0;
        return;
    }
    on->idle_looks++;
    if (vci && on->idle_looks % QUIET_TURN == 0)
        weft_wait_check(0, NULL);
    if (on->idle_looks >= yield_after() && looks_yield())
        yield_between_looks();
}

/* Microseconds of the next sleep, after so many sleeps without an event. */
static unsigned sleep_length(unsigned sleeps)
{
    unsigned doublings = sleeps / SLEEPS_OF_A_LENGTH;
    if (weft.polls[1] || weft.vcis[0].coll.shared || weft.vcis[0].windows.waits ||
        !weft_lane_is_idle())
        return SLEEP_US; /* events that do not wake the futex */
    return doublings < 9 ? SLEEP_US << doublings : LONGEST_SLEEP_US;
}

static void count_sleep(double begun)
{
    __atomic_fetch_add(&weft_counts.sleeps, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&weft_counts.asleep, (uint64_t)((weft_seconds() - begun) * 1e9),
                       __ATOMIC_RELAXED);
}

/* Yields or sleeps after so many polls without an event. True after a sleep so long that the checks
 * of a waiting rank are due. */
static bool yield_or_sleep(unsigned polls, bool threads)
{
    /* Threads get here without the lock. */
    bool doorbell = weft.sleeps && !threads;
    unsigned begin = yield_after() + (doorbell ? __atomic_load_n(&weft.yields, __ATOMIC_RELAXED)
                                               : YIELDS_BEFORE_SLEEP);
    if (polls <= begin) {
        yield_core();
        return false;
    }
    double begun = weft_seconds();
    unsigned length = doorbell ? sleep_length(polls - begin) : SLEEP_US;
    if (doorbell)
        weft_lanes[weft.sleeps]->sleep->sleep(length);
    else
        usleep(length);
    count_sleep(begun);
    return length >= LONG_SLEEP_US;
}

/* A thread may wait for one that needs the same core. With MPI_THREAD_MULTIPLE a thread yields
 * after POLLS polls; after FEW when yielding was what ended its last wait; but at every TRIAL-th
 * wait it tries POLLS again. */
enum { POLLS = 200, FEW = 4, TRIAL = 64 };

/* (initial-exec: its address needs no call.) */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    unsigned waits;   /* so far */
    unsigned limit;   /* polls before it yields in the current wait */
    unsigned longest; /* consecutive polls without an event in the current wait */
    bool yields_help; /* the last wait ended after a yield */
} spin;

static bool adapts_spin(void)
{
    return weft_entry_flags & WEFT_ENTRY_THREADS && !weft_settings.spin;
}

/* Polls before this thread yields; n: it is in turn n of a wait. */
static unsigned yield_limit(unsigned n)
{
    if (weft_likely(!adapts_spin()))
        return yield_after();
    if (n == 1 && !spin.longest)
        spin.limit = spin.yields_help && ++spin.waits % TRIAL ? FEW : POLLS;
    if (n > spin.longest)
        spin.longest = n;
    return spin.limit < yield_after() ? spin.limit : yield_after();
}

/* At the end of a wait with threads: how it went decides how soon the thread yields in the next. */
static void end_idle(void)
{
    if (!spin.longest)
        return;
    spin.yields_help = spin.longest >= spin.limit;
    spin.longest = 0;
}

/* Turn *idle of a wait: its checks, if they are due. True if ranks have died. */
static bool check_turn(unsigned *idle, const struct weft_request *request)
{
    if (weft_entry_flags & WEFT_ENTRY_REPORT) /* now: on busy cores so many polls take seconds */
        *idle = (*idle | (WEFT_WAIT_POLLS - 1)) + 1;
    return *idle % WEFT_WAIT_POLLS == 0 && weft_wait_check(*idle, request);
}

/* The work of weft_idle_for beside counting. */
WEFT_HOT static __attribute__((noinline)) void idle_at(unsigned *idle,
                                                       const struct weft_request *request)
{
    unsigned flags = weft_entry_flags;
    if (check_turn(idle, request))
        return;
    unsigned n = *idle;
    if (flags & WEFT_ENTRY_COUNT)
        weft_count_waited(n);
    if (n < yield_limit(n)) {
        weft_share();
        return;
    }
    unsigned held = flags & WEFT_ENTRY_THREADS ? weft_vcis_release() : 0;
    if (yield_or_sleep(n, flags & WEFT_ENTRY_THREADS))
        *idle = n | (WEFT_WAIT_POLLS / 4 - 1); /* four long sleeps count as that many polls */
    weft_vcis_retake(held);
}

WEFT_HOT void weft_idle_for(unsigned *idle, const struct weft_request *request)
{
    unsigned n = ++*idle;
    if (weft_unlikely(n % WEFT_WAIT_POLLS == 0) || weft_entry_flags || n >= yield_after())
        idle_at(idle, request);
}

void weft_await(struct weft_vci *vci, unsigned *idle, const struct weft_request *request)
{
    if (!weft_poll(vci)) {
        weft_idle_for(idle, request);
        return;
    }
    *idle = 0;
    weft_share();
}

void weft_wait_while(struct weft_vci *vci, bool (*waits)(void *arg), void *arg,
                     struct weft_request *const *on)
{
    unsigned idle = 0;
    while (waits(arg))
        weft_await(vci, &idle, on ? *on : NULL);
}

void weft_wait_asleep(bool (*waits)(void *arg), void (*sleep)(void *arg, unsigned microseconds),
                      void *arg)
{
    unsigned awake = weft_settings.spin ? (unsigned)weft_settings.spin : POLLS_AWAKE, idle = 0;
    while (waits(arg)) {
        if (weft_poll(NULL)) {
            idle = 0;
        } else if (++idle > awake && !check_turn(&idle, NULL)) {
            unsigned held = weft_entry_flags & WEFT_ENTRY_THREADS ? weft_vcis_release() : 0;
            double begun = weft_seconds();
            sleep(arg, ASLEEP_US);
            count_sleep(begun);
            weft_vcis_retake(held);
            continue;
        }
        weft_share();
    }
}

void weft_wait_in_lane(int (*progress)(unsigned vci), unsigned vci, bool (*waits)(void *arg),
                       void *arg)
{
    unsigned idle = 0;
    while (waits(arg))
        if (!progress(vci))
            weft_idle_for(&idle, NULL);
}

void weft_vci_complete_transfers(struct weft_vci *vci)
{
    struct weft_vci *scope = weft_unlikely(weft_entry_flags) ? weft_vci_scope(vci) : NULL;
    unsigned idle = 0, number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->wait_ended)
        lane->wait_ended(vci->number);
    while (vci->transfers && !vci->waiting)
        weft_await(scope, &idle, NULL);
}

WEFT_HOT void weft_request_wait(struct weft_request *request)
{
    if (request->pending <= 0) {
        if (request->vci) /* MPI_REQUEST_NULL has none */
            weft_look_sometimes(request->vci);
        return;
    }
    struct weft_vci *vci = weft_unlikely(weft_entry_flags) ? weft_vci_scope(request->vci) : NULL;
    unsigned idle = 0;
    weft_assert(weft_vci_is_held(request->vci));
    weft_vci_begin_wait(request->vci);
    while (request->pending > 0) {
        if (!weft_poll(vci)) {
            if (weft_request_is_stalled(request))
                break;
            weft_idle_for(&idle, request);
        } else if (request->pending > 0) {
            idle = 0;
            weft_share();
        }
    }
    weft_vci_end_wait(request->vci);
    if (weft_unlikely(weft_entry_flags))
        end_idle();
}

int weft_request_end(struct weft_request *request, size_t *bytes)
{
    weft_request_wait(request);
    int code = request->error;
    *bytes = request->bytes;
    weft_request_put(request);
    return code;
}

/* The cores that the ranks of this node have together. Without shared memory only this rank's own
 * set is known; a set of one core is taken for a binding that gives the other ranks cores of their
 * own. */
static int cores_of_node(int own)
{
    unsigned number = 0;
    WEFT_LANES_EACH(lane, number)
    if (lane->node)
        return lane->node->cores();
    return own > 1 ? own : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* True if the kernel schedules this rank as a group of one: with sched_autogroup_enabled each
 * session is a group, and Hydra starts each rank in a session. sched_yield gives the core to the
 * own group only, so that other ranks wait until the time slice ends. A round of small messages of
 * 8 ranks on 2 cores takes 26 us with 256 yields, 30 with 32 and 204 with 4; beside two busy
 * programs it takes 1900, 1000 and 630. */
static bool leads_autogroup(void)
{
    static char enabled;
    if (enabled)
        return enabled == '1' && getsid(0) == getpid();
    enabled = '0';
    int fd = open("/proc/sys/kernel/sched_autogroup_enabled", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (read(fd, &enabled, 1) != 1)
        enabled = '0';
    close(fd);
    return enabled == '1' && getsid(0) == getpid();
}

static bool shares_cores;     /* ranks outnumber cores, or share them with another job */
static unsigned early_yields; /* calls of weft_progress_yield_early that are to end */

static void set_limits(void)
{
    bool soon = shares_cores || early_yields;
    int after = weft_settings.spin ? (int)weft_settings.spin
                : !soon            ? SPIN_ALONE
                : weft.cheap_polls ? SPIN_SHARED
                                   : SPIN_NET;
    unsigned yields = after != SPIN_SHARED ? YIELDS_BEFORE_SLEEP
                      : leads_autogroup()  ? YIELDS_IN_OWN_GROUP
                                           : YIELDS_BEFORE_DOORBELL;
    __atomic_store_n(&weft.yield_after, after, __ATOMIC_RELAXED);
    __atomic_store_n(&weft.yields, yields, __ATOMIC_RELAXED);
}

void weft_progress_share_cores(void)
{
    if (!shares_cores) {
        shares_cores = true;
        set_limits();
    }
}

void weft_progress_yield_early(bool begins)
{
    early_yields += begins ? 1 : -1U;
    set_limits();
}

void weft_progress_open(void)
{
    cpu_set_t set;
    int own = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    shares_cores = weft.job.local_size > cores_of_node(own);
    set_limits();
    weft_lock_open(own > 1);
}
