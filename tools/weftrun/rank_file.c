// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads rank files: a line "rank N=HOST slot=WHERE" for each rank. WHERE is a list of cores, as
 * "0-2,5", or cores of packages, as "1:0-2" and "0-1:*". Numbers are hwloc's logical ones.
 */
#include "rank_file.h"
#include "hosts.h"
#include "lines.h"
#include "rank_count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    int rank;
    const char *slot;
};

/* Reads a line, and changes it. 1: an entry; 0: nothing but a comment; -1 after printing why. */
static int read_entry(const char *path, char *line, struct entry *e)
{
    char host[256];
    int end = 0;
    line[strcspn(line, "#\n")] = 0;
    if (!line[strspn(line, " \t\r")])
        return 0;
    if (sscanf(line, " rank %d = %255[^ \t=] slot%n", &e->rank, host, &end) < 2 || !end ||
        e->rank < 0 || e->rank >= RANKS_MAX) {
        weft_lines_print("The line \"%s\" of the rank file %s is not of the form \"rank N=HOST "
                         "slot=CORES\" or \"slot=PACKAGE:CORES\".",
                         line, path);
        return -1;
    }
    char *slot = line + end + strspn(line + end, " \t=");
    slot[strcspn(slot, " \t\r")] = 0;
    e->slot = slot;
    struct host_list list = {0};
    if (strcmp(host, "+n0") != 0 && weft_hosts_read_words(&list, host))
        return -1;
    bool elsewhere = weft_hosts_elsewhere(&list) != NULL;
    free(list.hosts);
    if (!elsewhere)
        return 1;
    weft_lines_print("weftrun starts ranks on this machine only, and the rank file %s names the "
                     "host \"%s\"; write localhost, or use prterun --map-by rankfile:file=%s.",
                     path, host, path);
    return -1;
}

/* Calls use for each entry of the file. Returns 0, or -1 after printing why. */
static int read_file(const char *path, int (*use)(const struct entry *e, void *arg), void *arg)
{
    char *line = NULL;
    size_t capacity = 0;
    int status = 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        weft_lines_print("The rank file %s cannot be read: %s.", path, strerror(errno));
        return -1;
    }
    while (status == 0 && getline(&line, &capacity, file) > 0) {
        struct entry e = {0};
        int found = read_entry(path, line, &e);
        status = found == 1 ? use(&e, arg) : found;
    }
    free(line);
    fclose(file);
    return status;
}

static int count_entry(const struct entry *e, void *arg)
{
    int *n = arg;
    *n = e->rank + 1 > *n ? e->rank + 1 : *n;
    return 0;
}

int weft_rank_file_count(const char *path)
{
    int n = 0;
    return read_file(path, count_entry, &n) ? -1 : n;
}

/* Adds the objects with an index in the list, of those of one type within `inside`; with cores
 * those cores of each. A list of "*" has all. False: there are not so many. */
static bool add_objects(hwloc_topology_t topo, hwloc_const_bitmap_t inside, hwloc_obj_type_t type,
                        const char *list, const char *cores, hwloc_bitmap_t set)
{
    int n = hwloc_get_nbobjs_inside_cpuset_by_type(topo, inside, type);
    hwloc_bitmap_t wanted = hwloc_bitmap_alloc();
    bool good = n > 0;
    if (strcmp(list, "*") == 0)
        hwloc_bitmap_set_range(wanted, 0, n - 1);
    else
        good = good && hwloc_bitmap_list_sscanf(wanted, list) == 0 && !hwloc_bitmap_iszero(wanted);
    good = good && hwloc_bitmap_last(wanted) >= 0 && hwloc_bitmap_last(wanted) < n;
    for (int i = hwloc_bitmap_first(wanted); good && i >= 0; i = hwloc_bitmap_next(wanted, i)) {
        hwloc_obj_t obj = hwloc_get_obj_inside_cpuset_by_type(topo, inside, type, (unsigned)i);
        if (cores)
            good = add_objects(topo, obj->cpuset, HWLOC_OBJ_CORE, cores, NULL, set);
        else
            hwloc_bitmap_or(set, set, obj->cpuset);
    }
    hwloc_bitmap_free(wanted);
    return good;
}

struct bindings {
    const char *path;
    hwloc_topology_t topo;
    int n;
    hwloc_bitmap_t *sets;
};

static int bind_entry(const struct entry *e, void *arg)
{
    struct bindings *p = arg;
    char text[256];
    if (e->rank >= p->n)
        return 0;
    snprintf(text, sizeof text, "%s", e->slot);
    char *cores = strchr(text, ':');
    if (cores)
        *cores++ = 0;
    hwloc_bitmap_zero(p->sets[e->rank]);
    if (add_objects(p->topo, hwloc_topology_get_topology_cpuset(p->topo),
                    cores ? HWLOC_OBJ_PACKAGE : HWLOC_OBJ_CORE, text, cores, p->sets[e->rank]))
        return 0;
    weft_lines_print("\"slot=%s\" of rank %d in the rank file %s names processors that weftrun may "
                     "not use or that are absent; lstopo shows packages and cores by number.",
                     e->slot, e->rank, p->path);
    return -1;
}

int weft_rank_file_bind(const char *path, hwloc_topology_t topo, int n, hwloc_bitmap_t *sets)
{
    struct bindings p = {path, topo, n, sets};
    if (read_file(path, bind_entry, &p))
        return -1;
    for (int i = 0; i < n; i++) {
        if (hwloc_bitmap_iszero(sets[i])) {
            weft_lines_print("The rank file %s has no line for rank %d of %d; add \"rank "
                             "%d=localhost slot=CORES\".",
                             path, i, n, i);
            return -1;
        }
    }
    return 0;
}
