// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,4 lanes=shm,rxm,mixed seconds=60
// run: ranks=3 lanes=shm-copy,rxm-soft,net-soft,nodes seconds=60
/*
 * Locks exclude, and atomic operations are atomic: counters that all ranks increase by a get and a
 * put under an exclusive lock, by fetch_and_op, by compare_and_swap, and a sum of pairs and of
 * complex numbers, which no processor adds at once; and MPI_Win_lock_all excludes them.
 */
#include "check.h"

enum { TIMES = 60 };

static void add_under_lock(MPI_Win win, int target)
{
    int64_t n;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Get(&n, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win);
    MPI_Win_flush(target, win);
    n++;
    MPI_Put(&n, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win);
    MPI_Win_unlock(target, win);
}

/* MPI_Win_lock_all keeps an exclusive lock away from this rank's own loads and stores. */
static void check_lock_all(MPI_Win win, volatile int64_t *own)
{
    int64_t seven = 7;
    check_step("loads and stores after MPI_Win_lock_all");
    if (check.rank == 0) {
        MPI_Win_lock_all(0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(100000);
        CHECK(*own == 0, "the window was changed under a lock");
        MPI_Win_unlock_all(win);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (check.rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&seven, 1, MPI_INT64_T, 0, 3, 1, MPI_INT64_T, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check.rank, 0, win);
    CHECK(check.rank || *own == 7, "the window was not changed");
    MPI_Win_unlock(check.rank, win);
}

static void add_by_swap(MPI_Win win, int target)
{
    int64_t seen = 0, before = -1, after;
    while (seen != before) {
        before = seen;
        after = before + 1;
        MPI_Compare_and_swap(&after, &before, &seen, MPI_INT64_T, target, 2, win);
        MPI_Win_flush(target, win);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv, 2);
    struct {
        int64_t locked, fetched, swapped, spare;
        double _Complex sum;
        struct {
            double value;
            int index;
        } best;
    } * window;
    MPI_Win win;
    int64_t one = 1, got, last = -1;
    MPI_Win_allocate(sizeof *window, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check.rank, 0, win);
    memset(window, 0, sizeof *window);
    window->best.index = 1000;
    MPI_Win_unlock(check.rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    check_lock_all(win, &window->spare);
    check_step("counting under exclusive locks");
    for (int i = 0; i < TIMES; i++)
        add_under_lock(win, i % check.size);
    check_step("counting by atomic operations");
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < TIMES; i++) {
        int target = check.size - 1;
        double _Complex z = 1.0 + 2.0i;
        struct {
            double value;
            int index;
        } pair = {(double)i, check.rank};
        MPI_Fetch_and_op(&one, &got, MPI_INT64_T, target, 1, MPI_SUM, win);
        MPI_Win_flush(target, win);
        CHECK(got > last && got < (int64_t)TIMES * check.size, "fetch_and_op %d returned %lld", i,
              (long long)got);
        last = got;
        add_by_swap(win, target);
        MPI_Accumulate(&z, 1, MPI_C_DOUBLE_COMPLEX, target, 4, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM,
                       win);
        MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, target, 6, 1, MPI_DOUBLE_INT, MPI_MAXLOC, win);
        MPI_Win_flush_local(target, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check.rank, 0, win);
    int64_t all = (int64_t)TIMES * check.size, mine = 0;
    for (int i = 0; i < TIMES; i++)
        mine += i % check.size == check.rank ? check.size : 0;
    CHECK(window->locked == mine, "%lld increments under locks instead of %lld",
          (long long)window->locked, (long long)mine);
    if (check.rank == check.size - 1) {
        CHECK(window->fetched == all, "fetch_and_op counted %lld", (long long)window->fetched);
        CHECK(window->swapped == all, "compare_and_swap counted %lld", (long long)window->swapped);
        CHECK(__real__ window->sum == (double)all && __imag__ window->sum == 2.0 * (double)all,
              "the sum of complex numbers is wrong");
        CHECK(window->best.value == TIMES - 1 && window->best.index == 0,
              "MPI_MAXLOC found %g at %d", window->best.value, window->best.index);
    }
    MPI_Win_unlock(check.rank, win);
    MPI_Win_free(&win);
    return check_done();
}
