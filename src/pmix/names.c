// SPDX-License-Identifier: BSD-3-Clause
/*
 * Names in the launcher's service (PMIx_Publish).
 *
 * Invariant: a launcher without the service, a singleton and a process that has joined by PMI-1 get
 * WEFT_BOOT_NAME_UNSERVED.
 */
#include "boot.h"
#include "pmix/pmix_internal.h"

#include <stdio.h>
#include <string.h>

#define PREFIX         "weft.name."
#define LOOKUP_SECONDS 5 /* for a service that waits for a name that nobody has published */

/* The key of a name; false if PMIx has no space for it. */
static bool make_key(pmix_key_t key, const char *name)
{
    int n = snprintf(key, sizeof(pmix_key_t), PREFIX "%s", name);
    return weft_psets_nspace() && n > 0 && (size_t)n < sizeof(pmix_key_t);
}

static enum weft_boot_name result_of(pmix_status_t rc)
{
    switch (rc) {
    case PMIX_SUCCESS:
        return WEFT_BOOT_NAME_DONE;
    case PMIX_ERR_DUPLICATE_KEY:
    case PMIX_ERR_EXISTS:
    case PMIX_ERR_NO_PERMISSIONS:
        return WEFT_BOOT_NAME_TAKEN;
    case PMIX_ERR_NOT_FOUND:
    case PMIX_ERR_TIMEOUT:
        return WEFT_BOOT_NAME_UNKNOWN;
    default:
        return WEFT_BOOT_NAME_UNSERVED;
    }
}

enum weft_boot_name weft_boot_name_publish(const char *name, const char *value)
{
    pmix_info_t info;
    pmix_key_t key = "";
    if (!make_key(key, name))
        return WEFT_BOOT_NAME_UNSERVED;
    PMIX_INFO_LOAD(&info, key, value, PMIX_STRING);
    pmix_status_t rc = PMIx_Publish(&info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return result_of(rc);
}

enum weft_boot_name weft_boot_name_lookup(const char *name, char *value, size_t size)
{
    pmix_pdata_t data;
    pmix_info_t limit;
    int seconds = LOOKUP_SECONDS;
    PMIX_PDATA_CONSTRUCT(&data);
    if (!make_key(data.key, name))
        return WEFT_BOOT_NAME_UNSERVED;
    PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
    enum weft_boot_name result = result_of(PMIx_Lookup(&data, 1, &limit, 1));
    if (result == WEFT_BOOT_NAME_DONE &&
        (data.value.type != PMIX_STRING || !data.value.data.string ||
         (size_t)snprintf(value, size, "%s", data.value.data.string) >= size))
        result = WEFT_BOOT_NAME_UNKNOWN;
    PMIX_INFO_DESTRUCT(&limit);
    PMIX_PDATA_DESTRUCT(&data);
    return result;
}

enum weft_boot_name weft_boot_name_unpublish(const char *name)
{
    pmix_key_t key = "";
    char *keys[] = {key, NULL};
    return make_key(key, name) ? result_of(PMIx_Unpublish(keys, NULL, 0)) : WEFT_BOOT_NAME_UNSERVED;
}
