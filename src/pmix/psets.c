// SPDX-License-Identifier: BSD-3-Clause
/*
 * The launcher's process sets (mpirun --pset of PRRTE; most launchers have none).
 *
 * Invariant: the sets are queried once, at the first use. A set whose members are unknown or of
 * another job is left out. A singleton has no set and queries nothing.
 */
#include "boot.h"
#include "pmix/pmix_internal.h"

#include <stdlib.h>
#include <string.h>

static bool queried;
static struct weft_boot_pset *sets;
static int nsets;

/* One query. The caller frees the result by PMIX_INFO_FREE. */
static pmix_info_t *query_pmix(const char *key, const char *set, size_t *count)
{
    pmix_query_t query;
    pmix_info_t *answer = NULL;
    PMIX_QUERY_CONSTRUCT(&query);
    pmix_status_t rc;
    PMIX_ARGV_APPEND(rc, query.keys, key);
    (void)rc;
    if (set) {
        PMIX_INFO_CREATE(query.qualifiers, 1);
        query.nqual = 1;
        PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_PSET_NAME, set, PMIX_STRING);
    }
    *count = 0;
    if (PMIx_Query_info(&query, 1, &answer, count) != PMIX_SUCCESS)
        *count = 0;
    PMIX_QUERY_DESTRUCT(&query);
    return answer;
}

/* Stores the ranks of a set; false if a member is of another job. */
static bool members(const char *nspace, const pmix_value_t *value, struct weft_boot_pset *set)
{
    if (value->type != PMIX_DATA_ARRAY || !value->data.darray ||
        value->data.darray->type != PMIX_PROC)
        return false;
    const pmix_proc_t *procs = value->data.darray->array;
    size_t n = value->data.darray->size;
    set->ranks = malloc((n + 1) * sizeof *set->ranks);
    for (size_t i = 0; set->ranks && i < n; i++) {
        if (strcmp(procs[i].nspace, nspace) != 0)
            return false;
        set->ranks[i] = (int)procs[i].rank;
    }
    set->size = (int)n;
    return set->ranks != NULL;
}

static void add(const char *nspace, const char *name)
{
    size_t count;
    struct weft_boot_pset set = {.name = strdup(name)};
    pmix_info_t *answer = query_pmix(PMIX_QUERY_PSET_MEMBERSHIP, name, &count);
    struct weft_boot_pset *more = realloc(sets, ((size_t)nsets + 1) * sizeof *more);
    if (more)
        sets = more;
    if (more && set.name && count && members(nspace, &answer[0].value, &set)) {
        sets[nsets++] = set;
    } else {
        free(set.name);
        free(set.ranks);
    }
    if (answer)
        PMIX_INFO_FREE(answer, count);
}

static void query_sets(const char *nspace)
{
    size_t count;
    pmix_info_t *answer = query_pmix(PMIX_QUERY_PSET_NAMES, NULL, &count);
    if (count && answer[0].value.type == PMIX_STRING && answer[0].value.data.string) {
        char *rest, *names = answer[0].value.data.string;
        for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
            add(nspace, name);
    }
    if (answer)
        PMIX_INFO_FREE(answer, count);
}

int weft_boot_psets(const struct weft_boot_pset **all)
{
    const char *nspace = weft_psets_nspace();
    if (!queried && nspace)
        query_sets(nspace);
    queried = true;
    *all = sets;
    return nsets;
}

void weft_psets_close(void)
{
    for (int i = 0; i < nsets; i++) {
        free(sets[i].name);
        free(sets[i].ranks);
    }
    free(sets);
    sets = NULL;
    nsets = 0;
    queried = false;
}
