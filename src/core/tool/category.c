// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of categories: see category.h.
 *
 * Invariant: the members of a category are in the order of the table of their kind.
 */
#include "core/tool/category.h"

#include "core/base/settings.h"
#include "core/tool/event.h"
#include "core/tool/pvar.h"

#include <string.h>

const struct weft_category_row weft_categories[WEFT_TOOL_CATEGORIES] = {
    [WEFT_TOOL_ALL] = {"weft", "all variables and events of Weft"},
    [WEFT_TOOL_PROCESS] = {"weft_process", "the process as a whole, waiting, messages by rank"},
    [WEFT_TOOL_MATCHING] = {"weft_matching", "where messages are matched, and unmatched messages"},
    [WEFT_TOOL_NET] = {"weft_net", "messages over the network"},
    [WEFT_TOOL_SHM] = {"weft_shm", "messages through the shared memory of a node"},
    [WEFT_TOOL_COLLECTIVES] = {"weft_collectives", "collective operations and their algorithms"},
    [WEFT_TOOL_WINDOWS] = {"weft_windows", "one-sided communication"},
    [WEFT_TOOL_FILES] = {"weft_files", "access to files"},
};

static enum weft_tool_category category_of_setting(int row)
{
    static const struct {
        const char *begin; /* of the setting's name after WEFT_ */
        enum weft_tool_category category;
    } rules[] = {{"COLL_", WEFT_TOOL_COLLECTIVES}, {"SHM", WEFT_TOOL_SHM},
                 {"MATCHING", WEFT_TOOL_MATCHING}, {"PROVIDER", WEFT_TOOL_NET},
                 {"IFACE", WEFT_TOOL_NET},         {"EAGER_", WEFT_TOOL_NET},
                 {"RENDEZVOUS", WEFT_TOOL_NET},    {"READ_", WEFT_TOOL_NET},
                 {"CONNECT_", WEFT_TOOL_NET}};
    const char *name = weft_settings_table[row].name + strlen("WEFT_");
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strncmp(name, rules[i].begin, strlen(rules[i].begin)) == 0)
            return rules[i].category;
    return WEFT_TOOL_PROCESS;
}

static int count_of(enum weft_category_kind kind)
{
    return kind == WEFT_CATEGORY_CVARS    ? (int)weft_settings_count
           : kind == WEFT_CATEGORY_PVARS  ? weft_pvar_count
           : kind == WEFT_CATEGORY_EVENTS ? WEFT_EVENTS
                                          : WEFT_TOOL_CATEGORIES;
}

static bool belongs(enum weft_category_kind kind, int index, int category)
{
    switch (kind) {
    case WEFT_CATEGORY_CVARS:
        return category_of_setting(index) == (enum weft_tool_category)category;
    case WEFT_CATEGORY_PVARS:
        return weft_pvar_table[index].category == (enum weft_tool_category)category;
    case WEFT_CATEGORY_EVENTS:
        return weft_event_types[index].category == (enum weft_tool_category)category;
    default:
        return category == WEFT_TOOL_ALL && index != WEFT_TOOL_ALL;
    }
}

int weft_category_list(enum weft_category_kind kind, int category, int space, int *indices)
{
    int found = 0;
    for (int i = 0; i < count_of(kind); i++) {
        if (!belongs(kind, i, category))
            continue;
        if (found < space)
            indices[found] = i;
        found++;
    }
    return found;
}
