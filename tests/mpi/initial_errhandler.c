// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2 lanes=self,shm seconds=30
/*
 * The error handler that MPI_COMM_WORLD and MPI_COMM_SELF have at first is chosen by the launcher,
 * which sets WEFT_INITIAL_ERRHANDLER (MPI 5.0, 11.5); MPI_INFO_ENV states it. Where MPI_COMM_SELF
 * is not initialized it gets the errors without an object (9.3): before MPI_Init, in a session
 * alone, and after MPI_Finalize. The attribute MPIX_FT states whether the job goes on when ranks
 * die.
 */
#include "check.h"

#include <stdlib.h>

static void expect_return(MPI_Comm comm, const char *name)
{
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(comm, &handler);
    CHECK(handler == MPI_ERRORS_RETURN, "%s has another error handler", name);
    CHECK_CLASS(MPI_Send(NULL, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
}

static void expect_unattached(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK_CLASS(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY);
    MPI_Info_free(&info);
}

static void expect_key(MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int length = sizeof value, found = 0;
    MPI_Info_get_string(info, "mpi_initial_errhandler", &length, value, &found);
    CHECK(found && !strcmp(value, "mpi_errors_return"), "the key has the value '%s'", value);
}

int main(int argc, char **argv)
{
    int found = 0, *goes_on;
    MPI_Comm made;
    MPI_Info info;
    MPI_Session session;
    setenv("WEFT_INITIAL_ERRHANDLER", "mpi_errors_return", 1);
    expect_unattached();
    MPI_Info_create_env(0, NULL, &info);
    expect_key(info);
    MPI_Info_free(&info);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    expect_unattached();
    MPI_Session_finalize(&session);
    MPI_Init(&argc, &argv);
    expect_return(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    expect_return(MPI_COMM_SELF, "MPI_COMM_SELF");
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    expect_return(made, "a duplicate");
    MPI_Comm_free(&made);
    expect_key(MPI_INFO_ENV);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &goes_on, &found);
    CHECK(found && *goes_on == 0, "MPIX_FT is not 0 in a job that ends with its first rank");
    const int failed = check_done();
    expect_unattached();
    return failed || check.failures > 0;
}
