// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * Each wrong argument of the functions on datatypes has its error class, and leaves the result
 * alone.
 */
#include "check.h"

#include <limits.h>

#define WRONG(call, class)                                                                         \
    do {                                                                                           \
        result = MPI_DATATYPE_NULL;                                                                \
        CHECK_CLASS(call, class);                                                                  \
        CHECK(result == MPI_DATATYPE_NULL, "%s wrote its result", #call);                          \
    } while (0)

static void constructors(void)
{
    int lengths[] = {1, -1}, places[] = {0, 2}, sizes[] = {4, 4}, taken[] = {2, 2},
        starts[] = {3, 0};
    MPI_Aint addresses[] = {0, 8};
    MPI_Count large[] = {1, 1}, far[] = {0, INT64_MAX};
    MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL}, result, bad = (MPI_Datatype)MPI_COMM_WORLD;
    WRONG(MPI_Type_contiguous(-1, MPI_INT, &result), MPI_ERR_COUNT);
    WRONG(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &result), MPI_ERR_TYPE);
    WRONG(MPI_Type_contiguous(1, bad, &result), MPI_ERR_TYPE);
    WRONG(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG);
    WRONG(MPI_Type_contiguous_c(INT64_MAX, MPI_INT, &result), MPI_ERR_COUNT);
    WRONG(MPI_Type_vector(-1, 1, 1, MPI_INT, &result), MPI_ERR_COUNT);
    WRONG(MPI_Type_vector(1, -1, 1, MPI_INT, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_vector_c(INT64_MAX, INT64_MAX, 1, MPI_INT, &result), MPI_ERR_COUNT);
    WRONG(MPI_Type_vector_c(3, 1, INT64_MAX, MPI_INT, &result), MPI_ERR_COUNT);
    WRONG(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_indexed(2, lengths, places, MPI_INT, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_indexed(2, NULL, places, MPI_INT, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_indexed(-2, lengths, places, MPI_INT, &result), MPI_ERR_COUNT);
    WRONG(MPI_Type_create_hindexed(2, lengths, addresses, MPI_INT, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_create_hindexed_c(2, large, far, MPI_INT, &result), MPI_ERR_COUNT);
    WRONG(MPI_Type_create_indexed_block(2, -3, places, MPI_INT, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_create_indexed_block_c(2, 1, far, MPI_INT, &result), MPI_ERR_COUNT);
    WRONG(MPI_Type_create_hindexed_block(2, 1, NULL, MPI_INT, &result), MPI_ERR_ARG);
    lengths[1] = 1;
    WRONG(MPI_Type_create_struct(2, lengths, addresses, types, &result), MPI_ERR_TYPE);
    WRONG(MPI_Type_create_struct(2, lengths, addresses, NULL, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_create_struct(-1, lengths, addresses, types, &result), MPI_ERR_COUNT);
    WRONG(MPI_Type_create_resized_c(MPI_INT, INT64_MAX, 1, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_create_subarray(0, sizes, taken, starts, MPI_ORDER_C, MPI_INT, &result),
          MPI_ERR_DIMS);
    WRONG(MPI_Type_create_subarray(2, sizes, taken, starts, MPI_ORDER_C, MPI_INT, &result),
          MPI_ERR_ARG);
    starts[0] = 0;
    WRONG(MPI_Type_create_subarray(2, sizes, taken, starts, 3, MPI_INT, &result), MPI_ERR_ARG);
    taken[1] = 0;
    WRONG(MPI_Type_create_subarray(2, sizes, taken, starts, MPI_ORDER_C, MPI_INT, &result),
          MPI_ERR_ARG);
    WRONG(MPI_Type_dup(MPI_DATATYPE_NULL, &result), MPI_ERR_TYPE);
    WRONG(MPI_Type_match_size(MPI_TYPECLASS_REAL, 5, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_match_size(-7, 4, &result), MPI_ERR_ARG);
}

static void darrays(void)
{
    int g[] = {10, 10}, d[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, p[] = {2, 2};
    int a[] = {MPI_DISTRIBUTE_DFLT_DARG, 3};
    MPI_Datatype result;
    WRONG(MPI_Type_create_darray(4, 4, 2, g, d, a, p, MPI_ORDER_C, MPI_INT, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_create_darray(5, 0, 2, g, d, a, p, MPI_ORDER_C, MPI_INT, &result), MPI_ERR_ARG);
    WRONG(MPI_Type_create_darray(4, 0, 0, g, d, a, p, MPI_ORDER_C, MPI_INT, &result), MPI_ERR_DIMS);
    a[0] = 4; /* two blocks of 4 do not cover 10 */
    WRONG(MPI_Type_create_darray(4, 0, 2, g, d, a, p, MPI_ORDER_C, MPI_INT, &result), MPI_ERR_ARG);
    a[0] = 5;
    a[1] = 0;
    WRONG(MPI_Type_create_darray(4, 0, 2, g, d, a, p, MPI_ORDER_C, MPI_INT, &result), MPI_ERR_ARG);
    a[1] = 1;
    d[1] = MPI_DISTRIBUTE_NONE;
    WRONG(MPI_Type_create_darray(4, 0, 2, g, d, a, p, MPI_ORDER_C, MPI_INT, &result), MPI_ERR_ARG);
    d[1] = 77;
    WRONG(MPI_Type_create_darray(4, 0, 2, g, d, a, p, MPI_ORDER_C, MPI_INT, &result), MPI_ERR_ARG);
}

static void whole_types(void)
{
    MPI_Datatype type = MPI_INT, none = MPI_DATATYPE_NULL, kept;
    MPI_Count lb, extent;
    char data[100] = {0};
    int n;
    CHECK_CLASS(MPI_Type_free(&type), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_free(&none), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_free(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_commit(&none), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_commit(NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_size(none, &n), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_get_extent_c(none, &lb, &extent), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_get_true_extent_c(MPI_INT, &lb, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_set_name(none, "x"), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_set_name(MPI_INT, NULL), MPI_ERR_ARG);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    CHECK_CLASS(MPI_Send(data, 1, type, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE); /* not committed */
    CHECK_CLASS(MPI_Recv(data, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    kept = type;
    MPI_Type_free(&type);
    CHECK_CLASS(MPI_Type_commit(&kept), MPI_ERR_TYPE); /* freed */
    MPI_Type_contiguous_c((MPI_Count)INT_MAX + 1, MPI_BYTE, &type);
    CHECK_CLASS(MPI_Type_size(type, &n), MPI_SUCCESS);
    CHECK(n == MPI_UNDEFINED, "the size of a type beyond 2 GiB is %d", n);
    MPI_Type_free(&type);
}

static void contents(void)
{
    MPI_Datatype type, none = MPI_DATATYPE_NULL, types[1];
    MPI_Aint addresses[1];
    int n[4], integers[3];
    CHECK_CLASS(MPI_Type_get_envelope(none, &n[0], &n[1], &n[2], &n[3]), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_get_envelope(MPI_INT, NULL, &n[1], &n[2], &n[3]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_get_contents(MPI_INT, 0, 0, 0, integers, addresses, types), MPI_ERR_TYPE);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    CHECK_CLASS(MPI_Type_get_contents(type, 2, 0, 1, integers, addresses, types), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_get_contents(type, 3, 0, 0, integers, addresses, types), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_get_contents(type, 3, 0, 1, NULL, addresses, types), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_get_contents(type, 3, 0, 1, integers, addresses, types), MPI_SUCCESS);
    MPI_Type_free(&type);
    CHECK_CLASS(MPI_Type_create_f90_real(5000, MPI_UNDEFINED, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_complex(6, 100000, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_integer(9, NULL), MPI_ERR_ARG);
}

static void packing(void)
{
    char data[100] = {0}, packed[100];
    int position = 0, n;
    MPI_Aint at = 0;
    MPI_Datatype type;
    CHECK_CLASS(MPI_Pack(data, -1, MPI_INT, packed, 100, &position, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Pack(data, 1, MPI_DATATYPE_NULL, packed, 100, &position, MPI_COMM_WORLD),
                MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Pack(data, 1, MPI_INT, packed, 3, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Pack(data, 1, MPI_INT, packed, 100, &position, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Pack(data, 1, MPI_INT, packed, 100, NULL, MPI_COMM_WORLD), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack(data, 1, MPI_INT, NULL, 100, &position, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Unpack(packed, 3, &position, data, 1, MPI_INT, MPI_COMM_WORLD),
                MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &n), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack_external("native", data, 1, MPI_INT, packed, 100, &at), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pack_external("external32", data, 1, MPI_INT, packed, 3, &at),
                MPI_ERR_TRUNCATE);
    position = -1;
    CHECK_CLASS(MPI_Pack(data, 1, MPI_INT, packed, 100, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
    CHECK(position == -1 && at == 0, "a failed call moved the position");
    position = 0;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    CHECK_CLASS(MPI_Pack(data, 1, type, packed, 100, &position, MPI_COMM_WORLD), MPI_ERR_TYPE);
    MPI_Type_free(&type);
    CHECK_CLASS(MPI_Pack(NULL, 0, MPI_INT, NULL, 0, &position, MPI_COMM_WORLD), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    constructors();
    darrays();
    whole_types();
    contents();
    packing();
    return check_done();
}
