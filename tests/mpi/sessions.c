// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2,5 lanes=rxm,rxm-soft seconds=40
/*
 * Sessions: process sets, groups and communicators from them, error handlers, buffers, several
 * sessions at once, again and again, before MPI_Init, beside it, and after MPI_Finalize.
 */
#include "check.h"

static int session_errors;

static void on_session(MPI_Session *session, int *code, ...)
{
    CHECK(*session != MPI_SESSION_NULL && *code != MPI_SUCCESS, "the handler got nonsense");
    session_errors++;
}

static MPI_Comm comm_of(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    return comm;
}

static void ring(MPI_Comm comm)
{
    int rank, size, in = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int out = 100 + rank, down = (rank + size - 1) % size, sum = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, down, 1, comm,
                 MPI_STATUS_IGNORE);
    CHECK(in == 100 + down, "%d came instead of %d", in, 100 + down);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2, "the sum of ranks is %d", sum);
}

static void sets(MPI_Session session)
{
    int n = 0, length = 0, flag = 0;
    char name[MPI_MAX_PSET_NAME_LEN], value[16];
    MPI_Info info;
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    CHECK(n >= 2, "%d process sets", n);
    bool world = false, self = false;
    for (int i = 0; i < n; i++) {
        length = 0;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
        int needed = length;
        length = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        CHECK(needed == (int)strlen(name) + 1, "the length of %s is %d", name, needed);
        world = world || !strcmp(name, "mpi://WORLD");
        self = self || !strcmp(name, "mpi://SELF");
        MPI_Session_get_pset_info(session, name, &info);
        MPI_Info_get(info, "mpi_size", 15, value, &flag);
        CHECK(flag && atoi(value) > 0, "the size of %s is %s", name, flag ? value : "not known");
        MPI_Info_free(&info);
    }
    CHECK(world && self, "a process set that every job has is missing");
    length = 4;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    CHECK(strlen(name) == 3 && length == 12, "a short name is %s, of %d", name, length);
}

static void errors(MPI_Session session)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm;
    MPI_Errhandler handler, found;
    int length = 0;
    MPI_Session_create_errhandler(on_session, &handler);
    MPI_Session_set_errhandler(session, handler);
    MPI_Session_get_errhandler(session, &found);
    CHECK(found == handler, "the session's handler is another");
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&handler);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://nowhere", &group), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &length, NULL), MPI_ERR_ARG);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    CHECK(session_errors % 3 == 0 && session_errors > 0,
          "the session's handler was called %d times", session_errors);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://self", &group), MPI_SUCCESS);
    CHECK_CLASS(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
                MPI_ERR_ARG);
    MPI_Group_free(&group);
}

/* A communicator of a session sends from the session's buffer if it has none of its own, and so do
 * its copies. */
static void buffers(MPI_Session session, MPI_Comm comm)
{
    enum { BYTES = 1000, SIZE = 4 * (BYTES + MPI_BSEND_OVERHEAD) };
    char *room = malloc(SIZE), data[BYTES], in[BYTES], *back = NULL;
    int rank, size, bytes = 0;
    MPI_Comm dup;
    MPI_Request flush;
    MPI_Comm_dup(comm, &dup);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int up = (rank + 1) % size, down = (rank + size - 1) % size;
    check_fill(data, BYTES, rank, 2, 0);
    CHECK_CLASS(MPI_Bsend(data, BYTES, MPI_BYTE, up, 2, comm), MPI_ERR_BUFFER);
    MPI_Session_attach_buffer(session, room, SIZE);
    CHECK_CLASS(MPI_Session_attach_buffer(session, room, SIZE), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bsend(data, BYTES, MPI_BYTE, up, 2, comm), MPI_SUCCESS);
    CHECK_CLASS(MPI_Bsend(data, BYTES, MPI_BYTE, up, 2, dup), MPI_SUCCESS);
    MPI_Recv(in, BYTES, MPI_BYTE, down, 2, dup, MPI_STATUS_IGNORE);
    CHECK(check_differs(in, BYTES, down, 2, 0) == BYTES, "the data are wrong");
    MPI_Recv(in, BYTES, MPI_BYTE, down, 2, comm, MPI_STATUS_IGNORE);
    MPI_Session_flush_buffer(session);
    MPI_Session_iflush_buffer(session, &flush);
    MPI_Wait(&flush, MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer(session, &back, &bytes);
    CHECK(back == room && bytes == SIZE, "%d bytes were detached", bytes);
    CHECK_CLASS(MPI_Session_detach_buffer(session, &back, &bytes), MPI_ERR_BUFFER);
    MPI_Comm_free(&dup);
    free(room);
}

static void one_session(bool whole)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info;
    char value[32];
    int flag = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
    MPI_Info_free(&info);
    MPI_Session_get_info(session, &info);
    MPI_Info_get(info, "thread_level", 31, value, &flag);
    CHECK(flag && !strcmp(value, "MPI_THREAD_MULTIPLE"), "the thread level is %s", value);
    MPI_Info_free(&info);
    MPI_Comm world = comm_of(session, "mpi://WORLD", "the world"),
             self = comm_of(session, "mpi://SELF", "myself");
    ring(world);
    ring(self);
    if (check.rank < 0) {
        MPI_Comm_rank(world, &check.rank);
        MPI_Comm_size(world, &check.size);
    }
    if (whole) {
        sets(session);
        errors(session);
        buffers(session, world);
        MPI_Session second;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
        MPI_Comm other = comm_of(second, "mpi://WORLD", "another one");
        ring(other);
        MPI_Comm_free(&other);
        MPI_Session_finalize(&second);
        CHECK(second == MPI_SESSION_NULL, "a finalized session's handle is not MPI_SESSION_NULL");
        ring(world);
    }
    MPI_Comm_disconnect(&world);
    MPI_Comm_disconnect(&self);
    MPI_Session_finalize(&session);
}

/* Two groups without a communicator between them. */
static void between(void)
{
    MPI_Session session;
    MPI_Group world, even, odd;
    MPI_Comm inter;
    int in = -1, rank, remote, stride[1][3] = {{0, check.size - 1, 2}};
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_range_incl(world, 1, stride, &even);
    MPI_Group_difference(world, even, &odd);
    bool mine = check.rank % 2 == 0;
    MPI_Group nothing = (MPI_Group)(intptr_t)-4096; /* significant at the leaders only */
    MPI_Intercomm_create_from_groups(mine ? even : odd, 0,
                                     check.rank > 1 ? nothing
                                     : mine         ? odd
                                                    : even,
                                     0, "between", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &remote);
    if (rank < remote) {
        MPI_Sendrecv(&check.rank, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, 0, inter,
                     MPI_STATUS_IGNORE);
        CHECK(in == (check.rank ^ 1), "rank %d answered", in);
    }
    MPI_Comm_free(&inter);
    MPI_Group_free(&world);
    MPI_Group_free(&even);
    MPI_Group_free(&odd);
    MPI_Session_finalize(&session);
}

static char data[1 << 20]; /* more than is sent before the receive */

/* Rank 1 receives a long message of rank 0 only after the token, which follows the end of another
 * session or of MPI_COMM_WORLD. */
static void begin_long(MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (check.rank == 0)
        MPI_Isend(data, sizeof data, MPI_CHAR, 1, 1, comm, request);
}

static void end_long(MPI_Comm comm, MPI_Request *request)
{
    if (check.rank == 0)
        MPI_Send(NULL, 0, MPI_CHAR, 1, 2, comm);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (check.rank == 1) {
        MPI_Recv(NULL, 0, MPI_CHAR, 0, 2, comm, MPI_STATUS_IGNORE);
        MPI_Recv(data, sizeof data, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
    }
}

static void end_beside_message(void)
{
    MPI_Request request;
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    begin_long(MPI_COMM_WORLD, &request);
    MPI_Session_finalize(&session);
    end_long(MPI_COMM_WORLD, &request);
}

int main(int argc, char **argv)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 1, all = 0;
    check_watch();
    check_step("a session before MPI_Init");
    one_session(true);
    MPI_Initialized(&flag);
    CHECK(!flag, "a session counts as MPI_Init");
    for (int i = 0; i < 3; i++)
        one_session(false);
    if (check.size > 1)
        between();
    if (argc > 1 && !strcmp(argv[1], "only"))
        return check.failures > 0;
    check_step("MPI_Init after sessions");
    MPI_Init(&argc, &argv);
    check_world(1);
    check_errors_return();
    check_step("a session beside MPI_Init");
    one_session(true);
    check_step("a session that ends while a message of MPI_COMM_WORLD is in flight");
    if (check.size > 1)
        end_beside_message();
    MPI_Session open;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &open);
    MPI_Comm comm = comm_of(open, "mpi://WORLD", "open");
    check_step("MPI_Finalize while a session is open");
    MPI_Allreduce(&check.failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (check.size > 1)
        begin_long(comm, &request);
    MPI_Finalize();
    if (check.size > 1)
        end_long(comm, &request);
    MPI_Finalized(&flag);
    CHECK(flag, "MPI_Finalize is forgotten");
    ring(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&open);
    check_step("a session after MPI_Finalize");
    one_session(false);
    check_step("the exit");
    return all > 0 || check.failures > 0;
}
