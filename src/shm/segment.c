// SPDX-License-Identifier: BSD-3-Clause
/*
 * The segment: made by the lowest rank of the node, found by the others, left by all.
 *
 * Invariants:
 *  - Its sizes are written once, by the maker, before it is published. Its memory begins as
 *    zero bytes, which is what empty rings and absent members look like.
 *  - It has no name: the maker's file descriptor and the mappings are all that keeps it.
 *  - Whether a member is attached is settled at the fence of MPI_Init, and never changes again.
 */
#include "core/object/error.h"
#include "core/object/settings.h"
#include "core/process/weft.h"
#include "shm/shm_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct weft_shm weft_shm;

static const char card_key[] = "shm";
enum { FETCH_SECONDS = 60, PAGE = 4096, STAGE_STRIDE = WEFT_STAGE_SLOTS * WEFT_STAGE_PIECE };

/* Where the segment is; bytes is 0 if its maker could not make it. */
struct card {
    uint64_t nonce, bytes;
    int32_t pid, fd;
};

static uint64_t nonce; /* of the segment; others read it here to try whether they can */

/* ---- Layout */

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static int contact_words(int members)
{
    return (members + WEFT_SHM_CONTACT_WORD - 1) / WEFT_SHM_CONTACT_WORD;
}

static size_t member_bytes(int members)
{
    size_t contacts = (size_t)contact_words(members) * WEFT_LOCKS_MAX * sizeof(uint64_t);
    return sizeof(struct weft_shm_member) + round_up(contacts, WEFT_RING_LINE);
}

static size_t rings_begin(int members)
{
    size_t head = round_up(sizeof(struct weft_shm_head), WEFT_RING_LINE);
    return round_up(head + (size_t)members * member_bytes(members), PAGE);
}

/* Rings are apart by whole pages and a few lines, so that the lines that a rank polls do not all
 * fall into the same set of its cache. */
static size_t ring_stride(struct weft_ring_geometry shape)
{
    return round_up(sizeof(struct weft_shm_share) + weft_ring_bytes(shape), PAGE) + PAGE;
}

static size_t ring_offset(int from, int to)
{
    size_t number = (size_t)to * (size_t)weft_shm.members + (size_t)from;
    return rings_begin(weft_shm.members) + number * ring_stride(weft_shm.shape) +
           number % (PAGE / WEFT_RING_LINE) * WEFT_RING_LINE;
}

static size_t pairs(void)
{
    return (size_t)weft_shm.members * (size_t)weft_shm.members;
}

static size_t stages_begin(void)
{
    return rings_begin(weft_shm.members) + pairs() * ring_stride(weft_shm.shape);
}

static size_t extra_begin(void)
{
    return stages_begin() + (size_t)weft_shm.members * STAGE_STRIDE;
}

static size_t extra_offset(int from, int to, unsigned deal)
{
    size_t number = (size_t)to * (size_t)weft_shm.members + (size_t)from;
    number = number * (weft_shm.rings - 1) + deal - 1;
    return extra_begin() + number * ring_stride(weft_shm.extra_shape) +
           number % (PAGE / WEFT_RING_LINE) * WEFT_RING_LINE;
}

static size_t segment_bytes(void)
{
    return extra_begin() + pairs() * (weft_shm.rings - 1) * ring_stride(weft_shm.extra_shape);
}

/* The more ranks, the smaller each ring: a rank connected to all others has two with each. Where
 * there are few, the data area is as large as a core's own cache: when the writer reuses a line, it
 * has left the reader's cache, and those that another core still has are the slowest to write
 * (1 MiB through 128 KiB took 190 us, through 1 MiB 48). */
static struct weft_ring_geometry choose_shape(int members)
{
    if (members <= 4)
        return (struct weft_ring_geometry){256, 1 << 20};
    if (members <= 16)
        return (struct weft_ring_geometry){128, 64 << 10};
    return (struct weft_ring_geometry){64, 32 << 10};
}

/* Those of the other deals have as many lines, and a data area that leaves the eager limit as it
 * is. */
static struct weft_ring_geometry extra_shape(struct weft_ring_geometry shape)
{
    enum { MOST = 256 << 10 };
    return (struct weft_ring_geometry){shape.lines, shape.data < MOST ? shape.data : MOST};
}

struct weft_shm_member *weft_shm_member(int index)
{
    size_t head = round_up(sizeof(struct weft_shm_head), WEFT_RING_LINE);
    return (struct weft_shm_member *)((char *)weft_shm.head + head +
                                      (size_t)index * member_bytes(weft_shm.members));
}

struct weft_shm_share *weft_shm_share(int from, int to, unsigned deal)
{
    size_t offset = deal ? extra_offset(from, to, deal) : ring_offset(from, to);
    return (struct weft_shm_share *)((char *)weft_shm.head + offset);
}

char *weft_shm_stage(int index)
{
    return (char *)weft_shm.head + stages_begin() + (size_t)index * STAGE_STRIDE;
}

/* ---- Who is on this node */

static int by_rank(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int weft_shm_index(int world)
{
    const int *found =
        bsearch(&world, weft_shm.world, (size_t)weft_shm.members, sizeof world, by_rank);
    return found ? (int)(found - weft_shm.world) : -1;
}

/* For tests: WEFT_TEST_NODE_SIZE=k pretends that a node ends after every k ranks. */
int weft_shm_pretended_node(void)
{
    const char *text = getenv("WEFT_TEST_NODE_SIZE");
    int size = text ? atoi(text) : 0;
    return size > 0 ? size : 0;
}

/* The ranks of this node as job->local_peers[*first] and the following. Returns how many. */
static int neighbours(const struct weft_job *job, int *first)
{
    int pretended = weft_shm_pretended_node(), n = job->local_size;
    *first = 0;
    if (!pretended)
        return n;
    *first = job->local_rank / pretended * pretended;
    return n - *first < pretended ? n - *first : pretended;
}

static bool wants_single_copy(void)
{
    return weft_settings.shm_copy == WEFT_SHM_COPY_AUTO;
}

/* ---- Making and joining */

static int map(int fd)
{
    void *memory =
        mmap(NULL, weft_shm.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    weft_shm.head = memory == MAP_FAILED ? NULL : memory;
    return weft_shm.head ? 0 : -1;
}

static int make(struct card *card)
{
    weft_shm.shape = choose_shape(weft_shm.members);
    weft_shm.extra_shape = extra_shape(weft_shm.shape);
    weft_shm.bytes = segment_bytes();
    weft_shm.fd = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (weft_shm.fd < 0 || ftruncate(weft_shm.fd, (off_t)weft_shm.bytes) || map(weft_shm.fd))
        return -1;
    fcntl(weft_shm.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return -1;
    weft_shm.head->nonce = nonce;
    weft_shm.head->version = WEFT_SHM_VERSION;
    weft_shm.head->members = (uint32_t)weft_shm.members;
    weft_shm.head->shape = weft_shm.shape;
    weft_shm.head->rings = weft_shm.rings;
    weft_shm.head->deals = weft_shm.deals;
    weft_shm.head->extra_shape = weft_shm.extra_shape;
    *card = (struct card){nonce, weft_shm.bytes, getpid(), weft_shm.fd};
    return 0;
}

/* Maps the segment of a card. Returns 0, or -1 with errno set. */
static int join(const struct card *card)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", card->pid, card->fd);
    weft_shm.fd = open(path, O_RDWR | O_CLOEXEC);
    if (weft_shm.fd < 0 || fstat(weft_shm.fd, &status))
        return -1;
    errno = ENOENT; /* another process has that number here: not the same PID namespace */
    if ((uint64_t)status.st_size != card->bytes)
        return -1;
    weft_shm.bytes = (size_t)card->bytes;
    if (map(weft_shm.fd))
        return -1;
    errno = ENOENT;
    if (weft_shm.head->nonce != card->nonce || weft_shm.head->version != WEFT_SHM_VERSION ||
        weft_shm.head->members != (uint32_t)weft_shm.members ||
        weft_shm.head->rings - 1 >= WEFT_LOCKS_MAX ||
        weft_shm.head->deals - 1 >= weft_shm.head->rings)
        return -1;
    nonce = card->nonce;
    weft_shm.shape = weft_shm.head->shape;
    weft_shm.extra_shape = weft_shm.head->extra_shape;
    weft_shm.rings = weft_shm.head->rings;
    weft_shm.deals = weft_shm.head->deals;
    return 0;
}

static void leave(void)
{
    if (weft_shm.head)
        munmap(weft_shm.head, weft_shm.bytes);
    if (weft_shm.fd >= 0)
        close(weft_shm.fd);
    free(weft_shm.world);
    free(weft_shm.accepted);
    for (int i = 0; i < WEFT_LOCKS_MAX; i++) {
        free(weft_shm.vcis[i].active);
        free(weft_shm.vcis[i].bounce);
    }
    weft_shm = (struct weft_shm){.fd = -1};
}

/* Reports why there is no segment, with WEFT_VERBOSE. */
__attribute__((format(printf, 1, 2))) WEFT_COLD static void explain(const char *format, ...)
{
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (weft_settings.verbose)
        weft_warn("%s; messages on this node go over the network. WEFT_SHM=0 does not try it", why);
}

/* The maker: makes the segment and publishes its card, also if that failed. Returns 0 or -1. */
static int make_and_publish(bool at_once)
{
    char why[512];
    struct card card = {0};
    int failed = make(&card);
    if (failed) {
        explain("no shared memory of %zu bytes could be made: %s", weft_shm.bytes, strerror(errno));
        card = (struct card){0};
    }
    if (!(at_once ? weft_boot_publish : weft_boot_put)(card_key, &card, sizeof card, why,
                                                       sizeof why))
        return failed;
    explain("%s", why);
    return -1;
}

/* All others: find the segment. Returns 0 or -1. */
static int find_and_join(void)
{
    char why[512];
    struct card card = {0};
    int maker = weft_shm.world[0];
    size_t bytes = sizeof card;
    if (weft_boot_fetch(maker, card_key, &card, &bytes, FETCH_SECONDS, why, sizeof why))
        explain("%s", why);
    else if (bytes != sizeof card || !card.bytes)
        explain("rank %d could make no shared memory", maker);
    else if (join(&card))
        explain("the shared memory that rank %d has made cannot be opened: %s", maker,
                strerror(errno));
    else
        return 0;
    return -1;
}

/* Adds the cores that this rank may run on to those of the node's ranks. */
static void publish_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            atomic_fetch_or(&weft_shm.head->cores[i / 64], UINT64_C(1) << i % 64);
}

int weft_shm_cores(void)
{
    int cores = 0;
    for (int i = 0; weft_shm.open && i < WEFT_SHM_CORE_WORDS; i++)
        cores += __builtin_popcountll(atomic_load(&weft_shm.head->cores[i]));
    return cores;
}

static void become_member(const struct weft_job *job)
{
    struct weft_shm_member *self = weft_shm_member(weft_shm.self);
    self->pid = getpid();
    self->world = job->rank;
    self->nonce_address = (uint64_t)(uintptr_t)&nonce;
    publish_cores();
    atomic_store_explicit(&self->attached, 1, memory_order_release);
    atomic_fetch_add(&weft_shm.head->attached, 1);
    weft_shm.contacts = self->contacts;
    weft_shm.stage = weft_shm_stage(weft_shm.self);
}

bool weft_shm_expects_all(const struct weft_job *job)
{
    int first;
    return weft_settings.shm && job->one_node && neighbours(job, &first) == job->size;
}

void weft_shm_offer(const struct weft_job *job, bool threads)
{
    int first;
    weft_shm.rings = (unsigned)weft_settings.vcis; /* pages that are not used take no memory */
    weft_shm.deals = threads ? weft_shm.rings : 1;
    weft_shm.fd = -1;
    weft_shm.members = neighbours(job, &first);
    if (!weft_settings.shm || weft_shm.members < 2)
        return;
    size_t n = (size_t)weft_shm.members;
    weft_shm.contact_words = contact_words(weft_shm.members);
    weft_shm.world = malloc(n * sizeof *weft_shm.world);
    weft_shm.accepted =
        calloc((size_t)weft_shm.contact_words * WEFT_LOCKS_MAX, sizeof *weft_shm.accepted);
    if (!weft_shm.world || !weft_shm.accepted)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a table of the %d ranks of this node",
                   weft_shm.members);
    memcpy(weft_shm.world, job->local_peers + first, n * sizeof *weft_shm.world);
    weft_shm.self = weft_shm_index(job->rank);
    if (weft_shm.self == 0 && make_and_publish(weft_shm_expects_all(job)))
        leave();
}

void weft_shm_open(const struct weft_job *job)
{
    if (!weft_shm.world)
        return;
    if (weft_shm.self != 0 && find_and_join()) {
        leave();
        return;
    }
    if (wants_single_copy()) /* required where Yama restricts ptrace */
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    become_member(job);
    weft_shm_open_sleep();
    weft_shm.open = true;
}

/* ---- After the fence */

unsigned weft_shm_rings(void)
{
    return weft_shm.rings;
}

unsigned weft_shm_deals(void)
{
    return weft_shm.deals;
}

bool weft_shm_is_open(void)
{
    return weft_shm.open;
}

static bool is_attached(int index)
{
    return atomic_load_explicit(&weft_shm_member(index)->attached, memory_order_acquire);
}

bool weft_shm_has_all(void)
{
    return weft_shm.open && atomic_load(&weft_shm.head->attached) == (uint32_t)weft_shm.members;
}

bool weft_shm_reaches(int world)
{
    int index = weft_shm.open ? weft_shm_index(world) : -1;
    return index >= 0 && index != weft_shm.self && is_attached(index);
}

/* Tries to read the memory of another member: 0, or an errno. */
static int try_to_read(void)
{
    int other = (weft_shm.self + 1) % weft_shm.members;
    while (!is_attached(other))
        other = (other + 1) % weft_shm.members;
    if (other == weft_shm.self)
        return ESRCH;
    const struct weft_shm_member *member = weft_shm_member(other);
    uint64_t seen = 0;
    struct iovec here = {&seen, sizeof seen};
    struct iovec there = {(void *)(uintptr_t)member->nonce_address, sizeof seen};
    ssize_t n = process_vm_readv(member->pid, &here, 1, &there, 1, 0);
    if (n != (ssize_t)sizeof seen)
        return n < 0 ? errno : EIO;
    return seen == nonce ? 0 : ESRCH;
}

static size_t choose_eager_limit(void)
{
    struct weft_ring_geometry least = weft.deals > 1 ? weft_shm.extra_shape : weft_shm.shape;
    size_t most = weft_ring_piece(least), wanted = (size_t)weft_settings.shm_eager;
    enum { GOOD = 32 << 10 };
    if (!wanted)
        wanted = GOOD;
    return wanted < most ? wanted : most;
}

/* Of a pushed message: long enough to cost little, short enough for both ends to copy in parallel.
 */
static size_t choose_piece(size_t good)
{
    size_t most = weft_ring_piece(weft_shm.shape);
    return most < good ? most : good;
}

void weft_shm_begin(void)
{
    if (!weft_shm.open)
        return;
    int refused = wants_single_copy() ? try_to_read() : 0;
    weft_shm.single_copy = wants_single_copy() && !refused;
    weft_shm.eager_limit = choose_eager_limit();
    weft_shm.piece = choose_piece(32 << 10);
    weft_shm.short_piece = choose_piece(8 << 10);
    weft_shm.early = weft_shm.members <= weft_shm_cores();
    if (weft_settings.verbose < 2 && !(weft_settings.verbose && weft_shm.self == 0))
        return;
    weft_warn("shared memory with %u ranks of this node on %d %s, up to %zu bytes by two copies, "
              "more by %s",
              atomic_load(&weft_shm.head->attached), weft_shm_cores(),
              weft_shm_cores() == 1 ? "core" : "cores", weft_shm.eager_limit,
              weft_shm.single_copy ? "one (process_vm_readv)" : "pieces of two");
    if (refused)
        weft_warn(
            "reading other ranks' memory is refused (process_vm_readv: %s), long messages are "
            "copied twice; in a container, allow the capability SYS_PTRACE",
            strerror(refused));
}

size_t weft_shm_bytes(void)
{
    return weft_shm.open ? weft_shm.bytes : 0;
}

size_t weft_shm_eager_limit(void)
{
    return weft_shm.open ? weft_shm.eager_limit : 0;
}

void weft_shm_close(void)
{
    if (!weft_shm.open)
        return;
    weft_shm_free_links();
    weft_shm_free_controls();
    leave();
}
