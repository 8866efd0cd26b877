// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/*
 * A request without a type takes the place of one whose type was freed, and is there when further
 * types are freed: memory of the first type must not be read (AddressSanitizer).
 */
#include "check.h"

enum { REQUESTS = 64, TYPES = 100 };

static MPI_Datatype make(void)
{
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Freed types are collected, so memory is given back when there are enough of them. */
static void free_many(void)
{
    for (int i = 0; i < TYPES; i++) {
        MPI_Datatype type = make();
        MPI_Type_free(&type);
    }
}

static void receive_with_a_type(void)
{
    int got[REQUESTS][3] = {{0}}, sent[REQUESTS][2];
    MPI_Request requests[REQUESTS];
    MPI_Datatype type = make();
    for (int i = 0; i < REQUESTS; i++)
        MPI_Irecv(got[i], 1, type, 0, i, MPI_COMM_SELF, &requests[i]);
    for (int i = 0; i < REQUESTS; i++) {
        sent[i][0] = sent[i][1] = i + 1;
        MPI_Send(sent[i], 2, MPI_INT, 0, i, MPI_COMM_SELF);
    }
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&type);
    for (int i = 0; i < REQUESTS; i++)
        CHECK(got[i][0] == i + 1 && got[i][2] == i + 1 && got[i][1] == 0, "message %d is wrong", i);
}

int main(int argc, char **argv)
{
    MPI_Request requests[REQUESTS];
    check_begin(&argc, &argv, 1);
    receive_with_a_type();
    free_many();
    for (int i = 0; i < REQUESTS; i++)
        MPI_Isend(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &requests[i]);
    free_many();
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    return check_done();
}
