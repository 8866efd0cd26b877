// SPDX-License-Identifier: BSD-3-Clause
/*
 * External procedures whose arguments follow no rule of the tables, and those that only Fortran
 * has; the attributes and callbacks are in hand_callback.c.
 */
#include "hand.h"
#include "fortran/section.h"

#include <string.h>

/* ---- Info and process sets: lengths do not count the null character that ends a string of C */

/* The bytes that C may write to a result of `length` characters, at most `most`: no result is
 * longer. 0 asks for the length only; a negative length is an error that C finds. */
static int bytes_of(int length, int most)
{
    if (length <= 0)
        return length;
    return length < most ? length + 1 : most;
}

void FORTRAN(info_get)(const int *info, const char *key, const int *valuelen, char *value,
                       int *flag, int *ierror, size_t key_length, size_t value_length)
{
    char few[WEFT_FORTRAN_TEXT], *c_key = weft_fortran_text(key, key_length, few);
    char c_value[MPI_MAX_INFO_VAL] = "";
    int c_flag = 0, most = *valuelen < MPI_MAX_INFO_VAL ? *valuelen : MPI_MAX_INFO_VAL - 1;
    int code = CALL(Info_get)(weft_Info_of(*info), c_key, most, c_value, &c_flag);
    if (code == MPI_SUCCESS && c_flag)
        weft_fortran_pad(value, value_length, c_value);
    *flag = weft_fortran_logical(c_flag);
    weft_fortran_release(c_key, few);
    finish(ierror, code);
}
BOTH(info_get, INFO_GET)

void FORTRAN(info_get_string)(const int *info, const char *key, int *buflen, char *value, int *flag,
                              int *ierror, size_t key_length, size_t value_length)
{
    char few[WEFT_FORTRAN_TEXT], *c_key = weft_fortran_text(key, key_length, few);
    int c_flag = 0, length = bytes_of(*buflen, MPI_MAX_INFO_VAL);
    char c_value[MPI_MAX_INFO_VAL] = "";
    int code = CALL(Info_get_string)(weft_Info_of(*info), c_key, &length, c_value, &c_flag);
    if (code == MPI_SUCCESS && c_flag) {
        if (*buflen > 0)
            weft_fortran_pad(value, value_length, c_value);
        *buflen = length - 1;
    }
    *flag = weft_fortran_logical(c_flag);
    weft_fortran_release(c_key, few);
    finish(ierror, code);
}
BOTH(info_get_string, INFO_GET_STRING)

void FORTRAN(session_get_nth_pset)(const int *session, const int *info, const int *n, int *pset_len,
                                   char *pset_name, int *ierror, size_t pset_name_length)
{
    int length = bytes_of(*pset_len, MPI_MAX_PSET_NAME_LEN);
    char name[MPI_MAX_PSET_NAME_LEN] = "";
    int code = CALL(Session_get_nth_pset)(weft_Session_of(*session), weft_Info_of(*info), *n,
                                          &length, name);
    if (code == MPI_SUCCESS) {
        if (*pset_len > 0)
            weft_fortran_pad(pset_name, pset_name_length, name);
        *pset_len = length - 1;
    }
    finish(ierror, code);
}
BOTH(session_get_nth_pset, SESSION_GET_NTH_PSET)

/* ---- Topologies */

void FORTRAN(cart_sub)(const int *comm, const int *remain_dims, int *newcomm, int *ierror)
{
    int few[WEFT_FORTRAN_FEW] = {0}, ndims = 0;
    MPI_Comm made = MPI_COMM_NULL, old = weft_Comm_of(*comm);
    if (old != MPI_COMM_NULL)
        PMPI_Cartdim_get(old, &ndims);
    int *remain = weft_fortran_array(ndims, few, sizeof *remain);
    for (int i = 0; i < ndims; i++)
        remain[i] = weft_fortran_truth(remain_dims[i]);
    int code = CALL(Cart_sub)(old, remain, &made);
    *newcomm = weft_Comm_integer(made);
    weft_fortran_release(remain, few);
    finish(ierror, code);
}
BOTH(cart_sub, CART_SUB)

/* The elements behind those of the grid's dimensions are left as they are. */
void FORTRAN(cart_get)(const int *comm, const int *maxdims, int *dims, int *periods, int *coords,
                       int *ierror)
{
    MPI_Comm cart = weft_Comm_of(*comm);
    int few[WEFT_FORTRAN_FEW] = {0}, ndims = 0,
        *c_periods = weft_fortran_array(*maxdims, few, sizeof *c_periods);
    int code = CALL(Cart_get)(cart, *maxdims, dims, c_periods, coords);
    if (code == MPI_SUCCESS)
        PMPI_Cartdim_get(cart, &ndims);
    for (int i = 0; i < ndims; i++)
        periods[i] = weft_fortran_logical(c_periods[i]);
    weft_fortran_release(c_periods, few);
    finish(ierror, code);
}
BOTH(cart_get, CART_GET)

/* ---- Datatypes of many types, at once */

void FORTRAN(type_get_contents)(const int *datatype, const int *max_integers,
                                const int *max_addresses, const int *max_datatypes,
                                int *array_of_integers, MPI_Aint *array_of_addresses,
                                int *array_of_datatypes, int *ierror)
{
    MPI_Datatype few[WEFT_FORTRAN_FEW],
        *types = weft_fortran_array(*max_datatypes, few, sizeof *types);
    for (int i = 0; i < *max_datatypes; i++)
        types[i] = 0;
    int code =
        CALL(Type_get_contents)(weft_Type_of(*datatype), *max_integers, *max_addresses,
                                *max_datatypes, array_of_integers, array_of_addresses, types);
    for (int i = 0; i < *max_datatypes && types[i]; i++)
        array_of_datatypes[i] = weft_Type_integer(types[i]);
    weft_fortran_release(types, few);
    finish(ierror, code);
}
BOTH(type_get_contents, TYPE_GET_CONTENTS)

void FORTRAN(type_get_contents_c)(const int *datatype, const MPI_Count *max_integers,
                                  const MPI_Count *max_addresses, const MPI_Count *max_large_counts,
                                  const MPI_Count *max_datatypes, int *array_of_integers,
                                  MPI_Aint *array_of_addresses, MPI_Count *array_of_large_counts,
                                  int *array_of_datatypes, int *ierror)
{
    size_t space = *max_datatypes > 0 ? (size_t)*max_datatypes : 0;
    MPI_Datatype *types = weft_fortran_allocate(space, sizeof *types);
    memset(types, 0, space * sizeof *types);
    int code = CALL(Type_get_contents_c)(weft_Type_of(*datatype), *max_integers, *max_addresses,
                                         *max_large_counts, *max_datatypes, array_of_integers,
                                         array_of_addresses, array_of_large_counts, types);
    for (size_t i = 0; i < space && types[i]; i++)
        array_of_datatypes[i] = weft_Type_integer(types[i]);
    free(types);
    finish(ierror, code);
}
BOTH(type_get_contents_c, TYPE_GET_CONTENTS_C)

/* ---- Starting processes: arrays of strings end with a blank one */

static bool is_blank(const char *text, size_t length)
{
    while (length && text[length - 1] == ' ')
        length--;
    return length == 0;
}

/* The strings before the first blank one; they are stride bytes apart. */
static char **strings_of(const char *text, size_t length, size_t stride)
{
    size_t n = 0;
    while (!is_blank(text + n * stride, length))
        n++;
    char **strings = weft_fortran_allocate(n + 1, sizeof *strings);
    for (size_t i = 0; i < n; i++)
        strings[i] = weft_fortran_text(text + i * stride, length, NULL);
    strings[n] = NULL;
    return strings;
}

static void free_strings(char **strings)
{
    for (size_t i = 0; strings && strings[i]; i++)
        free(strings[i]);
    free(strings);
}

static int *errcodes_of(int *errcodes)
{
    return WEFT_FORTRAN_IS(errcodes, ERRCODES_IGNORE) ? MPI_ERRCODES_IGNORE : errcodes;
}

static int rank_in(MPI_Comm comm)
{
    int rank = -1;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_rank(comm, &rank);
    return rank;
}

/* The arguments of the program are significant at the root only. */
void FORTRAN(comm_spawn)(const char *command, const char *argv, const int *maxprocs,
                         const int *info, const int *root, const int *comm, int *intercomm,
                         int *array_of_errcodes, int *ierror, size_t command_length,
                         size_t argv_length)
{
    MPI_Comm over = weft_Comm_of(*comm), made = MPI_COMM_NULL;
    char *c_command = weft_fortran_text(command, command_length, NULL);
    char **c_argv = rank_in(over) != *root || WEFT_FORTRAN_IS(argv, ARGV_NULL)
                        ? MPI_ARGV_NULL
                        : strings_of(argv, argv_length, argv_length);
    int code = CALL(Comm_spawn)(c_command, c_argv, *maxprocs, weft_Info_of(*info), *root, over,
                                &made, errcodes_of(array_of_errcodes));
    *intercomm = weft_Comm_integer(made);
    free_strings(c_argv);
    free(c_command);
    finish(ierror, code);
}
BOTH(comm_spawn, COMM_SPAWN)

/* Significant at the root only, as the count is. */
void FORTRAN(comm_spawn_multiple)(const int *count, const char *array_of_commands,
                                  const char *array_of_argv, const int *array_of_maxprocs,
                                  const int *array_of_info, const int *root, const int *comm,
                                  int *intercomm, int *array_of_errcodes, int *ierror,
                                  size_t array_of_commands_length, size_t array_of_argv_length)
{
    MPI_Comm over = weft_Comm_of(*comm), made = MPI_COMM_NULL;
    size_t n = rank_in(over) == *root && *count > 0 ? (size_t)*count : 0;
    char **commands = weft_fortran_allocate(n, sizeof *commands);
    char ***argvs = weft_fortran_allocate(n, sizeof *argvs);
    MPI_Info *infos = weft_fortran_allocate(n, sizeof *infos);
    for (size_t i = 0; i < n; i++) {
        commands[i] = weft_fortran_text(array_of_commands + i * array_of_commands_length,
                                        array_of_commands_length, NULL);
        argvs[i] = WEFT_FORTRAN_IS(array_of_argv, ARGVS_NULL)
                       ? NULL
                       : strings_of(array_of_argv + i * array_of_argv_length, array_of_argv_length,
                                    n * array_of_argv_length);
        infos[i] = weft_Info_of(array_of_info[i]);
    }
    int code = CALL(Comm_spawn_multiple)(
        *count, commands, WEFT_FORTRAN_IS(array_of_argv, ARGVS_NULL) ? MPI_ARGVS_NULL : argvs,
        array_of_maxprocs, infos, *root, over, &made, errcodes_of(array_of_errcodes));
    *intercomm = weft_Comm_integer(made);
    for (size_t i = 0; i < n; i++) {
        free(commands[i]);
        free_strings(argvs[i]);
    }
    free(commands);
    free(argvs);
    free(infos);
    finish(ierror, code);
}
BOTH(comm_spawn_multiple, COMM_SPAWN_MULTIPLE)

/* ---- What only Fortran has */

WEFT_FORTRAN_LINKAGE void FORTRAN(status_f2f08)(const int *f_status, int *f08_status, int *ierror);
void FORTRAN(status_f2f08)(const int *f_status, int *f08_status, int *ierror)
{
    memcpy(f08_status, f_status, WEFT_FORTRAN_STATUS_SIZE * sizeof *f_status);
    finish(ierror, MPI_SUCCESS);
}
BOTH(status_f2f08, STATUS_F2F08)
WEFT_FORTRAN_ALIAS(status_f2f08, status_f082f)
WEFT_FORTRAN_ALIAS(status_f2f08, status_f082f_f08)

/* For the compiler, the buffer is used here. */
WEFT_FORTRAN_LINKAGE void FORTRAN(f_sync_reg)(void *buf);
void FORTRAN(f_sync_reg)(void *buf)
{
    (void)buf;
}
BOTH(f_sync_reg, F_SYNC_REG)

WEFT_FORTRAN_LINKAGE void FORTRAN_TS(f_sync_reg)(CFI_cdesc_t *buf);
void FORTRAN_TS(f_sync_reg)(CFI_cdesc_t *buf)
{
    (void)buf;
}

WEFT_FORTRAN_LINKAGE void FORTRAN_TS(sizeof)(CFI_cdesc_t *x, int *size, int *ierror);
void FORTRAN_TS(sizeof)(CFI_cdesc_t *x, int *size, int *ierror)
{
    *size = (int)x->elem_len;
    finish(ierror, MPI_SUCCESS);
}
