// SPDX-License-Identifier: BSD-3-Clause
/*
 * tables: what a rank holds in memory for each other rank before it talks to any, and what it
 * exchanges with them through the launcher when MPI starts.
 *
 *     tables [--check] [RANKS]      (100000)
 *
 * MPI starts here as rank 0 of jobs of 2 and of RANKS ranks that are not there: a bootstrap of this
 * file's own (boot.h) tells of them and of nothing else. Everything above it is the library: its
 * tables, the communicators, the network with its provider. What the greater job has more, divided
 * by the ranks it has more, is the state per peer. With --check, more than 8 bytes of it fail, but
 * for what a large table takes to end with a page, and so does a start that publishes more than one
 * value or has more than one fence more in the greater job, or that fetches more values than twice
 * the square root of the ranks, and some. The launcher collects the values of all ranks; a fetch
 * after the fence finds its value in the process: the first rank of a node compares the networks of
 * all nodes, which are as many as ranks here, and leads a group of them.
 *
 * What the real bootstrap keeps is not in the figure: src/pmix has 4 bytes a rank for the map of
 * the nodes, and 5 for reports of deaths, which no one touches before there are any; PMIx keeps
 * what it likes.
 *
 * Invariant: each job is a process of its own that ends without a word to the others.
 */
#include "core/message/process.h"
#include "mpi.h"
#include "pmix/boot.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DEFAULT_RANKS = 100000,
    FEW = 256,           /* ranks: libfabric's queues grow with a job up to so many */
    BAR = 8,             /* bytes for each rank */
    SUMMARY_BYTES = 400, /* more that a rank may publish */
    FETCHES_MORE = 10    /* fetches: beyond 2 sqrt(ranks) */
};

struct memory {
    double heap, resident; /* bytes */
    struct {
        int values, fences, fetches;
        size_t bytes; /* of the values that this rank publishes */
    } start;
};

static struct memory used;
static int ranks;
static int32_t *nodes; /* the rank itself for each rank */
static const int alone[1] = {0};

/* What this node has put for the others, and so what all have. */
struct shared {
    const char *key;
    char bytes[8192];
    size_t size;
};

static struct shared shared[] = {{.key = "weft.networks"}, {.key = "weft.networks.2"}};

static struct shared *shared_by(const char *key)
{
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strcmp(shared[i].key, key) == 0)
            return &shared[i];
    return NULL;
}

/* ---- the bootstrap of a job that is not there ------------------------------------------------ */

int weft_boot_init(struct weft_job *job, bool child_alone, char *why, size_t len)
{
    (void)child_alone, (void)why, (void)len;
    *job = (struct weft_job){
        .size = ranks,
        .local_size = 1,
        .universe = -1,
        .local_peers = alone,
        .host = "here",
        .nspace = "tables",
        .launcher = "bench/tables",
    };
    return 0;
}

int weft_boot_publish(const char *key, const void *bytes, size_t size, char *why, size_t len)
{
    return weft_boot_put(key, bytes, size, why, len);
}

int weft_boot_put(const char *key, const void *bytes, size_t size, char *why, size_t len)
{
    (void)why, (void)len;
    used.start.values++;
    used.start.bytes += size;
    struct shared *value = shared_by(key);
    if (value && size <= sizeof value->bytes)
        memcpy(value->bytes, bytes, value->size = size);
    return 0;
}

int weft_boot_fence(void (*progress)(void *), void *arg, char *why, size_t len)
{
    (void)progress, (void)arg, (void)why, (void)len;
    used.start.fences++;
    return 0;
}

int weft_boot_fence_idle(void (*report)(void *), void *arg, char *why, size_t len)
{
    (void)report, (void)arg, (void)why, (void)len;
    used.start.fences++;
    return 0;
}

int weft_boot_fetch(int rank, const char *key, void *value, size_t *bytes, int timeout_s, char *why,
                    size_t len)
{
    (void)timeout_s;
    used.start.fetches++;
    const struct shared *found = shared_by(key);
    if (found && found->size && *bytes >= found->size) {
        memcpy(value, found->bytes, *bytes = found->size);
        return 0;
    }
    snprintf(why, len, "rank %d is not there: its \"%s\" was asked for before any contact", rank,
             key);
    return -1;
}

bool weft_boot_key(uint32_t *key)
{
    (void)key;
    return false;
}

char *weft_boot_host(int rank, char *buf, size_t len)
{
    snprintf(buf, len, "nowhere%d", rank);
    return buf;
}

const int32_t *weft_boot_nodes(void)
{
    return nodes;
}

bool weft_boot_fetch_waits(void)
{
    return true;
}

int weft_boot_psets(const struct weft_boot_pset **sets)
{
    *sets = NULL;
    return 0;
}

bool weft_boot_has_failed(int rank)
{
    (void)rank;
    return false;
}

void weft_boot_report_failure(int rank)
{
    (void)rank;
}
bool weft_boot_failure_at(int index, int *rank)
{
    (void)index, (void)rank;
    return false;
}

bool weft_boot_next_failure(int *rank)
{
    (void)rank;
    return false;
}

void weft_boot_forked(void)
{
}

void weft_boot_abort(int code, const char *message)
{
    fprintf(stderr, "tables: %s\n", message);
    _exit(code ? code : 1);
}

int weft_boot_finalize(char *why, size_t len)
{
    (void)why, (void)len;
    return 0;
}

/* Calls that nothing here makes: with them the linker takes no object of src/pmix. */
bool weft_boot_is_alone(void)
{
    return false;
}

int weft_boot_expected_size(void)
{
    return ranks;
}

enum weft_boot_name weft_boot_name_publish(const char *name, const char *value)
{
    (void)name, (void)value;
    return WEFT_BOOT_NAME_UNSERVED;
}

enum weft_boot_name weft_boot_name_lookup(const char *name, char *value, size_t size)
{
    (void)name, (void)value, (void)size;
    return WEFT_BOOT_NAME_UNSERVED;
}

enum weft_boot_name weft_boot_name_unpublish(const char *name)
{
    (void)name;
    return WEFT_BOOT_NAME_UNSERVED;
}

struct weft_boot_spawn *weft_boot_spawn_start(const struct weft_boot_app *apps, int n,
                                              const char *variable, enum weft_boot_spawned *result,
                                              char *why, size_t len)
{
    (void)apps, (void)n, (void)variable, (void)why, (void)len;
    *result = WEFT_BOOT_SPAWN_UNSUPPORTED;
    return NULL;
}

enum weft_boot_spawned weft_boot_spawn_test(struct weft_boot_spawn *spawn, char *why, size_t len)
{
    (void)spawn, (void)why, (void)len;
    return WEFT_BOOT_SPAWN_FAILED;
}

void weft_boot_spawn_end(struct weft_boot_spawn *spawn)
{
    (void)spawn;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void look(void)
{
    struct mallinfo2 heap = mallinfo2();
    long pages = 0, all = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2) {
        fprintf(stderr, "tables: cannot read /proc/self/statm\n");
        _exit(1);
    }
    fclose(f);
    used.heap = (double)heap.uordblks + (double)heap.hblkhd;
    used.resident = (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* What a job of so many ranks takes, in a process of its own. */
static struct memory measure(int size)
{
    int ends[2], status;
    if (pipe(ends) != 0)
        exit(1);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        ranks = size;
        used = (struct memory){0};
        nodes = malloc((size_t)ranks * sizeof *nodes);
        for (int rank = 0; nodes && rank < ranks; rank++)
            nodes[rank] = rank;
        look();
        struct memory before = used;
        if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
            _exit(1);
        look();
        used.heap -= before.heap;
        used.resident -= before.resident;
        _exit(write(ends[1], &used, sizeof used) != (ssize_t)sizeof used);
    }
    close(ends[1]);
    bool told = read(ends[0], &used, sizeof used) == (ssize_t)sizeof used;
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0 || !told) {
        fprintf(stderr, "tables: a job of %d ranks could not start; why is above\n", size);
        exit(1);
    }
    return used;
}

int main(int argc, char **argv)
{
    bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
    argc -= check;
    argv += check;
    int many = argc > 1 ? atoi(argv[1]) : DEFAULT_RANKS;
    if (argc > 2 || many <= FEW) {
        fprintf(stderr, "usage: tables [--check] [RANKS], more than %d\n", FEW);
        return 2;
    }
    struct memory small = measure(FEW), great = measure(many);
    double heap = (great.heap - small.heap) / (many - FEW);
    double resident = (great.resident - small.resident) / (many - FEW);
    printf("# Memory after MPI_Init, before first contact: KiB, and bytes per peer\n");
    printf("# %-8s %12s %12s\n", "ranks", "allocated", "resident");
    printf("%-10d %12.0f %12.0f\n", FEW, small.heap / 1024, small.resident / 1024);
    printf("%-10d %12.0f %12.0f\n", many, great.heap / 1024, great.resident / 1024);
    printf("per peer   %12.2f %12.2f\n", heap, resident);
    printf("# What a rank exchanges through the launcher when MPI starts\n"
           "# %-8s %12s %12s %12s %12s\n",
           "ranks", "values", "bytes", "fences", "fetches");
    printf("%-10d %12d %12zu %12d %12d\n", FEW, small.start.values, small.start.bytes,
           small.start.fences, small.start.fetches);
    printf("%-10d %12d %12zu %12d %12d\n", many, great.start.values, great.start.bytes,
           great.start.fences, great.start.fetches);
    if (!check)
        return 0;
    int root = 1;
    while (root * root < many)
        root++;
    if (great.start.values > small.start.values + 1 ||
        great.start.bytes > small.start.bytes + SUMMARY_BYTES ||
        great.start.fences > small.start.fences + 1 ||
        great.start.fetches > 2 * root + FETCHES_MORE) {
        printf("# bar of the start, a value and a fence more than %d ranks have, %d fetches: "
               "MISSED\n",
               FEW, 2 * root + FETCHES_MORE);
        return 1;
    }
    double most = BAR * (double)(many - FEW) + (double)sysconf(_SC_PAGESIZE);
    bool met = great.heap - small.heap <= most;
    printf("# bar %d bytes: %s\n", BAR, met ? "met" : "MISSED");
    return !met;
}
