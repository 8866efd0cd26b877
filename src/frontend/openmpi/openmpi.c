// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions that Open MPI's C library has beside those of the standard: conversions of handles
 * to Fortran's, predefined functions for attributes, and Fortran's blocks.
 */
#include "config.h"
#include "frontend/frontend.h"

#define EXPORT __attribute__((visibility("default")))

const int front_version[2] = {3, 1};
/* Programs choose constants by how this begins. */
const char front_library_version[] = "Open MPI v4.1.8 (Weft " PACKAGE_VERSION ")";

/* ---- Handles and statuses in Fortran */

/* The integer of a predefined handle, or -1. */
static int predefined_out(const void *ours)
{
    for (const struct front_fortran *row = front_fortran; row->kind; row++)
        if ((uintptr_t)ours == (uintptr_t)row->ours)
            return row->theirs;
    return -1;
}

/* The handle of an integer below those of other objects; NULL: there is none. */
static void *predefined_in(enum front_kind kind, int theirs)
{
    for (const struct front_fortran *row = front_fortran; row->kind; row++)
        if (row->kind == kind && row->theirs == theirs)
            return front_back[row->ours];
    return NULL;
}

#define CONVERT(Name, Kind, null)                                                                  \
    FRONT_DEFINE(Name##_c2f, int, (front_##Kind handle))                                           \
    {                                                                                              \
        MPI_##Kind ours = front_##Kind##_in(handle);                                               \
        return (uintptr_t)ours < FRONT_PREDEFINED ? predefined_out(ours) : toint_##Kind(ours);     \
    }                                                                                              \
    FRONT_DEFINE(Name##_f2c, front_##Kind, (int handle))                                           \
    {                                                                                              \
        front_##Kind found = handle < 4096 ? predefined_in(FRONT_KIND_##Kind, handle)              \
                                           : front_##Kind##_out(fromint_##Kind(handle));           \
        return found ? found : front_##Kind##_out(null);                                           \
    }

#define STANDARD(Name, Kind)                                                                       \
    extern __typeof__(PMPI_##Name##_toint) weft_abi_##Name##_toint;                                \
    extern __typeof__(PMPI_##Name##_fromint) weft_abi_##Name##_fromint;                            \
    static int toint_##Kind(MPI_##Kind handle)                                                     \
    {                                                                                              \
        return weft_abi_##Name##_toint(handle);                                                    \
    }                                                                                              \
    static MPI_##Kind fromint_##Kind(int handle)                                                   \
    {                                                                                              \
        return weft_abi_##Name##_fromint(handle);                                                  \
    }

#define BOTH(Name, Kind, null) STANDARD(Name, Kind) CONVERT(Name, Kind, null)
BOTH(Comm, Comm, MPI_COMM_NULL)
BOTH(Errhandler, Errhandler, MPI_ERRHANDLER_NULL)
BOTH(File, File, MPI_FILE_NULL)
BOTH(Group, Group, MPI_GROUP_NULL)
BOTH(Info, Info, MPI_INFO_NULL)
BOTH(Message, Message, MPI_MESSAGE_NULL)
BOTH(Op, Op, MPI_OP_NULL)
BOTH(Request, Request, MPI_REQUEST_NULL)
BOTH(Session, Session, MPI_SESSION_NULL)
BOTH(Type, Datatype, MPI_DATATYPE_NULL)
BOTH(Win, Win, MPI_WIN_NULL)

EXPORT int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_,
    mpi_fortran_unweighted_, mpi_fortran_weights_empty_;
EXPORT char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
EXPORT int mpi_fortran_status_ignore_[2], mpi_fortran_statuses_ignore_[2];
EXPORT int *MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
EXPORT int *MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;

/* ---- Predefined functions for attributes */

#define COPY(name, flagged)                                                                        \
    EXPORT int OMPI_C_MPI_##name(void *object, int keyval, void *extra, void *in, void *out,       \
                                 int *flag)                                                        \
    {                                                                                              \
        (void)object, (void)keyval, (void)extra;                                                   \
        *flag = flagged;                                                                           \
        if (flagged)                                                                               \
            *(void **)out = in;                                                                    \
        return MPI_SUCCESS;                                                                        \
    }
#define DELETE(name)                                                                               \
    EXPORT int OMPI_C_MPI_##name(void *object, int keyval, void *value, void *extra)               \
    {                                                                                              \
        (void)object, (void)keyval, (void)value, (void)extra;                                      \
        return MPI_SUCCESS;                                                                        \
    }
COPY(DUP_FN, 1)
COPY(COMM_DUP_FN, 1)
COPY(TYPE_DUP_FN, 1)
COPY(WIN_DUP_FN, 1)
COPY(NULL_COPY_FN, 0)
COPY(COMM_NULL_COPY_FN, 0)
COPY(TYPE_NULL_COPY_FN, 0)
COPY(WIN_NULL_COPY_FN, 0)
DELETE(NULL_DELETE_FN)
DELETE(COMM_NULL_DELETE_FN)
DELETE(TYPE_NULL_DELETE_FN)
DELETE(WIN_NULL_DELETE_FN)

int front_predefined_function(front_function *function)
{
    static front_function *const nothing[] = {(front_function *)OMPI_C_MPI_NULL_COPY_FN,
                                              (front_function *)OMPI_C_MPI_COMM_NULL_COPY_FN,
                                              (front_function *)OMPI_C_MPI_TYPE_NULL_COPY_FN,
                                              (front_function *)OMPI_C_MPI_WIN_NULL_COPY_FN,
                                              (front_function *)OMPI_C_MPI_NULL_DELETE_FN,
                                              (front_function *)OMPI_C_MPI_COMM_NULL_DELETE_FN,
                                              (front_function *)OMPI_C_MPI_TYPE_NULL_DELETE_FN,
                                              (front_function *)OMPI_C_MPI_WIN_NULL_DELETE_FN};
    static front_function *const copies[] = {
        (front_function *)OMPI_C_MPI_DUP_FN, (front_function *)OMPI_C_MPI_COMM_DUP_FN,
        (front_function *)OMPI_C_MPI_TYPE_DUP_FN, (front_function *)OMPI_C_MPI_WIN_DUP_FN};
    if (!function)
        return 0;
    for (size_t i = 0; i < FRONT_COUNT(nothing); i++)
        if (function == nothing[i])
            return 0;
    for (size_t i = 0; i < FRONT_COUNT(copies); i++)
        if (function == copies[i])
            return 1;
    return -1;
}

/* ---- Extensions */

EXPORT int MPIX_Query_cuda_support(void)
{
    return 0;
}

EXPORT int MPIX_Query_rocm_support(void)
{
    return 0;
}

/* Recovery from dead processes in Open MPI 5: libraries import these functions whether or not they
 * call them. Only the query has an answer, since no communicator can be revoked. */
FRONT_UNSUPPORTED(Comm_ack_failed)
FRONT_UNSUPPORTED(Comm_agree)
FRONT_UNSUPPORTED(Comm_failure_ack)
FRONT_UNSUPPORTED(Comm_failure_get_acked)
FRONT_UNSUPPORTED(Comm_get_failed)
FRONT_UNSUPPORTED(Comm_iagree)
FRONT_UNSUPPORTED(Comm_revoke)
FRONT_UNSUPPORTED(Comm_shrink)

FRONT_EXTENSION(Comm_is_revoked, (front_Comm comm, int *flag))
{
    int size, code = weft_abi_Comm_size(front_Comm_in(comm), &size); /* checks the handle */
    if (code == MPI_SUCCESS && flag)
        *flag = 0;
    return front_code(code);
}
