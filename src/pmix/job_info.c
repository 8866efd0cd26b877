// SPDX-License-Identifier: BSD-3-Clause
/*
 * The launcher's data about the job: sizes, neighbours, hosts.
 *
 * Invariant: nothing here waits for another process. Every PMIx_Get passes PMIX_OPTIONAL, because
 * the launcher provides these keys at the start, and a missing key would otherwise send a request
 * to another node and could wait for ever.
 *
 * Launchers differ in the keys they provide and in the integer types of the values. The keys used
 * here (job size, peers on this node, node map) are provided by Slurm, Open MPI and PRRTE.
 *
 * Ranks decide by these data what they do together. So a lack of memory ends the job: it must not
 * look like a launcher that has no such data, at one rank only.
 */
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "pmix/pmix_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pmix_proc_t self;
    int size;
} job;

void weft_job_info_open(const pmix_proc_t *self, int size)
{
    job.self = *self;
    job.size = size;
}

static bool succeeded(pmix_status_t rc)
{
    if (rc == PMIX_ERR_NOMEM)
        weft_fatal(MPI_ERR_NO_MEM, "no memory for the launcher's data about the job (PMIx)");
    return rc == PMIX_SUCCESS;
}

pmix_value_t *weft_job_info_value(pmix_rank_t rank, const char *key)
{
    pmix_proc_t about;
    pmix_info_t optional;
    pmix_value_t *value = NULL;
    bool yes = true;

    PMIX_LOAD_PROCID(&about, job.self.nspace, rank);
    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    pmix_status_t rc = PMIx_Get(&about, key, &optional, 1, &value);
    PMIX_INFO_DESTRUCT(&optional);
    return succeeded(rc) ? value : NULL;
}

static bool integer(const pmix_value_t *v, int64_t *out)
{
#define INTEGER(type, field)                                                                       \
    case type:                                                                                     \
        *out = (int64_t)v->data.field;                                                             \
        return true;
    switch (v->type) {
        INTEGER(PMIX_BYTE, byte)
        INTEGER(PMIX_UINT8, uint8)
        INTEGER(PMIX_INT8, int8)
        INTEGER(PMIX_UINT16, uint16)
        INTEGER(PMIX_INT16, int16)
        INTEGER(PMIX_UINT32, uint32)
        INTEGER(PMIX_INT32, int32)
        INTEGER(PMIX_UINT64, uint64)
        INTEGER(PMIX_INT64, int64)
        INTEGER(PMIX_UINT, uint)
        INTEGER(PMIX_INT, integer)
        INTEGER(PMIX_SIZE, size)
        INTEGER(PMIX_PROC_RANK, rank)
    default:
        return false;
    }
#undef INTEGER
}

bool weft_job_info_number(pmix_rank_t rank, const char *key, int64_t *number)
{
    pmix_value_t *value = weft_job_info_value(rank, key);
    bool known = value && integer(value, number);
    if (value)
        PMIX_VALUE_RELEASE(value);
    return known;
}

/* The same for a string: a copy that the caller frees; NULL if it is unknown or empty. */
static char *info_text(pmix_rank_t rank, const char *key)
{
    pmix_value_t *value = weft_job_info_value(rank, key);
    char *text = NULL;
    if (value && value->type == PMIX_STRING && value->data.string && *value->data.string)
        text = weft_memory_copy(value->data.string);
    if (value)
        PMIX_VALUE_RELEASE(value);
    return text;
}

/* Marks the ranks of a list such as "0,1,5-7"; ignores ranks outside of the job. */
static void mark_ranks(const char *text, bool *marked)
{
    while (*text) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text)
            break;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long r = first; r >= 0 && r <= last && r < job.size; r++)
            marked[r] = true;
        text = *end == ',' ? end + 1 : end;
    }
}

int weft_job_info_neighbours(int **ranks)
{
    int n = 0;
    bool *marked = calloc((size_t)job.size, sizeof *marked);
    *ranks = malloc((size_t)job.size * sizeof **ranks);
    char *text = info_text(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    if (marked && *ranks) {
        mark_ranks(text ? text : "", marked);
        marked[job.self.rank] = true;
        for (int r = 0; r < job.size; r++)
            if (marked[r])
                (*ranks)[n++] = r;
    }
    free(text);
    free(marked);
    return n;
}

/* ---- The node map */

/* Calls see(arg, ranks, n, name) for each node with its ranks, until it returns false. Returns
 * false if the launcher has no map. */
static bool each_node(bool (*see)(void *, const pmix_proc_t *, size_t, const char *), void *arg)
{
    char *nodes = NULL, *rest = NULL;
    bool known = succeeded(PMIx_Resolve_nodes(job.self.nspace, &nodes)) && nodes, more = true;
    for (char *node = known ? strtok_r(nodes, ",", &rest) : NULL; node && known && more;
         node = strtok_r(NULL, ",", &rest)) {
        pmix_proc_t *procs = NULL;
        size_t n = 0;
        known = succeeded(PMIx_Resolve_peers(node, job.self.nspace, &procs, &n));
        if (!known)
            break;
        more = see(arg, procs, n, node);
        PMIX_PROC_FREE(procs, n);
    }
    free(nodes);
    return known;
}

/* Writes the lowest rank of a node for each of its ranks. */
static bool mark_node(void *arg, const pmix_proc_t *procs, size_t n, const char *name)
{
    (void)name;
    int32_t *first = arg;
    pmix_rank_t lowest = PMIX_RANK_UNDEF;
    for (size_t i = 0; i < n; i++)
        lowest = procs[i].rank < lowest ? procs[i].rank : lowest;
    for (size_t i = 0; i < n; i++)
        if (procs[i].rank < (pmix_rank_t)job.size)
            first[procs[i].rank] = (int32_t)lowest;
    return true;
}

struct host {
    char *name; /* NULL: none */
    int32_t lowest;
};

/* The host of a name, or where it belongs. Of slots, a power of two, some are free. */
static struct host *find_host(struct host *hosts, size_t slots, const char *name)
{
    size_t at = weft_hash_text(name) & (slots - 1);
    while (hosts[at].name && strcmp(hosts[at].name, name) != 0)
        at = (at + 1) & (slots - 1);
    return &hosts[at];
}

/* Writes the same by the names of the ranks' hosts. False where some are unknown: Slurm gives those
 * of this node only. */
static bool mark_by_names(int32_t *first)
{
    size_t slots = 2;
    int r = 0;
    while (slots < 2 * (size_t)job.size)
        slots *= 2;
    struct host *hosts = weft_memory_get(slots, sizeof *hosts, "a table of the job's hosts");
    for (; r < job.size; r++) {
        char *name = info_text((pmix_rank_t)r, PMIX_HOSTNAME);
        if (!name)
            break;
        struct host *host = find_host(hosts, slots, name);
        if (host->name)
            free(name);
        else
            *host = (struct host){name, r};
        first[r] = host->lowest;
    }
    for (size_t i = 0; i < slots; i++)
        free(hosts[i].name);
    free(hosts);
    return r == job.size;
}

/* Names come first, because under Open MPI's mpirun PMIx_Resolve_peers waits for ever on some
 * nodes: its daemons lack the peers of other nodes. */
bool weft_job_info_nodes(int32_t *first)
{
    if (mark_by_names(first))
        return true;
    for (int r = 0; r < job.size; r++)
        first[r] = -1;
    bool known = each_node(mark_node, first);
    for (int r = 0; r < job.size; r++)
        known = known && first[r] >= 0;
    return known;
}

struct host_search {
    int rank;
    char *buf;
    size_t len;
    bool found;
};

static bool search_node(void *arg, const pmix_proc_t *procs, size_t n, const char *name)
{
    struct host_search *search = arg;
    for (size_t i = 0; i < n && !search->found; i++)
        search->found = procs[i].rank == (pmix_rank_t)search->rank;
    if (search->found)
        snprintf(search->buf, search->len, "%s", name);
    return !search->found;
}

bool weft_job_info_host(int rank, char *buf, size_t len)
{
    char *text = info_text((pmix_rank_t)rank, PMIX_HOSTNAME);
    struct host_search search = {rank, buf, len, text != NULL};
    if (text)
        snprintf(buf, len, "%s", text);
    else
        each_node(search_node, &search); /* Slurm: no PMIX_HOSTNAME for ranks of other nodes */
    free(text);
    return search.found;
}
