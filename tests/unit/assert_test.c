// SPDX-License-Identifier: BSD-3-Clause
/* weft_assert: with --enable-assert a false condition is one sentence and the end of the process;
 * without it no condition is evaluated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/assert.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WEFT_ASSERT
enum { EXECUTED = 1 };
#else
enum { EXECUTED = 0 };
#endif

static int evaluated;

static void assert_less(int a, int b)
{
    weft_assert(++evaluated && a < b);
}

/* Its exit status, and what it writes to stderr. */
static int run_child(int a, int b, char *text, size_t space)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        assert_less(a, b);
        _exit(0);
    }
    close(ends[1]);
    FILE *stream = fdopen(ends[0], "r");
    text[fread(text, 1, space - 1, stream)] = 0;
    fclose(stream);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_true(void **state)
{
    (void)state;
    evaluated = 0;
    assert_less(1, 2);
    assert_int_equal(evaluated, EXECUTED);
}

static void test_false(void **state)
{
    (void)state;
    char text[2000];
    int status = run_child(2, 1, text, sizeof text);
    assert_int_equal(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, EXECUTED);
    assert_int_equal(strlen(text) > 0, EXECUTED);
    if (!EXECUTED)
        return;
    assert_non_null(strstr(text, "assert_test.c:"));
    assert_non_null(strstr(text, ": assert_less: the invariant '++evaluated && a < b' does not"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true),
        cmocka_unit_test(test_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
