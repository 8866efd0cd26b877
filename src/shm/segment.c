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
#include "core/base/error.h"
#include "core/base/settings.h"
#include "core/base/memory.h"
#include "core/message/process.h"
#include "gpu/gpu.h"
#include "shm/shm_internal.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

struct weft_shm weft_shm;

static const char record_key[] = "shm";
enum { FETCH_SECONDS = 60, PAGE = 4096 };

static uint64_t nonce; /* of the segment; others read it here to try whether they can */

/* ---- Layout */

static int contact_words(int members)
{
    return (members + WEFT_SHM_CONTACT_WORD - 1) / WEFT_SHM_CONTACT_WORD;
}

static size_t member_bytes(int members)
{
    size_t contacts = (size_t)contact_words(members) * WEFT_LOCKS_MAX * sizeof(uint64_t);
    return sizeof(struct weft_shm_member) + weft_segment_round_up(contacts, WEFT_RING_LINE);
}

static size_t rings_begin(int members)
{
    size_t head = weft_segment_round_up(sizeof(struct weft_shm_head), WEFT_RING_LINE);
    return weft_segment_round_up(head + (size_t)members * member_bytes(members), PAGE);
}

/* Rings are apart by full pages and a few lines, so that the lines that a rank polls do not all
 * fall into the same set of its cache. */
static size_t ring_stride(struct weft_ring_geometry shape)
{
    return weft_segment_round_up(sizeof(struct weft_shm_share) + weft_ring_bytes(shape), PAGE) +
           PAGE;
}

/* The rings of VCI number 0 come first. */
static size_t ring_offset(int from, int to, unsigned vci_number)
{
    size_t members = (size_t)weft_shm.members;
    size_t number = (vci_number * members + (size_t)to) * members + (size_t)from;
    return rings_begin(weft_shm.members) + number * ring_stride(weft_shm.shape) +
           number % (PAGE / WEFT_RING_LINE) * WEFT_RING_LINE;
}

static size_t segment_bytes(void)
{
    return weft_segment_round_up(ring_offset(0, 0, weft_shm.rings), PAGE) + PAGE;
}

/* The more ranks, the smaller each ring: a rank connected to all others has two with each. A longer
 * data area than 256 KiB moves nothing faster but the bytes of staged messages, by 3 %, and a
 * program's first messages take longer, because they use its pages for the first time (500 steps of
 * examples/heat2d with 4 ranks take 0.03 s, through 1 MiB 0.06). Copies of device memory need long
 * pieces. */
static struct weft_ring_geometry choose_shape(int members)
{
    if (members <= 16 && weft_gpu_enabled)
        return (struct weft_ring_geometry){256, 1 << 20};
    if (members <= 4)
        return (struct weft_ring_geometry){256, 256 << 10};
    if (members <= 16)
        return (struct weft_ring_geometry){128, 64 << 10};
    return (struct weft_ring_geometry){64, 32 << 10};
}

struct weft_shm_member *weft_shm_member(int index)
{
    size_t head = weft_segment_round_up(sizeof(struct weft_shm_head), WEFT_RING_LINE);
    return (struct weft_shm_member *)((char *)weft_shm.head + head +
                                      (size_t)index * member_bytes(weft_shm.members));
}

struct weft_shm_share *weft_shm_share(int from, int to, unsigned vci_number)
{
    return (struct weft_shm_share *)((char *)weft_shm.head + ring_offset(from, to, vci_number));
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

/* The ranks of this node as job->local_peers[*first] and the following. Returns how many. */
static int neighbours(const struct weft_job *job, int *first)
{
    int pretended = weft_settings_test_node(), n = job->local_size;
    *first = 0;
    if (!pretended)
        return n;
    *first = job->local_rank / pretended * pretended;
    return n - *first < pretended ? n - *first : pretended;
}

/* Valgrind loads libraries of its own into the program by this variable. */
static bool in_valgrind(void)
{
    const char *preloads = getenv("LD_PRELOAD");
    return preloads && strstr(preloads, "/vgpreload_");
}

static bool wants_single_copy(void)
{
    return weft_settings.shm_copy != WEFT_SHM_COPY_STAGED;
}

/* ---- Making and joining */

/* Returns 0, or an errno. */
static int make_segment(struct weft_segment_record *record)
{
    weft_shm.shape = choose_shape(weft_shm.members);
    int failed = weft_segment_make(segment_bytes(), &weft_shm.segment, record);
    if (failed)
        return failed;
    nonce = record->nonce;
    weft_shm.head = (struct weft_shm_head *)weft_shm.segment.at;
    weft_shm.head->version = WEFT_SHM_VERSION;
    weft_shm.head->members = (uint32_t)weft_shm.members;
    weft_shm.head->shape = weft_shm.shape;
    weft_shm.head->rings = weft_shm.rings;
    weft_shm.head->vci_numbers = weft_shm.vci_numbers;
    return 0;
}

/* Maps the segment of a record. Returns 0, or an errno. */
static int join(const struct weft_segment_record *record)
{
    int failed = weft_segment_join(record, &weft_shm.segment);
    if (failed)
        return failed;
    const struct weft_shm_head *head = weft_shm.head = (struct weft_shm_head *)weft_shm.segment.at;
    if (head->version != WEFT_SHM_VERSION || head->members != (uint32_t)weft_shm.members ||
        head->rings - 1 >= WEFT_LOCKS_MAX || head->vci_numbers - 1 >= head->rings)
        return ENOENT;
    nonce = record->nonce;
    weft_shm.shape = head->shape;
    weft_shm.rings = head->rings;
    weft_shm.vci_numbers = head->vci_numbers;
    return 0;
}

static void leave(void)
{
    weft_segment_unmap(&weft_shm.segment);
    free(weft_shm.world);
    free(weft_shm.accepted);
    for (int i = 0; i < WEFT_LOCKS_MAX; i++)
        free(weft_shm.vcis[i].active);
    weft_shm = (struct weft_shm){.segment = {.fd = -1}};
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

/* The maker: makes the segment and publishes its record, also if that failed. Returns 0 or -1. */
static int make_and_publish(bool at_once)
{
    char why[512];
    struct weft_segment_record record = {0};
    int failed = make_segment(&record);
    if (failed)
        explain("no shared memory of %zu bytes could be made: %s", segment_bytes(),
                strerror(failed));
    if (!(at_once ? weft_boot_publish : weft_boot_put)(record_key, &record, sizeof record, why,
                                                       sizeof why))
        return failed ? -1 : 0;
    explain("%s", why);
    return -1;
}

/* All others: find the segment. Returns 0 or -1. */
static int find_and_join(void)
{
    char why[512];
    struct weft_segment_record record = {0};
    int maker = weft_shm.world[0], failed;
    size_t bytes = sizeof record;
    if (weft_boot_fetch(maker, record_key, &record, &bytes, FETCH_SECONDS, why, sizeof why))
        explain("%s", why);
    else if (bytes != sizeof record || !record.bytes)
        explain("rank %d could make no shared memory", maker);
    else if ((failed = join(&record)) != 0)
        explain("the shared memory that rank %d has made cannot be opened: %s", maker,
                strerror(failed));
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
    for (int i = 0; i < WEFT_SHM_CORE_WORDS; i++)
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
}

bool weft_shm_expects_all(const struct weft_job *job)
{
    int first;
    return weft_settings.shm && job->one_node && neighbours(job, &first) == job->size;
}

void weft_shm_publish(const struct weft_job *job, unsigned vci_numbers)
{
    int first;
    weft_shm.rings = (unsigned)weft_settings.vcis; /* pages that are not used take no memory */
    weft_shm.vci_numbers = vci_numbers;
    weft_shm.segment = (struct weft_segment){.fd = -1, .small_pages = true};
    weft_shm.members = neighbours(job, &first);
    if (!weft_settings.shm || weft_shm.members < 2)
        return;
    size_t n = (size_t)weft_shm.members;
    weft_shm.contact_words = contact_words(weft_shm.members);
    weft_shm.world = weft_memory_get(n, sizeof *weft_shm.world, "a table of the node's ranks");
    weft_shm.accepted = weft_memory_get((size_t)weft_shm.contact_words * WEFT_LOCKS_MAX,
                                        sizeof *weft_shm.accepted, "a table of the node's ranks");
    memcpy(weft_shm.world, job->local_peers + first, n * sizeof *weft_shm.world);
    weft_shm.self = weft_shm_index(job->rank);
    if (weft_shm.self == 0 && make_and_publish(weft_shm_expects_all(job)))
        leave();
}

bool weft_shm_join(const struct weft_job *job)
{
    if (!weft_shm.world)
        return false;
    if (weft_shm.self != 0 && find_and_join()) {
        leave();
        return false;
    }
    if (wants_single_copy()) /* required where Yama restricts ptrace */
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    become_member(job);
    weft_shm.open = true;
    return true;
}

/* ---- After the fence */

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
    int index = weft_shm_index(world);
    return index >= 0 && index != weft_shm.self && is_attached(index);
}

bool weft_shm_is_first(void)
{
    return weft_shm.self == 0;
}

uint64_t weft_shm_hand_down(uint64_t number)
{
    enum { PAUSE = 100 /* us */ };
    uint64_t before = weft_shm.handed_down;              /* 0 at first */
    weft_assert(weft_shm.self != 0 || number != before); /* else all wait for ever */
    if (weft_shm.self == 0)
        atomic_store(&weft_shm.head->handed_down, number);
    while ((number = atomic_load(&weft_shm.head->handed_down)) == before)
        usleep(PAUSE);
    return weft_shm.handed_down = number;
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
    size_t most = weft_ring_data_max(weft_shm.shape), wanted = (size_t)weft_settings.shm_eager;
    enum { GOOD = 32 << 10 };
    if (!wanted)
        wanted = GOOD;
    return wanted < most ? wanted : most;
}

/* The length of a piece of a pushed message: long enough to cost little, short enough for both ends
 * to copy in parallel.
 */
static size_t choose_piece(size_t good)
{
    size_t most = weft_ring_data_max(weft_shm.shape);
    return most < good ? most : good;
}

void weft_shm_begin(void)
{
    if (weft_shm.rings < weft.vci_numbers)
        weft_fatal(
            MPI_ERR_OTHER,
            "the ranks of this node have rings for %u VCIs and rank 0 has %u; give all ranks "
            "the same WEFT_VCIS",
            weft_shm.rings, weft.vci_numbers);
    weft_shm_open_vcis();
    int refused = wants_single_copy() ? try_to_read() : 0;
    weft_shm.single_copy = wants_single_copy() && !refused;
    weft_shm.eager_limit = choose_eager_limit();
    weft_shm.piece = choose_piece(32 << 10);
    weft_shm.short_piece = choose_piece(8 << 10);
    weft_shm.core_each = weft_shm.members <= weft_shm_cores();
    weft_shm.in_valgrind = in_valgrind();
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

void weft_shm_close(void)
{
    weft_shm_free_links();
    leave();
}
