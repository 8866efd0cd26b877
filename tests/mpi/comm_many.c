// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=1 lanes=self seconds=60
// run: ranks=2 lanes=rxm seconds=200
// run: ranks=2,3 lanes=shm seconds=60
/*
 * 100,000 communicators, made and freed: memory does not grow, ids are used again. Then as many as
 * there are at one time, until the ids of one rank are used up: an error that says so, at all ranks
 * that need an id of it, and all is well again when they are freed. Over a network there are fewer
 * (WEFT_TEST_COMMS), because each takes messages.
 */
#include "check.h"

enum { MANY = 100000, WARM = 2000 };

static void one(int i)
{
    MPI_Comm comm;
    MPI_Group group;
    if (i % 3 == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -check.rank, &comm);
    } else if (i % 3 == 1) {
        MPI_Comm_dup(i % 2 ? MPI_COMM_WORLD : MPI_COMM_SELF, &comm);
    } else {
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &comm);
        MPI_Group_free(&group);
    }
    MPI_Comm_free(&comm);
}

/* Rank 0 uses up its ids with communicators of its own; then nobody can make one with it. */
static void use_up(void)
{
    enum { ROOM = 200000 };
    MPI_Comm *comm = malloc(ROOM * sizeof *comm);
    char text[MPI_MAX_ERROR_STRING];
    int n = 0, length, code = MPI_SUCCESS, count = -1;
    if (check.rank == 0) {
        while (n < ROOM && (code = MPI_Comm_dup(MPI_COMM_SELF, &comm[n])) == MPI_SUCCESS)
            n++;
        CHECK(n > 100000 && n < ROOM, "%d communicators can exist at a time", n);
        CHECK_CLASS(code, MPI_ERR_OTHER);
    }
    code = MPI_Comm_dup(MPI_COMM_WORLD, &comm[n]);
    CHECK_CLASS(code, MPI_ERR_OTHER);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "context id") && strstr(text, "free"), "the error says: %s", text);
    for (int i = 0; i < n; i += 2)
        MPI_Comm_free(&comm[i]);
    CHECK_CLASS(MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]), MPI_SUCCESS);
    MPI_Comm_size(comm[0], &count);
    CHECK(count == check.size, "the communicator made after the error has %d processes", count);
    MPI_Comm_free(&comm[0]);
    for (int i = 1; i < n; i += 2)
        MPI_Comm_free(&comm[i]);
    free(comm);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 1);
    check_errors_return();
    const char *shm = getenv("WEFT_SHM");
    bool quick = check.size == 1 || (check.size == 2 && shm && strcmp(shm, "1") == 0);
    int many = check_setting("WEFT_TEST_COMMS", quick ? MANY : MANY / 50);
    for (int i = 0; i < WARM; i++)
        one(i);
    long before = check_status_kib("VmRSS");
    for (int i = 0; i < many; i++)
        one(i);
    long grown = check_status_kib("VmRSS") - before;
    CHECK(before > 0 && grown < 1 << 10, "memory grew by %ld KiB over %d communicators", grown,
          many);
    use_up();
    return check_done();
}
