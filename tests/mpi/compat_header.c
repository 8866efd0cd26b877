// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * weft_compat.h: handles survive the way to an integer and back, predefined ones and those made by
 * the program, statuses too; the functions that MPI 3.0 removed do what they did.
 */
#include "check.h"
#include "weft_compat.h"

/* One kind of handle: what came back is what went, and null stays null. */
#define AROUND(kind, handle, null)                                                                 \
    do {                                                                                           \
        CHECK(MPI_##kind##_f2c(MPI_##kind##_c2f(handle)) == (handle),                              \
              "%s came back as another handle of its kind", #handle);                              \
        CHECK(MPI_##kind##_f2c(MPI_##kind##_c2f(null)) == (null), "%s did not come back", #null);  \
    } while (0)

static void handles(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Request request;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Info_create(&info);
    MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &request);
    AROUND(Comm, MPI_COMM_WORLD, MPI_COMM_NULL);
    AROUND(Comm, comm, MPI_COMM_NULL);
    AROUND(Group, MPI_GROUP_EMPTY, MPI_GROUP_NULL);
    AROUND(Group, group, MPI_GROUP_NULL);
    AROUND(Type, MPI_DOUBLE, MPI_DATATYPE_NULL);
    AROUND(Type, type, MPI_DATATYPE_NULL);
    AROUND(Info, info, MPI_INFO_NULL);
    AROUND(Request, request, MPI_REQUEST_NULL);
    AROUND(Op, MPI_SUM, MPI_OP_NULL);
    AROUND(Errhandler, MPI_ERRORS_RETURN, MPI_ERRHANDLER_NULL);
    AROUND(Message, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL);
    CHECK(MPI_Comm_c2f(comm) != MPI_Comm_c2f(MPI_COMM_WORLD), "two communicators, one integer");
    MPI_Comm_size(MPI_Comm_f2c(MPI_Comm_c2f(comm)), &value);
    CHECK(value == 1, "the communicator that came back has %d ranks, not 1", value);
    MPI_Request_free(&request);
    MPI_Info_free(&info);
    MPI_Type_free(&type);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
}

static void statuses(void)
{
    MPI_Fint integers[8];
    MPI_Status before, after;
    short sent[5] = {0}, got[9];
    int count;
    MPI_Sendrecv(sent, 5, MPI_SHORT, 0, 77, got, 9, MPI_SHORT, 0, 77, MPI_COMM_SELF, &before);
    MPI_Status_c2f(&before, integers);
    MPI_Status_f2c(integers, &after);
    MPI_Get_count(&after, MPI_SHORT, &count);
    CHECK(after.MPI_SOURCE == 0 && after.MPI_TAG == 77 && count == 5,
          "source %d, tag %d, %d elements after the way through Fortran", after.MPI_SOURCE,
          after.MPI_TAG, count);
}

static int handled;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

static void removed(void)
{
    struct record {
        char letter;
        double number[2];
    } sent = {'x', {1.5, -2.5}}, got = {0};
    int lengths[] = {1, 2};
    MPI_Aint places[2], base, lb = 0, ub = 0, extent = 0;
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE}, type, spread;
    MPI_Address(&sent, &base);
    MPI_Address(&sent.letter, &places[0]);
    MPI_Address(sent.number, &places[1]);
    for (int i = 0; i < 2; i++)
        places[i] -= base;
    MPI_Type_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(&sent, 1, type, 0, 0, &got, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(got.letter == 'x' && got.number[0] == 1.5 && got.number[1] == -2.5,
          "a struct did not arrive: %c %g %g", got.letter, got.number[0], got.number[1]);
    places[0] = 16;
    MPI_Type_hindexed(1, lengths, places, MPI_INT, &spread);
    MPI_Type_lb(spread, &lb);
    MPI_Type_ub(spread, &ub);
    MPI_Type_extent(spread, &extent);
    CHECK(lb == 16 && ub == 20 && extent == 4, "bounds %ld to %ld, extent %ld; not 16, 20, 4",
          (long)lb, (long)ub, (long)extent);
    MPI_Type_free(&spread);
    MPI_Type_hvector(3, 1, 100, MPI_INT, &spread);
    MPI_Type_extent(spread, &extent);
    CHECK(extent == 204, "an hvector's extent is %ld, not 204", (long)extent);
    MPI_Type_free(&spread);
    MPI_Type_free(&type);

    MPI_Errhandler own, found;
    MPI_Errhandler_create(on_error, &own);
    MPI_Errhandler_set(MPI_COMM_SELF, own);
    MPI_Errhandler_get(MPI_COMM_SELF, &found);
    CHECK(found == own, "the error handler is another one");
    MPI_Send(NULL, 0, MPI_INT, 7, 0, MPI_COMM_SELF);
    CHECK(handled == 1, "the error handler was called %d times, not once", handled);
    MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&own);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    handles();
    statuses();
    removed();
    return check_done();
}
