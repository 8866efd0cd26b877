// SPDX-License-Identifier: BSD-3-Clause
/*
 * What can be said about the bootstrap without joining a job. The invariant is in the header.
 */
#include "pmix/version.h"

#include "pmix/pmix_internal.h"

#include <pmix_version.h>
#include <stdio.h>
#include <string.h>

void weft_boot_versions(char *running, size_t running_len, char *built, size_t built_len)
{
    const char *text = PMIx_Get_version();

    /* "OpenPMIx 4.2.2rc2 (PMIx Standard: 4.1, ...)": the first part says it */
    snprintf(running, running_len, "%.*s", (int)strcspn(text, "(,"), text);
    for (size_t n = strlen(running); n > 0 && running[n - 1] == ' '; n--)
        running[n - 1] = '\0';
    snprintf(built, built_len, "%ld.%ld.%ld", (long)PMIX_VERSION_MAJOR, (long)PMIX_VERSION_MINOR,
             (long)PMIX_VERSION_RELEASE);
}

bool weft_boot_launcher(char *name, size_t name_len, char *why, size_t len)
{
    return weft_launcher_detect(name, name_len, why, len) != WEFT_LAUNCH_BROKEN;
}
