// SPDX-License-Identifier: BSD-3-Clause
/*
 * The procedures that the Fortran libraries of other MPIs have beside those of the standard: the
 * ones of MPI-1, whose addresses are INTEGERs, and Open MPI's forms that return C pointers.
 */
#include "fortran/glue.h"

/* The procedure mpi_<lower>_ with all its names; its definition follows. */
#define PROCEDURE(lower, UPPER, parameters)                                                        \
    WEFT_FORTRAN_LINKAGE void FORTRAN(lower) parameters;                                           \
    WEFT_FORTRAN_NAMES(lower, UPPER)                                                               \
    void FORTRAN(lower) parameters

PROCEDURE(address, ADDRESS, (void *location, int *address, int *ierror))
{
    MPI_Aint value = 0;
    int code = CALL(Get_address)(weft_fortran_buffer(location), &value);
    *address = (int)value;
    finish(ierror, code);
}

extern void FORTRAN(comm_create_errhandler)(weft_fortran_procedure *, int *, int *);
PROCEDURE(errhandler_create, ERRHANDLER_CREATE,
          (weft_fortran_procedure * function, int *errhandler, int *ierror))
{
    FORTRAN(comm_create_errhandler)(function, errhandler, ierror);
}

PROCEDURE(errhandler_get, ERRHANDLER_GET, (const int *comm, int *errhandler, int *ierror))
{
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    int code = CALL(Comm_get_errhandler)(weft_Comm_of(*comm), &found);
    *errhandler = weft_Errhandler_integer(found);
    finish(ierror, code);
}

PROCEDURE(errhandler_set, ERRHANDLER_SET, (const int *comm, const int *errhandler, int *ierror))
{
    finish(ierror, CALL(Comm_set_errhandler)(weft_Comm_of(*comm), weft_Errhandler_of(*errhandler)));
}

/* ---- Datatypes */

static int bounds(int type, int *lb, int *ub, int *extent)
{
    MPI_Aint first = 0, length = 0;
    int code = CALL(Type_get_extent)(weft_Type_of(type), &first, &length);
    if (lb)
        *lb = (int)first;
    if (ub)
        *ub = (int)(first + length);
    if (extent)
        *extent = (int)length;
    return code;
}

PROCEDURE(type_extent, TYPE_EXTENT, (const int *datatype, int *extent, int *ierror))
{
    finish(ierror, bounds(*datatype, NULL, NULL, extent));
}

PROCEDURE(type_lb, TYPE_LB, (const int *datatype, int *lb, int *ierror))
{
    finish(ierror, bounds(*datatype, lb, NULL, NULL));
}

PROCEDURE(type_ub, TYPE_UB, (const int *datatype, int *ub, int *ierror))
{
    finish(ierror, bounds(*datatype, NULL, ub, NULL));
}

PROCEDURE(type_hvector, TYPE_HVECTOR,
          (const int *count, const int *blocklength, const int *stride, const int *oldtype,
           int *newtype, int *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int code =
        CALL(Type_create_hvector)(*count, *blocklength, *stride, weft_Type_of(*oldtype), &made);
    *newtype = weft_Type_integer(made);
    finish(ierror, code);
}

/* n displacements as C has them; to be freed. */
static MPI_Aint *widened(int n, const int *displacements)
{
    MPI_Aint *wide = weft_fortran_allocate(n > 0 ? (size_t)n : 0, sizeof *wide);
    for (int i = 0; i < n; i++)
        wide[i] = displacements[i];
    return wide;
}

PROCEDURE(type_hindexed, TYPE_HINDEXED,
          (const int *count, const int *blocklengths, const int *displacements, const int *oldtype,
           int *newtype, int *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Aint *wide = widened(*count, displacements);
    int code =
        CALL(Type_create_hindexed)(*count, blocklengths, wide, weft_Type_of(*oldtype), &made);
    free(wide);
    *newtype = weft_Type_integer(made);
    finish(ierror, code);
}

PROCEDURE(type_struct, TYPE_STRUCT,
          (const int *count, const int *blocklengths, const int *displacements, const int *types,
           int *newtype, int *ierror))
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    size_t n = *count > 0 ? (size_t)*count : 0;
    MPI_Aint *wide = widened(*count, displacements);
    MPI_Datatype *c_types = weft_fortran_allocate(n, sizeof *c_types);
    for (size_t i = 0; i < n; i++)
        c_types[i] = weft_Type_of(types[i]);
    int code = CALL(Type_create_struct)(*count, blocklengths, wide, c_types, &made);
    free(c_types);
    free(wide);
    *newtype = weft_Type_integer(made);
    finish(ierror, code);
}

/* ---- Forms of the module for a base pointer of type(c_ptr): the same bytes */

PROCEDURE(alloc_mem_cptr, ALLOC_MEM_CPTR,
          (const MPI_Aint *size, const int *info, void **baseptr, int *ierror))
{
    finish(ierror, CALL(Alloc_mem)(*size, weft_Info_of(*info), baseptr));
}

#define WIN_ALLOCATE(lower, UPPER, Name)                                                           \
    PROCEDURE(lower, UPPER,                                                                        \
              (const MPI_Aint *size, const int *disp_unit, const int *info, const int *comm,       \
               void **baseptr, int *win, int *ierror))                                             \
    {                                                                                              \
        MPI_Win made = MPI_WIN_NULL;                                                               \
        int code = CALL(Name)(*size, *disp_unit, weft_Info_of(*info), weft_Comm_of(*comm),         \
                              baseptr, &made);                                                     \
        *win = weft_Win_integer(made);                                                             \
        finish(ierror, code);                                                                      \
    }
WIN_ALLOCATE(win_allocate_cptr, WIN_ALLOCATE_CPTR, Win_allocate)
WIN_ALLOCATE(win_allocate_shared_cptr, WIN_ALLOCATE_SHARED_CPTR, Win_allocate_shared)

PROCEDURE(win_shared_query_cptr, WIN_SHARED_QUERY_CPTR,
          (const int *win, const int *rank, MPI_Aint *size, int *disp_unit, void **baseptr,
           int *ierror))
{
    finish(ierror, CALL(Win_shared_query)(weft_Win_of(*win), *rank, size, disp_unit, baseptr));
}
