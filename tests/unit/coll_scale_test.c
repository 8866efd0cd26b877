// SPDX-License-Identifier: BSD-3-Clause
/*
 * The choice of algorithms for 100,000 ranks. Limits are in bytes: the same data as few elements of
 * a long type and as many of a short one have the same algorithm.
 *
 * Invariant: nothing is sent; a schedule depends on its arguments only, so buffers have addresses
 * and no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/settings.h"
#include "core/coll/choose.h"
#include "core/coll/schedule.h"
#include "core/comm/nodes.h"
#include "core/datatype/datatype.h"
#include "core/message/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 100000, KiB = 1024, MiB = 1024 * 1024, MOST_SIZES = 6, LONG_PIECE = 1000 };

#include "tests/no_memory.h"

/* The algorithm by the bytes of one operand or block. MPI_Allgather's rules compare those of all
 * blocks together. */
static const struct {
    enum weft_coll_kind kind;
    struct {
        size_t bytes; /* 0 ends */
        enum weft_algorithm algorithm;
    } at[MOST_SIZES];
} choices[] = {
    {WEFT_COLL_BCAST,
     {{8, WEFT_ALGORITHM_QUADNOMIAL},
      {16 * KiB - 16, WEFT_ALGORITHM_QUADNOMIAL},
      {16 * KiB, WEFT_ALGORITHM_BINOMIAL},
      {128 * KiB - 16, WEFT_ALGORITHM_BINOMIAL},
      {128 * KiB, WEFT_ALGORITHM_SCATTER_RING},
      {64 * MiB, WEFT_ALGORITHM_SCATTER_RING}}},
    {WEFT_COLL_REDUCE,
     {{8, WEFT_ALGORITHM_QUADNOMIAL},
      {16 * KiB - 16, WEFT_ALGORITHM_QUADNOMIAL},
      {16 * KiB, WEFT_ALGORITHM_BINOMIAL},
      {128 * KiB - 16, WEFT_ALGORITHM_BINOMIAL},
      {128 * KiB, WEFT_ALGORITHM_HALVING}}},
    {WEFT_COLL_ALLREDUCE,
     {{8, WEFT_ALGORITHM_DOUBLING},
      {64 * KiB - 16, WEFT_ALGORITHM_DOUBLING},
      {64 * KiB, WEFT_ALGORITHM_HALVING}}},
    {WEFT_COLL_GATHER,
     {{8, WEFT_ALGORITHM_BINOMIAL},
      {4 * KiB - 16, WEFT_ALGORITHM_BINOMIAL},
      {4 * KiB, WEFT_ALGORITHM_LINEAR}}},
    {WEFT_COLL_SCATTER,
     {{8, WEFT_ALGORITHM_BINOMIAL},
      {4 * KiB - 16, WEFT_ALGORITHM_BINOMIAL},
      {4 * KiB, WEFT_ALGORITHM_LINEAR}}},
    {WEFT_COLL_ALLGATHER,
     {{8, WEFT_ALGORITHM_BRUCK}, {320, WEFT_ALGORITHM_BRUCK}, {336, WEFT_ALGORITHM_RING}}},
    {WEFT_COLL_ALLTOALL,
     {{8, WEFT_ALGORITHM_BRUCK},
      {240, WEFT_ALGORITHM_BRUCK},
      {256, WEFT_ALGORITHM_LINEAR},
      {32 * KiB, WEFT_ALGORITHM_PAIRWISE}}},
    {WEFT_COLL_REDUCE_SCATTER_BLOCK,
     {{8, WEFT_ALGORITHM_HALVING}, {4 * KiB, WEFT_ALGORITHM_HALVING}}},
    {WEFT_COLL_BARRIER, {{8, WEFT_ALGORITHM_DISSEMINATION}}}};

static struct weft_group *group;

/* The algorithm of the last rank's schedule. */
static enum weft_algorithm algorithm_of(enum weft_coll_kind kind, size_t count,
                                        const struct weft_datatype *type)
{
    static const uintptr_t in = 1 << 20, out = (uintptr_t)1 << 50;
    struct weft_comm comm = {.rank = RANKS - 1, .size = RANKS, .vci = &weft.vcis[0]};
    comm.coll.comm = &comm;
    comm.group = comm.remote = group;
    struct weft_coll_args args = {.kind = kind, .comm = &comm, .op = weft_handle_object(MPI_SUM)};
    bool sum = kind == WEFT_COLL_REDUCE_SCATTER_BLOCK;
    args.in =
        (struct weft_blocks){.at = (void *)in, .count = sum ? count * RANKS : count, .type = type};
    args.out = kind == WEFT_COLL_BCAST
                   ? args.in
                   : (struct weft_blocks){.at = (void *)out, .count = count, .type = type};
    struct weft_schedule *s = weft_schedule_get(&args);
    assert_non_null(s);
    weft_schedule_build(s, &args);
    assert_false(s->failed);
    enum weft_algorithm algorithm = s->algorithm;
    weft_schedule_put(s);
    return algorithm;
}

/* Types of 1, 4, 8 and 16 bytes. */
static void test_by_bytes(void **state)
{
    const MPI_Datatype types[] = {MPI_BYTE, MPI_FLOAT, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX};
    (void)state;
    for (size_t row = 0; row < sizeof choices / sizeof choices[0]; row++)
        for (int i = 0; i < MOST_SIZES && choices[row].at[i].bytes; i++)
            for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
                const struct weft_datatype *type = weft_handle_object(types[t]);
                size_t bytes = choices[row].at[i].bytes;
                if (bytes % type->size)
                    continue;
                enum weft_algorithm chosen =
                    algorithm_of(choices[row].kind, bytes / type->size, type);
                if (chosen != choices[row].at[i].algorithm)
                    fail_msg("%s of %zu bytes, elements of %zu: %s, not %s",
                             weft_coll_name(choices[row].kind), bytes, (size_t)type->size,
                             weft_algorithm_name(chosen),
                             weft_algorithm_name(choices[row].at[i].algorithm));
            }
}

/* No rank has a message for each other rank if the data are short. */
static void test_few_messages(void **state)
{
    static const enum weft_coll_kind kinds[] = {
        WEFT_COLL_BARRIER, WEFT_COLL_BCAST,     WEFT_COLL_REDUCE,   WEFT_COLL_ALLREDUCE,
        WEFT_COLL_GATHER,  WEFT_COLL_ALLGATHER, WEFT_COLL_ALLTOALL, WEFT_COLL_REDUCE_SCATTER_BLOCK};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct weft_choice choice = {.kind = kinds[i], .size = RANKS, .bytes = 8};
        choice.gives = WEFT_NEED_COMMUTATIVE | WEFT_NEED_EQUAL_BLOCKS;
        if (kinds[i] == WEFT_COLL_ALLGATHER || kinds[i] == WEFT_COLL_REDUCE_SCATTER_BLOCK)
            choice.bytes = (size_t)8 * RANKS;
        enum weft_algorithm chosen = weft_coll_choose(&choice);
        assert_true(chosen != WEFT_ALGORITHM_RING && chosen != WEFT_ALGORITHM_LINEAR &&
                    chosen != WEFT_ALGORITHM_PAIRWISE && chosen != WEFT_ALGORITHM_CHAIN &&
                    chosen != WEFT_ALGORITHM_SCATTER_RING);
    }
}

enum { FEW_RANKS = 1200, EACH_NODE = 2 };

/* Returns true if the schedule of a rank, made with memory for `pieces` - 1 long pieces, fails. */
static bool fails(const struct weft_coll_args *args, unsigned pieces)
{
    struct weft_schedule *s = weft_schedule_get(args);
    assert_non_null(s);
    long_pieces = pieces;
    weft_schedule_build(s, args);
    bool failed = s->failed, lacked = !long_pieces;
    long_pieces = 0;
    weft_schedule_put(s);
    assert_int_equal(failed, lacked);
    return failed;
}

/* Each piece of memory in turn is missing, for blocks that go through the leaders of equal nodes.
 */
static void test_no_memory(void **state)
{
    static const enum weft_coll_kind kinds[] = {WEFT_COLL_GATHER, WEFT_COLL_SCATTER};
    static int32_t label[FEW_RANKS];
    static const uintptr_t in = 1 << 20, out = (uintptr_t)1 << 50;
    struct weft_comm comm = {.size = FEW_RANKS, .vci = &weft.vcis[0]};
    unsigned lacked = 0;
    (void)state;
    for (int i = 0; i < FEW_RANKS; i++)
        label[i] = i / EACH_NODE;
    comm.coll.comm = &comm;
    for (comm.rank = 0; comm.rank < 2 * EACH_NODE; comm.rank++)
        for (int i = 0; i < 2; i++) {
            struct weft_coll_args args = {.kind = kinds[i], .comm = &comm};
            args.in = (struct weft_blocks){
                .at = (void *)in, .count = 8, .type = weft_handle_object(MPI_BYTE)};
            args.out = args.in;
            args.out.at = (void *)out;
            comm.group = comm.remote = weft_group_run(FEW_RANKS, 0, 1);
            assert_non_null(comm.group);
            comm.group->nodes = weft_nodes_arrange(label, FEW_RANKS, comm.rank);
            assert_non_null(comm.group->nodes);
            unsigned pieces = 1;
            while (fails(&args, pieces))
                pieces++;
            lacked += pieces - 1;
            weft_group_release(comm.group);
        }
    assert_true(lacked > 0 || !can_lack_memory());
}

static int start(void **state)
{
    (void)state;
    weft_datatype_init();
    weft_op_init();
    group = weft_group_run(RANKS, 0, 1);
    return !group;
}

static int end(void **state)
{
    (void)state;
    weft_group_release(group);
    weft_schedule_finalize();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_bytes),
                                       cmocka_unit_test(test_few_messages),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, start, end);
}
