// SPDX-License-Identifier: BSD-3-Clause
// run: ranks=2,4 lanes=shm,rxm seconds=60
/*
 * Memory of windows and of collectives that is made and freed again and again: it comes from
 * segments that exist, begins as zero bytes, and is handed out again only when no rank uses it.
 */
#include "check.h"

#include <dirent.h>

enum { LONGEST = 100000, AT_ONCE = 300, PIECE = 65536 };

static int open_files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n;
}

/* The file that is mapped at an address: each new segment is another one. */
static unsigned long inode_at(const void *address)
{
    char line[512];
    unsigned long inode = 0, first, end, found;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &first, &end, &found) == 3 &&
            first <= (unsigned long)address && (unsigned long)address < end) {
            inode = found;
        }
    }
    fclose(maps);
    return inode;
}

static char *allocate(size_t bytes, MPI_Comm comm, MPI_Win *win)
{
    char *memory;
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, comm, &memory, win);
    return memory;
}

/* The atomic operations and the lock need words of Weft beside the memory. */
static void use(MPI_Win win, const char *memory, size_t bytes)
{
    int one = 1, sum = 0, right = (check.rank + 1) % check.size;
    for (size_t i = 0; i < bytes; i++) {
        CHECK(!memory[i], "byte %zu of %zu is %d at first", i, bytes, memory[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Fetch_and_op(&one, &sum, MPI_INT, right, 0, MPI_SUM, win);
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    memcpy(&sum, memory, sizeof sum);
    CHECK(sum == 1, "the sum is %d", sum);
}

static void again_and_again(void)
{
    MPI_Win win;
    char *memory = allocate(LONGEST, MPI_COMM_WORLD, &win);
    unsigned long inode = inode_at(memory);
    int files = open_files();
    MPI_Win_free(&win);
    for (size_t i = 0; i < 60; i++) {
        size_t bytes = 16 + i * i * 1297 % (LONGEST - 16);
        memory = allocate(bytes, MPI_COMM_WORLD, &win);
        CHECK(inode_at(memory) == inode, "window %zu is in another segment", i);
        use(win, memory, bytes);
        memset(memory, 0xff, bytes);
        MPI_Win_free(&win);
    }
    CHECK(open_files() == files, "%d open files, %d before", open_files(), files);
}

/* More than a segment holds. */
static void many_at_once(void)
{
    static MPI_Win wins[AT_ONCE];
    static char *memory[AT_ONCE];
    int files = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < AT_ONCE; i++) {
            memory[i] = allocate(PIECE, MPI_COMM_WORLD, &wins[i]);
            memset(memory[i], i % 251 + check.rank, PIECE);
        }
        for (int k = 0; k < AT_ONCE; k++) {
            int i = k * 7 % AT_ONCE;
            char expected = (char)(i % 251 + check.rank);
            CHECK(memory[i][0] == expected && memory[i][PIECE - 1] == expected,
                  "window %d was overwritten", i);
            MPI_Win_free(&wins[i]);
        }
        CHECK(!round || open_files() == files, "%d open files, %d before", open_files(), files);
        files = open_files();
    }
}

/* Persistent collectives start in another order than they were made in, and windows come and go. */
static void persistent(void)
{
    enum { N = 20 };
    MPI_Request requests[N];
    MPI_Win win;
    int in[N], out[N];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++) {
            in[i] = round + i;
            MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                               &requests[i]);
        }
        char *memory = allocate(1000, MPI_COMM_WORLD, &win);
        memset(memory, 0xff, 1000);
        for (int k = 0; k < N; k++) {
            MPI_Start(&requests[k * 7 % N]);
        }
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) {
            CHECK(out[i] == check.size * in[i], "the sum %d is %d", i, out[i]);
            MPI_Request_free(&requests[i]);
        }
        MPI_Win_free(&win);
    }
}

/* Rank 0 frees a communicator, and uses other memory, before the others have taken its data. */
static void freed_early(void)
{
    MPI_Comm comm, other;
    MPI_Win wins[20];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 10; i++) {
        MPI_Barrier(comm);
    }
    int values[2000];
    for (int i = 0; i < 2000; i++) {
        values[i] = check.rank ? 0 : 4711;
    }
    if (check.rank) {
        usleep(100000);
    }
    MPI_Bcast(values, 2000, MPI_INT, 0, comm);
    MPI_Comm_free(&comm);
    for (int i = 0; i < 200; i++) { /* freed communicators are given up together */
        MPI_Comm_dup(MPI_COMM_SELF, &other);
        MPI_Comm_free(&other);
    }
    for (int i = 0; i < 20 && check.rank == 0; i++) {
        memset(allocate(LONGEST, MPI_COMM_SELF, &wins[i]), 0xff, LONGEST);
    }
    for (int i = 0; i < 2000; i++) {
        CHECK(values[i] == 4711, "element %d of the broadcast is %d", i, values[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 20 && check.rank == 0; i++) {
        MPI_Win_free(&wins[i]);
    }
}

int main(int argc, char **argv)
{
    const char *shm = getenv("WEFT_SHM");
    check_begin(&argc, &argv, 2);
    check_step("windows, again and again");
    again_and_again();
    if (!shm ||
        strcmp(shm, "0") != 0) { /* elsewhere a window has its own communicator's receives */
        check_step("many windows at once");
        many_at_once();
    }
    check_step("persistent collectives");
    persistent();
    check_step("a communicator that is freed early");
    freed_early();
    return check_done();
}
