// SPDX-License-Identifier: BSD-3-Clause
/*
 * libmpi_cxx.so.40: what a C++ program imports because it includes Open MPI's mpi.h, whose inline
 * functions name it. The C++ bindings themselves are not there: MPI 3.0 removed them.
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
EXPORT void front_comm_complete(void *comm) __asm__("_ZN3MPI4CommC1Ev");
void front_comm_complete(void *comm)
{
    (void)comm;
}

EXPORT void front_comm_base(void *comm) __asm__("_ZN3MPI4CommC2Ev");
void front_comm_base(void *comm)
{
    (void)comm;
}

EXPORT void front_win_free(void *win) __asm__("_ZN3MPI3Win4FreeEv");
void front_win_free(void *win)
{
    (void)win;
    refuse("MPI::Win::Free");
}

EXPORT void front_datatype_free(void *type) __asm__("_ZN3MPI8Datatype4FreeEv");
void front_datatype_free(void *type)
{
    (void)type;
    refuse("MPI::Datatype::Free");
}

EXPORT void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *len, void *type, void *function);
void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *len, void *type, void *function)
{
    (void)in, (void)inout, (void)len, (void)type, (void)function;
    refuse("MPI::Op::Init");
}

EXPORT void ompi_op_set_cxx_callback(void *op, void *function);
void ompi_op_set_cxx_callback(void *op, void *function)
{
    (void)op, (void)function;
    refuse("MPI::Op::Init");
}
