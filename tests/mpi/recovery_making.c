// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3,5 lanes=shm,rxm deaths=yes seconds=60
// run: ranks=4 lanes=shm-copy,net-soft,nodes deaths=yes seconds=60
// run: ranks=2,4 lanes=shm,rxm seconds=60
/*
 * Windows and files are made while ranks die and while a thread of one rank revokes the
 * communicator, at random times. A rank that has the object frees it at once, which must not wait
 * for ranks that do not have it. In a job that goes on after deaths all living ranks have it or
 * none. WEFT_TEST_SEED=S repeats one job.
 */
#include "deaths.h"
#include "file.h"

#include <pthread.h>

enum { ROUNDS = 150 };

static MPI_Comm comm;
static bool keeps_going;

static bool well(const char *what, int code)
{
    int class = check_class(code);
    CHECK(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED,
          "%s: class %d", what, class);
    return class == MPI_SUCCESS;
}

/* ---- Objects: true if this rank had one, which it has freed. */

static bool free_win(MPI_Win win)
{
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    check_step("MPI_Win_free");
    CHECK_CLASS(MPI_Win_free(&win), MPI_SUCCESS);
    return true;
}

static bool allocate_win(void)
{
    int *base;
    MPI_Win win;
    return well("MPI_Win_allocate", MPI_Win_allocate(100, 4, MPI_INFO_NULL, comm, &base, &win)) &&
           free_win(win);
}

static bool create_win(void)
{
    static int base[100];
    MPI_Win win;
    return well("MPI_Win_create",
                MPI_Win_create(base, sizeof base, 4, MPI_INFO_NULL, comm, &win)) &&
           free_win(win);
}

static bool open_file(void)
{
    MPI_File file;
    if (!well("MPI_File_open",
              MPI_File_open(comm, file_name("made"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                            &file)))
        return false;
    check_step("MPI_File_close");
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
    return true;
}

static bool (*const objects[])(void) = {allocate_win, create_win, open_file};

/* ---- Revocations */

static void *revoke_soon(void *us)
{
    usleep((useconds_t)(uintptr_t)us);
    MPIX_Comm_revoke(comm);
    return NULL;
}

static bool make_object(int round)
{
    int rank, size;
    pthread_t thread;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    bool revokes =
        draw(8, (uint64_t)round) % 2 && (int)(draw(9, (uint64_t)round) % (uint64_t)size) == rank;
    uintptr_t us = draw(10, (uint64_t)round) % 1500;
    if (revokes)
        pthread_create(&thread, NULL, revoke_soon, (void *)us); // NOLINT(performance-no-int-to-ptr)
    check_step("making an object in round %d", round);
    bool had = objects[draw(6, (uint64_t)round) % 3]();
    if (revokes)
        pthread_join(thread, NULL);
    return had;
}

/* Replaces the communicator by one of the living, which compare what they had. */
static void repair(int round, bool had)
{
    for (bool good = false; !good;) {
        MPI_Comm made = MPI_COMM_NULL;
        int mine[2] = {had, !had}, least[2] = {0}, flag;
        check_step("shrinking in round %d", round);
        CHECK_CLASS(MPIX_Comm_shrink(comm, &made), MPI_SUCCESS);
        MPI_Comm_free(&comm);
        comm = made;
        good = well("MPI_Allreduce", MPI_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, comm));
        CHECK(!good || !keeps_going || least[0] || least[1],
              "in round %d some living ranks had the object", round);
        flag = good;
        good = well("MPIX_Comm_agree", MPIX_Comm_agree(comm, &flag)) && flag;
    }
}

int main(int argc, char **argv)
{
    check_begin_threads(&argc, &argv, 2);
    check_errors_return();
    file_begin();
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    draw_seed();
    keeps_going = check_setting("WEFT_KEEP_GOING", 0);
    if (keeps_going)
        arm_deaths();
    for (int round = 1; round <= ROUNDS; round++) {
        bool had = make_object(round);
        int flag = had;
        check_step("agreeing in round %d", round);
        if (!well("MPIX_Comm_agree", MPIX_Comm_agree(comm, &flag)) || !flag)
            repair(round, had);
    }
    if (check.rank == survivor()) {
        unlink(file_name("made"));
        CHECK(rmdir(file_folder) == 0, "%s is not empty", file_folder);
    }
    MPI_Comm_free(&comm);
    return check_survived();
}
