// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collects each rank's bytes until a line is complete and queues complete lines for weftrun's
 * stdout and stderr.
 *
 * Invariant: a queue holds complete lines in the order in which they are written, and is the only
 * writer of its file. If stdout and stderr are the same file (a terminal, 2>&1), they share one
 * queue, so that lines never mix. On a terminal an unfinished line is queued, too, after
 * SHOW_AFTER, because it may be a question; a line of another rank then begins a line of its own.
 * Nothing here blocks: a slow reader fills the queue, and a full queue stops reading from the
 * ranks' pipes.
 */
#include "lines.h"
#include "core/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_HIGH     (1u << 20)   /* bytes queued above which ranks' pipes are not read */
#define UNFINISHED_MAX (256u << 20) /* bytes of unfinished lines; beyond, all are written */
#define SHOW_AFTER     0.2 /* seconds: most lines that are written in pieces are complete */
#define SHOW_BEHIND    1.0 /* seconds more behind the unfinished line of another rank */
#define CHUNK_MIN      4096
#define CHUNK_MAX      65536

struct chunk {
    struct chunk *next;
    int fd;
    size_t begin, end, cap;
    char data[];
};

struct queue {
    struct chunk *head, *tail;
    size_t memory;            /* of all chunks */
    bool broken;              /* a write failed: all further output is dropped */
    const struct stream *cut; /* the stream whose unfinished line ends the queue, or NULL */
};

/* In `cut` for streams that are closed: their memory may be that of a later stream. */
static const struct stream closed;

static struct {
    bool on, tag, single;
    bool stamp;     /* lines begin with the time */
    bool only;      /* output with a file goes nowhere else */
    int file_error; /* of the first failure to write such a file */
    struct queue queues[2];
    struct queue *to[2]; /* for stdout and stderr; both the same queue if the same file */
    bool regular[3];     /* by fd: a regular file, so a write of any size does not block */
    bool terminal[3];    /* by fd */
    size_t unfinished;   /* bytes of the unfinished lines of all streams */
} lines;

static bool same_file(void)
{
    struct stat a, b;
    return fstat(1, &a) == 0 && fstat(2, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void weft_lines_start(const struct job *job)
{
    lines.on = true;
    lines.tag = job->tag;
    lines.stamp = job->stamp;
    lines.only = job->output.only;
    lines.single = job->size == 1;
    lines.to[0] = &lines.queues[0];
    lines.to[1] = same_file() ? &lines.queues[0] : &lines.queues[1];
    for (int fd = 1; fd <= 2; fd++) {
        struct stat st;
        lines.regular[fd] = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
        lines.terminal[fd] = isatty(fd);
    }
}

void weft_lines_share(void)
{
    lines.single = false;
}

/* Appends bytes for fd to q. Lack of memory ends weftrun, because output would be lost. */
static void queue_add(struct queue *q, int fd, const char *data, size_t len)
{
    if (q->broken)
        return;
    while (len > 0) {
        struct chunk *c = q->tail;
        if (!c || c->fd != fd || c->end == c->cap) {
            size_t cap = len < CHUNK_MIN ? CHUNK_MIN : len > CHUNK_MAX ? CHUNK_MAX : len;
            c = malloc(sizeof *c + cap);
            if (!c)
                abort();
            *c = (struct chunk){.fd = fd, .cap = cap};
            q->memory += cap;
            if (q->tail)
                q->tail->next = c;
            else
                q->head = c;
            q->tail = c;
        }
        size_t n = c->cap - c->end < len ? c->cap - c->end : len;
        memcpy(c->data + c->end, data, n);
        c->end += n;
        data += n;
        len -= n;
    }
}

static void queue_drop(struct queue *q)
{
    while (q->head) {
        struct chunk *next = q->head->next;
        free(q->head);
        q->head = next;
    }
    q->tail = NULL;
    q->memory = 0;
}

/* Ends another stream's unfinished line at the end of q before s (NULL: weftrun) writes. */
static void queue_turn(struct queue *q, const struct stream *s, int fd)
{
    if (q->cut && q->cut != s && !(lines.single && s))
        queue_add(q, fd, "\n", 1);
    if (q->cut != s)
        q->cut = NULL;
}

/* Writes the beginning of each line of s; returns its length. */
static size_t make_tag(const struct stream *s, char *tag, size_t size)
{
    size_t len = 0;
    if (lines.stamp) {
        struct timespec now;
        struct tm local;
        clock_gettime(CLOCK_REALTIME, &now);
        localtime_r(&now.tv_sec, &local);
        len = strftime(tag, size, "%F %T", &local);
        len += (size_t)snprintf(tag + len, size - len, ".%03ld ", now.tv_nsec / 1000000);
    }
    if (lines.tag && s->job > 1)
        len += (size_t)snprintf(tag + len, size - len, "[%d:%d] ", s->job, s->rank);
    else if (lines.tag)
        len += (size_t)snprintf(tag + len, size - len, "[%d] ", s->rank);
    return len;
}

/* Queues len bytes of s, each line with its tag; the last line may be unfinished. */
static void put(struct stream *s, const char *data, size_t len)
{
    int fd = s->err ? 2 : 1;
    struct queue *q = lines.to[s->err];
    queue_turn(q, s, fd);
    if (s->mid_line && q->cut != s)
        s->mid_line = false; /* another stream ended its long line: begin a new one */
    char tag[64];
    size_t tag_len = make_tag(s, tag, sizeof tag);
    while (len > 0) {
        const char *nl = tag_len ? memchr(data, '\n', len) : memrchr(data, '\n', len);
        size_t n = nl ? (size_t)(nl - data) + 1 : len;
        if (!s->mid_line && tag_len)
            queue_add(q, fd, tag, tag_len);
        queue_add(q, fd, data, n);
        s->mid_line = !nl;
        data += n;
        len -= n;
    }
    q->cut = s->mid_line ? s : NULL;
}

static void put_unfinished(struct stream *s)
{
    if (s->len > 0)
        put(s, s->unfinished, s->len);
    lines.unfinished -= s->len;
    s->len = 0;
}

/* Stores the bytes of an unfinished line. */
static void keep(struct stream *s, const char *data, size_t len)
{
    if (s->len + len > s->cap) {
        size_t cap = s->cap ? s->cap : 256;
        while (cap < s->len + len)
            cap *= 2;
        char *more = realloc(s->unfinished, cap);
        if (!more)
            abort();
        s->unfinished = more;
        s->cap = cap;
    }
    if (s->len == 0 && lines.terminal[s->err ? 2 : 1])
        s->show_at = weft_seconds() + SHOW_AFTER;
    memcpy(s->unfinished + s->len, data, len);
    s->len += len;
    lines.unfinished += len;
    if (lines.unfinished > UNFINISHED_MAX)
        put_unfinished(s);
}

static void take(struct stream *s, const char *data, size_t len)
{
    const char *nl = lines.single ? data + len - 1 : memrchr(data, '\n', len);
    if (nl) {
        size_t n = (size_t)(nl - data) + 1;
        put_unfinished(s);
        put(s, data, n);
        data += n;
        len -= n;
    }
    if (len > 0)
        keep(s, data, len);
}

bool weft_lines_has_unfinished(void)
{
    return lines.unfinished > 0;
}

double weft_lines_show(struct stream *s, double now)
{
    const struct stream *cut = lines.to[s->err]->cut;
    if (s->len == 0 || !lines.terminal[s->err ? 2 : 1])
        return INFINITY;
    double at = s->show_at + (!cut || cut == s || cut == &closed ? 0 : SHOW_BEHIND);
    if (now < at)
        return at;
    put_unfinished(s);
    return INFINITY;
}

static void close_stream(struct stream *s)
{
    put_unfinished(s);
    free(s->unfinished);
    s->unfinished = NULL;
    s->cap = 0;
    close(s->fd);
    s->fd = -1;
    if (s->file > 0)
        close(s->file);
    s->file = 0;
    if (lines.to[s->err]->cut == s)
        lines.to[s->err]->cut = &closed;
}

/* Writes to the file of a stream. After a failure it gets no more, and the job is stopped. */
static void write_file(struct stream *s, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(s->file, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int error = errno;
            weft_lines_print("Writing the file of rank %d's %s failed: %s; the job is stopped.",
                             s->rank, s->err ? "stderr" : "stdout", strerror(error));
            lines.file_error = lines.file_error ? lines.file_error : error;
            close(s->file);
            s->file = 0;
            return;
        }
        data += n;
        len -= (size_t)n;
    }
}

bool weft_lines_read(struct stream *s)
{
    static char buf[CHUNK_MAX];
    ssize_t n = read(s->fd, buf, sizeof buf);
    if (n > 0) {
        bool goes_on = s->file == 0 || !lines.only;
        if (s->file > 0)
            write_file(s, buf, (size_t)n);
        if (goes_on)
            take(s, buf, (size_t)n);
        return true;
    }
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    close_stream(s);
    return false;
}

bool weft_lines_wants(const struct stream *s)
{
    return s->fd >= 0 && lines.to[s->err]->memory < QUEUE_HIGH;
}

void weft_lines_finish(struct stream *s)
{
    /* A process outside of the rank's process group may keep writing to the pipe; the rank's own
     * data are at most the size of the pipe. */
    for (int i = 0; i < 32 && s->fd >= 0 && weft_lines_read(s); i++)
        ;
    if (s->fd >= 0)
        close_stream(s);
}

int weft_lines_poll(struct pollfd *fds)
{
    int n = 0;
    for (int i = 0; i < 2; i++)
        if (lines.queues[i].head)
            fds[n++] = (struct pollfd){.fd = lines.queues[i].head->fd, .events = POLLOUT};
    return n;
}

/* Writes the first bytes of c. A pipe or terminal that polls writable takes PIPE_BUF bytes without
 * blocking; setting O_NONBLOCK instead would change the file for everybody who shares it. */
static ssize_t write_some(const struct chunk *c)
{
    size_t len = c->end - c->begin;
    if (!lines.regular[c->fd]) {
        struct pollfd p = {.fd = c->fd, .events = POLLOUT};
        if (poll(&p, 1, 0) <= 0)
            return 0;
        if (len > PIPE_BUF)
            len = PIPE_BUF;
    }
    ssize_t n = write(c->fd, c->data + c->begin, len);
    return n < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : n;
}

static int queue_write(struct queue *q)
{
    for (int i = 0; i < 64 && q->head; i++) {
        struct chunk *c = q->head;
        ssize_t n = write_some(c);
        if (n < 0) {
            int error = errno, fd = c->fd;
            queue_drop(q);
            q->broken = true;
            if (error != EPIPE)
                weft_lines_print("Writing to %s failed: %s; the job is stopped.",
                                 fd == 1 ? "stdout" : "stderr", strerror(error));
            return error;
        }
        if (n == 0)
            return 0;
        c->begin += (size_t)n;
        if (c->begin == c->end) {
            q->head = c->next;
            q->memory -= c->cap;
            if (!q->head)
                q->tail = NULL;
            free(c);
        }
    }
    return 0;
}

int weft_lines_write(void)
{
    int first = queue_write(&lines.queues[0]);
    int second = queue_write(&lines.queues[1]);
    int error = lines.file_error;
    lines.file_error = 0;
    return first ? first : second ? second : error;
}

bool weft_lines_empty(void)
{
    return !lines.queues[0].head && !lines.queues[1].head;
}

void weft_lines_stop(void)
{
    queue_drop(&lines.queues[0]);
    queue_drop(&lines.queues[1]);
    lines.on = false;
}

void weft_lines_print(const char *format, ...)
{
    char text[8192] = "weftrun: ";
    size_t len = strlen(text);
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text + len, sizeof text - len - 1, format, ap);
    va_end(ap);
    len += n < 0 ? 0 : (size_t)n;
    if (len > sizeof text - 2)
        len = sizeof text - 2;
    text[len++] = '\n';
    if (!lines.on) {
        if (write(2, text, len) < 0)
            return; /* stderr is closed */
        return;
    }
    queue_turn(lines.to[1], NULL, 2);
    queue_add(lines.to[1], 2, text, len);
}
