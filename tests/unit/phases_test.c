// SPDX-License-Identifier: BSD-3-Clause
/*
 * The report of the phases of MPI's start and end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/phases.h"
#include "core/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char report[2048];

/* Sets report to what the report prints on standard error. */
static void take_report(int verbose)
{
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_non_null(file);
    weft_settings.verbose = verbose;
    dup2(fileno(file), STDERR_FILENO);
    weft_phases_report("the start of MPI");
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    report[fread(report, 1, sizeof report - 1, file)] = 0;
    fclose(file);
}

/* The milliseconds behind a word of the report. */
static double number_after(const char *word)
{
    const char *at = strstr(report, word);
    assert_non_null(at);
    return atof(at + strlen(word));
}

static void test_phases_add_up(void **state)
{
    (void)state;
    weft_phases_begin();
    usleep(30000);
    weft_phase_end("join the job");
    weft_phase_end("fence");
    usleep(20000);
    weft_phase_end("join the job");
    take_report(2);
    assert_non_null(strstr(report, "the start of MPI took "));
    double join = number_after("by phase: join the job "), fence = number_after(", fence ");
    assert_true(join >= 50);
    assert_true(number_after("took ") >= join + fence - 0.2);
    assert_true(number_after("took ") <= join + fence + 0.2);
    assert_true(number_after("ms, and ") < join);
}

static void test_begin_forgets(void **state)
{
    (void)state;
    weft_phase_end("barrier");
    weft_phases_begin();
    weft_phase_end("memory");
    take_report(2);
    assert_null(strstr(report, "barrier"));
    assert_non_null(strstr(report, "memory"));
}

static void test_silent(void **state)
{
    (void)state;
    weft_phases_begin();
    weft_phase_end("memory");
    take_report(1);
    assert_string_equal(report, "");
}

/* More names than there are rows: the time goes to the last one. */
static void test_too_many(void **state)
{
    static char names[40][16];
    (void)state;
    weft_phases_begin();
    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        if (i == 39)
            usleep(20000);
        weft_phase_end(names[i]);
    }
    take_report(2);
    assert_null(strstr(report, "n39"));
    assert_true(number_after("n15 ") >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases_add_up), cmocka_unit_test(test_begin_forgets),
        cmocka_unit_test(test_silent), cmocka_unit_test(test_too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
