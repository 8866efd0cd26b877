// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3 lanes=rxm seconds=30
// run: ranks=1 lanes=self seconds=30
/*
 * Bad arguments of collectives get exactly their error class, on every rank and before anything is
 * sent, so that the next collective works.
 */
#include "check.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    MPI_Comm world = MPI_COMM_WORLD, bad_comm = (MPI_Comm)0x1ff;
    MPI_Datatype bad_type = (MPI_Datatype)0x2ff;
    MPI_Op bad_op = (MPI_Op)0x3f;
    int n = check.size, in[64] = {0}, out[64] = {0}, sum = -1, length;
    char text[MPI_MAX_ERROR_STRING];
    double d = 0, e = 0;

    check_step("roots out of range");
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, n, world), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, -1, world), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, n, world), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, MPI_ROOT, world), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, -7, world), MPI_ERR_ROOT);

    check_step("counts, types, operations, buffers, communicators");
    CHECK_CLASS(MPI_Bcast(in, -1, MPI_INT, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, world), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Bcast(in, 1, bad_type, 0, world), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, bad_type, MPI_SUM, world), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Allgather(in, 1, MPI_INT, out, 1, bad_type, world), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, bad_op, world), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(&d, &e, 1, MPI_DOUBLE, MPI_BAND, world), MPI_ERR_OP);
    CHECK_CLASS(MPI_Reduce(&d, &e, 1, MPI_DOUBLE, MPI_BXOR, 0, world), MPI_ERR_OP);
    int code = MPI_Allreduce(in, out, 1, MPI_INT, MPI_MAXLOC, world);
    CHECK_CLASS(code, MPI_ERR_OP);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "MPI_MAXLOC") && strstr(text, "MPI_INT"), "the error says: %s", text);
    CHECK_CLASS(MPI_Bcast(NULL, 1, MPI_INT, 0, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(in, NULL, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Barrier(bad_comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, (MPI_Comm)MPI_INT), MPI_ERR_COMM);

    check_step("a collective after all these errors");
    CHECK_CLASS(MPI_Allreduce(&check.rank, &sum, 1, MPI_INT, MPI_SUM, world), MPI_SUCCESS);
    CHECK(sum == n * (n - 1) / 2, "sum of ranks is %d", sum);
    return check_done();
}
