// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the launcher knows about the job: sizes, neighbours, hosts.
 *
 * Invariant: nothing here waits for another process. Every question is about what the launcher gave
 * at the start, so it is asked with PMIX_OPTIONAL: a key that a launcher leaves out would otherwise
 * send a request to another node and could wait there for ever.
 *
 * Launchers differ in which keys they give and in the integer types of their values; what is asked
 * here (job size, peers on this node, the node map) is given by Slurm, Open MPI and PRRTE alike.
 */
#include "pmix/pmix_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pmix_proc_t self;
    int size;
} facts;

void weft_job_info_open(const pmix_proc_t *self, int size)
{
    facts.self = *self;
    facts.size = size;
}

pmix_value_t *weft_job_info_value(pmix_rank_t rank, const char *key)
{
    pmix_proc_t about;
    pmix_info_t optional;
    pmix_value_t *value = NULL;
    bool yes = true;

    PMIX_LOAD_PROCID(&about, facts.self.nspace, rank);
    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    pmix_status_t rc = PMIx_Get(&about, key, &optional, 1, &value);
    PMIX_INFO_DESTRUCT(&optional);
    return rc == PMIX_SUCCESS ? value : NULL;
}

static bool integer(const pmix_value_t *v, int64_t *out)
{
    switch (v->type) {
    case PMIX_BYTE:
    case PMIX_UINT8:
        *out = v->data.uint8;
        return true;
    case PMIX_INT8:
        /* A number that may be negative, and no character. */
        // NOLINTNEXTLINE(bugprone-signed-char-misuse)
        *out = v->data.int8;
        return true;
    case PMIX_UINT16:
        *out = v->data.uint16;
        return true;
    case PMIX_INT16:
        *out = v->data.int16;
        return true;
    case PMIX_UINT32:
        *out = v->data.uint32;
        return true;
    case PMIX_INT32:
        *out = v->data.int32;
        return true;
    case PMIX_UINT64:
        *out = (int64_t)v->data.uint64;
        return true;
    case PMIX_INT64:
        *out = v->data.int64;
        return true;
    case PMIX_UINT:
        *out = v->data.uint;
        return true;
    case PMIX_INT:
        *out = v->data.integer;
        return true;
    case PMIX_SIZE:
        *out = (int64_t)v->data.size;
        return true;
    case PMIX_PROC_RANK:
        *out = v->data.rank;
        return true;
    default:
        return false;
    }
}

bool weft_job_info_number(pmix_rank_t rank, const char *key, int64_t *number)
{
    pmix_value_t *value = weft_job_info_value(rank, key);
    bool known = value && integer(value, number);
    if (value)
        PMIX_VALUE_RELEASE(value);
    return known;
}

char *weft_job_info_text(pmix_rank_t rank, const char *key)
{
    pmix_value_t *value = weft_job_info_value(rank, key);
    char *text = NULL;
    if (value && value->type == PMIX_STRING && value->data.string && *value->data.string)
        text = strdup(value->data.string);
    if (value)
        PMIX_VALUE_RELEASE(value);
    return text;
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Reads "0,1,5-7" into ranks, which holds size of them; what makes no sense is passed over. */
static int parse_ranks(const char *text, int *ranks)
{
    int n = 0;
    while (*text) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text)
            break;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long r = first; r >= 0 && r <= last && r < facts.size && n < facts.size; r++)
            ranks[n++] = (int)r;
        text = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* Sorts, drops doubles, and makes sure that this process is its own neighbour. */
static int tidy(int *ranks, int n)
{
    int self = (int)facts.self.rank, kept = 0;
    bool found = false;

    for (int i = 0; i < n; i++)
        found = found || ranks[i] == self;
    if (!found) {
        n = n < facts.size ? n : facts.size - 1;
        ranks[n++] = self;
    }
    qsort(ranks, (size_t)n, sizeof *ranks, ascending);
    for (int i = 0; i < n; i++)
        if (kept == 0 || ranks[kept - 1] != ranks[i])
            ranks[kept++] = ranks[i];
    return kept;
}

int weft_job_info_neighbours(int **ranks)
{
    *ranks = malloc((size_t)facts.size * sizeof **ranks);
    if (!*ranks)
        return 0;
    char *text = weft_job_info_text(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    int n = text ? parse_ranks(text, *ranks) : 0;
    free(text);
    return tidy(*ranks, n);
}

/* Marks the ranks that run on a node with the lowest of them; false when they are not known. */
static bool mark_node(const char *node, int32_t *first)
{
    pmix_proc_t *procs = NULL;
    size_t n = 0;
    pmix_rank_t lowest = PMIX_RANK_UNDEF;

    if (PMIx_Resolve_peers(node, facts.self.nspace, &procs, &n) != PMIX_SUCCESS)
        return false;
    for (size_t i = 0; i < n; i++)
        lowest = procs[i].rank < lowest ? procs[i].rank : lowest;
    for (size_t i = 0; i < n; i++)
        if (procs[i].rank < (pmix_rank_t)facts.size)
            first[procs[i].rank] = (int32_t)lowest;
    PMIX_PROC_FREE(procs, n);
    return true;
}

bool weft_job_info_nodes(int32_t *first)
{
    char *nodes = NULL, *rest = NULL;
    bool known = true;

    for (int r = 0; r < facts.size; r++)
        first[r] = -1;
    if (PMIx_Resolve_nodes(facts.self.nspace, &nodes) != PMIX_SUCCESS || !nodes)
        return false;
    for (char *node = strtok_r(nodes, ",", &rest); node && known; node = strtok_r(NULL, ",", &rest))
        known = mark_node(node, first);
    free(nodes);
    for (int r = 0; r < facts.size; r++)
        known = known && first[r] >= 0;
    return known;
}

static bool runs_on(const char *node, int rank)
{
    pmix_proc_t *procs = NULL;
    size_t n = 0;
    bool found = false;

    if (PMIx_Resolve_peers(node, facts.self.nspace, &procs, &n) != PMIX_SUCCESS)
        return false;
    for (size_t i = 0; i < n && !found; i++)
        found = procs[i].rank == (pmix_rank_t)rank;
    PMIX_PROC_FREE(procs, n);
    return found;
}

/* Slurm gives no host name for ranks of other nodes, but the map of nodes says it too. */
static bool host_by_map(int rank, char *buf, size_t len)
{
    char *nodes = NULL, *rest = NULL;
    bool found = false;

    if (PMIx_Resolve_nodes(facts.self.nspace, &nodes) != PMIX_SUCCESS || !nodes)
        return false;
    for (char *node = strtok_r(nodes, ",", &rest); node && !found;
         node = strtok_r(NULL, ",", &rest)) {
        found = runs_on(node, rank);
        if (found)
            snprintf(buf, len, "%s", node);
    }
    free(nodes);
    return found;
}

bool weft_job_info_host(int rank, char *buf, size_t len)
{
    char *text = weft_job_info_text((pmix_rank_t)rank, PMIX_HOSTNAME);
    if (!text)
        return host_by_map(rank, buf, len);
    snprintf(buf, len, "%s", text);
    free(text);
    return true;
}
