// SPDX-License-Identifier: BSD-3-Clause
/*
 * Functions of Open MPI 5 for dead processes, which older headers and libraries lack: found by
 * name. Those that Weft has not return an error of that MPI with a sentence.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

typedef int function(MPI_Comm comm, void *first, void *second);

static int call(const char *name, MPI_Comm comm, void *first, void *second)
{
    function *called = (function *)dlsym(RTLD_DEFAULT, name);
    return called ? called(comm, first, second) : -1;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {
        "MPIX_Comm_ack_failed", "MPIX_Comm_agree",  "PMPIX_Comm_failure_ack",
        "MPIX_Comm_get_failed", "MPIX_Comm_iagree", "MPIX_Comm_failure_get_acked",
        "PMPIX_Comm_revoke",    "MPIX_Comm_shrink",
    };
    char text[MPI_MAX_ERROR_STRING];
    int bad = 0, flag = 7, other = 0, length, code, class;
    void *result = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        code = call(names[i], MPI_COMM_WORLD, &other, &result);
        if (code <= 0 || MPI_Error_class(code, &class) != MPI_SUCCESS ||
            class != MPI_ERR_UNSUPPORTED_OPERATION) {
            printf("%s: %d\n", names[i], code);
            bad++;
        }
        MPI_Error_string(code, text, &length);
        if (!strstr(text, strstr(names[i], "MPIX_"))) {
            printf("%s: %s\n", names[i], text);
            bad++;
        }
    }
    code = call("MPIX_Comm_is_revoked", MPI_COMM_WORLD, &flag, NULL);
    if (code || flag) {
        printf("MPIX_Comm_is_revoked: %d, %d\n", code, flag);
        bad++;
    }
    MPI_Finalize();
    return bad > 0;
}
