// SPDX-License-Identifier: BSD-3-Clause
/*
 * The comparison of nodes on one level or on two: see network_compare.h.
 *
 * On two levels, with n nodes in groups of g, a node reads n / g summaries and one list, and the
 * first of a group g + 1 lists more: 635 of 100,000 nodes.
 */
#include "ofi/select/network_compare.h"

#include "core/base/assert.h"

int weft_network_group(int nodes, int one_level)
{
    int group = 1;

    if (nodes <= one_level)
        return 0;
    while ((int64_t)group * group < nodes)
        group++;
    return group;
}

bool weft_network_leads(const struct weft_network_nodes *nodes, int index)
{
    return nodes->group > 0 && index % nodes->group == 0;
}

static void begin(const struct weft_network_nodes *nodes, struct weft_network_search *search)
{
    struct weft_network_list list;

    weft_assert(nodes->count > 0 && nodes->rank[0] == 0);
    nodes->read_list(nodes->arg, nodes->rank[0], &list);
    weft_network_begin(search, &list);
}

static void add_lists(const struct weft_network_nodes *nodes, int from, int end,
                      struct weft_network_search *search)
{
    struct weft_network_list list;

    for (int i = from; i < end; i++) {
        if (i > 0)
            nodes->read_list(nodes->arg, nodes->rank[i], &list);
        weft_network_add(search, nodes->rank[i], i > 0 ? &list : &search->first);
    }
}

void weft_network_search_group(const struct weft_network_nodes *nodes, int index,
                               struct weft_network_search *search)
{
    int left = nodes->count - index;

    weft_assert(weft_network_leads(nodes, index));
    begin(nodes, search);
    add_lists(nodes, index, index + (left < nodes->group ? left : nodes->group), search);
}

void weft_network_search_all(const struct weft_network_nodes *nodes,
                             struct weft_network_search *search)
{
    struct weft_network_summary summary;

    begin(nodes, search);
    if (nodes->group == 0)
        add_lists(nodes, 0, nodes->count, search);
    for (int i = 0; nodes->group > 0 && i < nodes->count; i += nodes->group) {
        nodes->read_summary(nodes->arg, nodes->rank[i], search, &summary);
        weft_network_merge(search, &summary);
    }
}
