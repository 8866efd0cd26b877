// SPDX-License-Identifier: BSD-3-Clause
/*
 * The agreement on a network that all nodes of the job have (select/network.h).
 *
 * Before the first fence the lowest rank of each node publishes the networks of its node, the one
 * first on which the ranks have opened their endpoints. After the fence one rank of each node reads
 * the lists of all nodes, so that a rank's share of the work is bounded where nodes have many
 * ranks. All get the same result, without a message. Only if the choices differ, all ranks open
 * their endpoints again, and a second fence follows.
 *
 * Invariant: whether the ranks move, and where to, is the same at all ranks.
 */
#include "core/base/error.h"
#include "core/message/process.h"
#include "ofi/net.h"
#include "ofi/ofi_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char networks_key[] = "weft.networks";
enum { FETCH_SECONDS = 60, END_SECONDS = 15 };

int weft_net_publish_networks(const struct weft_job *job, const struct weft_network_list *list,
                              char *why, size_t len)
{
    size_t bytes =
        offsetof(struct weft_network_list, networks) + list->count * sizeof list->networks[0];
    if (job->one_node || job->rank != job->local_peers[0])
        return 0;
    return weft_boot_put(networks_key, list, bytes, why, len);
}

static void fetch(int rank, struct weft_network_list *list)
{
    char why[512];
    size_t bytes = sizeof *list;
    if (weft_boot_fetch(rank, networks_key, list, &bytes, FETCH_SECONDS, why, sizeof why))
        weft_fatal(MPI_ERR_OTHER, "%s", why);
    if (!weft_network_list_valid(list, bytes))
        weft_fatal(MPI_ERR_OTHER,
                   "rank %d published a list of networks of %zu bytes, which this rank cannot "
                   "read; start all ranks with the same libmpi_abi.so.1",
                   rank, bytes);
}

/* "n1 has net on 10.1.0.0/16 (eth0); n2 has ...", as many nodes as there is space for. */
static void list_nodes(const struct weft_job *job, const int32_t *first, char *text, size_t len)
{
    struct weft_network_list list;
    char host[256];
    size_t at = 0;
    int left_out = 0;
    for (int r = 0; r < job->size; r++) {
        char entry[sizeof host + sizeof list.text + 16];
        if (first[r] != r)
            continue;
        fetch(r, &list);
        int n = snprintf(entry, sizeof entry, "%s%s has %s", at ? "; " : "",
                         weft_boot_host(r, host, sizeof host), list.text);
        if (left_out || at + (size_t)n + sizeof "; and 1000000 other nodes" > len)
            left_out++;
        else
            at += (size_t)snprintf(text + at, len - at, "%s", entry);
    }
    if (left_out)
        snprintf(text + at, len - at, "; and %d other nodes", left_out);
}

/* Rank 0 ends the job, with the only message. */
_Noreturn static void end_job(const struct weft_job *job, const int32_t *first)
{
    char nodes[520];
    if (job->rank > 0) {
        sleep(END_SECONDS);
        weft_boot_abort(MPI_ERR_OTHER, NULL);
    }
    list_nodes(job, first, nodes, sizeof nodes);
    weft_fatal(MPI_ERR_OTHER,
               "the nodes of the job share no network: %s; set WEFT_IFACE to what connects them, "
               "as names or CIDR blocks joined by commas",
               nodes);
}

/* Some node has a better provider than the job uses. */
static void report(const struct weft_job *job, const struct weft_network_search *search,
                   const struct weft_network *shared)
{
    struct weft_network_list best, there;
    char host[256], other[256];
    if (job->rank > 0 || search->best_rank <= shared->rank)
        return;
    int lacking = weft_network_lacking(search);
    fetch(search->best_node, &best);
    fetch(lacking, &there);
    weft_warn("the job cannot use the fastest network of %s (%s), because %s has only %s; "
              "'weft_info --providers' prints the reason there; WEFT_PROVIDER names a provider to "
              "use on all nodes",
              weft_boot_host(search->best_node, host, sizeof host), best.text,
              weft_boot_host(lacking, other, sizeof other), there.text);
}

uint64_t weft_net_shared_network(const struct weft_job *job)
{
    int32_t *first = malloc((size_t)job->size * sizeof *first);
    struct weft_network_search *search = malloc(sizeof *search);
    struct weft_network_list list;
    bool moves = false;
    uint64_t number = WEFT_NETWORK_UNCHANGED;
    if (!first || !search)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for a table of the nodes of %d ranks", job->size);
    if (!weft_boot_nodes(first))
        goto out; /* then each node keeps its choice */
    fetch(0, &list);
    weft_network_begin(search, &list);
    for (int r = 1; r < job->size; r++) {
        if (first[r] != r)
            continue;
        fetch(r, &list);
        weft_network_add(search, r, &list);
    }
    const struct weft_network *shared = weft_network_shared(search, &moves);
    if (!shared)
        end_job(job, first);
    if (moves) {
        number = shared->id;
        report(job, search, shared);
    }
out:
    free(search);
    free(first);
    return number;
}
