// SPDX-License-Identifier: BSD-3-Clause
/*
 * Device memory for the test programs (tests/run --memory): preloaded, it gives check_alloc of
 * tests/mpi/check.h memory of a driver without a GPU (libcuda.c), and ends a process that touches
 * such memory inside of an MPI call.
 *
 * The program itself fills and compares its buffers as if they were on the host: an access outside
 * of MPI faults, and the handler opens the memory. Each call of MPI shuts it first (calls.py writes
 * a wrapper of every function), so that an access by the library faults and ends the process. The
 * kernel refuses the memory meanwhile.
 *
 * Invariants:
 *  - A thread is inside of MPI from a wrapper's begin to its end. Threads that are made inside, the
 *    library's own, are inside all the time.
 *  - Memory is open only after an access outside of MPI, until any thread calls MPI.
 */
#include "memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static __thread int depth;
static __thread const char *called;

static struct {
    int (*retain)(void **, int);
    int (*push)(void *);
    int (*pop)(void **);
    int (*alloc)(uint64_t *, size_t);
    int (*release)(uint64_t);
    bool (*open)(uintptr_t);
    void (*shut)(void);
    bool (*owns)(uintptr_t);
    unsigned long long *copied;
    void *context;
} driver;

/* ---- Calls of MPI */

void device_memory_enter(const char *function)
{
    if (!depth++) {
        called = function;
        driver.shut();
    }
}

void device_memory_leave(void)
{
    depth--;
}

struct start {
    void *(*run)(void *);
    void *argument;
};

static void *run_inside(void *at)
{
    struct start start = *(struct start *)at;
    free(at);
    depth = 1;
    called = "a thread of the library";
    return start.run(start.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof real);
    struct start *start = depth ? malloc(sizeof *start) : NULL;
    if (!start)
        return real(thread, attributes, run, argument);
    *start = (struct start){run, argument};
    int error = real(thread, attributes, run_inside, start);
    if (error)
        free(start);
    return error;
}

static void fault(int signal_number, siginfo_t *info, void *context)
{
    char text[160];
    uintptr_t at = (uintptr_t)info->si_addr;
    (void)context;
    if (!depth && driver.open(at))
        return;
    if (depth && driver.owns(at)) {
        int n = snprintf(text, sizeof text, "device memory at %p is touched on the host in %s\n",
                         info->si_addr, called);
        ssize_t written = write(STDERR_FILENO, text, (size_t)n);
        (void)written;
    }
    signal(signal_number, SIG_DFL); /* the access is repeated, and ends the process */
}

/* ---- What check.h uses, found by dlsym */

static void must(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "memory.c: %s: error %d\n", what, code);
        abort();
    }
}

void *device_memory_alloc(size_t bytes)
{
    uint64_t at = 0;
    void *old;
    must(driver.push(driver.context), "cuCtxPushCurrent");
    must(driver.alloc(&at, bytes ? bytes : 1), "cuMemAlloc");
    driver.pop(&old);
    return (void *)(uintptr_t)at;
}

bool device_memory_free(void *at)
{
    void *old;
    if (!driver.owns((uintptr_t)at))
        return false;
    must(driver.push(driver.context), "cuCtxPushCurrent");
    must(driver.release((uintptr_t)at), "cuMemFree");
    driver.pop(&old);
    return true;
}

unsigned long long device_memory_copied(void)
{
    return *driver.copied;
}

static void find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);
    must(!found, name);
    memcpy(function, &found, sizeof found);
}

__attribute__((constructor)) static void begin(void)
{
    Dl_info own;
    char path[4096];
    struct rlimit files; /* the driver has one for each piece of memory */
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    must(!dladdr((void *)(uintptr_t)device_memory_alloc, &own), "dladdr");
    snprintf(path, sizeof path, "%.4000s", own.dli_fname);
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "libcuda.so.1");
    void *handle = dlopen(path, RTLD_NOW);
    must(!handle, path);
    find(handle, "cuDevicePrimaryCtxRetain", &driver.retain);
    find(handle, "cuCtxPushCurrent_v2", &driver.push);
    find(handle, "cuCtxPopCurrent_v2", &driver.pop);
    find(handle, "cuMemAlloc_v2", &driver.alloc);
    find(handle, "cuMemFree_v2", &driver.release);
    find(handle, "stand_in_open", &driver.open);
    find(handle, "stand_in_shut", &driver.shut);
    find(handle, "stand_in_owns", &driver.owns);
    find(handle, "stand_in_copied", &driver.copied);
    must(driver.retain(&driver.context, 0), "cuDevicePrimaryCtxRetain");
    sigaction(SIGSEGV, &action, NULL);
}
