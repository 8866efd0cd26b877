// SPDX-License-Identifier: BSD-3-Clause
/*
 * PMI-1, for launchers without PMIx: the wire protocol over the socket whose number is in PMI_FD,
 * as MPICH's and Intel's Hydra, Slurm's plug-in pmi2 (which serves PMI-1 too) and Flux serve it. A
 * command and its reply are lines of words "name=value".
 *
 * Invariants:
 *  - Each command has one reply, read before the next command is sent. Only the replies to
 *    barrier_in and to spawn, of which one at a time is sent, may come later, among the replies to
 *    other commands.
 *  - After an unexpected line, a timeout or the end of the connection, pmi.lost is set and nothing
 *    more is sent, because a late reply would be taken for the reply to another command.
 *  - pmi.lock is held while a line is sent or read, not while a barrier calls its progress.
 */
#include "boot.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "pmix/pmix_internal.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REPLY_SECONDS 60    /* a launcher on this host replies within milliseconds */
#define READ_US       10000 /* a read of the launcher that has begun ends in microseconds */
#define LINE_BYTES    8192  /* the longest reply: a value of the largest vallen_max in use, 4096 */
#define COMMAND_BYTES 1000  /* Slurm 22.05 cuts a command to 1023 bytes */
#define NODES_MAX     (1 << 24)

static struct {
    pthread_mutex_t lock;
    int fd, rank, size;
    bool lost, in_barrier;
    bool barrier_read;            /* the launcher has read barrier_in */
    struct weft_pmi_spawn *spawn; /* that waits for its reply, or NULL */
    size_t fragment;              /* bytes of a value in one put */
    char name[256];
    int32_t *first; /* the lowest rank on the node of each rank; NULL: unknown */
    const char *launcher;
    size_t filled;            /* bytes of input in use */
    char input[LINE_BYTES];   /* read, but not yet taken as a line */
    char line[LINE_BYTES];    /* the line that was read last, without its newline */
    char value[LINE_BYTES];   /* the field that was looked up last */
    char command[LINE_BYTES]; /* being sent */
} pmi = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static int number_of(const char *variable)
{
    const char *text = getenv(variable);
    char *end = NULL;
    long n = text && *text ? strtol(text, &end, 10) : -1;
    return end && !*end && n >= 0 && n <= INT32_MAX ? (int)n : -1;
}

bool weft_pmi_is_available(uint64_t *socket)
{
    struct stat at;
    int fd = number_of("PMI_FD"), rank = number_of("PMI_RANK");
    if (fd < 0 || rank < 0 || rank >= number_of("PMI_SIZE") || fstat(fd, &at) ||
        !S_ISSOCK(at.st_mode))
        return false;
    *socket = at.st_ino;
    return true;
}

/* ---- Lines */

/* Moves the first complete line of the input to pmi.line. */
static bool take_line(void)
{
    char *end = memchr(pmi.input, '\n', pmi.filled);
    if (!end)
        return false;
    size_t n = (size_t)(end - pmi.input);
    memcpy(pmi.line, pmi.input, n);
    pmi.line[n] = 0;
    pmi.filled -= n + 1;
    memmove(pmi.input, end + 1, pmi.filled);
    return true;
}

/* Reads a line, for at most so many seconds; false if there is none, or with pmi.lost set. */
static bool read_line(double seconds)
{
    double deadline = weft_seconds() + seconds;
    while (!pmi.lost && !take_line()) {
        double left = deadline - weft_seconds();
        struct pollfd in = {.fd = pmi.fd, .events = POLLIN};
        struct timespec most = {.tv_sec = left > 0 ? (time_t)left : 0};
        most.tv_nsec = left > 0 ? (long)((left - (double)most.tv_sec) * 1e9) : 0;
        int ready = ppoll(&in, 1, &most, NULL);
        if (ready == 0 && left <= 0)
            return false;
        if (ready <= 0)
            continue;
        size_t free_bytes = sizeof pmi.input - pmi.filled;
        ssize_t n = recv(pmi.fd, pmi.input + pmi.filled, free_bytes, MSG_DONTWAIT);
        if (n > 0)
            pmi.filled += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            pmi.lost = true;
    }
    return !pmi.lost;
}

/* Waits until the launcher has read barrier_in, because Slurm drops a command that it reads
 * together with it. A read takes further commands until it has found no more, so the next one is
 * not sent at once. */
static void await_reading(void)
{
    double deadline = weft_seconds() + REPLY_SECONDS;
    int unread = 0;
    while (ioctl(pmi.fd, SIOCOUTQ, &unread) == 0 && unread > 0 && weft_seconds() < deadline)
        sched_yield();
    usleep(READ_US);
    pmi.barrier_read = true;
}

static bool send_text(const char *text)
{
    size_t length = strlen(text);
    if (pmi.in_barrier && !pmi.barrier_read)
        await_reading();
    for (size_t sent = 0; !pmi.lost && sent < length;) {
        ssize_t n = send(pmi.fd, text + sent, length - sent, MSG_NOSIGNAL);
        if (n >= 0)
            sent += (size_t)n;
        else if (errno != EINTR)
            pmi.lost = true;
    }
    return !pmi.lost;
}

/* The value of a field of the last line, or NULL; valid until the next call. */
static const char *field(const char *name)
{
    size_t n = strlen(name);
    for (const char *at = pmi.line; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, name, n) == 0 && at[n] == '=') {
            size_t bytes = strcspn(at + n + 1, " ");
            memcpy(pmi.value, at + n + 1, bytes);
            pmi.value[bytes] = 0;
            return pmi.value;
        }
    return NULL;
}

static bool line_is(const char *command)
{
    const char *name = field("cmd");
    return name && strcmp(name, command) == 0;
}

static bool rc_is_0(void)
{
    const char *rc = field("rc");
    return !rc || strcmp(rc, "0") == 0;
}

/* Takes a line that ends a barrier or a spawn; false if it is another one. */
static bool take_late_reply(void)
{
    if (pmi.in_barrier && line_is("barrier_out")) {
        pmi.in_barrier = false;
    } else if (pmi.spawn && line_is("spawn_result")) {
        pmi.spawn->result = rc_is_0() ? WEFT_PMI_SPAWNED : WEFT_PMI_SPAWN_REFUSED;
        pmi.spawn = NULL;
    } else {
        return false;
    }
    return true;
}

/* Sends pmi.command and reads its reply. False if the connection is lost or the launcher refuses.
 */
static bool request(const char *reply)
{
    if (!send_text(pmi.command))
        return false;
    while (read_line(REPLY_SECONDS)) {
        if (line_is(reply))
            return rc_is_0();
        if (!take_late_reply())
            break;
    }
    pmi.lost = true;
    return false;
}

/* Sends a command without arguments. */
static bool request_plain(const char *command, const char *reply)
{
    snprintf(pmi.command, sizeof pmi.command, "cmd=%s\n", command);
    return request(reply);
}

/* Requests the value of a key of the launcher or of the job; NULL if there is none. */
static const char *get(const char *key)
{
    snprintf(pmi.command, sizeof pmi.command, "cmd=get kvsname=%s key=%s\n", pmi.name, key);
    return request("get_result") ? field("value") : NULL;
}

/* The reason of a failed request, for a sentence. */
static const char *reason(void)
{
    return pmi.lost ? "the connection to it is lost" : "it refused";
}

/* ---- Joining */

/* Writes the node of each rank from PMI_process_mapping, "(vector,(NODE,NODES,RANKS),...)": RANKS
 * ranks on each of NODES nodes from NODE on, repeated until all ranks have a node. Returns the
 * largest node, -1 if the text is no such map. */
static int read_map(const char *text, int32_t *node)
{
    static const char head[] = "(vector,";
    const char *at = strncmp(text, head, sizeof head - 1) ? "" : text + sizeof head - 1;
    int largest = -1;
    for (int rank = 0; rank < pmi.size;) {
        int from, nodes, ranks, used = 0;
        if (sscanf(at, "(%d,%d,%d)%n", &from, &nodes, &ranks, &used) != 3 || !used || from < 0 ||
            nodes < 1 || ranks < 1 || from >= NODES_MAX || nodes > NODES_MAX)
            return -1;
        for (int n = 0; n < nodes && rank < pmi.size; n++)
            for (int i = 0; i < ranks && rank < pmi.size; i++) {
                node[rank++] = from + n;
                largest = from + n > largest ? from + n : largest;
            }
        at = at[used] == ',' ? at + used + 1 : text + sizeof head - 1;
    }
    return largest;
}

/* Sets pmi.first, unless the launcher has no map: then only this rank is on this node. */
static void find_nodes(void)
{
    const char *text = get("PMI_process_mapping");
    int32_t *first = weft_memory_get((size_t)pmi.size, sizeof *first, "a map of the nodes");
    int largest = text ? read_map(text, first) : -1;
    int32_t *lowest = weft_memory_get((size_t)(largest + 1), sizeof *lowest, "a map of the nodes");
    if (largest >= 0) {
        for (int r = pmi.size - 1; r >= 0; r--)
            lowest[first[r]] = r;
        for (int r = 0; r < pmi.size; r++)
            first[r] = lowest[first[r]];
        pmi.first = first;
    } else {
        free(first);
    }
    free(lowest);
}

/* The largest value in one put: the launcher's limit of a value, two digits a byte, in a command of
 * COMMAND_BYTES beside the words, the name and the key. */
static size_t fragment_bytes(void)
{
    const char *text = request_plain("get_maxes", "maxes") ? field("vallen_max") : NULL;
    long most = text ? strtol(text, NULL, 10) : 0;
    long beside = (long)strlen(pmi.name) + 128;
    most = most - 1 < COMMAND_BYTES - beside ? most - 1 : COMMAND_BYTES - beside;
    return most < 64 ? 0 : ((size_t)most - 24) / 2; /* 24: the size before the first fragment */
}

static int number(const char *command, const char *reply, const char *name)
{
    const char *text = request_plain(command, reply) ? field(name) : NULL;
    return text ? (int)strtol(text, NULL, 10) : -1;
}

int weft_pmi_join(struct weft_pmi *job, const char *launcher, char *why, size_t len)
{
    weft_assert(!pmi.first);
    pmi.fd = number_of("PMI_FD");
    pmi.rank = job->rank = number_of("PMI_RANK");
    pmi.size = job->size = number_of("PMI_SIZE");
    pmi.launcher = launcher;
    pmi.filled = 0;
    pmi.lost = pmi.in_barrier = false;

    bool joined = request_plain("init pmi_version=1 pmi_subversion=1", "response_to_init");
    const char *name =
        joined && request_plain("get_my_kvsname", "my_kvsname") ? field("kvsname") : NULL;
    snprintf(pmi.name, sizeof pmi.name, "%s", name ? name : "");
    pmi.fragment = name ? fragment_bytes() : 0;
    if (!pmi.fragment) {
        snprintf(why, len,
                 "rank %d of %d could not join its job by PMI-1, which %s offers in PMI_FD=%d, "
                 "because %s: start it with weftrun, or with a launcher that offers PMIx",
                 pmi.rank, pmi.size, launcher, pmi.fd, reason());
        pmi.lost = true;
        return -1;
    }
    job->name = pmi.name;
    job->appnum = number("get_appnum", "appnum", "appnum");
    job->universe = number("get_universe_size", "universe_size", "size");
    find_nodes();
    job->first = pmi.first;
    return 0;
}

bool weft_pmi_leave(void)
{
    bool left = request_plain("finalize", "finalize_ack");
    free(pmi.first);
    pmi.first = NULL;
    pmi.lost = true;
    return left;
}

void weft_pmi_abort(int code)
{
    char command[64];
    int n = snprintf(command, sizeof command, "cmd=abort exitcode=%d\n", code);
    /* Without the lock, which a thread in a barrier may hold: nothing is sent after this. */
    ssize_t sent = send(pmi.fd, command, (size_t)n, MSG_NOSIGNAL);
    (void)sent;
}

/* ---- Values */

/* Writes the key of a fragment of a value. */
static void fragment_key(char *out, size_t len, int rank, const char *key, size_t fragment)
{
    snprintf(out, len, "weft.%d.%.32s.%zu", rank, key, fragment);
}

/* Writes the fragment of a value that begins at its byte done. Returns the end of the fragment. */
static size_t fragment_text(char *out, const unsigned char *bytes, size_t size, size_t done)
{
    size_t n = size - done < pmi.fragment ? size - done : pmi.fragment;
    int used = done == 0 ? sprintf(out, "%zu:", size) : 0;
    for (size_t i = 0; i < n; i++)
        used += sprintf(out + used, "%02x", bytes[done + i]);
    out[used] = 0;
    return done + n;
}

int weft_pmi_put(const char *key, const void *value, size_t size, char *why, size_t len)
{
    char name[64], text[COMMAND_BYTES];
    size_t done = 0, fragment = 0;
    bool ok = true;
    pthread_mutex_lock(&pmi.lock);
    do {
        done = fragment_text(text, value, size, done);
        fragment_key(name, sizeof name, pmi.rank, key, fragment++);
        snprintf(pmi.command, sizeof pmi.command, "cmd=put kvsname=%s key=%s value=%s\n", pmi.name,
                 name, text);
        ok = request("put_result");
    } while (ok && done < size);
    if (!ok)
        snprintf(why, len, "rank %d could not publish %s (%zu bytes) through %s by PMI-1: %s",
                 pmi.rank, key, size, pmi.launcher, reason());
    pthread_mutex_unlock(&pmi.lock);
    return ok ? 0 : -1;
}

/* Appends the bytes of pairs of digits to a value, of which *done bytes of size are present. */
static bool append_digits(const char *digits, unsigned char *value, size_t size, size_t *done)
{
    for (; *digits; digits += 2) {
        char pair[3] = {digits[0], digits[1]}, *end;
        unsigned long byte = strtoul(pair, &end, 16);
        if (end != pair + 2 || *done >= size)
            return false;
        value[(*done)++] = (unsigned char)byte;
    }
    return true;
}

/* Fetches a value of *size bytes at most; *size becomes its size, also if it is larger. */
static bool fetch(int rank, const char *key, unsigned char *value, size_t *size)
{
    char name[64], *digits;
    size_t most = *size, done = 0, total = 0, fragment = 0;
    do {
        fragment_key(name, sizeof name, rank, key, fragment);
        char *text = get(name) ? pmi.value : NULL;
        size_t before = done;
        if (text && fragment == 0) {
            total = *size = strtoul(text, &digits, 10);
            if (*digits++ != ':' || total > most)
                return *size > most;
            text = digits;
        }
        if (!text || !append_digits(text, value, total, &done) || (done == before && total > 0))
            return false;
        fragment++;
    } while (done < total);
    return true;
}

int weft_pmi_fetch(int rank, const char *key, void *value, size_t *size, char *why, size_t len)
{
    weft_assert(rank >= 0 && rank < pmi.size);
    pthread_mutex_lock(&pmi.lock);
    bool found = fetch(rank, key, value, size);
    if (!found)
        snprintf(why, len, "rank %d could not fetch %s of rank %d by PMI-1 from %s: %s", pmi.rank,
                 key, rank, pmi.launcher,
                 pmi.lost ? "the connection to it is lost; look for the first error of the job"
                          : "that rank has not published it before the last barrier");
    pthread_mutex_unlock(&pmi.lock);
    return found ? 0 : -1;
}

/* ---- Barrier */

static bool begin_barrier(void)
{
    pthread_mutex_lock(&pmi.lock);
    snprintf(pmi.command, sizeof pmi.command, "cmd=barrier_in\n");
    bool sent = send_text(pmi.command);
    pmi.in_barrier = sent;
    pmi.barrier_read = false;
    pthread_mutex_unlock(&pmi.lock);
    return sent;
}

/* Waits at most so many seconds for the end of the barrier. False if the barrier goes on. */
static bool barrier_ended(double seconds)
{
    pthread_mutex_lock(&pmi.lock);
    if (pmi.in_barrier && read_line(seconds) && !take_late_reply())
        pmi.lost = true;
    bool ended = pmi.lost || !pmi.in_barrier;
    pthread_mutex_unlock(&pmi.lock);
    return ended;
}

int weft_pmi_fence(struct weft_meanwhile meanwhile, char *why, size_t len)
{
    bool ended = !begin_barrier();
    for (unsigned round = 0; !ended && !weft_boot_has_failed(WEFT_BOOT_ANYBODY);
         round += round < WEFT_ROUNDS_BEFORE_NAP) {
        if (meanwhile.call)
            meanwhile.call(meanwhile.arg);
        bool nap = !meanwhile.often || round >= WEFT_ROUNDS_BEFORE_NAP;
        if (!nap)
            sched_yield();
        ended = barrier_ended(!nap              ? 0
                              : meanwhile.often ? WEFT_NAP_WITH_PROGRESS
                                                : WEFT_NAP_WITHOUT);
    }
    if (!pmi.lost && ended)
        return 0;
    snprintf(why, len,
             "this rank could not meet the other ranks because %s%s%s (PMI-1): look for the first "
             "error of the job",
             pmi.lost ? "the connection to " : "a rank has died", pmi.lost ? pmi.launcher : "",
             pmi.lost ? " is lost" : "");
    return -1;
}

/* ---- Starting further processes */

#define PARENT (-1) /* in keys, instead of a rank: values that a spawner gives to its children */

/* A spawn that waits for its reply, and that the caller has freed. */
static struct weft_pmi_spawn abandoned;

void weft_pmi_spawn_values(FILE *commands, const char *key, const char *value)
{
    char name[64], text[COMMAND_BYTES];
    size_t size = strlen(value) + 1, done = 0;
    int n = 0;
    do {
        done = fragment_text(text, (const unsigned char *)value, size, done);
        fragment_key(name, sizeof name, PARENT, key, (size_t)n);
        fprintf(commands, "preput_key_%d=%s\npreput_val_%d=%s\n", n, name, n, text);
        n++;
    } while (done < size);
    fprintf(commands, "preput_num=%d\n", n);
}

bool weft_pmi_parent_value(const char *key, char *value, size_t size)
{
    size_t found = size;
    if (number_of("PMI_SPAWNED") < 1)
        return false;
    pthread_mutex_lock(&pmi.lock);
    bool ok = fetch(PARENT, key, (unsigned char *)value, &found) && found > 0 && found <= size &&
              !value[found - 1];
    pthread_mutex_unlock(&pmi.lock);
    return ok;
}

void weft_pmi_spawn_test(struct weft_pmi_spawn *spawn)
{
    pthread_mutex_lock(&pmi.lock);
    if (spawn->result == WEFT_PMI_SPAWN_UNSENT && !pmi.spawn && send_text(spawn->commands)) {
        spawn->result = WEFT_PMI_SPAWN_SENT;
        pmi.spawn = spawn;
    }
    if (pmi.spawn && read_line(0) && !take_late_reply())
        pmi.lost = true;
    if (pmi.lost && spawn->result < WEFT_PMI_SPAWNED)
        spawn->result = WEFT_PMI_SPAWN_LOST;
    pthread_mutex_unlock(&pmi.lock);
}

void weft_pmi_spawn_abandon(const struct weft_pmi_spawn *spawn)
{
    pthread_mutex_lock(&pmi.lock);
    if (pmi.spawn == spawn)
        pmi.spawn = &abandoned;
    pthread_mutex_unlock(&pmi.lock);
}
