// SPDX-License-Identifier: BSD-3-Clause
/*
 * Settings: defaults, every type's good and bad values at the edges of its bounds, the sentences,
 * and misspelt names.
 *
 * Invariant: each test starts from an environment without WEFT_ variables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static char why[1024];

static int clear_environment(void **state)
{
    char name[256];

    (void)state;
    for (char **entry = environ; *entry != NULL;) {
        if (strncmp(*entry, "WEFT_", 5) != 0) {
            entry++;
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
        unsetenv(name); /* moves the rest down */
    }
    why[0] = '\0';
    return 0;
}

static const struct weft_setting *row_named(const char *name)
{
    for (size_t i = 0; i < weft_settings_count; i++)
        if (strcmp(weft_settings_table[i].name, name) == 0)
            return &weft_settings_table[i];
    fail_msg("no setting is called %s", name);
    return NULL;
}

/* Loads with one variable set; returns the result. */
static int load_with(const char *variable, const char *value)
{
    int rc;

    setenv(variable, value, 1);
    why[0] = '\0';
    rc = weft_settings_load(why, sizeof why);
    unsetenv(variable);
    return rc;
}

static void assert_accepted(const char *variable, const char *value)
{
    if (load_with(variable, value) != 0)
        fail_msg("%s=%s was refused: %s", variable, value, why);
}

/* Refused, with a sentence that has the variable, the value and an end. */
static void assert_refused(const char *variable, const char *value)
{
    char start[300];

    if (load_with(variable, value) == 0)
        fail_msg("%s=%s was accepted", variable, value);
    snprintf(start, sizeof start, "%s=%s is not allowed: give ", variable, value);
    assert_memory_equal(why, start, strlen(start));
    assert_int_equal(why[strlen(why) - 1], '.');
}

static void test_defaults(void **state)
{
    char value[300];

    (void)state;
    assert_int_equal(weft_settings_load(why, sizeof why), 0);
    for (size_t i = 0; i < weft_settings_count; i++)
        assert_string_equal(weft_settings_format(&weft_settings_table[i], value, sizeof value),
                            weft_settings_table[i].initial);
    assert_string_equal(weft_settings.provider, "");
    assert_int_equal(weft_settings.matching, WEFT_MATCHING_AUTO);
    assert_int_equal(weft_settings.verbose, 0);
}

static void test_rows_are_sane(void **state)
{
    char bounds[96];

    (void)state;
    for (size_t i = 0; i < weft_settings_count; i++) {
        const struct weft_setting *row = &weft_settings_table[i];

        assert_true(row->min <= row->max);
        assert_true(row->type == WEFT_SETTING_CHOICE ? row->choices != NULL : row->max > 0);
        assert_true(strlen(row->help) > 10);
        assert_int_equal(strncmp(row->name, "WEFT_", 5), 0);
        assert_int_equal(strspn(row->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), strlen(row->name));
        assert_true(weft_settings_bounds(row, bounds, sizeof bounds)[0] != '\0');
    }
}

static void test_bytes(void **state)
{
    char value[64];

    (void)state;
    assert_accepted("WEFT_EAGER_LIMIT", "8K");
    assert_int_equal(weft_settings.eager_limit, 8192);
    assert_accepted("WEFT_EAGER_LIMIT", "8k");
    assert_int_equal(weft_settings.eager_limit, 8192);
    assert_accepted("WEFT_EAGER_LIMIT", "1M");
    assert_accepted("WEFT_EAGER_LIMIT", "1048576");
    assert_string_equal(weft_settings_format(row_named("WEFT_EAGER_LIMIT"), value, sizeof value),
                        "1M");
    assert_accepted("WEFT_EAGER_LIMIT", "1000");
    assert_string_equal(weft_settings_format(row_named("WEFT_EAGER_LIMIT"), value, sizeof value),
                        "1000");
    assert_accepted("WEFT_EAGER_CREDITS", "1G");
    assert_int_equal(weft_settings.eager_credits, 1 << 30);
    assert_accepted("WEFT_EAGER_CREDITS", "65536");
    assert_refused("WEFT_EAGER_CREDITS", "65535");
    assert_refused("WEFT_EAGER_CREDITS", "1073741825");
    assert_refused("WEFT_EAGER_LIMIT", "1048577");
}

/* A limit that is allowed from some size on, and 0 for "Weft's choice". */
static void test_zero_apart(void **state)
{
    char bounds[96];

    (void)state;
    assert_accepted("WEFT_EAGER_LIMIT", "0");
    assert_int_equal(weft_settings.eager_limit, 0);
    assert_accepted("WEFT_EAGER_LIMIT", "0K");
    assert_accepted("WEFT_EAGER_LIMIT", "256");
    assert_int_equal(weft_settings.eager_limit, 256);
    assert_refused("WEFT_EAGER_LIMIT", "1");
    assert_refused("WEFT_EAGER_LIMIT", "64");
    assert_refused("WEFT_EAGER_LIMIT", "255");
    assert_non_null(strstr(why, "give 0, or a size from 256 to 1M in bytes, or with the suffix"));
    assert_int_equal(weft_settings.eager_limit, 0);
    assert_string_equal(weft_settings_bounds(row_named("WEFT_EAGER_LIMIT"), bounds, sizeof bounds),
                        "0, or 256 to 1M");
    /* Only where 0 is the default: elsewhere the lower bound holds. */
    assert_refused("WEFT_RAILS", "0");
    assert_string_equal(weft_settings_bounds(row_named("WEFT_RAILS"), bounds, sizeof bounds),
                        "1 to 8");
    assert_string_equal(weft_settings_bounds(row_named("WEFT_SPIN"), bounds, sizeof bounds),
                        "0 to 1000000000");
}

static void test_bad_numbers(void **state)
{
    static const char *const bad[] = {"",
                                      " ",
                                      "K",
                                      "8Q",
                                      "8KB",
                                      "8 K",
                                      " 8",
                                      "8 ",
                                      "-1",
                                      "+1",
                                      "1.5K",
                                      "0x10",
                                      "1e3",
                                      "ten",
                                      "18446744073709551616",
                                      "9223372036854775807G",
                                      "99999999999999999999K"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused("WEFT_EAGER_LIMIT", bad[i]);
    assert_refused("WEFT_SPIN", "1K"); /* a count is no size */
    assert_refused("WEFT_SPIN", "1000000001");
    assert_refused("WEFT_CONNECT_TIMEOUT", "0");
    assert_accepted("WEFT_CONNECT_TIMEOUT", "1");
    assert_int_equal(weft_settings.connect_timeout, 1);
}

static void test_choices(void **state)
{
    char value[64];

    (void)state;
    assert_accepted("WEFT_MATCHING", "software");
    assert_int_equal(weft_settings.matching, WEFT_MATCHING_SOFTWARE);
    assert_string_equal(weft_settings_format(row_named("WEFT_MATCHING"), value, sizeof value),
                        "software");
    assert_accepted("WEFT_MATCHING", "provider");
    assert_int_equal(weft_settings.matching, WEFT_MATCHING_PROVIDER);
    assert_accepted("WEFT_VERBOSE", "2");
    assert_int_equal(weft_settings.verbose, 2);
    assert_refused("WEFT_MATCHING", "soft");
    assert_refused("WEFT_MATCHING", "auto|provider");
    assert_refused("WEFT_MATCHING", "");
    assert_refused("WEFT_MATCHING", "Software");
    assert_refused("WEFT_VERBOSE", "3");
    assert_non_null(strstr(why, "one of 0|1|2"));
}

static void test_strings(void **state)
{
    char longest[256], too_long[257];

    (void)state;
    assert_accepted("WEFT_PROVIDER", "tcp;ofi_rxm");
    assert_string_equal(weft_settings.provider, "tcp;ofi_rxm"); /* outlives the variable */
    memset(longest, 'x', 255);
    longest[255] = '\0';
    memset(too_long, 'x', 256);
    too_long[256] = '\0';
    assert_accepted("WEFT_IFACE", longest);
    assert_int_equal(load_with("WEFT_IFACE", too_long), -1);
    assert_non_null(strstr(why, "WEFT_IFACE=xxx"));
    assert_non_null(strstr(why, "at most 255 characters"));
    assert_accepted("WEFT_IFACE", "");
}

static void test_refused_keeps_default(void **state)
{
    (void)state;
    setenv("WEFT_SPIN", "7", 1);
    assert_int_equal(load_with("WEFT_RAILS", "many"), -1);
    assert_int_equal(weft_settings.rails, 4);
    assert_int_equal(weft_settings.spin, 7);
    unsetenv("WEFT_SPIN");
}

static void assert_suggests(const char *variable, const char *suggestion)
{
    char both[200];

    if (load_with(variable, "1") == 0)
        fail_msg("%s was accepted", variable);
    snprintf(both, sizeof both,
             "sets %s, which is not a setting of Weft; the nearest is %s:", variable, suggestion);
    if (strstr(why, both) == NULL)
        fail_msg("'%s' does not say '%s'", why, both);
}

static void test_misspelt(void **state)
{
    (void)state;
    assert_suggests("WEFT_PROVIDERS", "WEFT_PROVIDER");
    assert_suggests("WEFT_PROVDIER", "WEFT_PROVIDER");
    assert_suggests("WEFT_EAGER", "WEFT_EAGER_LIMIT");
    assert_suggests("WEFT_INTERFACE", "WEFT_IFACE");
    assert_suggests("WEFT_HANG_TIMOUT", "WEFT_HANG_TIMEOUT");
    assert_suggests("WEFT_verbose", "WEFT_VERBOSE");
}

static void test_others_variables(void **state)
{
    (void)state;
    assert_accepted("WEFT_TEST_ANYTHING", "1");
    assert_accepted("WEFTRUN_ANYTHING", "1");
    assert_accepted("WEFT_CC", "clang");
    assert_accepted("WEFT_CXX", "clang++");
    assert_accepted("WEFT_FC", "gfortran");
    assert_int_equal(load_with("WEFT_CCC", "clang"), -1);
}

/* What module files and package managers set. */
static void test_installation(void **state)
{
    static const char *const names[] = {"WEFT_ROOT",    "WEFT_DIR",  "WEFT_HOME", "WEFT_PREFIX",
                                        "WEFT_BASE",    "WEFT_PATH", "WEFT_LIB",  "WEFT_INC",
                                        "WEFT_INCLUDE", "WEFT_BIN",  "WEFT_MAN",  "WEFT_VERSION"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_accepted(names[i], "/opt/weft/0.1.0");
    assert_int_equal(load_with("WEFT_ROOTS", "/opt/weft"), -1);
    assert_int_equal(load_with("WEFT_VER", "1"), -1);
    assert_int_equal(load_with("WEFT_", "1"), -1);
    assert_suggests("WEFT_VERBOS", "WEFT_VERBOSE");
}

/* What a tool sets stays, whatever the environment says, and keeps to the row's bounds. */
static void test_set(void **state)
{
    const struct weft_setting *row = row_named("WEFT_CONNECT_TIMEOUT");
    (void)state;
    assert_false(weft_settings_set(row, "0"));
    assert_accepted("WEFT_CONNECT_TIMEOUT", "30");
    assert_int_equal(weft_settings.connect_timeout, 30);
    assert_true(weft_settings_set(row, "40"));
    assert_accepted("WEFT_CONNECT_TIMEOUT", "50");
    assert_int_equal(weft_settings.connect_timeout, 40);
    assert_false(weft_settings_set(row, "never"));
    assert_int_equal(weft_settings.connect_timeout, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_defaults, clear_environment),
        cmocka_unit_test_setup(test_rows_are_sane, clear_environment),
        cmocka_unit_test_setup(test_bytes, clear_environment),
        cmocka_unit_test_setup(test_zero_apart, clear_environment),
        cmocka_unit_test_setup(test_bad_numbers, clear_environment),
        cmocka_unit_test_setup(test_choices, clear_environment),
        cmocka_unit_test_setup(test_strings, clear_environment),
        cmocka_unit_test_setup(test_refused_keeps_default, clear_environment),
        cmocka_unit_test_setup(test_misspelt, clear_environment),
        cmocka_unit_test_setup(test_others_variables, clear_environment),
        cmocka_unit_test_setup(test_installation, clear_environment),
        cmocka_unit_test_setup(test_set, clear_environment),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
