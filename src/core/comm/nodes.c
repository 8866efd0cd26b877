// SPDX-License-Identifier: BSD-3-Clause
/*
 * Nodes of groups: see nodes.h.
 *
 * The node map of the job is fetched at the first use, because most jobs have one rank a node, or
 * one node, and never use it.
 */
#include "core/comm/nodes.h"

#include "core/base/memory.h"
#include "core/base/settings.h"
#include "core/message/process.h"

#include <stdio.h>
#include <stdlib.h>

static struct weft_nodes none; /* marks groups in which nodes do not matter */
static const int32_t *map;     /* by world rank: the lowest rank of its node; or NULL */
static int32_t *cut;           /* the same with WEFT_TEST_NODE_SIZE */
static bool map_fetched;

/* Allocates zeroed memory. */
static void *table(size_t count, size_t each)
{
    return weft_memory_get(count, each, "a table of the nodes");
}

/* WEFT_TEST_NODE_SIZE: cuts each node of a map into nodes of `size` ranks. */
static const int32_t *cut_nodes(const int32_t *nodes, int size)
{
    int *seen = table((size_t)weft.job.size, sizeof *seen);
    int32_t *head = table((size_t)weft.job.size, sizeof *head);
    cut = table((size_t)weft.job.size, sizeof *cut);
    for (int r = 0; r < weft.job.size; r++) {
        int32_t first = nodes[r];
        if (seen[first]++ % size == 0)
            head[first] = r;
        cut[r] = head[first];
    }
    free(seen);
    free(head);
    return cut;
}

int weft_nodes_name(char *name, size_t len)
{
    int test_size = weft_settings_test_node();
    if (!test_size)
        return snprintf(name, len, "%s", weft.job.host);
    return snprintf(name, len, "%s-%d", weft.job.host, weft.job.local_rank / test_size);
}

/* The map of the job, or NULL if nodes do not matter or the launcher has no map. */
static const int32_t *map_of_job(void)
{
    if (map_fetched)
        return map;
    map_fetched = true;
    int test_size = weft_settings_test_node();
    if (!weft_settings.shm || (weft.job.one_node && !test_size))
        return NULL;
    map = weft_boot_nodes();
    if (map && test_size)
        map = cut_nodes(map, test_size);
    return map;
}

/* Fills node[] with numbers in the order of the first ranks. Returns the number of nodes. */
static int number(const int32_t *label, int size, int *node)
{
    int labels = 0, count = 0;
    for (int r = 0; r < size; r++)
        labels = label[r] >= labels ? label[r] + 1 : labels;
    int *seen = table((size_t)labels, sizeof *seen); /* 1 + the number of a label's node, or 0 */
    for (int r = 0; r < size; r++) {
        if (!seen[label[r]])
            seen[label[r]] = ++count;
        node[r] = seen[label[r]] - 1;
        weft_assert(node[r] >= 0 && node[r] < count);
    }
    free(seen);
    return count;
}

/* Fills begin and order from node: a counting sort. */
static void put_in_order(struct weft_nodes *nodes, int size)
{
    for (int r = 0; r < size; r++)
        nodes->begin[nodes->node[r] + 1]++;
    for (int i = 0; i < nodes->count; i++)
        nodes->begin[i + 1] += nodes->begin[i];
    nodes->in_order = true;
    for (int r = 0; r < size; r++) {
        int at = nodes->begin[nodes->node[r]]++;
        nodes->order[at] = r;
        nodes->in_order = nodes->in_order && at == r;
    }
    for (int i = nodes->count; i > 0; i--) /* begin[i] is the end of node i now */
        nodes->begin[i] = nodes->begin[i - 1];
    nodes->begin[0] = 0;
    weft_assert(nodes->begin[nodes->count] == size);
}

struct weft_nodes *weft_nodes_arrange(const int32_t *label, int size, int rank)
{
    weft_assert(rank >= 0 && rank < size);
    int *node = table((size_t)size, sizeof *node);
    int count = number(label, size, node);
    if (count == 1 || count == size) {
        free(node);
        return NULL;
    }
    struct weft_nodes *nodes = table(1, sizeof *nodes);
    *nodes = (struct weft_nodes){.count = count,
                                 .mine = node[rank],
                                 .node = node,
                                 .order = table((size_t)size, sizeof *nodes->order),
                                 .begin = table((size_t)count + 1, sizeof *nodes->begin)};
    put_in_order(nodes, size);
    return nodes;
}

WEFT_COLD static struct weft_nodes *find(const struct weft_group *group)
{
    const int32_t *of_job = map_of_job();
    if (!of_job || group->size < 3 || group->rank < 0 || group->foreign)
        return &none;
    int32_t *label = table((size_t)group->size, sizeof *label);
    for (int i = 0; i < group->size; i++)
        label[i] = of_job[weft_group_world(group, i)];
    struct weft_nodes *nodes = weft_nodes_arrange(label, group->size, group->rank);
    free(label);
    return nodes ? nodes : &none;
}

const struct weft_nodes *weft_nodes_of(struct weft_group *group)
{
    if (weft_unlikely(!group->nodes))
        group->nodes = find(group);
    return weft_likely(group->nodes == &none) ? NULL : group->nodes;
}

void weft_nodes_forget(struct weft_nodes *nodes)
{
    if (!nodes || nodes == &none)
        return;
    free(nodes->node);
    free(nodes->order);
    free(nodes->begin);
    free(nodes);
}

void weft_nodes_finalize(void)
{
    free(cut);
    cut = NULL;
    map = NULL;
    map_fetched = false;
}
