// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=rxm seconds=40
// run: ranks=1 lanes=self seconds=40
/*
 * Counts and displacements beyond 2^31 for real: types that reach over tens of GiB of address space
 * of which a few pages are touched, and a message of more than 2^31 elements' worth of counting.
 */
#include "check.h"

#include <sys/mman.h>

enum { TAG = 3, PLACES = 64 };
static const MPI_Count GIB = (MPI_Count)1 << 30;

/* Address space without memory behind it until it is touched. */
static char *sparse(size_t bytes)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "no address space of %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* PLACES doubles, 1/4 GiB apart: from 2^28 to 2^34 bytes. */
static void far_apart(int peer)
{
    MPI_Count stride = GIB / 4, extent, lb;
    size_t span = (size_t)(PLACES * stride);
    char *out = sparse(span), *in = sparse(span);
    MPI_Datatype vector, list;
    MPI_Count lengths[PLACES], places[PLACES];
    MPI_Status st;
    MPI_Request request;
    MPI_Type_create_hvector_c(PLACES, 1, stride, MPI_DOUBLE, &vector);
    for (int i = 0; i < PLACES; i++) { /* the same places, the last one first */
        lengths[i] = 1;
        places[i] = (PLACES - 1 - i) * stride;
    }
    MPI_Type_create_hindexed_c(PLACES, lengths, places, MPI_DOUBLE, &list);
    MPI_Type_commit(&vector);
    MPI_Type_commit(&list);
    MPI_Type_get_extent_c(vector, &lb, &extent);
    CHECK(lb == 0 && extent == (PLACES - 1) * stride + 8, "the extent is %lld", (long long)extent);
    for (int i = 0; i < PLACES; i++)
        *(double *)(out + i * stride) = 1000 * check.rank + i;
    check_step("sending doubles that are %lld bytes apart", (long long)stride);
    MPI_Isend(out, 1, vector, peer, TAG, MPI_COMM_WORLD, &request);
    MPI_Recv(in, 1, list, peer, TAG, MPI_COMM_WORLD, &st);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < PLACES; i++)
        CHECK(*(double *)(in + (PLACES - 1 - i) * stride) == 1000 * peer + i,
              "the double at %lld GiB is wrong", (long long)((PLACES - 1 - i) * stride / GIB));
    MPI_Type_free(&vector);
    MPI_Type_free(&list);
    munmap(out, span);
    munmap(in, span);
}

/* A count beyond 2^31 of a type of one byte, in the middle of which parts are packed. */
static void many_elements(void)
{
    MPI_Count n = 5 * GIB, size, position = 0;
    size_t span = 2 * (size_t)n;
    char *data = sparse(span), packed[8] = {0};
    int sizes[] = {2}, taken[] = {1}, starts[] = {1};
    MPI_Datatype second, all, tail;
    MPI_Status st;
    memset(&st, 0, sizeof st);
    MPI_Type_create_subarray(1, sizes, taken, starts, MPI_ORDER_C, MPI_BYTE, &second);
    MPI_Type_contiguous_c(n, second, &all);
    MPI_Type_size_c(all, &size);
    CHECK(size == n, "the size is %lld", (long long)size);
    MPI_Pack_size_c(n, second, MPI_COMM_WORLD, &size);
    CHECK(size == n, "the packed size is %lld", (long long)size);
    int narrow = 0;
    MPI_Type_commit(&second);
    MPI_Type_commit(&all);
    MPI_Pack_size(1, all, MPI_COMM_WORLD, &narrow);
    CHECK(narrow == MPI_UNDEFINED, "a packed size beyond int is %d", narrow);
    MPI_Status_set_elements_c(&st, all, n);
    MPI_Count got = 0;
    MPI_Get_count_c(&st, second, &got);
    CHECK(got == n, "MPI_Get_count_c says %lld", (long long)got);
    MPI_Count length = 8, place = n - 8;
    MPI_Type_indexed_c(1, &length, &place, second, &tail); /* the last elements of all */
    MPI_Type_commit(&tail);
    for (int i = 0; i < 8; i++)
        data[2 * (n - 8 + i) + 1] = (char)(i + 1);
    MPI_Pack_c(data, 1, tail, packed, 8, &position, MPI_COMM_WORLD);
    for (int i = 0; i < 8; i++)
        CHECK(packed[i] == i + 1, "byte %d beyond 10 GiB is %d", i, packed[i]);
    MPI_Type_free(&tail);
    MPI_Type_free(&second);
    MPI_Type_free(&all);
    munmap(data, span);
}

/* More than 2^31 elements of a type without data or with one for all of them travel as a message.
 */
static void many_of_nothing(int peer)
{
    MPI_Datatype empty, stacked;
    MPI_Request request;
    MPI_Status st;
    MPI_Count got = -1;
    char in[4] = {0}, out[4] = {1, 2, 3, 4};
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Isend_c(out, 3 * GIB, empty, peer, TAG, MPI_COMM_WORLD, &request);
    MPI_Recv_c(in, 3 * GIB, empty, peer, TAG, MPI_COMM_WORLD, &st);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count_c(&st, empty, &got);
    CHECK(got == 0, "nothing was received %lld times", (long long)got);
    MPI_Type_create_hvector_c(2 * GIB + 2, 0, 1, MPI_BYTE, &stacked);
    MPI_Count size = -1;
    MPI_Type_size_c(stacked, &size);
    CHECK(size == 0, "blocks of no length have %lld bytes", (long long)size);
    MPI_Type_free(&stacked);
    MPI_Type_free(&empty);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int peer = (check.rank ^ 1) < check.size ? check.rank ^ 1 : check.rank;
    far_apart(peer);
    many_elements();
    many_of_nothing(peer);
    return check_done();
}
