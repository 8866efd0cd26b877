// SPDX-License-Identifier: BSD-3-Clause
/*
 * C functions that convert.F90 calls: handles and statuses of Fortran in C, and back.
 */
#include <mpi.h>
#include <string.h>

void converts_(MPI_Fint *comm, MPI_Fint *type, MPI_Fint *status, MPI_Fint *request, MPI_Fint *good);
void converts_(MPI_Fint *comm, MPI_Fint *type, MPI_Fint *status, MPI_Fint *request, MPI_Fint *good)
{
    MPI_Comm c_comm = MPI_Comm_f2c(*comm);
    MPI_Datatype c_type = MPI_Type_f2c(*type);
    MPI_Request c_request = MPI_Request_f2c(*request);
    MPI_Status c_status;
    MPI_Fint again[sizeof c_status / sizeof(MPI_Fint)];
    int size = 0, count = 0, type_size = 0;
    *good = MPI_Comm_size(c_comm, &size) == MPI_SUCCESS && size == 2 &&
            MPI_Type_size(c_type, &type_size) == MPI_SUCCESS && type_size == 16 &&
            MPI_Comm_c2f(c_comm) == *comm && MPI_Type_c2f(c_type) == *type &&
            MPI_Request_c2f(c_request) == *request && c_request != MPI_REQUEST_NULL &&
            MPI_Comm_c2f(MPI_COMM_NULL) != *comm &&
            MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL;
    *good = *good && MPI_Status_f2c(status, &c_status) == MPI_SUCCESS && c_status.MPI_TAG == 5 &&
            MPI_Get_count(&c_status, MPI_INT, &count) == MPI_SUCCESS && count == 1 &&
            MPI_Status_c2f(&c_status, again) == MPI_SUCCESS && !memcmp(again, status, sizeof again);
}

/* MPI_Status_f2c refuses what Fortran passes for no status. */
void refuses_(MPI_Fint *status, MPI_Fint *refused);
void refuses_(MPI_Fint *status, MPI_Fint *refused)
{
    MPI_Status c_status;
    *refused = MPI_Status_f2c(status, &c_status) != MPI_SUCCESS;
}
