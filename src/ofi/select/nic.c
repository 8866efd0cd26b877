// SPDX-License-Identifier: BSD-3-Clause
/*
 * The choice among equal NICs. The invariant is in the header.
 *
 * A rank has no access to the bindings of the others. If all NICs are equally near, as for ranks
 * without a binding, the turn of a rank is its number among the ranks of the node, if the launcher
 * gives it. Else ranks take turns as they start: each binds the first free one of a row of abstract
 * socket names, and keeps it until all have chosen. That needs no shared memory, which the ranks do
 * not have yet when they open their endpoints, and the kernel releases the name when a rank dies.
 */
#include "ofi/select/nic.h"

#include "core/base/abstract_name.h"
#include "core/base/assert.h"
#include "core/base/hash.h"
#include "ofi/select/provider_score.h"
#include "ofi/select/sysfs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rank on a machine with more NUMA nodes passes for one without a binding. */
enum { NUMA_MAX = 64 };

struct nic {
    const char *name; /* the domain, "mlx5_0" or "rdmap16s27-rdm", or the interface */
    size_t score;     /* its index */
    uint64_t bus;     /* weft_nic_bus, or WEFT_NIC_NO_BUS */
    int distance;     /* from the rank; INT_MAX: unknown */
};

/* The NUMA nodes as a rank sees them. */
struct locality {
    bool bound;             /* to some of the nodes that have cores */
    int distance[NUMA_MAX]; /* from the nearest of them to each node; INT_MAX: unknown */
};

/* The PCI address of the adapter or interface of this name, by its device's link in sysfs, whose
 * target ends in "/0000:3b:00.1". */
static uint64_t find_bus(const char *sysfs, const char *name)
{
    static const char *const classes[] = {"infiniband", "cxi", "net"};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        char path[PATH_MAX], base[64];
        unsigned domain, bus, device, function;
        snprintf(path, sizeof path, "%s/class/%s/%s/device", sysfs, classes[i], name);
        weft_sysfs_link(path, base, sizeof base);
        if (sscanf(base, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4)
            return weft_nic_bus(domain, bus, device, function);
    }
    return WEFT_NIC_NO_BUS;
}

/* The NUMA node of a PCI device, or -1. */
static int find_node(const char *sysfs, uint64_t bus)
{
    char path[PATH_MAX], line[32];
    snprintf(path, sizeof path, "%s/bus/pci/devices/%04x:%02x:%02x.%x/numa_node", sysfs,
             (unsigned)(bus >> 24), (unsigned)(bus >> 16 & 0xff), (unsigned)(bus >> 8 & 0xff),
             (unsigned)(bus & 0xff));
    return bus != WEFT_NIC_NO_BUS && *weft_sysfs_line(path, line, sizeof line) ? atoi(line) : -1;
}

/* Reads the cores of a NUMA node, "0-3,8-11". True if there are any; *ours: one is in the set. */
static bool read_cores(const char *path, const cpu_set_t *cores, bool *ours)
{
    char line[4096], *at = line;
    bool any = false;
    *ours = false;
    if (!*weft_sysfs_line(path, line, sizeof line))
        return false;
    while (*at >= '0' && *at <= '9') {
        unsigned long first = strtoul(at, &at, 10), last = first;
        if (*at == '-')
            last = strtoul(at + 1, &at, 10);
        for (unsigned long core = first; core <= last && core < CPU_SETSIZE; core++)
            *ours |= CPU_ISSET(core, cores) != 0;
        any = true;
        at += *at == ',';
    }
    return any;
}

/* Lowers the distances to those from one node. Its line has a number for each node that exists. */
static void add_distances(const char *path, const int *nodes, int count, struct locality *locality)
{
    char line[1024], *at = line;
    if (!*weft_sysfs_line(path, line, sizeof line))
        return;
    for (int i = 0; i < count; i++) {
        char *end;
        long distance = strtol(at, &end, 10);
        if (end == at)
            return;
        at = end;
        if (distance >= 0 && distance < locality->distance[nodes[i]])
            locality->distance[nodes[i]] = (int)distance;
    }
}

static void read_locality(const struct weft_nic_rank *rank, struct locality *locality)
{
    char path[PATH_MAX];
    int nodes[NUMA_MAX], count = 0;
    bool ours;
    locality->bound = false;
    for (int node = 0; node < NUMA_MAX; node++) {
        locality->distance[node] = INT_MAX;
        snprintf(path, sizeof path, "%s/devices/system/node/node%d", rank->sysfs, node);
        if (access(path, F_OK) == 0)
            nodes[count++] = node;
    }
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist", rank->sysfs, nodes[i]);
        if (!read_cores(path, &rank->cores, &ours))
            continue;
        locality->bound |= !ours;
        if (!ours)
            continue;
        locality->distance[nodes[i]] = 0;
        snprintf(path, sizeof path, "%s/devices/system/node/node%d/distance", rank->sysfs,
                 nodes[i]);
        add_distances(path, nodes, count, locality);
    }
}

/* Describes the NICs that the ranks share, by PCI address; those without one are last, by name.
 * Returns how many. */
static size_t read_nics(const struct weft_nic_rank *rank, const struct weft_score *scores,
                        size_t count, struct nic *nics)
{
    struct locality locality;
    size_t n = 0;
    read_locality(rank, &locality);
    for (size_t i = 0; i < count && n < WEFT_NIC_MAX; i++) {
        const struct weft_candidate *candidate = scores[i].candidate;
        struct nic nic = {.name = candidate->domain, .score = i, .bus = candidate->bus};
        if (!scores[i].shares)
            continue;
        if (nic.bus == WEFT_NIC_NO_BUS)
            nic.bus = find_bus(rank->sysfs, nic.name);
        int node = find_node(rank->sysfs, nic.bus);
        nic.distance = node >= 0 && node < NUMA_MAX ? locality.distance[node] : INT_MAX;
        if (!locality.bound)
            nic.distance = 0;
        size_t at = n++;
        for (; at > 0 && (nic.bus < nics[at - 1].bus ||
                          (nic.bus == nics[at - 1].bus && strcmp(nic.name, nics[at - 1].name) < 0));
             at--)
            nics[at] = nics[at - 1];
        nics[at] = nic;
    }
    return n;
}

/* Sorts by distance, and else keeps the order. Returns how many are nearest. */
static size_t sort_by_distance(struct nic *nics, size_t count)
{
    size_t nearest = 1;
    weft_assert(count > 0);
    for (size_t i = 1; i < count; i++) {
        struct nic nic = nics[i];
        size_t at = i;
        for (; at > 0 && nic.distance < nics[at - 1].distance; at--)
            nics[at] = nics[at - 1];
        nics[at] = nic;
    }
    while (nearest < count && nics[nearest].distance == nics[0].distance)
        nearest++;
    return nearest;
}

/* Marks the NICs that the rank reads long messages through beside its own, if the ranks are fewer
 * than NICs: those that it would be the next to take if there were more turns, and for a rank that
 * is alone also those farther away. */
static void mark_rails(int most, const struct weft_nic_rank *rank, struct weft_score *scores,
                       const struct nic *nics, size_t nearest, size_t all, size_t taken)
{
    weft_assert(taken < nearest && nearest <= all);
    size_t each = rank->local_rank < 0 ? 1 : all / (size_t)rank->local_size;
    size_t step = each > 1 && nearest > each ? nearest / each : 1, end = nearest;
    if (each > 1 && rank->local_size == 1)
        end = all;
    int rails = 0;
    for (size_t at = taken + step; at < end + taken; at += step)
        if (rails + 1 < most && (size_t)rails + 1 < each)
            scores[nics[at % end].score].rail = ++rails;
}

static int held = -1;

void weft_nic_end_turn(void)
{
    if (held >= 0)
        close(held);
    held = -1;
}

/* A number below local_size that no other rank of the node takes for these NICs; -1: it cannot be
 * had. */
static int take_turn(const struct weft_nic_rank *rank, const struct nic *nics, size_t count)
{
    uint64_t group = weft_hash_text(rank->job);
    for (size_t i = 0; i < count; i++)
        group = weft_hash_bytes(group, nics[i].name, strlen(nics[i].name) + 1);
    weft_nic_end_turn();
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (int turn = 0; fd >= 0 && turn < rank->local_size; turn++) {
        struct sockaddr_un at;
        socklen_t len = weft_abstract_name(&at, "nic", group, turn);
        if (bind(fd, (struct sockaddr *)&at, len) == 0) {
            held = fd;
            return turn;
        }
        if (errno != EADDRINUSE)
            break;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static void explain(size_t taken, size_t nearest, size_t all, char reason[WEFT_NIC_BYTES])
{
    if (all == 1)
        snprintf(reason, WEFT_NIC_BYTES, "the fastest NIC of its network");
    else if (nearest == all)
        snprintf(reason, WEFT_NIC_BYTES, "NIC %zu of %zu, which the ranks of the node take in turn",
                 taken + 1, all);
    else if (nearest == 1)
        snprintf(reason, WEFT_NIC_BYTES, "of %zu NICs the nearest to the rank's cores", all);
    else
        snprintf(reason, WEFT_NIC_BYTES,
                 "NIC %zu of the %zu, among %zu, that are nearest to the rank's cores, which the "
                 "ranks there take in turn",
                 taken + 1, nearest, all);
}

void weft_nic_choose(const struct weft_settings *settings, const struct weft_nic_rank *rank,
                     struct weft_score *scores, size_t count, char reason[WEFT_NIC_BYTES])
{
    struct nic nics[WEFT_NIC_MAX];
    int turn = rank->local_rank;
    reason[0] = 0;
    if (!weft_provider_score_nics(settings, scores, count))
        return;
    size_t all = read_nics(rank, scores, count, nics), nearest = sort_by_distance(nics, all);
    if (nearest > 1 && (nearest < all || turn < 0) && rank->takes_turn)
        turn = take_turn(rank, nics, nearest);
    if (turn < 0)
        turn = rank->local_rank < 0 ? 0 : rank->local_rank;
    weft_assert(nearest > 0 && nearest <= all && all <= WEFT_NIC_MAX);
    size_t taken = (size_t)turn % nearest;
    weft_assert(nics[taken].score < count);
    explain(taken, nearest, all, reason);
    mark_rails((int)settings->rails, rank, scores, nics, nearest, all, taken);
    weft_provider_score_take_nic(settings, scores, count, nics[taken].score, reason);
}
