// SPDX-License-Identifier: BSD-3-Clause
/*
 * The map of the nodes from the names of the ranks' hosts (src/pmix/job_info.c), for many hosts,
 * and without memory. PMIx_Get is this file's.
 */
#include "core/base/error.h"
#include "pmix/pmix_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 100000, MOST_SECONDS = 5 };

static int hosts;            /* of the job; rank r is on host r % hosts */
static pmix_status_t result; /* of PMIx_Get */

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                       size_t ninfo, pmix_value_t **value)
{
    char name[64];
    (void)info;
    (void)ninfo;
    assert_string_equal(key, PMIX_HOSTNAME);
    if (result != PMIX_SUCCESS)
        return result;
    snprintf(name, sizeof name, "node%06d.cluster.example.org", (int)proc->rank % hosts);
    PMIX_VALUE_CREATE(*value, 1);
    assert_non_null(*value);
    (*value)->type = PMIX_STRING;
    (*value)->data.string = strdup(name);
    return PMIX_SUCCESS;
}

static void open_job(int size)
{
    pmix_proc_t self;
    PMIX_LOAD_PROCID(&self, "test", 0);
    weft_job_info_open(&self, size);
    result = PMIX_SUCCESS;
}

/* The time of the processor, because other tests may run beside. */
static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void test_map(void **state)
{
    static const int counts[] = {1, 2, 1000, MANY / 2, MANY};
    static int32_t first[MANY];
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        hosts = counts[i];
        open_job(MANY);
        double start = seconds();
        assert_true(weft_job_info_nodes(first));
        double took = seconds() - start;
        printf("map of %d ranks on %d hosts: %.0f ms\n", MANY, hosts, 1e3 * took);
        assert_true(took < MOST_SECONDS);
        for (int r = 0; r < MANY; r++)
            assert_int_equal(first[r], r % hosts);
    }
    hosts = 1;
    open_job(1);
    assert_true(weft_job_info_nodes(first));
    assert_int_equal(first[0], 0);
}

/* The exit status of a process that makes the map. */
static int status_of_map(rlim_t memory)
{
    static int32_t first[1];
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_AS, &(struct rlimit){memory, memory});
        _exit(weft_job_info_nodes(first) ? 0 : 100);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* A lack of memory is no launcher without a map. */
static void test_no_memory(void **state)
{
    (void)state;
    hosts = 1;
    open_job(1);
    assert_int_equal(status_of_map(RLIM_INFINITY), 0);
    result = PMIX_ERR_NOMEM;
    assert_int_equal(status_of_map(RLIM_INFINITY), MPI_ERR_NO_MEM);
#ifndef __SANITIZE_ADDRESS__ /* its allocator ends the process */
    open_job(INT32_MAX);
    assert_int_equal(status_of_map((rlim_t)1 << 30), MPI_ERR_NO_MEM);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
