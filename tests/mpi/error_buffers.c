// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
// run: ranks=2,3 lanes=shm,rxm seconds=30
/*
 * Buffers and handles that a call's own arguments show to be wrong: MPI_IN_PLACE where it has no
 * meaning, MPI_DATATYPE_NULL, buffers of a collective that share memory. The error says what the
 * argument is. Buffers that are interleaved, or side by side, are right.
 */
#include "file.h"

enum { N = 16 };

static int data[4 * N], other[4 * N];

/* The call returned the class, with a sentence that has these words. */
static void says(int code, int expected, const char *words, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    CHECK(check_class(code) == expected && strstr(text, words), "%s returned %d: %s", call, code,
          text);
}
#define SAYS(call, expected, words) says(call, expected, words, #call)
#define IN_PLACE(call)              SAYS(call, MPI_ERR_BUFFER, "MPI_IN_PLACE")
#define SHARED(call)                SAYS(call, MPI_ERR_BUFFER, "share memory")

static void messages(void)
{
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    void *in = MPI_IN_PLACE;
    check_step("MPI_IN_PLACE in messages");
    IN_PLACE(MPI_Send(in, 1, MPI_INT, 0, 0, comm));
    IN_PLACE(MPI_Ssend(in, 1, MPI_INT, 0, 0, comm));
    IN_PLACE(MPI_Bsend(in, 1, MPI_INT, 0, 0, comm));
    IN_PLACE(MPI_Isend(in, 1, MPI_INT, 0, 0, comm, &request));
    IN_PLACE(MPI_Send_init(in, 1, MPI_INT, 0, 0, comm, &request));
    IN_PLACE(MPI_Psend_init(in, 1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &request));
    IN_PLACE(MPI_Recv(in, 1, MPI_INT, 0, 0, comm, &status));
    IN_PLACE(MPI_Irecv(in, 1, MPI_INT, 0, 0, comm, &request));
    IN_PLACE(MPI_Recv_init(in, 1, MPI_INT, 0, 0, comm, &request));
    IN_PLACE(MPI_Sendrecv(in, 1, MPI_INT, 0, 0, data, 1, MPI_INT, 0, 0, comm, &status));
    IN_PLACE(MPI_Sendrecv(data, 1, MPI_INT, 0, 0, in, 1, MPI_INT, 0, 0, comm, &status));
    IN_PLACE(MPI_Sendrecv_replace(in, 1, MPI_INT, 0, 0, 0, 0, comm, &status));
    MPI_Isend(data, 1, MPI_INT, 0, 7, comm, &request);
    MPI_Mprobe(0, 7, comm, &message, &status);
    MPI_Request receive;
    IN_PLACE(MPI_Imrecv(in, 1, MPI_INT, &message, &receive));
    IN_PLACE(MPI_Mrecv(in, 1, MPI_INT, &message, &status));
    CHECK_CLASS(MPI_Mrecv(other, 1, MPI_INT, &message, &status), MPI_SUCCESS);
    MPI_Wait(&request, &status);
    CHECK_CLASS(MPI_Send(in, 1, MPI_INT, MPI_PROC_NULL, 0, comm), MPI_SUCCESS);
    SAYS(MPI_Recv(data, 1, MPI_DATATYPE_NULL, 0, 0, comm, &status), MPI_ERR_TYPE,
         "the datatype is MPI_DATATYPE_NULL");
    SAYS(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE,
         "the datatype is MPI_DATATYPE_NULL");
}

static void fail_if_called(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)type;
    CHECK(false, "an operation was called with %d elements", *count);
}

/* A type whose data do not begin at the address of the buffer. */
static void reduce_local_behind(void)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Aint behind = sizeof(int);
    MPI_Type_create_hindexed_block(1, 1, &behind, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(fail_if_called, 1, &op);
    IN_PLACE(MPI_Reduce_local(MPI_IN_PLACE, data, 1, type, op));
    IN_PLACE(MPI_Reduce_local(data, MPI_IN_PLACE, 1, type, op));
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void others(void)
{
    char packed[64];
    int position = 0;
    void *in = MPI_IN_PLACE;
    MPI_Win win;
    MPI_Status status;
    check_step("MPI_IN_PLACE in other calls");
    IN_PLACE(MPI_Pack(in, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD));
    IN_PLACE(MPI_Unpack(packed, sizeof packed, &position, in, 1, MPI_INT, MPI_COMM_WORLD));
    IN_PLACE(MPI_Reduce_local(in, data, 1, MPI_INT, MPI_SUM));
    SAYS(MPI_Reduce_local(data, data + 1, 2, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "overlap");
    CHECK_CLASS(MPI_Reduce_local(data, data + 2, 2, MPI_INT, MPI_SUM), MPI_SUCCESS);
    reduce_local_behind();
    MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    IN_PLACE(MPI_Put(in, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    IN_PLACE(MPI_Get(in, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    IN_PLACE(MPI_Accumulate(in, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
    MPI_File file = file_open("b", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    IN_PLACE(MPI_File_write(file, in, 1, MPI_INT, &status));
    IN_PLACE(MPI_File_read_at(file, 0, in, 1, MPI_INT, &status));
    MPI_File_close(&file);
}

static MPI_Comm world;

/* Each call on a communicator of its own: a wrong call counts. */
static MPI_Comm next(void)
{
    if (world != MPI_COMM_NULL)
        MPI_Comm_free(&world);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    return world;
}

static void blocks(void)
{
    int n = check.size, rank = check.rank, counts[3], displs[3];
    MPI_Request request;
    MPI_Comm comm;
    for (int i = 0; i < n; i++) {
        counts[i] = 2;
        displs[i] = 4 * i;
    }
    check_step("buffers of a collective that share memory");
    comm = next();
    SHARED(MPI_Allgather(&data[2 * rank], 2, MPI_INT, data, 2, MPI_INT, comm));
    comm = next();
    SHARED(MPI_Iallgather(&data[2 * rank + 1], 2, MPI_INT, data, 2, MPI_INT, comm, &request));
    comm = next();
    SHARED(MPI_Allgather(&data[N], 2, MPI_INT, &data[N + 1], 2, MPI_INT, comm));
    comm = next();
    SHARED(MPI_Alltoall(data, 4, MPI_INT, &data[4 * n - 1], 4, MPI_INT, comm));
    comm = next();
    SHARED(MPI_Allreduce(data, data + 3, 4, MPI_INT, MPI_SUM, comm));
    comm = next();
    SHARED(MPI_Scan(data + 3, data, 4, MPI_INT, MPI_SUM, comm));
    comm = next();
    SHARED(MPI_Reduce_scatter_block(data, &data[2 * n - 1], 2, MPI_INT, MPI_SUM, comm));
    comm = next();
    SHARED(MPI_Allgatherv(&data[4 * n - 3], 2, MPI_INT, data, counts, displs, MPI_INT, comm));
    comm = next();
    SHARED(MPI_Alltoallv(data, counts, displs, MPI_INT, data + 1, counts, displs, MPI_INT, comm));

    check_step("buffers side by side, and interleaved ones");
    comm = next();
    CHECK_CLASS(MPI_Allgather(&data[2 * n], 2, MPI_INT, data, 2, MPI_INT, comm), MPI_SUCCESS);
    CHECK_CLASS(MPI_Alltoall(data, 4, MPI_INT, &data[4 * n], 4, MPI_INT, comm), MPI_SUCCESS);
    CHECK_CLASS(MPI_Allreduce(data, data + 4, 4, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_CLASS(MPI_Reduce_scatter_block(data, &data[2 * n], 2, MPI_INT, MPI_SUM, comm),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Allgatherv(&data[4 * n - 2], 2, MPI_INT, data, counts, displs, MPI_INT, comm),
                MPI_SUCCESS);
    CHECK_CLASS(
        MPI_Alltoallv(data, counts, displs, MPI_INT, data + 2, counts, displs, MPI_INT, comm),
        MPI_SUCCESS);
    CHECK_CLASS(MPI_Allgather(&data[1], 0, MPI_INT, data, 0, MPI_INT, comm), MPI_SUCCESS);
    MPI_Datatype holes;
    MPI_Type_create_resized(MPI_INT, 0, 8, &holes);
    MPI_Type_commit(&holes);
    CHECK_CLASS(MPI_Allgather(data, 2, holes, data + 1, 2, holes, comm), MPI_SUCCESS);
    CHECK_CLASS(MPI_Alltoall(data, 1, holes, data + 1, 1, holes, comm), MPI_SUCCESS);
    MPI_Type_free(&holes);
    MPI_Comm_free(&world);
}

static void levels(void)
{
    MPI_Info info;
    MPI_Session session;
    check_step("thread levels of sessions");
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MANY");
    SAYS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE,
         "MPI_THREAD_MANY");
    MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED");
    CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    MPI_Session_finalize(&session);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    world = MPI_COMM_NULL;
    file_begin();
    messages();
    others();
    blocks();
    levels();
    file_end();
    return check_done();
}
