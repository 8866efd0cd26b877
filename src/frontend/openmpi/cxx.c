// SPDX-License-Identifier: BSD-3-Clause
/*
 * libmpi_cxx.so.40: what a C++ program imports because it includes Open MPI's mpi.h, whose inline
 * functions name it. The C++ bindings themselves are not there: MPI 3.0 removed them. No function
 * reads its parameters, which are those of the bindings.
 */
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

__attribute__((noreturn)) static void refuse(const char *name)
{
    fprintf(stderr,
            "weft: the program calls %s of MPI's C++ bindings, which MPI 3.0 removed and Weft's "
            "front end does not have; call the C functions instead\n",
            name);
    abort();
}

/* The constructor of a base class, in its two forms: there is nothing to construct. */
#define NOTHING(symbol)                                                                            \
    EXPORT void symbol(void);                                                                      \
    void symbol(void)                                                                              \
    {                                                                                              \
    }
NOTHING(_ZN3MPI4CommC1Ev)
NOTHING(_ZN3MPI4CommC2Ev)

#define REFUSED(symbol, name)                                                                      \
    EXPORT void symbol(void);                                                                      \
    void symbol(void)                                                                              \
    {                                                                                              \
        refuse(name);                                                                              \
    }
REFUSED(_ZN3MPI3Win4FreeEv, "MPI::Win::Free")
REFUSED(_ZN3MPI8Datatype4FreeEv, "MPI::Datatype::Free")
REFUSED(ompi_mpi_cxx_op_intercept, "MPI::Op::Init")
REFUSED(ompi_op_set_cxx_callback, "MPI::Op::Init")
