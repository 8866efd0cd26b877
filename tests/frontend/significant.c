// SPDX-License-Identifier: BSD-3-Clause
/*
 * Arguments that are not significant at a rank, compiled by the other MPI's mpicc, on 3 ranks:
 * handles that the standard ignores may be variables that the program has never set.
 */
#include <dlfcn.h>
#include <mpi.h>

#include "check.h"

enum { RANKS = 3, ROOT = 1 };

static int rank, data[RANKS], got[RANKS];
static const int counts[RANKS] = {1, 1, 1}, places[RANKS] = {0, 1, 2};

/* Values that are no handles: if handles are pointers, no memory is there. */
#define WILD_TYPE  ((MPI_Datatype)0x11111000)
#define WILD_OP    ((MPI_Op)0x11111000)
#define WILD_GROUP ((MPI_Group)0x11111000)

static MPI_Datatype type_if(int significant)
{
    return significant ? MPI_INT : WILD_TYPE;
}

static void start(void)
{
    for (int i = 0; i < RANKS; i++) {
        data[i] = 10 * rank + i;
        got[i] = -1;
    }
}

/* The result of a call, or of the request that it has started: block i is of rank i. */
static void expect_blocks(int code, MPI_Request *request, int step, int offset)
{
    CHECK(code == MPI_SUCCESS);
    if (request)
        CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < RANKS; i++)
        CHECK(got[i] == step * i + offset);
    start();
}

static void expect_one(int code, MPI_Request *request, int value)
{
    CHECK(code == MPI_SUCCESS);
    if (request)
        CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(got[0] == value);
    start();
}

static void expect_gathered(int code, MPI_Request *request)
{
    if (rank == ROOT)
        expect_blocks(code, request, 10, 0);
    else
        expect_one(code, request, -1);
}

/* The type of the receive buffer of a gather, and that of the send buffer of a scatter. */
static void rooted(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype type = type_if(rank == ROOT);
    MPI_Request request;
    int code = MPI_Gather(data, 1, MPI_INT, got, 1, type, ROOT, world);
    expect_gathered(code, NULL);
    code = MPI_Gatherv(data, 1, MPI_INT, got, counts, places, type, ROOT, world);
    expect_gathered(code, NULL);
    code = MPI_Igather(data, 1, MPI_INT, got, 1, type, ROOT, world, &request);
    expect_gathered(code, &request);
    code = MPI_Igatherv(data, 1, MPI_INT, got, counts, places, type, ROOT, world, &request);
    expect_gathered(code, &request);
    code = MPI_Scatter(data, 1, type, got, 1, MPI_INT, ROOT, world);
    expect_one(code, NULL, 10 * ROOT + rank);
    code = MPI_Scatterv(data, counts, places, type, got, 1, MPI_INT, ROOT, world);
    expect_one(code, NULL, 10 * ROOT + rank);
    code = MPI_Iscatter(data, 1, type, got, 1, MPI_INT, ROOT, world, &request);
    expect_one(code, &request, 10 * ROOT + rank);
    code = MPI_Iscatterv(data, counts, places, type, got, 1, MPI_INT, ROOT, world, &request);
    expect_one(code, &request, 10 * ROOT + rank);
}

/* Functions of MPI 4, which the header of the other MPI may lack. */
static void later_rooted(void)
{
    int (*gather_init)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm,
                       MPI_Info, MPI_Request *);
    int (*scatter_c)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, int,
                     MPI_Comm);
    void *self = dlopen(NULL, RTLD_LAZY);
    MPI_Datatype type = type_if(rank == ROOT);
    MPI_Request request;
    *(void **)&gather_init = dlsym(self, "MPI_Gather_init");
    *(void **)&scatter_c = dlsym(self, "MPI_Scatter_c");
    CHECK(gather_init(data, 1, MPI_INT, got, 1, type, ROOT, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &request) == MPI_SUCCESS);
    MPI_Start(&request);
    expect_gathered(MPI_Wait(&request, MPI_STATUS_IGNORE), NULL);
    MPI_Request_free(&request);
    int code = scatter_c(data, 1, type, got, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    expect_one(code, NULL, 10 * ROOT + rank);
}

/* The type beside MPI_IN_PLACE */
static void in_place(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    int code, is_root = rank == ROOT;
    const void *sent = is_root ? MPI_IN_PLACE : data;
    void *received = is_root ? MPI_IN_PLACE : got;
    MPI_Datatype type = type_if(!is_root);
    got[rank] = 10 * rank;
    code = MPI_Gather(sent, 1, type, got, 1, type_if(is_root), ROOT, world);
    if (is_root)
        expect_blocks(code, NULL, 10, 0);
    CHECK(code == MPI_SUCCESS);
    start();
    code = MPI_Scatter(data, 1, type_if(is_root), received, 1, type, ROOT, world);
    CHECK(code == MPI_SUCCESS && (is_root || got[0] == 10 * ROOT + rank));
    start();
    got[rank] = 10 * rank;
    code = MPI_Allgather(MPI_IN_PLACE, 0, WILD_TYPE, got, 1, MPI_INT, world);
    expect_blocks(code, NULL, 10, 0);
    got[rank] = 10 * rank;
    code = MPI_Iallgather(MPI_IN_PLACE, 0, WILD_TYPE, got, 1, MPI_INT, world, &request);
    expect_blocks(code, &request, 10, 0);
    got[rank] = 10 * rank;
    code = MPI_Allgatherv(MPI_IN_PLACE, 0, WILD_TYPE, got, counts, places, MPI_INT, world);
    expect_blocks(code, NULL, 10, 0);
    for (int i = 0; i < RANKS; i++)
        got[i] = data[i];
    code = MPI_Alltoall(MPI_IN_PLACE, 0, WILD_TYPE, got, 1, MPI_INT, world);
    expect_blocks(code, NULL, 10, rank);
    for (int i = 0; i < RANKS; i++)
        got[i] = data[i];
    code = MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, WILD_TYPE, got, counts, places, MPI_INT, world);
    expect_blocks(code, NULL, 10, rank);
}

/* Ranks 0 and 1, and rank 2. Rank 1 passes MPI_PROC_NULL, and rank 0 the root's rank, which is its
 * own in its group, or MPI_ROOT. */
static void inter_communicators(void)
{
    MPI_Comm part, inter;
    int code, first = rank < 2;
    MPI_Comm_split(MPI_COMM_WORLD, first, rank, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, first ? 2 : 0, 7, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    /* the root is rank 0 of the first group */
    int root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;
    MPI_Datatype at_root = type_if(rank == 0), remote = type_if(rank == 2),
                 both = type_if(rank != 1);
    MPI_Op op = rank == 1 ? WILD_OP : MPI_SUM;
    code = MPI_Gather(data, 1, remote, got, 1, at_root, root, inter);
    expect_one(code, NULL, rank == 0 ? 20 : -1);
    code = MPI_Scatter(data, 1, at_root, got, 1, remote, root, inter);
    expect_one(code, NULL, rank == 2 ? 0 : -1);
    code = MPI_Bcast(rank == 2 ? got : data, 1, both, root, inter);
    expect_one(code, NULL, rank == 2 ? 0 : -1);
    code = MPI_Reduce(data, got, 1, both, op, root, inter);
    expect_one(code, NULL, rank == 0 ? 20 : -1);
    /* the root is rank 2; rank 0 of the first group is not the root, though its rank is that */
    root = rank == 2 ? MPI_ROOT : 0;
    code = MPI_Gather(data, 1, type_if(rank != 2), got, 1, type_if(rank == 2), root, inter);
    CHECK(code == MPI_SUCCESS && (rank != 2 || (got[0] == 0 && got[1] == 10)));
    start();
    code = MPI_Scatter(data, 1, type_if(rank == 2), got, 1, type_if(rank != 2), root, inter);
    expect_one(code, NULL, rank == 2 ? -1 : 20 + rank);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
}

/* The origin of an operation that only reads the target. */
static void no_operation(void)
{
    MPI_Win win;
    MPI_Request request;
    int memory = 10 * rank, next = (rank + 1) % RANKS;
    MPI_Win_create(&memory, sizeof memory, (int)sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    CHECK(MPI_Get_accumulate(NULL, 0, WILD_TYPE, got, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_NO_OP,
                             win) == MPI_SUCCESS);
    MPI_Win_flush(next, win);
    expect_one(MPI_SUCCESS, NULL, 10 * next);
    int code = MPI_Rget_accumulate(NULL, 0, WILD_TYPE, got, 1, MPI_INT, next, 0, 1, MPI_INT,
                                   MPI_NO_OP, win, &request);
    expect_one(code, &request, 10 * next);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* MPI_Intercomm_create_from_groups, of MPI 4: the remote group at the leader only. */
static void remote_groups(void)
{
    int (*create)(MPI_Group, int, MPI_Group, int, const char *, MPI_Info, MPI_Errhandler,
                  MPI_Comm *);
    static const int lists[2][2] = {{0, 1}, {2}};
    int first = rank < 2, size = 0;
    MPI_Group world, groups[2];
    MPI_Comm inter = MPI_COMM_NULL;
    *(void **)&create = dlsym(dlopen(NULL, RTLD_LAZY), "MPI_Intercomm_create_from_groups");
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 2; i++)
        MPI_Group_incl(world, 2 - i, lists[i], &groups[i]);
    MPI_Group remote = rank == 1 ? WILD_GROUP : groups[first];
    CHECK(create(groups[!first], 0, remote, 0, "significant", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                 &inter) == MPI_SUCCESS);
    CHECK(MPI_Comm_remote_size(inter, &size) == MPI_SUCCESS && size == (first ? 1 : 2));
    MPI_Comm_free(&inter);
    for (int i = 0; i < 2; i++)
        MPI_Group_free(&groups[i]);
    MPI_Group_free(&world);
}

/* Wrong calls report the same errors as without these handles. */
static void wrong_calls(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    CHECK(class_of(MPI_Bcast(data, 1, MPI_INT, MPI_PROC_NULL, world)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Reduce(data, got, 1, MPI_INT, MPI_SUM, MPI_PROC_NULL, world)) ==
          MPI_ERR_ROOT);
    CHECK(class_of(MPI_Gather(data, 1, MPI_INT, got, 1, MPI_INT, RANKS, world)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Gather(data, 1, MPI_INT, got, 1, MPI_INT, MPI_ROOT, world)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Gather(data, 1, MPI_INT, got, 1, MPI_INT, 0, MPI_COMM_NULL)) ==
          MPI_ERR_COMM);
    CHECK(class_of(MPI_Allgather(data, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, world)) ==
          MPI_ERR_BUFFER);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    start();
    rooted();
    later_rooted();
    in_place();
    inter_communicators();
    no_operation();
    remote_groups();
    wrong_calls();
    MPI_Finalize();
    return bad != 0;
}
