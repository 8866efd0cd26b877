// SPDX-License-Identifier: BSD-3-Clause
/*
 * What every MPI test shares: CHECK with a sentence, data that can be verified by (source, tag,
 * index), buffers with guard bytes, and a watchdog that turns a hang into a sentence.
 *
 * Invariant: a test that returns 0 on every rank has run to its end, and no CHECK failed on any
 * rank. Two variables steer a run: WEFT_TEST_SECONDS is how long a test may take before the
 * watchdog speaks, WEFT_TEST_SEED repeats a random test.
 */
#ifndef WEFT_TESTS_CHECK_H
#define WEFT_TESTS_CHECK_H

#include <mpi.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHECK_SECONDS = 50, CHECK_PRINTED = 12, CHECK_GUARD = 64, CHECK_GUARD_BYTE = 0xA5 };

static struct {
    int rank, size; /* in MPI_COMM_WORLD */
    int failures;   /* of this rank */
    char hung[320]; /* what the watchdog will say */
} check = {-1, 0, 0, "hung before the first step\n"};

__attribute__((unused, format(printf, 3, 4))) static void check_fail(const char *file, int line,
                                                                     const char *fmt, ...)
{
    if (++check.failures > CHECK_PRINTED) {
        return;
    }
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s:%d rank %d: %s\n", file, line, check.rank, text);
    if (check.failures == CHECK_PRINTED) {
        fprintf(stderr, "%s rank %d: further failures are counted, not printed\n", file,
                check.rank);
    }
}

/* Notes a failure, with a printf sentence that says what is wrong, unless cond holds. */
#define CHECK(cond, ...)                                                                           \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            check_fail(__FILE__, __LINE__, __VA_ARGS__);                                           \
        }                                                                                          \
    } while (0)

__attribute__((unused)) static int check_class(int code)
{
    int class = -1;
    if (code == MPI_SUCCESS) {
        return MPI_SUCCESS;
    }
    MPI_Error_class(code, &class);
    return class;
}

/* The call must return this error class (MPI_SUCCESS included). */
#define CHECK_CLASS(call, expected)                                                                \
    do {                                                                                           \
        int check_got_ = check_class(call);                                                        \
        CHECK(check_got_ == (expected), "%s returned class %d, expected %s (%d)", #call,           \
              check_got_, #expected, (int)(expected));                                             \
    } while (0)

/* Says what comes next: a hang is reported with this sentence. */
__attribute__((unused, format(printf, 1, 2))) static void check_step(const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(check.hung, sizeof check.hung, "rank %d hung in the step: %s\n", check.rank, text);
}

__attribute__((unused)) static void check_watchdog(int sig)
{
    (void)sig;
    ssize_t written = write(STDERR_FILENO, check.hung, strlen(check.hung));
    (void)written;
    _exit(97);
}

/*
 * A number of the environment. WEFT_TEST_SHORT=1 asks the programs whose work is much for less of
 * it: they run under a tool that slows them down.
 */
__attribute__((unused)) static int check_setting(const char *variable, int fallback)
{
    const char *text = getenv(variable);
    int value = text ? atoi(text) : 0;
    return value > 0 ? value : fallback;
}

/* Memory of this process, in KiB, by its name in /proc/PID/status; -1: not known. */
__attribute__((unused)) static long check_status_kib(const char *field)
{
    char line[128];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0 &&
            sscanf(line + strlen(field), ": %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

/* The resident memory of this process, in bytes. */
__attribute__((unused)) static int64_t check_resident(void)
{
    long kib = check_status_kib("VmRSS");
    CHECK(kib > 0, "the memory of this process cannot be read");
    return (int64_t)kib << 10;
}

/* The most memory that this process has had since it began its program. */
__attribute__((unused)) static long check_peak_kib(void)
{
    return check_status_kib("VmHWM");
}

/*
 * Starts the watchdog; check_begin does it for programs that need no own MPI_Init. The library's
 * hang report comes first, at WEFT_HANG_TIMEOUT, which the runner sets to 0.6 of its time limit.
 */
__attribute__((unused)) static void check_watch(void)
{
    struct sigaction action = {.sa_handler = check_watchdog};
    int report = check_setting("WEFT_HANG_TIMEOUT", 0);
    int seconds = report ? report + (report + 1) / 2 : CHECK_SECONDS;
    sigaction(SIGALRM, &action, NULL);
    alarm((unsigned)check_setting("WEFT_TEST_SECONDS", seconds));
}

/* Fills check.rank and check.size; ends the job when there are fewer ranks than the test needs. */
__attribute__((unused)) static void check_world(int min_ranks)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &check.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check.size);
    if (check.size < min_ranks) {
        fprintf(stderr, "this test needs at least %d ranks and got %d\n", min_ranks, check.size);
        MPI_Abort(MPI_COMM_WORLD, 96);
    }
    check_step("the first step");
}

/* For a program whose threads all call MPI: watchdog, MPI_Init_thread, rank and size. */
__attribute__((unused)) static void check_begin_threads(int *argc, char ***argv, int min_ranks)
{
    int provided = -1;
    check_watch();
    check_step("MPI_Init_thread");
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    check_world(min_ranks);
    CHECK(provided == MPI_THREAD_MULTIPLE, "asked for threads and got level %d", provided);
}

/*
 * The same with MPI_Init; with MPI_THREAD_MULTIPLE if WEFT_TEST_THREADS is 1: then communicators
 * and windows are assigned to WEFT_VCIS interfaces.
 */
__attribute__((unused)) static void check_begin(int *argc, char ***argv, int min_ranks)
{
    if (check_setting("WEFT_TEST_THREADS", 0)) {
        check_begin_threads(argc, argv, min_ranks);
        return;
    }
    check_watch();
    check_step("MPI_Init");
    MPI_Init(argc, argv);
    check_world(min_ranks);
}

/* ---- Memory for buffers. With tests/run --memory it is device memory, which programs use like any
 * other outside of MPI: tests/gpu/memory.c. Memory that MPI itself reads and writes, as arrays of
 * requests, counts and handles, windows and attached buffers, comes from check_host. */

/* A function of memory.c, or NULL. */
__attribute__((unused)) static void *check_device(const char *name)
{
    return getenv("TEST_MEMORY") ? dlsym(RTLD_DEFAULT, name) : NULL;
}

/* malloc that ends the job when there is no memory. */
__attribute__((unused)) static void *check_host(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        abort();
    }
    return p;
}

__attribute__((unused)) static void *check_alloc(size_t bytes)
{
    void *(*device)(size_t), *found = check_device("device_memory_alloc");
    memcpy(&device, &found, sizeof found);
    return device ? device(bytes) : check_host(bytes);
}

__attribute__((unused)) static void *check_zeroed(size_t bytes)
{
    return memset(check_alloc(bytes), 0, bytes);
}

/* Frees both. */
__attribute__((unused)) static void check_free(void *p)
{
    bool (*device)(void *);
    void *found = check_device("device_memory_free");
    memcpy(&device, &found, sizeof found);
    if (!device || !device(p))
        free(p);
}
#define free(p) check_free(p)

/* Bytes that the driver has copied for the library, which so has taken memory for device memory. */
__attribute__((unused)) static unsigned long long check_copied(void)
{
    unsigned long long (*copied)(void);
    void *found = check_device("device_memory_copied");
    memcpy(&copied, &found, sizeof found);
    return copied ? copied() : 0;
}

/* Finalizes and gives main its exit code: 1 on every rank when any CHECK failed on any rank. */
__attribute__((unused)) static int check_done(void)
{
    int own[2] = {check.failures, check_copied() > 0}, all[2] = {0, 0};
    check_step("summing up the failures of all ranks");
    MPI_Allreduce(own, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (check_device("device_memory_copied") && !all[1] && check.size > 1) {
        all[0]++;
        fprintf(stderr, "rank %d: no message of this test was in device memory\n", check.rank);
    }
    if (check.rank == 0 && all[0] > 0) {
        fprintf(stderr, "%d checks failed on all ranks together\n", all[0]);
    }
    check_step("MPI_Finalize");
    MPI_Finalize();
    return all[0] > 0 || check.failures > 0;
}

/* Errors come back as return codes from here on. */
__attribute__((unused)) static void check_errors_return(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Scrambles 64 bits: the source of patterns and of random numbers. */
__attribute__((unused)) static uint64_t check_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The next number of a sequence, from 0 to below - 1. */
__attribute__((unused)) static unsigned check_random(uint64_t *state, unsigned below)
{
    *state += 1;
    return (unsigned)(check_mix(*state) % below);
}

__attribute__((unused)) static uint64_t check_seed_of(int source, int tag, int index)
{
    return check_mix(check_mix((uint64_t)(uint32_t)source << 32 | (uint32_t)tag) +
                     (uint64_t)(uint32_t)index);
}

/* Writes the pattern that belongs to (source, tag, index). */
__attribute__((unused)) static void check_fill(void *buf, size_t bytes, int source, int tag,
                                               int index)
{
    unsigned char *p = buf;
    uint64_t seed = check_seed_of(source, tag, index);
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = (seed + at) * 0x9E3779B97F4A7C15u;
        word ^= word >> 29;
        memcpy(p + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

/* The offset of the first byte that is not the pattern of (source, tag, index), or bytes. */
__attribute__((unused)) static size_t check_differs(const void *buf, size_t bytes, int source,
                                                    int tag, int index)
{
    const unsigned char *p = buf;
    uint64_t seed = check_seed_of(source, tag, index);
    for (size_t at = 0; at < bytes; at += 8) {
        size_t now = bytes - at < 8 ? bytes - at : 8;
        uint64_t word = (seed + at) * 0x9E3779B97F4A7C15u;
        word ^= word >> 29;
        if (memcmp(p + at, &word, now) != 0) {
            while (p[at] == ((unsigned char *)&word)[at % 8]) {
                at++;
            }
            return at;
        }
    }
    return bytes;
}

/* bytes of buf must hold the pattern of (source, tag, index). */
#define CHECK_DATA(buf, bytes, source, tag, index)                                                 \
    do {                                                                                           \
        size_t check_at_ = check_differs(buf, bytes, source, tag, index);                          \
        CHECK(check_at_ == (size_t)(bytes),                                                        \
              "message %d of rank %d, tag %d, %zu bytes: wrong data from byte %zu on",             \
              (int)(index), (int)(source), (int)(tag), (size_t)(bytes), check_at_);                \
    } while (0)

/* A status must say exactly this. */
#define CHECK_STATUS(st, source, tag, bytes)                                                       \
    do {                                                                                           \
        MPI_Count check_n_ = -1;                                                                   \
        MPI_Get_count_c(&(st), MPI_BYTE, &check_n_);                                               \
        CHECK((st).MPI_SOURCE == (source) && (st).MPI_TAG == (tag) &&                              \
                  check_n_ == (MPI_Count)(bytes),                                                  \
              "status says source %d, tag %d, %lld bytes; expected %d, %d, %lld", (st).MPI_SOURCE, \
              (st).MPI_TAG, (long long)check_n_, (int)(source), (int)(tag), (long long)(bytes));   \
    } while (0)

/* A buffer between guard bytes; everything in it is guard until something is received. */
struct check_buffer {
    unsigned char *base, *data;
    size_t bytes, total;
};

/* skew: how far data lies from a multiple of 16. */
__attribute__((unused)) static struct check_buffer check_buffer_new(size_t bytes, size_t skew)
{
    struct check_buffer b = {.bytes = bytes, .total = bytes + skew + 2 * CHECK_GUARD};
    b.base = check_alloc(b.total);
    b.data = b.base + CHECK_GUARD + skew;
    memset(b.base, CHECK_GUARD_BYTE, b.total);
    return b;
}

__attribute__((unused)) static void check_buffer_reset(struct check_buffer *b)
{
    memset(b->base, CHECK_GUARD_BYTE, b->total);
}

/* Whether nothing was written in front of data nor from data + used on. */
__attribute__((unused)) static bool check_buffer_intact(const struct check_buffer *b, size_t used)
{
    for (const unsigned char *p = b->base; p < b->base + b->total; p++) {
        if (p == b->data && used > 0) {
            p += used - 1;
        } else if (*p != CHECK_GUARD_BYTE) {
            return false;
        }
    }
    return true;
}

__attribute__((unused)) static void check_buffer_free(struct check_buffer *b)
{
    free(b->base);
}

/* The seed of a random test: from WEFT_TEST_SEED or the clock, the same on every rank, printed. */
__attribute__((unused)) static uint64_t check_seed(void)
{
    int seed = check_setting("WEFT_TEST_SEED", (int)(time(NULL) % 1000000) + 1);
    MPI_Bcast(&seed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (check.rank == 0) {
        printf("seed %d (repeat with WEFT_TEST_SEED=%d)\n", seed, seed);
        fflush(stdout);
    }
    return check_mix((uint64_t)seed);
}

/* The next and the previous rank in MPI_COMM_WORLD, in a circle. */
__attribute__((unused)) static int check_up(void)
{
    return (check.rank + 1) % check.size;
}

__attribute__((unused)) static int check_down(void)
{
    return (check.rank + check.size - 1) % check.size;
}

/* A hint of a communicator must have this value. */
__attribute__((unused)) static void check_hint(MPI_Comm comm, const char *key, const char *expected)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && !strcmp(value, expected), "%s is %s", key, flag ? value : "not set");
    MPI_Info_free(&info);
}

#endif
