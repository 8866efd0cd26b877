// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3 lanes=rxm,shm,shm-coll seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * MPI_Alltoallw and MPI_Neighbor_alltoallw, in all their forms, accept MPI_DATATYPE_NULL where the
 * count is 0, on both sides; with another count it is MPI_ERR_TYPE. On a ring each rank sends one
 * int to the rank behind it.
 */
#include "check.h"

enum { MOST = 16 };

static int n, behind, before; /* ranks */
static int sends[MOST], receives[MOST], displs[MOST];
static MPI_Aint places[MOST];
static MPI_Datatype sent[MOST], received[MOST];

static void clear(int blocks)
{
    for (int i = 0; i < blocks; i++) {
        sends[i] = receives[i] = 0;
        sent[i] = received[i] = MPI_DATATYPE_NULL;
    }
}

static void expect(const char *form, int got)
{
    CHECK(got == 100 + before, "%s: received %d instead of %d", form, got, 100 + before);
}

static void run_twice(const char *form, MPI_Request request, const int *got)
{
    for (int t = 0; t < 2; t++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(form, *got);
    }
    MPI_Request_free(&request);
}

static void check_ranks(void)
{
    int out = 100 + check.rank, in = -1;
    MPI_Request request;
    clear(n);
    sends[behind] = receives[before] = 1;
    sent[behind] = received[before] = MPI_INT;
    CHECK_CLASS(
        MPI_Alltoallw(&out, sends, displs, sent, &in, receives, displs, received, MPI_COMM_WORLD),
        MPI_SUCCESS);
    expect("MPI_Alltoallw", in);
    in = -1;
    CHECK_CLASS(MPI_Ialltoallw(&out, sends, displs, sent, &in, receives, displs, received,
                               MPI_COMM_WORLD, &request),
                MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Ialltoallw", in);
    in = -1;
    CHECK_CLASS(MPI_Alltoallw_init(&out, sends, displs, sent, &in, receives, displs, received,
                                   MPI_COMM_WORLD, MPI_INFO_NULL, &request),
                MPI_SUCCESS);
    run_twice("MPI_Alltoallw_init", request, &in);
    sent[behind] = MPI_DATATYPE_NULL;
    CHECK_CLASS(
        MPI_Alltoallw(&out, sends, displs, sent, &in, receives, displs, received, MPI_COMM_WORLD),
        MPI_ERR_TYPE);
}

static void check_neighbors(void)
{
    int out = 100 + check.rank, in = -1, periodic = 1;
    MPI_Comm ring;
    MPI_Request request;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    clear(2);
    sends[1] = receives[0] = 1; /* 0: the rank before, 1: the rank behind */
    sent[1] = received[0] = MPI_INT;
    CHECK_CLASS(
        MPI_Neighbor_alltoallw(&out, sends, places, sent, &in, receives, places, received, ring),
        MPI_SUCCESS);
    expect("MPI_Neighbor_alltoallw", in);
    in = -1;
    CHECK_CLASS(MPI_Ineighbor_alltoallw(&out, sends, places, sent, &in, receives, places, received,
                                        ring, &request),
                MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Ineighbor_alltoallw", in);
    in = -1;
    CHECK_CLASS(MPI_Neighbor_alltoallw_init(&out, sends, places, sent, &in, receives, places,
                                            received, ring, MPI_INFO_NULL, &request),
                MPI_SUCCESS);
    run_twice("MPI_Neighbor_alltoallw_init", request, &in);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    n = check.size;
    behind = (check.rank + 1) % n;
    before = (check.rank + n - 1) % n;
    check_ranks();
    check_neighbors();
    return check_done();
}
