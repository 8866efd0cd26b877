// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,5 lanes=rxm,rxm-soft seconds=30
// run: ranks=5 lanes=shm,shm-coll seconds=30
/*
 * Ranks that pass different counts to a broadcast: who gets too much is told MPI_ERR_TRUNCATE, who
 * gets too little MPI_ERR_COUNT, nobody's memory is overwritten, and the next collective works.
 */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    check_errors_return();
    struct check_buffer b = check_buffer_new(4000, 0);
    int last = check.size - 1, n = check.rank == last ? 500 : 1000, sum = 0;

    check_step("a rank that expects too little");
    CHECK_CLASS(MPI_Bcast(b.data, n, MPI_INT, 0, MPI_COMM_WORLD),
                check.rank == last ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    CHECK(check_buffer_intact(&b, (size_t)n * sizeof(int)), "bytes behind the buffer were written");
    check_step("a rank that expects too much");
    n = check.rank == last ? 1000 : 500;
    check_buffer_reset(&b);
    CHECK_CLASS(MPI_Bcast(b.data, n, MPI_INT, 0, MPI_COMM_WORLD),
                check.rank == last ? MPI_ERR_COUNT : MPI_SUCCESS);
    CHECK(check_buffer_intact(&b, 500 * sizeof(int)), "more bytes were written than sent");
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;
    MPI_Error_string(MPI_ERR_COUNT, text, &len);
    CHECK(check.rank != last || strstr(text, "2000 bytes where 4000"),
          "the sentence does not tell the amounts: %s", text);

    check_step("the send and receive side of a gather differ within a rank");
    static int out[64], in[128];
    CHECK_CLASS(MPI_Allgather(out, 2, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allgather(in, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(out, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(out, in, 1, MPI_INT, MPI_REPLACE, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allgather_c(out, (MPI_Count)1 << 62, MPI_INT, in, (MPI_Count)1 << 62, MPI_INT,
                                MPI_COMM_WORLD),
                MPI_ERR_COUNT);

    check_step("a collective after all these errors");
    CHECK_CLASS(MPI_Allreduce(&check.rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK(sum == check.size * (check.size - 1) / 2, "sum of ranks is %d", sum);
    check_buffer_free(&b);
    return check_done();
}
