// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * A C program with Fortran parts: attributes set in one language and read in the other, statuses
 * and handles passed between them, and what C knows of Fortran's types right after MPI_Init.
 */
#include "../mpi/check.h"

#include "weft_compat.h"

#include <stdio.h>
#include <string.h>

void fortran_sets_(MPI_Fint *comm, int *key, MPI_Aint *value);
void fortran_puts_(MPI_Fint *comm, int *key, int *value);
void fortran_gets_(MPI_Fint *comm, int *key, MPI_Aint *value, int *found);
void fortran_sizes_(int *sizes);
void fortran_receives_(MPI_Fint *comm, MPI_Fint *status);
void fortran_types_(MPI_Fint *type);

void fortran_makes(MPI_Fint *op, MPI_Fint *handler, int *key);
void fortran_registers(void);
void fortran_uses_(MPI_Fint *op, MPI_Fint *comm, int *result);
void fortran_spawns_(void);
void fortran_spawns_less_(void);

static void attributes(void)
{
    int key, flag, found, deleted = 7, narrow = -9;
    MPI_Aint value = (MPI_Aint)1 << 40, got;
    void *kept;
    MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_SELF);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    fortran_sets_(&comm, &key, &value);
    MPI_Comm_get_attr(MPI_COMM_SELF, key, &kept, &flag);
    CHECK(flag && *(MPI_Aint *)kept == value, "C does not find Fortran's wide attribute");
    fortran_puts_(&comm, &key, &narrow);
    MPI_Comm_get_attr(MPI_COMM_SELF, key, &kept, &flag);
    CHECK(flag && *(int *)kept == narrow, "C does not find Fortran's INTEGER attribute");
    fortran_gets_(&comm, &key, &got, &found);
    CHECK(found && got == narrow, "Fortran finds %ld, not %d", (long)got, narrow);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &deleted);
    fortran_gets_(&comm, &key, &got, &found);
    CHECK(found && got == (MPI_Aint)&deleted, "Fortran finds %ld, not the address that C set",
          (long)got);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    fortran_gets_(&comm, &key, &got, &found);
    CHECK(found && got == 0, "Fortran finds %ld, not a null address", (long)got);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    fortran_gets_(&comm, &key, &got, &found);
    CHECK(!found, "Fortran finds an attribute that was deleted");
    MPI_Comm_free_keyval(&key);
}

static void sizes(void)
{
    static const MPI_Datatype types[] = {MPI_INTEGER, MPI_REAL,           MPI_DOUBLE_PRECISION,
                                         MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_LOGICAL};
    int wanted[6], got;
    fortran_sizes_(wanted);
    for (int i = 0; i < 6; i++) {
        MPI_Type_size(types[i], &got);
        CHECK(got == wanted[i], "type %d has %d bytes in C and %d in Fortran", i, got, wanted[i]);
    }
    MPI_Info info;
    char text[16] = "";
    int flag, is_true = -5, is_false = -5, is_set = 0;
    MPI_Abi_get_fortran_info(&info);
    CHECK(info != MPI_INFO_NULL, "C is not told of Fortran's types");
    if (info != MPI_INFO_NULL) {
        MPI_Info_get(info, "mpi_integer_size", 15, text, &flag);
        CHECK(flag && atoi(text) == wanted[0], "mpi_integer_size is '%s'", text);
        MPI_Info_free(&info);
    }
    MPI_Abi_get_fortran_booleans(4, &is_true, &is_false, &is_set);
    CHECK(is_set && is_true != is_false, "a LOGICAL is %d or %d", is_true, is_false);
}

static void statuses_and_types(void)
{
    MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_SELF), f_status[MPI_F_STATUS_SIZE], f_type;
    int x[5] = {1, 2, 3, 4, 5}, y[3] = {0, 0, 0}, count;
    MPI_Status status;
    MPI_Request request;
    MPI_Isend(x, 4, MPI_INT, 0, 31, MPI_COMM_SELF, &request);
    fortran_receives_(&comm, f_status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Status_f2c(f_status, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 31 && count == 4,
          "the status from Fortran has source %d, tag %d, count %d", status.MPI_SOURCE,
          status.MPI_TAG, count);
    fortran_types_(&f_type);
    MPI_Datatype type = MPI_Type_f2c(f_type);
    MPI_Sendrecv(x, 1, type, 0, 1, y, 3, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(y[0] == 1 && y[1] == 3 && y[2] == 5, "Fortran's datatype sends %d %d %d", y[0], y[1],
          y[2]);
    MPI_Type_free(&type);
}

/* The integers of freed objects are given out again. */
static void integers(void)
{
    MPI_Fint least = 0, most = 0;
    for (int i = 0; i < 10000; i++) {
        MPI_Datatype type, was;
        MPI_Type_contiguous(2, MPI_INT, &type);
        was = type;
        MPI_Fint number = MPI_Type_c2f(type);
        CHECK(MPI_Type_f2c(number) == type, "%d does not lead back to its datatype", number);
        least = i ? number < least ? number : least : number;
        most = number > most ? number : most;
        MPI_Type_free(&type);
        CHECK(MPI_Type_f2c(number) != was, "%d is a datatype that was freed", number);
    }
    CHECK(most - least < 100, "datatypes that are freed at once get the numbers %d to %d", least,
          most);
}

/* Each kind of handle to an integer and back. */
#define BACK_AND_FORTH(Type, Kind, handle)                                                         \
    do {                                                                                           \
        Type was = (handle);                                                                       \
        CHECK(MPI_##Kind##_f2c(MPI_##Kind##_c2f(was)) == was, "%s by MPI_Fint", #handle);          \
        CHECK(MPI_##Kind##_fromint(MPI_##Kind##_toint(was)) == was, "%s by int", #handle);         \
    } while (0)

static void converters(void)
{
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    MPI_Group group;
    MPI_Info info;
    MPI_Message message;
    MPI_Request request, probed;
    MPI_Session session;
    MPI_Win win;
    int x = 1, flag;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_get_errhandler(comm, &errhandler);
    MPI_Comm_group(comm, &group);
    MPI_Info_create(&info);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, comm, &win);
    MPI_Isend(&x, 1, MPI_INT, 0, 1, comm, &probed);
    MPI_Mprobe(0, 1, comm, &message, MPI_STATUS_IGNORE);
    MPI_Irecv(&x, 1, MPI_INT, 0, 2, comm, &request);
    BACK_AND_FORTH(MPI_Comm, Comm, comm);
    BACK_AND_FORTH(MPI_Comm, Comm, MPI_COMM_WORLD);
    BACK_AND_FORTH(MPI_Comm, Comm, MPI_COMM_NULL);
    BACK_AND_FORTH(MPI_Errhandler, Errhandler, errhandler);
    BACK_AND_FORTH(MPI_File, File, MPI_FILE_NULL);
    BACK_AND_FORTH(MPI_Group, Group, group);
    BACK_AND_FORTH(MPI_Info, Info, info);
    BACK_AND_FORTH(MPI_Message, Message, message);
    BACK_AND_FORTH(MPI_Op, Op, MPI_MAXLOC);
    BACK_AND_FORTH(MPI_Request, Request, request);
    BACK_AND_FORTH(MPI_Session, Session, session);
    BACK_AND_FORTH(MPI_Datatype, Type, MPI_2REAL);
    BACK_AND_FORTH(MPI_Win, Win, win);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Imrecv(&x, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&probed, MPI_STATUS_IGNORE);
    MPI_Win_free(&win);
    MPI_Session_finalize(&session);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);

    MPI_Status status, back;
    MPI_F08_status f08_status;
    MPI_Fint f_status[MPI_F_STATUS_SIZE];
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = 3, status.MPI_TAG = 4, status.MPI_ERROR = 5;
    MPI_Status_set_elements(&status, MPI_INT, 6);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Status_c2f(&status, f_status);
    MPI_Status_f2f08(f_status, &f08_status);
    MPI_Status_f082c(&f08_status, &back);
    CHECK(memcmp(&status, &back, sizeof status) == 0, "a status differs after c2f, f2f08, f082c");
    memset(f_status, 0, sizeof f_status);
    MPI_Status_c2f08(&status, &f08_status);
    MPI_Status_f082f(&f08_status, f_status);
    MPI_Status_f2c(f_status, &back);
    MPI_Test_cancelled(&back, &flag);
    CHECK(flag && memcmp(&status, &back, sizeof status) == 0,
          "a status differs after c2f08, f082f, f2c");
}

/* ---- Callbacks of one language that the other causes to be called */

static int handled;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

static void doubled_sum(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] = 2 * (((int *)inout)[i] + ((int *)in)[i]);
}

static void callbacks(void)
{
    MPI_Fint f_op, f_handler, f_comm;
    int key, flag, x[3] = {1, 5, 3}, y[3] = {4, 2, 3}, length, result = 0;
    char name[MPI_MAX_OBJECT_NAME];
    void *kept;
    MPI_Comm comm, other;
    fortran_makes(&f_op, &f_handler, &key);
    MPI_Op op = MPI_Op_f2c(f_op);
    MPI_Errhandler handler = MPI_Errhandler_f2c(f_handler);
    MPI_Reduce_local(x, y, 3, MPI_INT, op);
    CHECK(y[0] == 4 && y[1] == 5 && y[2] == 3, "Fortran's operation gives %d %d %d", y[0], y[1],
          y[2]);
    MPI_Op_free(&op);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Send(x, 1, MPI_INT, 99, 0, comm);
    MPI_Comm_get_name(comm, name, &length);
    CHECK(strcmp(name, "handled by Fortran") == 0, "Fortran's error handler left the name '%s'",
          name);
    MPI_Comm_set_attr(comm, key, (void *)37);
    MPI_Comm_dup(comm, &other);
    MPI_Comm_get_attr(other, key, &kept, &flag);
    CHECK(flag && *(MPI_Aint *)kept == 42, "Fortran's copy function was not called as in Fortran");
    MPI_Comm_free(&other);
    MPI_Comm_free_keyval(&key);
    MPI_Errhandler_free(&handler);

    MPI_Op_create(doubled_sum, 1, &op);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    f_op = MPI_Op_c2f(op), f_comm = MPI_Comm_c2f(comm);
    fortran_uses_(&f_op, &f_comm, &result);
    CHECK(result == 21 && handled == 1, "C's operation gives %d, its handler was called %d times",
          result, handled);
    MPI_Op_free(&op);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

/* ---- What Fortran passes to functions that Weft does not support: these take their place, as a
 * profiling library's would. */

static char passed[400];

static void pass(const char *text)
{
    strncat(passed, text, sizeof passed - strlen(passed) - 1);
    strncat(passed, "|", sizeof passed - strlen(passed) - 1);
}

static void pass_arguments(const char *command, char *argv[], int maxprocs)
{
    char number[16];
    snprintf(number, sizeof number, "%d", maxprocs);
    pass(command);
    for (int i = 0; argv != MPI_ARGV_NULL && argv[i]; i++)
        pass(argv[i]);
    pass(argv == MPI_ARGV_NULL ? "none" : "end");
    pass(number);
}

int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
                   MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    (void)info, (void)root, (void)comm;
    pass_arguments(command, argv, maxprocs);
    pass(array_of_errcodes == MPI_ERRCODES_IGNORE ? "ignore" : "codes");
    *intercomm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                            const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                            MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[])
{
    (void)root, (void)comm;
    for (int i = 0; i < count; i++) {
        pass_arguments(array_of_commands[i],
                       array_of_argv == MPI_ARGVS_NULL ? MPI_ARGV_NULL : array_of_argv[i],
                       array_of_maxprocs[i]);
        pass(array_of_info[i] == MPI_INFO_ENV ? "env" : "no info");
    }
    pass(array_of_errcodes == MPI_ERRCODES_IGNORE ? "ignore" : "codes");
    *intercomm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int MPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                         MPI_Datarep_conversion_function *write_conversion_fn,
                         MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    static void *kept; /* for good, as MPI does */
    MPI_Aint extent = 0;
    int to[2] = {0, 0}, from[2] = {1, 2};
    kept = extra_state;
    pass(datarep);
    CHECK(write_conversion_fn == MPI_CONVERSION_FN_NULL, "a null conversion is a function");
    CHECK(dtype_file_extent_fn(MPI_REAL, &extent, kept) == MPI_SUCCESS && extent == 9,
          "Fortran's extent is %ld", (long)extent);
    CHECK(read_conversion_fn(to, MPI_INTEGER, 2, from, 100, extra_state) == MPI_SUCCESS &&
              to[0] == 110 && to[1] == 111,
          "Fortran's conversion gives %d %d", to[0], to[1]);
    CHECK(read_conversion_fn(to, MPI_CHAR, 2, from, 100, extra_state) == MPI_ERR_TYPE,
          "the error of Fortran's conversion is lost");
    return MPI_SUCCESS;
}

static void unsupported(void)
{
    static const char wanted[] =
        "a.out|one|two|eightlet|end|3|codes|first|x|end|1|no info|second|y|z|end|2|env|codes|"
        "c.out|none|1|codes|b.out|none|1|ignore|p|none|1|no info|q|none|1|no info|ignore|mine|";
    fortran_spawns_();
    fortran_spawns_less_();
    fortran_registers();
    CHECK(strcmp(passed, wanted) == 0, "C gets '%s'", passed);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    sizes();
    attributes();
    statuses_and_types();
    integers();
    converters();
    callbacks();
    unsupported();
    return check_done();
}
