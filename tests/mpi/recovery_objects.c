// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=3,5 lanes=shm,rxm,nodes deaths=yes seconds=60
// run: ranks=4 lanes=shm-copy,net-soft deaths=yes seconds=60
/*
 * MPIX_Win_revoke and MPIX_File_revoke: one rank revokes a window or a file while the others wait
 * in a call that only it could end. They get MPIX_ERR_REVOKED, new calls do, too, and the object
 * can be freed, also after the death of a member. Other windows and files are as before.
 */
#include "deaths.h"
#include "file.h"

enum { CELLS = 100 };

static MPI_Win win, kept_win;
static MPI_File file, kept_file;
static int *cells, *kept, revoker, left, value = 7;
static MPI_Group all;

/* ---- What the ranks wait in, but the one that revokes */

static void wait_fence(void)
{
    expect_revoked("MPI_Win_fence", MPI_Win_fence(0, win));
}

static void wait_exposed(void)
{
    if (has_started("MPI_Win_post", MPI_Win_post(all, 0, win)))
        expect_revoked("MPI_Win_wait", MPI_Win_wait(win));
}

static void wait_posted(void)
{
    if (has_started("MPI_Win_start", MPI_Win_start(all, 0, win)))
        expect_revoked("MPI_Win_complete", MPI_Win_complete(win));
}

static void test_exposed(void)
{
    int flag = 0, code = MPI_SUCCESS;
    if (!has_started("MPI_Win_post", MPI_Win_post(all, 0, win)))
        return;
    while (!flag && code == MPI_SUCCESS)
        code = MPI_Win_test(win, &flag);
    expect_revoked("MPI_Win_test", code);
}

static void wait_lock(void)
{
    expect_revoked("MPI_Win_lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, revoker, 0, win));
}

static void wait_other_lock(void)
{
    expect_revoked("MPI_Win_lock", MPI_Win_lock(MPI_LOCK_SHARED, left, 0, win));
}

static void hold_lock(int target)
{
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Put(&value, 1, MPI_INT, target, 1, 1, MPI_INT, win), MPI_SUCCESS);
}

static void release_lock(int target)
{
    expect_revoked("MPI_Put", MPI_Put(&value, 1, MPI_INT, target, 2, 1, MPI_INT, win));
    expect_revoked("MPI_Win_flush", MPI_Win_flush(target, win));
    expect_revoked("MPI_Win_unlock", MPI_Win_unlock(target, win));
}

static void wait_write_all(void)
{
    expect_revoked("MPI_File_write_at_all", MPI_File_write_at_all(file, 4 * check.rank, &value, 4,
                                                                  MPI_BYTE, MPI_STATUS_IGNORE));
}

static void wait_iread_all(void)
{
    int in;
    MPI_Request request;
    if (has_started("MPI_File_iread_at_all",
                    MPI_File_iread_at_all(file, 0, &in, 4, MPI_BYTE, &request)))
        expect_revoked("MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void wait_split(void)
{
    if (has_started("MPI_File_write_all_begin",
                    MPI_File_write_all_begin(file, &value, 4, MPI_BYTE)))
        expect_revoked("MPI_File_write_all_end",
                       MPI_File_write_all_end(file, &value, MPI_STATUS_IGNORE));
}

static void wait_size(void)
{
    expect_revoked("MPI_File_set_size", MPI_File_set_size(file, 1000));
}

static void wait_ordered(void)
{
    expect_revoked("MPI_File_write_ordered",
                   MPI_File_write_ordered(file, &value, 4, MPI_BYTE, MPI_STATUS_IGNORE));
}

static const struct {
    const char *name;
    void (*wait)(void);
    enum { NO_LOCK, OWN_LOCK, OTHER_LOCK, OF_FILE } held;
} cases[] = {{"a fence", wait_fence, NO_LOCK},
             {"MPI_Win_wait", wait_exposed, NO_LOCK},
             {"MPI_Win_start", wait_posted, NO_LOCK},
             {"MPI_Win_test", test_exposed, NO_LOCK},
             {"a lock of the revoker", wait_lock, OWN_LOCK},
             {"a lock of another rank", wait_other_lock, OTHER_LOCK},
             {"MPI_File_write_at_all", wait_write_all, OF_FILE},
             {"MPI_File_iread_at_all", wait_iread_all, OF_FILE},
             {"a split access", wait_split, OF_FILE},
             {"MPI_File_set_size", wait_size, OF_FILE},
             {"MPI_File_write_ordered", wait_ordered, OF_FILE}};
enum { CASES = sizeof cases / sizeof cases[0] };

/* ---- After the revocation */

static void check_win(void)
{
    int flag = 0, got, size = 0;
    MPI_Group group;
    MPI_Request request;
    while (!flag && check.failures == 0)
        CHECK_CLASS(MPIX_Win_is_revoked(win, &flag), MPI_SUCCESS);
    CHECK_CLASS(MPIX_Win_is_revoked(kept_win, &flag), MPI_SUCCESS);
    CHECK(!flag, "another window is revoked");
    expect_revoked("MPI_Get", MPI_Get(&got, 1, MPI_INT, left, 0, 1, MPI_INT, win));
    expect_revoked("MPI_Rput", MPI_Rput(&value, 1, MPI_INT, left, 0, 1, MPI_INT, win, &request));
    expect_revoked("MPI_Fetch_and_op",
                   MPI_Fetch_and_op(&value, &got, MPI_INT, left, 0, MPI_SUM, win));
    expect_revoked("MPI_Win_lock_all", MPI_Win_lock_all(0, win));
    expect_revoked("MPI_Win_start", MPI_Win_start(all, 0, win));
    expect_revoked("MPI_Win_post", MPI_Win_post(all, 0, win));
    expect_revoked("MPI_Win_fence", MPI_Win_fence(0, win));
    CHECK_CLASS(MPIX_Win_revoke(win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_get_group(win, &group), MPI_SUCCESS);
    MPI_Group_size(group, &size);
    CHECK(size == check.size, "the window has %d ranks", size);
    MPI_Group_free(&group);
    CHECK_CLASS(MPI_Win_free(&win), MPI_SUCCESS);
    CHECK(win == MPI_WIN_NULL, "the window is not freed");
}

static void check_file(void)
{
    int flag = 0, got;
    MPI_Offset at;
    MPI_Request request;
    while (!flag && check.failures == 0)
        CHECK_CLASS(MPIX_File_is_revoked(file, &flag), MPI_SUCCESS);
    CHECK_CLASS(MPIX_File_is_revoked(kept_file, &flag), MPI_SUCCESS);
    CHECK(!flag, "another file is revoked");
    expect_revoked("MPI_File_read", MPI_File_read(file, &got, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    expect_revoked("MPI_File_iwrite", MPI_File_iwrite(file, &value, 4, MPI_BYTE, &request));
    expect_revoked("MPI_File_write_shared",
                   MPI_File_write_shared(file, &value, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    expect_revoked("MPI_File_sync", MPI_File_sync(file));
    expect_revoked("MPI_File_seek_shared", MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK_CLASS(MPI_File_get_position(file, &at), MPI_SUCCESS);
    CHECK_CLASS(MPIX_File_revoke(file), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_close(&file), MPI_SUCCESS);
    CHECK(file == MPI_FILE_NULL, "the file is not closed");
}

static void make_win(MPI_Comm comm, MPI_Win *made, int **base)
{
    CHECK_CLASS(
        MPI_Win_allocate(CELLS * sizeof **base, sizeof **base, MPI_INFO_NULL, comm, base, made),
        MPI_SUCCESS);
    MPI_Win_set_errhandler(*made, MPI_ERRORS_RETURN);
    memset(*base, 0, CELLS * sizeof **base);
    MPI_Barrier(comm);
}

static void run_case(int i)
{
    bool of_file = cases[i].held == OF_FILE;
    int target = cases[i].held == OTHER_LOCK ? left : revoker;
    bool locks = cases[i].held == OWN_LOCK || cases[i].held == OTHER_LOCK;
    check_step("revoking while the others wait for %s", cases[i].name);
    if (of_file)
        file = file_open("revoked", MPI_MODE_CREATE | MPI_MODE_RDWR);
    else
        make_win(MPI_COMM_WORLD, &win, &cells);
    if (check.rank == revoker && locks)
        hold_lock(target);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == revoker) {
        usleep(i % 2 * 2000);
        CHECK_CLASS(of_file ? MPIX_File_revoke(file) : MPIX_Win_revoke(win), MPI_SUCCESS);
    } else {
        cases[i].wait();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == revoker && locks)
        release_lock(target);
    if (of_file)
        check_file();
    else
        check_win();
}

static void check_kept(MPI_Comm comm)
{
    int got = -1, rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK_CLASS(MPI_Win_fence(0, kept_win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 3, 1, MPI_INT, kept_win),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_fence(0, kept_win), MPI_SUCCESS);
    CHECK(kept[3] == (rank + size - 1) % size, "the window has %d", kept[3]);
    CHECK_CLASS(MPI_File_write_at_all(kept_file, 4 * rank, &rank, 4, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK_CLASS(MPI_File_read_at_all(kept_file, 4 * rank, &got, 4, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK(got == rank, "the file has %d", got);
}

/* The last rank dies while it holds a lock, and the others revoke what it was in. */
static void lose_rank(void)
{
    int dead = check.size - 1;
    MPI_Comm living;
    check_step("losing rank %d", dead);
    make_win(MPI_COMM_WORLD, &win, &cells);
    file = file_open("revoked", MPI_MODE_CREATE | MPI_MODE_RDWR);
    revoker = left = 0;
    if (check.rank == dead)
        hold_lock(0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == dead)
        die();
    await_deaths(MPI_COMM_WORLD, 1);
    if (check.rank == 0) {
        MPIX_Win_revoke(win);
        MPIX_File_revoke(file);
    }
    check_win();
    check_file();
    CHECK_CLASS(MPI_Win_free(&kept_win), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_close(&kept_file), MPI_SUCCESS);
    CHECK_CLASS(MPIX_Comm_shrink(MPI_COMM_WORLD, &living), MPI_SUCCESS);
    make_win(living, &kept_win, &kept);
    CHECK_CLASS(MPI_File_open(living, file_name("kept"), MPI_MODE_CREATE | MPI_MODE_RDWR,
                              MPI_INFO_NULL, &kept_file),
                MPI_SUCCESS);
    check_kept(living);
    CHECK_CLASS(MPI_Win_free(&kept_win), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_close(&kept_file), MPI_SUCCESS);
    MPI_Barrier(living);
    if (check.rank == 0) {
        MPI_File_delete(file_name("revoked"), MPI_INFO_NULL);
        MPI_File_delete(file_name("kept"), MPI_INFO_NULL);
        CHECK(rmdir(file_folder) == 0, "%s is not empty", file_folder);
    }
    MPI_Comm_free(&living);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 3);
    check_errors_return();
    file_begin();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    make_win(MPI_COMM_WORLD, &kept_win, &kept);
    kept_file = file_open("kept", MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < CASES; i++) {
        revoker = i % check.size;
        left = (revoker + 1) % check.size;
        run_case(i);
        check_kept(MPI_COMM_WORLD);
    }
    lose_rank();
    MPI_Group_free(&all);
    return check_survived();
}
