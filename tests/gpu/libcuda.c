// SPDX-License-Identifier: BSD-3-Clause
/*
 * A stand-in for libcuda.so.1, for tests without a GPU. Device memory is a mapping that neither the
 * processor nor the kernel may access (PROT_NONE), with a second view through which the copies of
 * this library go: any other access faults. Copies that are queued in a stream are executed when
 * the stream is synchronized, as late as possible. So are those of cuMemcpy to device memory, which
 * the driver may execute after it has returned, unless the memory has the attribute SYNC_MEMOPS.
 *
 * Each call is checked: a context is current, addresses are in memory that is not freed, one side
 * of a copy at least is device memory. A wrong call returns the driver's error and prints a
 * sentence, and at the end of the process all memory must have been freed: else it exits with 95.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NO_CONTEXT = 201 };
enum { DEVICE = 2, UNIFIED = 4 };

struct memory {
    struct memory *next;
    char *at, *view;
    size_t bytes;
    bool managed, pooled; /* memory of a pool belongs to no context */
    bool synchronous;     /* SYNC_MEMOPS */
};

struct copy {
    struct copy *next;
    uintptr_t to, from;
    size_t bytes, rows, to_pitch, from_pitch;
};

struct stream {
    struct copy *first, **end;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *all;
static int wrong;
static char context_object;
static __thread void *current[8];
static __thread int depth;

__attribute__((format(printf, 2, 3))) static int refuse(int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "libcuda stand-in: ");
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
    size_t leaks = 0;
    for (const struct memory *m = all; m; m = m->next)
        leaks++;
    if (leaks)
        fprintf(stderr, "libcuda stand-in: %zu pieces of memory were not freed\n", leaks);
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
    return device ? INVALID : OK;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    return device ? INVALID : OK;
}

int cuCtxPushCurrent_v2(void *context)
{
    if (context != &context_object || depth == 8)
        return refuse(NO_CONTEXT, "%p is no context", context);
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

static int allocate(uint64_t *pointer, size_t bytes, bool managed, bool pooled)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    struct memory *m = calloc(1, sizeof *m);
    int fd = memfd_create("device", 0);
    if (!bytes || !m || fd < 0 || ftruncate(fd, (off_t)room))
        return NO_MEMORY;
    m->view = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    m->at = managed ? m->view : mmap(NULL, room, PROT_NONE, MAP_SHARED, fd, 0);
    close(fd);
    m->bytes = bytes;
    m->managed = managed;
    m->pooled = pooled;
    pthread_mutex_lock(&lock);
    m->next = all;
    all = m;
    pthread_mutex_unlock(&lock);
    *pointer = (uintptr_t)m->at;
    return OK;
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

/* It synchronizes. */
int cuMemFree_v2(uint64_t pointer)
{
    if (run_late())
        return INVALID;
    pthread_mutex_lock(&lock);
    struct memory **at = &all;
    while (*at && (uintptr_t)(*at)->at != pointer)
        at = &(*at)->next;
    struct memory *m = *at;
    if (m)
        *at = m->next;
    pthread_mutex_unlock(&lock);
    if (!m)
        return refuse(INVALID, "%p is no device memory", (void *)(uintptr_t)pointer);
    munmap(m->view, m->bytes);
    if (!m->managed)
        munmap(m->at, m->bytes);
    free(m);
    return OK;
}

int cuPointerGetAttributes(unsigned n, int *attributes, void **data, uint64_t pointer)
{
    pthread_mutex_lock(&lock);
    const struct memory *m = memory_of(pointer);
    for (unsigned i = 0; i < n; i++) {
        if (attributes[i] == 1)
            *(void **)data[i] = m && !m->pooled ? &context_object : NULL;
        else if (attributes[i] == 2)
            *(unsigned *)data[i] = m ? DEVICE : 0;
        else if (attributes[i] == 6)
            *(unsigned *)data[i] = m && m->synchronous;
        else if (attributes[i] == 7)
            *(unsigned long long *)data[i] = (uintptr_t)m;
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
    for (size_t i = 0; i < c->rows && !code; i++)
        memcpy(reach(c->to + i * c->to_pitch, c->bytes),
               reach(c->from + i * c->from_pitch, c->bytes), c->bytes);
    return code;
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
    *s->end = c;
    s->end = &c->next;
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

int cuStreamSynchronize(void *stream)
{
    struct stream *s = stream;
    int code = OK;
    if (!s)
        return run_late();
    while (s->first) {
        struct copy *c = s->first;
        s->first = c->next;
        int one = run(c);
        code = code ? code : one;
        free(c);
    }
    s->end = &s->first;
    return code;
}
