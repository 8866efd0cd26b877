// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self,rxm seconds=30
/* Everything to and from MPI_PROC_NULL completes at once, touches nothing, and says so. */
#include "check.h"

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*start_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* No elements need no datatype and no buffer; elements need both, to MPI_PROC_NULL too. */
static void of_nothing(void)
{
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request[7];
    MPI_Status st;
    check_step("no elements of MPI_DATATYPE_NULL");
    CHECK_CLASS(MPI_Send(NULL, 0, none, MPI_PROC_NULL, 3, world), MPI_SUCCESS);
    CHECK_CLASS(MPI_Bsend(NULL, 0, none, MPI_PROC_NULL, 3, world), MPI_SUCCESS);
    CHECK_CLASS(MPI_Recv(NULL, 0, none, MPI_PROC_NULL, 3, world, &st), MPI_SUCCESS);
    CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK_CLASS(
        MPI_Sendrecv(NULL, 0, none, MPI_PROC_NULL, 1, NULL, 0, none, MPI_PROC_NULL, 1, world, &st),
        MPI_SUCCESS);
    CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK_CLASS(MPI_Sendrecv_replace(NULL, 0, none, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, world, &st),
                MPI_SUCCESS);
    MPI_Isend(NULL, 0, none, MPI_PROC_NULL, 3, world, &request[0]);
    MPI_Irecv(NULL, 0, none, MPI_PROC_NULL, 3, world, &request[1]);
    MPI_Send_init(NULL, 0, none, MPI_PROC_NULL, 3, world, &request[2]);
    MPI_Recv_init(NULL, 0, none, MPI_PROC_NULL, 3, world, &request[3]);
    MPI_Psend_init(NULL, 0, 0, none, MPI_PROC_NULL, 3, world, MPI_INFO_NULL, &request[4]);
    MPI_Precv_init(NULL, 2, 0, none, MPI_PROC_NULL, 3, world, MPI_INFO_NULL, &request[5]);
    MPI_Psend_init(NULL, 0, 2, none, MPI_PROC_NULL, 3, world, MPI_INFO_NULL, &request[6]);
    CHECK_CLASS(MPI_Startall(4, request + 2), MPI_SUCCESS);
    CHECK_CLASS(MPI_Waitall(7, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 2; i < 7; i++)
        MPI_Request_free(&request[i]);

    CHECK_CLASS(MPI_Send(NULL, 1, none, MPI_PROC_NULL, 3, world), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(NULL, 0, none, 0, 3, world), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Recv(NULL, 0, none, MPI_ANY_SOURCE, 3, world, &st), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Psend_init(NULL, 1, 1, none, MPI_PROC_NULL, 3, world, MPI_INFO_NULL, request),
                MPI_ERR_TYPE);
}

int main(int argc, char **argv)
{
    static const send_fn send[] = {MPI_Send, MPI_Ssend, MPI_Rsend};
    static const start_fn start[] = {MPI_Isend, MPI_Issend, MPI_Irsend};
    check_begin(&argc, &argv, 1);
    check_errors_return();
    int value = 5, in = 6, flag = -1;
    MPI_Request request;
    MPI_Status st;
    for (int mode = 0; mode < 3; mode++) {
        check_step("mode %d", mode);
        send[mode](&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
        start[mode](&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(request == MPI_REQUEST_NULL, "MPI_Wait left a request");
    }
    for (int tag = 0; tag < 2; tag++) {
        check_step("receive, %s", tag ? "any tag" : "tag 0");
        memset(&st, 0x55, sizeof st);
        MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, tag ? MPI_ANY_TAG : 0, MPI_COMM_WORLD, &st);
        CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        memset(&st, 0x55, sizeof st);
        MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, tag ? MPI_ANY_TAG : 0, MPI_COMM_WORLD, &request);
        MPI_Test(&request, &flag, &st);
        CHECK(flag == 1, "a receive from MPI_PROC_NULL was not complete at once");
        CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &in, 1, MPI_INT, MPI_PROC_NULL, 1,
                 MPI_COMM_WORLD, &st);
    CHECK_STATUS(st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK(in == 6, "a receive from MPI_PROC_NULL wrote into its buffer");
    of_nothing();
    return check_done();
}
