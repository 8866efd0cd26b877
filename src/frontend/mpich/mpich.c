// SPDX-License-Identifier: BSD-3-Clause
/*
 * The functions that MPICH's C library has beside those of the standard: arrays of requests,
 * conversions for Fortran that are no macros, and variables that programs import.
 */
#include "config.h"
#include "frontend/frontend.h"

const int front_version[2] = {4, 0};
/* Programs choose constants by how this begins. */
const char front_library_version[] = "MPICH Version:      4.0.3 (Weft " PACKAGE_VERSION ")\n";

__attribute__((constructor)) static void pass_conversion(void)
{
    weft_abi_integers(front_error_out, FRONT_REQUEST_NULL);
}

MPI_Datatype front_Datatype_in_other(front_Datatype handle)
{
    unsigned kind = (unsigned)handle >> 24;
    if (kind == 0x8c)
        return (MPI_Datatype)(uintptr_t)front_pairs_in[handle & 0xf];
    return kind == 0x0c ? MPI_DATATYPE_NULL : weft_abi_Type_fromint(front_integer(handle));
}

MPI_Request *front_Requests_begin(int n, const front_Request *array, MPI_Request *few)
{
    return front_Requests_in(n, array, few);
}

void front_Requests_end(int n, front_Request *array, MPI_Request *ours, MPI_Request *few)
{
    weft_assert(!ours || (n <= FRONT_FEW) == (ours == few));
    for (int i = 0; ours && i < n; i++)
        if (ours[i] == MPI_REQUEST_NULL)
            array[i] = front_Request_out(MPI_REQUEST_NULL);
    front_release(ours, few);
}

/* ---- Fortran */

FRONT_DEFINE(File_c2f, int, (front_File file))
{
    return file ? weft_abi_File_toint(front_File_in(file)) : 0;
}

FRONT_DEFINE(File_f2c, front_File, (int file))
{
    return file ? front_File_out(weft_abi_File_fromint(front_integer(file))) : NULL;
}

/* Functions since MPICH 4.2, for languages that have no macros: handles are ints. */
#define THE_SAME(name)                                                                             \
    FRONT_DEFINE(name##_c2f, int, (int handle))                                                    \
    {                                                                                              \
        return handle;                                                                             \
    }                                                                                              \
    FRONT_DEFINE(name##_f2c, int, (int handle))                                                    \
    {                                                                                              \
        return handle;                                                                             \
    }
THE_SAME(Comm)
THE_SAME(Errhandler)
THE_SAME(Group)
THE_SAME(Info)
THE_SAME(Message)
THE_SAME(Op)
THE_SAME(Request)
THE_SAME(Session)
THE_SAME(Type)
THE_SAME(Win)

FRONT_PUBLIC int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE; /* set by the Fortran library */

/* ---- Variables */

FRONT_PUBLIC int MPIR_C_MPI_UNWEIGHTED[2], MPIR_C_MPI_WEIGHTS_EMPTY[2];
FRONT_PUBLIC int *const front_unweighted = MPIR_C_MPI_UNWEIGHTED;
FRONT_PUBLIC int *const front_weights_empty = MPIR_C_MPI_WEIGHTS_EMPTY;
FRONT_PUBLIC extern void *const front_all_handles __asm__("MPI_T_PVAR_ALL_HANDLES");
void *const front_all_handles = (void *)1;

FRONT_PUBLIC int MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
FRONT_PUBLIC front_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
FRONT_PUBLIC front_Status *MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
FRONT_PUBLIC front_Status *MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;

/* ---- Extensions */

/* The kinds of memory, in the order of MPIX_GPU_SUPPORT_CUDA and the others */
static const char *const memory_kinds[] = {"cuda", "level_zero", "rocm"};

#define QUERY(name, type)                                                                          \
    FRONT_EXTENSION(Query_##name##_support, (void))                                                \
    {                                                                                              \
        return front_takes_memory(memory_kinds[type]);                                             \
    }
QUERY(cuda, 0)
QUERY(ze, 1)
QUERY(hip, 2)

FRONT_EXTENSION(GPU_query_support, (int type, int *is_supported))
{
    if (type < 0 || type >= (int)FRONT_COUNT(memory_kinds) || !is_supported)
        return front_error_out(MPI_ERR_ARG);
    *is_supported = front_takes_memory(memory_kinds[type]);
    return MPI_SUCCESS;
}

/* The names that MPI 4.1's functions had in MPICH 4.0 */
#define DELETE(what, of)                                                                           \
    FRONT_EXTENSION(Delete_error_##what, (int of))                                                 \
    {                                                                                              \
        return front_code(weft_abi_Remove_error_##what(front_error_in(of)));                       \
    }
DELETE(class, errorclass)
DELETE(code, errorcode)
DELETE(string, errorcode)

/* Extended generalized requests, which are progressed by functions of the user's */
#define UNSUPPORTED_GREQUEST(name)                                                                 \
    FRONT_EXTENSION(name, (void))                                                                  \
    {                                                                                              \
        return front_code(weft_abi_unsupported("MPIX_" #name, MPI_COMM_SELF));                     \
    }
UNSUPPORTED_GREQUEST(Grequest_class_allocate)
UNSUPPORTED_GREQUEST(Grequest_class_create)
UNSUPPORTED_GREQUEST(Grequest_start)
