// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * A C program with Fortran parts: attributes set in one language and read in the other, statuses
 * and handles passed between them, and what C knows of Fortran's types right after MPI_Init.
 */
#include "../mpi/check.h"

#include "weft_compat.h"

void fortran_sets_(MPI_Fint *comm, int *key, MPI_Aint *value);
void fortran_puts_(MPI_Fint *comm, int *key, int *value);
void fortran_gets_(MPI_Fint *comm, int *key, MPI_Aint *value, int *found);
void fortran_sizes_(int *sizes);
void fortran_receives_(MPI_Fint *comm, MPI_Fint *status);
void fortran_types_(MPI_Fint *type);

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
        MPI_Datatype type;
        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Fint number = MPI_Type_c2f(type);
        CHECK(MPI_Type_f2c(number) == type, "%d does not lead back to its datatype", number);
        least = i ? number < least ? number : least : number;
        most = number > most ? number : most;
        MPI_Type_free(&type);
        CHECK(MPI_Type_f2c(number) == MPI_DATATYPE_NULL, "%d is a datatype that was freed", number);
    }
    CHECK(most - least < 100, "datatypes that are freed at once get the numbers %d to %d", least,
          most);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    sizes();
    attributes();
    statuses_and_types();
    integers();
    return check_done();
}
