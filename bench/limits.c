// SPDX-License-Identifier: BSD-3-Clause
/*
 * limits: the best times of this machine's memory and kernel, as bounds of any transport.
 *
 *     limits [-n BATCHES]
 *
 * Two processes on a core each. Prints medians of batches, in microseconds: the transfer of a cache
 * line from one core to the other; a wake-up, from the futex call until the sleeper runs; and by
 * size, memcpy within one process, and process_vm_readv from the other's memory.
 *
 * Invariant: every line is a row or begins with '#'; a figure that cannot be measured is a "-", and
 * a line with '#' has the reason.
 */
#include "figures.h"
#include "raw_pair.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_BATCHES = 1001, SMALLEST = 8, LARGEST = 4 << 20 };
enum { TRIPS = 2000, WAKES = 50, BYTES_A_BATCH = 8 << 20, COPIES_A_BATCH = 2000 };

struct line {
    _Alignas(128) _Atomic uint32_t turn;
};

struct limits {
    struct raw_shared *shared;
    struct line *lines;  /* lines[side] is written by that side */
    _Atomic bool *done;  /* side 0 needs the other no more */
    char *from, *to;     /* LARGEST bytes each, the process's own */
    struct iovec remote; /* the other's from; side 0 only */
    pid_t other;
    uint32_t turn;
    int side, batches;
};

/* The median of what once(l, size) returns. */
static double median(struct limits *l, double (*once)(struct limits *, size_t), size_t size)
{
    double list[MAX_BATCHES] = {0};
    once(l, size);
    for (int i = 0; i < l->batches; i++)
        list[i] = once(l, size);
    return bench_median(list, l->batches);
}

/* --- the line and the wake-up: both sides run these ------------------------------------------- */

static void spin_for(struct limits *l)
{
    while (atomic_load_explicit(&l->lines[1 - l->side].turn, memory_order_acquire) != l->turn)
        ;
}

static double line_once(struct limits *l, size_t size)
{
    (void)size;
    double start = bench_seconds();
    for (int i = 0; i < TRIPS; i++) {
        l->turn++;
        if (l->side == 1)
            spin_for(l);
        atomic_store_explicit(&l->lines[l->side].turn, l->turn, memory_order_release);
        if (l->side == 0)
            spin_for(l);
    }
    return 1e6 * (bench_seconds() - start) / (2.0 * TRIPS);
}

static void sleep_for(struct limits *l)
{
    _Atomic uint32_t *word = &l->lines[1 - l->side].turn;
    for (uint32_t seen; (seen = atomic_load_explicit(word, memory_order_acquire)) != l->turn;)
        syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static double wake_once(struct limits *l, size_t size)
{
    (void)size;
    double start = bench_seconds();
    for (int i = 0; i < WAKES; i++) {
        l->turn++;
        if (l->side == 1)
            sleep_for(l);
        atomic_store_explicit(&l->lines[l->side].turn, l->turn, memory_order_release);
        syscall(SYS_futex, &l->lines[l->side].turn, FUTEX_WAKE, 1, NULL, NULL, 0);
        if (l->side == 0)
            sleep_for(l);
    }
    return 1e6 * (bench_seconds() - start) / (2.0 * WAKES);
}

/* --- copies: side 0 alone; the other sleeps --------------------------------------------------- */

static int copies_of(size_t size)
{
    size_t n = BYTES_A_BATCH / size;
    return n < COPIES_A_BATCH ? (int)n : COPIES_A_BATCH;
}

static double memcpy_once(struct limits *l, size_t size)
{
    int n = copies_of(size);
    double start = bench_seconds();
    for (int i = 0; i < n; i++) {
        memcpy(l->to, l->from, size);
        __asm__ volatile("" : : "r"(l->to), "r"(l->from) : "memory"); /* every copy counts */
    }
    return 1e6 * (bench_seconds() - start) / n;
}

/* -1 where the kernel does not permit it. */
static double readv_once(struct limits *l, size_t size)
{
    int n = copies_of(size);
    struct iovec mine = {l->to, size}, theirs = {l->remote.iov_base, size};
    double start = bench_seconds();
    for (int i = 0; i < n; i++)
        if (process_vm_readv(l->other, &mine, 1, &theirs, 1, 0) != (ssize_t)size)
            return -1;
    return 1e6 * (bench_seconds() - start) / n;
}

static void print_copies(struct limits *l)
{
    int error = 0;
    if (readv_once(l, SMALLEST) < 0)
        error = errno;
    if (error)
        printf("# process_vm_readv does not work here: %s\n", strerror(error));
    printf("# %-8s %14s %18s\n", "Size", "memcpy", "process_vm_readv");
    for (size_t size = SMALLEST; size <= LARGEST; size *= 2) {
        printf("%-10zu %14.4f", size, median(l, memcpy_once, size));
        if (error)
            printf(" %18s\n", "-");
        else
            printf(" %18.4f\n", median(l, readv_once, size));
        fflush(stdout);
    }
}

/* --------------------------------------------------------------------------------------------- */

static void *memory(size_t bytes, int flags)
{
    void *there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (there == MAP_FAILED) {
        fprintf(stderr, "limits: no memory for %zu bytes: %s\n", bytes, strerror(errno));
        exit(1);
    }
    return there;
}

static int parse_batches(int argc, char **argv)
{
    char *end = "";
    long n = argc == 3 && strcmp(argv[1], "-n") == 0 ? strtol(argv[2], &end, 10)
             : argc == 1                             ? 31
                                                     : 0;
    if (n < 1 || n > MAX_BATCHES || *end) {
        fprintf(stderr, "usage: limits [-n BATCHES], of 1 to %d (31)\n", MAX_BATCHES);
        exit(2);
    }
    return (int)n;
}

/* Exchanges addresses and process ids with the other process. */
static void exchange(struct limits *l)
{
    struct {
        pid_t pid;
        void *from;
    } card = {getpid(), l->from};
    char mine[RAW_CARD] = {0}, theirs[RAW_CARD];
    memcpy(mine, &card, sizeof card);
    raw_pair_exchange(l->shared, l->side, mine, theirs);
    memcpy(&card, theirs, sizeof card);
    l->other = card.pid;
    l->remote.iov_base = card.from;
}

int main(int argc, char **argv)
{
    struct limits l = {.batches = parse_batches(argc, argv)};
    l.lines = memory(2 * sizeof *l.lines, MAP_SHARED);
    l.done = memory(sizeof *l.done, MAP_SHARED);
    l.from = memory(LARGEST, MAP_PRIVATE);
    l.to = memory(LARGEST, MAP_PRIVATE);
    l.shared = raw_pair_split("limits", true, &l.side);
    memset(l.from, 1, LARGEST); /* after the fork: pages of this process alone */
    memset(l.to, 2, LARGEST);
    exchange(&l);
    double line = median(&l, line_once, 0), wake = median(&l, wake_once, 0);
    if (l.side == 1) {
        while (!atomic_load(l.done))
            usleep(2000);
        return raw_pair_join(l.shared, l.side, 0);
    }
    printf("# One way between two cores, us, medians of %d batches\n", l.batches);
    printf("line %.4f\nwake %.4f\n", line, wake);
    printf("# Copies, us: memcpy in one process, process_vm_readv from another\n");
    print_copies(&l);
    atomic_store(l.done, true);
    return raw_pair_join(l.shared, l.side, 0);
}
