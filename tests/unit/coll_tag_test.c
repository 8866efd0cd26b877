// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tags of collectives on a communicator with a process of another job, whose tags are longer or
 * shorter than those of this job: both jobs number the calls alike. In a job of one rank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/coll/schedule.h"
#include "core/comm/comm.h"
#include "core/message/foreign.h"
#include "mpi.h"

#include <stdio.h>

enum { SHORT_TAGS = (1 << 15) - 1, LONG_TAGS = INT32_MAX };

/* A communicator of this job, whose largest tag is `own`, and a process whose largest tag is
 * `other`; inter: its groups are one process each. */
static struct weft_comm *make(int own, int other, bool inter)
{
    struct weft_contact contact = {.job = {{5, 7}}, .tag_ub = (uint32_t)other};
    snprintf(contact.job_name, sizeof contact.job_name, "other");
    snprintf(contact.host, sizeof contact.host, "other");
    int world = weft_foreign_number(&contact, NULL), most = weft.tag_ub;
    struct weft_group *group = weft_group_make(inter ? 1 : 2),
                      *remote = inter ? weft_group_make(1) : NULL;
    assert_true(group && world >= 0);
    group->table[0] = weft.job.rank;
    if (remote)
        remote->table[0] = world;
    else
        group->table[1] = world;
    group = weft_group_seal(group);
    remote = remote ? weft_group_seal(remote) : NULL;
    weft.tag_ub = own;
    struct weft_comm *comm = weft_comm_make(group, remote, NULL);
    weft.tag_ub = most;
    assert_non_null(comm);
    weft_group_release(group);
    weft_group_release(remote);
    return comm;
}

static int tag_of(int own, int other, bool inter, uint32_t number)
{
    struct weft_comm *comm = make(own, other, inter);
    int tag = weft_coll_tag(comm, number, WEFT_COLL_BARRIER, false);
    weft_comm_drop(comm);
    return tag;
}

static void jobs_number_alike(void **state)
{
    (void)state;
    for (int inter = 0; inter < 2; inter++)
        for (uint32_t number = 250; number < 260; number++) {
            int tag = tag_of(LONG_TAGS, SHORT_TAGS, inter, number);
            assert_int_equal(tag, tag_of(SHORT_TAGS, LONG_TAGS, inter, number));
            assert_in_range(tag, 0, SHORT_TAGS);
        }
}

static void long_tags_have_more_numbers(void **state)
{
    (void)state;
    assert_int_not_equal(tag_of(LONG_TAGS, LONG_TAGS, false, 0),
                         tag_of(LONG_TAGS, LONG_TAGS, false, 256));
}

static int begin(void **state)
{
    (void)state;
    return PMPI_Init(NULL, NULL);
}

static int end(void **state)
{
    (void)state;
    return PMPI_Finalize();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(jobs_number_alike),
                                       cmocka_unit_test(long_tags_have_more_numbers)};
    return cmocka_run_group_tests(tests, begin, end);
}
