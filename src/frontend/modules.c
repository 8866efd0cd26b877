// SPDX-License-Identifier: BSD-3-Clause
/*
 * The objects and procedures of the other MPI's Fortran modules that are the same for every
 * program, by the names that gfortran gives them. A handle of mpi_f08 is a type with one INTEGER.
 */
#include "fortran/glue.h"

#include <string.h>

#define CONSTANT(name, value)                                                                      \
    extern const int name;                                                                         \
    const int name = (int)(value);

#define COMPARE(name, operation)                                                                   \
    int name(const int *a, const int *b);                                                          \
    int name(const int *a, const int *b)                                                           \
    {                                                                                              \
        return weft_fortran_logical((*a)operation(*b));                                            \
    }
#define EQUAL(name)   COMPARE(name, ==)
#define UNEQUAL(name) COMPARE(name, !=)

/* C's handle is the INTEGER of a type of mpi_f08. */
#define VALUE(name)                                                                                \
    int name(const int *handle);                                                                   \
    int name(const int *handle)                                                                    \
    {                                                                                              \
        return *handle;                                                                            \
    }

/* MPI_Sizeof of a type */
#define SIZE(name, bytes)                                                                          \
    void name(const void *x, int *size, int *ierror);                                              \
    void name(const void *x, int *size, int *ierror)                                               \
    {                                                                                              \
        (void)x;                                                                                   \
        *size = bytes;                                                                             \
        finish(ierror, MPI_SUCCESS);                                                               \
    }

/* Statuses have the same bytes in all interfaces. */
static void copy_status(const void *from, void *to)
{
    memcpy(to, from, WEFT_FORTRAN_STATUS_SIZE * sizeof(int));
}

#define STATUS(name)                                                                               \
    void name(const int *from, int *to, int *ierror);                                              \
    void name(const int *from, int *to, int *ierror)                                               \
    {                                                                                              \
        copy_status(from, to);                                                                     \
        finish(ierror, MPI_SUCCESS);                                                               \
    }
#define ASSIGN(name)                                                                               \
    void name(int *to, const int *from);                                                           \
    void name(int *to, const int *from)                                                            \
    {                                                                                              \
        copy_status(from, to);                                                                     \
    }

/* The type of an argument of class(*), which gfortran passes beside it */
struct type {
    int hash;
    size_t size;
    const struct type *extends;
    const void *initial;
    void (*copy)(const void *from, void *to);
    void (*final)(void *), (*deallocate)(void *);
};
static const int initial[WEFT_FORTRAN_STATUS_SIZE];

static void copy_handle(const void *from, void *to)
{
    memcpy(to, from, sizeof(int));
}

#define TYPE(name, hash, size)                                                                     \
    extern struct type name;                                                                       \
    struct type name = {                                                                           \
        hash, size, NULL, initial, (size) == sizeof(int) ? copy_handle : copy_status, NULL, NULL};

#include "modules.h" /* made by abi/frontend.py */
