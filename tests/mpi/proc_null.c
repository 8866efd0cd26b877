// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self,rxm seconds=30
/* Everything to and from MPI_PROC_NULL completes at once, touches nothing, and says so. */
#include "check.h"

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*start_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

int main(int argc, char **argv)
{
    static const send_fn send[] = {MPI_Send, MPI_Ssend, MPI_Rsend};
    static const start_fn start[] = {MPI_Isend, MPI_Issend, MPI_Irsend};
    check_begin(&argc, &argv, 1);
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
    return check_done();
}
