// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2 lanes=shm seconds=60
/*
 * A writer wakes the progress thread of a rank of its node: synchronous sends to a rank that
 * computes do not wait for the thread's next look, which is a millisecond later. The lower quartile
 * of many counts, because other programs may need the cores.
 */
#include "check.h"

#include <sys/stat.h>

enum { SENDS = 200 };
static const double LONGEST = 0.5e-3, GAP = 150e-6; /* seconds */

static char path[] = "/tmp/weft-progress-XXXXXX";

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Gives the other rank's thread time to fall asleep. */
static void pause_for(double seconds)
{
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        ;
}

static void send_all(void)
{
    double took[SENDS];
    int file = mkstemp(path);
    CHECK(file >= 0, "cannot make %s", path);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(20000); /* the other rank computes now */
    for (int i = 0; i < SENDS; i++) {
        pause_for(GAP);
        double begin = MPI_Wtime();
        MPI_Ssend(&i, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        took[i] = MPI_Wtime() - begin;
    }
    CHECK(write(file, "x", 1) == 1, "cannot write to %s", path);
    qsort(took, SENDS, sizeof took[0], by_value);
    CHECK(took[SENDS / 4] < LONGEST, "a quarter of %d sends took up to %.0f us", SENDS,
          took[SENDS / 4] * 1e6);
    close(file);
    unlink(path);
}

static void compute(void)
{
    static int values[SENDS];
    MPI_Request requests[SENDS];
    struct stat st = {.st_size = 0};
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < SENDS; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    while (stat(path, &st) == 0 && st.st_size < 1)
        usleep(5000);
    MPI_Waitall(SENDS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < SENDS; i++)
        CHECK(values[i] == i, "receive %d got %d", i, values[i]);
}

int main(int argc, char **argv)
{
    setenv("WEFT_PROGRESS_THREAD", "on", 1);
    check_begin(&argc, &argv, 2);
    if (check.rank == 0)
        send_all();
    else if (check.rank == 1)
        compute();
    return check_done();
}
