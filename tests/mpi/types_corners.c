// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm,net-soft,shm seconds=60
// run: ranks=1 lanes=self seconds=40
/*
 * Corners of chapter 5: addresses from MPI_BOTTOM, types without data but with an extent,
 * duplicates, types that are committed twice or freed while a message is under way, contents that
 * outlive their type, Fortran's kinds, and the functions that find a predefined type.
 */
#include "check.h"

#include <limits.h>
#include <sys/mman.h>

enum { TAG = 9 };

static int combiner_of(MPI_Datatype type)
{
    int integers, addresses, types, combiner = -1;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner;
}

/* Three objects that have nothing to do with each other, as one message; `many` of the last. All
 * are on the host, because one message is not from both kinds of memory. */
static void absolute_addresses(int peer, int many)
{
    int i = check.rank + 1, j = 0, *out = check_host(2 * (size_t)many * sizeof *out),
        *in = check_host(2 * (size_t)many * sizeof *in);
    double d[3] = {1, 2, check.rank}, e[3] = {0};
    const void *from[] = {d, &i, out};
    void *to[] = {e, &j, in};
    int lengths[] = {3, 1, 1}, position = 0;
    MPI_Datatype pairs, types[] = {MPI_DOUBLE, MPI_INT, MPI_DATATYPE_NULL}, source, target;
    MPI_Aint places[3];
    MPI_Request request;
    for (int k = 0; k < 2 * many; k++) {
        out[k] = 3 * k + check.rank;
        in[k] = -1;
    }
    MPI_Type_vector(many, 1, 2, MPI_INT, &pairs); /* every other one */
    types[2] = pairs;
    for (int k = 0; k < 3; k++)
        MPI_Get_address(from[k], &places[k]);
    MPI_Type_create_struct(3, lengths, places, types, &source);
    for (int k = 0; k < 3; k++)
        MPI_Get_address(to[k], &places[k]);
    MPI_Type_create_struct(3, lengths, places, types, &target);
    MPI_Type_commit(&source);
    MPI_Type_commit(&target);
    check_step("a message from and to MPI_BOTTOM, %d", many);
    MPI_Isend(MPI_BOTTOM, 1, source, peer, TAG, MPI_COMM_WORLD, &request);
    MPI_Recv(MPI_BOTTOM, 1, target, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    bool right = j == peer + 1 && e[0] == 1 && e[2] == peer;
    for (int k = 0; k < 2 * many; k++)
        right = right && in[k] == (k % 2 ? -1 : 3 * k + peer);
    CHECK(right, "what came to MPI_BOTTOM is wrong");
    int size = 0;
    MPI_Pack_size(1, source, MPI_COMM_WORLD, &size);
    char *packed = check_alloc((size_t)size);
    MPI_Pack(MPI_BOTTOM, 1, source, packed, size, &position, MPI_COMM_WORLD);
    CHECK(position == size && !memcmp(packed, d, sizeof d) && !memcmp(packed + sizeof d, &i, 4),
          "what is packed from MPI_BOTTOM is wrong");
    position = 0;
    MPI_Unpack(packed, size, &position, MPI_BOTTOM, 1, target, MPI_COMM_WORLD);
    CHECK(j == i && e[2] == check.rank && in[0] == out[0] && in[2 * many - 2] == out[2 * many - 2],
          "what is unpacked to MPI_BOTTOM is wrong");
    MPI_Type_free(&pairs);
    MPI_Type_free(&source);
    MPI_Type_free(&target);
    free(packed);
    free(out);
    free(in);
}

static void address_arithmetic(void)
{
    int a[10] = {0};
    MPI_Aint first, last;
    MPI_Get_address(&a[0], &first);
    MPI_Get_address(&a[9], &last);
    CHECK(MPI_Aint_diff(last, first) == 9 * (MPI_Aint)sizeof(int), "9 integers are %lld bytes",
          (long long)MPI_Aint_diff(last, first));
    CHECK(MPI_Aint_add(first, 9 * sizeof(int)) == last && MPI_Aint_add(last, -36) == first,
          "an address and a displacement are another address");
}

/* No data, 24 bytes long, from -8 on: alone, repeated, beside data. */
static MPI_Count extent_of(MPI_Datatype type)
{
    MPI_Count lb = -1, extent = -1;
    MPI_Type_get_extent_c(type, &lb, &extent);
    CHECK(lb == 0, "the lower bound is %lld", (long long)lb);
    return extent;
}

/* Blocks at odd displacements: the extent is rounded up to the alignment of the basic type all the
 * same, and elements lie within the type that they make up. */
static void odd_strides(void)
{
    MPI_Datatype inner, outer, indexed;
    MPI_Aint places[3] = {0, 25, 50};
    int lengths[3] = {4, 4, 4};
    MPI_Type_create_hvector(3, 4, 25, MPI_INT, &inner);
    CHECK(extent_of(inner) == 68, "three blocks of 4 ints, 25 bytes apart, extend over %lld bytes",
          (long long)extent_of(inner));
    MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &indexed);
    CHECK(extent_of(indexed) == 68, "the same by displacements: %lld bytes",
          (long long)extent_of(indexed));
    MPI_Type_create_hvector(2, 3, 273, inner, &outer);
    CHECK(extent_of(outer) == 480, "elements of 68 bytes that end at byte %d: an extent of %lld",
          273 + 3 * 68, (long long)extent_of(outer));
    MPI_Type_free(&inner);
    MPI_Type_free(&indexed);
    MPI_Type_free(&outer);
}

static void empty_types_with_extent(int peer)
{
    MPI_Datatype nothing, empty, row, mixed;
    MPI_Count lb, extent, size = -1, got = -1;
    MPI_Status status;
    char bytes[4] = {0};
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_create_resized(nothing, -8, 24, &empty);
    MPI_Type_vector(3, 1, 2, empty, &row);
    MPI_Type_size_c(row, &size);
    MPI_Type_get_extent_c(row, &lb, &extent);
    CHECK(size == 0 && lb == -8 && extent == 5 * 24, "a row of nothing: %lld bytes from %lld, %lld",
          (long long)size, (long long)lb, (long long)extent);
    MPI_Type_get_true_extent_c(row, &lb, &extent);
    CHECK(lb == 0 && extent == 0, "nothing has a true extent of %lld", (long long)extent);
    MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){empty, MPI_INT},
                           &mixed);
    MPI_Type_get_extent_c(mixed, &lb, &extent);
    MPI_Type_size_c(mixed, &size);
    CHECK(size == 4 && lb == -8 && extent == 48, "nothing beside an int: from %lld, %lld",
          (long long)lb, (long long)extent);
    MPI_Type_commit(&row);
    MPI_Sendrecv(NULL, 7, row, peer, TAG, NULL, 7, row, peer, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, row, &got);
    CHECK(got == 0, "nothing came %lld times", (long long)got);
    MPI_Get_elements_c(&status, row, &got);
    CHECK(got == 0, "nothing has %lld elements", (long long)got);
    MPI_Sendrecv(bytes, 2, MPI_BYTE, peer, TAG, bytes + 2, 2, MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                 &status);
    MPI_Get_count_c(&status, row, &got);
    CHECK(got == MPI_UNDEFINED, "2 bytes are %lld times nothing", (long long)got);
    MPI_Type_free(&nothing);
    MPI_Type_free(&empty);
    MPI_Type_free(&row);
    MPI_Type_free(&mixed);
}

static void duplicates(void)
{
    MPI_Datatype copy, again, held[1] = {MPI_DATATYPE_NULL}, raw;
    char data[64] = {0};
    int position = 0;
    MPI_Type_dup(MPI_INT, &copy);
    CHECK(copy != MPI_INT && combiner_of(copy) == MPI_COMBINER_DUP, "a duplicate is no new type");
    MPI_Type_get_contents(copy, 0, 0, 1, NULL, NULL, held);
    CHECK(held[0] == MPI_INT, "the duplicate is one of something else");
    MPI_Type_dup(copy, &again); /* committed, as it is one of a committed type */
    MPI_Type_free(&copy);
    CHECK_CLASS(MPI_Pack(data, 3, again, data + 16, 12, &position, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Type_free(&again);
    MPI_Type_vector(2, 1, 2, MPI_INT, &raw);
    MPI_Type_dup(raw, &copy); /* not committed, as that is not */
    position = 0;
    CHECK_CLASS(MPI_Pack(data, 1, copy, data + 16, 48, &position, MPI_COMM_WORLD), MPI_ERR_TYPE);
    MPI_Type_commit(&copy);
    MPI_Type_commit(&copy);
    MPI_Type_free(&raw);
    CHECK_CLASS(MPI_Pack(data, 1, copy, data + 16, 48, &position, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK(position == 8, "two integers are %d bytes", position);
    MPI_Type_free(&copy);
    MPI_Datatype named = MPI_DOUBLE;
    CHECK_CLASS(MPI_Type_commit(&named), MPI_SUCCESS);
}

/* The handles are freed as soon as the operations have begun, and the types that these are made of.
 */
static void freed_under_way(int peer, int count)
{
    size_t bytes = 2 * (size_t)count * sizeof(int);
    int *out = check_alloc(bytes), *in = check_alloc(bytes), wrong = 0;
    MPI_Datatype element, type;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    memset(in, 0, bytes);
    for (int i = 0; i < 2 * count; i++)
        out[i] = i ^ check.rank;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &element);
    MPI_Type_contiguous(count, element, &type);
    MPI_Type_commit(&type);
    check_step("types of %d elements freed under way", count);
    MPI_Irecv(in, 1, type, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, type, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&element);
    MPI_Type_free(&type);
    MPI_Type_contiguous(3, MPI_DOUBLE, &type); /* takes the place in memory, perhaps */
    MPI_Waitall(2, requests, statuses);
    for (int i = 0; i < 2 * count; i++)
        wrong += in[i] != (i % 2 ? 0 : i ^ peer);
    CHECK(wrong == 0, "%d of %d integers are wrong", wrong, 2 * count);
    MPI_Type_free(&type);
    MPI_Type_vector(count, 1, 2, MPI_INT, &type); /* a persistent one keeps its type as well */
    MPI_Type_commit(&type);
    MPI_Recv_init(in, 1, type, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Type_free(&type);
    memset(in, 0, bytes);
    MPI_Start(&requests[0]);
    MPI_Type_vector(count, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Send(out, 1, type, peer, TAG, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    MPI_Wait(&requests[0], &statuses[0]);
    MPI_Request_free(&requests[0]);
    for (int i = wrong = 0; i < 2 * count; i++)
        wrong += in[i] != (i % 2 ? 0 : i ^ peer);
    CHECK(wrong == 0, "%d of %d integers are wrong in a persistent receive", wrong, 2 * count);
    free(out);
    free(in);
}

/* What MPI_Type_get_contents hands out is a type of its own. */
static void contents_outlive_their_type(void)
{
    MPI_Datatype inner, outer, held;
    MPI_Count size = 0;
    int integers[1];
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &inner);
    MPI_Type_contiguous(5, inner, &outer);
    MPI_Type_free(&inner);
    MPI_Type_get_contents(outer, 1, 0, 1, integers, NULL, &held);
    MPI_Type_free(&outer);
    MPI_Type_size_c(held, &size);
    CHECK(size == 16 && integers[0] == 5 && combiner_of(held) == MPI_COMBINER_VECTOR,
          "the contents are of another type");
    CHECK_CLASS(MPI_Type_commit(&held), MPI_SUCCESS);
    MPI_Type_free(&held);
}

/* Kinds are predefined: ready for use, also in reductions, and not to be freed. */
static void fortran_kinds(int peer)
{
    MPI_Datatype real, complex, integer, copy;
    int n[4], values[2] = {0};
    MPI_Type_create_f90_complex(15, 300, &complex);
    MPI_Type_get_envelope(complex, &n[0], &n[1], &n[2], &n[3]);
    MPI_Type_get_contents(complex, 2, 0, 0, values, NULL, NULL);
    CHECK(n[0] == 2 && !n[1] && !n[2] && n[3] == MPI_COMBINER_F90_COMPLEX && values[0] == 15 &&
              values[1] == 300,
          "contents of a Fortran complex");
    MPI_Type_create_f90_integer(12, &integer);
    MPI_Type_get_envelope(integer, &n[0], &n[1], &n[2], &n[3]);
    MPI_Type_get_contents(integer, 1, 0, 0, values, NULL, NULL);
    CHECK(n[0] == 1 && !n[1] && !n[2] && n[3] == MPI_COMBINER_F90_INTEGER && values[0] == 12,
          "contents of a Fortran integer");
    CHECK_CLASS(MPI_Type_free(&integer), MPI_ERR_TYPE);
    int64_t sums[2] = {1, INT64_C(1) << 40}, more[2] = {2, 5};
    CHECK_CLASS(MPI_Reduce_local(more, sums, 2, integer, MPI_SUM), MPI_SUCCESS);
    CHECK(sums[0] == 3 && sums[1] == (INT64_C(1) << 40) + 5, "Fortran integers add up wrongly");
    double z[2] = {0, 1}, i[2] = {0, 1};
    CHECK_CLASS(MPI_Reduce_local(i, z, 1, complex, MPI_PROD), MPI_SUCCESS);
    CHECK(z[0] == -1 && z[1] == 0, "i squared is %g + %gi", z[0], z[1]);
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &real);
    MPI_Type_dup(real, &copy); /* may be freed */
    float out = 0.5f + (float)check.rank, in = 0;
    MPI_Status status;
    int elements = 0;
    MPI_Sendrecv(&out, 1, real, peer, TAG, &in, 1, copy, peer, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, real, &elements);
    CHECK(in == 0.5f + (float)peer && elements == 1, "a Fortran real comes as %g", in);
    CHECK_CLASS(MPI_Type_free(&copy), MPI_SUCCESS);
}

static void found_by_size(void)
{
    static const struct {
        int class, size;
        MPI_Datatype type;
    } known[] = {
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},  {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},  {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},        {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},  {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
        {MPI_TYPECLASS_REAL, 16, MPI_REAL16},      {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
        {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}};
    static const int wrong[] = {-1, 0, 3, 64, INT_MAX};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        int size = 0;
        MPI_Type_match_size(known[i].class, known[i].size, &type);
        MPI_Type_size(type, &size);
        CHECK(type == known[i].type && size == known[i].size &&
                  combiner_of(type) == MPI_COMBINER_NAMED,
              "row %zu finds another type, of %d bytes", i, size);
        for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
            CHECK_CLASS(MPI_Type_match_size(known[i].class, wrong[k], &type), MPI_ERR_ARG);
    }
}

static void pairs_found(void)
{
    static const struct {
        MPI_Datatype value, index, pair;
    } known[] = {{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
                 {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
                 {MPI_LONG, MPI_INT, MPI_LONG_INT},
                 {MPI_INT, MPI_INT, MPI_2INT},
                 {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
                 {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
                 {MPI_REAL, MPI_REAL, MPI_2REAL},
                 {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
                 {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
                 {MPI_CHAR, MPI_INT, MPI_DATATYPE_NULL}};
    MPI_Datatype pair = MPI_BYTE;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        CHECK_CLASS(MPI_Type_get_value_index(known[i].value, known[i].index, &pair), MPI_SUCCESS);
        CHECK(pair == known[i].pair, "pair %zu is another type", i);
    }
    CHECK_CLASS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE);
}

/* A packed buffer of more than 2^31 bytes of which the pages at both sides of 2^31 are touched. */
static void positions_beyond_int(void)
{
    MPI_Count size = (MPI_Count)INT_MAX + (1 << 16), at = (MPI_Count)INT_MAX - 5, back = at;
    char *packed = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int out[4] = {1, 2, 3, 4}, in[4] = {0};
    if (packed == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Pack_c(out, 4, MPI_INT, packed, size, &at, MPI_COMM_WORLD);
    CHECK(at == (MPI_Count)INT_MAX + 11 && !memcmp(packed + back, out, sizeof out),
          "packed up to %lld", (long long)at);
    MPI_Unpack_c(packed, size, &back, in, 4, MPI_INT, MPI_COMM_WORLD);
    CHECK(back == at && !memcmp(in, out, sizeof out), "unpacked up to %lld", (long long)back);
    MPI_Pack_external_c("external32", out, 4, MPI_INT, packed, size, &at);
    memset(in, 0, sizeof in);
    MPI_Unpack_external_c("external32", packed, size, &back, in, 4, MPI_INT);
    CHECK(at == (MPI_Count)INT_MAX + 27 && back == at && !memcmp(in, out, sizeof out),
          "external32 up to %lld", (long long)at);
    at = size - 15;
    CHECK_CLASS(MPI_Pack_c(out, 4, MPI_INT, packed, size, &at, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK(at == size - 15, "a failed call moved the position");
    munmap(packed, (size_t)size);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    absolute_addresses(peer, 4);
    absolute_addresses(peer, 100000);
    address_arithmetic();
    odd_strides();
    empty_types_with_extent(peer);
    duplicates();
    freed_under_way(peer, 10);
    freed_under_way(peer, 300000);
    contents_outlive_their_type();
    fortran_kinds(peer);
    found_by_size();
    pairs_found();
    positions_beyond_int();
    return check_done();
}
