// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions that MPICH's C library has beside those of the standard: arrays of requests,
 * conversions for Fortran that are no macros, and variables that programs import.
 */
#include "config.h"
#include "frontend/frontend.h"

#define EXPORT __attribute__((visibility("default")))

const int front_version[2] = {4, 0};
/* Programs choose constants by how this begins. */
const char front_library_version[] = "MPICH Version:      4.0.3 (Weft " PACKAGE_VERSION ")\n";

MPI_Request front_Request_in_other(front_Request handle)
{
    return handle == FRONT_REQUEST_NULL ? MPI_REQUEST_NULL : weft_abi_Request_fromint(handle);
}

MPI_Datatype front_Datatype_in_other(front_Datatype handle)
{
    unsigned kind = (unsigned)handle >> 24;
    if (kind == 0x8c)
        return (MPI_Datatype)(uintptr_t)front_pairs_in[handle & 0xf];
    return kind == 0x0c ? MPI_DATATYPE_NULL : weft_abi_Type_fromint(handle);
}

MPI_Request *front_Requests_begin(int n, const front_Request *array, MPI_Request *few)
{
    return front_Requests_in(n, array, few);
}

void front_Requests_end(int n, front_Request *array, MPI_Request *ours, MPI_Request *few)
{
    for (int i = 0; ours && i < n; i++)
        if (ours[i] == MPI_REQUEST_NULL)
            array[i] = front_Request_out(MPI_REQUEST_NULL);
    front_release(ours, few);
}

/* ---- Predefined functions for attributes */

EXPORT int MPIR_Dup_fn(front_Comm comm, int keyval, void *extra, void *in, void *out, int *flag);
int MPIR_Dup_fn(front_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *flag = 1;
    *(void **)out = in;
    return MPI_SUCCESS;
}

int front_predefined_function(front_function *function)
{
    return !function ? 0 : function == (front_function *)MPIR_Dup_fn ? 1 : -1;
}

/* ---- Fortran: a status has the same bytes. */

extern __typeof__(PMPI_File_toint) weft_abi_File_toint;
extern __typeof__(PMPI_File_fromint) weft_abi_File_fromint;

FRONT_DEFINE(File_c2f, int, (front_File file))
{
    return file ? weft_abi_File_toint(front_File_in(file)) : 0;
}

FRONT_DEFINE(File_f2c, front_File, (int file))
{
    return file ? front_File_out(weft_abi_File_fromint(file)) : NULL;
}

EXPORT int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE; /* set by the Fortran library */

FRONT_DEFINE(Status_c2f, int, (const front_Status *status, int *fortran))
{
    if (!front_status_given(status) || !fortran)
        return front_error_out(MPI_ERR_ARG);
    memcpy(fortran, status, sizeof *status);
    return MPI_SUCCESS;
}

FRONT_DEFINE(Status_f2c, int, (const int *fortran, front_Status *status))
{
    if (!front_status_given(status) || !fortran || fortran == MPI_F_STATUS_IGNORE ||
        fortran == MPI_F_STATUSES_IGNORE)
        return front_error_out(MPI_ERR_ARG);
    memcpy(status, fortran, sizeof *status);
    return MPI_SUCCESS;
}

/* ---- Variables */

EXPORT int MPIR_C_MPI_UNWEIGHTED[2], MPIR_C_MPI_WEIGHTS_EMPTY[2];
EXPORT int *const front_unweighted = MPIR_C_MPI_UNWEIGHTED;
EXPORT int *const front_weights_empty = MPIR_C_MPI_WEIGHTS_EMPTY;
EXPORT extern void *const front_all_handles __asm__("MPI_T_PVAR_ALL_HANDLES");
void *const front_all_handles = (void *)1;

EXPORT int MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
EXPORT front_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
EXPORT front_Status *MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
EXPORT front_Status *MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;

/* ---- Extensions */

#define EXTENSION(name, parameters)                                                                \
    EXPORT int PMPIX_##name parameters;                                                            \
    EXPORT extern __typeof__(PMPIX_##name) MPIX_##name                                             \
        __attribute__((weak, alias("PMPIX_" #name)));                                              \
    int PMPIX_##name parameters

#define NO_SUPPORT(name)                                                                           \
    EXTENSION(name, (void))                                                                        \
    {                                                                                              \
        return 0;                                                                                  \
    }
NO_SUPPORT(Query_cuda_support)
NO_SUPPORT(Query_hip_support)
NO_SUPPORT(Query_ze_support)

EXTENSION(GPU_query_support, (int type, int *is_supported))
{
    (void)type;
    *is_supported = 0;
    return MPI_SUCCESS;
}

/* Recovery from dead processes, which Weft has not. These read no parameter but the first. */
#define UNSUPPORTED(name)                                                                          \
    EXTENSION(name, (front_Comm comm))                                                             \
    {                                                                                              \
        return front_code(weft_abi_unsupported("MPIX_" #name, front_Comm_in(comm)));               \
    }
UNSUPPORTED(Comm_agree)
UNSUPPORTED(Comm_failure_ack)
UNSUPPORTED(Comm_failure_get_acked)
UNSUPPORTED(Comm_revoke)
UNSUPPORTED(Comm_shrink)

/* The names that MPI 4.1's functions had in MPICH 4.0 */
#define DELETE(what, of)                                                                           \
    extern __typeof__(PMPI_Remove_error_##what) weft_abi_Remove_error_##what;                      \
    EXTENSION(Delete_error_##what, (int of))                                                       \
    {                                                                                              \
        return front_code(weft_abi_Remove_error_##what(front_error_in(of)));                       \
    }
DELETE(class, errorclass)
DELETE(code, errorcode)
DELETE(string, errorcode)

/* Extended generalized requests, which are progressed by functions of the user's */
#define UNSUPPORTED_GREQUEST(name)                                                                 \
    EXTENSION(name, (void))                                                                        \
    {                                                                                              \
        return front_code(weft_abi_unsupported("MPIX_" #name, MPI_COMM_SELF));                     \
    }
UNSUPPORTED_GREQUEST(Grequest_class_allocate)
UNSUPPORTED_GREQUEST(Grequest_class_create)
UNSUPPORTED_GREQUEST(Grequest_start)
