// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,5 lanes=rxm,shm,shm-coll seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * Send and receive buffers that begin at one address but share no byte of data, by types with holes
 * or by MPI_BOTTOM with absolute addresses, are taken by every collective; buffers whose data
 * overlap are refused.
 *
 * The buffer has two words a rank. Even words are sent, odd words received.
 */
#include "check.h"

enum { MOST = 64 };

static int words[2 * MOST], n;
static MPI_Datatype even, odd;                   /* one word of two */
static MPI_Datatype even_of[MOST], odd_of[MOST]; /* those of one rank, at absolute addresses */

static MPI_Datatype word_at(MPI_Aint displacement, MPI_Aint extent)
{
    MPI_Datatype word, whole;
    int one = 1;
    MPI_Type_create_hindexed(1, &one, &displacement, MPI_INT, &word);
    MPI_Type_create_resized(word, 0, extent, &whole);
    MPI_Type_commit(&whole);
    MPI_Type_free(&word);
    return whole;
}

static void make_types(void)
{
    even = word_at(0, 2 * sizeof(int));
    odd = word_at(sizeof(int), 2 * sizeof(int));
    for (int i = 0; i < n; i++) {
        MPI_Aint at;
        MPI_Get_address(&words[2 * i], &at);
        even_of[i] = word_at(at, 2 * sizeof(int));
        odd_of[i] = word_at(at + (MPI_Aint)sizeof(int), 2 * sizeof(int));
    }
}

static void free_types(void)
{
    for (int i = 0; i < n; i++) {
        MPI_Type_free(&even_of[i]);
        MPI_Type_free(&odd_of[i]);
    }
    MPI_Type_free(&even);
    MPI_Type_free(&odd);
}

static void fill(void)
{
    for (int i = 0; i < n; i++) {
        words[2 * i] = 1000 * check.rank + i;
        words[2 * i + 1] = -1;
    }
}

/* Word i came from rank i, which had it at its place `at`; ranks below `got` have sent. */
static void expect(const char *what, int got, int at)
{
    for (int i = 0; i < n; i++) {
        int wanted = i < got ? 1000 * i + at : -1;
        CHECK(words[2 * i] == 1000 * check.rank + i, "%s: sent word %d became %d", what, i,
              words[2 * i]);
        CHECK(words[2 * i + 1] == wanted, "%s: word %d is %d, expected %d", what, i,
              words[2 * i + 1], wanted);
    }
}

static void interleaved(void)
{
    check_step("buffers that begin at one address");
    fill();
    CHECK_CLASS(MPI_Alltoall(words, 1, even, words, 1, odd, MPI_COMM_WORLD), MPI_SUCCESS);
    expect("alltoall", n, check.rank);
    fill();
    CHECK_CLASS(MPI_Allgather(words, 1, even, words, 1, odd, MPI_COMM_WORLD), MPI_SUCCESS);
    expect("allgather", n, 0);
    fill();
    CHECK_CLASS(MPI_Gather(words, 1, even, words, 1, odd, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    expect("gather", check.rank == 0 ? n : 0, 0);
    fill();
    CHECK_CLASS(MPI_Scatter(words, 1, even, words, 1, odd, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK(words[1] == check.rank, "scatter: the word is %d", words[1]);
}

static void absolute(void)
{
    int ones[MOST], zeros[MOST] = {0};
    MPI_Request request;
    for (int i = 0; i < n; i++)
        ones[i] = 1;
    check_step("buffers at MPI_BOTTOM");
    fill();
    CHECK_CLASS(MPI_Alltoallw(MPI_BOTTOM, ones, zeros, even_of, MPI_BOTTOM, ones, zeros, odd_of,
                              MPI_COMM_WORLD),
                MPI_SUCCESS);
    expect("alltoallw", n, check.rank);
    fill();
    CHECK_CLASS(MPI_Ialltoallw(MPI_BOTTOM, ones, zeros, even_of, MPI_BOTTOM, ones, zeros, odd_of,
                               MPI_COMM_WORLD, &request),
                MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("ialltoallw", n, check.rank);
    fill();
    CHECK_CLASS(MPI_Gather(MPI_BOTTOM, 1, even_of[0], MPI_BOTTOM, 1, odd_of[0], 0, MPI_COMM_WORLD),
                MPI_SUCCESS);
    expect("gather", check.rank == 0 ? n : 0, 0);
    fill();
    CHECK_CLASS(MPI_Allgather(MPI_BOTTOM, 1, even_of[0], MPI_BOTTOM, 1, odd_of[0], MPI_COMM_WORLD),
                MPI_SUCCESS);
    expect("allgather", n, 0);
    fill();
    CHECK_CLASS(MPI_Scatter(MPI_BOTTOM, 1, even_of[0], MPI_BOTTOM, 1, odd_of[0], 0, MPI_COMM_WORLD),
                MPI_SUCCESS);
    CHECK(words[1] == check.rank, "scatter: the word is %d", words[1]);
}

static void overlapping(void)
{
    int ones[MOST], zeros[MOST] = {0};
    for (int i = 0; i < n; i++)
        ones[i] = 1;
    check_step("buffers whose data overlap");
    CHECK_CLASS(MPI_Alltoall(words, 1, odd, words, 1, odd, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allgather(words, 1, MPI_INT, words, 1, even, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoallw(MPI_BOTTOM, ones, zeros, even_of, MPI_BOTTOM, ones, zeros, even_of,
                              MPI_COMM_WORLD),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Gather(words + 1, 1, MPI_INT, words, 1, odd, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    n = check.size < MOST ? check.size : MOST;
    make_types();
    interleaved();
    absolute();
    overlapping();
    free_types();
    return check_done();
}
