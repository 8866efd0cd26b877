// SPDX-License-Identifier: BSD-3-Clause
/* Making communicators: see mortal.h. */
#include "mortal.h"

static MPI_Comm half, peers;

static void drop(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL)
        TRY(MPI_Comm_free, comm);
}

static void begin(void)
{
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &peers);
}

static void dup(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (shared_random(4)) {
    case 0:
        TRY(MPI_Comm_dup, MPI_COMM_WORLD, &made);
        break;
    case 1:
        TRY(MPI_Comm_dup_with_info, MPI_COMM_WORLD, MPI_INFO_NULL, &made);
        break;
    case 2:
        TRY(MPI_Comm_idup, MPI_COMM_WORLD, &made, &request);
        if (!TRY(MPI_Wait, &request, MPI_STATUS_IGNORE))
            made = MPI_COMM_NULL;
        break;
    default:
        TRY(MPI_Comm_idup_with_info, MPI_COMM_WORLD, MPI_INFO_NULL, &made, &request);
        if (!TRY(MPI_Wait, &request, MPI_STATUS_IGNORE))
            made = MPI_COMM_NULL;
    }
    drop(&made);
}

static void split(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    int parts = 1 + shared_random(3);
    if (shared_random(3))
        TRY(MPI_Comm_split, MPI_COMM_WORLD, rank % parts, -rank, &made);
    else
        TRY(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    drop(&made);
}

static void create(void)
{
    MPI_Group all, some;
    MPI_Comm made = MPI_COMM_NULL;
    int range[1][3] = {{0, size - 1, 1}}, way = shared_random(3);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (shared_random(2))
        range[0][1] = size / 2;
    MPI_Group_range_incl(all, 1, range, &some);
    if (way == 0)
        TRY(MPI_Comm_create, MPI_COMM_WORLD, some, &made);
    else if (rank <= range[0][1] && way == 1)
        TRY(MPI_Comm_create_group, MPI_COMM_WORLD, some, 5, &made);
    else if (rank <= range[0][1])
        TRY(MPI_Comm_create_from_group, some, "weft mortal", MPI_INFO_NULL, MPI_ERRORS_RETURN,
            &made);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    drop(&made);
}

static void topology(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, next = (rank + 1) % size, one = 1, reorder;
    int index[MOST_RANKS], edges[MOST_RANKS];
    MPI_Dims_create(size, 2, dims);
    reorder = shared_random(2);
    switch (shared_random(4)) {
    case 0:
        TRY(MPI_Cart_create, MPI_COMM_WORLD, 2, dims, periods, reorder, &made);
        break;
    case 1:
        for (int i = 0; i < size; i++) {
            index[i] = i + 1;
            edges[i] = (i + 1) % size;
        }
        TRY(MPI_Graph_create, MPI_COMM_WORLD, size, index, edges, reorder, &made);
        break;
    case 2:
        TRY(MPI_Dist_graph_create, MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED,
            MPI_INFO_NULL, reorder, &made);
        break;
    default:
        next = (rank + size - 1) % size;
        one = (rank + 1) % size;
        TRY(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &next, MPI_UNWEIGHTED, 1, &one,
            MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &made);
    }
    drop(&made);
}

/* An inter-communicator of the halves, and the merged one, where it could be made everywhere. */
static void begin_intercomm(void)
{
    begin();
    MPI_Intercomm_create(half, 0, peers, 1 - rank % 2, 4, &peers);
    MPI_Comm_set_errhandler(peers, MPI_ERRORS_RETURN);
}

static void intercomm(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    switch (shared_random(4)) {
    case 0:
        TRY(MPI_Intercomm_create, half, 0, MPI_COMM_WORLD, 1 - rank % 2, 4, &made);
        break;
    case 1:
        TRY(MPI_Intercomm_merge, peers, rank % 2, &made);
        break;
    case 2:
        TRY(MPI_Comm_dup, peers, &made);
        break;
    default:
        TRY(MPI_Comm_split, peers, rank / 2 % 2, rank, &made);
    }
    drop(&made);
}

/* A session of its own, whose world is that of the job. */
static void session(void)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    if (!TRY(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &session))
        return;
    if (TRY(MPI_Group_from_session_pset, session, "mpi://WORLD", &group))
        TRY(MPI_Comm_create_from_group, group, "weft mortal session", MPI_INFO_NULL,
            MPI_ERRORS_RETURN, &made);
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
    drop(&made);
    TRY(MPI_Session_finalize, &session);
}

const struct act comm_acts[] = {{"dup", begin, dup, NULL, 2},
                                {"split", begin, split, NULL, 2},
                                {"create", begin, create, NULL, 2},
                                {"topology", begin, topology, NULL, 2},
                                {"intercomm", begin_intercomm, intercomm, NULL, 4},
                                {"session", begin, session, NULL, 2},
                                {NULL, NULL, NULL, NULL, 0}};
