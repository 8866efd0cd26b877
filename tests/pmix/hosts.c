// SPDX-License-Identifier: BSD-3-Clause
/*
 * Preloaded (LD_PRELOAD) into ranks of weftrun: the launcher's data say that ranks 0 to N - 1 are
 * on host n0, the next N on n1 and so on, with N in TEST_RANKS_PER_HOST. Prints a line for each
 * summary of networks that a rank fetches: PMIx_Get is tried first for each.
 */
#include <dlfcn.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_status_t text_value(const char *text, pmix_value_t **value)
{
    PMIX_VALUE_CREATE(*value, 1);
    (*value)->type = PMIX_STRING;
    (*value)->data.string = strdup(text);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                       size_t ninfo, pmix_value_t **value)
{
    __typeof__(&PMIx_Get) next = (__typeof__(next))dlsym(RTLD_NEXT, "PMIx_Get");
    int each = atoi(getenv("TEST_RANKS_PER_HOST"));
    int node = atoi(getenv("PMIX_RANK")) / each;
    char text[64];

    if (key && strstr(key, "weft.networks.2"))
        fprintf(stderr, "fetches the summary of rank %d\n", (int)proc->rank);
    if (key && strcmp(key, PMIX_HOSTNAME) == 0)
        snprintf(text, sizeof text, "n%d", (int)proc->rank / each);
    else if (key && strcmp(key, PMIX_LOCAL_PEERS) == 0)
        snprintf(text, sizeof text, "%d-%d", node * each, (node + 1) * each - 1);
    else
        return next(proc, key, info, ninfo, value);
    return text_value(text, value);
}
