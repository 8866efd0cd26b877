// SPDX-License-Identifier: BSD-3-Clause
/*
 * Names that ranks publish (PMIx_Publish), for all ranks of this weftrun.
 *
 * Invariants:
 *  - A name is in the list once. The lock guards the list.
 *  - A name is removed when its publisher has ended, because nothing answers at its port.
 */
#include "server_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct name {
    struct name *next;
    pmix_proc_t owner;
    pmix_key_t key;
    pmix_value_t value;
};

static struct {
    pthread_mutex_t lock;
    struct name *first;
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The link to a name, or the one at the end of the list. */
static struct name **find(const char *key)
{
    struct name **at = &names.first;
    while (*at && strncmp((*at)->key, key, PMIX_MAX_KEYLEN) != 0)
        at = &(*at)->next;
    return at;
}

static void remove_at(struct name **at)
{
    struct name *name = *at;
    *at = name->next;
    PMIX_VALUE_DESTRUCT(&name->value);
    free(name);
}

/* True if a key directs the call and is no data: libpmix passes both in one array. */
static bool directs(const pmix_info_t *info)
{
    return PMIX_CHECK_KEY(info, PMIX_RANGE) || PMIX_CHECK_KEY(info, PMIX_PERSISTENCE) ||
           PMIX_CHECK_KEY(info, PMIX_USERID) || PMIX_CHECK_KEY(info, PMIX_GRPID) ||
           PMIX_CHECK_KEY(info, PMIX_TIMEOUT) || PMIX_CHECK_KEY(info, PMIX_WAIT);
}

static pmix_status_t add(const pmix_proc_t *proc, const pmix_info_t *info)
{
    struct name **at = find(info->key);
    if (*at)
        return PMIX_ERR_DUPLICATE_KEY;
    struct name *name = calloc(1, sizeof *name);
    if (!name)
        return PMIX_ERR_NOMEM;
    name->owner = *proc;
    PMIX_LOAD_KEY(name->key, info->key);
    pmix_status_t rc = PMIx_Value_xfer(&name->value, &info->value);
    if (rc == PMIX_SUCCESS)
        *at = name;
    else
        free(name);
    return rc;
}

pmix_status_t weft_server_on_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t done, void *arg)
{
    (void)done, (void)arg;
    pmix_status_t rc = PMIX_SUCCESS;
    pthread_mutex_lock(&names.lock);
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++)
        if (!directs(&info[i]))
            rc = add(proc, &info[i]);
    pthread_mutex_unlock(&names.lock);
    return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc;
}

pmix_status_t weft_server_on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                    size_t ninfo, pmix_lookup_cbfunc_t done, void *arg)
{
    (void)proc, (void)info, (void)ninfo;
    size_t n = 0, found = 0;
    while (keys && keys[n])
        n++;
    if (n == 0)
        return PMIX_ERR_BAD_PARAM;
    pmix_pdata_t *data;
    PMIX_PDATA_CREATE(data, n);
    if (!data)
        return PMIX_ERR_NOMEM;
    pthread_mutex_lock(&names.lock);
    for (size_t i = 0; i < n; i++) {
        struct name *name = *find(keys[i]);
        if (!name || PMIx_Value_xfer(&data[found].value, &name->value) != PMIX_SUCCESS)
            continue;
        data[found].proc = name->owner;
        PMIX_LOAD_KEY(data[found].key, name->key);
        found++;
    }
    pthread_mutex_unlock(&names.lock);
    /* libpmix copies the data before the call returns. */
    if (found > 0)
        done(found == n ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS, data, found, arg);
    PMIX_PDATA_FREE(data, n);
    return found > 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* Only the publisher removes a name, as MPI_Unpublish_name requires. */
pmix_status_t weft_server_on_unpublish(const pmix_proc_t *proc, char **keys,
                                       const pmix_info_t info[], size_t ninfo,
                                       pmix_op_cbfunc_t done, void *arg)
{
    (void)info, (void)ninfo, (void)done, (void)arg;
    pmix_status_t rc = PMIX_OPERATION_SUCCEEDED;
    pthread_mutex_lock(&names.lock);
    for (char **key = keys; key && *key; key++) {
        struct name **at = find(*key);
        if (!*at)
            rc = PMIX_ERR_NOT_FOUND;
        else if (!PMIX_CHECK_PROCID(&(*at)->owner, proc))
            rc = PMIX_ERR_NO_PERMISSIONS;
        else
            remove_at(at);
    }
    pthread_mutex_unlock(&names.lock);
    return rc;
}

void weft_server_forget_names(const struct rank *rank)
{
    pmix_proc_t owner;
    PMIX_LOAD_PROCID(&owner, rank->job->nspace, (pmix_rank_t)rank->rank);
    pthread_mutex_lock(&names.lock);
    for (struct name **at = &names.first; *at;) {
        if (PMIX_CHECK_PROCID(&(*at)->owner, &owner))
            remove_at(at);
        else
            at = &(*at)->next;
    }
    pthread_mutex_unlock(&names.lock);
}
