// SPDX-License-Identifier: BSD-3-Clause
/*
 * libmpi_usempif08.so.40: the objects and procedures of the module with Open MPI's types, by the
 * names that gfortran gives them, and by those for other compilers. The procedures of mpi_f08 are
 * in libmpi_mpifh.so.40, under their names in both interfaces.
 */
#include "fortran/glue.h"

#define CONSTANT(name, value)                                                                      \
    extern const int module_##name __asm__("__mpi_f08_types_MOD_" #name);                          \
    const int module_##name = value;                                                               \
    extern const int bound_##name __asm__("ompi_f08_" #name);                                      \
    const int bound_##name = value;
#include "constants.h" /* made by abi/frontend.py */

/* Types of C with a size, whose names end differently for other compilers */
#define SIZED(name)                                                                                \
    extern const int ompi_f08_mpi_##name                                                           \
        __attribute__((alias("__mpi_f08_types_MOD_mpi_" #name "_t")));
SIZED(int8)
SIZED(int16)
SIZED(int32)
SIZED(int64)
SIZED(uint8)
SIZED(uint16)
SIZED(uint32)
SIZED(uint64)

/* Open MPI 5 has them in another module. */
#define COMPARE(kind, word, operation)                                                             \
    int kind##_##word(const int *a,                                                                \
                      const int *b) __asm__("__mpi_f08_types_MOD_ompi_" #kind "_op_" #word);       \
    int kind##_##word(const int *a, const int *b)                                                  \
    {                                                                                              \
        return weft_fortran_logical((*a)operation(*b));                                            \
    }                                                                                              \
    extern __typeof__(kind##_##word) since_5_##kind##_##word __asm__("__mpi_types_MOD_ompi_" #kind \
                                                                     "_op_" #word)                 \
        __attribute__((alias("__mpi_f08_types_MOD_ompi_" #kind "_op_" #word)));
#define COMPARISONS(kind) COMPARE(kind, eq, ==) COMPARE(kind, ne, !=)
COMPARISONS(comm)
COMPARISONS(datatype)
COMPARISONS(errhandler)
COMPARISONS(file)
COMPARISONS(group)
COMPARISONS(info)
COMPARISONS(message)
COMPARISONS(op)
COMPARISONS(request)
COMPARISONS(win)
