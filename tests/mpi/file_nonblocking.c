// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,2,3 lanes=self,shm,rxm seconds=60
/*
 * Nonblocking collective access: it starts without other ranks, several are pending at once, and an
 * error of one rank is an error of all when they complete.
 */
#include "file.h"

enum { PENDING = 5, INTS = 100 };

int main(int argc, char **argv)
{
    static int out[PENDING][INTS], in[PENDING][INTS];
    MPI_Request requests[PENDING], request;
    MPI_Status statuses[PENDING], status;
    MPI_Offset position;
    check_begin(&argc, &argv, 1);
    file_begin();
    MPI_File file = file_open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
    int first = check.rank == 0, last = check.rank == check.size - 1, errors = 0, length;
    MPI_File_seek(file, check.rank * (MPI_Offset)sizeof out, MPI_SEEK_SET);
    if (!first) /* rank 0 starts all before any other rank */
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < PENDING; i++) {
        for (int j = 0; j < INTS; j++)
            out[i][j] = check.rank * 1000 + i * 100 + j;
        CHECK_CLASS(MPI_File_iwrite_all(file, out[i], INTS, MPI_INT, &requests[i]), MPI_SUCCESS);
    }
    MPI_File_get_position(file, &position);
    CHECK(position == (check.rank + 1) * (MPI_Offset)sizeof out, "the pointer is %lld",
          (long long)position);
    for (int rank = 1; first && rank < check.size; rank++)
        MPI_Send(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Waitall(PENDING, requests, statuses);
    for (int i = 0; i < PENDING; i++)
        CHECK(file_bytes(&statuses[i]) == INTS * 4, "%d bytes", file_bytes(&statuses[i]));
    for (int i = 0; i < PENDING; i++)
        CHECK_CLASS(MPI_File_iread_at_all(file, check.rank * (MPI_Offset)sizeof out + i * INTS * 4,
                                          in[i], INTS, MPI_INT, &requests[i]),
                    MPI_SUCCESS);
    MPI_Waitall(PENDING, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PENDING * INTS; i++)
        errors += in[i / INTS][i % INTS] != out[i / INTS][i % INTS];
    CHECK(!errors, "%d ints are wrong", errors);

    /* Behind the end of the file */
    MPI_File_iread_at_all(file, check.size * (MPI_Offset)sizeof out - 8, in, 10, MPI_INT, &request);
    CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    MPI_Wait(&request, &status);
    CHECK(file_bytes(&status) == 8, "%d bytes at the end", file_bytes(&status));

    /* An error of one rank */
    char text[MPI_MAX_ERROR_STRING];
    CHECK_CLASS(MPI_File_iwrite_at_all(file, last ? -1 : 0, out, 1, MPI_INT, &request),
                MPI_SUCCESS);
    int code = MPI_Wait(&request, &status);
    CHECK_CLASS(code, MPI_ERR_ARG);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "the offset of -1 etypes is negative"), "the sentence is: %s", text);
    MPI_File_close(&file);
    file_remove("a");
    file_end();
    return check_done();
}
