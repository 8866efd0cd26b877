// SPDX-License-Identifier: BSD-3-Clause
/* A comparison of groups; without memory for its table the process ends with a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/comm/group.h"
#include "core/process/weft.h"

#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The table of all ranks of a job of INT_MAX processes exceeds the limit. */
static void compare_in_huge_job(const struct weft_group *a, const struct weft_group *b)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_AS, &limit);
    weft.job.size = INT_MAX;
    weft_group_compare(a, b);
    _exit(0);
}

static void compare(void **state)
{
    (void)state;
    char text[512] = "";
    int out[2], status;
    weft.job.size = 4;
    struct weft_group *up = weft_group_run(4, 0, 1), *down = weft_group_run(4, 3, -1);
    assert_int_equal(weft_group_compare(up, down), MPI_SIMILAR);
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDERR_FILENO);
        compare_in_huge_job(up, down);
    }
    close(out[1]);
    assert_true(read(out[0], text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "no memory for a table of the job's processes"));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == MPI_ERR_NO_MEM);
    close(out[0]);
    weft_group_release(up);
    weft_group_release(down);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(compare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
