// SPDX-License-Identifier: BSD-3-Clause
/*
 * A stand-in for libcuda.so.1, for tests without a GPU. Device memory is a mapping that neither the
 * processor nor the kernel may access (PROT_NONE), with a second view through which the copies of
 * this library go: any other access faults. Copies that are queued in a stream are executed when
 * the stream is synchronized, or an event after them is queried again, as late as possible. So are
 * those of cuMemcpy to device memory, which the driver may execute after it has returned, unless
 * the memory has the attribute SYNC_MEMOPS. With WEFT_TEST_GPU_SPEED, in MB/s, the copies of a
 * stream take their time, one after the other.
 *
 * Memory for other processes is a memfd, which they open in /proc.
 *
 * Each call is checked: a context is current, addresses are in memory that is not freed, one side
 * of a copy at least is device memory. A wrong call returns the driver's error and prints a
 * sentence, and at the end of the process all memory must have been freed, all memory of other
 * processes closed, no host memory registered, and no event left: else it exits with 95.
 */
#ifndef STAND_IN
#define STAND_IN "libcuda stand-in" /* libamdhip64.c includes this file */
#endif

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NO_CONTEXT = 201, NOT_READY = 600 };
enum { DEVICE = 2, UNIFIED = 4 };

struct memory {
    struct memory *next;
    char *at, *view;
    size_t bytes;
    bool managed, pooled; /* memory of a pool belongs to no context */
    bool synchronous;     /* SYNC_MEMOPS */
    bool imported;        /* of another process */
    bool open;            /* to the program: stand_in_open */
    int fd;
    unsigned long long number;
};

struct pinned {
    struct pinned *next;
    uintptr_t at;
    size_t bytes;
};

struct handle {
    char bytes[64];
};

struct described { /* in a handle */
    int pid, fd;
    size_t bytes;
    unsigned long long number;
};

struct copy {
    struct copy *next;
    uintptr_t to, from;
    size_t bytes, rows, to_pitch, from_pitch;
    double ends; /* not executed before */
};

struct stream {
    struct copy *first, **end;
    unsigned long long queued, executed;
    double idle; /* from then on */
};

struct event {
    struct stream *stream;
    unsigned long long copies; /* of the stream until then */
    double ready;
    bool queried;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *all;
static struct pinned *all_pinned;
static unsigned long long last_number;
static size_t events;
static bool retained;
static int wrong, opened;
static char context_object;
static __thread void *current[8];
static __thread int depth;

__attribute__((format(printf, 2, 3))) static int refuse(int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, STAND_IN ": ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    wrong++;
    return error;
}

static struct memory *memory_of(uintptr_t at)
{
    struct memory *m = all;
    while (m && !(at >= (uintptr_t)m->at && at < (uintptr_t)m->at + m->bytes))
        m = m->next;
    return m;
}

/* The address by which this library reaches bytes, or NULL. */
static char *reach(uintptr_t at, size_t bytes)
{
    const struct memory *m = memory_of(at);
    if (!m)
        return (char *)at;
    size_t offset = at - (uintptr_t)m->at;
    return bytes <= m->bytes - offset ? m->view + offset : NULL;
}

__attribute__((destructor)) static void count_leaks(void)
{
    size_t leaks = events;
    for (const struct memory *m = all; m; m = m->next)
        leaks++;
    for (const struct pinned *p = all_pinned; p; p = p->next)
        leaks++;
    if (leaks)
        fprintf(stderr, STAND_IN ": %zu pieces of memory or events were not freed or closed\n",
                leaks);
    if (leaks || wrong)
        _exit(95);
}

/* ---- Contexts */

int cuInit(unsigned flags)
{
    return flags ? INVALID : OK;
}

int cuDriverGetVersion(int *version)
{
    *version = 12040;
    return OK;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal ? INVALID : OK;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &context_object;
    retained = true;
    return device ? INVALID : OK;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = retained;
    return device ? INVALID : OK;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    return device ? INVALID : OK;
}

int cuCtxPushCurrent_v2(void *context)
{
    if (context != &context_object || depth == 8)
        return refuse(NO_CONTEXT, "%p is not a context", context);
    current[depth++] = context;
    return OK;
}

int cuCtxPopCurrent_v2(void **context)
{
    if (!depth)
        return refuse(NO_CONTEXT, "no context is current");
    *context = current[--depth];
    return OK;
}

int cuCtxGetId(void *context, unsigned long long *id)
{
    *id = 1;
    return context == &context_object ? OK : INVALID;
}

int cuGetErrorString(int error, const char **text)
{
    *text = error == INVALID ? "invalid argument" : error == NO_CONTEXT ? "no context" : "error";
    return OK;
}

/* ---- Memory */

static size_t full_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Maps memory of a file descriptor, which it takes over. */
static int map(uint64_t *pointer, struct memory kind, int fd)
{
    size_t room = full_pages(kind.bytes);
    struct memory *m = malloc(sizeof *m);
    *m = kind;
    m->fd = fd;
    m->view = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    m->at = m->managed ? m->view : mmap(NULL, room, PROT_NONE, MAP_SHARED, fd, 0);
    if (m->view == MAP_FAILED || m->at == MAP_FAILED)
        return NO_MEMORY;
    pthread_mutex_lock(&lock);
    m->number = ++last_number;
    m->next = all;
    all = m;
    pthread_mutex_unlock(&lock);
    *pointer = (uintptr_t)m->at;
    return OK;
}

static int allocate(uint64_t *pointer, size_t bytes, bool managed, bool pooled)
{
    int fd = memfd_create("device", MFD_CLOEXEC);
    if (!bytes || fd < 0 || ftruncate(fd, (off_t)full_pages(bytes)))
        return NO_MEMORY;
    return map(pointer, (struct memory){.bytes = bytes, .managed = managed, .pooled = pooled}, fd);
}

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes)
{
    return depth ? allocate(pointer, bytes, false, false) : NO_CONTEXT;
}

int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    return depth ? allocate(pointer, bytes, true, false) : NO_CONTEXT;
}

int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream)
{
    (void)stream;
    return depth ? allocate(pointer, bytes, false, true) : NO_CONTEXT;
}

static int run_late(void);

static int unmap(uint64_t pointer, bool imported)
{
    if (run_late())
        return INVALID;
    pthread_mutex_lock(&lock);
    struct memory **at = &all;
    while (*at && ((uintptr_t)(*at)->at != pointer || (*at)->imported != imported))
        at = &(*at)->next;
    struct memory *m = *at;
    if (m)
        *at = m->next;
    opened -= m && m->open;
    pthread_mutex_unlock(&lock);
    if (!m)
        return refuse(INVALID, "%p is not device memory of this kind", (void *)(uintptr_t)pointer);
    munmap(m->view, m->bytes);
    if (!m->managed)
        munmap(m->at, m->bytes);
    close(m->fd);
    free(m);
    return OK;
}

/* It synchronizes. */
int cuMemFree_v2(uint64_t pointer)
{
    return unmap(pointer, false);
}

int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t pointer)
{
    pthread_mutex_lock(&lock);
    const struct memory *m = memory_of(pointer);
    if (m) {
        *base = (uintptr_t)m->at;
        *bytes = m->bytes;
    }
    pthread_mutex_unlock(&lock);
    return m ? OK : refuse(INVALID, "%p is not device memory", (void *)(uintptr_t)pointer);
}

/* ---- For memory.c: the program may touch memory while it is open. */

static int protect(struct memory *m, bool open)
{
    m->open = open;
    opened += open ? 1 : -1;
    return mprotect(m->at, full_pages(m->bytes), open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static bool is_own(const struct memory *m)
{
    return m && !m->managed && !m->imported;
}

/* False: no device memory. */
__attribute__((visibility("default"))) bool stand_in_open(uintptr_t at)
{
    pthread_mutex_lock(&lock);
    struct memory *m = memory_of(at);
    bool well = is_own(m) && (m->open || !protect(m, true));
    pthread_mutex_unlock(&lock);
    return well;
}

__attribute__((visibility("default"))) void stand_in_shut(void)
{
    pthread_mutex_lock(&lock);
    for (struct memory *m = all; m && opened; m = m->next)
        if (m->open)
            protect(m, false);
    pthread_mutex_unlock(&lock);
}

__attribute__((visibility("default"))) bool stand_in_owns(uintptr_t at)
{
    pthread_mutex_lock(&lock);
    bool owns = is_own(memory_of(at));
    pthread_mutex_unlock(&lock);
    return owns;
}

/* Bytes that were copied, or that adapters have read or written. */
__attribute__((visibility("default"))) unsigned long long stand_in_copied;

/* Where tests/strict finds device memory on the host: NULL: it is no device memory. */
__attribute__((visibility("default"))) char *stand_in_view(uintptr_t at, size_t bytes)
{
    pthread_mutex_lock(&lock);
    const struct memory *m = memory_of(at);
    char *view = m && !m->managed ? reach(at, bytes) : NULL;
    stand_in_copied += view ? bytes : 0;
    pthread_mutex_unlock(&lock);
    return view;
}

/* ---- Memory of other processes */

/* Set by tests: memory cannot be opened. */
__attribute__((visibility("default"))) int stand_in_refuses;

int cuIpcGetMemHandle(struct handle *handle, uint64_t pointer)
{
    pthread_mutex_lock(&lock);
    const struct memory *m = memory_of(pointer);
    bool well = m && (uintptr_t)m->at == pointer && !m->managed && !m->pooled && !m->imported;
    if (well) {
        struct described d = {getpid(), m->fd, m->bytes, m->number};
        memset(handle, 0, sizeof *handle);
        memcpy(handle, &d, sizeof d);
    }
    pthread_mutex_unlock(&lock);
    return well ? OK : INVALID;
}

int cuIpcOpenMemHandle_v2(uint64_t *pointer, struct handle handle, unsigned flags)
{
    struct described d;
    char path[64];
    memcpy(&d, &handle, sizeof d);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", d.pid, d.fd);
    if (!depth || flags != 1 || d.pid == getpid())
        return refuse(INVALID, "opening memory of process %d", d.pid);
    if (stand_in_refuses)
        return INVALID;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return refuse(INVALID, "memory %llu of process %d was freed", d.number, d.pid);
    return map(pointer, (struct memory){.bytes = d.bytes, .imported = true}, fd);
}

int cuIpcCloseMemHandle(uint64_t pointer)
{
    return depth ? unmap(pointer, true) : refuse(NO_CONTEXT, "no context is current");
}

/* ---- Host memory that is registered */

int cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags)
{
    struct pinned *p = malloc(sizeof *p);
    uintptr_t at = (uintptr_t)host;
    if (!depth || flags != 1 || full_pages(at) != at || full_pages(bytes) != bytes)
        return refuse(INVALID, "registering %zu bytes at %p", bytes, host);
    pthread_mutex_lock(&lock);
    for (const struct pinned *i = all_pinned; i; i = i->next)
        if (at - i->at < i->bytes || i->at - at < bytes)
            refuse(INVALID, "%zu bytes at %p are registered in part", bytes, host);
    *p = (struct pinned){all_pinned, at, bytes};
    all_pinned = p;
    pthread_mutex_unlock(&lock);
    return OK;
}

int cuMemHostUnregister(void *host)
{
    if (!depth)
        return refuse(NO_CONTEXT, "no context is current");
    pthread_mutex_lock(&lock);
    struct pinned **at = &all_pinned;
    while (*at && (*at)->at != (uintptr_t)host)
        at = &(*at)->next;
    struct pinned *p = *at;
    if (p)
        *at = p->next;
    pthread_mutex_unlock(&lock);
    free(p);
    return p ? OK : refuse(INVALID, "%p is not registered", host);
}

/* Calls of the next function. */
__attribute__((visibility("default"))) int stand_in_looks;

int cuPointerGetAttributes(unsigned n, int *attributes, void **data, uint64_t pointer)
{
    pthread_mutex_lock(&lock);
    stand_in_looks++;
    const struct memory *m = memory_of(pointer);
    for (unsigned i = 0; i < n; i++) {
        if (attributes[i] == 1)
            *(void **)data[i] = m && !m->pooled ? &context_object : NULL;
        else if (attributes[i] == 2)
            *(unsigned *)data[i] = m ? DEVICE : 0;
        else if (attributes[i] == 6)
            *(unsigned *)data[i] = m && m->synchronous;
        else if (attributes[i] == 7)
            *(unsigned long long *)data[i] = m ? m->number : 0;
        else if (attributes[i] == 8)
            *(unsigned *)data[i] = m && m->managed;
        else if (attributes[i] == 9)
            *(int *)data[i] = m ? 0 : -2;
    }
    pthread_mutex_unlock(&lock);
    return OK;
}

/* ---- Copies */

static int check_side(uintptr_t at, size_t pitch, size_t bytes, size_t rows)
{
    size_t span = rows ? (rows - 1) * pitch + bytes : 0;
    return reach(at, span)
               ? OK
               : refuse(INVALID, "%zu bytes at %p are more than was allocated", span, (void *)at);
}

static int check_copy(const struct copy *c)
{
    if (!depth)
        return refuse(NO_CONTEXT, "a copy without a context");
    pthread_mutex_lock(&lock);
    int code = !memory_of(c->to) && !memory_of(c->from)
                   ? refuse(INVALID, "a copy of %zu bytes from %p to %p is not of device memory",
                            c->bytes, (void *)c->from, (void *)c->to)
                   : check_side(c->to, c->to_pitch, c->bytes, c->rows);
    if (!code)
        code = check_side(c->from, c->from_pitch, c->bytes, c->rows);
    pthread_mutex_unlock(&lock);
    return code;
}

static int run(const struct copy *c)
{
    int code = check_copy(c);
    char *to = reach(c->to, c->bytes);
    const char *from = reach(c->from, c->bytes);
    for (size_t i = 0; i < c->rows && !code; i++)
        memcpy(to + i * c->to_pitch, from + i * c->from_pitch, c->bytes);
    __atomic_fetch_add(&stand_in_copied, c->rows * c->bytes, __ATOMIC_RELAXED);
    return code;
}

/* Copies that are queued: from device memory, to it. */
__attribute__((visibility("default"))) int stand_in_queued[2];

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void wait_until(double end)
{
    for (double left; (left = end - now()) > 0;)
        usleep((useconds_t)(left * 1e6) + 1);
}

static double megabytes_per_second(void)
{
    static double speed = -1;
    const char *set = getenv("WEFT_TEST_GPU_SPEED");
    if (speed < 0)
        speed = set ? strtod(set, NULL) : 0;
    return speed;
}

static void count_queued(const struct copy *c, int change)
{
    pthread_mutex_lock(&lock);
    stand_in_queued[memory_of(c->to) != NULL] += change;
    pthread_mutex_unlock(&lock);
}

static int queue(void *stream, struct copy what)
{
    struct stream *s = stream;
    struct copy *c = malloc(sizeof *c);
    int code = check_copy(&what);
    if (code || !c || !s) {
        free(c);
        return code ? code : s ? NO_MEMORY : refuse(INVALID, "a copy in the default stream");
    }
    *c = what;
    c->next = NULL;
    if (megabytes_per_second() > 0) {
        double begin = now();
        s->idle = begin > s->idle ? begin : s->idle;
        s->idle += 1e-6 * (double)(c->bytes * c->rows) / megabytes_per_second();
        c->ends = s->idle;
    }
    count_queued(c, 1);
    *s->end = c;
    s->end = &c->next;
    s->queued++;
    return OK;
}

/* The default stream: one copy, whose source was copied if it is on the host. */
static struct copy late;

static int run_late(void)
{
    struct copy c = late;
    if (!c.rows)
        return OK;
    late.rows = 0;
    int code = run(&c);
    if (c.to_pitch)
        free((void *)c.from);
    return code;
}

int cuMemcpy(uint64_t to, uint64_t from, size_t bytes)
{
    int code = run_late();
    const struct memory *m = memory_of(to);
    struct copy c = {.to = to, .from = from, .bytes = bytes, .rows = 1};
    if (!m || m->synchronous || m->managed || code)
        return code ? code : run(&c);
    code = check_copy(&c);
    if (code)
        return code;
    if (!memory_of(from)) {
        c.from = (uintptr_t)memcpy(malloc(bytes), (void *)(uintptr_t)from, bytes);
        c.to_pitch = bytes; /* to be freed */
    }
    late = c;
    return OK;
}

int cuCtxSynchronize(void)
{
    return depth ? run_late() : refuse(NO_CONTEXT, "no context is current");
}

/* Memory of a pool does not take the attribute. */
int cuPointerSetAttribute(const void *value, int attribute, uint64_t pointer)
{
    struct memory *m = memory_of(pointer);
    if (attribute != 6 || !m)
        return refuse(INVALID, "attribute %d of %p", attribute, (void *)(uintptr_t)pointer);
    if (m->pooled)
        return INVALID;
    m->synchronous = *(const unsigned *)value;
    return OK;
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    return queue(stream, (struct copy){.to = to, .from = from, .bytes = bytes, .rows = 1});
}

/* CUDA_MEMCPY2D */
struct copy_2d {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    uint64_t from;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    uint64_t to;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
};

int cuMemcpy2DAsync_v2(const struct copy_2d *c, void *stream)
{
    if (c->from_type != UNIFIED || c->to_type != UNIFIED || c->from_pitch < c->width ||
        c->to_pitch < c->width || c->from_x || c->from_y || c->to_x || c->to_y)
        return refuse(INVALID, "a copy in two dimensions that this stand-in does not play");
    return queue(stream, (struct copy){.to = c->to,
                                       .from = c->from,
                                       .bytes = c->width,
                                       .rows = c->height,
                                       .to_pitch = c->to_pitch,
                                       .from_pitch = c->from_pitch});
}

int cuStreamCreate(void **stream, unsigned flags)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s || flags != 1)
        return INVALID;
    s->end = &s->first;
    *stream = s;
    return OK;
}

/* Executes the copies of a stream until so many have been. */
static int execute(struct stream *s, unsigned long long until)
{
    int code = OK;
    while (s->first && s->executed < until) {
        struct copy *c = s->first;
        s->first = c->next;
        s->executed++;
        wait_until(c->ends);
        count_queued(c, -1);
        int one = run(c);
        code = code ? code : one;
        free(c);
    }
    if (!s->first)
        s->end = &s->first;
    return code;
}

int cuStreamSynchronize(void *stream)
{
    struct stream *s = stream;
    return s ? execute(s, s->queued) : run_late();
}

/* ---- Events */

int cuEventCreate(void **event, unsigned flags)
{
    if (!depth || flags != 2)
        return refuse(INVALID, "an event with flags %u", flags);
    *event = calloc(1, sizeof(struct event));
    events++;
    return *event ? OK : NO_MEMORY;
}

int cuEventRecord(void *event, void *stream)
{
    struct stream *s = stream;
    if (!depth || !s)
        return refuse(INVALID, "an event of the default stream");
    *(struct event *)event = (struct event){.stream = s, .copies = s->queued, .ready = s->idle};
    return OK;
}

/* It is not ready when it is queried first, or until its copies have taken their time. */
int cuEventQuery(void *event)
{
    struct event *e = event;
    if (!depth)
        return refuse(NO_CONTEXT, "no context is current");
    if (e->stream->executed < e->copies && (!e->queried || now() < e->ready)) {
        e->queried = true;
        return NOT_READY;
    }
    return execute(e->stream, e->copies);
}

int cuEventDestroy_v2(void *event)
{
    free(event);
    events--;
    return OK;
}
