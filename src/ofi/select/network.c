// SPDX-License-Identifier: BSD-3-Clause
/*
 * The networks of a node and the search for a shared one. The invariant is in the header.
 *
 * Two nodes with the same IP address in a network are not connected by it: each has a private one,
 * as that of a container bridge, with the same prefix.
 */
#include "ofi/select/network.h"

#include "core/base/assert.h"
#include "core/base/hash.h"
#include "ofi/select/provider_score.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A hash continued from another or, with 0, begun; never 0 (none), WEFT_NETWORK_UNCHANGED or
 * WEFT_NETWORK_LATER (core/message/lane.h). */
static uint64_t hash(uint64_t from, const void *data, size_t len)
{
    uint64_t h = weft_hash_bytes(from ? from : WEFT_HASH_BEGIN, data, len);

    return h > 2 ? h : 3;
}

uint64_t weft_network_machine(void)
{
    char text[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    uint64_t machine = 0;

    if (file) {
        if (fgets(text, sizeof text, file))
            machine = hash(machine, text, strlen(text));
        fclose(file);
    }
    ssize_t len = readlink("/proc/self/ns/net", text, sizeof text);
    return len > 0 ? hash(machine, text, (size_t)len) : machine;
}

/* The name of a score's network, for messages. Returns buf. */
static char *network_name(const struct weft_score *score, char *buf, size_t len)
{
    if (score->interface)
        return weft_interface_network(score->interface, buf, len);
    snprintf(buf, len, "%s", score->candidate->fabric);
    return buf;
}

uint64_t weft_network_id(const struct weft_score *score, uint64_t machine)
{
    char name[64];
    uint64_t id = hash(0, score->candidate->provider, strlen(score->candidate->provider) + 1);

    network_name(score, name, sizeof name);
    id = hash(id, name, strlen(name));
    if (score->interface && score->interface->flags & IFF_LOOPBACK)
        id = hash(id, &machine, sizeof machine);
    return id;
}

/* The network of all interfaces with a gateway, 0 for others. */
static uint64_t routed_id(const struct weft_score *score)
{
    const char *provider = score->candidate->provider;
    bool six = score->candidate->address.ss_family == AF_INET6;

    if (!score->interface || !score->interface->gateway[six])
        return 0;
    return hash(hash(0, provider, strlen(provider) + 1), six ? "routed6" : "routed4", 7);
}

bool weft_network_same(const struct weft_score *a, const struct weft_score *b)
{
    return weft_network_id(a, 0) == weft_network_id(b, 0);
}

/* True if an earlier one of the NICs that the ranks share is on the same network. */
static bool in_set(const struct weft_score *scores, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (scores[i].shares && weft_network_same(&scores[i], &scores[at]))
            return true;
    return false;
}

/* The set of networks of the NICs that the ranks share, 0 for one. */
static uint64_t set_id(const struct weft_score *scores, size_t count, uint64_t machine)
{
    uint64_t sum = 0;
    size_t networks = 0;

    for (size_t i = 0; i < count; i++)
        if (scores[i].shares && !in_set(scores, i)) {
            sum += weft_network_id(&scores[i], machine);
            networks++;
        }
    return networks > 1 ? hash(0, &sum, sizeof sum) : 0;
}

/* The index of a network in the list, or its count. */
static uint32_t find_network(const struct weft_network_list *list, uint64_t id)
{
    uint32_t i = 0;

    while (i < list->count && list->networks[i].id != id)
        i++;
    return i;
}

static void add_network(struct weft_network_list *list, const struct weft_score *score, uint64_t id,
                        bool routed, bool chosen)
{
    uint32_t at = find_network(list, id);
    char address[64];

    if (at < list->count) {
        list->networks[at].chosen |= chosen;
        return;
    }
    if (id == 0 || list->count == WEFT_NETWORKS)
        return;
    weft_interface_address((const struct sockaddr *)&score->candidate->address, address,
                           sizeof address);
    list->networks[list->count++] = (struct weft_network){
        .id = id,
        .address = address[0] ? (uint32_t)hash(0, address, strlen(address)) : 0,
        .rank = (uint8_t)score->row->rank,
        .poor = score->fitness == WEFT_POOR,
        .routed = routed,
        .chosen = chosen};
}

static void add_text(struct weft_network_list *list, const struct weft_score *score)
{
    size_t at = strlen(list->text);
    char name[64];

    snprintf(list->text + at, sizeof list->text - at, "%s%s on %s (%s)", at > 0 ? ", " : "",
             score->candidate->provider, network_name(score, name, sizeof name),
             weft_score_interface(score));
    if (strlen(list->text) == sizeof list->text - 1)
        memcpy(list->text + sizeof list->text - sizeof "...", "...", sizeof "...");
}

/* True if an earlier usable score has the same interface or domain, and network. */
static bool in_text(const struct weft_score *scores, size_t at)
{
    char name[64], other[64];

    for (size_t i = 0; i < at; i++)
        if (scores[i].usable &&
            strcmp(weft_score_interface(&scores[i]), weft_score_interface(&scores[at])) == 0 &&
            strcmp(network_name(&scores[i], name, sizeof name),
                   network_name(&scores[at], other, sizeof other)) == 0)
            return true;
    return false;
}

void weft_network_describe(const struct weft_score *scores, size_t count, size_t chosen,
                           uint64_t machine, struct weft_network_list *list)
{
    uint64_t set = scores[chosen].shares ? set_id(scores, count, machine) : 0;

    weft_assert(chosen < count && scores[chosen].usable);
    memset(list, 0, sizeof *list);
    list->machine = machine;
    add_network(list, &scores[chosen], set, false, true);
    for (size_t i = 0; i < count; i++) {
        bool here = i == chosen && set == 0;

        if (!scores[i].usable)
            continue;
        add_network(list, &scores[i], weft_network_id(&scores[i], machine), false, here);
        add_network(list, &scores[i], routed_id(&scores[i]), true, here);
        if (!in_text(scores, i))
            add_text(list, &scores[i]);
    }
    weft_assert(list->count <= WEFT_NETWORKS);
}

bool weft_network_has(const struct weft_score *score, uint64_t machine, uint64_t id)
{
    return weft_network_id(score, machine) == id || routed_id(score) == id;
}

bool weft_network_list_valid(const struct weft_network_list *list, size_t bytes)
{
    size_t fixed = offsetof(struct weft_network_list, networks);

    return bytes >= fixed && list->count <= WEFT_NETWORKS &&
           bytes == fixed + list->count * sizeof list->networks[0] &&
           memchr(list->text, '\0', sizeof list->text) != NULL;
}

void weft_network_begin(struct weft_network_search *search, const struct weft_network_list *list)
{
    memset(search, 0, sizeof *search);
    search->first = *list;
    search->all.count = list->count;
}

/* The provider that a node has opened. */
static int chosen_rank(const struct weft_network_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->networks[i].chosen)
            return list->networks[i].rank;
    return 0;
}

void weft_network_add(struct weft_network_search *search, int node,
                      const struct weft_network_list *list)
{
    weft_assert(search->first.count <= WEFT_NETWORKS && list->count <= WEFT_NETWORKS);
    for (uint32_t i = 0; i < search->first.count; i++) {
        const struct weft_network *ours = &search->first.networks[i];
        uint32_t at = find_network(list, ours->id);
        const struct weft_network *there = at < list->count ? &list->networks[at] : NULL;
        bool missing = !there || (ours->address != 0 && ours->address == there->address &&
                                  list->machine != search->first.machine);
        search->all.of[i].missing |= missing;
        if ((missing || there->poor) && search->all.of[i].lacking == 0)
            search->all.of[i].lacking = node;
        if (!there)
            continue;
        search->all.of[i].sum += at;
        search->all.of[i].poor |= there->poor != 0;
        search->all.of[i].moves |= !there->chosen;
    }
    if (chosen_rank(list) > search->all.best_rank) {
        search->all.best_rank = chosen_rank(list);
        search->all.best_node = node;
    }
}

void weft_network_merge(struct weft_network_search *search,
                        const struct weft_network_summary *summary)
{
    struct weft_network_summary *all = &search->all;

    weft_assert(summary->count == all->count);
    for (uint32_t i = 0; i < all->count; i++) {
        all->of[i].sum += summary->of[i].sum;
        all->of[i].missing |= summary->of[i].missing;
        all->of[i].poor |= summary->of[i].poor;
        all->of[i].moves |= summary->of[i].moves;
        if (all->of[i].lacking == 0)
            all->of[i].lacking = summary->of[i].lacking;
    }
    if (summary->best_rank > all->best_rank) {
        all->best_rank = summary->best_rank;
        all->best_node = summary->best_node;
    }
}

size_t weft_network_summary_bytes(uint32_t count)
{
    return offsetof(struct weft_network_summary, of) +
           count * sizeof(((struct weft_network_summary *)NULL)->of[0]);
}

int weft_network_node(const int32_t *nodes, int count, int rank)
{
    int from = 0, end = count;

    while (end - from > 1) {
        int middle = from + (end - from) / 2;
        if (nodes[middle] <= rank)
            from = middle;
        else
            end = middle;
    }
    return from < count && nodes[from] == rank ? from : -1;
}

bool weft_network_summary_valid(const struct weft_network_search *search,
                                const struct weft_network_summary *summary, size_t bytes,
                                const int32_t *nodes, int count)
{
    if (bytes < weft_network_summary_bytes(0) || summary->count != search->first.count ||
        bytes != weft_network_summary_bytes(summary->count) ||
        weft_network_node(nodes, count, summary->best_node) < 0)
        return false;
    for (uint32_t i = 0; i < summary->count; i++)
        if (summary->of[i].missing > 1 || summary->of[i].poor > 1 || summary->of[i].moves > 1 ||
            weft_network_node(nodes, count, summary->of[i].lacking) < 0)
            return false;
    return true;
}

int weft_network_lacking(const struct weft_network_search *search)
{
    for (uint32_t i = 0; i < search->first.count && search->all.best_node == 0; i++)
        if (search->first.networks[i].chosen && search->all.of[i].lacking > 0)
            return search->all.of[i].lacking;
    return 0;
}

/* True if network a of rank 0's list is better than b. */
static bool is_better(const struct weft_network_search *search, uint32_t a, uint32_t b)
{
    const struct weft_network *networks = search->first.networks;

    if (search->all.of[a].poor != search->all.of[b].poor)
        return search->all.of[b].poor;
    if (networks[a].rank != networks[b].rank)
        return networks[a].rank > networks[b].rank;
    if (networks[a].routed != networks[b].routed)
        return networks[b].routed;
    return search->all.of[a].sum < search->all.of[b].sum; /* the earlier one of equals */
}

const struct weft_network *weft_network_shared(const struct weft_network_search *search,
                                               bool *moves)
{
    uint32_t best = WEFT_NETWORKS;

    for (uint32_t i = 0; i < search->first.count; i++)
        if (!search->all.of[i].missing && (best == WEFT_NETWORKS || is_better(search, i, best)))
            best = i;
    if (best == WEFT_NETWORKS)
        return NULL;
    *moves = search->all.of[best].moves;
    return &search->first.networks[best];
}
