// SPDX-License-Identifier: BSD-3-Clause
/*
 * The definitions of the library for the standard ABI that front ends lack: the common blocks of
 * special addresses, and the properties of Fortran's types that the C library gets.
 */
#include "fortran/glue.h"

#include <dlfcn.h>
#include <stdio.h>

struct weft_fortran_addresses weftad_;
struct weft_fortran_arguments weftac_;

/* ---- The properties of Fortran's types, passed to the C library when this library is loaded,
 * unless they are set already. So a C program that calls Fortran gets them too. */
static void set_size(MPI_Info info, const char *key, int size)
{
    char text[16];
    snprintf(text, sizeof text, "%d", size);
    PMPI_Info_set(info, key, text);
}

static void pass_sizes(void)
{
    static const char *const supported[] = {
        "mpi_logical1_supported",       "mpi_logical2_supported", "mpi_logical4_supported",
        "mpi_logical8_supported",       "mpi_integer1_supported", "mpi_integer2_supported",
        "mpi_integer4_supported",       "mpi_integer8_supported", "mpi_real4_supported",
        "mpi_real8_supported",          "mpi_complex8_supported", "mpi_complex16_supported",
        "mpi_double_complex_supported",
    };
    MPI_Info info = MPI_INFO_NULL;
    if (PMPI_Abi_get_fortran_info(&info) != MPI_SUCCESS || info != MPI_INFO_NULL) {
        if (info != MPI_INFO_NULL)
            PMPI_Info_free(&info);
        return;
    }
    if (PMPI_Info_create(&info) != MPI_SUCCESS)
        return;
    set_size(info, "mpi_logical_size", WEFT_FORTRAN_LOGICAL_SIZE);
    set_size(info, "mpi_integer_size", WEFT_FORTRAN_INTEGER_SIZE);
    set_size(info, "mpi_real_size", WEFT_FORTRAN_REAL_SIZE);
    set_size(info, "mpi_double_precision_size", WEFT_FORTRAN_DOUBLE_SIZE);
    for (size_t i = 0; i < sizeof supported / sizeof *supported; i++)
        PMPI_Info_set(info, supported[i], "true");
    PMPI_Info_set(info, "mpi_logical16_supported", WEFT_FORTRAN_HAS_LOGICAL16 ? "true" : "false");
    PMPI_Info_set(info, "mpi_integer16_supported", WEFT_FORTRAN_HAS_INTEGER16 ? "true" : "false");
    PMPI_Info_set(info, "mpi_real16_supported", WEFT_FORTRAN_HAS_REAL16 ? "true" : "false");
    PMPI_Info_set(info, "mpi_complex32_supported", WEFT_FORTRAN_HAS_REAL16 ? "true" : "false");
    PMPI_Info_set(info, "mpi_real2_supported", "false");
    PMPI_Info_set(info, "mpi_complex4_supported", "false");
    PMPI_Abi_set_fortran_info(info);
    PMPI_Info_free(&info);
}

/* A LOGICAL of every size has the values of the default one, made longer with its sign. */
static void pass_logicals(void)
{
    for (int size = 1; size <= (WEFT_FORTRAN_HAS_LOGICAL16 ? 16 : 8); size *= 2) {
        int known = 0;
        long long is_true[2] = {WEFT_FORTRAN_TRUE, WEFT_FORTRAN_TRUE < 0 ? -1 : 0};
        long long is_false[2] = {WEFT_FORTRAN_FALSE, 0}, ignored[4];
        if (PMPI_Abi_get_fortran_booleans(size, ignored, ignored + 2, &known) == MPI_SUCCESS &&
            !known)
            PMPI_Abi_set_fortran_booleans(size, is_true, is_false);
    }
}

/* With the library of another MPI in the program, too, some calls would go to each. The standard
 * ABI has no PMPI_Comm_f2c, and the Fortran library of any other MPI needs it. */
static void refuse_two_libraries(void)
{
    Dl_info abi, other;
    if (dladdr((void *)(uintptr_t)PMPI_Abi_get_fortran_info, &abi) &&
        dladdr(dlsym(RTLD_DEFAULT, "PMPI_Comm_f2c"), &other) && abi.dli_fbase != other.dli_fbase) {
        fprintf(stderr,
                "libmpifort_abi: this program is linked with two MPI libraries, %s and %s; link it "
                "with mpifort and without the libraries of the other MPI\n",
                abi.dli_fname, other.dli_fname);
        exit(EXIT_FAILURE);
    }
}

__attribute__((constructor)) static void pass_properties(void)
{
    refuse_two_libraries();
    pass_sizes();
    pass_logicals();
}
