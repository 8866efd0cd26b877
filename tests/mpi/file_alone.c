// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm,rxm,nodes seconds=60
/*
 * Writes of one rank alone while a nonblocking or split collective write through domains is
 * pending, which another rank does not drive: they do not wait for that rank, and no bytes are
 * lost, also if they have holes and would be sieved otherwise.
 */
#include "file.h"

#include <unistd.h>

enum { RECORDS = 40000, MORE = 2000, ALL = RECORDS + MORE + 2 };

static const double most = 0.5; /* seconds; the other rank computes for 1.5 */

static long value_of(int rank, int i)
{
    return rank * 1000000L + i + 1;
}

/* Rank 0 has reached the first barrier of the rounds. */
static void write_alone(MPI_File file, const long *data)
{
    MPI_Request request;
    double begin = MPI_Wtime();
    int flag;
    while (MPI_Wtime() - begin < 0.1)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    begin = MPI_Wtime();
    CHECK_CLASS(MPI_File_iwrite_at(file, RECORDS, data + RECORDS, 1, MPI_LONG, &request),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(
        MPI_File_write_at(file, RECORDS + 1, data + RECORDS + 1, 1, MPI_LONG, MPI_STATUS_IGNORE),
        MPI_SUCCESS);
    CHECK_CLASS(
        MPI_File_write_at(file, RECORDS + 2, data + RECORDS + 2, MORE, MPI_LONG, MPI_STATUS_IGNORE),
        MPI_SUCCESS);
    double took = MPI_Wtime() - begin;
    CHECK(took < most, "writes of rank 0 alone took %.2f s", took);
}

static void try_pending(const char *what, bool split)
{
    static long data[ALL], back[ALL];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype view;
    MPI_Status status;
    int wrong = 0;
    check_step("%s", what);
    MPI_File file = file_open("w", MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Type_create_resized(MPI_LONG, 0, check.size * (MPI_Aint)sizeof(long), &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, check.rank * (MPI_Offset)sizeof(long), MPI_LONG, view, "native",
                      MPI_INFO_NULL);
    for (int i = 0; i < ALL; i++)
        data[i] = value_of(check.rank, i);
    MPI_Barrier(MPI_COMM_WORLD);
    if (split)
        CHECK_CLASS(MPI_File_write_at_all_begin(file, 0, data, RECORDS, MPI_LONG), MPI_SUCCESS);
    else
        CHECK_CLASS(MPI_File_iwrite_at_all(file, 0, data, RECORDS, MPI_LONG, &request),
                    MPI_SUCCESS);
    if (check.rank == 0)
        write_alone(file, data);
    else
        usleep(1500000);
    if (split)
        CHECK_CLASS(MPI_File_write_at_all_end(file, data, &status), MPI_SUCCESS);
    else
        CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    CHECK(file_bytes(&status) == RECORDS * (int)sizeof(long), "%d bytes", file_bytes(&status));
    MPI_File_sync(file);
    int n = check.rank ? RECORDS : ALL;
    CHECK_CLASS(MPI_File_read_at(file, 0, back, n, MPI_LONG, &status), MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        wrong += back[i] != data[i];
    CHECK(!wrong, "%d records are wrong", wrong);
    MPI_Type_free(&view);
    MPI_File_close(&file);
    file_remove("w");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    file_begin();
    try_pending("nonblocking", false);
    try_pending("split", true);
    file_end();
    return check_done();
}
