// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=30
/* The accessors of MPI 4.1 read and write the three public fields of a status. */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    int value = 3, got = 0, source = -9, tag = -9, error = -9;
    MPI_Status st;
    MPI_Request send;
    MPI_Isend(&value, 1, MPI_INT, check.rank, 12, MPI_COMM_WORLD, &send);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Status_get_source(&st, &source);
    MPI_Status_get_tag(&st, &tag);
    CHECK(source == check.rank && tag == 12, "source %d, tag %d", source, tag);
    MPI_Status_set_source(&st, 7);
    MPI_Status_set_tag(&st, 8);
    MPI_Status_set_error(&st, MPI_ERR_TRUNCATE);
    MPI_Status_get_error(&st, &error);
    CHECK(st.MPI_SOURCE == 7 && st.MPI_TAG == 8 && st.MPI_ERROR == MPI_ERR_TRUNCATE &&
              error == MPI_ERR_TRUNCATE,
          "set 7, 8, MPI_ERR_TRUNCATE and found %d, %d, %d", st.MPI_SOURCE, st.MPI_TAG, error);
    CHECK_STATUS(st, 7, 8, sizeof value);
    return check_done();
}
