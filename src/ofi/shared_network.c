// SPDX-License-Identifier: BSD-3-Clause
/*
 * The agreement on a network that all nodes of the job have (select/network.h).
 *
 * Before the first fence the lowest rank of each node publishes the networks of its node, the one
 * first on which the ranks have opened their endpoints. After the fence one rank of each node, so
 * that a rank's share of the work is bounded where nodes have many ranks, compares the lists of all
 * nodes. All get the same result, without a message. Only if the choices differ, all ranks open
 * their endpoints again, and a further fence follows.
 *
 * Up to ONE_LEVEL nodes that rank fetches the list of every node. In larger jobs nodes are compared
 * on two levels (select/network_compare.h): a fence is added, and a node fetches two square roots
 * of their number. Small jobs have one level, because there the fence takes longer than the fetches
 * that it saves.
 *
 * Invariant: whether the ranks move, and where to, is the same at all ranks, and so is whether
 * there are two levels.
 */
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/settings.h"
#include "core/message/process.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"
#include "ofi/select/network_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char networks_key[] = "weft.networks", summary_key[] = "weft.networks.2";
enum { FETCH_SECONDS = 60, END_SECONDS = 15 };

/* 2,048 fetches of 16 to 50 us take 33 to 100 ms, as long as a fence of so many nodes at most. */
enum { ONE_LEVEL = 2048 };

/* A comparison of the nodes of a job. */
struct weft_net_comparison {
    const struct weft_job *job;
    struct weft_network_nodes nodes;
    struct weft_network_search search;
    int32_t first[]; /* the lowest ranks of the nodes */
};

int weft_net_publish_networks(const struct weft_job *job, const struct weft_network_list *list,
                              char *why, size_t len)
{
    size_t bytes =
        offsetof(struct weft_network_list, networks) + list->count * sizeof list->networks[0];
    if (job->one_node || job->rank != job->local_peers[0])
        return 0;
    return weft_boot_put(networks_key, list, bytes, why, len);
}

/* ---- What other nodes have published */

static size_t fetch(int rank, const char *key, void *value, size_t bytes)
{
    char why[512];
    if (weft_boot_fetch(rank, key, value, &bytes, FETCH_SECONDS, why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
    return bytes;
}

_Noreturn static void refuse(int rank, const char *what, size_t bytes)
{
    weft_fatal(MPI_ERR_OTHER,
               "rank %d published a %s of networks of %zu bytes, which this rank cannot read; "
               "start all ranks with the same libmpi_abi.so.1",
               rank, what, bytes);
}

static void fetch_list(void *arg, int rank, struct weft_network_list *list)
{
    (void)arg;
    size_t bytes = fetch(rank, networks_key, list, sizeof *list);
    if (!weft_network_list_valid(list, bytes))
        refuse(rank, "list", bytes);
}

static void fetch_summary(void *arg, int rank, const struct weft_network_search *search,
                          struct weft_network_summary *summary)
{
    const struct weft_net_comparison *comparison = arg;
    size_t bytes = fetch(rank, summary_key, summary, sizeof *summary);
    if (!weft_network_summary_valid(search, summary, bytes, comparison->first,
                                    comparison->nodes.count))
        refuse(rank, "summary", bytes);
}

static void publish_summary(const struct weft_network_search *search)
{
    char why[512];
    if (weft_boot_publish(summary_key, &search->all, weft_network_summary_bytes(search->all.count),
                          why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
}

/* ---- Reports */

/* "n1 has net on 10.1.0.0/16 (eth0); n2 has ...", as many nodes as there is space for. */
static void list_nodes(const struct weft_network_nodes *nodes, char *text, size_t len)
{
    struct weft_network_list list;
    char host[256], entry[sizeof host + sizeof list.text + 16];
    size_t at = 0;
    int i = 0;
    for (; i < nodes->count; i++) {
        int rank = nodes->rank[i];
        fetch_list(NULL, rank, &list);
        int n = snprintf(entry, sizeof entry, "%s%s has %s", at ? "; " : "",
                         weft_boot_host(rank, host, sizeof host), list.text);
        if (at + (size_t)n + sizeof "; and 1000000 other nodes" > len)
            break;
        at += (size_t)snprintf(text + at, len - at, "%s", entry);
    }
    if (i < nodes->count)
        snprintf(text + at, len - at, "; and %d other nodes", nodes->count - i);
}

/* Rank 0 ends the job, with the only message. */
_Noreturn static void end_job(const struct weft_net_comparison *comparison)
{
    char nodes[520];
    if (comparison->job->rank > 0) {
        sleep(END_SECONDS);
        weft_boot_abort(MPI_ERR_OTHER, NULL);
    }
    list_nodes(&comparison->nodes, nodes, sizeof nodes);
    weft_fatal(MPI_ERR_OTHER,
               "the nodes of the job share no network: %s; set WEFT_IFACE to what connects them, "
               "as names or CIDR blocks joined by commas",
               nodes);
}

/* Some node has a better provider than the job uses. */
static void report(const struct weft_network_search *search, const struct weft_network *shared)
{
    struct weft_network_list best, there;
    char host[256], other[256];
    int best_node = search->all.best_node;
    if (search->all.best_rank <= shared->rank)
        return;
    int lacking = weft_network_lacking(search);
    fetch_list(NULL, best_node, &best);
    fetch_list(NULL, lacking, &there);
    weft_warn("the job cannot use the fastest network of %s (%s), because %s has only %s; "
              "'weft_info --providers' prints the reason there; WEFT_PROVIDER names a provider to "
              "use on all nodes",
              weft_boot_host(best_node, host, sizeof host), best.text,
              weft_boot_host(lacking, other, sizeof other), there.text);
}

/* ---- The comparison */

/* NULL if the launcher has no complete map of the nodes. */
static struct weft_net_comparison *begin(const struct weft_job *job)
{
    const int32_t *map = weft_boot_nodes();
    int count = 0;
    if (!map)
        return NULL;
    struct weft_net_comparison *comparison =
        weft_memory_get(1, sizeof *comparison + (size_t)job->size * sizeof comparison->first[0],
                        "a comparison of the nodes");
    for (int r = 0; r < job->size; r++)
        if (map[r] == r)
            comparison->first[count++] = r;
    int test_level = weft_settings_test_number("WEFT_TEST_ONE_LEVEL");
    comparison->job = job;
    comparison->nodes = (struct weft_network_nodes){
        .rank = comparison->first,
        .count = count,
        .group = weft_network_group(count, test_level ? test_level : ONE_LEVEL),
        .arg = comparison,
        .read_list = fetch_list,
        .read_summary = fetch_summary};
    return comparison;
}

static uint64_t conclude(struct weft_net_comparison *comparison)
{
    bool moves = false;
    weft_network_search_all(&comparison->nodes, &comparison->search);
    const struct weft_network *shared = weft_network_shared(&comparison->search, &moves);
    if (!shared)
        end_job(comparison);
    if (moves && comparison->job->rank == 0)
        report(&comparison->search, shared);
    uint64_t number = moves ? shared->id : WEFT_NETWORK_UNCHANGED;
    free(comparison);
    weft_net.comparison = NULL;
    return number;
}

uint64_t weft_net_shared_network(const struct weft_job *job)
{
    struct weft_net_comparison *comparison = weft_net.comparison;
    if (comparison)
        return conclude(comparison);
    comparison = weft_net.comparison = begin(job);
    if (!comparison)
        return WEFT_NETWORK_UNCHANGED; /* then each node keeps its choice */
    if (!comparison->nodes.group)
        return conclude(comparison);
    int index = weft_network_node(comparison->first, comparison->nodes.count, job->rank);
    if (index >= 0 && weft_network_leads(&comparison->nodes, index)) {
        weft_network_search_group(&comparison->nodes, index, &comparison->search);
        publish_summary(&comparison->search);
    }
    return WEFT_NETWORK_LATER;
}
