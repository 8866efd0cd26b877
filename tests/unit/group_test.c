// SPDX-License-Identifier: BSD-3-Clause
/* A comparison of groups without memory: an error, and the result is not written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/comm/group.h"
#include "core/message/process.h"

#include <limits.h>
#include <sys/resource.h>

/* The table of all ranks of a job of INT_MAX processes exceeds the limit. */
static int compare_in_huge_job(struct weft_group *a, struct weft_group *b, int *result)
{
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    weft.job.size = INT_MAX;
    int code = weft_group_compare(a, b, result);
    weft.job.size = 4;
    setrlimit(RLIMIT_AS, &before);
    return code;
}

static void compare(void **state)
{
    (void)state;
    weft.job.size = 4;
    struct weft_group *up = weft_group_run(4, 0, 1), *down = weft_group_run(4, 3, -1);
    int result = MPI_UNDEFINED;
    assert_int_equal(compare_in_huge_job(up, down, &result), MPI_ERR_NO_MEM);
    assert_int_equal(result, MPI_UNDEFINED);
    assert_int_equal(weft_group_compare(up, down, &result), MPI_SUCCESS);
    assert_int_equal(result, MPI_SIMILAR);
    weft_group_release(up);
    weft_group_release(down);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(compare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
