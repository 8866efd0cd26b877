// SPDX-License-Identifier: BSD-3-Clause
/*
 * Functions of Open MPI 5 and MPICH for dead processes, which older headers and libraries lack:
 * found by name. Those that Weft has not return an error of that MPI with a sentence.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

typedef int function(MPI_Comm comm, void *first, void *second);

static int bad;

static int call(const char *name, MPI_Comm comm, void *first, void *second)
{
    function *called = (function *)dlsym(RTLD_DEFAULT, name);
    return called ? called(comm, first, second) : -1;
}

static void expect(const char *name, int code, int good)
{
    if (code != MPI_SUCCESS || !good) {
        printf("%s: %d, %s result\n", name, code, good ? "right" : "wrong");
        bad++;
    }
}

int main(int argc, char **argv)
{
    int flag = 7, acked = 7;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = call("MPIX_Comm_is_revoked", MPI_COMM_WORLD, &flag, NULL);
    expect("MPIX_Comm_is_revoked", code, !flag);
    function *ack = (function *)dlsym(RTLD_DEFAULT, "PMPIX_Comm_ack_failed");
    code = ack ? ack(MPI_COMM_WORLD, NULL, &acked) : -1;
    expect("PMPIX_Comm_ack_failed", code, !acked);
    code = call("PMPIX_Comm_failure_ack", MPI_COMM_WORLD, NULL, NULL);
    expect("PMPIX_Comm_failure_ack", code, 1);
    code = call("MPIX_Comm_get_failed", MPI_COMM_WORLD, &group, NULL);
    expect("MPIX_Comm_get_failed", code, group == MPI_GROUP_EMPTY);
    group = MPI_GROUP_NULL;
    code = call("MPIX_Comm_failure_get_acked", MPI_COMM_WORLD, &group, NULL);
    expect("MPIX_Comm_failure_get_acked", code, group == MPI_GROUP_EMPTY);
    flag = 6;
    code = call("MPIX_Comm_agree", MPI_COMM_WORLD, &flag, NULL);
    expect("MPIX_Comm_agree", code, flag == 6);
    MPI_Request request = MPI_REQUEST_NULL;
    code = call("PMPIX_Comm_iagree", MPI_COMM_WORLD, &flag, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("PMPIX_Comm_iagree", code, flag == 6);
    MPI_Comm made = MPI_COMM_NULL;
    code = call("MPIX_Comm_shrink", MPI_COMM_WORLD, &made, NULL);
    expect("MPIX_Comm_shrink", code, made != MPI_COMM_NULL && MPI_Comm_free(&made) == MPI_SUCCESS);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    code = call("PMPIX_Comm_revoke", made, NULL, NULL);
    expect("PMPIX_Comm_revoke", code, call("MPIX_Comm_is_revoked", made, &flag, NULL) == 0 && flag);
    /* a request that could not begin is the null request, also where it is not changed */
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    memset(&request, 0x5a, sizeof request);
    code = MPI_Irecv(&acked, 1, MPI_INT, 0, 0, made, &request);
    expect("MPI_Irecv", code != MPI_SUCCESS ? MPI_SUCCESS : -1, request == MPI_REQUEST_NULL);
    flag = 0;
    code = MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    expect("MPI_Request_get_status", code, flag);
    memset(&request, 0x5a, sizeof request);
    code = MPI_Isend(&acked, 1, MPI_INT, 0, 0, made, &request);
    expect("MPI_Isend", code != MPI_SUCCESS ? MPI_SUCCESS : -1, request == MPI_REQUEST_NULL);
    int class = MPI_SUCCESS, length = 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    code = MPI_Barrier(made);
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    expect("MPI_Barrier", class != MPI_SUCCESS ? MPI_SUCCESS : -1,
           strstr(text, "is revoked") != NULL);
    MPI_Comm_free(&made);
    MPI_Finalize();
    return bad > 0;
}
