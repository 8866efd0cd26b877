// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions that Open MPI's C library has beside those of the standard: conversions of handles
 * to Fortran's; and Fortran's blocks.
 */
#include "config.h"
#include "frontend/frontend.h"

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
    for (const struct front_fortran *row = front_fortran; row->kind; row++) {
        weft_assert(row->ours > 0 && row->ours < FRONT_PREDEFINED && front_back[row->ours]);
        if (row->kind == kind && row->theirs == theirs)
            return front_back[row->ours];
    }
    return NULL;
}

#define CONVERT(Name, Kind, null)                                                                  \
    FRONT_DEFINE(Name##_c2f, int, (front_##Kind handle))                                           \
    {                                                                                              \
        MPI_##Kind ours = front_##Kind##_in(handle);                                               \
        return (uintptr_t)ours < FRONT_PREDEFINED ? predefined_out(ours)                           \
                                                  : weft_abi_##Name##_toint(ours);                 \
    }                                                                                              \
    FRONT_DEFINE(Name##_f2c, front_##Kind, (int handle))                                           \
    {                                                                                              \
        front_##Kind found = handle < 4096                                                         \
                                 ? predefined_in(FRONT_KIND_##Kind, handle)                        \
                                 : front_##Kind##_out(weft_abi_##Name##_fromint(handle));          \
        return found ? found : front_##Kind##_out(null);                                           \
    }

CONVERT(Comm, Comm, MPI_COMM_NULL)
CONVERT(Errhandler, Errhandler, MPI_ERRHANDLER_NULL)
CONVERT(File, File, MPI_FILE_NULL)
CONVERT(Group, Group, MPI_GROUP_NULL)
CONVERT(Info, Info, MPI_INFO_NULL)
CONVERT(Message, Message, MPI_MESSAGE_NULL)
CONVERT(Op, Op, MPI_OP_NULL)
CONVERT(Request, Request, MPI_REQUEST_NULL)
CONVERT(Session, Session, MPI_SESSION_NULL)
CONVERT(Type, Datatype, MPI_DATATYPE_NULL)
CONVERT(Win, Win, MPI_WIN_NULL)

FRONT_PUBLIC int mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_errcodes_ignore_,
    mpi_fortran_unweighted_, mpi_fortran_weights_empty_;
FRONT_PUBLIC char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
FRONT_PUBLIC int mpi_fortran_status_ignore_[2], mpi_fortran_statuses_ignore_[2];
FRONT_PUBLIC int *MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
FRONT_PUBLIC int *MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;

/* ---- MPI_Comm_split_type takes kinds that Open MPI adds, OMPI_COMM_TYPE_HWTHREAD and others. As
 * there, a process that is not bound to one instance of the hardware is alone.
 *
 * Invariant: each kind makes one call of MPI_Comm_split_type over the communicator, because the
 * arguments of a process with MPI_UNDEFINED lack the kind of the others. */

enum { HWTHREAD = 1, NUMA = 7, BOARD = 8, HOST = 9, CU = 10, CLUSTER = 11 };
static const char *const hardware[] = {NULL,
                                       "hwloc://PU",
                                       "hwloc://Core",
                                       "hwloc://L1Cache",
                                       "hwloc://L2Cache",
                                       "hwloc://L3Cache",
                                       "hwloc://Package",
                                       "hwloc://NUMANode"};

/* Makes a communicator of this process alone. */
static int make_alone(MPI_Comm comm, int rank, MPI_Comm *made)
{
    MPI_Group all, self;
    int code = weft_abi_Comm_group(comm, &all);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_abi_Group_incl(all, 1, &rank, &self);
    weft_abi_Group_free(&all);
    if (code != MPI_SUCCESS)
        return code;
    code = weft_abi_Comm_create_group(comm, self, 0, made);
    weft_abi_Group_free(&self);
    return code;
}

/* Splits by the instance of a resource, and what remains into single processes; of an
 * inter-communicator nothing remains, because such a process has none on the other side. */
static int split_by_resource(MPI_Comm comm, const char *resource, int key, MPI_Info info,
                             MPI_Comm *made)
{
    MPI_Info with;
    int rank, inter = 0, code = weft_abi_Comm_rank(comm, &rank);
    if (code == MPI_SUCCESS)
        code = weft_abi_Comm_test_inter(comm, &inter);
    if (code == MPI_SUCCESS)
        code = info == MPI_INFO_NULL ? weft_abi_Info_create(&with) : weft_abi_Info_dup(info, &with);
    if (code != MPI_SUCCESS)
        return code;
    weft_abi_Info_set(with, "mpi_hw_resource_type", resource);
    code = weft_abi_Comm_split_type(comm, MPI_COMM_TYPE_HW_GUIDED, key, with, made);
    weft_abi_Info_free(&with);
    if (code == MPI_SUCCESS && *made == MPI_COMM_NULL && !inter)
        code = make_alone(comm, rank, made);
    return code;
}

/* All processes of the job are in one unit or cluster. */
static int split_by_job(MPI_Comm comm, int key, MPI_Comm *made)
{
    MPI_Info set;
    int code = weft_abi_Info_create(&set);
    if (code != MPI_SUCCESS)
        return code;
    weft_abi_Info_set(set, "mpi_pset_name", "mpi://WORLD");
    code = weft_abi_Comm_split_type(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, key, set, made);
    weft_abi_Info_free(&set);
    return code;
}

FRONT_EXPORT(Comm_split_type);
int front_Comm_split_type(front_Comm comm, int split_type, int key, front_Info info,
                          front_Comm *newcomm)
{
    MPI_Comm made = MPI_COMM_NULL, ours = front_Comm_in(comm);
    MPI_Info hints = front_Info_in(info);
    int code;
    if (newcomm && split_type >= HWTHREAD && split_type <= NUMA)
        code = split_by_resource(ours, hardware[split_type], key, hints, &made);
    else if (split_type == CU || split_type == CLUSTER)
        code = split_by_job(ours, key, newcomm ? &made : NULL);
    else
        code = weft_abi_Comm_split_type(ours,
                                        split_type == BOARD || split_type == HOST
                                            ? MPI_COMM_TYPE_SHARED
                                            : front_split_in(split_type),
                                        key, hints, newcomm ? &made : NULL);
    if (code == MPI_SUCCESS)
        *newcomm = front_Comm_out(made);
    return front_code(code);
}

/* ---- Extensions */

FRONT_PUBLIC int MPIX_Query_cuda_support(void)
{
    return front_takes_memory("cuda");
}

FRONT_PUBLIC int MPIX_Query_rocm_support(void)
{
    return front_takes_memory("rocm");
}
