// SPDX-License-Identifier: BSD-3-Clause
/*
 * The result of the self-test, as it comes in, and what follows from it. The invariant is in
 * views.h.
 */
#include "views.h"

#include "core/settings.h"
#include "ofi/check.h"

#include <stdio.h>
#include <string.h>

static void print_outcome(void *arg, const struct weft_check_report *report,
                          enum weft_check_probe probe)
{
    const struct weft_check_outcome *outcome = &report->outcomes[probe];

    (void)arg;
    if (probe == 0)
        printf("%s %u.%u on %s\n\n", report->provider, report->version >> 16,
               report->version & 0xffff, report->interface);
    printf("    %-38s  %-8s %5.1f s%s%s\n", weft_check_name(probe),
           weft_check_word(outcome->result), outcome->seconds,
           outcome->detail[0] != '\0' ? "  " : "", outcome->detail);
    fflush(stdout);
}

/* Compares the conclusion with the table. Returns 1 when a job would rely on what does not work. */
static int print_agreement(const struct weft_check_report *report)
{
    const struct weft_check_outcome *read = &report->outcomes[WEFT_CHECK_READ];
    int bad = 0;

    if (report->software && !report->row_software) {
        printf("DISAGREES with Weft's table, which lets this provider match: set "
               "WEFT_MATCHING=software, and report this output.\n");
        bad = 1;
    } else if (!report->software && report->row_software) {
        printf("Weft's table is more careful and uses software matching; WEFT_MATCHING=provider "
               "may be faster.\n");
    }
    if (report->spill && !report->row_spill && !report->row_software) {
        printf("DISAGREES with Weft's table, which trusts it with truncated messages: set "
               "WEFT_MATCHING=software, and report this output.\n");
        bad = 1;
    }
    if (report->push && !report->row_push && read->result != WEFT_CHECK_ABSENT) {
        printf("DISAGREES with Weft's table, which reads long messages remotely: choose another "
               "provider by WEFT_PROVIDER, and report this output.\n");
        bad = 1;
    }
    if (bad == 0)
        printf("Weft's table relies on nothing that failed here.\n");
    return bad;
}

int weft_view_check(const char *provider, unsigned timeout)
{
    struct weft_check_report report;
    char why[1024];

    if (weft_check_run(provider, timeout, &report, print_outcome, NULL, why, sizeof why) != 0) {
        fprintf(stderr, "weft_info: %s\n", why);
        return 1;
    }
    if (!report.usable) {
        printf("\nConclusion: not usable.\nWeft cannot run on %s here: choose another provider by "
               "WEFT_PROVIDER ('weft_info --providers' lists them).\n",
               report.provider);
        return 1;
    }
    printf("\nConclusion: %s matching%s%s.\n", report.software ? "software" : "provider",
           report.spill && !report.software ? ", with spill room behind receives" : "",
           report.push ? ", long messages pushed by the sender" : "");
    return print_agreement(&report);
}
