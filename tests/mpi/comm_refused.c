// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,3,5 lanes=shm,rxm,rxm-soft,net-soft,mixed,nodes seconds=90
/*
 * Calls that make something for all ranks of a communicator, of which one rank passes a wrong
 * argument: all ranks get the error class of that rank and a sentence that names it, blocking or
 * not; the same calls made rightly afterwards are in step. Each rank in turn refuses. So does a
 * rank without memory for the group that a split makes.
 */
#include "file.h"
#include "refused.h"

enum { KINDS = 19, NO_MEMORY = KINDS, MANY = 16, LONG_PIECE = 900 };

#include "../no_memory.h"

struct arguments {
    MPI_Comm over;
    MPI_Group group;
    int wrong; /* this rank refuses */
    int all[MANY], ones[MANY];
};

static MPI_Comm *place(const struct arguments *a, MPI_Comm *made)
{
    return a->wrong ? NULL : made;
}

/* Starts the call, and waits for it. */
static int wait_for(int code, MPI_Request *request)
{
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

static int call(int kind, const struct arguments *a, MPI_Comm *made, int *expected)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int bad = a->wrong ? -5 : 1, n;
    MPI_Comm_size(a->over, &n);
    *expected = MPI_ERR_ARG;
    switch (kind) {
    case 0:
        return MPI_Comm_split(a->over, bad, 0, made);
    case 1:
        return MPI_Comm_split(a->over, 0, 0, place(a, made));
    case 2:
        return MPI_Comm_split_type(a->over, a->wrong ? 99999 : MPI_COMM_TYPE_SHARED, 0,
                                   MPI_INFO_NULL, made);
    case 3:
        return MPI_Comm_split_type(a->over, a->wrong ? 99999 : MPI_COMM_TYPE_HW_UNGUIDED, 0,
                                   MPI_INFO_NULL, made);
    case 4:
        *expected = MPI_ERR_GROUP;
        return MPI_Comm_create(a->over, a->wrong ? MPI_GROUP_NULL : a->group, made);
    case 5:
        return MPI_Comm_create(a->over, a->group, place(a, made));
    case 6:
        return MPI_Comm_create_group(a->over, a->group, 3, place(a, made));
    case 7:
    case 8:
        *expected = MPI_ERR_DIMS;
        return MPI_Cart_create(a->over, a->wrong ? -1 : 1, &n, a->all, kind == 8, made);
    case 9:
    case 10:
        return MPI_Graph_create(a->over, a->wrong ? n + 7 : 0, a->all, a->all, kind == 10, made);
    case 11:
    case 12:
        return MPI_Dist_graph_create(a->over, bad, a->all, a->ones, a->all, MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, kind == 12, made);
    case 13:
    case 14:
        *expected = MPI_ERR_RANK;
        return MPI_Dist_graph_create_adjacent(a->over, 1, a->wrong ? a->ones + MANY - 1 : a->all,
                                              MPI_UNWEIGHTED, 1, a->all, MPI_UNWEIGHTED,
                                              MPI_INFO_NULL, kind == 14, made);
    case 15:
        return wait_for(MPI_Comm_idup(a->over, place(a, made), &request), &request);
    case 16:
        return wait_for(MPI_Comm_idup(a->over, made, a->wrong ? NULL : &request), &request);
    case 17:
        *expected = MPI_ERR_INFO;
        return MPI_Comm_dup_with_info(a->over, a->wrong ? (MPI_Info)a : MPI_INFO_NULL, made);
    case 18:
        return MPI_Comm_dup(a->over, place(a, made));
    case NO_MEMORY:
        *expected = MPI_ERR_NO_MEM;
        long_pieces = a->wrong;
        return MPI_Comm_split(a->over, 0, 0, made);
    default:
        return MPI_ERR_OTHER;
    }
}

/* Stores the new handle before it is known whether the communicator can be made. */
static bool is_idup(int kind)
{
    return kind == 15 || kind == 16;
}

static void communicators(int refuser, struct arguments *a)
{
    int kinds = can_lack_memory() ? NO_MEMORY + 1 : KINDS;
    for (int kind = 0; kind < kinds; kind++) {
        MPI_Comm made = MPI_COMM_NULL;
        int expected = MPI_SUCCESS;
        char what[64];
        snprintf(what, sizeof what, "call %d, refused by rank %d", kind, refuser);
        check_step("%s", what);
        a->wrong = check.rank == refuser;
        int code = call(kind, a, &made, &expected);
        check_refused(code, expected, refuser, "", what);
        CHECK(made == MPI_COMM_NULL || is_idup(kind), "%s: a communicator was made", what);
        made = MPI_COMM_NULL;
        a->wrong = false;
        CHECK_CLASS(call(kind, a, &made, &expected), MPI_SUCCESS);
        if (made != MPI_COMM_NULL)
            MPI_Comm_free(&made);
    }
}

static int window(int kind, int wrong, MPI_Win *win)
{
    void *base;
    MPI_Win *at = wrong ? NULL : win;
    switch (kind) {
    case 0:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, at);
    case 1:
        return MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, at);
    case 2:
        return MPI_Win_allocate(64, wrong ? -1 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
    default:
        return MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, at);
    }
}

static void windows(int refuser)
{
    for (int kind = 0; kind < 4; kind++) {
        MPI_Win win = MPI_WIN_NULL;
        check_step("window %d, refused by rank %d", kind, refuser);
        int code = window(kind, check.rank == refuser, &win);
        check_refused(code, kind == 2 ? MPI_ERR_DISP : MPI_ERR_ARG, refuser, "", "a window");
        CHECK_CLASS(window(kind, 0, &win), MPI_SUCCESS);
        MPI_Win_free(&win);
    }
}

/* Rank 0 opens the file before it receives that another rank refuses: nothing stays. */
static void files(int refuser)
{
    MPI_File file = MPI_FILE_NULL;
    const char *name = file_name("refused");
    bool refuses = check.rank == refuser;
    for (int kind = 0; kind < 2; kind++) {
        MPI_Info info = refuses && kind == 0 ? (MPI_Info)&file : MPI_INFO_NULL;
        MPI_File *at = refuses && kind == 1 ? NULL : &file;
        check_step("a file %d, refused by rank %d", kind, refuser);
        int code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, at);
        check_refused(code, kind == 0 ? MPI_ERR_INFO : MPI_ERR_ARG, refuser, "", "a file");
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(access(name, F_OK), "%s was made", name);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name,
                                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                  MPI_INFO_NULL, &file),
                    MPI_SUCCESS);
        MPI_File_close(&file);
    }
}

/* A call that is refused before the other ranks make it, and one that nobody makes after it. */
static void in_the_background(int refuser, struct arguments *a)
{
    MPI_Comm made[2];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check_step("two MPI_Comm_idup, the first refused by rank %d", refuser);
    a->wrong = check.rank == refuser;
    int code = MPI_Comm_idup(a->over, place(a, &made[0]), &requests[0]);
    CHECK_CLASS(MPI_Comm_idup(a->over, &made[1], &requests[1]), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    check_refused(wait_for(code, &requests[0]), MPI_ERR_ARG, refuser, "", "the first");
    CHECK_CLASS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Comm_free(&made[1]);
}

static void with_intercomm(int refuser)
{
    MPI_Comm local, inter, made = MPI_COMM_NULL;
    int color = check.rank % 2, rank;
    struct arguments a = {.wrong = check.rank == refuser};
    check_step("an inter-communicator, refused by rank %d", refuser);
    MPI_Comm_split(MPI_COMM_WORLD, color, check.rank, &local);
    int code = MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - color, 7, place(&a, &inter));
    CHECK_CLASS(code, color == refuser % 2 ? MPI_ERR_ARG : MPI_ERR_OTHER);
    CHECK_CLASS(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - color, 7, &inter), MPI_SUCCESS);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_group(inter, &a.group);
    MPI_Comm_rank(inter, &rank);
    CHECK_CLASS(MPI_Comm_split(inter, a.wrong ? -5 : 0, 0, &made), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Intercomm_merge(inter, 0, place(&a, &made)), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_create(inter, a.wrong ? MPI_GROUP_NULL : a.group, &made), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Comm_dup(inter, place(&a, &made)), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Intercomm_merge(inter, color, &made), MPI_SUCCESS);
    MPI_Comm_free(&made);
    CHECK_CLASS(MPI_Comm_create(inter, a.group, &made), MPI_SUCCESS);
    MPI_Comm_free(&made);
    MPI_Group_free(&a.group);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

int main(int argc, char **argv)
{
    struct arguments a = {0};
    check_begin(&argc, &argv, 2);
    for (int i = 0; i < MANY; i++)
        a.ones[i] = 1;
    a.ones[MANY - 1] = 12345; /* no rank */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    file_begin();
    MPI_Comm_dup(MPI_COMM_WORLD, &a.over);
    MPI_Comm_group(a.over, &a.group);
    for (int refuser = 0; refuser < check.size; refuser++) {
        communicators(refuser, &a);
        windows(refuser);
        files(refuser);
        in_the_background(refuser, &a);
        with_intercomm(refuser);
    }
    MPI_Group_free(&a.group);
    MPI_Comm_free(&a.over);
    file_end();
    return check_done();
}
