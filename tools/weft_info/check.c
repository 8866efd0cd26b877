// SPDX-License-Identifier: BSD-3-Clause
/*
 * The result of the self-test, as it comes in, and what follows from it. The invariant is in
 * views.h.
 */
#include "views.h"

#include "probes/run.h"

#include <stdio.h>
#include <string.h>

static void print_outcome(void *arg, const struct weft_check_report *report,
                          enum weft_check_probe probe)
{
    const struct weft_check_outcome *outcome = &report->outcomes[probe];

    (void)arg;
    if (probe == 0)
        printf("%s %u.%u on %s\n%s\n", report->provider, report->version >> 16,
               report->version & 0xffff, report->interface, report->facts);
    printf("    %-38s  %-8s %5.1f s%s%s\n", weft_check_name(probe),
           weft_check_word(outcome->result), outcome->seconds,
           outcome->detail[0] != '\0' ? "  " : "", outcome->detail);
    fflush(stdout);
}

static void print_use(const char *whose, const struct weft_check_use *use)
{
    printf("%s: %s matching%s; long messages %s%s.\n", whose,
           use->software ? "software" : "provider",
           use->overflow && !use->software ? ", with spill room behind receives" : "",
           use->push ? "pushed by the sender" : "read by the receiver",
           use->write ? ", packed and written where they have holes" : "");
}

/* Prints features that the table relies on and that failed. Returns 1 if there is one. */
static int disagree(bool wrong, const char *reliance, const char *remedy)
{
    if (wrong)
        printf("DISAGREES with Weft's table, by which %s: set %s, and report this output.\n",
               reliance, remedy);
    return wrong;
}

/* Compares the conclusion with the table. Returns 1 when a job would rely on what does not work. */
static int print_agreement(const struct weft_check_report *report)
{
    const struct weft_check_use *use = &report->use, *row = &report->row;
    int bad = 0;

    bad |=
        disagree(use->software && !row->software, "the provider matches", "WEFT_MATCHING=software");
    bad |= disagree(use->overflow && !row->overflow && !row->software && !use->software,
                    "truncated messages do no harm", "WEFT_MATCHING=software");
    bad |= disagree(use->push && !row->push, "long messages are read", "WEFT_RENDEZVOUS=push");
    bad |= disagree(!use->push && !use->write && row->write, "messages with holes are written",
                    "WEFT_RENDEZVOUS=push");
    if (!use->software && row->software)
        printf("Weft's table is more careful and uses software matching; WEFT_MATCHING=provider "
               "may be faster.\n");
    if (bad == 0)
        printf("Weft's table relies on nothing that failed here.\n");
    return bad;
}

/* Notes that do not change the conclusion. */
static void print_remarks(const struct weft_check_report *report)
{
    const struct weft_check_outcome *o = report->outcomes;

    if (o[WEFT_CHECK_LOAD_COMPLETE].result == WEFT_CHECK_ABSENT)
        printf("Messages complete in another order than they match, as libfabric allows: software "
               "matching has to go by sequence numbers.\n");
    if (o[WEFT_CHECK_REGISTER].result == WEFT_CHECK_BROKEN)
        printf("The memory that can be registered is limited: if the limit of locked memory is the "
               "cause, 'ulimit -l unlimited' raises it.\n");
}

int weft_view_check(const char *provider, unsigned timeout)
{
    struct weft_check_report report;
    char why[1024];

    if (weft_check_run(provider, timeout, &report, print_outcome, NULL, why, sizeof why) != 0) {
        fprintf(stderr, "weft_info: %s\n", why);
        return 1;
    }
    printf("\n");
    print_remarks(&report);
    if (!report.usable) {
        printf("Conclusion: not usable.\nWeft cannot run on %s here: choose another provider by "
               "WEFT_PROVIDER ('weft_info --providers' lists them).\n",
               report.provider);
        return 1;
    }
    print_use("Conclusion", &report.use);
    print_use("Weft's table", &report.row);
    return print_agreement(&report);
}
