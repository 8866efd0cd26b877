// SPDX-License-Identifier: BSD-3-Clause
/*
 * Partitioned communication, as far as programs cannot provoke it in a second: ids that are used up
 * and given again, while some of the first ones are still in use. A job of one rank, to itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/comm/comm.h"
#include "mpi.h"

#include <string.h>

enum { IDS = 7, PARTITIONS = 3 };

struct pair {
    int out[PARTITIONS], in[PARTITIONS];
    MPI_Request both[2];
};

static void make(struct pair *pair, int tag)
{
    PMPI_Psend_init(pair->out, PARTITIONS, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &pair->both[0]);
    PMPI_Precv_init(pair->in, 1, PARTITIONS, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &pair->both[1]);
}

static void use(struct pair *pair, int value)
{
    memset(pair->in, 0, sizeof pair->in);
    for (int i = 0; i < PARTITIONS; i++)
        pair->out[i] = value + i;
    PMPI_Startall(2, pair->both);
    PMPI_Pready_range(0, PARTITIONS - 1, pair->both[0]);
    assert_int_equal(PMPI_Waitall(2, pair->both, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    assert_memory_equal(pair->in, pair->out, sizeof pair->in);
}

static void give_up(struct pair *pair)
{
    PMPI_Request_free(&pair->both[0]);
    PMPI_Request_free(&pair->both[1]);
}

static void ids_come_again(void **state)
{
    struct pair kept[2], passing;
    int most = weft_comm_world.tag_ub;
    (void)state;
    weft_comm_world.tag_ub = IDS;
    make(&kept[0], 0);
    for (int i = 0; i < 4 * IDS; i++) {
        if (i == 3)
            make(&kept[1], 1);
        make(&passing, 0);
        /* A message of the kept ones is on its way when another request begins to listen. */
        PMPI_Start(&kept[0].both[1]);
        use(&passing, 1000 * i);
        for (int k = 0; k < PARTITIONS; k++)
            kept[0].out[k] = 7 * i + k;
        PMPI_Start(&kept[0].both[0]);
        PMPI_Pready_range(0, PARTITIONS - 1, kept[0].both[0]);
        PMPI_Waitall(2, kept[0].both, MPI_STATUSES_IGNORE);
        assert_memory_equal(kept[0].in, kept[0].out, sizeof kept[0].in);
        if (i >= 3)
            use(&kept[1], -1000 * i);
        give_up(&passing);
    }
    give_up(&kept[0]);
    give_up(&kept[1]);
    weft_comm_world.tag_ub = most;
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(ids_come_again)};
    return cmocka_run_group_tests(tests, begin, end);
}
