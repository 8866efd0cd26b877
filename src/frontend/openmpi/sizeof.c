// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_Sizeof of module mpi, as Open MPI names it: one procedure for each type and rank. The size
 * follows from the name.
 */
#define SIZEOF(type, rank, bytes)                                                                  \
    void mpi_sizeof_##type##_##rank##_(const void *x, int *size, int *ierror);                     \
    void mpi_sizeof_##type##_##rank##_(const void *x, int *size, int *ierror)                      \
    {                                                                                              \
        (void)x;                                                                                   \
        *size = bytes;                                                                             \
        if (ierror)                                                                                \
            *ierror = 0;                                                                           \
    }                                                                                              \
    extern __typeof__(mpi_sizeof_##type##_##rank##_) pmpi_sizeof_##type##_##rank##_                \
        __attribute__((alias("mpi_sizeof_" #type "_" #rank "_")));

#define ALL(type, bytes)                                                                           \
    SIZEOF(type, scalar, bytes)                                                                    \
    SIZEOF(type, r1, bytes)                                                                        \
    SIZEOF(type, r2, bytes)                                                                        \
    SIZEOF(type, r3, bytes)                                                                        \
    SIZEOF(type, r4, bytes)                                                                        \
    SIZEOF(type, r5, bytes)                                                                        \
    SIZEOF(type, r6, bytes)                                                                        \
    SIZEOF(type, r7, bytes)                                                                        \
    SIZEOF(type, r8, bytes)                                                                        \
    SIZEOF(type, r9, bytes)                                                                        \
    SIZEOF(type, r10, bytes)                                                                       \
    SIZEOF(type, r11, bytes)                                                                       \
    SIZEOF(type, r12, bytes)                                                                       \
    SIZEOF(type, r13, bytes)                                                                       \
    SIZEOF(type, r14, bytes)                                                                       \
    SIZEOF(type, r15, bytes)

ALL(character, 1)
ALL(logical, 4)
ALL(int8, 1)
ALL(int16, 2)
ALL(int32, 4)
ALL(int64, 8)
ALL(real32, 4)
ALL(real64, 8)
ALL(real128, 16)
ALL(complex32, 8)
ALL(complex64, 16)
ALL(complex128, 32)
