// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1,3 lanes=self,rxm seconds=30
// run: ranks=3 lanes=shm,mixed seconds=40
// run: ranks=256 lanes=shm seconds=150
/* The queries of the start and the end, before, between and after them. */
#include "check.h"

static void anytime(const char *when)
{
    int version = 0, subversion = -1, len = 0;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION, "MPI_Get_version %s: %d.%d", when,
          version, subversion);
    memset(text, 'x', sizeof text);
    MPI_Get_library_version(text, &len);
    CHECK(len > 0 && len < (int)sizeof text && text[len] == '\0' && (int)strlen(text) == len,
          "MPI_Get_library_version %s: length %d", when, len);
}

static void states(const char *when, int initialized, int finalized)
{
    int i = -1, f = -1;
    MPI_Initialized(&i);
    MPI_Finalized(&f);
    CHECK(i == initialized && f == finalized,
          "%s: initialized %d and finalized %d, expected %d and %d", when, i, f, initialized,
          finalized);
}

static void clock_runs(void)
{
    double tick = MPI_Wtick(), from = MPI_Wtime(), now = from;
    CHECK(tick > 0 && tick <= 1e-3, "MPI_Wtick is %g s", tick);
    struct timespec rest = {.tv_nsec = 20 * 1000 * 1000};
    nanosleep(&rest, NULL);
    now = MPI_Wtime();
    CHECK(now - from >= 0.0199 && now - from < 20, "20 ms took %g s by MPI_Wtime", now - from);
    for (int i = 0; i < 1000; i++) {
        double next = MPI_Wtime();
        CHECK(next >= now, "MPI_Wtime ran backwards from %.9f to %.9f", now, next);
        now = next;
    }
}

int main(int argc, char **argv)
{
    check_watch();
    anytime("before MPI_Init");
    states("before MPI_Init", 0, 0);
    MPI_Init(&argc, &argv);
    check_world(1);
    anytime("between");
    states("between", 1, 0);
    clock_runs();

    char name[MPI_MAX_PROCESSOR_NAME];
    int len = -1, rank = -1, size = -1;
    memset(name, 'x', sizeof name);
    MPI_Get_processor_name(name, &len);
    CHECK(len > 0 && len < (int)sizeof name && name[len] == '\0', "processor name length %d", len);
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    MPI_Comm_size(MPI_COMM_SELF, &size);
    CHECK(rank == 0 && size == 1, "MPI_COMM_SELF: rank %d of %d", rank, size);
    CHECK(check.rank >= 0 && check.rank < check.size, "world: rank %d of %d", check.rank,
          check.size);

    MPI_Finalize();
    anytime("after MPI_Finalize");
    states("after MPI_Finalize", 1, 1);
    return check.failures > 0;
}
