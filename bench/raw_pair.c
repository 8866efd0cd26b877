// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two processes on this machine and a shared page; see raw_pair.h.
 */
#include "raw_pair.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct raw_shared {
    atomic_uint arrivals; /* at all barriers so far; the n-th barrier is over at 2n */
    atomic_bool released;
    char card[2][RAW_CARD];
};

static unsigned barriers; /* that this process has entered */
static pid_t child;
static volatile sig_atomic_t child_ended; /* well: a child that ends badly ends us too */

static void on_child(int signal)
{
    static const char text[] = "The second process of the raw benchmark failed; see above.\n";
    int status;
    (void)signal;
    if (waitpid(child, &status, WNOHANG) != child)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        child_ended = 1;
        return;
    }
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

/* The core that a CPU belongs to, as a number of its own; the CPU itself where that is not known.
 * Two hardware threads of one core would not be two cores. */
static long core_of(int cpu)
{
    static const char *const files[] = {"physical_package_id", "core_id"};
    long part[2] = {0, cpu};
    for (int i = 0; i < 2; i++) {
        char path[96];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, files[i]);
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%ld", &part[i]) != 1)
            part[i] = i ? cpu : 0;
        if (f)
            fclose(f);
    }
    return part[0] << 20 | part[1];
}

/* Binds this process to the first CPU it may use, or with side 1 to the first on another core. */
static void bind_to(int side, const char *name)
{
    cpu_set_t allowed, one;
    int first = -1;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        if (first < 0)
            first = cpu;
        if (side == 1 && core_of(cpu) == core_of(first))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0)
            return;
        break;
    }
    fprintf(stderr, "%s: cannot bind two processes to a core each; run without -b\n", name);
    exit(1);
}

struct raw_shared *raw_pair_split(const char *name, bool bind, int *side)
{
    struct raw_shared *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
    pid_t parent = getpid();
    if (s == MAP_FAILED) {
        fprintf(stderr, "%s: no memory for the page that both processes share\n", name);
        exit(1);
    }
    fflush(NULL);
    child = fork();
    if (child < 0) {
        perror(name);
        exit(1);
    }
    *side = child == 0;
    if (*side == 1) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
    } else {
        sigaction(SIGCHLD, &action, NULL);
        if (waitpid(child, NULL, WNOHANG) == child)
            exit(1);
    }
    if (bind)
        bind_to(*side, name);
    return s;
}

void raw_pair_barrier(struct raw_shared *s, void (*progress)(void *), void *arg)
{
    barriers++;
    atomic_fetch_add(&s->arrivals, 1);
    while (atomic_load(&s->arrivals) < 2 * barriers)
        if (progress)
            progress(arg);
        else
            sched_yield();
}

void raw_pair_exchange(struct raw_shared *s, int side, const char *mine, char *theirs)
{
    memcpy(s->card[side], mine, RAW_CARD);
    raw_pair_barrier(s, NULL, NULL);
    memcpy(theirs, s->card[1 - side], RAW_CARD);
    raw_pair_barrier(s, NULL, NULL);
}

void raw_pair_release(struct raw_shared *s)
{
    atomic_store(&s->released, true);
}

bool raw_pair_released(struct raw_shared *s)
{
    return atomic_load_explicit(&s->released, memory_order_acquire);
}

void raw_pair_rearm(struct raw_shared *s)
{
    atomic_store(&s->released, false);
}

int raw_pair_join(struct raw_shared *s, int side, int code)
{
    if (side == 1)
        exit(code);
    while (!child_ended)
        usleep(1000); /* the signal ends it early */
    munmap(s, sizeof *s);
    return code;
}
