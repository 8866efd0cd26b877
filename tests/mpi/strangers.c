// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=8 lanes=net-soft seconds=30
/*
 * Ranks that rank 0 has never sent to send to it, more than it has receives posted for. A provider
 * that looks up who sends finds nobody. libfabric's net then takes 16 KiB for each look, or reads
 * what lies beside its table, if it is asked for receives that name their source.
 */
#include "check.h"

enum { MESSAGES = 200, BYTES = 3000, MORE_KB = 6 << 10, TAG = 1 };

static void listen(void)
{
    static char in[BYTES];
    long before = check_peak_kib();
    for (int i = 0; i < MESSAGES * (check.size - 1); i++) {
        MPI_Status status;
        MPI_Recv(in, BYTES, MPI_CHAR, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        CHECK(in[0] == (char)status.MPI_SOURCE && in[BYTES - 1] == in[0],
              "a message of rank %d is of another", status.MPI_SOURCE);
    }
    CHECK(check_peak_kib() - before < MORE_KB, "%ld KiB more than before %d messages of %d bytes",
          check_peak_kib() - before, MESSAGES * (check.size - 1), BYTES);
}

static void speak(void)
{
    static char out[BYTES];
    static MPI_Request requests[MESSAGES];
    memset(out, check.rank, BYTES);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(out, BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    if (check.rank)
        speak();
    else
        listen();
    return check_done();
}
