// SPDX-License-Identifier: BSD-3-Clause
/*
 * Binding of ranks to processors with hwloc.
 *
 * Each rank is mapped to an object (--map-by), gets processors within it (--bind), and then the
 * ranks are numbered anew (--rank-by).
 *
 * Invariants:
 *  - Ranks get only processors that weftrun may use, so the limits of taskset, cgroups and batch
 *    systems apply.
 *  - Two ranks share a core or hardware thread only if the user allows it, by ":overload-allowed".
 *  - They share a NUMA node or package only if ranks outnumber these, and then in equal blocks,
 *    unless they are mapped to such objects in turn.
 */
#include "bind.h"
#include "job.h"
#include "lines.h"
#include "rank_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>
#include <hwloc/glibc-sched.h>

/* The objects of one kind that have processors, and the number of ranks that each has got. */
struct objects {
    hwloc_obj_t *list;
    int *uses;
    int n;
};

/* The processors of a rank while ranks are in the order of mapping. */
struct slot {
    hwloc_bitmap_t set;
    hwloc_obj_t first; /* the object that the rank is bound to, or the first one; or NULL */
    int mapped;        /* index of the object that it is mapped to */
    long major, minor; /* the order of ranks */
};

static int list_objects(hwloc_topology_t topo, enum object object, struct objects *o)
{
    static const hwloc_obj_type_t types[] = {
        [OBJECT_HWTHREAD] = HWLOC_OBJ_PU,     [OBJECT_CORE] = HWLOC_OBJ_CORE,
        [OBJECT_L1CACHE] = HWLOC_OBJ_L1CACHE, [OBJECT_L2CACHE] = HWLOC_OBJ_L2CACHE,
        [OBJECT_L3CACHE] = HWLOC_OBJ_L3CACHE, [OBJECT_NUMA] = HWLOC_OBJ_NUMANODE,
        [OBJECT_PACKAGE] = HWLOC_OBJ_PACKAGE};
    *o = (struct objects){0};
    if (object == OBJECT_NONE)
        return 0;
    int all = hwloc_get_nbobjs_by_type(topo, types[object]);
    size_t space = all > 0 ? (size_t)all : 1;
    o->list = calloc(space, sizeof *o->list);
    o->uses = calloc(space, sizeof *o->uses);
    for (int i = 0; o->list && o->uses && i < all; i++) {
        hwloc_obj_t obj = hwloc_get_obj_by_type(topo, types[object], (unsigned)i);
        if (obj && obj->cpuset && !hwloc_bitmap_iszero(obj->cpuset))
            o->list[o->n++] = obj;
    }
    if (o->n > 0)
        return 0;
    weft_lines_print("hwloc finds nothing of the kind \"%s\" on this machine; use --bind core, or "
                     "--bind none without --map-by.",
                     weft_placement_name(object));
    return -1;
}

static void free_objects(struct objects *o)
{
    free(o->list);
    free(o->uses);
}

/* Keeps the processors of --cpu-set only. */
static int restrict_topology(hwloc_topology_t topo, const char *cpus)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    bool good = hwloc_bitmap_list_sscanf(set, cpus) == 0 && !hwloc_bitmap_iszero(set) &&
                hwloc_bitmap_isincluded(set, hwloc_topology_get_topology_cpuset(topo)) &&
                hwloc_topology_restrict(topo, set, 0) == 0;
    hwloc_bitmap_free(set);
    if (good)
        return 0;
    char text[1024];
    hwloc_bitmap_list_snprintf(text, sizeof text, hwloc_topology_get_topology_cpuset(topo));
    weft_lines_print("--cpu-set needs a list of processors of %s, such as 0-3,8, not \"%s\".", text,
                     cpus);
    return -1;
}

/* True if hwloc's variables describe another machine, on which no rank is started. */
static bool is_elsewhere(const struct job *job)
{
    return job->plans && (getenv("HWLOC_SYNTHETIC") || getenv("HWLOC_XMLFILE"));
}

static int load(const struct job *job, hwloc_topology_t *topo)
{
    unsigned long flags =
        HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING | HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM;
    if (hwloc_topology_init(topo) == 0) {
        if (hwloc_topology_set_flags(*topo, is_elsewhere(job) ? 0 : flags) == 0 &&
            hwloc_topology_load(*topo) == 0) {
            if (!job->placement.cpus || job->placement.in_turn ||
                restrict_topology(*topo, job->placement.cpus) == 0)
                return 0;
            hwloc_topology_destroy(*topo);
            return -1;
        }
        hwloc_topology_destroy(*topo);
    }
    weft_lines_print("hwloc cannot read this machine's topology: %s; use --bind none.",
                     strerror(errno));
    return -1;
}

int weft_bind_count(const struct job *job, enum object object)
{
    hwloc_topology_t topo;
    struct objects o;
    if (load(job, &topo))
        return -1;
    int status = list_objects(topo, object, &o);
    free_objects(&o);
    hwloc_topology_destroy(topo);
    return status ? -1 : o.n;
}

/* The object that fewest ranks have got, of those with processors in a set (NULL: of all). */
static int least_used(const struct objects *o, hwloc_const_bitmap_t inside)
{
    int best = -1;
    for (int i = 0; i < o->n; i++)
        if ((!inside || hwloc_bitmap_intersects(o->list[i]->cpuset, inside)) &&
            (best < 0 || o->uses[i] < o->uses[best]))
            best = i;
    return best;
}

/* The first object of a rank that is not mapped: equal blocks of ranks for what they share. */
static int shared_object(const struct job *job, int rank, int n)
{
    int each = job->placement.objects;
    return job->size * (long)each > n ? (int)((long)rank * n / job->size) : rank * each;
}

/* Binds one rank within an object (NULL: the machine). False: no core is left. */
static bool choose(const struct job *job, int rank, struct objects *o, hwloc_obj_t within,
                   struct slot *s)
{
    bool shared = job->placement.bind >= OBJECT_L1CACHE;
    int start = shared && !within ? shared_object(job, rank, o->n) : -1;
    for (int k = 0; k < job->placement.objects && k < o->n; k++) {
        int which = start >= 0 ? (start + k) % o->n : least_used(o, within ? within->cpuset : NULL);
        if (which < 0 || (o->uses[which] && !shared && !job->placement.overload))
            return false;
        o->uses[which]++;
        s->first = s->first ? s->first : o->list[which];
        hwloc_bitmap_or(s->set, s->set, o->list[which]->cpuset);
    }
    return job->placement.overload || shared || job->placement.objects <= o->n;
}

/* Counts the processors of ranks that run as used. */
static void count_others(hwloc_topology_t topo, struct objects *o, struct job *others)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    for (const struct rank *r = NULL; (r = weft_job_next_rank(others, r));) {
        if (!r->running || !r->bound)
            continue;
        hwloc_cpuset_from_glibc_sched_affinity(topo, set, &r->cpus, sizeof r->cpus);
        for (int i = 0; i < o->n; i++)
            o->uses[i] += hwloc_bitmap_intersects(o->list[i]->cpuset, set);
    }
    hwloc_bitmap_free(set);
}

/* Ranks that the line only maps are bound if there is a core for each. */
static int refuse(const struct job *job, const struct objects *o, const struct objects *map)
{
    const char *name = weft_placement_name(job->placement.bind);
    char within[64] = "";
    if (map->n > 0)
        snprintf(within, sizeof within, " in %d %s", map->n,
                 weft_placement_name(job->placement.map));
    weft_lines_print(
        "--bind %s needs %d %s for each of %d ranks, but %s offers %d%s; start fewer "
        "ranks, allow them to share by --bind %s:overload-allowed, or use --bind none.",
        name, job->placement.objects, name, job->size, job->host, o->n, within, name);
    return -1;
}

/* Maps and binds all ranks. *unbound: there are too few cores, and the line requests none, or the
 * ranks are spawned beside others. */
static int map_ranks(const struct job *job, struct job *others, hwloc_topology_t topo,
                     struct slot *slots, bool *unbound)
{
    const struct placement *p = &job->placement;
    struct objects bind, map;
    bool good = list_objects(topo, p->bind, &bind) == 0;
    int status = list_objects(topo, p->map, &map) || !good ? -1 : 0;
    if (good && others)
        count_others(topo, &bind, others);
    for (int i = 0; good && status == 0 && i < job->size; i++) {
        if (map.n > 0)
            slots[i].mapped = (p->per_object ? i / p->per_object : i) % map.n;
        good = choose(job, i, &bind, map.n > 0 ? map.list[slots[i].mapped] : NULL, &slots[i]);
    }
    *unbound = status == 0 && !good && (others || (!p->binds && !p->elements));
    if (status == 0 && !good && !*unbound)
        status = refuse(job, &bind, &map);
    free_objects(&bind);
    free_objects(&map);
    return status;
}

static int compare_slots(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    if (x->major != y->major)
        return x->major < y->major ? -1 : 1;
    return x->minor < y->minor ? -1 : x->minor > y->minor;
}

/* The index of the object with the first processor of a set. */
static int find_owner(const struct objects *o, hwloc_const_bitmap_t set)
{
    for (int i = 0; i < o->n; i++)
        if (hwloc_bitmap_isset(o->list[i]->cpuset, (unsigned)hwloc_bitmap_first(set)))
            return i;
    return 0;
}

/* Numbers the ranks: object after object (fills), or over the objects of rank_by in turn. */
static int number_ranks(const struct job *job, hwloc_topology_t topo, struct slot *slots)
{
    const struct placement *p = &job->placement;
    struct objects o;
    if (!p->fills && !p->rank_by)
        return 0;
    if (list_objects(topo, p->fills ? OBJECT_NONE : p->rank_by, &o)) {
        free_objects(&o);
        return -1;
    }
    for (int i = 0; i < job->size; i++) {
        slots[i].major = slots[i].mapped;
        slots[i].minor = i;
        if (!p->fills) {
            int owner = find_owner(&o, slots[i].set);
            slots[i].major = o.uses[owner]++;
            slots[i].minor = owner;
        }
    }
    free_objects(&o);
    qsort(slots, (size_t)job->size, sizeof *slots, compare_slots);
    return 0;
}

/* Adds a processor that weftrun may use. False: it is none. */
static bool add_processor(hwloc_topology_t topo, struct slot *slot, long number)
{
    if (number < 0 || number >= CPU_SETSIZE ||
        !hwloc_bitmap_isset(hwloc_topology_get_topology_cpuset(topo), (unsigned)number))
        return false;
    hwloc_bitmap_set(slot->set, (unsigned)number);
    return true;
}

/* Reads the entries of a list such as "0+2,1,4-7": one for each rank, and again from the first. */
static int bind_in_turn(const struct job *job, hwloc_topology_t topo, struct slot *slots)
{
    const char *at = job->placement.cpus;
    for (int i = 0; i < job->size; i++) {
        long first = -1, last = -1;
        char *end = (char *)(uintptr_t)at;
        bool good;
        do {
            at = end + (*end == '+');
            first = last = strtol(at, &end, 10);
            bool number = end > at;
            if (*end == '-')
                last = strtol(end + 1, &end, 10);
            good = number && last >= first && last < CPU_SETSIZE && strchr("+,", *end) &&
                   add_processor(topo, &slots[i], first);
        } while (good && *end == '+');
        for (; good && first < last && i + 1 < job->size; i++)
            good = add_processor(topo, &slots[i + 1], ++first);
        if (!good) {
            weft_lines_print("\"%s\" is not a list of processors that weftrun may use, one entry "
                             "for each rank, such as 0+1,2+3 or 0-3.",
                             job->placement.cpus);
            return -1;
        }
        at = *end ? end + 1 : job->placement.cpus;
    }
    return 0;
}

static int bind_all(struct job *job, struct job *others, hwloc_topology_t topo, struct slot *slots,
                    bool *unbound)
{
    const struct placement *p = &job->placement;
    if (others && (p->rank_file || p->in_turn)) { /* lists of the first job's ranks */
        *unbound = true;
        return 0;
    }
    if (p->rank_file) {
        hwloc_bitmap_t *sets = calloc((size_t)job->size, sizeof *sets);
        for (int i = 0; sets && i < job->size; i++)
            sets[i] = slots[i].set;
        int status = sets ? weft_rank_file_bind(p->rank_file, topo, job->size, sets) : -1;
        free(sets);
        return status;
    }
    if (p->in_turn)
        return bind_in_turn(job, topo, slots);
    if (p->bind != OBJECT_NONE)
        return map_ranks(job, others, topo, slots, unbound) ||
               (!*unbound && number_ranks(job, topo, slots));
    *unbound = !p->cpus;
    for (int i = 0; i < job->size; i++)
        hwloc_bitmap_copy(slots[i].set, hwloc_topology_get_topology_cpuset(topo));
    return 0;
}

static void report(const struct job *job, hwloc_topology_t topo, int rank, const struct slot *s,
                   bool bound)
{
    char text[1024], what[64] = "";
    hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(topo);
    hwloc_bitmap_list_snprintf(text, sizeof text, bound ? s->set : all);
    if (!bound) {
        weft_lines_print("rank %d%s is not bound (processors %s).", rank, job->words, text);
        return;
    }
    if (s->first)
        snprintf(what, sizeof what, " to %s %u", weft_placement_name(job->placement.bind),
                 s->first->logical_index);
    weft_lines_print("rank %d%s is bound%s (processors %s).", rank, job->words, what, text);
}

static int plan(struct job *job, struct job *others, hwloc_topology_t topo)
{
    bool unbound = false;
    struct slot *slots = calloc((size_t)job->size, sizeof *slots);
    if (!slots) {
        weft_lines_print("No memory for the binding of %d ranks.", job->size);
        return -1;
    }
    for (int i = 0; i < job->size; i++)
        slots[i].set = hwloc_bitmap_alloc();
    int status = bind_all(job, others, topo, slots, &unbound);
    for (int i = 0; i < job->size; i++) {
        struct rank *r = &job->ranks[i];
        r->bound = status == 0 && !unbound;
        hwloc_cpuset_to_glibc_sched_affinity(topo, slots[i].set, &r->cpus, sizeof r->cpus);
        if (status == 0 && job->report_bindings)
            report(job, topo, i, &slots[i], r->bound);
        hwloc_bitmap_free(slots[i].set);
    }
    free(slots);
    return status;
}

int weft_bind_plan_beside(struct job *job, struct job *others)
{
    const struct placement *p = &job->placement;
    hwloc_topology_t topo;
    if (p->bind == OBJECT_NONE && !p->cpus && !p->rank_file && !job->report_bindings)
        return 0;
    if (load(job, &topo))
        return -1;
    int status = plan(job, others, topo);
    hwloc_topology_destroy(topo);
    return status ? -1 : 0;
}

int weft_bind_plan(struct job *job)
{
    return weft_bind_plan_beside(job, NULL);
}
