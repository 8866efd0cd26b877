// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm,shm seconds=30
/*
 * Rules of chapters 6 to 11 that no other test comes across: which arguments do not count, which
 * calls are refused on what, what null handles answer, and in which order attributes go.
 */
#include "check.h"

static int deleted[4], ndeleted;

static int note_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int finalized = -1;
    (void)comm;
    (void)key;
    (void)extra;
    MPI_Finalized(&finalized);
    CHECK(finalized == 0, "MPI_Finalized says %d while attributes are deleted", finalized);
    if (ndeleted < 4)
        deleted[ndeleted++] = (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static void communicators(void)
{
    int n = -1, length = -1;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF, none = MPI_COMM_NULL, made;
    MPI_Group all, got;
    CHECK_CLASS(MPI_Comm_free(&world), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_disconnect(&self), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&none), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &n), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_get_name(MPI_COMM_NULL, name, &length), MPI_SUCCESS);
    CHECK(!strcmp(name, "MPI_COMM_NULL") && length == 13, "its name is %s", name);
    CHECK_CLASS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &made), MPI_SUCCESS);
    CHECK(made == MPI_COMM_NULL, "a communicator of nobody");
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &made),
                MPI_SUCCESS);
    CHECK(made == MPI_COMM_NULL, "a communicator of no type");

    int twice[] = {0, 0}, outside[] = {check.size}, endless[][3] = {{0, 1, 0}};
    int from[] = {0, MPI_PROC_NULL}, to[] = {-5, -5};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    CHECK_CLASS(MPI_Group_incl(all, 2, twice, &got), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_incl(all, 1, outside, &got), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Group_range_incl(all, 1, endless, &got), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Group_translate_ranks(all, 2, from, MPI_GROUP_EMPTY, to), MPI_SUCCESS);
    CHECK(to[0] == MPI_UNDEFINED && to[1] == MPI_PROC_NULL, "translated to %d and %d", to[0],
          to[1]);
    CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
    MPI_Group_free(&all);
}

/* What only the root reads may be anything elsewhere; so may what MPI_IN_PLACE replaces. */
static void arguments_that_do_not_count(void)
{
    bool root = check.rank == 0;
    int n = check.size, one = 1, *all = calloc((size_t)n, sizeof *all);
    int *counts = malloc((size_t)n * sizeof *counts), *at = malloc((size_t)n * sizeof *at);
    MPI_Datatype type = root ? MPI_INT : MPI_DATATYPE_NULL;
    for (int i = 0; i < n; i++) {
        counts[i] = 1;
        at[i] = i;
    }
    CHECK_CLASS(
        MPI_Gather(&one, 1, MPI_INT, root ? all : NULL, root ? 1 : -7, type, 0, MPI_COMM_WORLD),
        MPI_SUCCESS);
    CHECK_CLASS(MPI_Gatherv(&one, 1, MPI_INT, root ? all : NULL, root ? counts : NULL,
                            root ? at : NULL, type, 0, MPI_COMM_WORLD),
                MPI_SUCCESS);
    CHECK_CLASS(
        MPI_Scatter(root ? all : NULL, root ? 1 : -3, type, &one, 1, MPI_INT, 0, MPI_COMM_WORLD),
        MPI_SUCCESS);
    CHECK(one == 1, "scattered is %d", one);
    CHECK_CLASS(MPI_Reduce(&one, root ? all : NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
                MPI_SUCCESS);
    CHECK(!root || all[0] == n, "the sum is %d", all[0]);
    CHECK_CLASS(MPI_Alltoall(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Allgather(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_CLASS(MPI_Reduce_local(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bcast(all, 1, MPI_INT, MPI_ROOT, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(all, 1, MPI_INT, MPI_PROC_NULL, MPI_COMM_WORLD), MPI_ERR_ROOT);
    free(all);
    free(counts);
    free(at);
}

static void complete(MPI_Request *request, MPI_Status *status)
{
    for (int done = 0; !done;)
        CHECK_CLASS(MPI_Test(request, &done, status), MPI_SUCCESS);
}

/* Collectives' requests are neither cancelled nor given up; a persistent one waits for nothing
 * until it is started, and is not started twice. */
static void requests(void)
{
    MPI_Request request;
    MPI_Status status;
    CHECK_CLASS(MPI_Ibarrier(MPI_COMM_WORLD, &request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    complete(&request, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request), MPI_SUCCESS);
    complete(&request, &status);
    CHECK(request != MPI_REQUEST_NULL && status.MPI_SOURCE == MPI_ANY_SOURCE &&
              status.MPI_TAG == MPI_ANY_TAG,
          "an inactive request has the status of source %d, tag %d", status.MPI_SOURCE,
          status.MPI_TAG);
    CHECK_CLASS(MPI_Start(&request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    complete(&request, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Request_free(&request), MPI_SUCCESS);
}

static void topologies(void)
{
    int size[] = {check.size}, more[] = {check.size + 1}, open[] = {0}, n = 0, one = 1, two[2];
    MPI_Comm line, point, made;
    CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Neighbor_allgather(&one, 1, MPI_INT, two, 1, MPI_INT, MPI_COMM_WORLD),
                MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, more, open, 0, &made), MPI_ERR_DIMS);
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, size, open, 0, &line), MPI_SUCCESS);
    CHECK_CLASS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, two, 1, MPI_INT, line),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Cart_rank(line, size, &n), MPI_ERR_ARG); /* beyond an open end */
    CHECK_CLASS(MPI_Cart_coords(line, check.size, 1, &n), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &point), MPI_SUCCESS);
    CHECK((point != MPI_COMM_NULL) == (check.rank == 0), "a grid of no dimension has other ranks");
    MPI_Comm_free(&line);
    if (point != MPI_COMM_NULL)
        MPI_Comm_free(&point);
}

static void between_groups(void)
{
    int a = check.rank, b = 0, odd = check.rank % 2, size[] = {1}, open[] = {0};
    MPI_Comm half, both, made;
    MPI_Comm_split(MPI_COMM_WORLD, odd, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 7, &both);
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, both), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, both), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &b, 1, MPI_INT, MPI_SUM, both), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Cart_create(both, 1, size, open, 0, &made), MPI_ERR_COMM);
    int root = odd ? 0 : check.rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    CHECK_CLASS(MPI_Bcast(&a, 1, MPI_INT, root, both), MPI_SUCCESS);
    CHECK(!odd || a == 0, "broadcast is %d", a);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void sessions(void)
{
    int n = 0, length = 0, flag = 0, room = 8;
    char text[8] = "";
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL), MPI_SUCCESS);
    CHECK(length > 6, "a set's name has %d bytes", length); /* at least mpi:// */
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://nobody", &group), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_pset_info(session, "mpi://SELF", &info), MPI_SUCCESS);
    MPI_Info_get_string(info, "mpi_size", &room, text, &flag);
    CHECK(flag && !strcmp(text, "1"), "mpi://SELF has the size %s", text);
    MPI_Info_free(&info);
    CHECK_CLASS(MPI_Session_finalize(&session), MPI_SUCCESS);
    CHECK(session == MPI_SESSION_NULL, "the handle is still there");
    CHECK_CLASS(MPI_Session_finalize(&session), MPI_ERR_SESSION);
}

/* The last one set goes first; setting one again deletes its old value and counts as setting. */
static void set_attributes(void)
{
    int keys[3], null_key = MPI_KEYVAL_INVALID, of_types;
    for (int i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_delete, &keys[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)(intptr_t)(i + 1));
    }
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[0], (void *)(intptr_t)4);
    CHECK(ndeleted == 1 && deleted[0] == 1, "the old value was not deleted");
    ndeleted = 0;
    CHECK_CLASS(MPI_Comm_free_keyval(&null_key), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_SELF, null_key, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), MPI_ERR_KEYVAL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_types, NULL);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_SELF, of_types, NULL), MPI_ERR_KEYVAL);
    MPI_Type_free_keyval(&of_types);
    CHECK(of_types == MPI_KEYVAL_INVALID, "the key is still there");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_errors_return();
    communicators();
    arguments_that_do_not_count();
    requests();
    topologies();
    between_groups();
    sessions();
    set_attributes();
    int code = check_done();
    CHECK(ndeleted == 3 && deleted[0] == 4 && deleted[1] == 3 && deleted[2] == 2,
          "%d attributes were deleted in the end: %d, %d, %d", ndeleted, deleted[0], deleted[1],
          deleted[2]);
    return code || check.failures;
}
